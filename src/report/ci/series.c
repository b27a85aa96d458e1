/* SPDX-License-Identifier: MIT
 *
 * Chooses the numbers that are charted over time. They have the names of result_fields.def and
 * memory_fields.def, which must not change, because a chart is found by name.
 */
#include "report/ci/series.h"

#include "base/bits.h"

#include <math.h>
#include <string.h>

static const char *const of_phase[] = {"ns_per_op", "wall_ns_per_op", "cpu_ns_per_op"};
static const char *const of_program[] = {"wall_ns", "cpu_ns", "resident_peak_bytes"};
static const char *const of_op[] = {"p50", "p99", "p99.9"};
static const char of_memory[] = "rss_peak_bytes";

struct walk {
    const struct ab_session *session;
    void (*use)(const struct ab_session *session, const struct ab_series *series, void *user);
    void *user;
};

/* Returns the value, or the upper bound if the clock cannot resolve it. */
static double raised(const struct ab_session *s, const struct ab_metric *m, double value)
{
    return isnan(value) ? value : ab_metric_interval(s, m, value).high;
}

static void find_extremes(const struct ab_session *s, struct ab_series *x)
{
    x->low = x->high = NAN;
    for (uint32_t i = 0; i < s->n_rounds; i++) {
        double of = ab_metric_of_round(s, x->backend, &x->metric, s->rounds[i].index);
        double value = raised(s, &x->metric, of);
        if (!isfinite(value))
            continue;
        x->low = fmin(x->low, value); /* fmin and fmax ignore NaN */
        x->high = fmax(x->high, value);
        x->n_rounds++;
    }
}

static void give(const struct walk *w, uint32_t backend, struct ab_metric metric, const char *place)
{
    struct ab_series x = {.backend = backend, .metric = metric, .place = place};
    double value = ab_metric_value(w->session, backend, &metric);
    x.value = raised(w->session, &metric, value);
    x.is_floor = x.value > value;
    x.name = ab_metric_name(&metric);
    if (!isfinite(x.value))
        return;
    find_extremes(w->session, &x);
    w->use(w->session, &x, w->user);
}

/* Passes the named numbers of an op, or of a whole phase, to the callback. Skips numbers that do
 * not exist. */
static void walk_op(const struct walk *w, uint32_t backend, const char *phase, unsigned op,
                    const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        give(w, backend, ab_metric_of_op(phase, op, names[i]), ab_result_op_name(op));
}

static void walk_phase(const struct walk *w, uint32_t backend, const char *phase)
{
    if (ab_session_is_exec(w->session)) {
        walk_op(w, backend, phase, AB_OP_ALL, of_program, AB_ARRAY_LEN(of_program));
        return;
    }
    walk_op(w, backend, phase, AB_OP_ALL, of_phase, AB_ARRAY_LEN(of_phase));
    for (unsigned op = 0; op < AB_OP_KIND_COUNT; op++)
        if (ab_session_has_op(w->session, phase, op))
            walk_op(w, backend, phase, op, of_op, AB_ARRAY_LEN(of_op));
    for (size_t i = 0; i < ab_memory_field_count; i++)
        if (strcmp(ab_memory_fields[i].name, of_memory) == 0)
            give(w, backend,
                 (struct ab_metric){
                     .phase = phase, .number = &ab_memory_fields[i], .at = AB_AT_FOOTPRINT_PEAK},
                 "memory");
}

void ab_series_each(const struct ab_session *session,
                    void (*use)(const struct ab_session *session, const struct ab_series *series,
                                void *user),
                    void *user)
{
    struct walk w = {session, use, user};
    for (uint32_t b = 0; b < session->n_backends; b++)
        for (uint32_t p = 0;
             ab_backend_is_comparable(&session->backends[b]) && p < session->n_phases; p++)
            walk_phase(&w, b, session->phases[p]);
}
