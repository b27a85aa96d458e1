/* SPDX-License-Identifier: MIT
 *
 * The figures of the models are those of interleaved and sequential runs on hosted and shared
 * machines; tail percentiles vary more from run to run and are hit more often.
 */
#include "support/noise_model.h"

#include "core/median.h"

#include <math.h>
#include <stdlib.h>

const struct noise_model noise_shared_runner = {"shared runner", 0.02, 0.02, 0.006, 0.05, 0.15};
const struct noise_model noise_far_tail = {"p99.9", 0.04, 0.08, 0.01, 0.10, 0.40};

static double normal(struct ab_rng *rng)
{
    double radius = sqrt(-2 * log(1 - ab_rng_unit(rng)));
    return radius * cos(2 * M_PI * ab_rng_unit(rng));
}

/* One run, after which the machine has drifted on. */
static double run(const struct noise_model *m, struct ab_rng *rng, double round, double *drift)
{
    double value = exp(round + m->run * normal(rng) + *drift);
    if (ab_rng_unit(rng) < m->spike_share)
        value *= exp(-m->spike_mean * log(1 - ab_rng_unit(rng)));
    *drift += m->drift * normal(rng);
    return value;
}

void noise_pairs(const struct noise_model *model, struct ab_rng *rng, double ratio, uint32_t n,
                 double *base, double *now)
{
    double drift = 0;
    for (uint32_t i = 0; i < n; i++) {
        double round = model->round * normal(rng);
        bool is_base_first = ab_rng_below(rng, 2) == 0;
        double first = run(model, rng, round, &drift), second = run(model, rng, round, &drift);
        base[i] = is_base_first ? first : second;
        now[i] = (is_base_first ? second : first) * ratio;
    }
}

void noise_samples(const struct noise_model *model, struct ab_rng *rng, double ratio, uint32_t n,
                   double *base, double *now)
{
    double drift = 0;
    for (uint32_t i = 0; i < n; i++)
        base[i] = run(model, rng, model->round * normal(rng), &drift);
    for (uint32_t i = 0; i < n; i++)
        now[i] = run(model, rng, model->round * normal(rng), &drift) * ratio;
}

static double mean(const double *x, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += x[i];
    return sum / n;
}

static bool holds(const struct noise_experiment *e, enum noise_question question,
                  const double *base, const double *now)
{
    double bound = 1 + e->limit;
    if (question == NOISE_MEAN_RATIO)
        return mean(now, e->n) / mean(base, e->n) > bound;
    struct ab_effect effect = e->is_paired ? ab_effect_paired(base, now, e->n)
                                           : ab_effect_unpaired(base, e->n, now, e->n);
    switch (question) {
    case NOISE_REGRESSED:
        return effect.low > 1 && effect.ratio > bound;
    case NOISE_PROVEN:
        return effect.low > bound;
    case NOISE_CLEAR:
        return effect.low > 1 || effect.high < 1;
    case NOISE_COVERED:
        return effect.low <= e->ratio && effect.high >= e->ratio;
    case NOISE_MEAN_RATIO:
        break;
    }
    return false;
}

double noise_share(const struct noise_experiment *e, enum noise_question question, uint32_t times,
                   uint64_t seed)
{
    double base[NOISE_ROUNDS_MAX], now[NOISE_ROUNDS_MAX];
    struct ab_rng rng;
    uint32_t hits = 0;
    ab_rng_init(&rng, seed, 0);
    for (uint32_t i = 0; i < times; i++) {
        (e->is_paired ? noise_pairs : noise_samples)(e->model, &rng, e->ratio, e->n, base, now);
        hits += holds(e, question, base, now);
    }
    return hits / (double)times;
}

uint32_t noise_rounds_for_power(const struct noise_experiment *e, uint32_t times, uint64_t seed)
{
    struct noise_experiment tried = *e;
    uint32_t low = AB_EFFECT_MIN_ROUNDS, high = 512;
    while (low < high) {
        tried.n = (low + high) / 2;
        if (noise_share(&tried, NOISE_CLEAR, times, seed) >= 0.8)
            high = tried.n;
        else
            low = tried.n + 1;
    }
    return low;
}

void noise_estimated_rounds(const struct noise_experiment *e, uint32_t times, uint64_t seed,
                            double quartiles[3])
{
    double base[NOISE_ROUNDS_MAX], now[NOISE_ROUNDS_MAX];
    double *estimates = calloc(times + 1, sizeof *estimates);
    struct ab_rng rng;
    ab_rng_init(&rng, seed, 1);
    for (uint32_t i = 0; i < times && estimates != NULL; i++) {
        noise_pairs(e->model, &rng, e->ratio, e->n, base, now);
        struct ab_effect effect = ab_effect_paired(base, now, e->n);
        effect.low = effect.high = NAN; /* as if it could not tell, and nothing had been done yet */
        effect.n_base = effect.n_new = 0;
        estimates[i] = ab_effect_rounds_needed(&effect, NAN);
    }
    ab_median(estimates, estimates != NULL ? times : 0); /* sorts */
    for (uint32_t k = 1; k <= 3; k++)
        quartiles[k - 1] = estimates == NULL ? NAN : estimates[(uint64_t)times * k / 4];
    free(estimates);
}

static bool is_decided(const struct ab_effect *effect, double limit)
{
    return (effect->low > 1 && effect->ratio > 1 + limit) || effect->high <= 1 + limit;
}

struct noise_advice noise_follow_advice(const struct noise_experiment *e, uint32_t times,
                                        uint64_t seed)
{
    double base[NOISE_ROUNDS_MAX], now[NOISE_ROUNDS_MAX];
    double *asked = calloc(times + 1, sizeof *asked);
    struct noise_advice advice = {0};
    struct ab_rng rng;
    uint32_t n = 0, decided = 0;
    ab_rng_init(&rng, seed, 2);
    for (uint32_t i = 0; i < times && asked != NULL; i++) {
        noise_pairs(e->model, &rng, e->ratio, e->n, base, now);
        struct ab_effect effect = ab_effect_paired(base, now, e->n);
        uint32_t rounds = ab_effect_rounds_needed(&effect, e->limit);
        advice.asked += rounds > 0;
        advice.too_many += rounds > 1000;
        if (rounds == 0 || rounds > 1000)
            continue;
        noise_pairs(e->model, &rng, e->ratio, rounds, base, now);
        effect = ab_effect_paired(base, now, rounds);
        decided += is_decided(&effect, e->limit);
        asked[n++] = rounds;
    }
    advice.decided = decided / (double)n;
    advice.rounds = ab_median(asked, n);
    free(asked);
    return advice;
}

/* How many rounds it runs; *e is then the effect of these. */
static uint32_t stop(const double *base, const double *now, double precision, uint32_t most,
                     struct ab_effect *e)
{
    for (uint32_t n = AB_EFFECT_MIN_ROUNDS;; n++) {
        *e = ab_effect_paired(base, now, n);
        if (n >= most || fmax(e->high / e->ratio - 1, 1 - e->low / e->ratio) <= precision)
            return n;
    }
}

struct noise_stop noise_stop_at(const struct noise_experiment *e, double precision, uint32_t most,
                                uint32_t times, uint64_t seed)
{
    double base[NOISE_ROUNDS_MAX], now[NOISE_ROUNDS_MAX];
    double *rounds = calloc(times, sizeof rounds[0]);
    struct noise_stop out = {.rounds = NAN};
    struct ab_effect effect;
    struct ab_rng rng;
    ab_rng_init(&rng, seed, 0);
    for (uint32_t i = 0; i < times && rounds != NULL; i++) {
        noise_pairs(e->model, &rng, e->ratio, most, base, now);
        rounds[i] = stop(base, now, precision, most, &effect);
        out.covered += effect.low <= e->ratio && effect.high >= e->ratio;
        out.reached += rounds[i] < most;
    }
    out.covered /= times;
    out.reached /= times;
    if (rounds != NULL)
        out.rounds = ab_median(rounds, times);
    free(rounds);
    return out;
}
