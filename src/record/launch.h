/* SPDX-License-Identifier: MIT
 *
 * Runs a command with the recorder loaded into it, and waits. The command keeps its standard
 * streams, process group, signals and exit status; of its environment LD_PRELOAD and one variable
 * of ours differ.
 */
#ifndef AB_RECORD_LAUNCH_H
#define AB_RECORD_LAUNCH_H

#include "core/status.h"

#include <signal.h>

enum { AB_LAUNCH_DIR_MAX = 1024 };

struct ab_launch {
    char dir[AB_LAUNCH_DIR_MAX]; /* of the spool; "" = none */
    sigset_t old_mask;
    struct sigaction old_child; /* an ignored SIGCHLD would lose the exit status */
};

/* Makes the private spool folder, and holds back the signals that would leave it behind. Also on
 * failure ab_launch_end must follow. */
enum ab_status ab_launch_begin(struct ab_launch *l, struct ab_err *err);

/* argv ends with NULL; path is the file to run. *exit_code: the command's, 128 + signal when one
 * killed it; on failure one of AB_RECORD_…. */
enum ab_status ab_launch_run(const struct ab_launch *l, const char *path, char *const *argv,
                             int *exit_code, struct ab_err *err);

/* Removes the spool; signals that came meanwhile were the command's and are dropped. */
void ab_launch_end(struct ab_launch *l);

#endif
