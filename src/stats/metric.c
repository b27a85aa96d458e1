/* SPDX-License-Identifier: MIT
 *
 * Finds the value of a metric for one back end, from the merged histogram or as a median of the
 * rounds, and says why a value is missing.
 */
#include "stats/metric.h"

#include "core/memory.h"
#include "stats/metric_dist.h"

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
const struct ab_memory_field ab_drain_fields[AB_DRAIN_COUNT] = {
    DRAIN(0, "0s"), DRAIN(1, "0.1s"), DRAIN(2, "1s"), DRAIN(3, "10s"), DRAIN(4, "purge"),
};

const char *ab_metric_unit(const struct ab_metric *m)
{
    return m->iteration != NULL ? m->iteration->unit
           : m->field != NULL   ? m->field->unit
                                : m->memory->unit;
}

const char *ab_metric_name(const struct ab_metric *m)
{
    return m->iteration != NULL ? m->iteration->name
           : m->field != NULL   ? m->field->name
                                : m->memory->name;
}

const char *ab_metric_of(const struct ab_metric *m)
{
    return m->iteration != NULL ? m->each
           : m->memory != NULL  ? ab_memory_at_names[m->at]
                                : ab_result_op_name(m->op);
}

enum ab_field_better ab_metric_better(const struct ab_metric *m)
{
    return m->field != NULL    ? m->field->better
           : m->memory != NULL ? m->memory->better
                               : AB_FIELD_LOWER;
}

bool ab_metric_is_count(const struct ab_metric *m)
{
    return m->iteration == &ab_iteration_fields[AB_ITERATION_MISSED];
}

bool ab_metric_is_latency(const struct ab_metric *m)
{
    return m->field != NULL && strcmp(m->field->unit, "ns") == 0 &&
           (m->field->group == AB_FIELD_QUANTILE || m->field->group == AB_FIELD_EACH);
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

/* The numbers of iterations, from the histograms of one round or of all. */

const struct ab_iteration_field ab_iteration_fields[AB_ITERATION_FIELDS] = {
    [AB_ITERATION_P50] = {"p50", "ns", "half of the iterations take no more"},
    [AB_ITERATION_P99] = {"p99", "ns",
                          "99 of 100 iterations take no more; n/a below 1,000 iterations"},
    [AB_ITERATION_MAX] = {"max", "ns", "the iteration that took the most"},
    [AB_ITERATION_MEAN] = {"mean", "ns", "mean of the iterations"},
    [AB_ITERATION_MISSED] = {"missed", "iterations",
                             "iterations that took more than the budget, over all rounds"},
    [AB_ITERATION_MISSED_PERCENT] = {"missed_percent", "percent",
                                     "share of the iterations that took more than the budget"},
};

const struct ab_iteration_field *ab_iteration_field_find(const char *name, size_t n)
{
    for (size_t i = 0; i < AB_ITERATION_FIELDS; i++)
        if (strlen(ab_iteration_fields[i].name) == n &&
            memcmp(ab_iteration_fields[i].name, name, n) == 0)
            return &ab_iteration_fields[i];
    return NULL;
}

bool ab_iteration_field_needs_budget(const struct ab_iteration_field *field)
{
    return field - ab_iteration_fields >= AB_ITERATION_MISSED;
}

/* One round or all into *x, whose hdr is to be freed. False: there is no record, or no memory. */
static bool find(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                 uint32_t round, struct ab_iterations *x)
{
    struct ab_hdr *hdr = ab_session_has_numbers(s, backend) ? ab_hdr_new() : NULL;
    if (hdr == NULL)
        return false;
    bool is_there = ab_session_merge_iterations(s, backend, m->phase, round, hdr, x);
    if (!is_there)
        free(hdr);
    return is_there;
}

/* 0: no more than the null back end takes. */
static double value_of(const struct ab_iterations *x, const struct ab_iteration_field *field)
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
    return !ab_iteration_field_needs_budget(m->iteration);
}

double ab_iteration_field_value(const struct ab_iterations *x,
                                const struct ab_iteration_field *field)
{
    double value = value_of(x, field);
    return value > 0 || ab_iteration_field_needs_budget(field) ? value : (double)NAN;
}

/* The same of one round or AB_ITERATIONS_ALL_ROUNDS. */
static double metric_iterations_value(const struct ab_session *s, uint32_t backend,
                                      const struct ab_metric *m, uint32_t round)
{
    struct ab_iterations x;
    if (!find(s, backend, m, round, &x))
        return NAN;
    double value = ab_iteration_field_value(&x, m->iteration);
    free(x.hdr);
    return value;
}

/* Every round that has a time? */
static bool are_told(const struct ab_session *s, uint32_t backend, const struct ab_metric *m)
{
    struct ab_iterations x;
    bool is_told = true;
    for (uint32_t i = 0; i < s->n_rounds && is_told; i++) {
        if (!find(s, backend, m, s->rounds[i].index, &x))
            continue;
        is_told = value_of(&x, m->iteration) != 0;
        free(x.hdr);
    }
    return is_told;
}

bool ab_metric_iterations_have_ratio(const struct ab_session *base, uint32_t base_backend,
                                     const struct ab_metric *m, const struct ab_session *now,
                                     uint32_t backend)
{
    return m->iteration == NULL || !is_time(m) ||
           (are_told(base, base_backend, m) && are_told(now, backend, m));
}

/* What timing its calls takes: of the mean iteration, and of that with the most calls, for which one
 * is at a percentile is not known. */
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
    return m->iteration == &ab_iteration_fields[AB_ITERATION_MEAN] ? sum / n : most;
}

double ab_metric_iterations_most(const struct ab_session *s, uint32_t backend,
                                 const struct ab_metric *m)
{
    struct ab_iterations x;
    if (!is_time(m) || !find(s, backend, m, AB_ITERATIONS_ALL_ROUNDS, &x))
        return NAN;
    double value = value_of(&x, m->iteration);
    free(x.hdr);
    return value == 0 ? timing_takes(s, backend, m) : (double)NAN;
}

/* "" where it is known. */
static void explain(const struct ab_iterations *x, const struct ab_metric *m,
                    const char *in_each_round, char *buf, size_t cap)
{
    double value = value_of(x, m->iteration),
           tail = m->iteration == &ab_iteration_fields[AB_ITERATION_P50] ? 0.5 : 0.01;
    buf[0] = 0;
    if (!isnan(ab_iteration_field_value(x, m->iteration)))
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
        snprintf(buf, cap, "%s needs %.0f iterations%s, there are %llu", m->iteration->name,
                 AB_QUANTILE_MIN_SAMPLES_BEHIND / tail, in_each_round, (unsigned long long)x->n);
}

static void metric_iterations_why(const struct ab_session *s, uint32_t backend,
                                  const struct ab_metric *m, bool in_each_round, char *buf,
                                  size_t cap)
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
    if (m->iteration == NULL || is_time(m))
        return true;
    const struct ab_iterations *a = ab_session_iterations(base, m->phase);
    const struct ab_iterations *b = ab_session_iterations(now, m->phase);
    if (a == NULL || b == NULL)
        return true;
    return a->budget_ns == b->budget_ns || (isnan(a->budget_ns) && isnan(b->budget_ns));
}

double ab_metric_of_round(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                          uint32_t round)
{
    if (m->iteration != NULL)
        return metric_iterations_value(s, backend, m, round);
    if (ab_metric_is_dist(m))
        return ab_metric_dist_value(s, backend, m, round);
    if (m->memory != NULL) {
        const struct ab_memory *r = find_memory(s, backend, m, round);
        return r != NULL ? ab_memory_value(m->memory, r) : no_number;
    }
    const struct ab_result *r = ab_session_find(s, backend, m->phase, m->op, round);
    return r != NULL && ab_field_exists(m->field, r) ? ab_field_f64(m->field, r) : no_number;
}

static double live_of_round(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                            uint32_t round)
{
    const struct ab_memory *r = find_memory(s, backend, m, round);
    return r != NULL ? r->live_peak_bytes : no_number;
}

typedef double round_number(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                            uint32_t round);

/* The rounds' numbers that exist, *n of them; free them. */
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

static double median_of_rounds(const struct ab_session *s, uint32_t backend,
                               const struct ab_metric *m, round_number *number)
{
    uint32_t n;
    double *x = collect(s, backend, m, number, &n);
    double median = ab_round_range_of(x, n).median;
    free(x);
    return median;
}

/* A quantile, or the slowest op. */
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

enum fold { FOLD_MEDIAN, FOLD_LEAST, FOLD_MERGED, FOLD_SUM };

static enum fold fold_of(const struct ab_field *field)
{
    switch (field->offset) {
    case offsetof(struct ab_result, min):
        return FOLD_LEAST;
    case offsetof(struct ab_result, max):
        return FOLD_MERGED;
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
    double *x = collect(s, backend, m, ab_metric_of_round, &n), value = n > 0 ? x[0] : no_number;
    for (uint32_t i = 1; i < n; i++)
        value = how == FOLD_SUM ? value + x[i] : fmin(value, x[i]);
    free(x);
    return value;
}

double ab_metric_value(const struct ab_session *s, uint32_t backend, const struct ab_metric *m)
{
    if (m->iteration != NULL)
        return metric_iterations_value(s, backend, m, AB_ITERATIONS_ALL_ROUNDS);
    if (ab_metric_is_dist(m))
        return ab_metric_dist_value(s, backend, m, AB_DIST_ALL_ROUNDS);
    if (m->field != NULL &&
        (m->field->group == AB_FIELD_QUANTILE || fold_of(m->field) == FOLD_MERGED))
        return merged_value(s, backend, m);
    if (m->field != NULL && fold_of(m->field) != FOLD_MEDIAN)
        return folded(s, backend, m, fold_of(m->field));
    return median_of_rounds(s, backend, m, ab_metric_of_round);
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
    double live = live_of_round(s, backend, m, round);
    return live > 0 ? ab_metric_of_round(s, backend, m, round) / live : no_number;
}

struct ab_round_range ab_metric_by_live(const struct ab_session *s, uint32_t backend,
                                        const struct ab_metric *m)
{
    uint32_t n;
    double *x = collect(s, backend, m, by_live_of_round, &n);
    struct ab_round_range range = ab_round_range_of(x, n);
    free(x);
    return range;
}

double ab_metric_live_peak(const struct ab_session *s, uint32_t backend, const struct ab_metric *m)
{
    return median_of_rounds(s, backend, m, live_of_round);
}

/* Timed ops of a round with most of them, or of all rounds. */
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

enum ab_pass ab_metric_pass(const struct ab_metric *m)
{
    return m->iteration != NULL ? AB_PASS_TAIL
           : m->field != NULL   ? ab_field_pass(m->field)
                                : AB_PASS_MEMORY;
}

/* True for numbers that --instr counts. */
static bool is_counted(const struct ab_field *field)
{
    return strncmp(field->name, "instr_", 6) == 0 || strncmp(field->name, "syscalls_", 9) == 0;
}

static const char *why_uncounted(const struct ab_session *s, uint32_t backend)
{
    if (!s->counting.is_asked)
        return "counted only with --instr";
    return s->backends[backend].uncounted[0] != 0 ? s->backends[backend].uncounted
                                                  : s->counting.reason;
}

void ab_metric_why_missing(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                           bool in_each_round, char *buf, size_t cap)
{
    ab_pass_why_missing(s, ab_metric_pass(m), buf, cap);
    if (buf[0] != 0)
        return;
    if (m->iteration != NULL) {
        metric_iterations_why(s, backend, m, in_each_round, buf, cap);
    } else if (ab_metric_is_dist(m)) {
        ab_metric_dist_why(s, backend, m, buf, cap);
    } else if (m->memory != NULL) {
        const struct ab_memory *r = NULL;
        for (uint32_t i = 0; i < s->n_rounds && (r == NULL || r->reason[0] == 0); i++)
            r = find_memory(s, backend, m, s->rounds[i].index);
        snprintf(buf, cap, "%s", r == NULL ? "memory was not measured" : r->reason);
    } else if (m->field->group == AB_FIELD_QUANTILE) {
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
