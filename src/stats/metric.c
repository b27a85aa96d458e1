/* SPDX-License-Identifier: MIT
 *
 * Finds the value of a metric for one back end, from the merged histogram or as a median of the
 * rounds. Explains why a value is missing.
 */
#include "stats/metric.h"

#include "base/bits.h"
#include "base/units.h"
#include "core/alloc.h"
#include "core/text.h"
#include "result/numbers.h"
#include "result/session.h"
#include "stats/growth.h"
#include "stats/over_time.h"
#include "stats/pin_groups.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double no_number = NAN;

#define DRAIN(i, what) \
    { \
        .name = "drained_" what, .unit = "bytes", .doc = "footprint after all blocks are freed", \
        .better = AB_FIELD_LOWER, .offset = offsetof(struct ab_memory, drained_bytes[i]) \
    }
const struct ab_number_field ab_drain_fields[AB_DRAIN_COUNT] = {
    DRAIN(0, "0s"), DRAIN(1, "0.1s"), DRAIN(2, "1s"), DRAIN(3, "10s"), DRAIN(4, "purge"),
};

/* Fields of the whole run. They are computed from the phases, and are not members of a record. The
 * time may also be that of one phase. */
static const struct ab_field run_time = {.name = "time",
                                         .unit = "ns",
                                         .group = AB_FIELD_ALL,
                                         .better = AB_FIELD_LOWER,
                                         .offset = SIZE_MAX};
enum { RUN_RSS, RUN_PEAK, RUN_FIELDS };
static const struct ab_number_field run_fields[RUN_FIELDS] = {
    [RUN_RSS] = {"rss_peak_bytes", "bytes", NULL, AB_FIELD_LOWER, SIZE_MAX},
    [RUN_PEAK] = {"peak_bytes", "bytes", NULL, AB_FIELD_LOWER, SIZE_MAX},
};
const struct ab_metric ab_metric_run_time = {.field = &run_time, .op = AB_OP_ALL};
const struct ab_metric ab_metric_run_rss = {.number = &run_fields[RUN_RSS]};
const struct ab_metric ab_metric_run_peak = {.number = &run_fields[RUN_PEAK]};

const struct ab_metric *ab_session_peak_metric(const struct ab_session *s)
{
    return ab_session_has_peaks(s) ? &ab_metric_run_peak : &ab_metric_run_rss;
}

struct ab_metric ab_metric_of_op(const char *phase, unsigned op, const char *field)
{
    return (struct ab_metric){.phase = phase, .field = ab_field_find(field), .op = op};
}

static const struct ab_metric_kind *kind_of(const struct ab_metric *m)
{
    const struct ab_metric_kind *kind = &ab_metric_kinds[ab_metric_kind_count - 1];
    while (kind->fields != NULL &&
           (m->number < kind->fields || m->number >= kind->fields + kind->n))
        kind--;
    return kind;
}

bool ab_metric_is(const struct ab_metric *m, enum ab_metric_kind_id id)
{
    return kind_of(m) == &ab_metric_kinds[id];
}

/* True if `name` is `whole` without `part`: "external.p99" is "external_ratio.p99" without
 * "_ratio". `part` must be at the end of `whole`, or before a '.'. */
static bool is_without(const char *name, size_t n, const char *whole, const char *part)
{
    const char *cut = part != NULL ? strstr(whole, part) : NULL;
    if (cut == NULL)
        return false;
    const char *rest = cut + strlen(part);
    size_t head = (size_t)(cut - whole);
    return (rest[0] == 0 || rest[0] == '.') && n == head + strlen(rest) &&
           memcmp(name, whole, head) == 0 && memcmp(name + head, rest, n - head) == 0;
}

const struct ab_number_field *ab_metric_kind_find(const struct ab_metric_kind *kind,
                                                  const char *name, size_t n, bool is_size)
{
    for (size_t i = 0; i < kind->n; i++) {
        const char *whole = kind->fields[i].name;
        if ((n == strlen(whole) && memcmp(name, whole, n) == 0) ||
            is_without(name, n, whole, kind->optional[is_size]))
            return &kind->fields[i];
    }
    return NULL;
}

const char *ab_metric_unit(const struct ab_metric *m)
{
    return m->field != NULL ? m->field->unit : m->number->unit;
}

const char *ab_metric_name(const struct ab_metric *m)
{
    return m->field != NULL ? m->field->name : m->number->name;
}

const char *ab_metric_of(const struct ab_metric *m)
{
    const struct ab_metric_kind *kind = kind_of(m);
    return m->each != NULL      ? m->each
           : m->pattern[0] != 0 ? m->pattern
           : m->field != NULL   ? ab_result_op_name(m->op)
           : kind->is_of_memory ? ab_memory_at_names[m->at]
                                : kind->place;
}

enum ab_field_better ab_metric_better(const struct ab_metric *m)
{
    return m->field != NULL ? m->field->better : m->number->better;
}

bool ab_metric_is_count(const struct ab_metric *m)
{
    return m->number == &ab_iteration_fields[AB_ITERATION_MISSED];
}

bool ab_metric_is_latency(const struct ab_metric *m)
{
    return m->field != NULL && strcmp(m->field->unit, "ns") == 0 &&
           (m->field->group == AB_FIELD_QUANTILE || m->field->group == AB_FIELD_EACH);
}

double ab_metric_floor(const struct ab_metric *m, const struct ab_session *base,
                       const struct ab_session *now)
{
    return ab_metric_is_latency(m) ? fmax(base->timer.floor_ns, now->timer.floor_ns) : -INFINITY;
}

bool ab_metric_is_rate(const struct ab_metric *m)
{
    return strcmp(ab_metric_unit(m), "1/s") == 0;
}

static const struct ab_memory *find_memory(const struct ab_session *s, uint32_t backend,
                                           const struct ab_metric *m, uint32_t round)
{
    for (uint32_t i = 0; i < s->n_memory; i++) {
        const struct ab_memory *r = &s->memory[i];
        if (r->backend == backend && r->round == round && r->at == m->at &&
            strcmp(r->phase, m->phase) == 0)
            return r;
    }
    return NULL;
}

/* ---- iterations, from the histograms of one round or of all ---- */

#define OF_ITERATIONS(n, u, d) \
    { \
        .name = (n), .unit = (u), .doc = (d), .better = AB_FIELD_LOWER, .offset = SIZE_MAX \
    }
const struct ab_number_field ab_iteration_fields[AB_ITERATION_FIELDS] = {
    [AB_ITERATION_P50] = OF_ITERATIONS("p50", "ns", "half of the iterations take no more"),
    [AB_ITERATION_P99] = OF_ITERATIONS("p99", "ns",
                                       "99 of 100 iterations take no more; n/a below 1,000 "
                                       "iterations"),
    [AB_ITERATION_MAX] = OF_ITERATIONS("max", "ns", "the iteration that took the most"),
    [AB_ITERATION_MEAN] = OF_ITERATIONS("mean", "ns", "mean of the iterations"),
    [AB_ITERATION_MISSED] = OF_ITERATIONS("missed", "iterations",
                                          "iterations that took more than the budget, over all "
                                          "rounds"),
    [AB_ITERATION_MISSED_PERCENT] = OF_ITERATIONS(
        "missed_percent", "percent", "share of the iterations that took more than the budget"),
};

bool ab_iteration_field_needs_budget(const struct ab_number_field *field)
{
    return field == &ab_iteration_fields[AB_ITERATION_MISSED] ||
           field == &ab_iteration_fields[AB_ITERATION_MISSED_PERCENT];
}

/* Merges the records of one round, or of all, into *x. The caller frees x->hdr. Returns false if
 * there is no record. */
static bool find(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                 uint32_t round, struct ab_iterations *x)
{
    if (!ab_session_has_numbers(s, backend))
        return false;
    struct ab_hdr *hdr = ab_hdr_new();
    bool is_there = ab_session_merge_iterations(s, backend, m->phase, round, hdr, x);
    if (!is_there)
        free(hdr);
    return is_there;
}

/* Returns the value of the field; 0 = the time is not more than in the null back end. */
static double value_of(const struct ab_iterations *x, const struct ab_number_field *field)
{
    double n = (double)x->n;
    switch (field - ab_iteration_fields) {
    case AB_ITERATION_P50:
        return ab_result_quantile(x->hdr, 0.5);
    case AB_ITERATION_P99:
        return ab_result_quantile(x->hdr, 0.99);
    case AB_ITERATION_MAX:
        return x->n > 0 && x->hdr->overflow == 0 ? (double)x->hdr->max : (double)NAN;
    case AB_ITERATION_MEAN:
        return x->hdr->overflow == 0 ? ab_hdr_mean(x->hdr) : (double)NAN;
    case AB_ITERATION_MISSED:
        return x->n > 0 && isfinite(x->budget_ns) ? (double)x->n_over_budget : (double)NAN;
    default:
        return x->n > 0 && isfinite(x->budget_ns) ? 100 * (double)x->n_over_budget / n
                                                  : (double)NAN;
    }
}

static bool is_time(const struct ab_metric *m)
{
    return !ab_iteration_field_needs_budget(m->number);
}

double ab_iteration_field_value(const struct ab_iterations *x, const struct ab_number_field *field)
{
    double value = value_of(x, field);
    return value > 0 || ab_iteration_field_needs_budget(field) ? value : (double)NAN;
}

/* Returns the value in one round, or with AB_ITERATIONS_ALL_ROUNDS in all; NaN = n/a. */
static double iterations_of_round(const struct ab_session *s, uint32_t backend,
                                  const struct ab_metric *m, uint32_t round)
{
    struct ab_iterations x;
    if (!find(s, backend, m, round, &x))
        return NAN;
    double value = ab_iteration_field_value(&x, m->number);
    free(x.hdr);
    return value;
}

static double iterations_of_all(const struct ab_session *s, uint32_t backend,
                                const struct ab_metric *m)
{
    return iterations_of_round(s, backend, m, AB_ITERATIONS_ALL_ROUNDS);
}

/* True if in each round the time can be distinguished from that of the null back end. */
static bool are_distinguishable(const struct ab_session *s, uint32_t backend,
                                const struct ab_metric *m)
{
    struct ab_iterations x;
    bool is_distinguishable = true;
    for (uint32_t i = 0; i < s->n_rounds && is_distinguishable; i++) {
        if (!find(s, backend, m, s->rounds[i].index, &x))
            continue;
        is_distinguishable = value_of(&x, m->number) != 0;
        free(x.hdr);
    }
    return is_distinguishable;
}

bool ab_metric_iterations_have_ratio(const struct ab_session *base, uint32_t base_backend,
                                     const struct ab_metric *m, const struct ab_session *now,
                                     uint32_t backend)
{
    return !ab_metric_is(m, AB_METRIC_ITERATION) || !is_time(m) ||
           (are_distinguishable(base, base_backend, m) && are_distinguishable(now, backend, m));
}

/* Returns the cost of timing the calls of an iteration. For the mean, this is an average iteration.
 * For other metrics it is the iteration with the most calls, because it is not known which
 * iteration is at a percentile. */
static double timing_takes(const struct ab_session *s, uint32_t backend, const struct ab_metric *m)
{
    double sum = 0, n = 0, most = 0;
    for (uint32_t i = 0; i < s->n_iterations; i++) {
        const struct ab_iterations *x = &s->iterations[i];
        if (x->backend != backend || strcmp(x->phase, m->phase) != 0 || x->n == 0)
            continue;
        sum += x->call_ns * (double)x->n_calls;
        n += (double)x->n;
        most = fmax(most, x->call_ns * (double)x->n_calls_most);
    }
    return m->number == &ab_iteration_fields[AB_ITERATION_MEAN] ? sum / n : most;
}

double ab_metric_iterations_most(const struct ab_session *s, uint32_t backend,
                                 const struct ab_metric *m)
{
    struct ab_iterations x;
    if (!is_time(m) || !find(s, backend, m, AB_ITERATIONS_ALL_ROUNDS, &x))
        return NAN;
    double value = value_of(&x, m->number);
    free(x.hdr);
    return value == 0 ? timing_takes(s, backend, m) : (double)NAN;
}

/* Writes the reason why the value is not known; "" = it is known. */
static void explain(const struct ab_iterations *x, const struct ab_metric *m,
                    const char *in_each_round, char *buf, size_t cap)
{
    double value = value_of(x, m->number),
           tail = m->number == &ab_iteration_fields[AB_ITERATION_P50] ? 0.5 : 0.01;
    buf[0] = 0;
    if (!isnan(ab_iteration_field_value(x, m->number)))
        return;
    if (x->n == 0)
        snprintf(buf, cap, "%s",
                 x->reason[0] != 0 ? x->reason : "no iteration that the scheduler left alone");
    else if (!is_time(m))
        snprintf(buf, cap, "'each' has no budget");
    else if (value == 0)
        snprintf(buf, cap, "no more than the same calls take in the null back end");
    else if (x->hdr->overflow > 0)
        snprintf(buf, cap, "longer than 60 s, which is not stored: %llu iterations",
                 (unsigned long long)x->hdr->overflow);
    else
        snprintf(buf, cap, "%s needs %.0f iterations%s, there are %llu", m->number->name,
                 AB_QUANTILE_MIN_SAMPLES_BEHIND / tail, in_each_round, (unsigned long long)x->n);
}

static void iterations_why(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                           bool in_each_round, char *buf, size_t cap)
{
    struct ab_iterations x;
    if (!find(s, backend, m, AB_ITERATIONS_ALL_ROUNDS, &x)) {
        snprintf(buf, cap, "iterations were not timed: the result has none of this phase");
        return;
    }
    explain(&x, m, "", buf, cap);
    free(x.hdr);
    for (uint32_t i = 0; i < s->n_rounds && in_each_round && buf[0] == 0; i++)
        if (find(s, backend, m, s->rounds[i].index, &x)) {
            explain(&x, m, " in a round", buf, cap);
            free(x.hdr);
        }
}

const struct ab_iterations *ab_session_iterations(const struct ab_session *s, const char *phase)
{
    for (uint32_t i = 0; i < s->n_iterations; i++)
        if (strcmp(s->iterations[i].phase, phase) == 0)
            return &s->iterations[i];
    return NULL;
}

bool ab_metric_iterations_are_alike(const struct ab_session *base, const struct ab_session *now,
                                    const struct ab_metric *m)
{
    if (!ab_metric_is(m, AB_METRIC_ITERATION) || is_time(m))
        return true;
    const struct ab_iterations *a = ab_session_iterations(base, m->phase);
    const struct ab_iterations *b = ab_session_iterations(now, m->phase);
    if (a == NULL || b == NULL)
        return true;
    return a->budget_ns == b->budget_ns || (isnan(a->budget_ns) && isnan(b->budget_ns));
}

/* ---- percentiles of memory over the ops of a phase, from the merged histograms ---- */

#define STAT(metric, u, d, stat) \
    { \
        .name = metric "." stat, .unit = u, .doc = d, .better = AB_FIELD_LOWER, .offset = SIZE_MAX \
    }
const struct ab_number_field ab_dist_fields[AB_DIST_FIELDS] = {
#define AB_MEMORY_DIST(id, n, u, s, d) \
    STAT(n, u, d, "p50"), STAT(n, u, d, "p90"), STAT(n, u, d, "p99"), STAT(n, u, d, "max"),
#include "result/memory_dists.def"
#undef AB_MEMORY_DIST
};

/* short names, which messages offer for gates */
static const char *const dist_short_names[] = {
    "overhead.p50", "overhead.p90", "overhead.p99", "overhead.max", "internal.p50", "internal.p90",
    "internal.p99", "internal.max", "external.p50", "external.p90", "external.p99", "external.max",
    "retained.p50", "retained.p90", "retained.p99", "retained.max",
};

bool ab_metric_is_by_position(const struct ab_metric *m)
{
    struct ab_number number;
    return ab_metric_is(m, AB_METRIC_DIST) ||
           ab_units_parse(m->moment, strlen(m->moment), AB_UNIT_COUNT, &number) == NULL;
}

bool ab_session_merge_dist(const struct ab_session *s, uint32_t backend, const char *phase,
                           enum ab_memory_dist_kind kind, uint32_t round,
                           struct ab_memory_dist *out)
{
    bool is_any = false;
    *out = (struct ab_memory_dist){
        .backend = backend, .phase = phase, .kind = kind, .hdr = ab_memory_dist_histogram()};
    for (uint32_t i = 0; i < s->n_dists; i++) {
        const struct ab_memory_dist *d = &s->dists[i];
        if (d->backend != backend || d->kind != kind || strcmp(d->phase, phase) != 0 ||
            (round != AB_DIST_ALL_ROUNDS && d->round != round))
            continue;
        is_any = true;
        out->n_ops += d->n_ops;
        out->n_samples += d->n_samples;
        if (d->hdr != NULL)
            ab_hdr_merge(out->hdr, d->hdr);
        if (out->reason[0] == 0)
            memcpy(out->reason, d->reason, sizeof out->reason);
    }
    if (!is_any) {
        free(out->hdr);
        out->hdr = NULL;
    }
    return is_any;
}

static bool find_dist(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                      uint32_t round, struct ab_memory_dist *out)
{
    size_t i = (size_t)(m->number - ab_dist_fields);
    return ab_session_has_numbers(s, backend) &&
           ab_session_merge_dist(s, backend, m->phase,
                                 (enum ab_memory_dist_kind)(i / AB_DIST_STATS), round, out);
}

static double dist_of_round(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                            uint32_t round)
{
    struct ab_memory_dist d;
    if (!find_dist(s, backend, m, round, &d))
        return NAN;
    double value = ab_memory_dist_value(&d, (unsigned)(m->number - ab_dist_fields) % AB_DIST_STATS);
    free(d.hdr);
    return value;
}

static double dist_of_all(const struct ab_session *s, uint32_t backend, const struct ab_metric *m)
{
    return dist_of_round(s, backend, m, AB_DIST_ALL_ROUNDS);
}

static void dist_why(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                     bool in_each_round, char *buf, size_t cap)
{
    (void)in_each_round;
    struct ab_memory_dist d;
    if (!find_dist(s, backend, m, AB_DIST_ALL_ROUNDS, &d)) {
        snprintf(buf, cap, "memory over the ops was not measured");
        return;
    }
    ab_memory_dist_why(&d, (unsigned)(m->number - ab_dist_fields) % AB_DIST_STATS, buf, cap);
    free(d.hdr);
}

/* ---- memory over the time of the work; if a phase has several idle stretches, the worst counts
 * ---- */

#define OF_STRETCH(n, u, member, d) \
    { \
        .name = (n), .unit = (u), .doc = (d), .better = AB_FIELD_LOWER, \
        .offset = offsetof(struct ab_idle, member) \
    }
const struct ab_number_field ab_time_fields[AB_TIME_FIELDS] = {
    [AB_TIME_BEGIN] = OF_STRETCH("resident@begin", "bytes", begin_bytes,
                                 "resident when an idle stretch begins"),
    [AB_TIME_1S] = OF_STRETCH("resident@1s", "bytes", at_1s_bytes, "1 s later"),
    [AB_TIME_10S] = OF_STRETCH("resident@10s", "bytes", at_10s_bytes, "10 s later"),
    [AB_TIME_60S] = OF_STRETCH("resident@60s", "bytes", at_60s_bytes, "60 s later"),
    [AB_TIME_END] = OF_STRETCH("resident@end", "bytes", end_bytes, "when it ends"),
    [AB_TIME_FLOOR] = OF_STRETCH("floor", "bytes", floor_bytes, "the least while it lasts"),
    [AB_TIME_HALF_BACK] = OF_STRETCH("half_back", "ns", half_back_ns,
                                     "until half of what was freed before it was given back"),
    [AB_TIME_MOST_BACK] = OF_STRETCH("most_back", "ns", most_back_ns, "until 90 % of it was"),
    [AB_TIME_AREA] = {.name = "area",
                      .unit = "MiB h",
                      .doc = "resident memory times time, of the whole phase",
                      .better = AB_FIELD_LOWER,
                      .offset = SIZE_MAX},
    [AB_TIME_GROWTH] = {.name = "growth",
                        .unit = "bytes/h",
                        .doc = "of resident memory in an hour of the whole work",
                        .better = AB_FIELD_LOWER,
                        .offset = SIZE_MAX},
};

static double area_of(const struct ab_session *s, uint32_t backend, const char *phase,
                      uint32_t round)
{
    const struct ab_over_time *row, *before = NULL;
    double sum = 0; /* the sum becomes NaN if a part is not known */
    bool is_any = false;
    for (uint32_t at = 0; (row = ab_over_time_next(s, backend, round, &at)) != NULL; before = row)
        if (before != NULL && strcmp(row->phase, phase) == 0) {
            sum += ab_over_time_area(before, row);
            is_any = true;
        }
    return is_any ? sum : (double)NAN;
}

/* Returns the largest value of the field over the idle stretches of the phase; NaN if it is not
 * known for one of them. *live receives the live bytes of the stretch that has it. */
static double largest(const struct ab_idles *all, const char *phase,
                      const struct ab_number_field *field, double *live)
{
    double most = NAN;
    for (uint32_t i = 0; i < all->n; i++) {
        double value = *(const double *)(const void *)((const char *)&all->items[i] +
                                                       field->offset);
        if (strcmp(all->items[i].phase, phase) != 0)
            continue;
        if (isnan(value))
            return NAN;
        if (isnan(most) || value > most) {
            most = value;
            if (live != NULL)
                *live = all->items[i].live_bytes;
        }
    }
    return most;
}

static double time_value(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                         uint32_t round, double *live)
{
    if (live != NULL)
        *live = NAN;
    if (!ab_session_has_numbers(s, backend))
        return NAN;
    if (m->number == &ab_time_fields[AB_TIME_AREA])
        return area_of(s, backend, m->phase, round);
    if (m->number == &ab_time_fields[AB_TIME_GROWTH]) {
        struct ab_growth_by_time growth = ab_growth_by_time(s, backend, round);
        if (live != NULL)
            *live = growth.live_bytes;
        return growth.verdict != AB_GROWTH_UNKNOWN ? growth.bytes_per_hour : (double)NAN;
    }
    struct ab_idles all = ab_idles_of(s, backend, round);
    double value = largest(&all, m->phase, m->number, live);
    free(all.items);
    return value;
}

static double time_of_round(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                            uint32_t round)
{
    return time_value(s, backend, m, round, NULL);
}

static double time_live_of_round(const struct ab_session *s, uint32_t backend,
                                 const struct ab_metric *m, uint32_t round)
{
    double live;
    time_value(s, backend, m, round, &live);
    return live;
}

static void time_why(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                     bool in_each_round, char *buf, size_t cap)
{
    (void)in_each_round;
    const struct ab_number_field *field = m->number;
    uint32_t at = 0, n = 0;
    struct ab_idles all = ab_idles_of(s, backend, AB_OVER_TIME_ALL_ROUNDS);
    for (uint32_t i = 0; i < all.n; i++)
        n += strcmp(all.items[i].phase, m->phase) == 0;
    free(all.items);
    if (ab_over_time_next(s, backend, AB_OVER_TIME_ALL_ROUNDS, &at) == NULL)
        snprintf(buf, cap, "the work has no times: no settle, every, over, and no recorded time");
    else if (field == &ab_time_fields[AB_TIME_GROWTH])
        snprintf(buf, cap, "%s", ab_growth_by_time(s, backend, AB_OVER_TIME_ALL_ROUNDS).why);
    else if (n == 0 && field->offset != SIZE_MAX)
        snprintf(buf, cap, "the phase has no idle stretch");
    else if (strcmp(field->unit, "ns") == 0)
        snprintf(buf, cap, "not that much was given back in each idle stretch of the phase");
    else if (field->offset != SIZE_MAX)
        snprintf(buf, cap, "resident memory is not known, or an idle stretch is too short");
    else
        snprintf(buf, cap, "resident memory is not known");
}

/* ---- owners of pinned pages ---- */

#define OF_PIN(n, u, member, d) \
    { \
        .name = (n), .unit = (u), .doc = (d), .better = AB_FIELD_LOWER, \
        .offset = offsetof(struct ab_pin, member) \
    }
const struct ab_number_field ab_pin_fields[AB_PIN_FIELDS] = {
    OF_PIN("pinned", "bytes", pinned_bytes, "external bytes of pages with blocks of these groups"),
    OF_PIN("pinned_2m", "bytes", pinned_2m_bytes, "the same of stretches of 2 MiB"),
    OF_PIN("internal", "bytes", internal_bytes, "internal bytes of their blocks"),
    OF_PIN("retained", "bytes", retained_bytes, "pages whose last block was one of theirs"),
    OF_PIN("live", "bytes", live_bytes, "what was asked for, of their live blocks"),
    OF_PIN("blocks", "blocks", blocks, "their live blocks"),
    OF_PIN("pages", "pages", pages, "pages with such, of each group"),
};

static bool fits(const struct ab_pin *pin, const char *pattern)
{
    char place[160];
    AB_FIT(place, "%s:%u", pin->file, pin->line);
    return fnmatch(pattern, pin->function, 0) == 0 ||
           (pin->line > 0 && fnmatch(pattern, place, 0) == 0);
}

/* Returns the sum, over all groups that match the pattern, of the double at `offset` in struct
 * ab_pin. */
static double sum_pins(const struct ab_pins_of *in, const char *pattern, size_t offset)
{
    double sum = 0;
    for (uint32_t i = 0; i < in->n; i++)
        if (fits(&in->pins[i], pattern))
            sum += *(const double *)(const void *)((const char *)&in->pins[i] + offset);
    return sum;
}

/* True if the sum over the pattern's groups is known. If the pattern matches no owner at this
 * moment, but another moment has such an owner, the sum is 0. If it matches no owner of the run, it
 * is a misspelling. It is not known either if this moment has owners without names, "(others)". */
static bool pins_fit(const struct ab_session *s, const struct ab_pins_of *moment,
                     const char *pattern)
{
    bool has_others = false;
    for (uint32_t i = 0; i < moment->n; i++) {
        if (fits(&moment->pins[i], pattern))
            return true;
        has_others = has_others || strcmp(moment->pins[i].function, AB_PIN_OTHERS) == 0;
    }
    for (uint32_t i = 0; i < s->n_pins && !has_others; i++)
        if (fits(&s->pins[i], pattern))
            return true;
    return false;
}

static double pins_of_round(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                            uint32_t round)
{
    struct ab_pins_of moment;
    if (!ab_pins_find(s, backend, round, m->moment, &moment) || !pins_fit(s, &moment, m->pattern))
        return NAN;
    return sum_pins(&moment, m->pattern, m->number->offset);
}

static double pins_live_of_round(const struct ab_session *s, uint32_t backend,
                                 const struct ab_metric *m, uint32_t round)
{
    struct ab_pins_of moment;
    return ab_pins_find(s, backend, round, m->moment, &moment) ? moment.live_bytes : no_number;
}

static void pins_why(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                     bool in_each_round, char *buf, size_t cap)
{
    (void)in_each_round;
    struct ab_pins_of moment;
    if (s->n_pins == 0)
        snprintf(buf, cap, "measured with -v pins");
    else if (!ab_pins_find(s, backend, AB_PINS_FIRST_ROUND, m->moment, &moment))
        snprintf(buf, cap,
                 "the run has no moment %s: it is resident_peak, live_peak, worst, end, half_time, "
                 "a mark of the trace, or as --at says it",
                 m->moment);
    else
        snprintf(buf, cap, "no owner fits the pattern, or the pages of this moment are not known");
}

/* ---- numbers over the rounds ---- */

typedef double round_number(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                            uint32_t round);

/* Returns an array with the finite numbers of the rounds, and their number in *n. The caller frees
 * the array. */
static double *collect(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                       round_number *number, uint32_t *n)
{
    double *x = ab_alloc_zeroed((size_t)s->n_rounds + 1, sizeof x[0]);
    *n = 0;
    for (uint32_t i = 0; i < s->n_rounds; i++) {
        double value = number(s, backend, m, s->rounds[i].index);
        if (isfinite(value))
            x[(*n)++] = value;
    }
    return x;
}

static struct ab_round_range range_of(const struct ab_session *s, uint32_t backend,
                                      const struct ab_metric *m, round_number *number)
{
    uint32_t n;
    double *x = collect(s, backend, m, number, &n);
    struct ab_round_range range = ab_round_range_of(x, n);
    free(x);
    return range;
}

/* ---- memory at a moment of a phase, and of the whole run ---- */

static double memory_of_round(const struct ab_session *s, uint32_t backend,
                              const struct ab_metric *m, uint32_t round)
{
    const struct ab_memory *r = find_memory(s, backend, m, round);
    return r != NULL ? ab_memory_value(m->number, r) : no_number;
}

static double memory_live_of_round(const struct ab_session *s, uint32_t backend,
                                   const struct ab_metric *m, uint32_t round)
{
    const struct ab_memory *r = find_memory(s, backend, m, round);
    return r != NULL ? r->live_peak_bytes : no_number;
}

static void memory_why(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                       bool in_each_round, char *buf, size_t cap)
{
    const struct ab_memory *r = NULL;
    (void)in_each_round;
    for (uint32_t i = 0; i < s->n_rounds && (r == NULL || r->reason[0] == 0); i++)
        r = find_memory(s, backend, m, s->rounds[i].index);
    snprintf(buf, cap, "%s", r == NULL ? "memory was not measured" : r->reason);
}

/* Returns the most resident bytes that the heap added in any measured phase. `with_calls` includes
 * memory that is resident only during a call. For a real program it is the kernel's own peak, which
 * includes everything. */
static double session_peak_of_round(const struct ab_session *s, uint32_t backend, uint32_t round,
                                    bool with_calls)
{
    double peak = NAN;
    if (ab_session_is_exec(s)) {
        const struct ab_result *r = ab_session_find(s, backend, AB_PROGRAM_PHASE, AB_OP_ALL, round);
        return r != NULL ? r->resident_peak_bytes : NAN;
    }
    for (uint32_t i = 0; i < s->n_memory; i++) {
        const struct ab_memory *m = &s->memory[i];
        if (m->backend == backend && m->round == round) /* fmax ignores NaN */
            peak = fmax(peak, with_calls ? m->peak_bytes : m->rss_peak_bytes);
    }
    return peak;
}

static double run_of_round(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                           uint32_t round)
{
    return session_peak_of_round(s, backend, round, m->number == &run_fields[RUN_PEAK]);
}

/* ---- results of an op ---- */

static double op_of_round(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                          uint32_t round)
{
    if (m->field == &run_time)
        return ab_session_time_of_round(s, backend, m->phase, round);
    const struct ab_result *r = ab_session_find(s, backend, m->phase, m->op, round);
    return r != NULL && ab_field_exists(m->field, r) ? ab_field_f64(m->field, r) : no_number;
}

/* Returns a quantile of the ops of all rounds, or the time of the slowest op. */
static double merged_value(const struct ab_session *s, uint32_t backend, const struct ab_metric *m)
{
    struct ab_hdr *hdr = ab_alloc(sizeof *hdr);
    struct ab_merged merged = ab_session_merge(s, backend, m->phase, m->op, hdr);
    size_t which = (m->field->offset - offsetof(struct ab_result, quantiles)) / sizeof(double);
    double value = m->field->group == AB_FIELD_QUANTILE
                       ? ab_result_quantile(hdr, ab_quantile_values[which])
                       : merged.max;
    free(hdr);
    return value;
}

enum fold { FOLD_MEDIAN, FOLD_LEAST, FOLD_MOST, FOLD_MERGED, FOLD_SUM };

static enum fold fold_of(const struct ab_field *field)
{
    switch (field->offset) {
    case offsetof(struct ab_result, min):
        return FOLD_LEAST;
    case offsetof(struct ab_result, max):
        return FOLD_MERGED;
    case offsetof(struct ab_result, max_least_ns):
        return FOLD_MOST;
    case offsetof(struct ab_result, n):
    case offsetof(struct ab_result, overflow):
        return FOLD_SUM;
    default:
        return FOLD_MEDIAN;
    }
}

static double folded(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                     enum fold how)
{
    uint32_t n;
    double *x = collect(s, backend, m, op_of_round, &n), value = n > 0 ? x[0] : no_number;
    for (uint32_t i = 1; i < n; i++)
        value = how == FOLD_SUM    ? value + x[i]
                : how == FOLD_MOST ? fmax(value, x[i])
                                   : fmin(value, x[i]);
    free(x);
    return value;
}

static double op_of_all(const struct ab_session *s, uint32_t backend, const struct ab_metric *m)
{
    enum fold how = fold_of(m->field);
    return m->field->group == AB_FIELD_QUANTILE || how == FOLD_MERGED ? merged_value(s, backend, m)
           : how == FOLD_MEDIAN ? range_of(s, backend, m, op_of_round).median
                                : folded(s, backend, m, how);
}

/* Returns the number of timed ops in all rounds. With in_each_round, returns that of the round with
 * the most. */
static uint64_t timed_ops(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                          bool in_each_round)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < s->n_rounds; i++) {
        const struct ab_result *r = ab_session_find(s, backend, m->phase, m->op,
                                                    s->rounds[i].index);
        uint64_t here = r != NULL ? r->n + r->overflow : 0;
        n = !in_each_round ? n + here : here > n ? here : n;
    }
    return n;
}

/* True if the metric is a number that --instr counts. */
static bool is_counted(const struct ab_field *field)
{
    return strncmp(field->name, "instr_", 6) == 0 || strncmp(field->name, "syscalls_", 9) == 0 ||
           strcmp(field->unit, "misses") == 0 || strcmp(field->unit, "references") == 0;
}

static const char *why_uncounted(const struct ab_session *s, uint32_t backend)
{
    if (!s->counting.is_asked)
        return "counted only with --instr";
    return s->backends[backend].uncounted[0] != 0 ? s->backends[backend].uncounted
                                                  : s->counting.reason;
}

static void op_why(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                   bool in_each_round, char *buf, size_t cap)
{
    if (m->field->group == AB_FIELD_QUANTILE) {
        size_t which = (m->field->offset - offsetof(struct ab_result, quantiles)) / sizeof(double);
        double wanted = AB_QUANTILE_MIN_SAMPLES_BEHIND / (1 - ab_quantile_values[which]);
        uint64_t n = timed_ops(s, backend, m, in_each_round);
        if ((double)n < wanted - 1e-3)
            snprintf(buf, cap, "%s needs %.0f timed ops%s, there are %llu", m->field->name, wanted,
                     in_each_round ? " in a round" : "", (unsigned long long)n);
    } else if (is_counted(m->field)) {
        snprintf(buf, cap, "%s", why_uncounted(s, backend));
    }
}

/* ---- the table of kinds ---- */

const struct ab_metric_kind ab_metric_kinds[] = {
    [AB_METRIC_OP] = {.of_round = op_of_round, .of_all = op_of_all, .why = op_why},
    [AB_METRIC_ITERATION] = {.fields = ab_iteration_fields,
                             .n = AB_ITERATION_FIELDS,
                             .pass = AB_PASS_TAIL,
                             .title = "time in the allocator per iteration",
                             .of_round = iterations_of_round,
                             .of_all = iterations_of_all,
                             .why = iterations_why},
    [AB_METRIC_MEMORY] = {.fields = ab_memory_fields,
                          .n = AB_MEMORY_FIELDS,
                          .pass = AB_PASS_MEMORY,
                          .title = "memory",
                          .place = "memory",
                          .is_of_memory = true,
                          .optional = {"_bytes", "_bytes"},
                          .of_round = memory_of_round,
                          .live_of_round = memory_live_of_round,
                          .why = memory_why},
    [AB_METRIC_DRAIN] = {.fields = ab_drain_fields,
                         .n = AB_DRAIN_COUNT,
                         .pass = AB_PASS_MEMORY,
                         .title = "memory after the last phase",
                         .place = "end",
                         .is_of_memory = true,
                         .where = "is measured at the end",
                         .of_round = memory_of_round,
                         .live_of_round = memory_live_of_round,
                         .why = memory_why},
    [AB_METRIC_DIST] = {.fields = ab_dist_fields,
                        .n = AB_DIST_FIELDS,
                        .pass = AB_PASS_MEMORY,
                        .title = "memory over the ops of a phase",
                        .place = "memory",
                        .is_of_memory = true,
                        .where = "is over all ops of the phase",
                        .optional = {"_ratio", "_bytes"},
                        .offered = dist_short_names,
                        .n_offered = AB_ARRAY_LEN(dist_short_names),
                        .of_round = dist_of_round,
                        .of_all = dist_of_all,
                        .live_of_round = memory_live_of_round,
                        .why = dist_why},
    [AB_METRIC_TIME] = {.fields = ab_time_fields,
                        .n = AB_TIME_FIELDS,
                        .pass = AB_PASS_MEMORY,
                        .title = "memory over the time of the work",
                        .place = "memory",
                        .is_of_memory = true,
                        .where = "is over the time of the phase",
                        .of_round = time_of_round,
                        .live_of_round = time_live_of_round,
                        .why = time_why},
    [AB_METRIC_PIN] = {.fields = ab_pin_fields,
                       .n = AB_PIN_FIELDS,
                       .pass = AB_PASS_MEMORY,
                       .optional = {"_bytes", "_bytes"},
                       .of_round = pins_of_round,
                       .live_of_round = pins_live_of_round,
                       .why = pins_why},
    [AB_METRIC_RUN] = {.fields = run_fields,
                       .n = RUN_FIELDS,
                       .pass = AB_PASS_MEMORY,
                       .is_of_memory = true,
                       .of_round = run_of_round},
};
const size_t ab_metric_kind_count = AB_ARRAY_LEN(ab_metric_kinds);

/* ---- all metrics ---- */

double ab_metric_of_round(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                          uint32_t round)
{
    return kind_of(m)->of_round(s, backend, m, round);
}

double ab_metric_value(const struct ab_session *s, uint32_t backend, const struct ab_metric *m)
{
    const struct ab_metric_kind *kind = kind_of(m);
    return kind->of_all != NULL ? kind->of_all(s, backend, m)
                                : range_of(s, backend, m, ab_metric_of_round).median;
}

/* ---- calls that the scheduler interrupted, whose only known time is the CPU time that they used
 * ---- */

static double least_of_round(const struct ab_session *s, uint32_t backend,
                             const struct ab_metric *m, uint32_t round)
{
    const struct ab_result *r = ab_session_find(s, backend, m->phase, m->op, round);
    double value = ab_metric_of_round(s, backend, m, round), more;
    if (r == NULL || m->field == NULL)
        return value;
    switch (m->field->offset) {
    case offsetof(struct ab_result, max):
        return fmax(value, r->max_least_ns);
    case offsetof(struct ab_result, tail_over_1us):
        more = r->tail_least_over_1us;
        break;
    case offsetof(struct ab_result, tail_over_10us):
        more = r->tail_least_over_10us;
        break;
    case offsetof(struct ab_result, tail_over_100us):
        more = r->tail_least_over_100us;
        break;
    default:
        return value;
    }
    return more > 0 ? value + more : value;
}

struct ab_interval ab_metric_by_cpu(const struct ab_session *s, uint32_t backend,
                                    const struct ab_metric *m, bool is_shown)
{
    struct ab_interval x = {NAN, NAN};
    if (m->field == NULL || backend >= s->n_backends)
        return x;
    if (!is_shown || fold_of(m->field) != FOLD_MERGED) {
        x.low = range_of(s, backend, m, ab_metric_of_round).median;
        x.high = range_of(s, backend, m, least_of_round).median;
        return x;
    }
    struct ab_hdr *hdr = ab_alloc(sizeof *hdr);
    struct ab_merged merged = ab_session_merge(s, backend, m->phase, m->op, hdr);
    free(hdr);
    return (struct ab_interval){merged.max, fmax(merged.max, merged.max_least)};
}

struct ab_interval ab_metric_interval(const struct ab_session *s, const struct ab_metric *m,
                                      double value)
{
    if (ab_metric_is_latency(m) && value < s->timer.floor_ns)
        return (struct ab_interval){0, s->timer.floor_ns};
    return (struct ab_interval){value, value};
}

struct ab_ratio ab_metric_ratio(const struct ab_session *s, uint32_t a, uint32_t b,
                                const struct ab_metric *m)
{
    struct ab_ratio ratio = {{0, NAN, NAN, NAN}, {NAN, NAN}, ab_effect_paired(NULL, NULL, 0)};
    struct ab_pairs shown, least, most;
    ab_pairs_init(&shown, s->n_rounds);
    ab_pairs_init(&least, s->n_rounds);
    ab_pairs_init(&most, s->n_rounds);
    shown.is_by_round = least.is_by_round = most.is_by_round = s->n_hosts > 1;
    for (uint32_t i = 0; i < s->n_rounds; i++) {
        uint32_t round = s->rounds[i].index;
        struct ab_interval of_a = ab_metric_interval(s, m, ab_metric_of_round(s, a, m, round));
        struct ab_interval of_b = ab_metric_interval(s, m, ab_metric_of_round(s, b, m, round));
        ab_pairs_add(&shown, of_a.high, of_b.high);
        ab_pairs_add(&least, of_a.low, of_b.high);
        ab_pairs_add(&most, of_a.high, of_b.low);
    }
    ratio.effect = ab_pairs_effect(&shown);
    ratio.range = ab_pairs_ratio(&shown);
    ratio.median.low = ab_pairs_ratio(&least).median;
    ratio.median.high = ab_pairs_ratio(&most).median;
    ab_pairs_fini(&shown);
    ab_pairs_fini(&least);
    ab_pairs_fini(&most);
    return ratio;
}

static double by_live_of_round(const struct ab_session *s, uint32_t backend,
                               const struct ab_metric *m, uint32_t round)
{
    const struct ab_metric_kind *kind = kind_of(m);
    double live = kind->live_of_round != NULL ? kind->live_of_round(s, backend, m, round)
                                              : no_number;
    return live > 0 ? ab_metric_of_round(s, backend, m, round) / live : no_number;
}

struct ab_round_range ab_metric_by_live(const struct ab_session *s, uint32_t backend,
                                        const struct ab_metric *m)
{
    return range_of(s, backend, m, by_live_of_round);
}

double ab_metric_live_peak(const struct ab_session *s, uint32_t backend, const struct ab_metric *m)
{
    return kind_of(m)->live_of_round != NULL
               ? range_of(s, backend, m, kind_of(m)->live_of_round).median
               : no_number;
}

static struct ab_metric time_of(const char *phase)
{
    return (struct ab_metric){.phase = phase, .field = &run_time, .op = AB_OP_ALL};
}

struct ab_round_range ab_session_ns_per_op(const struct ab_session *s, uint32_t backend,
                                           const char *phase)
{
    struct ab_metric m = time_of(phase);
    return range_of(s, backend, &m, ab_metric_of_round);
}

struct ab_round_range ab_metric_range(const struct ab_session *s, uint32_t backend,
                                      const struct ab_metric *m)
{
    return range_of(s, backend, m, ab_metric_of_round);
}

/* Smallest fraction of its wall time that a CPU-bound program runs or waits for a CPU. A program
 * with less waits for something else, such as a disk or a client. */
static const double least_cpu_share = 0.9;

/* True if every back end spends most of its wall time on a CPU. Waiting for a CPU counts as well,
 * because other programs on the machine cause it. */
static bool is_cpu_bound(const struct ab_session *s)
{
    const struct ab_metric cpu = ab_metric_of_op(AB_PROGRAM_PHASE, AB_OP_ALL, "cpu_ns"),
                           delay = ab_metric_of_op(AB_PROGRAM_PHASE, AB_OP_ALL, "run_delay_ns");
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_backends; i++) {
        if (!ab_backend_is_comparable(&s->backends[i]))
            continue;
        double waits = ab_metric_range(s, i, &delay).median;
        double on_cpu = ab_metric_range(s, i, &cpu).median + (waits > 0 ? waits : 0);
        if (!(on_cpu >= least_cpu_share * ab_session_run_time(s, i).median))
            return false;
        n++;
    }
    return n > 0;
}

struct ab_metric ab_session_rank_metric(const struct ab_session *s)
{
    if (!ab_session_is_exec(s))
        return ab_metric_run_time;
    if (s->n_named > 0)
        return (struct ab_metric){.phase = AB_PROGRAM_PHASE, .op = AB_OP_ALL, .field = s->named[0]};
    if (ab_session_setting(s, "server") == NULL && is_cpu_bound(s))
        return ab_metric_of_op(AB_PROGRAM_PHASE, AB_OP_ALL, "cpu_ns");
    return ab_metric_run_time;
}

struct ab_effect ab_session_lead(const struct ab_session *s, uint32_t a, uint32_t b)
{
    struct ab_metric m = ab_session_rank_metric(s);
    bool is_higher_better = ab_metric_better(&m) == AB_FIELD_HIGHER;
    return ab_metric_ratio(s, is_higher_better ? a : b, is_higher_better ? b : a, &m).effect;
}

struct ab_round_range ab_session_run_time(const struct ab_session *s, uint32_t backend)
{
    return range_of(s, backend, &ab_metric_run_time, ab_metric_of_round);
}

struct ab_round_range ab_session_peak(const struct ab_session *s, uint32_t backend)
{
    return range_of(s, backend, ab_session_peak_metric(s), ab_metric_of_round);
}

struct ab_effect ab_session_speed(const struct ab_session *s, uint32_t a, uint32_t b,
                                  const char *phase)
{
    struct ab_metric m = time_of(phase);
    return ab_metric_ratio(s, b, a, &m).effect;
}

/* Shortest whole run that can be timed. Shorter times would consist mainly of reading the clock,
 * the first touch of a page and the start of the loop. Runs of few slow ops, such as huge blocks,
 * need more. */
static const double least_run_ns = 20e3, least_run_of_few_ns = 1e6, few_ops = 1000;

bool ab_session_is_too_little(const struct ab_session *s, uint32_t combination, double *ops,
                              double *longest_ns)
{
    double longest = NAN, sum = 0;
    for (uint32_t i = 0; i < s->n_backends && !ab_session_is_exec(s); i++) {
        struct ab_round_range time = ab_session_run_time(s, i);
        if (s->backends[i].combination != combination ||
            !ab_backend_is_comparable(&s->backends[i]) || !isfinite(time.median))
            continue;
        longest = fmax(longest, time.median); /* fmax ignores NaN */
    }
    for (uint32_t p = 0; p < s->n_phases; p++)
        sum += (double)ab_session_phase_ops(s, combination, s->phases[p]);
    *ops = sum;
    *longest_ns = longest;
    return longest < least_run_ns || (longest < least_run_of_few_ns && sum > 0 && sum < few_ops);
}

struct ab_effect ab_session_peak_ratio(const struct ab_session *s, uint32_t a, uint32_t b)
{
    return ab_metric_ratio(s, a, b, ab_session_peak_metric(s)).effect;
}

struct ab_effect ab_session_p999_ratio(const struct ab_session *s, uint32_t a, uint32_t b,
                                       const char *phase, unsigned op)
{
    struct ab_metric m = ab_metric_of_op(phase, op, "p99.9");
    return ab_metric_ratio(s, a, b, &m).effect;
}

enum ab_pass ab_metric_pass(const struct ab_metric *m)
{
    return m->field != NULL ? ab_field_pass(m->field) : kind_of(m)->pass;
}

void ab_metric_why_missing(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                           bool in_each_round, char *buf, size_t cap)
{
    const struct ab_metric_kind *kind = kind_of(m);
    ab_pass_why_missing(s, ab_metric_pass(m), buf, cap);
    if (buf[0] == 0 && kind->why != NULL)
        kind->why(s, backend, m, in_each_round, buf, cap);
}
