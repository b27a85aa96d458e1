/* SPDX-License-Identifier: MIT
 *
 * Drawing sizes: each formula as dist.h states it, by inversion where there is an inverse. What a
 * draw costs does not matter much: it happens while the tape is made, never while one is timed.
 */
#include "workload/dist.h"

#include "base/bits.h"
#include "base/search.h"
#include "workload/portable_math.h"

#include <stdlib.h>

enum { MAX_REDRAWS = 100 };

void ab_dist_prepare(struct ab_dist *d)
{
    double a = (double)d->min, b = (double)d->max + 1;
    switch (d->kind) {
    case AB_DIST_LOGUNIFORM:
        d->lo = ab_real_log(a);
        d->hi = ab_real_log(b);
        break;
    case AB_DIST_PARETO:
        d->hi = 1 - ab_real_pow(a / b, d->p);
        break;
    case AB_DIST_POWER:
        d->lo = ab_real_pow(a, 1 - d->p);
        d->hi = ab_real_pow(b, 1 - d->p);
        break;
    default:
        break;
    }
}

void ab_dist_widen(struct ab_dist *d, uint64_t min, uint64_t max)
{
    if (d->n_rows == 1 || min < d->min)
        d->min = min;
    if (d->n_rows == 1 || max > d->max)
        d->max = max;
}

bool ab_dist_share_out(struct ab_dist *d)
{
    double sum = 0, so_far = 0;
    for (size_t i = 0; i < d->n_rows; i++)
        sum += d->rows[i].share;
    if (sum <= 0)
        return false;
    for (size_t i = 0; i < d->n_rows; i++)
        d->rows[i].share = (so_far += d->rows[i].share) / sum;
    d->rows[d->n_rows - 1].share = 1;
    return true;
}

/* A real number brought back to [min, max] as a whole one. */
static uint64_t whole_in(const struct ab_dist *d, double x)
{
    if (!(x > (double)d->min))
        return d->min;
    return x >= (double)d->max ? d->max : (uint64_t)x;
}

static uint64_t draw_lognormal(const struct ab_dist *d, struct ab_rng *rng)
{
    double x = 0;
    for (int i = 0; i < MAX_REDRAWS; i++) {
        x = d->p * ab_real_exp(d->q * ab_real_normal(rng)) + 0.5;
        if (x >= (double)d->min && x < (double)d->max + 1)
            break;
    }
    return whole_in(d, x);
}

static uint64_t draw_formula(const struct ab_dist *d, struct ab_rng *rng)
{
    double a = (double)d->min, span = (double)(d->max - d->min) + 1;
    switch (d->kind) {
    case AB_DIST_UNIFORM:
        return d->min + ab_rng_below(rng, d->max - d->min + 1);
    case AB_DIST_LOGUNIFORM:
        return whole_in(d, ab_real_exp(d->lo + ab_rng_unit(rng) * (d->hi - d->lo)));
    case AB_DIST_POW2:
        return d->min << ab_rng_below(rng, ab_log2(d->max) - ab_log2(d->min) + 1);
    case AB_DIST_LOGNORMAL:
        return draw_lognormal(d, rng);
    case AB_DIST_PARETO:
        return whole_in(d, a * ab_real_pow(1 - ab_rng_unit(rng) * d->hi, -1 / d->p));
    case AB_DIST_POWER:
        return whole_in(d, ab_real_pow(d->lo + ab_rng_unit(rng) * (d->hi - d->lo), 1 / (1 - d->p)));
    case AB_DIST_LINEAR_FALLOFF:
        return whole_in(d, a + span * (1 - ab_real_sqrt(1 - ab_rng_unit(rng))));
    case AB_DIST_EXP_FALLOFF: {
        double rest = 1 - ab_rng_unit(rng) * (1 - 0x1p-10);
        return whole_in(d, a - span / 10 * (ab_real_log(rest) * 0x1.71547652b82fep0));
    }
    default:
        return d->min;
    }
}

/* The first row whose share lies above u. */
static const struct ab_dist_row *find_share(const struct ab_dist *d, double u)
{
    return &d->rows[AB_SEARCH(i, d->n_rows - 1, d->rows[i].share <= u)];
}

/* The row of the n-th draw: the first one whose count reaches beyond n. */
static const struct ab_dist_row *find_turn(const struct ab_dist *d, uint64_t n)
{
    return &d->rows[AB_SEARCH(i, d->n_rows - 1, d->rows[i].upto <= n)];
}

uint64_t ab_dist_draw(const struct ab_dists *dists, size_t index, uint64_t *turns,
                      struct ab_rng *rng)
{
    const struct ab_dist *d = &dists->items[index];
    switch (d->kind) {
    case AB_DIST_FIXED:
        return d->min;
    case AB_DIST_CHOICE:
        return d->rows[ab_rng_below(rng, d->n_rows)].value;
    case AB_DIST_CYCLE:
        return find_turn(d, turns[index]++ % d->rows[d->n_rows - 1].upto)->value;
    case AB_DIST_TABLE:
        return find_share(d, ab_rng_unit(rng))->value;
    case AB_DIST_MIX: { /* parts come before the mix, so this ends */
        const struct ab_dist_row *part = find_share(d, ab_rng_unit(rng));
        return ab_dist_draw(dists, (size_t)part->value, turns, rng) * part->times;
    }
    default:
        return draw_formula(d, rng);
    }
}

void ab_dists_fini(struct ab_dists *dists)
{
    for (size_t i = 0; i < dists->n; i++)
        free(dists->items[i].rows);
    free(dists->items);
    *dists = (struct ab_dists){0};
}
