/* SPDX-License-Identifier: MIT
 *
 * A known truth that no neighbour changes: of 1,000 mallocs one uses 5 ms of its thread's CPU time,
 * however long the scheduler leaves it without a CPU.
 */
#include <time.h>

#define TOY_OWN_MALLOC
#include "toy.h"

static uint64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void burn(uint64_t ns)
{
    uint64_t end = cpu_ns() + ns;
    while (cpu_ns() < end)
        for (volatile int i = 0; i < 20000; i++) {
        }
}

void *malloc(size_t size)
{
    if (++n_mallocs % 1000 == 500)
        burn(5000000);
    return toy_alloc(0, size);
}
