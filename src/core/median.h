/* SPDX-License-Identifier: MIT */
#ifndef AB_CORE_MEDIAN_H
#define AB_CORE_MEDIAN_H

#include <stddef.h>

/* Ascending. */
void ab_median_sort(double *x, size_t n);

/* Of x[0..n), which it sorts; NaN when n is 0. */
double ab_median(double *x, size_t n);

#endif
