/* SPDX-License-Identifier: MIT
 *
 * The clock in the pass that counts instructions with callgrind. Some allocators work by the clock
 * (jemalloc purges after a number of milliseconds), so their instruction counts would vary. In
 * valgrind, and nowhere else, the function below replaces libc's clock_gettime, because valgrind
 * looks for names of this form in every program. The clock advances by a fixed step with each
 * reading.
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
