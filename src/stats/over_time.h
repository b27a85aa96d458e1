/* SPDX-License-Identifier: MIT
 *
 * Memory over the time of the work: what a program keeps while nothing calls the allocator. An idle
 * stretch begins with the row of a result that says so and ends with the one that says so, or with
 * the last of its run.
 * Pure; times in ns, sizes in bytes, NaN = not known.
 */
#ifndef AB_STATS_OVER_TIME_H
#define AB_STATS_OVER_TIME_H

#include "result/result.h"

#define AB_HOUR_NS 3600e9

/* Of a back end, in a round or (ALL_ROUNDS) any. The next row of its list from *at on; NULL = none.
 * Time never runs backwards within a round: rows that would are left out. */
#define AB_OVER_TIME_ALL_ROUNDS UINT32_MAX
const struct ab_over_time *ab_over_time_next(const struct ab_session *s, uint32_t backend,
                                             uint32_t round, uint32_t *at);

/* Resident memory times the time between two rows in MiB · h; NaN where it is not known. */
static inline double ab_over_time_area(const struct ab_over_time *a, const struct ab_over_time *b)
{
    double mean = (a->resident_bytes + b->resident_bytes) / 2;
    return mean / 0x1p20 * ((double)b->time_ns - (double)a->time_ns) / AB_HOUR_NS;
}

struct ab_idle { /* of one back end */
    const char *phase;
    double begin_ns, end_ns;
    double live_bytes; /* at its begin; nothing changes it meanwhile */
    double begin_bytes, at_1s_bytes, at_10s_bytes, at_60s_bytes, end_bytes; /* resident */
    double floor_bytes;                                                     /* the least */
    /* of end_bytes: pages without blocks, and what pages hold beside blocks and their padding */
    double end_retained_bytes, end_external_bytes;
    /* What was freed since the most that was live since the stretch before, and when so much less
     * than the most since then was resident; NaN = not within the stretch, or nothing was freed. */
    double freed_bytes, half_back_ns, most_back_ns;
    double area; /* MiB · h; NaN = n/a */
};

struct ab_idles {
    struct ab_idle *items;
    uint32_t n;
};

/* All stretches of one round in their order, or, for AB_OVER_TIME_ALL_ROUNDS, of each number the
 * median over the rounds; free the items. */
struct ab_idles ab_idles_of(const struct ab_session *s, uint32_t backend, uint32_t round);

/* The longest stretch, of equals the first. False: there is none. */
bool ab_idle_longest(const struct ab_session *s, uint32_t backend, struct ab_idle *out);

#endif
