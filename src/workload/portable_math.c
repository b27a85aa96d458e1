/* SPDX-License-Identifier: MIT
 *
 * Series, cut where the next term is below half a unit in the last place. Each product is stored
 * before it is added (`keep`), so that no compiler fuses the two into one rounding.
 */
#include "workload/portable_math.h"

#include <stdint.h>
#include <string.h>

#define LN2_HIGH 0x1.62e42fefa0000p-1 /* ln 2, its last bits zero: k * LN2_HIGH is exact */
#define LN2_LOW 0x1.cf79abc9e3b3ap-40

/* Hides where a value came from: a multiplication cannot be merged with what uses it. */
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

double ab_real_pow(double x, double y)
{
    return ab_real_exp(keep(y * ab_real_log(x)));
}

double ab_real_sqrt(double x)
{
    return __builtin_sqrt(x);
}

double ab_real_normal(struct ab_rng *rng)
{
    for (;;) { /* Marsaglia & Bray 1964, the polar method; the second deviate is not kept */
        double u = 2 * ab_rng_unit(rng) - 1, v = 2 * ab_rng_unit(rng) - 1;
        double s = keep(u * u) + keep(v * v);
        if (s < 1 && s > 0)
            return u * ab_real_sqrt(-2 * ab_real_log(s) / s);
    }
}
