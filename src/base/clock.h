/* SPDX-License-Identifier: MIT
 *
 * The tick counter of the CPU and what is known about it. Ticks are recorded, nanoseconds are
 * computed at the end. Needs a constant-rate counter (constant_tsc and nonstop_tsc on x86-64,
 * the generic timer on aarch64); ab_clock_describe says when it is not.
 */
#ifndef AB_BASE_CLOCK_H
#define AB_BASE_CLOCK_H

#include <stdint.h>

#if defined(__x86_64__)

#include <x86intrin.h>

/* Opens a timed interval: nothing before it is still running, nothing after it has begun. The first
 * fence matters where loads that missed the caches are still on their way: rdtsc does not wait for
 * them, and what is timed would wait in their stead (Intel SDM, volume 2, RDTSC). */
static inline uint64_t ab_tick_begin(void)
{
    _mm_lfence();
    uint64_t t = __rdtsc();
    _mm_lfence();
    return t;
}

/* Closes a timed interval: waits for all that was begun inside it. Also the chained reading of
 * the tail pass, where the end of one op is the beginning of the next. */
static inline uint64_t ab_tick_end(void)
{
    unsigned cpu;
    return __rdtscp(&cpu);
}

static inline void ab_cpu_pause(void)
{
    _mm_pause();
}

#elif defined(__aarch64__)

static inline uint64_t ab_tick_end(void)
{
    uint64_t t;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(t)::"memory");
    return t;
}

/* isb does not wait for loads either. */
static inline uint64_t ab_tick_begin(void)
{
    __asm__ volatile("dsb ld" ::: "memory");
    return ab_tick_end();
}

static inline void ab_cpu_pause(void)
{
    __asm__ volatile("yield" ::: "memory");
}

#else
#error "allocbench knows the tick counters of x86-64 and aarch64"
#endif

struct ab_clock {
    double ns_per_tick;
    double quantum_ns; /* the counter moves in steps of this size; differences below are noise */
};

/* All readings are the C library's, whoever else answers under the names of its functions. */

/* From here on each reading is a system call with the harness's mark, which a filter lets through;
 * where the C library cannot read a clock by itself, it would ask the kernel without that mark. */
void ab_clock_ask_kernel(void);

/* Of CLOCK_MONOTONIC. */
void ab_clock_sleep_until(uint64_t ns);

/* Nanoseconds of CLOCK_MONOTONIC, of this thread's CPU time, of this process's CPU time. */
uint64_t ab_clock_now_ns(void);
uint64_t ab_clock_thread_cpu_ns(void);
uint64_t ab_clock_process_cpu_ns(void);

/* Measures rate (against CLOCK_MONOTONIC_RAW, about 50 ms) and quantum. Allocates nothing. */
void ab_clock_calibrate(struct ab_clock *clock);

/* A short loop that says whether the CPU is ours alone. On a shared machine another tenant may run
 * on the same core: the same program then takes 1.5 to 2 times as long, and nothing that the guest
 * can read shows it. Independent additions in registers compete for what such a neighbour uses; they
 * touch no memory, so that the caches of what is measured stay as they are. */

#define AB_CANARY_MAX UINT16_MAX

/* Ticks that the loop took, a few microseconds of them; AB_CANARY_MAX = as many or more. */
uint16_t ab_canary_read(void);

/* Readings up to this are quiet, the least ever seen being `quiet`. */
static inline uint16_t ab_canary_limit(uint16_t quiet)
{
    uint32_t limit = quiet + quiet / 7u;
    return limit < AB_CANARY_MAX ? (uint16_t)limit : AB_CANARY_MAX - 1;
}

/* A reading from here on is an interruption: something else ran on the CPU. */
static inline uint16_t ab_canary_gap(uint16_t quiet)
{
    uint32_t gap = quiet * 4u;
    return gap < AB_CANARY_MAX ? (uint16_t)gap : AB_CANARY_MAX;
}

#endif
