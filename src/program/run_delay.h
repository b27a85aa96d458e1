/* SPDX-License-Identifier: MIT
 *
 * How long a process could have run and had no CPU, as the kernel counts it: the second number of
 * /proc/PID/task/TID/schedstat (Documentation/scheduler/sched-stats.rst of Linux).
 */
#ifndef AB_PROGRAM_RUN_DELAY_H
#define AB_PROGRAM_RUN_DELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ns, of the threads that it has now together; NaN where the system does not say. */
double ab_run_delay_ns(pid_t pid);

struct ab_run_delay_end { /* a process that has been looked at and may still be there */
    pid_t pid;
    uint64_t start; /* of a process: a later one can have the same id */
};
struct ab_run_delays { /* of processes that are about to end; begins as zeroes */
    double ns;
    struct ab_run_delay_end *ends;
    size_t n, cap;
};
/* Adds that of a process once, however many of its threads end it. */
void ab_run_delays_add(struct ab_run_delays *d, pid_t pid);
void ab_run_delays_fini(struct ab_run_delays *d);

#endif
