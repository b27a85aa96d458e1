/* SPDX-License-Identifier: MIT
 *
 * 1024 different functions, so that the processor meets code and branches that it cannot predict.
 */
#include "worker/between.h"

typedef uint64_t function(uint64_t x);

/* The empty asm keeps the branch, which the compiler would turn into a conditional move. The
 * constants differ, so that the compiler does not merge functions. */
#define STEP(n, bit) \
    if (x & (bit)) { \
        x = x * (2 * UINT64_C(0x##n) + 3) + (bit); \
        __asm__ volatile("" : "+r"(x)); \
    }
#define DEFINE(n) \
    static __attribute__((noinline, aligned(64))) uint64_t f_##n(uint64_t x) \
    { \
        STEP(n, 1) \
        STEP(n, 4) STEP(n, 16) STEP(n, 64) STEP(n, 256) STEP(n, 1024) STEP(n, 4096) return x; \
    }
#define NAME(n) f_##n,

/* Defines 4^5 functions, whose numbers have five digits of base 4. */
#define FOUR(X, n) X(n##0) X(n##1) X(n##2) X(n##3)
#define FOUR_2(X, n) FOUR(X, n##0) FOUR(X, n##1) FOUR(X, n##2) FOUR(X, n##3)
#define FOUR_3(X, n) FOUR_2(X, n##0) FOUR_2(X, n##1) FOUR_2(X, n##2) FOUR_2(X, n##3)
#define FOUR_4(X, n) FOUR_3(X, n##0) FOUR_3(X, n##1) FOUR_3(X, n##2) FOUR_3(X, n##3)
#define ALL(X) FOUR_4(X, 0) FOUR_4(X, 1) FOUR_4(X, 2) FOUR_4(X, 3)

ALL(DEFINE)

static function *const functions[] = {ALL(NAME)};

void ab_between(uint32_t n)
{
    static _Thread_local uint64_t random = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = random, result = 0;
    for (uint32_t i = 0; i < n; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        result ^= functions[x % (sizeof functions / sizeof functions[0])](x >> 24);
    }
    __asm__ volatile("" : : "r"(result));
    random = x;
}
