/* SPDX-License-Identifier: MIT
 *
 * Distributions of sizes. In the formulas, u is a uniform random number in [0, 1) and z a normal
 * one. All results are whole numbers in [min, max].
 *
 *   N                          always N
 *   uniform(min, max)          min … max, each equally often
 *   loguniform(min, max)       floor(min ((max+1)/min)^u): 64…128 as often as 128…256
 *   pow2(min, max)             min, 2 min, 4 min … max, each equally often
 *   lognormal(median, sigma, min=1, max)
 *                              floor(median e^(sigma z) + 0.5), drawn again outside [min, max]
 *   pareto(min, alpha, max)    floor(min (1 - u (1 - (min/(max+1))^alpha))^(-1/alpha))
 *   power(min, max, exp)       density ~ x^-exp: floor((lo + u (hi - lo))^(1/(1-exp))) with
 *                              lo = min^(1-exp), hi = (max+1)^(1-exp); exp = 1 is loguniform
 *   linear_falloff(min, max)   density falls linearly to 0 at max + 1:
 *                              floor(min + (max+1-min) (1 - sqrt(1-u)))
 *   exp_falloff(min, max)      density halves every tenth of the range:
 *                              floor(min - (max+1-min)/10 log2(1 - u (1 - 2^-10)))
 *   choice(a, b, …)            each equally often
 *   cycle(a:n, b:m, …)         a n times, then b m times …, then from the start; not random
 *   csv("file", size, weight)  the sizes of a table, each as often as its weight says
 *   mix                        a distribution chosen by weight; its result times a whole number
 *   real(min, max)             min + (max - min) u, a real number
 *   sum, difference, product, abs
 *                              floor of the result. Operands are numbers and distributions, which
 *                              are drawn each time; `real` ones are not rounded before
 */
#ifndef AB_WORKLOAD_DIST_H
#define AB_WORKLOAD_DIST_H

#include "base/rng.h"

#include <stdbool.h>
#include <stddef.h>

#define AB_SIZE_MAX (UINT64_C(1) << 40) /* largest size of a request: 1 TiB */

enum ab_dist_kind {
    AB_DIST_FIXED,
    AB_DIST_UNIFORM,
    AB_DIST_LOGUNIFORM,
    AB_DIST_POW2,
    AB_DIST_LOGNORMAL,
    AB_DIST_PARETO,
    AB_DIST_POWER,
    AB_DIST_LINEAR_FALLOFF,
    AB_DIST_EXP_FALLOFF,
    AB_DIST_CHOICE,
    AB_DIST_CYCLE,
    AB_DIST_TABLE,
    AB_DIST_MIX,
    /* this kind and the kinds below are drawn as real numbers and rounded at the end */
    AB_DIST_REAL,
    AB_DIST_SUM,
    AB_DIST_DIFFERENCE,
    AB_DIST_PRODUCT,
    AB_DIST_ABS,
};

/* One row of a distribution. CHOICE and CYCLE: `value` is a size. TABLE: `value` is a size with the
 * weight `share`. MIX and kinds with operands: `value` is the index of a distribution. CYCLE:
 * `upto` is the sum of the counts up to this row. */
struct ab_dist_row {
    uint64_t value, upto;
    /* TABLE, MIX: sum of the weights up to this row, in [0, 1]; the last one is 1 */
    double share;
    uint64_t times; /* MIX */
};

struct ab_dist {
    enum ab_dist_kind kind;
    uint64_t min, max; /* range of the results */
    /* parameters by kind: p is median, alpha or exp; q is sigma; lo and hi are limits that
     * ab_dist_prepare() computes, or the range of a real result */
    double p, q, lo, hi;
    /* kinds with operands: number of draws for one result, including the operands of nested
     * distributions */
    uint32_t n_draws;
    struct ab_dist_row *rows; /* owned */
    size_t n_rows, cap_rows;
};

/* All distributions of a workload. A mix and operators refer to other distributions by index. */
struct ab_dists {
    struct ab_dist *items;
    size_t n, cap;
};

/* Computes lo and hi from min, max, p and q. Call it once after setting these fields for a
 * formula. */
void ab_dist_prepare(struct ab_dist *dist);

/* Draws one size. turns[i] counts the draws of the cycle with index i; all turns are 0 before the
 * first draw. */
uint64_t ab_dist_draw(const struct ab_dists *dists, size_t index, uint64_t *turns,
                      struct ab_rng *rng);

/* Return the natural logarithm and the exponential of x. They use only + - * / and sqrt, which IEEE
 * 754 rounds the same way everywhere. The functions of libm differ in the last bit between
 * versions, and between machines with and without FMA. One different bit changes a size, and so the
 * digest of a tape. */

double ab_real_log(double x); /* x > 0, normal */
double ab_real_exp(double x); /* 0 if x is below -700; the value for 700 if x is above 700 */

#endif
