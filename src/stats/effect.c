/* SPDX-License-Identifier: MIT
 *
 * Computes effects and their intervals. Pairs and two samples share one method: a list of sums, its
 * median, and the sums that a rank test would exclude at either end. Walsh averages are half the
 * sums of two differences; shifts are the sums new + -base.
 */
#include "stats/effect.h"

#include "core/alloc.h"
#include "core/median.h"
#include "stats/rank/pair_sums.h"
#include "stats/rank/rank_law.h"

#include <math.h>
#include <stdlib.h>

/* sum of the normal quantiles of a one-sided test at 95 % and a power of 80 % */
static const double z_power = 1.645 + 0.842;
/* Factor by which rank tests need more rounds than a t test when noise is normal: pi / 3. */
static const double rank_price = 1.05;
static const double most_rounds = 10000; /* more rounds than this count as "never in practice" */

const char *const ab_effect_method_names[AB_EFFECT_METHOD_COUNT] = {"none", "paired", "unpaired",
                                                                    "exact", "few_rounds"};

static struct ab_effect nothing(void)
{
    return (struct ab_effect){.ratio = NAN,
                              .low = NAN,
                              .high = NAN,
                              .sd = NAN,
                              .p_larger = NAN,
                              .p_smaller = NAN,
                              .method = AB_EFFECT_NONE};
}

/* The usable numbers of both sides. */
struct sides {
    double *base, *now; /* one allocation for both; free `base` */
    uint32_t n_base, n_now;
    bool is_log;         /* compute ratios, on logarithms; otherwise differences */
    uint32_t exact_from; /* minimum number of rounds for EXACT if all numbers of a side are equal */
};

static bool is_usable(const struct sides *s, double x)
{
    return isfinite(x) && (!s->is_log || x > 0);
}

static bool is_constant(const double *x, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (x[i] != x[0])
            return false;
    return n > 0;
}

static double scaled(const struct sides *s, double x)
{
    return s->is_log ? log(x) : x;
}

static double variance(const double *x, uint32_t n)
{
    double mean = 0, sum = 0;
    for (uint32_t i = 0; i < n; i++)
        mean += x[i] / n;
    for (uint32_t i = 0; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return n < 2 ? NAN : sum / (n - 1);
}

static struct ab_effect exact(const struct sides *s)
{
    double a = s->base[0], b = s->now[0], effect = s->is_log ? b / a : b - a;
    return (struct ab_effect){.ratio = effect,
                              .low = effect,
                              .high = effect,
                              .sd = 0,
                              .p_larger = b > a ? 0 : 1,
                              .p_smaller = b < a ? 0 : 1,
                              .n_base = s->n_base,
                              .n_new = s->n_now,
                              .method = AB_EFFECT_EXACT};
}

/* Fills *e from the sums. `half` is 2 if the sums are twice the effect (pairs), otherwise 1. */
static void read_effect(const struct ab_pair_sums *sums, struct ab_rank_law law, double half,
                        struct ab_effect *e)
{
    e->ratio = ab_pair_sums_median(sums) / half;
    if (e->method == AB_EFFECT_FEW)
        return;
    uint64_t n = ab_pair_sums_total(sums);
    /* at least 0, because there are six rounds or more */
    uint64_t k = (uint64_t)ab_rank_law_bound(law, AB_EFFECT_ALPHA);
    e->low = ab_pair_sums_at(sums, k + 1) / half;
    e->high = ab_pair_sums_at(sums, n - k) / half;
    e->p_larger = ab_rank_law_cdf(law, ab_pair_sums_count(sums, 0));
    e->p_smaller = ab_rank_law_cdf(law, n - ab_pair_sums_count(sums, -0x1p-1074));
}

static void as_ratio(struct ab_effect *e)
{
    e->ratio = exp(e->ratio);
    e->low = exp(e->low);
    e->high = exp(e->high);
}

/* Computes the effect of two samples. Replaces the numbers of both sides by those whose pair sums
 * are needed: -base and new. */
static void effect_of_samples(struct sides *s, struct ab_effect *e)
{
    for (uint32_t i = 0; i < s->n_base; i++)
        s->base[i] = -scaled(s, s->base[i]);
    for (uint32_t i = 0; i < s->n_now; i++)
        s->now[i] = scaled(s, s->now[i]);
    e->sd = sqrt(variance(s->base, s->n_base) + variance(s->now, s->n_now));
    ab_median_sort(s->base, s->n_base);
    ab_median_sort(s->now, s->n_now);
    struct ab_pair_sums sums = {s->now, s->base, s->n_now, s->n_base};
    read_effect(&sums, (struct ab_rank_law){s->n_base, s->n_now}, 1, e);
}

static void effect_of_pairs(struct sides *s, struct ab_effect *e)
{
    for (uint32_t i = 0; i < s->n_now; i++)
        s->now[i] = scaled(s, s->now[i]) - scaled(s, s->base[i]);
    e->sd = sqrt(variance(s->now, s->n_now));
    ab_median_sort(s->now, s->n_now);
    struct ab_pair_sums sums = {s->now, NULL, s->n_now, 0};
    read_effect(&sums, (struct ab_rank_law){0, s->n_now}, 2, e);
}

/* Computes the effect between the sides of *s. Frees the sides. */
static struct ab_effect judge(struct sides *s, enum ab_effect_method method)
{
    uint32_t least = s->n_base < s->n_now ? s->n_base : s->n_now;
    struct ab_effect e = nothing();
    if (least >= s->exact_from && is_constant(s->base, s->n_base) &&
        is_constant(s->now, s->n_now)) {
        e = exact(s);
    } else if (least > 0) {
        e.method = least < AB_EFFECT_MIN_ROUNDS ? AB_EFFECT_FEW : method;
        e.n_base = s->n_base;
        e.n_new = s->n_now;
        (method == AB_EFFECT_PAIRED ? effect_of_pairs : effect_of_samples)(s, &e);
        if (s->is_log)
            as_ratio(&e);
    }
    free(s->base);
    return e;
}

static void make_room(struct sides *s, uint32_t n_base, uint32_t n_now)
{
    s->base = ab_alloc_zeroed((size_t)n_base + n_now + 1, sizeof(double));
    s->now = s->base + n_base;
}

static struct ab_effect of_pairs(struct sides s, const double *base, const double *now, uint32_t n)
{
    make_room(&s, n, n);
    for (uint32_t i = 0; i < n; i++)
        if (is_usable(&s, base[i]) && is_usable(&s, now[i])) {
            s.base[s.n_base++] = base[i];
            s.now[s.n_now++] = now[i];
        }
    return judge(&s, AB_EFFECT_PAIRED);
}

static struct ab_effect of_samples(struct sides s, const double *base, uint32_t n_base,
                                   const double *now, uint32_t n_now)
{
    make_room(&s, n_base, n_now);
    for (uint32_t i = 0; i < n_base; i++)
        if (is_usable(&s, base[i]))
            s.base[s.n_base++] = base[i];
    for (uint32_t i = 0; i < n_now; i++)
        if (is_usable(&s, now[i]))
            s.now[s.n_now++] = now[i];
    return judge(&s, AB_EFFECT_UNPAIRED);
}

static const struct sides ratios = {.is_log = true, .exact_from = AB_EFFECT_MIN_ROUNDS};
static const struct sides counts = {.is_log = true, .exact_from = 1};
static const struct sides differences = {.is_log = false, .exact_from = AB_EFFECT_MIN_ROUNDS};

struct ab_effect ab_effect_paired(const double *base, const double *new_, uint32_t n)
{
    return of_pairs(ratios, base, new_, n);
}

struct ab_effect ab_effect_unpaired(const double *base, uint32_t n_base, const double *new_,
                                    uint32_t n_new)
{
    return of_samples(ratios, base, n_base, new_, n_new);
}

struct ab_effect ab_effect_counted(const double *base, uint32_t n_base, const double *new_,
                                   uint32_t n_new)
{
    return of_samples(counts, base, n_base, new_, n_new);
}

struct ab_effect ab_effect_difference(const double *base, const double *new_, uint32_t n)
{
    return of_pairs(differences, base, new_, n);
}

struct ab_effect ab_effect_difference_unpaired(const double *base, uint32_t n_base,
                                               const double *new_, uint32_t n_new)
{
    return of_samples(differences, base, n_base, new_, n_new);
}

struct ab_effect ab_effect_by_mean(const double *base, uint32_t n_base, const double *new_,
                                   uint32_t n_new, bool is_paired)
{
    struct ab_effect e = is_paired ? ab_effect_difference(base, new_, n_new)
                                   : ab_effect_difference_unpaired(base, n_base, new_, n_new);
    double sum = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_base; i++)
        if (isfinite(base[i])) {
            sum += base[i];
            n++;
        }
    if (!(sum > 0))
        return nothing();
    e.ratio = 1 + e.ratio * n / sum;
    e.low = isnan(e.low) ? NAN : fmax(0, 1 + e.low * n / sum);
    e.high = 1 + e.high * n / sum;
    e.sd *= n / sum;
    return e;
}

struct ab_effect ab_effect_shown(const struct ab_effect *effect, double shown)
{
    struct ab_effect e = *effect;
    e.ratio = shown;
    e.low = isnan(e.low) ? NAN : fmin(e.low, shown);
    e.high = isnan(e.high) ? NAN : fmax(e.high, shown);
    return e;
}

struct ab_effect ab_effect_turned(const struct ab_effect *e)
{
    struct ab_effect t = *e;
    t.ratio = 1 / e->ratio;
    t.low = 1 / e->high;
    t.high = 1 / e->low;
    t.p_larger = e->p_smaller;
    t.p_smaller = e->p_larger;
    return t;
}

bool ab_effect_is_clear(const struct ab_effect *effect)
{
    return (effect->low > 1 || effect->high < 1) && fabs(effect->ratio - 1) >= 0.005;
}

/* Returns the distance that the rounds must be able to show, on logarithms. It is the distance from
 * no difference, or from the limit if the effect is within the limit. */
static double distance_to_show(double effect, double margin)
{
    return isnan(margin) ? fabs(effect) : effect > margin ? effect : margin - effect;
}

static bool is_decided(const struct ab_effect *e, double limit)
{
    if (isnan(e->low) || isnan(e->high))
        return false;
    return isnan(limit) ? e->low > 1 || e->high < 1
                        : e->high <= 1 + limit || (e->low > 1 && e->ratio > 1 + limit);
}

uint32_t ab_effect_rounds_needed(const struct ab_effect *effect, double limit)
{
    if (is_decided(effect, limit))
        return 0;
    double distance = distance_to_show(log(effect->ratio), log1p(limit));
    double n = ceil(rank_price * pow(z_power * effect->sd / distance, 2));
    if (isnan(n) || n > most_rounds)
        return UINT32_MAX;
    n = fmax(n, effect->n_new + 1.0); /* more rounds than so far, because these did not decide */
    return n < AB_EFFECT_MIN_ROUNDS ? AB_EFFECT_MIN_ROUNDS : (uint32_t)n;
}

struct ranked {
    double p;
    size_t place;
};

static int by_p(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return (x->p > y->p) - (x->p < y->p);
}

void ab_effect_holm(double *p, size_t n)
{
    struct ranked *tests = ab_alloc_zeroed(n + 1, sizeof *tests);
    size_t n_tests = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(p[i]))
            tests[n_tests++] = (struct ranked){p[i], i};
        else
            p[i] = NAN;
    if (n_tests > 0)
        qsort(tests, n_tests, sizeof *tests, by_p);
    double most = 0;
    for (size_t i = 0; i < n_tests; i++) {
        most = fmax(most, fmin(1, tests[i].p * (double)(n_tests - i)));
        p[tests[i].place] = most;
    }
    free(tests);
}
