/* SPDX-License-Identifier: MIT
 *
 * Logarithm, exponential and normal deviates from + - * / and sqrt alone, which IEEE 754 rounds
 * the same way everywhere. libm's differ in the last bit between versions and between machines
 * with and without FMA, and one bit changes a size, hence the digest of a tape.
 */
#ifndef AB_WORKLOAD_PORTABLE_MATH_H
#define AB_WORKLOAD_PORTABLE_MATH_H

#include "base/rng.h"

double ab_real_log(double x);              /* x > 0, normal */
double ab_real_exp(double x);              /* 0 below -700, capped above 700 */
double ab_real_pow(double x, double y);    /* x > 0 */
double ab_real_sqrt(double x);             /* x >= 0 */
double ab_real_normal(struct ab_rng *rng); /* mean 0, deviation 1 */

#endif
