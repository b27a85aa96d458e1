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
    /* base, now: the same session for a comparison within one result. The gates on the comparison
     * are in now->gates */
    const struct ab_session *base, *now;
    const char *base_label, *now_label; /* file or name of each result; borrowed, NULL = none */
    /* sorted by back end; for each back end, the cell with a limit comes first */
    struct ab_checked *cells;
    uint32_t n_cells;
    size_t cap_cells;
    /* differences without an effect on verdicts (build ids, versions …), one sentence each */
    char (*notes)[AB_COMPARE_NOTE_BYTES];
    uint32_t n_notes;
    size_t cap_notes;
    bool is_advisory;   /* another machine or kernel, so that verdicts do not fail the command */
    char advisory[240]; /* what differs, and why that matters; "" = not advisory */
    bool is_strict;     /* --strict: an advisory comparison fails the command */
    bool is_joint;      /* ab_comparisons_join was called */
    bool is_unsealed;   /* one of the two results has no checksum */
};

/* Checks that a result is complete enough for a comparison. Returns AB_INPUT if it is incomplete or
 * has no rounds, and AB_BACKEND if no back end has numbers. *err names the result by `label`. */
enum ab_status ab_compare_check_whole(const struct ab_session *s, const char *label,
                                      struct ab_err *err);
/* Checks that two results may be compared. Returns AB_USAGE if their work differs or they have no
 * back end in common. */
enum ab_status ab_compare_check_work(const struct ab_session *base, const char *base_label,
                                     const struct ab_session *now, const char *now_label,
                                     struct ab_err *err);

/* Compares two results; back ends are matched by name. `limit` bounds the time of the whole run.
 * Back ends that are in one result only become notes. */
void ab_compare_results(const struct ab_session *base, const struct ab_session *now, double limit,
                        struct ab_comparison *out);
/* Compares the back ends of one result with the back end `base`, in pairs by round. The ratio of an
 * effect is the quotient of the two numbers that the cell shows. A back end that did other work, or
 * that is not installed and was not requested, becomes a note. */
void ab_compare_backends(const struct ab_session *session, uint32_t base, double limit,
                         struct ab_comparison *out);
void ab_comparison_fini(struct ab_comparison *c);

/* Returns the number of cells that have a limit and this verdict. */
uint32_t ab_comparison_count(const struct ab_comparison *c, enum ab_verdict verdict);
/* Returns the status for the exit code: AB_BACKEND if a back end failed, AB_GATE if a cell
 * regressed and verdicts count, AB_INCONCLUSIVE if a cell is inconclusive, otherwise AB_OK. */
enum ab_status ab_comparison_status(const struct ab_comparison *c);

/* Computes the effect of one metric between a back end of `base` and one of `now`. Rounds are
 * paired if `base` and `now` are one session. Latencies under the clock's floor count as the floor.
 * The ratio is new / base, not inverted. */
void ab_compare_metric(const struct ab_session *base, uint32_t base_backend,
                       const struct ab_session *now, uint32_t backend, const struct ab_metric *m,
                       struct ab_effect *effect);
/* True if the metric was measured in the same way in both results. False for instructions of
 * different parts of the work or from different counters, for iterations with different budgets,
 * and for numbers that depend on how operations were counted. */
bool ab_compare_is_alike(const struct ab_session *base, const struct ab_session *now,
                         const struct ab_metric *m);

/* Returns the resolution of latencies in ns: two steps of the clock or two bins of 1 ns of the
 * histogram, whichever is larger. Smaller differences do not count. */
double ab_compare_step_ns(const struct ab_session *base, const struct ab_session *now);

/* Corrects several comparisons for the number of their cells (Holm 1979), because among many
 * numbers chance makes some look worse. A regression or improvement that is no longer clear becomes
 * inconclusive. In a cell without a limit, a "worse" or "better" that is no longer clear loses that
 * word. Cells with and without a limit, and the two directions, are corrected separately. */
void ab_comparisons_join(struct ab_comparison *list, size_t n);

/* Returns the verdict on a ratio for which above 1 is worse, as ab_check_decide does for "at most 1
 * + limit". IMPROVED is the same as FAIL in the other direction. */
enum ab_verdict ab_verdict_of(const struct ab_effect *effect, double limit);

#endif
