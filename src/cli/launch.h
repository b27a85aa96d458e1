/* SPDX-License-Identifier: MIT
 *
 * Runs a command under the recorder. Refuses, before it runs, what the recorder cannot get into.
 */
#ifndef AB_CLI_LAUNCH_H
#define AB_CLI_LAUNCH_H

#include "core/status.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Exit codes of our own failures, as env and nohup use them. */
enum { AB_LAUNCH_FAILED = 125, AB_LAUNCH_CANNOT_RUN = 126, AB_LAUNCH_NOT_FOUND = 127 };

struct ab_launch_end { /* what the system knows of the command when it has ended */
    char comm[16];                          /* the last program that it was */
    uint64_t own_faults, children_faults;   /* of it and of the children that it waited for */
    uint64_t wall_ns, wall_ticks;
    bool has_left;                          /* with takes_children: processes of it run on */
};

struct ab_launch {
    char program[4096];  /* found in PATH */
    char recorder[4096]; /* liballocbench-record.so */
    char folder[1024];   /* the spool, private; "" until it is made */
    bool takes_children; /* of the command, too; set before it runs */
    bool is_kept;        /* the folder stays */
    int pid;             /* of the command */
    struct ab_launch_end end;
    bool is_holding;     /* the signals that would leave the folder behind are blocked */
    sigset_t old_mask;
    struct sigaction old_child;
};

/* Finds the program and the recorder, checks that one can be loaded into the other, makes the
 * folder: `spool`, which must not be there yet, or a temporary one for NULL. On failure *exit_code
 * is one of the above. */
enum ab_status ab_launch_prepare(const char *command, const char *spool, struct ab_launch *out,
                                 int *exit_code, struct ab_err *err);
/* Runs argv to its end; signals that come until then are for it. *exit_code is the command's: its
 * status, or 128 + signal. */
enum ab_status ab_launch_run(struct ab_launch *l, const char *const *argv, int *exit_code,
                             struct ab_err *err);
/* Removes the folder and what is in it, unless it is kept. Signals that are held are dropped. */
void ab_launch_clean(struct ab_launch *l);

#endif
