/* SPDX-License-Identifier: MIT
 *
 * A metric is one number of one phase, in whatever record a session stores it: the results of an
 * op, the memory records at a moment, or the iterations. Gates bound metrics, and claims are about
 * metrics.
 */
#ifndef AB_STATS_METRIC_H
#define AB_STATS_METRIC_H

#include "result/memory_dist.h"
#include "result/merge/merge_rounds.h"
#include "result/passes.h"
#include "stats/aggregate.h"

struct ab_metric {
    const char *phase; /* NULL = whole run */
    /* field of the results of `op`; NULL = the metric is of another kind */
    const struct ab_field *field;
    /* field of a record of another kind; NULL = the metric is of results */
    const struct ab_number_field *number;
    /* name of the iterations; NULL = the metric is not of iterations */
    const char *each;
    unsigned op;
    enum ab_memory_at at; /* moment, if the metric is of a memory record */
    /* for metrics of pinned pages (stats/pin_groups.h): shell pattern that is matched against
     * function or FILE:LINE of the groups at `moment`; "" = another metric. `phase` is then NULL */
    char pattern[96];
    char moment[sizeof((struct ab_pin *)0)->at];
};

/* Kinds of metrics that code refers to by name, as indices of ab_metric_kinds, which may have
 * more. */
enum ab_metric_kind_id {
    AB_METRIC_OP,        /* fields of results */
    AB_METRIC_ITERATION, /* ab_iteration_fields */
    AB_METRIC_MEMORY,    /* ab_memory_fields, at a moment of the phase */
    AB_METRIC_DRAIN,     /* ab_drain_fields */
    AB_METRIC_DIST,      /* ab_dist_fields */
    AB_METRIC_TIME,      /* ab_time_fields */
    AB_METRIC_PIN,       /* ab_pin_fields */
    AB_METRIC_RUN,       /* peaks of the whole run */
};

/* A kind of metrics: its fields, how they are named, and how their values are computed. Gates,
 * comparisons, `list metrics` and completion use this table only. Values are NaN if they are not
 * available. */
struct ab_metric_kind {
    const struct ab_number_field *fields; /* NULL = the fields of results */
    size_t n;
    enum ab_pass pass; /* pass that measures the fields; not used for fields of results */
    const char *title; /* heading in `list metrics`; NULL = not listed */
    /* Word in the place of an op, as in PHASE/memory/NAME; NULL = a name that the user gave.
     * is_of_memory: a moment of the phase, or the word "memory", may stand there too. */
    const char *place;
    bool is_of_memory;
    /* Description of the fields, for the error message about a wrong word in `place`; NULL = every
     * moment of the phase has the fields. */
    const char *where;
    /* Part of a field's name that a gate may leave out, at the end or before a '.'. [0]: if the
     * bound of the gate is not a size; [1]: if it is a size. NULL = none. */
    const char *optional[2];
    /* n_offered names that error messages offer; NULL = the names of the fields */
    const char *const *offered;
    size_t n_offered;
    /* Returns the value in one round; NaN = n/a. */
    double (*of_round)(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                       uint32_t round);
    /* Returns the value over all rounds. NULL = it is the median of the rounds. */
    double (*of_all)(const struct ab_session *s, uint32_t backend, const struct ab_metric *m);
    /* Returns the live bytes that a size is divided by; NULL = the fields are not sizes. */
    double (*live_of_round)(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                            uint32_t round);
    /* Writes why the value is missing, unless the reason is that its pass did not run; NULL = the
     * reason is not known. */
    void (*why)(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                bool in_each_round, char *buf, size_t cap);
};
extern const struct ab_metric_kind ab_metric_kinds[];
extern const size_t ab_metric_kind_count;
bool ab_metric_is(const struct ab_metric *m, enum ab_metric_kind_id id);
/* Returns the field of a kind with this name, in which the part kind->optional[is_size] may be
 * missing. NULL = there is none. */
const struct ab_number_field *ab_metric_kind_find(const struct ab_metric_kind *kind,
                                                  const char *name, size_t n, bool is_size);

/* Range of a number. If the number is below the clock's resolution, it is [0, floor]. */
struct ab_interval {
    double low, high; /* equal if the value is known; both NaN = none */
};

/* Metrics of the whole run. ab_metric_run_time: the time of all measured phases, or of a real
 * program from start to end. ab_metric_run_rss and ab_metric_run_peak: the most resident bytes of
 * any phase, without and with memory that is resident only during a call. */
extern const struct ab_metric ab_metric_run_time, ab_metric_run_rss, ab_metric_run_peak;
/* Returns the metric by which the peaks of this session's rows are compared: ab_metric_run_peak if
 * it is known for every row, otherwise ab_metric_run_rss. */
const struct ab_metric *ab_session_peak_metric(const struct ab_session *s);
/* Returns the metric of the field with this name in the results of an op. The field must exist. */
struct ab_metric ab_metric_of_op(const char *phase, unsigned op, const char *field);

/* Memory fields "drained_0s" … "drained_purge", whose values are in an array of struct
 * ab_memory. */
extern const struct ab_number_field ab_drain_fields[AB_DRAIN_COUNT];

const char *ab_metric_unit(const struct ab_metric *m);
const char *ab_metric_name(const struct ab_metric *m); /* name of the field */
/* Returns the part of a gate between the phase and the name: "alloc", "footprint_peak", "frame". */
const char *ab_metric_of(const struct ab_metric *m);
enum ab_field_better ab_metric_better(const struct ab_metric *m);
/* True if the metric is a whole number, so that gates may use `=`. */
bool ab_metric_is_count(const struct ab_metric *m);
/* True if the metric is a latency of single ops, which cannot be measured below the clock's
 * floor. */
bool ab_metric_is_latency(const struct ab_metric *m);
/* Returns the larger of the floors of the two sessions' clocks. Smaller latencies count as this
 * value in a comparison. NaN or -INFINITY = there is no floor. */
double ab_metric_floor(const struct ab_metric *m, const struct ab_session *base,
                       const struct ab_session *now);
/* True if the metric is a rate in ops per second, whose reciprocal is a time. */
bool ab_metric_is_rate(const struct ab_metric *m);

/* Returns the pass that measures the metric. */
enum ab_pass ab_metric_pass(const struct ab_metric *m);

/* Returns the value of one round, as it was measured; NaN = n/a. */
double ab_metric_of_round(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                          uint32_t round);
/* Returns the number that the tables show; NaN = n/a. Percentiles come from the merged histograms.
 * Extremes and the numbers of timed ops are those of all rounds together. All other metrics are
 * medians of the rounds. */
double ab_metric_value(const struct ab_session *s, uint32_t backend, const struct ab_metric *m);
struct ab_interval ab_metric_interval(const struct ab_session *s, const struct ab_metric *m,
                                      double value);

/* Returns the range of a maximum or of a count of slow calls, which lack the calls that the
 * scheduler interrupted (n_scheduler). low is the number without these calls. high counts them with
 * the CPU time that they used, which is the least that they would take. For other metrics low
 * equals high. is_shown: the number that the tables show; otherwise the median of the rounds. NaN =
 * n/a. */
struct ab_interval ab_metric_by_cpu(const struct ab_session *s, uint32_t backend,
                                    const struct ab_metric *m, bool is_shown);

struct ab_ratio {
    /* range over the rounds; values under the floor count as the floor */
    struct ab_round_range range;
    struct ab_interval median; /* range of possible medians, given the clock's resolution */
    struct ab_effect effect;   /* range.median, with the confidence interval of the pairs */
};
/* Returns the ratio of `a` to `b`, as ab_pairs_ratio does. For times, its median is the reciprocal
 * of ab_session_speed. There is no ratio of negative numbers. */
struct ab_ratio ab_metric_ratio(const struct ab_session *s, uint32_t a, uint32_t b,
                                const struct ab_metric *m);
/* Returns the ratio of a size in memory records to the phase's peak of live bytes. */
struct ab_round_range ab_metric_by_live(const struct ab_session *s, uint32_t backend,
                                        const struct ab_metric *m);
/* Returns the phase's peak of live bytes, as the median over the rounds. */
double ab_metric_live_peak(const struct ab_session *s, uint32_t backend, const struct ab_metric *m);

/* The next four functions return ranges over the rounds: of the ns per op of a phase, of the time
 * of the whole run, of the peak of resident memory, and of any metric. */
struct ab_round_range ab_session_ns_per_op(const struct ab_session *s, uint32_t backend,
                                           const char *phase);
struct ab_round_range ab_session_run_time(const struct ab_session *s, uint32_t backend);
struct ab_round_range ab_session_peak(const struct ab_session *s, uint32_t backend);
struct ab_round_range ab_metric_range(const struct ab_session *s, uint32_t backend,
                                      const struct ab_metric *m);
/* Returns the metric that back ends are ranked by and that the first sentence reports
 * (docs/measuring.md). It is the time of the whole run. For a program it is the CPU time if that is
 * most of the wall time, else the wall time. For a server it is the first metric that the user
 * named, else the time of the load. */
struct ab_metric ab_session_rank_metric(const struct ab_session *s);
/* Returns how many times better `a` is than `b` by the rank metric. Above 1, `a` is faster, or its
 * number is better in the direction of the metric. The ratio is that of the two medians, as in
 * ab_session_speed. */
struct ab_effect ab_session_lead(const struct ab_session *s, uint32_t a, uint32_t b);
/* Returns how many times as fast `a` is as `b`: the time of `b` divided by the time of `a`. The
 * time is that of a phase, or with phase NULL of the whole run. The ratio is that of the two
 * medians that are shown. The interval comes from the pairs of each round, so that drift of the
 * machine cancels. Rounds in which a number is missing do not count. */
struct ab_effect ab_session_speed(const struct ab_session *s, uint32_t a, uint32_t b,
                                  const char *phase);
/* True if the whole run of a combination (0 if there are no combinations) is too short to be timed.
 * *ops receives the ops of all measured phases; 0 = not known. *longest_ns receives the time of the
 * slowest back end, because no back end can be timed if that one cannot. */
bool ab_session_is_too_little(const struct ab_session *s, uint32_t combination, double *ops,
                              double *longest_ns);
struct ab_effect ab_session_peak_ratio(const struct ab_session *s, uint32_t a, uint32_t b);
/* Returns the ratio of p99.9 of one op, `a` divided by `b`. */
struct ab_effect ab_session_p999_ratio(const struct ab_session *s, uint32_t a, uint32_t b,
                                       const char *phase, unsigned op);

/* Writes the reason why a number is missing; "" if the reason is not known. */
void ab_metric_why_missing(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                           bool in_each_round, char *buf, size_t cap);

/* Metrics of the time in the allocator per iteration, for gates and comparisons. */

enum {
    AB_ITERATION_P50,
    AB_ITERATION_P99,
    AB_ITERATION_MAX,
    AB_ITERATION_MEAN,
    AB_ITERATION_MISSED,
    AB_ITERATION_MISSED_PERCENT,
    AB_ITERATION_FIELDS
};
extern const struct ab_number_field ab_iteration_fields[AB_ITERATION_FIELDS];

/* True if the field exists only for iterations that have a time budget. */
bool ab_iteration_field_needs_budget(const struct ab_number_field *field);

/* Returns the value; NaN = n/a, for example for a time that cannot be distinguished from that of
 * the null back end. */
double ab_iteration_field_value(const struct ab_iterations *x, const struct ab_number_field *field);
/* True unless the metric is a time of iterations that, in some round of either side, cannot be
 * distinguished from that of the null back end. Using only the other rounds would be biased. */
bool ab_metric_iterations_have_ratio(const struct ab_session *base, uint32_t base_backend,
                                     const struct ab_metric *m, const struct ab_session *now,
                                     uint32_t backend);
/* Returns an upper bound, over all rounds, of a time that cannot be distinguished from that of the
 * null back end; it is the cost of timing the calls. NaN = the time can be distinguished, or
 * nothing is known. */
double ab_metric_iterations_most(const struct ab_session *s, uint32_t backend,
                                 const struct ab_metric *m);

/* Returns the iterations of a phase, of any back end; NULL = the phase has none. */
const struct ab_iterations *ab_session_iterations(const struct ab_session *s, const char *phase);
/* True if both sessions count missed iterations against the same budget, if the metric does not
 * count them, or if a session has no iterations of the phase. */
bool ab_metric_iterations_are_alike(const struct ab_session *base, const struct ab_session *now,
                                    const struct ab_metric *m);

/* Metrics of memory percentiles over the ops of a phase. Their fields look like those of memory
 * records, but the values come from distributions. */

/* "external_ratio.p99" …: field i is figure i % AB_DIST_STATS of kind i / AB_DIST_STATS. The
 * offsets do not refer to a record. */
enum { AB_DIST_FIELDS = AB_DIST_COUNT * AB_DIST_STATS };
extern const struct ab_number_field ab_dist_fields[AB_DIST_FIELDS];

/* True if the metric depends on how operations are counted. Percentiles over ops do, and so do
 * numbers at a moment that is given in ops. */
bool ab_metric_is_by_position(const struct ab_metric *m);

/* Metrics of memory over the time of the work (stats/over_time.h, growth.h). */

/* Numbers of a phase that gates bound: the largest over the idle stretches of the phase, the area
 * of the whole phase, or the growth of the run. */
enum {
    AB_TIME_BEGIN,
    AB_TIME_1S,
    AB_TIME_10S,
    AB_TIME_60S,
    AB_TIME_END,
    AB_TIME_FLOOR,
    AB_TIME_HALF_BACK,
    AB_TIME_MOST_BACK,
    AB_TIME_AREA,
    AB_TIME_GROWTH,
    AB_TIME_FIELDS
};
/* "resident@begin" …; for the fields of an idle stretch, the offset is in struct ab_idle. */
extern const struct ab_number_field ab_time_fields[AB_TIME_FIELDS];

/* Metrics of pinned pages (stats/pin_groups.h): sums over the groups that a pattern matches. */
enum { AB_PIN_FIELDS = 7 };
extern const struct ab_number_field ab_pin_fields[AB_PIN_FIELDS]; /* offsets in struct ab_pin */

/* Merges the distributions of all rounds, or copies that of one round. The caller frees out->hdr.
 * Returns false if there is none. */
#define AB_DIST_ALL_ROUNDS UINT32_MAX
bool ab_session_merge_dist(const struct ab_session *s, uint32_t backend, const char *phase,
                           enum ab_memory_dist_kind kind, uint32_t round,
                           struct ab_memory_dist *out);

#endif
