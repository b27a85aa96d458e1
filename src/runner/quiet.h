/* SPDX-License-Identifier: MIT
 *
 * State of the machine in a session: the reading of the canary (base/clock.h) when
 * nothing disturbs it, and the CPU that is quietest at the moment. Used with one lane only, because
 * with several each reading would delay the other lanes.
 */
#ifndef AB_RUNNER_QUIET_H
#define AB_RUNNER_QUIET_H

#include <stdint.h>

struct ab_quiet {
    uint16_t level;     /* ticks; 2nd percentile of all readings; 0 = not known */
    int cpu;            /* CPU of the last run; -1 = none */
    uint64_t n;         /* number of readings */
    uint32_t *readings; /* readings[x]: how often x was read; owned */
};

/* Initialises *q from readings of the canary on the CPUs that this process may use. */
void ab_quiet_init(struct ab_quiet *q);
void ab_quiet_fini(struct ab_quiet *q);
/* Records a reading. ab_quiet_settle then updates the level. */
void ab_quiet_add(struct ab_quiet *q, uint16_t reading);
void ab_quiet_settle(struct ab_quiet *q);
/* Returns the CPU with the lowest readings now, among a few of those that this process may use.
 * Prefers the CPU of the last run if no other is better. -1 = it cannot be determined. */
int ab_quiet_cpu(struct ab_quiet *q);

#endif
