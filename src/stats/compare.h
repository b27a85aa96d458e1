/* SPDX-License-Identifier: MIT
 *
 * One result against another, or the back ends of one result against one of them: a list of cells,
 * each a metric with its effect, its limit and a verdict.
 */
#ifndef AB_STATS_COMPARE_H
#define AB_STATS_COMPARE_H

#include "result/result.h"
#include "stats/effect.h"
#include "stats/metric.h"

enum ab_verdict {
    AB_VERDICT_OK,           /* no worse than the limit allows, at 95 % */
    AB_VERDICT_IMPROVED,     /* better by more than the limit, mirror image of regressed */
    AB_VERDICT_REGRESSED,    /* low > 1 and the effect itself is beyond the limit */
    AB_VERDICT_INCONCLUSIVE, /* neither: more rounds would tell */
    AB_VERDICT_FAILED,       /* no numbers on one side: `reason` */
    AB_VERDICT_COUNT
};
const char *ab_verdict_name(enum ab_verdict verdict); /* "ok" "improved" "regressed" … */

/* What is compared, with the effect turned so that a ratio above 1 is worse (for throughput: base by
 * new). */
struct ab_cell {
    const char *backend;      /* name in the new result */
    const char *base_backend; /* differs from `backend` within one result */
    const char *phase;        /* NULL = the whole run */
    const char *op;           /* NULL = of no op: the whole run, memory */
    const char *metric;       /* "time", "p99", "rss_peak_bytes" … */
    const char *unit;
    double base, now; /* as the tables show them; NaN = n/a */
    struct ab_effect effect;
    double limit; /* 0.05 = 5 %; NaN = shown only, never a verdict that fails */
    enum ab_verdict verdict;
    uint32_t rounds_needed; /* of an inconclusive cell; 0 = none */
    char reason[200];       /* of failed; "" = none */
};

struct ab_comparison {
    const struct ab_session *base, *now; /* the same session within one result */
    struct ab_cell *cells;
    uint32_t n_cells;
    size_t cap_cells;
    bool is_advisory;   /* another machine or kernel: verdicts do not fail */
    char advisory[240]; /* which and why; "" = not */
};

#endif
