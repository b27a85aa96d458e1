/* SPDX-License-Identifier: MIT */
#ifndef AB_CORE_MEDIAN_H
#define AB_CORE_MEDIAN_H

#include <stddef.h>

/* Sorts x[0..n) in ascending order. */
void ab_median_sort(double *x, size_t n);

/* Returns the median of x[0..n), and sorts x; NaN if n is 0. */
double ab_median(double *x, size_t n);

#endif
