/* SPDX-License-Identifier: MIT
 *
 * A clock that costs a few instructions and is precise to some milliseconds.
 */
#include "allocators/preload/preload.h"

#include <time.h>

uint32_t ab_clock_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (uint32_t)((uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000);
}
