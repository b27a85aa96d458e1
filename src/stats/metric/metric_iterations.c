/* SPDX-License-Identifier: MIT
 *
 * The numbers of iterations, from the histograms of one round or of all.
 */
#include "stats/metric/metric_iterations.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

double ab_metric_iterations_value(const struct ab_session *s, uint32_t backend,
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

void ab_metric_iterations_why(const struct ab_session *s, uint32_t backend,
                              const struct ab_metric *m, bool in_each_round, char *buf, size_t cap)
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
