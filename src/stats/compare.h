/* SPDX-License-Identifier: MIT
 *
 * One result against another, or the back ends of one result against one of them: a list of cells,
 * each a metric with its effect, its limit and a verdict. The effect is computed over one number a
 * round (stats/effect.h); the numbers beside it are those that the tables show, and its ratio is
 * the quotient of these, which a reader can work out.
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
    AB_VERDICT_INCONCLUSIVE, /* neither: more rounds would settle it; `reason` where they would not */
    AB_VERDICT_FAILED,       /* no numbers on one side: `reason` */
    AB_VERDICT_MOVED,        /* of two results, the same build in both: the machine changed */
    AB_VERDICT_COUNT
};
const char *ab_verdict_name(enum ab_verdict verdict); /* "ok" "improved" "regressed" … */

enum { AB_WITNESSES_BYTES = 100 };

/* One compared number, with the effect turned so that a ratio above 1 is worse (for throughput:
 * base by new). Strings are borrowed from the two sessions. */
struct ab_cell {
    const char *backend;      /* name in the new result */
    const char *base_backend; /* differs from `backend` within one result */
    const char *phase;        /* NULL = the whole run */
    const char *op;           /* NULL = of no op: time, memory */
    const char *metric;       /* "time", "ns_per_op", "p99", "rss_peak_bytes" … */
    const char *unit;         /* of base and now: "ns", "bytes" … */
    double base, now;         /* as the tables show them; NaN = n/a */
    struct ab_effect effect;
    double limit; /* 0.05 = 5 %; NaN = shown only: it has no verdict (OK stands there), see
                     ab_cell_word */
    enum ab_verdict verdict;
    uint32_t rounds_needed; /* of an inconclusive cell; 0 = not known; UINT32_MAX = never */
    char reason[200];       /* of failed and inconclusive; "" = none */
    /* Between two results, the effect relative to the witnesses, which are the same build in both
     * (stats/compare_drift.h); the verdict is then that of `relative`. Without witnesses both
     * ratios are NaN. */
    struct ab_effect relative;
    double machine_ratio; /* of the witnesses themselves, new by base */
    char witnesses[AB_WITNESSES_BYTES];
    bool is_drift;         /* inconclusive because of the machine, see `reason` */
    uint32_t n_confirm;    /* rounds that were run to confirm a regression; 0 = none */
    double confirm_ratio;  /* the effect in these; NaN = none */
    const char *iteration; /* of the time per iteration: what one is called; NULL = it is not */
};
/* The effect that the verdict is about: relative to the witnesses, where there are any. */
const struct ab_effect *ab_cell_judged_effect(const struct ab_cell *cell);
/* Is there a limit, and so a verdict that counts? */
bool ab_cell_is_judged(const struct ab_cell *cell);
/* The name of the verdict; of a cell without a limit "worse", "better", "~" (neither is clear), or
 * "n/a" where there is no interval. */
const char *ab_cell_word(const struct ab_cell *cell);

enum { AB_COMPARE_NOTE_BYTES = 300 };

struct ab_comparison {
    const struct ab_session *base, *now; /* the same session within one result; gates on the
                                            comparison are now->gates */
    const char *base_label, *now_label;  /* file or name of the baseline; borrowed, NULL = none */
    struct ab_cell *cells;               /* by back end; of each the judged one first */
    uint32_t n_cells;
    size_t cap_cells;
    /* Differences that have no effect on verdicts (build ids, versions …): one sentence each. */
    char (*notes)[AB_COMPARE_NOTE_BYTES];
    uint32_t n_notes;
    size_t cap_notes;
    bool is_advisory;   /* another machine or kernel: verdicts do not fail */
    char advisory[240]; /* which and why; "" = not */
    bool is_strict;     /* --strict: an advisory comparison fails the command */
    bool is_joint;      /* ab_comparisons_join was used */
};

/* Is a result whole enough to be compared? AB_INPUT: incomplete, or without rounds; AB_BACKEND: no
 * back end has numbers. *err names it by its label. */
enum ab_status ab_compare_check_whole(const struct ab_session *s, const char *label,
                                      struct ab_err *err);
/* May the two be compared? AB_USAGE: different work, or no back end in common. */
enum ab_status ab_compare_check_work(const struct ab_session *base, const char *base_label,
                                     const struct ab_session *now, const char *now_label,
                                     struct ab_err *err);

/* Two results, back ends matched by name; `limit` bounds the time of the whole run. What only one
 * of them has is a note. */
void ab_compare_results(const struct ab_session *base, const struct ab_session *now, double limit,
                        struct ab_comparison *out);
/* The back ends of one result with one of them, in pairs by round; the effect is the ratio of the
 * two numbers beside it. What is not installed and was not asked for, or did other work, is a note. */
void ab_compare_backends(const struct ab_session *session, uint32_t base, double limit,
                         struct ab_comparison *out);
void ab_comparison_fini(struct ab_comparison *c);

/* Cells with a limit and this verdict. */
uint32_t ab_comparison_count(const struct ab_comparison *c, enum ab_verdict verdict);
/* Returns the status for the exit code: AB_BACKEND where a cell failed, AB_GATE where one regressed
 * and the verdicts count, AB_INCONCLUSIVE where one is, else AB_OK. */
enum ab_status ab_comparison_status(const struct ab_comparison *c);

/* The effect of one metric between a back end of `base` and one of `now`, in pairs of rounds where
 * both are one session; latencies under the clock's floor count as the floor. ratio is new by base,
 * not turned. */
void ab_compare_metric(const struct ab_session *base, uint32_t base_backend,
                       const struct ab_session *now, uint32_t backend, const struct ab_metric *m,
                       struct ab_effect *effect);
/* Is the metric one that was measured alike in both? Instructions of another part of the work, or
 * by another counter, are not, nor iterations that miss another budget. */
bool ab_compare_is_alike(const struct ab_session *base, const struct ab_session *now,
                         const struct ab_metric *m);

/* A latency below it counts as this much, on both sides; NaN = not known. */
double ab_compare_floor_ns(const struct ab_session *base, const struct ab_session *now);
/* Differences of a latency below this are none: two steps of the clock or of the histogram. */
double ab_compare_step_ns(const struct ab_session *base, const struct ab_session *now);

/* Marks the back ends of the new result (one flag each) that regressed, and for pairs within one
 * result their base; how many cells. */
uint32_t ab_comparison_suspicious(const struct ab_comparison *c, bool *is_concerned);
/* `again` compares new rounds of the back ends concerned: a regression that these do not show as
 * well becomes inconclusive. */
void ab_comparison_confirm(struct ab_comparison *c, const struct ab_comparison *again);

/* Makes what is said of several comparisons hold together (Holm 1979): with the chances that they
 * have each alone, of many numbers some would be called worse by chance. A regression or an
 * improvement that is not clear among all that have a limit becomes inconclusive, and a "worse" or
 * "better" without one, among all without one, is no longer clear. Directions apart. */
void ab_comparisons_join(struct ab_comparison *list, size_t n);

/* The rule of all verdicts, for a ratio above 1 that is worse: regressed when low > 1 and the ratio
 * beyond 1 + limit, improved in the mirror, ok when high <= 1 + limit, else inconclusive. */
enum ab_verdict ab_verdict_of(const struct ab_effect *effect, double limit);

#endif
