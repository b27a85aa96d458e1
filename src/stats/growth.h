/* SPDX-License-Identifier: MIT
 *
 * How much the footprint grows while the live bytes do not: what a service feels after days. Of each
 * round's time line the longest stretch in which the requested bytes stay within a tenth of one
 * value is taken, of this the second half (caches have filled by then), and there the slope of the
 * footprint by ops: Theil and Sen's, the median of the slopes of all pairs of points. Work that has
 * times has a growth by time as well.
 */
#ifndef AB_STATS_GROWTH_H
#define AB_STATS_GROWTH_H

#include "result/result.h"

struct ab_growth {
    double bytes;    /* in 1,000,000 ops; negative: it shrinks. NaN = n/a */
    double over_ops; /* how many ops it was seen in (the shortest of the rounds) */
    const char *why; /* static text: why it is n/a; "" = it is not */
};

/* By the time of the work, where it has one: the slope of resident memory per hour at constant live
 * bytes, and which part of it grows.
 *
 * Points are the ends of the idle stretches where there are AB_GROWTH_BLOCKS_LEAST or more (a cycle of
 * the work is then one point), else all rows. Time is cut into at most AB_GROWTH_BLOCKS blocks; of
 * each the mean by time and over the rounds is taken, which do the same at the same time. The window
 * is the second half of the longest stretch of blocks whose live bytes lie within a tenth.
 *
 * The slope is Theil and Sen's; its 99 % interval is Sen's (1968, JASA 63, 1379-1389): of the N
 * slopes of pairs, ascending, those of ranks (N - C)/2 and (N + C)/2 + 1 with
 * C = z sqrt(V), V = n (n - 1)(2 n + 5)/18, the variance of Kendall's S. Readings of one process
 * follow from each other: means of blocks do less so, and what is left widens the interval, V being
 * multiplied by (1 + r)/(1 - r) with r the correlation of neighbouring residuals (Bayley and
 * Hammersley 1946 for a first-order process; Hamed and Rao 1998 for this test).
 *
 * Steady: the interval contains 0 or lies below it, or the slope is below 1 % of the live bytes an
 * hour. Else the part with the largest slope gives the name. Where live bytes are constant nowhere
 * but grow over the whole second half, the second half is the window, for a leak is that. Not known:
 * fewer than AB_GROWTH_BLOCKS_LEAST blocks, a window of less than 30 s, or an interval that contains
 * 0 and 5 % of the resident bytes an hour as well; longer work would tell. Nor is it where the last
 * third of the window does not grow: its interval contains 0, and its slope is below a third of the whole
 * one. */
enum { AB_GROWTH_BLOCKS = 40, AB_GROWTH_BLOCKS_LEAST = 12 };
enum ab_growth_verdict {
    AB_GROWTH_UNKNOWN,
    AB_GROWTH_STEADY,
    AB_GROWTH_RETAINED,   /* pages without blocks */
    AB_GROWTH_FRAGMENTED, /* pages with few */
    AB_GROWTH_LEAKED,     /* the live bytes grow */
    AB_GROWTH_GROWS,      /* what does is not known, as of real programs */
    AB_GROWTH_VERDICTS
};
extern const char *const ab_growth_verdict_names[AB_GROWTH_VERDICTS]; /* NULL, "steady", … */

/* Where live bytes grow: an owner of blocks (struct ab_pin), and by how much since half of the work's
 * time. */
struct ab_growth_site {
    char function[128], file[128];
    uint32_t line;
    double bytes;
};
enum { AB_GROWTH_SITES = 3 };

struct ab_growth_by_time {
    enum ab_growth_verdict verdict;
    double bytes_per_hour, low, high; /* NaN = n/a */
    double begin_ns, end_ns;          /* the window */
    double live_bytes;                /* mean in it */
    double lasts_ns;                  /* the work */
    double needs_ns;                  /* it would have to, roughly; NaN = that would not help */
    const char *why;                  /* static text: why it is not known; "" = it is */
    /* Of LEAKED, where the memory pass was asked for owners: n_sites, the most first. */
    struct ab_growth_site sites[AB_GROWTH_SITES];
    uint32_t n_sites;
};

#define AB_GROWTH_ALL_ROUNDS UINT32_MAX /* the median over them */

struct ab_growth ab_growth_of(const struct ab_session *s, uint32_t backend, uint32_t round);
/* Of a round, or of all together. */
struct ab_growth_by_time ab_growth_by_time(const struct ab_session *s, uint32_t backend,
                                           uint32_t round);

#endif
