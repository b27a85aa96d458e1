/* SPDX-License-Identifier: MIT
 *
 * The processor's own count of the instructions of the calling thread, outside of the kernel.
 */
#ifndef AB_WORKER_COUNTS_CPU_COUNTER_H
#define AB_WORKER_COUNTS_CPU_COUNTER_H

#include <stdint.h>

/* A descriptor, or -1 with errno: ENOENT where the processor has no such counter or hides it, EACCES
 * or EPERM where the system forbids it (/proc/sys/kernel/perf_event_paranoid above 2). */
int ab_cpu_counter_open(void);
/* The same for any counter of perf_event_open(2). */
int ab_cpu_counter_open_as(uint32_t type, uint64_t config);
void ab_cpu_counter_start(int fd);
/* Since the start; AB_NOT_COUNTED where it cannot be read or did not run all the time. */
uint64_t ab_cpu_counter_stop(int fd);

#endif
