/* SPDX-License-Identifier: MIT
 *
 * Distributions of sizes. With u uniform in [0, 1), z normal, all results whole numbers in
 * [min, max]:
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
 *   linear_falloff(min, max)   density falls in a line to 0 after max:
 *                              floor(min + (max+1-min) (1 - sqrt(1-u)))
 *   exp_falloff(min, max)      density halves every tenth of the range:
 *                              floor(min - (max+1-min)/10 log2(1 - u (1 - 2^-10)))
 *   choice(a, b, …)            each equally often
 *   cycle(a:n, b:m, …)         n times a, then m times b …, from the start again; no chance in it
 *   csv("file", size, weight)  the sizes of a table, as often as their weights say
 *   mix                        parts by weight, each a distribution, times a whole factor
 *   real(min, max)             min + (max - min) u, a real number
 *   sum, difference, product, abs
 *                              floor of what comes of the operands: numbers and distributions, each
 *                              drawn anew, real ones as real numbers
 */
#ifndef AB_WORKLOAD_DIST_H
#define AB_WORKLOAD_DIST_H

#include "base/rng.h"

#include <stdbool.h>
#include <stddef.h>

#define AB_SIZE_MAX (UINT64_C(1) << 40) /* largest request: 1 TiB */

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
    AB_DIST_REAL, /* from here on drawn as real numbers */
    AB_DIST_SUM,
    AB_DIST_DIFFERENCE,
    AB_DIST_PRODUCT,
    AB_DIST_ABS,
};

/* One row of a distribution. CHOICE: `value`. CYCLE: `value`; `upto` is cumulated. TABLE, MIX:
 * `upto` in [0, 1) cumulates the weights. In a MIX and in distributions with operands, `value` is
 * the index of a distribution. */
struct ab_dist_row {
    uint64_t value, upto;
    double share;   /* TABLE, MIX: cumulated weights; the last one is 1 */
    uint64_t times; /* MIX */
};

struct ab_dist {
    enum ab_dist_kind kind;
    uint64_t min, max;        /* range of the results */
    double p, q, lo, hi;      /* by kind: median, sigma; alpha; exp; limits of the inverse, or of a
                            result drawn as a real number */
    uint32_t n_draws;         /* with operands: their number, including nested ones */
    struct ab_dist_row *rows; /* owned */
    size_t n_rows, cap_rows;
};

/* All distributions of a workload; mixes refer to others by index. */
struct ab_dists {
    struct ab_dist *items;
    size_t n, cap;
};

/* Computes lo and hi from min, max, p and q. Call once after filling a formula's fields. */
void ab_dist_prepare(struct ab_dist *dist);

/* Draws one size. `turns[index]` counts the draws of a cycle; zero it before the first. */
uint64_t ab_dist_draw(const struct ab_dists *dists, size_t index, uint64_t *turns,
                      struct ab_rng *rng);

/* Logarithm and exponential computed with + - * / and sqrt only, which IEEE 754 rounds the same way
 * everywhere. Those of libm differ in the last bit between versions, and between machines with and
 * without FMA. One bit changes a size, and so the digest of a tape. */

double ab_real_log(double x); /* x > 0, normal */
double ab_real_exp(double x); /* 0 below -700, capped above 700 */

#endif
