/* SPDX-License-Identifier: MIT
 *
 * The virtual clock, as the worker sees it. liballocbench-clock.so, preloaded ahead of the allocator in
 * the memory pass of work that has times, answers for the clocks of the C library: all that tell the
 * time begin at what they are when the process first asks, and pass together, as the worker says.
 * Each reading takes a nanosecond, so that nothing waits for ever in a loop.
 *
 * Threads that the allocator has started sleep in this time; the worker wakes them when it has come
 * so far. Those of the harness, and for less than a millisecond all, sleep in real time.
 *
 * A library may ask the kernel without the C library, or wait in ways of its own (futex, poll, timerfd).
 * A seccomp filter turns such a system call into SIGSYS, whose handler answers in its place. A wait that
 * is not answered here is carried out as it is, in real time, and `unserved` holds its number.
 */
#ifndef AB_CLOCK_SERVED_CLOCK_H
#define AB_CLOCK_SERVED_CLOCK_H

#include <stdint.h>

#define AB_SERVED_CLOCK_VERSION 2
#define AB_SERVED_CLOCK_NAME "ab_clock_v2"

struct ab_served_clock {
    uint32_t version;
    uint32_t is_used;     /* atomic: somebody asked for the time, or wanted to wait for it */
    uint32_t n_short;     /* atomic: threads of the allocator's that sleep in real time */
    uint32_t n_asleep;    /* atomic: those that sleep in this one */
    uint32_t is_filtered; /* 0 = system calls are not seen, because no filter could be installed */
    uint32_t
        unserved; /* atomic: first system call with a timeout that is not served, + 1; 0 = none */
    uint64_t time_ns;       /* atomic: since the process first asked */
    void (*enter)(void);    /* the calling thread is the harness's */
    uint64_t (*next)(void); /* the earliest time at which a sleeper is due; UINT64_MAX = none */
    void (*set)(uint64_t time_ns); /* an earlier time than it is changes nothing */
    /* How many sleepers are due and have not gone yet. Wakes them; to be called again until they have,
     * because one may be woken in the moment before it falls asleep. */
    uint32_t (*wake)(void);
};

#endif
