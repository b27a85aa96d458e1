/* SPDX-License-Identifier: MIT
 *
 * Draws comparisons of a back end with itself, and takes the 95th percentile of their differences.
 */
#include "stats/noise.h"

#include "base/rng.h"
#include "core/alloc.h"
#include "core/median.h"
#include "core/text.h"
#include "stats/metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns |logarithm of the ratio| of one comparison, which is made from `rounds` pairs drawn at
 * random. */
static double draw(struct ab_rng *rng, const double *x, const double *y, uint32_t n,
                   uint32_t rounds, double *scratch)
{
    for (uint32_t i = 0; i < rounds; i++) {
        uint64_t k = ab_rng_below(rng, n);
        bool is_turned = (ab_rng_next(rng) >> 63) != 0;
        scratch[i] = is_turned ? y[k] : x[k];
        scratch[rounds + i] = is_turned ? x[k] : y[k];
    }
    return fabs(log(ab_effect_paired(scratch, scratch + rounds, rounds).ratio));
}

double ab_noise_of_pairs(const double *x, const double *y, uint32_t n, uint32_t rounds)
{
    double *pairs = ab_alloc_zeroed(2 * (size_t)n + 2 * (size_t)rounds + 1, sizeof pairs[0]),
           p95 = NAN;
    double *found = ab_alloc_zeroed(AB_NOISE_DRAWS, sizeof found[0]);
    uint32_t kept = 0;
    struct ab_rng rng;
    ab_rng_init(&rng, 1, 1);
    for (uint32_t i = 0; i < n; i++)
        if (x[i] > 0 && y[i] > 0) {
            pairs[kept] = x[i];
            pairs[n + kept++] = y[i];
        }
    if (kept >= 2 && rounds > 0) {
        for (uint32_t i = 0; i < AB_NOISE_DRAWS; i++)
            found[i] = draw(&rng, pairs, pairs + n, kept, rounds, pairs + 2 * n);
        ab_median_sort(found, AB_NOISE_DRAWS);
        p95 = exp(found[AB_NOISE_DRAWS * 95 / 100 - 1]) - 1;
    }
    free(pairs);
    free(found);
    return p95;
}

/* Stores the level of a metric, or the larger one if a level of this metric is already stored. */
static void keep(struct ab_noise_levels *noise, const char *op, const char *metric, double p95)
{
    uint32_t i = 0;
    while (i < noise->n &&
           (strcmp(noise->entries[i].op, op) != 0 || strcmp(noise->entries[i].metric, metric) != 0))
        i++;
    if (!isfinite(p95) || i == AB_NOISE_MAX)
        return;
    struct ab_noise_entry *e = &noise->entries[i];
    if (i == noise->n) {
        AB_COPY(e->op, op);
        AB_COPY(e->metric, metric);
        noise->n++;
    }
    e->p95 = e->p95 > p95 ? e->p95 : p95;
}

struct twins {
    const struct ab_session *s;
    uint32_t backend[2];
    double *x[2]; /* numbers of both back ends, one for each round */
    struct ab_noise_levels *out;
};

static void measure(const struct twins *t, const struct ab_metric *m, const char *op,
                    const char *name)
{
    for (unsigned k = 0; k < 2; k++)
        for (uint32_t i = 0; i < t->s->n_rounds; i++)
            t->x[k][i] = ab_metric_of_round(t->s, t->backend[k], m, t->s->rounds[i].index);
    keep(t->out, op, name, ab_noise_of_pairs(t->x[0], t->x[1], t->s->n_rounds, t->out->rounds));
}

/* True for times and rates. Counts are left out, because their exactness is known. */
static bool is_timed(const struct ab_field *field)
{
    return field->better != AB_FIELD_NEITHER &&
           (strcmp(field->unit, "ns") == 0 || strcmp(field->unit, "1/s") == 0);
}

void ab_noise_measure(const struct ab_session *s, uint32_t a, uint32_t b, uint32_t rounds,
                      struct ab_noise_levels *out)
{
    double *x = ab_alloc_zeroed(2 * (size_t)s->n_rounds + 1, sizeof x[0]);
    struct twins t = {s, {a, b}, {x, x + s->n_rounds}, out};
    *out = (struct ab_noise_levels){.rounds = rounds, .n_rounds = s->n_rounds};
    for (uint32_t p = 0; p < s->n_phases; p++)
        for (unsigned op = 0; op <= AB_OP_ALL; op++)
            for (size_t i = 0; i < ab_field_count && ab_session_has_op(s, s->phases[p], op); i++) {
                struct ab_metric m = {.phase = s->phases[p], .field = &ab_fields[i], .op = op};
                if (is_timed(m.field))
                    measure(&t, &m, ab_result_op_name(op), m.field->name);
            }
    measure(&t, &ab_metric_run_time, ab_result_op_name(AB_OP_ALL), "time");
    measure(&t, &ab_metric_run_rss, "memory", "rss_peak"); /* without "_bytes", as gates spell it */
    measure(&t, &ab_metric_run_peak, "memory", "peak");
    free(x);
}

double ab_noise_of(const struct ab_noise_levels *noise, const char *op, const char *metric,
                   uint32_t rounds)
{
    double most = NAN, own = NAN;
    for (uint32_t i = 0; i < noise->n; i++) {
        const struct ab_noise_entry *e = &noise->entries[i];
        if (strcmp(e->metric, metric) != 0)
            continue;
        most = isnan(most) || e->p95 > most ? e->p95 : most;
        own = strcmp(e->op, op) == 0 ? e->p95 : own;
    }
    double p95 = isnan(own) ? most : own;
    bool has_fewer = rounds > 0 && rounds < noise->rounds;
    return has_fewer ? p95 * sqrt((double)noise->rounds / rounds) : p95;
}
