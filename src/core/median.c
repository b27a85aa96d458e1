/* SPDX-License-Identifier: MIT
 *
 * Median: the number in the middle, or the mean of the two in the middle.
 */
#include "core/median.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void ab_median_sort(double *x, size_t n)
{
    qsort(x, n, sizeof x[0], by_value);
}

double ab_median(double *x, size_t n)
{
    if (n == 0)
        return NAN;
    ab_median_sort(x, n);
    return n % 2 == 1 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}
