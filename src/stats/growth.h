/* SPDX-License-Identifier: MIT
 *
 * Growth of the footprint while the live bytes stay constant, as a service shows after days. Takes
 * the longest stretch of each round's timeline in which the requested bytes stay within a tenth of
 * one value. Uses its second half, because caches have filled by then. Computes the slope of the
 * footprint over ops there by Theil and Sen: the median of the slopes of all pairs of points. Work
 * that has times also has a growth over time.
 */
#ifndef AB_STATS_GROWTH_H
#define AB_STATS_GROWTH_H

#include "result/result.h"

#include <math.h>

struct ab_growth {
    double bytes;    /* bytes per 1,000,000 ops; negative = the footprint shrinks; NaN = n/a */
    double over_ops; /* number of ops in which growth was observed, in the round with the fewest */
    const char *why; /* static text, why `bytes` is n/a; "" = it is known */
};

/* Growth over time, for work that has times: the slope of resident memory per hour while live bytes
 * are constant, and the part of the memory that grows.
 *
 * The points are the ends of the idle stretches if there are at least AB_GROWTH_BLOCKS_LEAST, so
 * that a cycle of the work is one point. Otherwise the points are all rows. Time is divided into at
 * most AB_GROWTH_BLOCKS blocks. Each block is averaged over its time and over the rounds, which do
 * the same at the same time. The window is the second half of the longest sequence of blocks whose
 * live bytes lie within a tenth.
 *
 * The slope is Theil and Sen's. Its 99 % interval is Sen's (1968, JASA 63, 1379-1389): of the N
 * slopes of pairs in ascending order, those of ranks (N - C)/2 and (N + C)/2 + 1. Here C = z
 * sqrt(V), and V = n (n - 1)(2 n + 5)/18 is the variance of Kendall's S. Readings of one process
 * are correlated. Means of blocks are less correlated. To allow for the rest, V is multiplied by (1
 * + r)/(1 - r), where r is the correlation of neighbouring residuals (Bayley and Hammersley 1946
 * for a first-order process; Hamed and Rao 1998 for this test).
 *
 * The verdict is "steady" if the interval contains 0 or lies below it, or if the slope is below 1 %
 * of the live bytes per hour. Otherwise the verdict names the part of the memory with the largest
 * slope. If live bytes are constant nowhere, but grow over the whole second half of the work, the
 * window is that second half, because this is a leak.
 *
 * The verdict is "not known" with fewer than AB_GROWTH_BLOCKS_LEAST blocks or a window of less than
 * 30 s. It is also not known if the interval contains both 0 and 5 % of the resident bytes per
 * hour; longer work would tell. It is not known either if the last third of the window does not
 * grow: its interval contains 0, and its slope is below a third of the slope of the whole window.
 */
enum { AB_GROWTH_BLOCKS = 40, AB_GROWTH_BLOCKS_LEAST = 12 };
enum ab_growth_verdict {
    AB_GROWTH_UNKNOWN,
    AB_GROWTH_STEADY,
    AB_GROWTH_RETAINED,   /* pages without blocks grow */
    AB_GROWTH_FRAGMENTED, /* pages with few blocks grow */
    AB_GROWTH_LEAKED,     /* live bytes grow */
    AB_GROWTH_GROWS,      /* the part that grows is not known, as in real programs */
    AB_GROWTH_VERDICTS
};
extern const char *const ab_growth_verdict_names[AB_GROWTH_VERDICTS]; /* NULL, "steady", … */

/* A place in the program where live bytes grow: an owner of blocks (struct ab_pin), and the growth
 * of its live bytes since half of the work's time. */
struct ab_growth_site {
    char function[128], file[128];
    uint32_t line;
    double bytes;
};
enum { AB_GROWTH_SITES = 3 };

struct ab_growth_by_time {
    enum ab_growth_verdict verdict;
    double bytes_per_hour, low, high; /* slope and its interval, in bytes per hour; NaN = n/a */
    double begin_ns, end_ns;          /* beginning and end of the window */
    double live_bytes;                /* mean of the live bytes in the window */
    double lasts_ns;                  /* duration of the work */
    /* duration that the work would need for a verdict, roughly; NaN = longer work would not help */
    double needs_ns;
    /* static text, why the verdict is not known; "" = it is known */
    const char *why;
    const char *brief; /* `why` in a few words, if needs_ns is NaN; "" = the verdict is known */
    /* for LEAKED, if the memory pass recorded owners: n_sites, the largest first */
    struct ab_growth_site sites[AB_GROWTH_SITES];
    uint32_t n_sites;
};

struct ab_stretch {
    uint32_t first, end; /* first and one past the last index of points or blocks */
};

/* Range of the live bytes in a stretch; initialize with {INFINITY, 0}. */
struct ab_band {
    double low, high;
};
/* Extends the range by `live`. Returns true if live bytes still count as constant: the range is
 * within a tenth, or within 1 % of the resident bytes. */
static inline bool ab_band_takes(struct ab_band *b, double live, double resident)
{
    b->low = fmin(b->low, live);
    b->high = fmax(b->high, live);
    return !(b->high > fmax(b->low * 1.1, b->low + 0.01 * resident));
}

#define AB_GROWTH_ALL_ROUNDS UINT32_MAX /* for `round`: take the median over the rounds */

struct ab_growth ab_growth_of(const struct ab_session *s, uint32_t backend, uint32_t round);
/* Returns the growth over time in one round, or in all rounds together. */
struct ab_growth_by_time ab_growth_by_time(const struct ab_session *s, uint32_t backend,
                                           uint32_t round);

#endif
