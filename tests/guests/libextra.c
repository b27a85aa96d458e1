/* SPDX-License-Identifier: MIT
 *
 * A known truth for what is counted: each malloc takes 2 * $EXTRA instructions more than with
 * EXTRA=0, and where EXTRA_CALLS is set every 100th gives advice about a page to the kernel.
 */
#include <stdint.h>
#include <stdlib.h>

static uint64_t extra;
static int has_calls;
static _Alignas(4096) char page[4096];

static void advise(void);
static inline void take_instructions(void)
{
    uint64_t n = extra + 1;
#if defined(__x86_64__)
    __asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(n) : : "cc");
#else
    __asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(n) : : "cc");
#endif
}

#define TOY_ON_MALLOC(size) \
    take_instructions(); \
    if (has_calls && n_mallocs % 100 == 0) \
    advise()

#include "toy.h"

static void advise(void)
{
    madvise(page, sizeof page, MADV_NORMAL);
}

static __attribute__((constructor)) void look(void)
{
    const char *text = getenv("EXTRA");
    extra = text != NULL ? strtoull(text, NULL, 10) : 0;
    has_calls = getenv("EXTRA_CALLS") != NULL;
}
