/* SPDX-License-Identifier: MIT
 *
 * A known truth: malloc takes 1 us, and 50 us at every 100th call, by the tick counter, call and
 * return included. So p50 is 1 us, p99.5 is 50 us, and the worst ops lie exactly 100 calls apart:
 * calls are counted from the moment the worker drops its descriptors (close of descriptor 4), the
 * last thing it does before the first op.
 */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define TOY_OWN_MALLOC
#include "toy.h"

static uint64_t ticks_per_ms, excess_ticks;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Ends `us` after it was called, as far as excess_ticks is right. */
static __attribute__((noinline)) void *timed_alloc(size_t size, uint64_t us)
{
    uint64_t end = __rdtsc() + us * ticks_per_ms / 1000 - excess_ticks;
    void *p = toy_alloc(0, size);
    while (__rdtsc() < end)
        ;
    return p;
}

/* How much later than planned the caller goes on: the call, the last reading, the return. */
static uint64_t measure_excess(void)
{
    uint64_t least = ticks_per_ms;
    for (int i = 0; i < 200; i++) {
        uint64_t begun = __rdtsc();
        toy_free(timed_alloc(16, 1));
        uint64_t excess = __rdtsc() - begun - ticks_per_ms / 1000;
        if ((int64_t)excess >= 0 && excess < least)
            least = excess;
    }
    return least;
}

__attribute__((constructor)) static void calibrate(void)
{
    uint64_t begun_ns = now_ns(), begun = __rdtsc(), ns;
    while ((ns = now_ns() - begun_ns) < 20000000)
        ;
    ticks_per_ms = (__rdtsc() - begun) * 1000000 / ns;
    excess_ticks = measure_excess();
}

int close(int fd)
{
    if (fd == 4)
        n_mallocs = 0;
    return (int)syscall(SYS_close, fd);
}

void *malloc(size_t size)
{
    return timed_alloc(size, ++n_mallocs % 100 == 0 ? 50 : 1);
}
