/* SPDX-License-Identifier: MIT
 *
 * Work of four threads on one heap, with as little order between them as there can be: whatever
 * orders two threads hides a race from ThreadSanitizer. Blocks go one way only, from a maker to an
 * eater, each through a place of its own, and the eater's progress is read relaxed: so the way back
 * of a freed block is ordered by the allocator, or by nothing.
 */
#ifndef AB_TESTS_MUTANTS_LANE_WORK_H
#define AB_TESTS_MUTANTS_LANE_WORK_H

#include "allocators/ab_backend.h"
#include "base/rng.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>

enum { N_WORKERS = 4, N_OWN = 16, N_OPS = 400, N_MAIL = 300, AHEAD = 48, N_RESETS = 20 };
enum { LARGEST_BYTES = 64, N_STAGES = 3 };

struct block {
    ab_ref ref; /* 0: none */
    size_t size;
};

struct lane_work {
    const struct ab_backend *b;
    struct ab_heap *heap;
    uint64_t seed;
    bool is_shared; /* stats and reset while others are at work */
    unsigned n_bad;
    /* One a stage: who leaves one late must not meet there who has come to the next. */
    pthread_barrier_t barriers[N_STAGES];
    struct block mail[2][N_MAIL]; /* from worker i to worker 3 - i; its size is there first */
    unsigned n_eaten[2];
};

struct worker {
    struct lane_work *work;
    struct ab_heap *heap;
    struct ab_rng rng;
    unsigned index;
    struct block own[N_OWN];
};

static unsigned char *bytes_of(const struct worker *w, const struct block *block)
{
    const struct ab_backend *b = w->work->b;
    return b->resolve != NULL ? b->resolve(w->heap, block->ref) : (unsigned char *)block->ref;
}

/* noinline: a report names it */
__attribute__((noinline)) static void fill(const struct worker *w, const struct block *block)
{
    unsigned char *bytes = bytes_of(w, block);
    for (size_t i = 0; i < block->size; i++)
        bytes[i] = (unsigned char)(block->size + i);
}

static void drop(struct worker *w, struct block *block)
{
    const unsigned char *bytes = bytes_of(w, block);
    bool is_bad = false;
    for (size_t i = 0; i < block->size; i++)
        is_bad |= bytes[i] != (unsigned char)(block->size + i);
    if (is_bad)
        __atomic_add_fetch(&w->work->n_bad, 1, __ATOMIC_RELAXED);
    w->work->b->free(w->heap, block->ref, block->size);
    block->ref = 0;
}

static struct block make(struct worker *w)
{
    struct block block = {0, 1 + ab_rng_below(&w->rng, LARGEST_BYTES)};
    while ((block.ref = w->work->b->alloc(w->heap, block.size)) == 0)
        sched_yield();
    fill(w, &block);
    return block;
}

static void look_at_stats(struct worker *w)
{
    struct ab_heap_stats stats;
    if (w->work->is_shared)
        w->work->b->stats(w->heap, &stats);
}

static void grow(struct worker *w, struct block *block)
{
    ab_ref moved = w->work->b->resize(w->heap, block->ref, block->size, LARGEST_BYTES);
    if (moved == 0)
        return;
    *block = (struct block){moved, LARGEST_BYTES};
    fill(w, block);
}

static void work_alone(struct worker *w)
{
    for (unsigned i = 0; i < N_OPS; i++) {
        struct block *block = &w->own[ab_rng_below(&w->rng, N_OWN)];
        if (block->ref == 0)
            *block = make(w);
        else if (ab_rng_below(&w->rng, 3) == 0)
            grow(w, block);
        else
            drop(w, block);
        if (i % 16 == 15)
            look_at_stats(w);
    }
    for (unsigned i = 0; i < N_OWN; i++)
        if (w->own[i].ref != 0)
            drop(w, &w->own[i]);
}

static void make_mail(struct worker *w)
{
    struct lane_work *work = w->work;
    for (unsigned i = 0; i < N_MAIL; i++) {
        while (i >= AHEAD + __atomic_load_n(&work->n_eaten[w->index], __ATOMIC_RELAXED))
            sched_yield();
        struct block block = make(w), *mail = &work->mail[w->index][i];
        mail->size = block.size;
        __atomic_store_n(&mail->ref, block.ref, __ATOMIC_RELEASE);
    }
}

static void eat_mail(struct worker *w)
{
    unsigned from = N_WORKERS - 1 - w->index;
    for (unsigned i = 0; i < N_MAIL; i++) {
        struct block *mail = &w->work->mail[from][i];
        while (__atomic_load_n(&mail->ref, __ATOMIC_ACQUIRE) == 0)
            sched_yield();
        struct block block = *mail;
        drop(w, &block);
        __atomic_store_n(&w->work->n_eaten[from], i + 1, __ATOMIC_RELAXED);
    }
}

/* What is allocated here dies unseen. */
static void work_while_it_is_reset(struct worker *w)
{
    for (unsigned i = 0; i < N_RESETS; i++)
        if (w->index == 0)
            w->work->b->reset(w->work->heap);
        else
            w->work->b->alloc(w->heap, LARGEST_BYTES);
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    struct lane_work *work = w->work;
    if (work->b->thread_enter != NULL)
        work->b->thread_enter(work->heap, w->index, &w->heap);
    pthread_barrier_wait(&work->barriers[0]);
    work_alone(w);
    pthread_barrier_wait(&work->barriers[1]);
    if (w->index < N_WORKERS / 2)
        make_mail(w);
    else
        eat_mail(w);
    pthread_barrier_wait(&work->barriers[2]);
    if (work->is_shared)
        work_while_it_is_reset(w);
    if (work->b->thread_leave != NULL)
        work->b->thread_leave(w->heap);
    return NULL;
}

/* How many blocks held something else than what was written into them; UINT_MAX: no threads. */
static unsigned lane_work_run(struct lane_work *work)
{
    static struct worker workers[N_WORKERS];
    pthread_t threads[N_WORKERS];
    for (unsigned i = 0; i < N_STAGES; i++)
        pthread_barrier_init(&work->barriers[i], NULL, N_WORKERS);
    for (unsigned i = 0; i < N_WORKERS; i++) {
        workers[i] = (struct worker){.work = work, .heap = work->heap, .index = i};
        ab_rng_init(&workers[i].rng, work->seed, i);
        if (pthread_create(&threads[i], NULL, worker_main, &workers[i]) != 0)
            return (unsigned)-1;
    }
    for (unsigned i = 0; i < N_WORKERS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < N_STAGES; i++)
        pthread_barrier_destroy(&work->barriers[i]);
    return work->n_bad;
}

#endif
