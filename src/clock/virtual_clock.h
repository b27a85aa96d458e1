/* SPDX-License-Identifier: MIT
 *
 * The virtual clock, as the worker sees it. liballocbench-clock.so is preloaded ahead of the
 * allocator in the memory pass of work with times. It replaces the clocks of the C library.
 *
 * All clocks that tell the time begin at their real values when the process first asks. Then they
 * advance together, when the worker says so. Each reading advances them by a nanosecond, so that no
 * loop waits for ever. Threads that the allocator has started sleep in virtual time; the worker
 * wakes them when the virtual clock reaches their time. Threads of the harness sleep in real time,
 * and so do all threads for less than a millisecond.
 *
 * A library may ask the kernel without the C library, or wait in other ways (futex, poll, timerfd).
 * A seccomp filter turns such a system call into SIGSYS, whose handler answers instead. If the
 * handler does not serve a wait, the wait is in real time, and `unmanaged` holds its system call
 * number.
 */
#ifndef AB_CLOCK_VIRTUAL_CLOCK_H
#define AB_CLOCK_VIRTUAL_CLOCK_H

#include <stdint.h>

#define AB_VIRTUAL_CLOCK_VERSION 2
#define AB_VIRTUAL_CLOCK_NAME "ab_clock_v2"

struct ab_virtual_clock {
    uint32_t version;
    uint32_t is_used;     /* atomic: some thread read the time or wanted to wait for a time */
    uint32_t n_short;     /* atomic: allocator threads that sleep in real time */
    uint32_t n_asleep;    /* atomic: allocator threads that sleep in virtual time */
    uint32_t is_filtered; /* 0 = no filter could be installed, so system calls are not seen */
    uint32_t unmanaged;   /* atomic: number + 1 of the first system call with a timeout that the
                               handler left to the kernel; 0 = none */
    uint64_t time_ns;     /* atomic: virtual time since the process first asked */
    void (*enter)(void);  /* registers the calling thread as one of the harness */
    /* returns the time at which the next sleeper is due; UINT64_MAX = nobody sleeps */
    uint64_t (*next)(void);
    void (*set)(uint64_t time_ns); /* sets the time; an earlier time changes nothing */
    /* Wakes the sleepers that are due, and returns how many have not got up yet. The worker calls
     * this until it returns 0, because a wake-up may come just before a thread falls asleep. */
    uint32_t (*wake)(void);
};

#endif
