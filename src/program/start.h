/* SPDX-License-Identifier: MIT
 *
 * Starts a real program: in a process group of its own, tied to our life, with the environment and
 * the streams that it is given. The clock starts at its exec, not at the fork before it.
 */
#ifndef AB_PROGRAM_START_H
#define AB_PROGRAM_START_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ab_program_start {
    const char *path;
    const char *const *argv;
    char *const *envp;
    int stdin_fd, stdout_fd, stderr_fd;
    bool is_watched; /* its processes stop at their end, program/exits.h */
};

struct ab_program_started {
    pid_t pid;
    int listener;      /* −1 = not watched, or the system cannot */
    uint64_t begin_ns; /* ab_clock_now_ns */
};

/* AB_USAGE where the program cannot be executed. */
enum ab_status ab_program_start(const struct ab_program_start *start,
                                struct ab_program_started *out, struct ab_err *err);

#endif
