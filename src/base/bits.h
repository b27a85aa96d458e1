/* SPDX-License-Identifier: MIT
 *
 * Arithmetic on alignments and powers of two.
 */
#ifndef AB_BASE_BITS_H
#define AB_BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>

#define AB_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define AB_LIKELY(x) __builtin_expect(!!(x), 1)
#define AB_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Comparison for qsort: < 0, 0 or > 0. */
#define AB_COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static inline bool ab_is_pow2(uint64_t x)
{
    return x != 0 && (x & (x - 1)) == 0;
}

/* Rounds x up to a multiple of a, which must be a power of two. Wraps at 2^64. */
static inline uint64_t ab_align_up(uint64_t x, uint64_t a)
{
    return (x + a - 1) & ~(a - 1);
}

/* Returns the logarithm of x to base 2, rounded down; x > 0. */
static inline unsigned ab_log2(uint64_t x)
{
    return 63u - (unsigned)__builtin_clzll(x);
}

/* Returns the logarithm of x to base 2, rounded up; 0 for 0. */
static inline unsigned ab_log2_up(uint64_t x)
{
    return x < 2 ? 0 : ab_log2(x - 1) + 1;
}

#endif
