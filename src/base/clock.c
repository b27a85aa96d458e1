/* SPDX-License-Identifier: MIT
 *
 * Reads the clocks of the system, and calibrates the tick counter against them: nanoseconds per
 * tick, and the step of the counter.
 */
#include "base/clock.h"

#include "base/limits.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* clock_gettime of the C library; NULL = the kernel is called. It is found by name, because another
 * library may define a function of that name (src/clock). */
static int (*read_libc)(clockid_t, struct timespec *);

static __attribute__((constructor)) void find_libc(void)
{
    void *libc = dlopen("libc.so.6", RTLD_NOLOAD | RTLD_NOW);
    if (libc != NULL)
        *(void **)&read_libc = dlsym(libc, "clock_gettime");
}

static uint64_t read_clock(clockid_t id)
{
    struct timespec ts = {0, 0};
    if (read_libc != NULL)
        read_libc(id, &ts);
    else
        syscall(SYS_clock_gettime, id, &ts, 0, 0, 0, AB_CALL_OF_OURS);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void ab_clock_ask_kernel(void)
{
    read_libc = NULL;
}

void ab_clock_sleep_until(uint64_t ns)
{
    struct timespec t = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    while (syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL, 0,
                   AB_CALL_OF_OURS) != 0 &&
           errno == EINTR)
        ;
}

uint64_t ab_clock_now_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t ab_clock_thread_cpu_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t ab_clock_process_cpu_ns(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

/* Reads the raw time and the tick counter as one pair. Uses the pair that took the fewest ticks of
 * 64 tries. */
static void read_pair(uint64_t *raw_ns, uint64_t *ticks)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 64; i++) {
        uint64_t a = ab_tick_begin(), ns = read_clock(CLOCK_MONOTONIC_RAW), b = ab_tick_end();
        if (b - a < best) {
            best = b - a;
            *raw_ns = ns;
            *ticks = a + (b - a) / 2;
        }
    }
}

enum { GAP_MAX = 400, STEP_MIN = 4 };

/* Counts differences between tick readings at varying distances, by size. */
static void collect_gaps(uint32_t gaps[GAP_MAX])
{
    for (unsigned i = 0; i < GAP_MAX; i++)
        gaps[i] = 0;
    for (unsigned i = 0; i < 100000; i++) {
        uint64_t a = ab_tick_begin();
        for (volatile unsigned spin = i * 7u % 13u; spin > 0; spin--)
            ;
        uint64_t d = ab_tick_end() - a;
        if (d < GAP_MAX)
            gaps[d]++;
    }
}

/* Returns the share of the gaps that are a multiple of `step`, give or take one tick. By chance
 * alone it is 3/step, at most three quarters. */
static double share_of_multiples(const uint32_t gaps[GAP_MAX], unsigned step)
{
    uint64_t all = 0, multiples = 0;
    for (unsigned d = 0; d < GAP_MAX; d++) {
        unsigned rest = d % step;
        all += gaps[d];
        if (rest <= 1 || rest == step - 1)
            multiples += gaps[d];
    }
    return all == 0 ? 0 : (double)multiples / (double)all;
}

/* Returns the step of the counter in ticks, the largest step that nearly all differences are
 * multiples of; 1 = no steps. A counter that is fed by a slower clock moves in steps (26 ticks for
 * a 2.6 GHz counter fed at 100 MHz, say). */
static unsigned quantum_ticks(void)
{
    uint32_t gaps[GAP_MAX];
    collect_gaps(gaps);
    for (unsigned step = GAP_MAX / 4; step >= STEP_MIN; step--)
        if (share_of_multiples(gaps, step) > 0.97)
            return step;
    return 1;
}

void ab_clock_calibrate(struct ab_clock *clock)
{
    uint64_t ns0 = 0, ns1 = 0, t0 = 0, t1 = 0;
    read_pair(&ns0, &t0);
    unsigned quantum = quantum_ticks();
    ab_clock_sleep_until(ab_clock_now_ns() + 50000000);
    read_pair(&ns1, &t1);
    clock->ns_per_tick = (double)(ns1 - ns0) / (double)(t1 - t0);
    clock->quantum_ns = quantum * clock->ns_per_tick;
}

/* ---- canary ---- */

enum { ITERATIONS = 2000 };

/* Four independent chains of additions; the asm keeps the compiler from joining or precomputing
 * them. */
#define ADD(a, b, c, d) \
    a += 1, b += 3, c += 5, d += 7; \
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d))

uint16_t ab_canary_read(void)
{
    uint64_t a = 1, b = 2, c = 3, d = 4, begin = ab_tick_begin();
    for (int i = 0; i < ITERATIONS; i++) {
        ADD(a, b, c, d);
        ADD(a, b, c, d);
    }
    uint64_t ticks = ab_tick_end() - begin;
    return ticks < AB_CANARY_MAX ? (uint16_t)ticks : AB_CANARY_MAX;
}
