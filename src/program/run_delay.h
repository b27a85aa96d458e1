/* SPDX-License-Identifier: MIT
 *
 * How long a process could have run and had no CPU, as the kernel counts it: the second number of
 * /proc/PID/task/TID/schedstat (Documentation/scheduler/sched-stats.rst of Linux).
 */
#ifndef AB_PROGRAM_RUN_DELAY_H
#define AB_PROGRAM_RUN_DELAY_H

#include <sys/types.h>

/* ns, of the threads that it has now together; NaN where the system does not say. */
double ab_run_delay_ns(pid_t pid);

#endif
