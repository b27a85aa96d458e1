/* SPDX-License-Identifier: MIT
 *
 * One number of one phase, wherever in a session it stands: a field of the results of an op, of the
 * memory records of a place, or of its iterations. What gates bound and claims are about.
 */
#ifndef AB_STATS_METRIC_H
#define AB_STATS_METRIC_H

#include "result/memory_dist.h"
#include "result/merge/merge_rounds.h"
#include "result/passes.h"
#include "stats/aggregate.h"

struct ab_iteration_field;

struct ab_metric {
    const char *phase;                          /* NULL: of the whole run */
    const struct ab_field *field;               /* of the results of `op`; NULL = */
    const struct ab_memory_field *memory;       /* of the memory records `at`; NULL = */
    const struct ab_iteration_field *iteration; /* of its iterations, which are called `each` */
    const char *each;
    unsigned op;
    enum ab_memory_at at;
    /* Of the groups that pin pages (stats/pins.h): those whose function or FILE:LINE the shell pattern
     * fits, at this moment; "" = none. `phase` is NULL. */
    char pattern[96];
    char moment[sizeof((struct ab_pin *)0)->at];
};

/* A number that may lie below what the clock can tell: then [0, floor]. */
struct ab_interval {
    double low, high; /* equal where it is known; both NaN = none */
};

/* The time of all measured phases, of a real program from its start to its end; the most resident
 * bytes of any phase, without and with what is resident only during a call. */
extern const struct ab_metric ab_metric_run_time, ab_metric_run_rss, ab_metric_run_peak;
/* The one by which the rows of this session are compared: with it, where it is known of all. */
const struct ab_metric *ab_session_peak_metric(const struct ab_session *s);
/* The number of this name of the results of an op; there must be one. */
struct ab_metric ab_metric_of_op(const char *phase, unsigned op, const char *field);

/* "drained_0s" … "drained_purge": memory fields that memory_fields.def has as an array. */
extern const struct ab_memory_field ab_drain_fields[AB_DRAIN_COUNT];

const char *ab_metric_unit(const struct ab_metric *m);
const char *ab_metric_name(const struct ab_metric *m); /* of the field */
/* "alloc", "footprint_peak", "frame": what is between the phase and the name. */
const char *ab_metric_of(const struct ab_metric *m);
enum ab_field_better ab_metric_better(const struct ab_metric *m);
/* A whole number that `=` may bound? */
bool ab_metric_is_count(const struct ab_metric *m);
/* Service time of single ops, so bounded below by the clock's floor? */
bool ab_metric_is_latency(const struct ab_metric *m);
/* Of a latency what counts as this much where it is below, on both sides of a comparison: the larger
 * of the clocks' floors. NaN or -INFINITY = nothing is below. */
double ab_metric_floor(const struct ab_metric *m, const struct ab_session *base,
                       const struct ab_session *now);
/* Ops in a second: the reciprocal is a time. */
bool ab_metric_is_rate(const struct ab_metric *m);

/* The pass that measures it. */
enum ab_pass ab_metric_pass(const struct ab_metric *m);

/* Returns the value of one round, as it was measured; NaN = n/a. */
double ab_metric_of_round(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                          uint32_t round);
/* The number that the tables show, NaN = n/a: percentiles of the merged histograms, extremes and
 * counts of timed ops over all rounds, of everything else the median of the rounds. */
double ab_metric_value(const struct ab_session *s, uint32_t backend, const struct ab_metric *m);
struct ab_interval ab_metric_interval(const struct ab_session *s, const struct ab_metric *m,
                                      double value);

/* Calls that the scheduler interrupted are in no maximum and no count of slow calls (n_scheduler). low:
 * without them; high: with the CPU time that they used, which they take at least. Of other metrics both
 * are the same. As it is shown, or the median of the rounds; NaN = n/a. */
struct ab_interval ab_metric_by_cpu(const struct ab_session *s, uint32_t backend,
                                    const struct ab_metric *m, bool is_shown);

struct ab_ratio {
    struct ab_round_range range; /* values under the floor taken as the floor */
    struct ab_interval median;   /* what the median can be, given what the clock cannot tell */
    struct ab_effect effect;     /* the same median, with the interval of the pairs */
};
/* The number of `a` by that of `b`, as ab_pairs_ratio: its median is the reciprocal of what tables
 * call speed. Negative numbers have no ratio. */
struct ab_ratio ab_metric_ratio(const struct ab_session *s, uint32_t a, uint32_t b,
                                const struct ab_metric *m);
/* The same by the phase's peak of live bytes; for sizes of memory records. */
struct ab_round_range ab_metric_by_live(const struct ab_session *s, uint32_t backend,
                                        const struct ab_metric *m);
/* That peak, median over the rounds. */
double ab_metric_live_peak(const struct ab_session *s, uint32_t backend, const struct ab_metric *m);

/* Ranges over the rounds, and ratios of two back ends as ab_metric_ratio has them: of the ns per op of a
 * phase, of the time of the whole run, of the peak of resident memory. */
struct ab_round_range ab_session_ns_per_op(const struct ab_session *s, uint32_t backend,
                                           const char *phase);
struct ab_round_range ab_session_run_time(const struct ab_session *s, uint32_t backend);
struct ab_round_range ab_session_peak(const struct ab_session *s, uint32_t backend);
struct ab_round_range ab_metric_range(const struct ab_session *s, uint32_t backend,
                                      const struct ab_metric *m);
/* The metric that back ends are ranked by, of which the first sentence speaks (docs/measuring.md): the
 * time of the whole run; of a program its CPU time where that is most of the wall time, else the wall
 * time; of a server the first metric that the user named, else the time of the load. */
struct ab_metric ab_session_rank_metric(const struct ab_session *s);
/* How many times better `a` is than `b` by this metric: above 1, the time is shorter, or the number lies
 * in the direction that is good. The ratio is that of the two medians, as in ab_session_speed. */
struct ab_effect ab_session_lead(const struct ab_session *s, uint32_t a, uint32_t b);
/* How many times as fast `a` is as `b`: time of b by time of a, of a phase or (phase NULL) of the
 * whole run. The ratio is that of the two medians, as they are shown; the interval is that of the
 * pairs of each round, so that drift of the machine cancels. Rounds that miss one number do not
 * count. */
struct ab_effect ab_session_speed(const struct ab_session *s, uint32_t a, uint32_t b,
                                  const char *phase);
/* Is the whole run of a combination of values (0 where there is one) too short to be timed? *ops of all
 * measured phases (0 = not known), *longest_ns of the back end that took longest: where that cannot be
 * timed, none can. */
bool ab_session_is_too_little(const struct ab_session *s, uint32_t combination, double *ops,
                              double *longest_ns);
struct ab_effect ab_session_peak_ratio(const struct ab_session *s, uint32_t a, uint32_t b);
/* p99.9 of one op of a by that of b. */
struct ab_effect ab_session_p999_ratio(const struct ab_session *s, uint32_t a, uint32_t b,
                                       const char *phase, unsigned op);

/* Why a number is not there; "" when it is not known. */
void ab_metric_why_missing(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                           bool in_each_round, char *buf, size_t cap);

/* Time in the allocator per iteration as metrics: what gates bound and comparisons show of the
 * records of iterations. */

struct ab_iteration_field {
    const char *name, *unit, *doc; /* all are better when lower */
};
enum {
    AB_ITERATION_P50,
    AB_ITERATION_P99,
    AB_ITERATION_MAX,
    AB_ITERATION_MEAN,
    AB_ITERATION_MISSED,
    AB_ITERATION_MISSED_PERCENT,
    AB_ITERATION_FIELDS
};
extern const struct ab_iteration_field ab_iteration_fields[AB_ITERATION_FIELDS];

/* The field of this name; NULL = none. */
const struct ab_iteration_field *ab_iteration_field_find(const char *name, size_t n);
/* Only with a budget. */
bool ab_iteration_field_needs_budget(const struct ab_iteration_field *field);

/* NaN = n/a, such as a time that cannot be told from that of the null back end. */
double ab_iteration_field_value(const struct ab_iterations *x,
                                const struct ab_iteration_field *field);
/* False: of iterations, and in a round of either the time cannot be told from that of the null back
 * end. The others alone would be a choice. */
bool ab_metric_iterations_have_ratio(const struct ab_session *base, uint32_t base_backend,
                                     const struct ab_metric *m, const struct ab_session *now,
                                     uint32_t backend);
/* Over all rounds, where the time cannot be distinguished from that of the null back end: the
 * largest value it may have, which is what timing the calls takes. NaN = it can be, or nothing is
 * known. */
double ab_metric_iterations_most(const struct ab_session *s, uint32_t backend,
                                 const struct ab_metric *m);

/* The iterations of a phase, of any back end; NULL = it has none. */
const struct ab_iterations *ab_session_iterations(const struct ab_session *s, const char *phase);
/* Are missed iterations of the two counted against the same budget, or is the metric none of these? */
bool ab_metric_iterations_are_alike(const struct ab_session *base, const struct ab_session *now,
                                    const struct ab_metric *m);

/* Percentiles of memory over the ops of a phase as metrics: fields as those of memory records, but
 * their values come from distributions. */

/* "external_ratio.p99" …: field i is number i % AB_DIST_STATS of kind i / AB_DIST_STATS. Their
 * offsets are in no record. */
enum { AB_DIST_FIELDS = AB_DIST_COUNT * AB_DIST_STATS };
extern const struct ab_memory_field ab_dist_fields[AB_DIST_FIELDS];

/* As gates are meant to write them. */
enum { AB_DIST_SHORT = 4 * AB_DIST_STATS };
extern const char *const ab_dist_short_names[AB_DIST_SHORT];

bool ab_metric_is_dist(const struct ab_metric *m);
/* Does it depend on how operations are counted? A percentile over them does, and so does what is known at a
 * moment that is a number of them. */
bool ab_metric_is_by_position(const struct ab_metric *m);

/* Memory over the time of the work as metrics (stats/over_time.h, growth.h). */

/* The numbers of a phase that gates bound: of idle stretches the largest of any in the phase, the area
 * of the whole phase, the growth of the run. */
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
/* "resident@begin" …: of those of a stretch the offset is in struct ab_idle. */
extern const struct ab_memory_field ab_time_fields[AB_TIME_FIELDS];
/* Whose "live" is what was live at that time. */
static inline bool ab_metric_is_by_time(const struct ab_metric *m)
{
    return m->memory >= ab_time_fields && m->memory < ab_time_fields + AB_TIME_FIELDS;
}

/* Who pins the pages as metrics (stats/pins.h): sums over the groups that a pattern fits. */
enum { AB_PIN_FIELDS = 7 };
extern const struct ab_memory_field ab_pin_fields[AB_PIN_FIELDS]; /* offsets in struct ab_pin */

/* The field of this name; "_ratio" may be left out, and with `is_in_bytes` "_bytes". NULL = none. */
const struct ab_memory_field *ab_dist_field_find(const char *name, size_t n, bool is_in_bytes);

/* All rounds as one, or one round; the caller frees out->hdr. False when there is none. */
#define AB_DIST_ALL_ROUNDS UINT32_MAX
bool ab_session_merge_dist(const struct ab_session *s, uint32_t backend, const char *phase,
                           enum ab_memory_dist_kind kind, uint32_t round,
                           struct ab_memory_dist *out);

#endif
