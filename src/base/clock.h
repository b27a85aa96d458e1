/* SPDX-License-Identifier: MIT
 *
 * The tick counter of the CPU and its calibration. Measurements record ticks; nanoseconds are
 * computed at the end. Needs a constant-rate counter (constant_tsc and nonstop_tsc on x86-64, the
 * generic timer on aarch64); ab_clock_describe says if it is not.
 */
#ifndef AB_BASE_CLOCK_H
#define AB_BASE_CLOCK_H

#include <stdint.h>

#if defined(__x86_64__)

#include <x86intrin.h>

/* Opens a timed interval: earlier instructions have finished, later ones have not begun. The first
 * fence is needed if loads that missed the caches are still in flight. rdtsc does not wait for
 * them, so the timed code would (Intel SDM, volume 2, RDTSC). */
static inline uint64_t ab_tick_begin(void)
{
    _mm_lfence();
    uint64_t t = __rdtsc();
    _mm_lfence();
    return t;
}

/* Closes a timed interval: waits until everything inside it has finished. In the tail pass, which
 * times single ops, one call ends an op and begins the next. */
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

/* Opens a timed interval. dsb is needed, because isb does not wait for loads. */
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
    double quantum_ns; /* step of the counter; smaller differences are noise */
};

/* ---- clocks of the system ----
 *
 * The C library reads them, even if another library defines functions of these names. After
 * ab_clock_ask_kernel(), system calls read them. */

/* Makes all later readings system calls with the harness's mark (AB_CALL_OF_OURS), which seccomp
 * filters let through. The C library may ask the kernel too, but without the mark. */
void ab_clock_ask_kernel(void);

/* Sleeps until CLOCK_MONOTONIC shows `ns`. */
void ab_clock_sleep_until(uint64_t ns);

/* Return nanoseconds of CLOCK_MONOTONIC, of this thread's CPU time, of this process's CPU time. */
uint64_t ab_clock_now_ns(void);
uint64_t ab_clock_thread_cpu_ns(void);
uint64_t ab_clock_process_cpu_ns(void);

/* Measures the rate (against CLOCK_MONOTONIC_RAW, in about 50 ms) and the quantum. Allocates
 * nothing. */
void ab_clock_calibrate(struct ab_clock *clock);

/* The canary: a short loop that shows whether the CPU core is shared. On a virtual machine, another
 * tenant may run on the same core. Then programs take 1.5 to 2 times as long, and no counter that a
 * guest can read shows it. The loop makes independent additions in registers, which compete with
 * such a neighbour. It touches no memory, so that the caches stay as they are. */

#define AB_CANARY_MAX UINT16_MAX

/* Returns the ticks that the loop took, some microseconds; AB_CANARY_MAX = that many or more. */
uint16_t ab_canary_read(void);

/* Returns the highest reading that counts as quiet, if `quiet` is the lowest ever seen. */
static inline uint16_t ab_canary_limit(uint16_t quiet)
{
    uint32_t limit = quiet + quiet / 7u;
    return limit < AB_CANARY_MAX ? (uint16_t)limit : AB_CANARY_MAX - 1;
}

/* Returns the lowest reading that counts as an interruption, in which something else had the CPU.
 * `quiet` is the lowest reading ever seen. */
static inline uint16_t ab_canary_gap(uint16_t quiet)
{
    uint32_t gap = quiet * 4u;
    return gap < AB_CANARY_MAX ? (uint16_t)gap : AB_CANARY_MAX;
}

#endif
