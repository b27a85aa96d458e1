/* SPDX-License-Identifier: MIT
 *
 * Suites: several workloads, each with its session, compared with one base. A suite has the ratio
 * of each back end in each workload, and their geometric mean (Fleming and Wallace 1986), by time
 * of the whole run and by the peak of resident memory.
 *
 *     mean = exp(sum of ln r_w / k)        r_w: the ratio of workload w that is shown, k workloads
 *     low, high = mean · exp(-+ t s)       90 %: each bound is wrong in at most 5 %
 *     s² = sum of v_w / k²                 v_w = (pi / 2) sd_w² / n_w
 *     f = (sum of v_w)² / sum of v_w² / (n_w - 1)      t: Student's 95th percentile of f degrees
 *
 * sd_w is the standard deviation of the log-ratio of a round, n_w the number of rounds. r_w is a
 * ratio of medians. Its variance is pi / 2 times that of a mean if noise is normal, and less if
 * noise has tails (Laplace). Workloads are measured one after the other, so their noise is
 * independent. The degrees of freedom are by Welch (1947) and Satterthwaite (1946). The interval
 * describes the noise of measuring these workloads; it does not predict others.
 *
 * Means are over the workloads that every compared back end has finished.
 */
#ifndef AB_STATS_SUITE_MEANS_H
#define AB_STATS_SUITE_MEANS_H

#include "result/result.h"
#include "stats/check.h"
#include "stats/gate.h"

/* Phase name of gates on means: mean/all/ns_per_op, mean/memory/peak_bytes. */
#define AB_SUITE_MEAN "mean"
/* Word that stands for the base in gates on means. */
#define AB_SUITE_BASE "base"

enum { AB_SUITE_WHY_BYTES = 200 };

struct ab_suite_work {       /* a workload, one combination of its parameter values, or a trace */
    const char *name, *path; /* borrowed */
    /* session of the workload; borrowed; NULL = it has no result */
    const struct ab_session *session;
    const char *reason; /* why there is no result; "" = not known */
    /* index of the combination in the session; 0 if there are no combinations */
    uint32_t combination;
};

enum ab_suite_metric { AB_SUITE_TIME, AB_SUITE_MEMORY, AB_SUITE_METRICS };
extern const char *const ab_suite_metric_names[AB_SUITE_METRICS]; /* "time", "memory" */

struct ab_suite_cell { /* one back end in one workload */
    /* medians: ns of the whole run, and bytes of the peak; NaN = n/a */
    double value[AB_SUITE_METRICS];
    /* number of the back end divided by that of the base; NaN = nothing to compare */
    struct ab_effect ratio[AB_SUITE_METRICS];
    /* why the back end has no numbers: "crashed", "no result"; "" = it has numbers */
    const char *failure;
};

struct ab_suite_mean {
    double ratio, low, high; /* NaN = n/a; low and high are also NaN with too few rounds */
    double freedom;          /* degrees of freedom; INFINITY = the numbers have no noise */
    uint32_t rank;           /* 1 = smallest ratio; 0 = no rank, because there is no ratio */
};

struct ab_suite_row { /* a back end */
    char name[AB_BACKEND_NAME_BYTES];
    /* as the first session that has the row gives it; "" = the same as `name` */
    const char *full_name;
    /* is_compared: some workload has comparable numbers of the back end */
    bool is_compared, is_base;
    struct ab_suite_mean mean[AB_SUITE_METRICS];
    uint32_t better; /* row that dominates this one: no slower, no larger, and not equal in both;
                   UINT32_MAX = none */
};

struct ab_suite_figures {
    const struct ab_suite_work *works;
    /* memory is compared by rss_peak_bytes, which lacks memory that is resident only during a
     * call */
    bool is_of_readings;
    uint32_t n_works, n_rows;
    struct ab_suite_row *rows;            /* sorted by rank in time, then in the order of their
                                             names on the command line */
    uint32_t base;                        /* index of the base's row; UINT32_MAX = none */
    struct ab_suite_cell *cells;          /* cell of row r in workload w: cells[w * n_rows + r] */
    uint32_t n_counted[AB_SUITE_METRICS]; /* number of workloads in the means */
    /* for each workload, why it is left out of the mean of time: "mimalloc crashed"; "" = it is not
     * left out */
    char (*why)[AB_SUITE_WHY_BYTES];
};

/* Computes the figures of a suite against `base`; NULL = the base of the first session that has
 * one. Borrows `works`. */
void ab_suite_figures_make(const struct ab_suite_work *works, uint32_t n, const char *base,
                           struct ab_suite_figures *out);
void ab_suite_figures_fini(struct ab_suite_figures *f);

/* True if the text is a gate on a mean. */
bool ab_suite_gate_is_mean(const char *text);
/* Parses a gate on a mean. `known` has names that may stand for a back end. On failure returns
 * false and fills *error. */
bool ab_suite_gate_parse(const char *text, const char *const *known, size_t n_known,
                         struct ab_gate *out, struct ab_gate_error *error);
/* Judges the gates on means. Returns a malloc'ed array with one entry for each gate and back end;
 * the entries borrow from `gates` and the figures. */
struct ab_checked *ab_suite_gates_judge(const struct ab_suite_figures *f,
                                        const struct ab_gate *gates, size_t n_gates, uint32_t *n);

#endif
