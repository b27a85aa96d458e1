/* SPDX-License-Identifier: MIT
 *
 * Passes that count instead of timing: tell what counts where a measured phase begins and ends. One
 * run counts one thing, and in every other pass this is a flag that is false.
 */
#ifndef AB_WORKER_COUNTS_COUNTS_H
#define AB_WORKER_COUNTS_COUNTS_H

#include "wire/run.h"

#include <stdbool.h>

struct ab_worker;

extern bool ab_counts_are_on;

/* Before there are other threads, for they inherit it; fails the run when the system refuses. */
void ab_counts_open(struct ab_worker *w);
/* The phase that runs is the report's own, for which lane 0 has been to the barrier. */
void ab_counts_begin(void);
void ab_counts_end(struct ab_phase_report *out);

/* system_calls.c: from here on the parent hears of every call of this process but those that are
 * marked as ours. False: the system does not allow that. */
bool ab_counts_tell_calls(void);

#endif
