/* SPDX-License-Identifier: MIT
 *
 * Comparison of two results, or of the back ends of one result with one of them. It is a list of
 * cells, each a metric with its effect, limit and verdict. The effect is computed from one number
 * per round (stats/effect.h). The numbers beside it are those of the tables, and its ratio is their
 * quotient, so that a reader can recompute it.
 */
#ifndef AB_STATS_COMPARE_H
#define AB_STATS_COMPARE_H

#include "stats/check.h"
#include "stats/metric.h"

enum { AB_COMPARE_NOTE_BYTES = 300 };

struct ab_comparison {
    const struct ab_session *base, *now; /* one and the same session for a comparison within a
                                            result; gates on the comparison are in now->gates */
    const char *base_label, *now_label;  /* file or name of the baseline; borrowed, NULL = none */
    struct ab_checked *cells;            /* sorted by back end; the judged cell of each comes
                                            first */
    uint32_t n_cells;
    size_t cap_cells;
    /* differences without an effect on verdicts (build ids, versions …), one sentence each */
    char (*notes)[AB_COMPARE_NOTE_BYTES];
    uint32_t n_notes;
    size_t cap_notes;
    bool is_advisory;   /* another machine or kernel, so that verdicts do not fail */
    char advisory[240]; /* difference, and why it matters; "" = not advisory */
    bool is_strict;     /* --strict: an advisory comparison fails the command */
    bool is_joint;      /* ab_comparisons_join was called */
    bool is_unsealed;   /* one of the two results has no checksum */
};

/* Checks that a result is complete enough for a comparison. AB_INPUT: incomplete, or without
 * rounds. AB_BACKEND: no back end has numbers. *err names the result by `label`. */
enum ab_status ab_compare_check_whole(const struct ab_session *s, const char *label,
                                      struct ab_err *err);
/* Checks that two results may be compared. AB_USAGE: different work, or no back end in common. */
enum ab_status ab_compare_check_work(const struct ab_session *base, const char *base_label,
                                     const struct ab_session *now, const char *now_label,
                                     struct ab_err *err);

/* Compares two results; back ends are matched by name. `limit` bounds the time of the whole run.
 * Back ends that only one result has become notes. */
void ab_compare_results(const struct ab_session *base, const struct ab_session *now, double limit,
                        struct ab_comparison *out);
/* Compares the back ends of one result with one of them, in pairs by round. The effect is the ratio
 * of the two numbers beside it. Back ends that did other work, or are not installed and were not
 * requested, become notes. */
void ab_compare_backends(const struct ab_session *session, uint32_t base, double limit,
                         struct ab_comparison *out);
void ab_comparison_fini(struct ab_comparison *c);

/* Returns the number of cells that have a limit and this verdict. */
uint32_t ab_comparison_count(const struct ab_comparison *c, enum ab_verdict verdict);
/* Returns the status for the exit code: AB_BACKEND if a cell failed, AB_GATE if one regressed and
 * the verdicts count, AB_INCONCLUSIVE if one is inconclusive, else AB_OK. */
enum ab_status ab_comparison_status(const struct ab_comparison *c);

/* Computes the effect of one metric between a back end of `base` and one of `now`. Rounds are
 * paired if both are one session. Latencies under the clock's floor count as the floor. The ratio
 * is new / base, not inverted. */
void ab_compare_metric(const struct ab_session *base, uint32_t base_backend,
                       const struct ab_session *now, uint32_t backend, const struct ab_metric *m,
                       struct ab_effect *effect);
/* True if the metric was measured in the same way in both results. Exceptions are instructions of
 * another part of the work or from another counter, iterations with another budget, and numbers
 * that depend on how operations were counted. */
bool ab_compare_is_alike(const struct ab_session *base, const struct ab_session *now,
                         const struct ab_metric *m);

/* Returns the resolution of latencies in ns: two steps of the clock or of the histogram. Smaller
 * differences count as none. */
double ab_compare_step_ns(const struct ab_session *base, const struct ab_session *now);

/* Corrects several comparisons for their number (Holm 1979), because some of many numbers would be
 * called worse by chance. A regression or improvement that is not clear among all cells with a
 * limit becomes inconclusive. Among all cells without a limit, a "worse" or "better" that is no
 * longer clear loses that word. The two directions are corrected separately. */
void ab_comparisons_join(struct ab_comparison *list, size_t n);

/* Judges a ratio for which above 1 is worse, as ab_check_decide does for "at most 1 + limit".
 * IMPROVED is the mirror image of FAIL. */
enum ab_verdict ab_verdict_of(const struct ab_effect *effect, double limit);

#endif
