/* SPDX-License-Identifier: MIT
 *
 * The interposer hands its events on here. All of it is hidden from the recorded program.
 */
#ifndef AB_RECORD_PRELOAD_PRELOAD_SPOOL_H
#define AB_RECORD_PRELOAD_PRELOAD_SPOOL_H

#include "record/preload/preload.h"
#include "record/preload/preload_sites.h"

#include <stddef.h>

/* Once, before the first event. Does nothing when this process is not to be recorded. */
void ab_spool_start(void);
/* At exit(). Events after it are still noted: other destructors free. */
void ab_spool_end(void);

/* The program of this process ends, at exit() or by another way that is seen: what it wrote of its
 * large blocks is noted. */
void ab_spool_end_blocks(void);

/* Before any thread: lets the ends of threads be noted. */
void ab_spool_watch_threads(void);

/* In the parent: around a fork. A child of a fork that was not announced begins without blocks. */
void ab_spool_fork_begin(void);
void ab_spool_fork_end(void);
/* In the child of one. */
void ab_spool_fork_child(void);

/* malloc_usable_size was called. */
void ab_spool_note_usable_size(void);

/* What is no call of the family: AB_SPOOL_MARK or AB_SPOOL_ASIDE, as spool.h says. Keeps errno. */
void ab_spool_note_beside(enum ab_spool_kind kind, uint64_t address, uint64_t size) AB_HIDDEN;

/* Which image the next program of a process will have. */
uint32_t ab_exec_next_generation(uint32_t pid);

static inline struct ab_spool_event *ab_half_events(struct ab_spool_tail *tail, unsigned half)
{
    return (struct ab_spool_event *)((char *)tail + AB_SPOOL_TAIL + half * AB_SPOOL_HALF);
}

/* ---- an event ----
 * What follows is compiled into each function of the malloc family: a call of ours would be a
 * quarter of what recording costs. */

struct ab_spool_process {         /* wiped in a forked child: image is NULL there */
    struct ab_spool_image *image; /* NULL = not recording */
    struct ab_spool_tail **tails; /* by slot; NULL = none yet */
    struct ab_sites **sites;      /* by slot; NULL = no call sites are recorded */
    uint32_t next_recycled;       /* where the search for a dead thread's slot goes on */
    bool has_stopped;             /* there is no image, and there will be none */
    uint32_t generation;          /* of the image: how many programs the process had been before */
    uint32_t n_forks;
};
extern struct ab_spool_process *ab_process AB_HIDDEN; /* never NULL */

/* 1 = the process has one thread. Where it had more, and where each event is to have its time, it
 * points to a 0. */
extern const char *ab_is_alone AB_HIDDEN;

extern __thread struct ab_spool_tail *ab_own_tail AB_HIDDEN; /* initial-exec, by -ftls-model */

/* True if this process writes the image, and is no child of vfork. */
static inline bool ab_spool_is_own(void)
{
    return ab_process->image != NULL && ab_process->image->pid == ab_process_id();
}

/* Where the usual way ends; NULL = nothing is recorded. */
struct ab_spool_tail *ab_spool_find_tail(void) AB_HIDDEN;
void ab_spool_put_in_next_half(struct ab_spool_tail *tail, uint64_t place, uint64_t stamp_kind,
                               uint64_t address, uint64_t size) AB_HIDDEN;
/* A few loads where all is as usual: the page of the process, which fork empties, our stream, and
 * the image, where `record` may have said that it is enough. */
static inline struct ab_spool_tail *ab_spool_tail_of_thread(void)
{
    const struct ab_spool_image *image = ab_process->image;
    struct ab_spool_tail *tail = ab_own_tail;
    if (__builtin_expect(image != NULL && tail != NULL &&
                             __atomic_load_n(&image->stop, __ATOMIC_RELAXED) == AB_SPOOL_RUNNING,
                         1))
        return tail;
    return ab_spool_find_tail();
}

/* The clock, unless there is but one thread. The C library says so before a second one begins. */
static inline uint64_t ab_spool_stamp(const struct ab_spool_tail *tail)
{
    if (__builtin_expect(*__atomic_load_n(&ab_is_alone, __ATOMIC_RELAXED), 1))
        return tail->last_stamp;
    return ab_stamp_now();
}

/* One instruction, so that a signal handler on this thread gets a place of its own; not locked,
 * because no other thread takes places here. */
static inline uint64_t ab_spool_take_place(uint64_t *next)
{
#if defined(__x86_64__)
    uint64_t place = 1;
    __asm__ volatile("xaddq %0, %1" : "+r"(place), "+m"(*next) : : "memory", "cc");
    return place;
#else
    return __atomic_fetch_add(next, 1, __ATOMIC_RELAXED);
#endif
}

static inline void ab_spool_fill(struct ab_spool_tail *tail, uint64_t place, uint64_t stamp_kind,
                                 uint64_t address, uint64_t size)
{
    struct ab_spool_event *e = &ab_half_events(
        tail, 0)[place % (2 * AB_SPOOL_HALF_EVENTS)]; /* one half follows the other */
    e->address = address;
    e->size = size;
    __atomic_store_n(&e->stamp_kind, stamp_kind, __ATOMIC_RELEASE);
}

static inline void ab_spool_put(struct ab_spool_tail *tail, uint64_t stamp, enum ab_spool_kind kind,
                                uint64_t address, uint64_t size)
{
    uint64_t place = ab_spool_take_place(&tail->n_events);
    uint64_t number = place / AB_SPOOL_HALF_EVENTS;
    if (__builtin_expect(tail->half_number[number % 2] == number + 1, 1))
        ab_spool_fill(tail, place, stamp << 4 | kind, address, size);
    else
        ab_spool_put_in_next_half(tail, place, stamp << 4 | kind, address, size);
}

/* Notes one event of the calling thread. Never fails and leaves errno alone. Of the two of a resize
 * the second one is the call. */
static inline void ab_spool_note(enum ab_spool_kind kind, const void *address, size_t size)
{
    struct ab_spool_tail *tail = ab_spool_tail_of_thread();
    if (__builtin_expect(tail == NULL, 0))
        return;
    if (kind == AB_SPOOL_RESIZE_BEGIN)
        ab_spool_take_place(&tail->n_asides);
    ab_spool_put(tail, ab_spool_stamp(tail), kind, (uint64_t)(uintptr_t)address, size);
}

/* May call sites be recorded? Then what gives a block is noted together with where it was called
 * (`here`). A child of a fork has not decided yet. */
static inline bool ab_spool_may_have_sites(void)
{
    return __builtin_expect(ab_process->image == NULL || ab_process->sites != NULL, 0);
}
void ab_spool_note_given(enum ab_spool_kind kind, const void *address, size_t size,
                         struct ab_here here) AB_HIDDEN;

/* Where the stream of a thread is: of what is called from there on the events are behind it. */
struct ab_spool_point {
    const struct ab_spool_tail *tail;
    uint64_t n_events;
};
static inline struct ab_spool_point ab_spool_point(void)
{
    const struct ab_spool_tail *tail = ab_spool_tail_of_thread();
    return (struct ab_spool_point){tail, tail != NULL ? tail->n_events : 0};
}
/* Notes a block that a function has given, unless something that it called since `before` has noted
 * the same block. `align`: 0 = none was asked for. */
void ab_spool_note_new(struct ab_spool_point before, const void *address, size_t size, size_t align,
                       struct ab_here here) AB_HIDDEN;

/* As ab_spool_note_given, for an alignment, which need not be a power of two where the call failed. */
void ab_spool_note_aligned(const void *address, size_t size, size_t align, struct ab_here here);

#endif
