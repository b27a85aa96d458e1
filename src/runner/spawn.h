/* SPDX-License-Identifier: MIT
 *
 * Starts one worker: a fresh process with an environment that is built, not inherited, in a
 * process group of its own, tied to the parent's life.
 */
#ifndef AB_RUNNER_SPAWN_H
#define AB_RUNNER_SPAWN_H

#include "core/status.h"
#include "runner/case.h"

#include <stdbool.h>

#include <sys/types.h>

struct ab_spawn {
    const char *worker_path;
    int tape_fd, run_fd;      /* become AB_WORKER_FD_… */
    int stdout_fd, stderr_fd; /* captures */
    const char *preload;      /* library to preload, NULL = none */
    bool is_plugin;           /* dlopen needs more static TLS than the default */
};

enum ab_status ab_spawn(const struct ab_spawn *spawn, pid_t *out, struct ab_err *err);

/* Path of allocbench-worker: beside the running binary, or in ../libexec/allocbench. */
enum ab_status ab_worker_path(char *out, size_t cap, struct ab_err *err);

#endif
