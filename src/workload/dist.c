/* SPDX-License-Identifier: MIT
 *
 * Draws sizes. The formulas are those of dist.h; a formula whose distribution function has an
 * inverse applies it to a uniform number. The cost of a draw is not important, because draws happen
 * while the tape is made and are never timed.
 */
#include "workload/dist.h"

#include "base/bits.h"
#include "base/search.h"

#include <stdint.h>
#include <string.h>

enum { MAX_REDRAWS = 100 };

static inline double keep(double x);
static double real_pow(double x, double y);    /* x > 0 */
static double real_sqrt(double x);             /* x >= 0 */
static double real_normal(struct ab_rng *rng); /* normal, with mean 0 and standard deviation 1 */

void ab_dist_prepare(struct ab_dist *d)
{
    double a = (double)d->min, b = (double)d->max + 1;
    switch (d->kind) {
    case AB_DIST_LOGUNIFORM:
        d->lo = ab_real_log(a);
        d->hi = ab_real_log(b);
        break;
    case AB_DIST_PARETO:
        d->hi = 1 - real_pow(a / b, d->p);
        break;
    case AB_DIST_POWER:
        d->lo = real_pow(a, 1 - d->p);
        d->hi = real_pow(b, 1 - d->p);
        break;
    case AB_DIST_REAL:
        d->lo = (double)d->min;
        d->hi = (double)d->max;
        break;
    default:
        break;
    }
}

/* Converts a real number to a whole number within the range of `d`. */
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
        x = d->p * ab_real_exp(d->q * real_normal(rng)) + 0.5;
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
        return whole_in(d, a * real_pow(1 - ab_rng_unit(rng) * d->hi, -1 / d->p));
    case AB_DIST_POWER:
        return whole_in(d, real_pow(d->lo + ab_rng_unit(rng) * (d->hi - d->lo), 1 / (1 - d->p)));
    case AB_DIST_LINEAR_FALLOFF:
        return whole_in(d, a + span * (1 - real_sqrt(1 - ab_rng_unit(rng))));
    case AB_DIST_EXP_FALLOFF: {
        double rest = 1 - ab_rng_unit(rng) * (1 - 0x1p-10);
        return whole_in(d, a - span / 10 * (ab_real_log(rest) * 0x1.71547652b82fep0));
    }
    default:
        return d->min;
    }
}

/* Returns the first row whose share is above u. */
static const struct ab_dist_row *find_share(const struct ab_dist *d, double u)
{
    return &d->rows[AB_SEARCH(i, d->n_rows - 1, d->rows[i].share <= u)];
}

/* Returns the row for draw number n within one cycle, n from 0: the first row whose `upto` exceeds
 * n. */
static const struct ab_dist_row *find_turn(const struct ab_dist *d, uint64_t n)
{
    return &d->rows[AB_SEARCH(i, d->n_rows - 1, d->rows[i].upto <= n)];
}

/* Draws a real number. Operands are drawn from left to right. They have smaller indices than the
 * distribution that uses them, so the recursion ends. */
static double draw_real(const struct ab_dists *dists, size_t index, uint64_t *turns,
                        struct ab_rng *rng)
{
    const struct ab_dist *d = &dists->items[index];
    if (d->kind < AB_DIST_REAL)
        return (double)ab_dist_draw(dists, index, turns, rng);
    if (d->kind == AB_DIST_REAL)
        return d->lo + (d->lo < d->hi ? keep(ab_rng_unit(rng) * (d->hi - d->lo)) : 0);
    double x = draw_real(dists, (size_t)d->rows[0].value, turns, rng);
    for (size_t i = 1; i < d->n_rows; i++) {
        double y = draw_real(dists, (size_t)d->rows[i].value, turns, rng);
        x = d->kind == AB_DIST_SUM ? x + y : d->kind == AB_DIST_DIFFERENCE ? x - y : keep(x * y);
    }
    return d->kind == AB_DIST_ABS && x < 0 ? -x : x;
}

uint64_t ab_dist_draw(const struct ab_dists *dists, size_t index, uint64_t *turns,
                      struct ab_rng *rng)
{
    const struct ab_dist *d = &dists->items[index];
    if (d->kind >= AB_DIST_REAL)
        return whole_in(d, draw_real(dists, index, turns, rng));
    switch (d->kind) {
    case AB_DIST_FIXED:
        return d->min;
    case AB_DIST_CHOICE:
        return d->rows[ab_rng_below(rng, d->n_rows)].value;
    case AB_DIST_CYCLE:
        return find_turn(d, turns[index]++ % d->rows[d->n_rows - 1].upto)->value;
    case AB_DIST_TABLE:
        return find_share(d, ab_rng_unit(rng))->value;
    case AB_DIST_MIX: { /* parts have smaller indices than the mix, so the recursion ends */
        const struct ab_dist_row *part = find_share(d, ab_rng_unit(rng));
        return ab_dist_draw(dists, (size_t)part->value, turns, rng) * part->times;
    }
    default:
        return draw_formula(d, rng);
    }
}

/* ---- elementary functions ----
 *
 * A series ends where the next term is below half a unit in the last place. Each product is stored
 * before it is added (`keep`), so that no compiler fuses multiplication and addition into one
 * rounding. */

/* ln 2 with its last bits zero, so that k * LN2_HIGH is exact */
#define LN2_HIGH 0x1.62e42fefa0000p-1
#define LN2_LOW 0x1.cf79abc9e3b3ap-40

/* Hides the origin of a value from the compiler, so that a multiplication is not fused with its
 * use. */
static inline double keep(double x)
{
    __asm__("" : "+m"(x));
    return x;
}

double ab_real_log(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int k = (int)(bits >> 52) - 1023;
    bits = (bits & 0xfffffffffffffu) | UINT64_C(1023) << 52;
    double m;
    memcpy(&m, &bits, sizeof m);
    if (m > 0x1.6a09e667f3bcdp0) { /* sqrt 2 */
        m /= 2;
        k++;
    }
    double s = (m - 1) / (m + 1), s2 = keep(s * s), sum = 0;
    for (int n = 25; n >= 1; n -= 2) /* 2 (s + s^3/3 + s^5/5 …), |s| < 0.172 */
        sum = keep(sum * s2) + 1.0 / n;
    return keep(k * LN2_HIGH) + (keep(2 * s * sum) + keep(k * LN2_LOW));
}

double ab_real_exp(double x)
{
    if (x < -700)
        return 0;
    if (x > 700)
        x = 700;
    double scaled = keep(x * 0x1.71547652b82fep0); /* 1 / ln 2 */
    int k = (int)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
    double r = (x - keep(k * LN2_HIGH)) - keep(k * LN2_LOW), sum = 1;
    for (int n = 16; n >= 1; n--) /* 1 + r (1 + r/2 (1 + r/3 …)), |r| < 0.35 */
        sum = 1 + keep(r * sum) / n;
    uint64_t bits = (uint64_t)(k + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return sum * power;
}

static double real_pow(double x, double y)
{
    return ab_real_exp(keep(y * ab_real_log(x)));
}

static double real_sqrt(double x)
{
    return __builtin_sqrt(x);
}

static double real_normal(struct ab_rng *rng)
{
    for (;;) { /* Marsaglia & Bray 1964, the polar method; the second deviate is dropped */
        double u = 2 * ab_rng_unit(rng) - 1, v = 2 * ab_rng_unit(rng) - 1;
        double s = keep(u * u) + keep(v * v);
        if (s < 1 && s > 0)
            return u * real_sqrt(-2 * ab_real_log(s) / s);
    }
}
