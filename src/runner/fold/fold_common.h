/* SPDX-License-Identifier: MIT
 *
 * Shared by all that turns raw samples into results.
 */
#ifndef AB_RUNNER_FOLD_FOLD_COMMON_H
#define AB_RUNNER_FOLD_FOLD_COMMON_H

#include "runner/run.h"

#include <stddef.h>

/* The destination of results. Records are part of the session, which owns them. */
struct ab_fold {
    struct ab_session *session;
    const struct ab_tape_map *tape;
    const struct ab_clock *clock;
    uint32_t backend, round;
};

/* A histogram that is all zeroes;
 * ticks as nanoseconds, rounded; does the back end have a function for this kind of op? */
struct ab_hdr *ab_fold_new_hdr(void);
static inline uint64_t ab_fold_ns(const struct ab_fold *f, uint64_t ticks)
{
    return (uint64_t)((double)ticks * f->clock->ns_per_tick + 0.5);
}
/* CPU time of the phase that is not of its work. */
double ab_fold_outside_cpu_ns(const struct ab_fold *f, const struct ab_phase_report *report);
/* The time that the lanes spent on their ops: not waiting for each other and, where they outnumber
 * the CPUs, not waiting for one of these either. There a lane's CPU time is what it had, else all
 * the time there was, in which it may also have been asleep over a lock of the allocator's. */
double ab_fold_busy_ns(const struct ab_fold *f, const struct ab_phase_report *report);
static inline bool ab_fold_is_served(const struct ab_outcome *run, unsigned kind)
{
    return (run->page->report.hooks >> kind & 1) != 0;
}

#endif
