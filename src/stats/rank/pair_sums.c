/* SPDX-License-Identifier: MIT
 *
 * Counts the sums up to a value with two indices, one ascending and one descending. Finds a sum by
 * bisection over all doubles. Doubles are ordered like integers, so 64 steps find the exact sum.
 */
#include "stats/rank/pair_sums.h"

#include <math.h>
#include <string.h>

uint64_t ab_pair_sums_total(const struct ab_pair_sums *p)
{
    uint64_t n = p->n_a;
    return p->b == NULL ? n * (n + 1) / 2 : n * p->n_b;
}

uint64_t ab_pair_sums_count(const struct ab_pair_sums *p, double value)
{
    const double *b = p->b == NULL ? p->a : p->b;
    /* each of b[0..j) + a[i] is at most `value` */
    uint64_t n = 0, j = p->b == NULL ? p->n_a : p->n_b;
    for (uint64_t i = 0; i < p->n_a; i++) {
        uint64_t from = p->b == NULL ? i : 0;
        while (j > from && p->a[i] + b[j - 1] > value)
            j--;
        if (j <= from)
            break;
        n += j - from;
    }
    return n;
}

/* Convert a double to an integer, and back, so that integers are ordered as the doubles are. */
static int64_t place_of(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

static double value_of(int64_t place)
{
    int64_t bits = place < 0 ? INT64_MIN - place : place;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

double ab_pair_sums_at(const struct ab_pair_sums *p, uint64_t rank)
{
    const double *b = p->b == NULL ? p->a : p->b;
    uint32_t n_b = p->b == NULL ? p->n_a : p->n_b;
    int64_t low = place_of(p->a[0] + b[0]), high = place_of(p->a[p->n_a - 1] + b[n_b - 1]);
    while (low < high) {
        int64_t middle = (int64_t)(((__int128)low + high) >> 1);
        if (ab_pair_sums_count(p, value_of(middle)) >= rank)
            high = middle;
        else
            low = middle + 1;
    }
    return value_of(low);
}

double ab_pair_sums_median(const struct ab_pair_sums *p)
{
    uint64_t n = ab_pair_sums_total(p);
    if (n == 0)
        return NAN;
    double upper = ab_pair_sums_at(p, n / 2 + 1);
    return n % 2 == 1 ? upper : (ab_pair_sums_at(p, n / 2) + upper) / 2;
}
