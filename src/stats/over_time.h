/* SPDX-License-Identifier: MIT
 *
 * Memory over the time of the work: the memory that a program keeps while nothing calls the
 * allocator. An idle stretch begins and ends with the rows of a result that are marked so; without
 * an end it extends to the last row of its run.
 *
 * All functions are pure. Times in ns, sizes in bytes, NaN = not known.
 */
#ifndef AB_STATS_OVER_TIME_H
#define AB_STATS_OVER_TIME_H

#include "result/result.h"

#define AB_HOUR_NS 3600e9

/* Returns the next row of a back end from index *at on, and sets *at past it. The row is of one
 * round, or with AB_OVER_TIME_ALL_ROUNDS of any; NULL = none. Skips rows whose time is before that
 * of an earlier row of the round. */
#define AB_OVER_TIME_ALL_ROUNDS UINT32_MAX
const struct ab_over_time *ab_over_time_next(const struct ab_session *s, uint32_t backend,
                                             uint32_t round, uint32_t *at);

/* Returns the area below the resident memory between two rows: mean resident bytes times the time,
 * in MiB · h; NaN = not known. */
static inline double ab_over_time_area(const struct ab_over_time *a, const struct ab_over_time *b)
{
    double mean = (a->resident_bytes + b->resident_bytes) / 2;
    return mean / 0x1p20 * ((double)b->time_ns - (double)a->time_ns) / AB_HOUR_NS;
}

struct ab_idle { /* one idle stretch of a back end */
    const char *phase;
    double begin_ns, end_ns;
    double live_bytes; /* at the beginning; constant during the stretch */
    /* resident bytes at the beginning, 1 s, 10 s and 60 s after it, and at the end */
    double begin_bytes, at_1s_bytes, at_10s_bytes, at_60s_bytes, end_bytes;
    /* smallest resident bytes in the stretch */
    double floor_bytes;
    /* parts of end_bytes. retained: pages without blocks; external: bytes on other pages except
     * blocks and their padding */
    double end_retained_bytes, end_external_bytes;
    /* freed_bytes: decrease of the live bytes since their peak after the previous stretch; NaN =
     * none. half_back_ns, most_back_ns: time from begin_ns until the resident bytes were below
     * their peak by half, or by most, of freed_bytes; NaN = this did not happen in the stretch */
    double freed_bytes, half_back_ns, most_back_ns;
    double area; /* area below the resident memory, in MiB · h; NaN = n/a */
};

struct ab_idles {
    struct ab_idle *items;
    uint32_t n;
};

/* Returns all idle stretches of one round in order; the caller frees the items. For
 * AB_OVER_TIME_ALL_ROUNDS each number is the median over the rounds. */
struct ab_idles ab_idles_of(const struct ab_session *s, uint32_t backend, uint32_t round);

/* Copies the longest idle stretch to *out; of several equally long ones, the first. Returns false
 * if there is none. */
bool ab_idle_longest(const struct ab_session *s, uint32_t backend, struct ab_idle *out);

#endif
