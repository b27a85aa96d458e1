/* SPDX-License-Identifier: MIT
 *
 * One result against another, or the back ends of one result against one of them: a list of cells,
 * each a metric with its effect, its limit and a verdict. The effect is computed over one number a
 * round (stats/effect.h); the numbers beside it are those that the tables show, and its ratio is
 * the quotient of these, which a reader can work out.
 */
#ifndef AB_STATS_COMPARE_H
#define AB_STATS_COMPARE_H

#include "stats/check.h"
#include "stats/metric.h"

enum { AB_COMPARE_NOTE_BYTES = 300 };

struct ab_comparison {
    const struct ab_session *base, *now; /* the same session within one result; gates on the
                                            comparison are now->gates */
    const char *base_label, *now_label;  /* file or name of the baseline; borrowed, NULL = none */
    struct ab_checked *cells;            /* by back end; of each the judged one first */
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
    bool is_unsealed;   /* one of the two is */
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
 * by another counter, are not, nor iterations that miss another budget, nor what depends on how operations were
 * counted where one did otherwise. */
bool ab_compare_is_alike(const struct ab_session *base, const struct ab_session *now,
                         const struct ab_metric *m);

/* Differences of a latency below this are none: two steps of the clock or of the histogram. */
double ab_compare_step_ns(const struct ab_session *base, const struct ab_session *now);

/* Makes what is said of several comparisons hold together (Holm 1979): with the chances that they
 * have each alone, of many numbers some would be called worse by chance. A regression or an
 * improvement that is not clear among all that have a limit becomes inconclusive, and a "worse" or
 * "better" without one, among all without one, is no longer clear. Directions apart. */
void ab_comparisons_join(struct ab_comparison *list, size_t n);

/* The verdict on a ratio above 1 that is worse, by ab_check_decide of "at most 1 + limit"; IMPROVED is
 * the mirror image of FAIL. */
enum ab_verdict ab_verdict_of(const struct ab_effect *effect, double limit);

#endif
