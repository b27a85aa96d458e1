/* SPDX-License-Identifier: MIT */
#include "support/heap_model.h"

#include "backend/settings.h"
#include "base/rng.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { N_SLOTS = 400, N_THREADS = 4, N_THREAD_SLOTS = 64, N_MAILBOXES = 32 };

struct slot {
    unsigned char *block;
    size_t size;
    unsigned key;
};

struct model {
    const struct ab_backend *b;
    struct ab_heap *heap;
    struct ab_rng rng;
    struct slot slots[N_SLOTS];
};

const struct ab_backend *heap_model_variant(const struct ab_backend *backend, const char *params)
{
    uint64_t values[AB_PARAMS_MAX];
    assert_int_equal(ab_params_parse(backend, params, values, NULL), AB_OK);
    return ab_backend_variant(backend, values);
}

struct ab_heap *heap_model_open(const struct ab_backend *backend, const char *params,
                                const struct ab_facts *facts)
{
    uint64_t values[AB_PARAMS_MAX];
    struct ab_heap *heap = NULL;
    assert_int_equal(ab_params_parse(backend, params, values, NULL), AB_OK);
    struct ab_open_args args = {.size = sizeof args, .facts = facts, .values = values};
    assert_int_equal(ab_backend_variant(backend, values)->open(&args, &heap), 0);
    assert_non_null(heap);
    return heap;
}

static unsigned char pattern(unsigned key, size_t i)
{
    return (unsigned char)((key * 2654435761u >> 20) + i * 13 + (i >> 8));
}

static void fill(struct slot *s, unsigned key)
{
    s->key = key;
    for (size_t i = 0; i < s->size; i++)
        s->block[i] = pattern(key, i);
}

static bool is_intact(const struct slot *s, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (s->block[i] != pattern(s->key, i))
            return false;
    return true;
}

static bool is_zero(const struct slot *s)
{
    for (size_t i = 0; i < s->size; i++)
        if (s->block[i] != 0)
            return false;
    return true;
}

static size_t draw_size(struct ab_rng *rng, size_t largest)
{
    size_t below = (size_t)1 << ab_rng_below(rng, 64 - (unsigned)__builtin_clzll(largest) + 1);
    size_t size = 1 + ab_rng_below(rng, below);
    return size <= largest ? size : largest;
}

static size_t natural_align(size_t size)
{
    return size >= 16 ? 16 : (size_t)1 << (63 - __builtin_clzll(size));
}

static void model_alloc(struct model *m, struct slot *s, const struct heap_model_work *work)
{
    size_t align = natural_align(s->size);
    ab_ref ref;
    unsigned kind = (unsigned)ab_rng_below(&m->rng, 4);
    if (kind == 0) {
        ref = m->b->alloc_zeroed(m->heap, s->size);
    } else if (kind == 1) {
        align = (size_t)1 << ab_rng_below(&m->rng,
                                          64 - (unsigned)__builtin_clzll(work->largest_align));
        ref = m->b->alloc_aligned(m->heap, align, s->size);
    } else {
        ref = m->b->alloc(m->heap, s->size);
    }
    assert_true(ref != 0 || work->may_fail);
    s->block = (unsigned char *)ref;
    if (ref == 0)
        return;
    assert_int_equal(ref & (align - 1), 0);
    assert_int_equal(ref & (natural_align(s->size) - 1), 0);
    assert_true(kind != 0 || is_zero(s));
    assert_true(m->b->usable_size == NULL || m->b->usable_size(m->heap, ref) >= s->size);
}

static void model_resize(struct model *m, struct slot *s, size_t size, bool may_fail)
{
    ab_ref ref = m->b->resize(m->heap, (ab_ref)s->block, s->size, size);
    assert_true(ref != 0 || may_fail);
    if (ref == 0) {
        assert_true(is_intact(s, s->size));
        return;
    }
    s->block = (unsigned char *)ref;
    assert_true(is_intact(s, size < s->size ? size : s->size));
    s->size = size;
}

static void model_free(struct model *m, struct slot *s)
{
    assert_true(is_intact(s, s->size));
    m->b->free(m->heap, (ab_ref)s->block, s->size);
    s->block = NULL;
}

static void model_reset(struct model *m)
{
    for (unsigned i = 0; i < N_SLOTS; i++)
        assert_true(m->slots[i].block == NULL || is_intact(&m->slots[i], m->slots[i].size));
    m->b->reset(m->heap);
    memset(m->slots, 0, sizeof m->slots);
}

static void model_op(struct model *m, unsigned i, const struct heap_model_work *work)
{
    struct slot *s = &m->slots[ab_rng_below(&m->rng, N_SLOTS)];
    unsigned dice = (unsigned)ab_rng_below(&m->rng, 3000);
    if (dice == 0)
        model_reset(m);
    else if (dice < 4)
        m->b->purge(m->heap);
    else if (s->block != NULL && dice % 3 == 0)
        model_resize(m, s, draw_size(&m->rng, work->largest), work->may_fail);
    else if (s->block != NULL)
        model_free(m, s);
    else {
        s->size = draw_size(&m->rng, work->largest);
        model_alloc(m, s, work);
    }
    if (s->block != NULL)
        fill(s, i);
}

void heap_model_run(const struct ab_backend *backend, struct ab_heap *heap,
                    const struct heap_model_work *work)
{
    static struct model m;
    m = (struct model){.b = backend, .heap = heap};
    ab_rng_init(&m.rng, work->n_ops, work->largest);
    for (unsigned i = 0; i < work->n_ops; i++)
        model_op(&m, i, work);
    for (unsigned i = 0; i < N_SLOTS; i++)
        if (m.slots[i].block != NULL)
            model_free(&m, &m.slots[i]);
}

/* ---- threads: nothing is asserted in them, cmocka's jumps stay in the main one ---- */

struct crew {
    const struct ab_backend *b;
    struct ab_heap *heap;
    unsigned n_ops;
    size_t largest;
    struct slot mail[N_MAILBOXES]; /* any thread puts in, any takes out */
    pthread_mutex_t mutex;
    unsigned n_bad;
};

/* One of the crew: its heap is its own where the back end gives each thread one. */
struct shard {
    struct crew *crew;
    struct ab_heap *heap;
    uint32_t lane;
    struct slot own[N_THREAD_SLOTS];
};

static void crew_free(struct crew *c, struct ab_heap *heap, struct slot *s)
{
    if (s->block == NULL)
        return;
    bool is_small = c->b->usable_size != NULL &&
                    c->b->usable_size(heap, (ab_ref)s->block) < s->size;
    if (is_small || !is_intact(s, s->size))
        __atomic_add_fetch(&c->n_bad, 1, __ATOMIC_RELAXED);
    c->b->free(heap, (ab_ref)s->block, s->size);
    s->block = NULL;
}

static void crew_renew(struct crew *c, struct ab_heap *heap, struct ab_rng *rng, struct slot *s)
{
    size_t size = draw_size(rng, c->largest);
    ab_ref ref;
    if (s->block != NULL && ab_rng_below(rng, 4) == 0) {
        ref = c->b->resize(heap, (ab_ref)s->block, s->size, size);
    } else {
        crew_free(c, heap, s);
        ref = ab_rng_below(rng, 4) == 0 ? c->b->alloc_zeroed(heap, size) : c->b->alloc(heap, size);
    }
    if (ref == 0) {
        __atomic_add_fetch(&c->n_bad, 1, __ATOMIC_RELAXED);
        return;
    }
    s->block = (unsigned char *)ref;
    s->size = size;
    fill(s, (unsigned)ab_rng_below(rng, 1000000));
}

static void *crew_shard(void *arg)
{
    struct shard *m = arg;
    struct crew *c = m->crew;
    struct ab_rng rng;
    ab_rng_init(&rng, 99, m->lane);
    if (c->b->thread_enter != NULL && c->b->thread_enter(c->heap, m->lane, &m->heap) != 0)
        __atomic_add_fetch(&c->n_bad, 1, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < c->n_ops; i++) {
        struct slot *s = &m->own[ab_rng_below(&rng, N_THREAD_SLOTS)];
        if (ab_rng_below(&rng, 3) != 0) {
            crew_renew(c, m->heap, &rng, s);
            continue;
        }
        struct slot *mail = &c->mail[ab_rng_below(&rng, N_MAILBOXES)];
        pthread_mutex_lock(&c->mutex);
        struct slot swapped = *mail;
        *mail = *s;
        *s = swapped;
        pthread_mutex_unlock(&c->mutex);
    }
    for (unsigned i = 0; i < N_THREAD_SLOTS; i++)
        crew_free(c, m->heap, &m->own[i]);
    if (c->b->thread_leave != NULL)
        c->b->thread_leave(m->heap);
    return NULL;
}

void heap_model_run_threads(const struct ab_backend *backend, struct ab_heap *heap, unsigned n_ops,
                            size_t largest)
{
    static struct crew c;
    static struct shard shards[N_THREADS];
    pthread_t threads[N_THREADS];
    c = (struct crew){.b = backend,
                      .heap = heap,
                      .n_ops = n_ops,
                      .largest = largest,
                      .mutex = PTHREAD_MUTEX_INITIALIZER};
    for (unsigned i = 0; i < N_THREADS; i++) {
        shards[i] = (struct shard){.crew = &c, .heap = heap, .lane = i};
        assert_int_equal(pthread_create(&threads[i], NULL, crew_shard, &shards[i]), 0);
    }
    for (unsigned i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (unsigned i = 0; i < N_MAILBOXES; i++)
        crew_free(&c, heap, &c.mail[i]);
    assert_int_equal(c.n_bad, 0);
}

size_t heap_model_resident(const void *from, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n = 0;
    unsigned char resident;
    uintptr_t begin = ((uintptr_t)from + page - 1) & ~(page - 1);
    for (uintptr_t p = begin; p + page <= (uintptr_t)from + bytes; p += page) {
        assert_int_equal(mincore((void *)p, page, &resident), 0);
        n += (resident & 1) * page;
    }
    return n;
}

bool heap_model_asks_huge(const void *p)
{
    FILE *f = fopen("/proc/self/smaps", "r");
    char line[512];
    unsigned long from, to;
    bool is_here = false, asks = false;
    assert_non_null(f);
    while (fgets(line, sizeof line, f) != NULL) {
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            is_here = (uintptr_t)p >= from && (uintptr_t)p < to;
        else if (is_here && strncmp(line, "VmFlags:", 8) == 0)
            asks = strstr(line, " hg") != NULL;
    }
    fclose(f);
    return asks;
}
