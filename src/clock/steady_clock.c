/* SPDX-License-Identifier: MIT
 *
 * The clock while instructions are counted. Some allocators do work by the clock (jemalloc gives pages
 * back after so many milliseconds), and would never take the same instructions twice. In valgrind, and
 * nowhere else, this function takes the place of libc's clock_gettime, because valgrind looks for names
 * of this form in every program that it runs: a clock that goes by how often it is read.
 */
#include <stdint.h>
#include <time.h>

enum { STEP_NS = 1000 };

int ab_steady_clock(clockid_t id,
                    struct timespec *out) __asm__("_vgr00000ZU_libcZdsoZa_clock_gettime")
    __attribute__((used));

int ab_steady_clock(clockid_t id, struct timespec *out)
{
    static uint64_t n; /* atomic */
    uint64_t ns = __atomic_add_fetch(&n, STEP_NS, __ATOMIC_RELAXED);
    (void)id;
    out->tv_sec = (time_t)(1000000 + ns / 1000000000);
    out->tv_nsec = (long)(ns % 1000000000);
    return 0;
}
