/* SPDX-License-Identifier: MIT
 *
 * What a session says over all its blocks: merged histograms, medians, ratios and how sure they
 * are. What tables show and what gates judge come from here alike, so that both are one number.
 */
#ifndef AB_STATS_AGGREGATE_H
#define AB_STATS_AGGREGATE_H

#include "measure/result.h"

/* One number a block. */
struct ab_spread {
    uint32_t n;               /* blocks that have it; 0 = the rest is NaN */
    double median, low, high; /* low and high: extremes of the blocks */
};

/* Of x[0..n), which it sorts. */
struct ab_spread ab_spread_of(double *x, uint32_t n);
/* Half the range of the blocks in parts of the median; NaN below two blocks. */
double ab_spread_half(const struct ab_spread *s);
/* Are all blocks on the same side of 1, and the median at least 1 % away from it? Ratios of fewer
 * than three blocks must be 10 % away, because nothing is known of their spread. */
bool ab_spread_is_clear(const struct ab_spread *ratio);
enum { AB_SPREAD_KNOWN_BLOCKS = 3 };

/* The null back end runs for the price of the harness; it is no allocator and wins nothing. */
bool ab_backend_is_null(const struct ab_backend_info *b);
/* Status ok and not null. */
bool ab_backend_is_comparable(const struct ab_backend_info *b);
/* What others are compared with: glibc, else the first comparable; UINT32_MAX = none. */
uint32_t ab_session_base(const struct ab_session *s);

/* NULL when there is none. */
const struct ab_result *ab_session_find(const struct ab_session *s, uint32_t backend,
                                        const char *phase, unsigned op, uint32_t block);
/* Did any back end with numbers do this op in this phase? */
bool ab_session_has_op(const struct ab_session *s, const char *phase, unsigned op);

struct ab_merged { /* one back end, phase and op over all blocks */
    uint64_t n;      /* timed ops, overflow included */
    double max;      /* NaN = none */
    uint32_t n_blocks;
};
/* Merges histograms into *hdr (initialised here). */
struct ab_merged ab_session_merge(const struct ab_session *s, uint32_t backend,
                                  const char *phase, unsigned op, struct ab_hdr *hdr);

/* ns_per_op of a phase. */
struct ab_spread ab_session_ns_per_op(const struct ab_session *s, uint32_t backend,
                                      const char *phase);
/* How many times as fast `a` is as `b`: ns_per_op of b by that of a, block by block, so that drift
 * of the machine cancels; phase NULL = geometric mean over all measured phases. Blocks that miss
 * one of the numbers do not count. */
struct ab_spread ab_session_speed(const struct ab_session *s, uint32_t a, uint32_t b,
                                  const char *phase);
/* p99.9 of one op by that of b, values under the floor taken as the floor. */
struct ab_spread ab_session_p999_ratio(const struct ab_session *s, uint32_t a, uint32_t b,
                                       const char *phase, unsigned op);

#endif
