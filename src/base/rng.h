/* SPDX-License-Identifier: MIT
 *
 * The only random generator: xoshiro256** seeded through splitmix64 (Blackman & Vigna, 2018,
 * "Scrambled linear pseudorandom number generators"; both in the public domain). The same seed and
 * stream give the same numbers on every machine, in every version, because tapes depend on it.
 */
#ifndef AB_BASE_RNG_H
#define AB_BASE_RNG_H

#include <stdint.h>

struct ab_rng {
    uint64_t s[4];
};

/* Starts one of many independent streams of a seed: for example one for sizes, one for positions,
 * and one for each lane. */
void ab_rng_init(struct ab_rng *rng, uint64_t seed, uint64_t stream);
uint64_t ab_rng_next(struct ab_rng *rng);

/* Returns a uniform number in [0, n), n > 0, without modulo bias (Lemire 2019, "Fast random integer
 * generation"). */
uint64_t ab_rng_below(struct ab_rng *rng, uint64_t n);

/* Returns a uniform number in [0, 1), with 53 random bits. */
double ab_rng_unit(struct ab_rng *rng);

/* Shuffles the array x; every order is equally likely (Fisher and Yates, 1938). */
#define AB_RNG_SHUFFLE(rng, x, n) \
    do \
        for (uint64_t i_ = (n); i_ > 1; i_--) { \
            uint64_t k_ = ab_rng_below((rng), i_); \
            __typeof__((x)[0]) moved_ = (x)[k_]; \
            (x)[k_] = (x)[i_ - 1]; \
            (x)[i_ - 1] = moved_; \
        } \
    while (0)

#endif
