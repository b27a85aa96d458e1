/* SPDX-License-Identifier: MIT
 *
 * The virtual clock, from the worker's side. liballocbench-clock.so is preloaded ahead of the
 * allocator in the memory pass of work with times. It replaces the clocks of the C library. All
 * clocks that tell the time begin at their real values when the process first asks, and then
 * advance together, when the worker says so. Each reading advances them by a nanosecond, so that no
 * loop waits for ever.
 *
 * Threads that the allocator has started sleep in virtual time; the worker wakes them when it has
 * come that far. Threads of the harness sleep in real time, as do sleeps of less than a
 * millisecond.
 *
 * A library may ask the kernel without the C library, or wait in other ways (futex, poll, timerfd).
 * A seccomp filter turns such a system call into SIGSYS, whose handler answers instead. A wait that
 * the handler does not serve is carried out in real time, and `unmanaged` has its number.
 */
#ifndef AB_CLOCK_VIRTUAL_CLOCK_H
#define AB_CLOCK_VIRTUAL_CLOCK_H

#include <stdint.h>

#define AB_VIRTUAL_CLOCK_VERSION 2
#define AB_VIRTUAL_CLOCK_NAME "ab_clock_v2"

struct ab_virtual_clock {
    uint32_t version;
    uint32_t is_used;       /* atomic: somebody read the time or wanted to wait for it */
    uint32_t n_short;       /* atomic: allocator threads that sleep in real time */
    uint32_t n_asleep;      /* atomic: allocator threads that sleep in virtual time */
    uint32_t is_filtered;   /* 0 = no filter could be installed, so system calls are not seen */
    uint32_t unmanaged;     /* atomic: number + 1 of the first system call with a timeout that the
                               handler left to the kernel; 0 = none */
    uint64_t time_ns;       /* atomic: since the process first asked */
    void (*enter)(void);    /* registers the calling thread as the harness's */
    uint64_t (*next)(void); /* returns when the next sleeper is due; UINT64_MAX = none */
    void (*set)(uint64_t time_ns); /* sets the time; an earlier time changes nothing */
    /* Wakes the sleepers that are due, and returns how many have not gone yet. To be called until
     * it returns 0, because a wake-up may come just before a thread falls asleep. */
    uint32_t (*wake)(void);
};

#endif
