/* SPDX-License-Identifier: MIT
 *
 * Tracks in a session how much other programs disturb the machine: how long the canary takes when
 * nothing disturbs it, and which CPU is the quietest at the moment. One lane only: of several, each
 * would stop the others.
 */
#ifndef AB_RUNNER_FOLD_QUIET_H
#define AB_RUNNER_FOLD_QUIET_H

#include "base/canary.h"

#include <stdbool.h>
#include <stdint.h>

struct ab_quiet {
    uint16_t level;     /* ticks; 2nd percentile of all readings; 0 = not known */
    int cpu;            /* of the last run; -1 = none */
    uint64_t n;         /* readings */
    uint32_t *readings; /* how many of each value; owned */
};

/* Reads the canary on the CPUs that this process may use. */
void ab_quiet_init(struct ab_quiet *q);
void ab_quiet_fini(struct ab_quiet *q);
/* Takes note of a reading; the level follows in ab_quiet_settle. */
void ab_quiet_add(struct ab_quiet *q, uint16_t reading);
void ab_quiet_settle(struct ab_quiet *q);
/* The CPU whose readings are the lowest now, among a few of those that this process may use: that
 * of the last run where it is as good as any; -1 = it cannot be known. */
int ab_quiet_cpu(struct ab_quiet *q);

#endif
