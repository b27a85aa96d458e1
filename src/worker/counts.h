/* SPDX-License-Identifier: MIT
 *
 * Passes that count instead of timing: tell what counts where a measured phase begins and ends. One
 * run counts one thing, and in every other pass this is a flag that is false.
 */
#ifndef AB_WORKER_COUNTS_H
#define AB_WORKER_COUNTS_H

#include "wire/run.h"

#include <stdbool.h>
#include <stdint.h>

struct ab_worker;

extern bool ab_counts_are_on;

/* Before there are other threads, for they inherit it; fails the run when the system refuses. */
void ab_counts_open(struct ab_worker *w);
/* The phase that runs is the report's own, for which lane 0 has been to the barrier. */
void ab_counts_begin(void);
void ab_counts_end(struct ab_phase_report *out);

/* The processor's own count of the instructions of the calling thread, outside of the kernel. */

/* A descriptor, or -1 with errno: ENOENT where the processor has no such counter or hides it, EACCES
 * or EPERM where the system forbids it (/proc/sys/kernel/perf_event_paranoid above 2). */
int ab_cpu_counter_open(void);
/* The same for any counter of perf_event_open(2). */
int ab_cpu_counter_open_as(uint32_t type, uint64_t config);
void ab_cpu_counter_start(int fd);
/* Since the start; AB_NOT_COUNTED where it cannot be read or did not run all the time. */
uint64_t ab_cpu_counter_stop(int fd);

#endif
