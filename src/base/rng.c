/* SPDX-License-Identifier: MIT
 *
 * The generator: seeding by splitmix64, xoshiro256**, numbers below a bound and numbers in [0, 1).
 */
#include "base/rng.h"

static uint64_t splitmix(uint64_t *x)
{
    uint64_t z = (*x += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void ab_rng_init(struct ab_rng *rng, uint64_t seed, uint64_t stream)
{
    uint64_t x = stream;
    x = seed ^ splitmix(&x);
    for (int i = 0; i < 4; i++)
        rng->s[i] = splitmix(&x);
}

static uint64_t rotl(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

uint64_t ab_rng_next(struct ab_rng *rng)
{
    uint64_t *s = rng->s;
    uint64_t result = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return result;
}

uint64_t ab_rng_below(struct ab_rng *rng, uint64_t n)
{
    unsigned __int128 m = (unsigned __int128)ab_rng_next(rng) * n;
    if ((uint64_t)m < n) {
        uint64_t reject = -n % n;
        while ((uint64_t)m < reject)
            m = (unsigned __int128)ab_rng_next(rng) * n;
    }
    return (uint64_t)(m >> 64);
}

double ab_rng_unit(struct ab_rng *rng)
{
    return (double)(ab_rng_next(rng) >> 11) * 0x1p-53;
}
