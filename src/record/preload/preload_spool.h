/* SPDX-License-Identifier: MIT
 *
 * Takes events from the interposer and writes them to the spool. All of it is hidden from the
 * recorded program.
 */
#ifndef AB_RECORD_PRELOAD_PRELOAD_SPOOL_H
#define AB_RECORD_PRELOAD_PRELOAD_SPOOL_H

#include "record/preload/preload.h"
#include "record/preload/preload_sites.h"

#include <stddef.h>

/* Starts recording, once, before the first event. Does nothing if this process is not to be
 * recorded. */
void ab_spool_begin(void);
/* Ends recording at exit(). Later events are still written, because other destructors free
 * memory. */
void ab_spool_end(void);

/* Notes which pages of its large blocks the program has written. Called when the program ends, by
 * exit() or in another way that the recorder sees. */
void ab_spool_end_blocks(void);

/* Allows the ends of threads to be noted. Call this before any thread exists. */
void ab_spool_watch_threads(void);

/* Announce a fork in the parent: before it and after it. The child of a fork that was not announced
 * begins without blocks. */
void ab_spool_fork_begin(void);
void ab_spool_fork_end(void);
/* Called in the child of a fork. */
void ab_spool_fork_child(void);

/* Counts a call of malloc_usable_size. */
void ab_spool_note_usable_size(void);

/* Notes an event that is not a malloc call: AB_SPOOL_MARK or AB_SPOOL_ASIDE (spool.h). Keeps
 * errno. */
void ab_spool_note_beside(enum ab_spool_kind kind, uint64_t address, uint64_t size) AB_HIDDEN;

/* Returns the generation that the next program of a process will have. */
uint32_t ab_exec_next_generation(uint32_t pid);

static inline struct ab_spool_event *ab_half_events(struct ab_spool_tail *tail, unsigned half)
{
    return (struct ab_spool_event *)((char *)tail + AB_SPOOL_TAIL + half * AB_SPOOL_HALF);
}

/* ---- events ----
 *
 * The following is inlined into each function of the malloc family, because a function call
 * would be a quarter of the cost of recording. */

/* state of the process; wiped in a forked child, so that `image` is NULL there */
struct ab_spool_process {
    struct ab_spool_image *image; /* NULL = not recording */
    struct ab_spool_tail **tails; /* by slot; NULL = none yet */
    struct ab_sites **sites;      /* by slot; NULL = call sites are not recorded */
    /* index of the slot at which the next search for a dead thread begins */
    uint32_t next_recycled;
    bool has_stopped; /* True if there is no image and there will be none */
    /* generation of the image: number of earlier programs of the process */
    uint32_t generation;
    uint32_t n_forks;
};
extern struct ab_spool_process *ab_process AB_HIDDEN; /* never NULL */

/* Points to the C library's variable that is 1 while the process has one thread. Points to a 0 if
 * the process had more threads, or if each event needs a stamp of its own. */
extern const char *ab_is_alone AB_HIDDEN;

/* stream of this thread; NULL = none. initial-exec, by -ftls-model */
extern __thread struct ab_spool_tail *ab_own_tail AB_HIDDEN;

/* True if this process writes the image, that is, if it is not a child of vfork. */
static inline bool ab_spool_is_own(void)
{
    return ab_process->image != NULL && ab_process->image->pid == ab_process_id();
}

/* Slow path of ab_spool_tail_of_thread: finds or makes the stream. Returns NULL if nothing is
 * recorded. */
struct ab_spool_tail *ab_spool_find_tail(void) AB_HIDDEN;
void ab_spool_put_in_next_half(struct ab_spool_tail *tail, uint64_t place, uint64_t stamp_kind,
                               uint64_t address, uint64_t size) AB_HIDDEN;
/* Returns the stream of the thread. The fast path checks the process page (which fork empties),
 * the thread's stream, and whether `record` has stopped the recording. */
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

/* Returns the stamp for an event: the tick counter, or the last stamp again while there is only one
 * thread. The C library changes its variable before a second thread begins. */
static inline uint64_t ab_spool_stamp(const struct ab_spool_tail *tail)
{
    if (__builtin_expect(*__atomic_load_n(&ab_is_alone, __ATOMIC_RELAXED), 1))
        return tail->last_stamp;
    return ab_stamp_now();
}

/* Reserves the next place in the stream and returns its number. Takes one instruction, so that a
 * signal handler on this thread gets another place. Not locked, because no other thread takes
 * places in this stream. */
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
        tail, 0)[place % (2 * AB_SPOOL_HALF_EVENTS)]; /* the second half follows the first */
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

/* Notes one event of the calling thread. Never fails, and keeps errno. A resize is two events; only
 * the second one counts as a call. */
static inline void ab_spool_note(enum ab_spool_kind kind, const void *address, size_t size)
{
    struct ab_spool_tail *tail = ab_spool_tail_of_thread();
    if (__builtin_expect(tail == NULL, 0))
        return;
    if (kind == AB_SPOOL_RESIZE_BEGIN)
        ab_spool_take_place(&tail->n_asides);
    ab_spool_put(tail, ab_spool_stamp(tail), kind, (uint64_t)(uintptr_t)address, size);
}

/* True if call sites may be recorded, so that allocations must be noted together with their caller.
 * True also in a forked child that has not decided yet. */
static inline bool ab_spool_may_have_sites(void)
{
    return __builtin_expect(ab_process->image == NULL || ab_process->sites != NULL, 0);
}
void ab_spool_note_given(enum ab_spool_kind kind, const void *address, size_t size,
                         struct ab_here here) AB_HIDDEN;

/* Position in the stream of a thread. Events of later calls have later positions. */
struct ab_spool_point {
    const struct ab_spool_tail *tail;
    uint64_t n_events;
};
static inline struct ab_spool_point ab_spool_point(void)
{
    const struct ab_spool_tail *tail = ab_spool_tail_of_thread();
    return (struct ab_spool_point){tail, tail != NULL ? tail->n_events : 0};
}
/* Notes a block that a function returned, unless a function that it called since `before` has noted
 * this block. `align` 0 = none requested. */
void ab_spool_note_new(struct ab_spool_point before, const void *address, size_t size, size_t align,
                       struct ab_here here) AB_HIDDEN;

/* Notes an aligned allocation. `align` need not be a power of two if the call failed. */
void ab_spool_note_aligned(const void *address, size_t size, size_t align, struct ab_here here);

#endif
