/* SPDX-License-Identifier: MIT
 *
 * The stamp of an event: the tick counter. Hidden from the recorded program.
 */
#ifndef AB_RECORD_PRELOAD_PRELOAD_CLOCK_H
#define AB_RECORD_PRELOAD_PRELOAD_CLOCK_H

#include <stdint.h>

/* Waits for what came before: after an acquire for the call, ahead of a release for the load that
 * brought the block here. Without that wait (plain rdtsc) a free that is stalled on the cache line
 * where it finds its block is stamped before the call that put the block there. */
static inline uint64_t ab_stamp_now(void)
{
#if defined(__x86_64__)
    uint64_t low, high; /* not the builtin: its third result would need a stack to be protected */
    __asm__ volatile("rdtscp" : "=a"(low), "=d"(high) : : "rcx", "memory");
    return high << 32 | low;
#else
    uint64_t t;
    __asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(t) : : "memory");
    return t;
#endif
}

#endif
