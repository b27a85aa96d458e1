/* SPDX-License-Identifier: MIT
 *
 * Passes that count instead of timing. These functions tell the counter where a measured phase
 * begins and ends. A run counts one thing. In every other pass the cost is one test of a flag.
 */
#ifndef AB_WORKER_COUNTS_H
#define AB_WORKER_COUNTS_H

#include "wire/run_page.h"

#include <stdbool.h>
#include <stdint.h>

struct ab_worker;

extern bool ab_counts_are_on;

/* Opens the counter. Must run before other threads start, because they inherit it. Fails the run if
 * the system refuses. */
void ab_counts_open(struct ab_worker *w);
/* Begins counting the phase in report.phase. Called after lane 0 has passed the barrier. */
void ab_counts_begin(void);
void ab_counts_end(struct ab_phase_report *out);

/* ---- the processor's instruction counter (calling thread, without the kernel) ---- */

/* Opens the counter. Returns a descriptor, or -1 with errno: ENOENT if the processor has no such
 * counter or hides it, EACCES or EPERM if the system forbids it
 * (/proc/sys/kernel/perf_event_paranoid above 2). */
int ab_cpu_counter_open(void);
/* Opens any counter of perf_event_open(2), given its type and config, as ab_cpu_counter_open()
 * does. */
int ab_cpu_counter_open_as(uint32_t type, uint64_t config);
void ab_cpu_counter_start(int fd);
/* Stops the counter and returns the count since its start. Returns AB_NOT_COUNTED if the count
 * cannot be read, or if the counter was not running all the time. */
uint64_t ab_cpu_counter_stop(int fd);

#endif
