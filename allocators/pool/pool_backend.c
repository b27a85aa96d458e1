/* SPDX-License-Identifier: MIT
 *
 * The pool as a back end. Its slots hold the largest request to come, so it serves mixed sizes
 * too: that is why it does not declare AB_TRAIT_FIXED_SIZE. What that wastes, usable_size says.
 */
#include "allocators/ab_backend.h"
#include "allocators/lane_lock.h"
#include "allocators/os_map.h"
#include "allocators/pool/pool.h"

struct ab_heap {
    struct ab_lane_lock lock;
    struct ab_pool pool;
};

enum { PARAM_SLOT, PARAM_SLOTS, PARAM_GROW, PARAM_THREADS, PARAM_COUNT };

#define CACHE_LINE_BYTES ((uint64_t)64)

static const struct ab_param params[PARAM_COUNT] = {
    [PARAM_SLOT] = {.name = "slot",
                    .help = "size of a slot, larger requests fail; 0 = the largest request",
                    .type = AB_PARAM_BYTES,
                    .max = (uint64_t)1 << 40},
    [PARAM_SLOTS] = {.name = "slots",
                     .help = "slots to begin with; 0 = 64 KiB of them, or with grow=off as many "
                             "as the work has live at once",
                     .type = AB_PARAM_COUNT,
                     .max = (uint64_t)1 << 40},
    [PARAM_GROW] = {.name = "grow",
                    .help = "take more memory when all slots are used; off = fail",
                    .type = AB_PARAM_BOOL,
                    .def = 1,
                    .max = 1},
    [PARAM_THREADS] = AB_LANE_LOCK_PARAM,
};

/* Slots a multiple of a page apart begin in the same few cache sets; one line more spreads them.
 * Not when alignment was asked for, nor against an explicit slot=. */
static uint64_t slot_for(const struct ab_facts *f, uint64_t page)
{
    uint64_t slot = f->largest_bytes;
    if (slot != 0 && slot % page == 0 && f->largest_align <= CACHE_LINE_BYTES)
        slot += CACHE_LINE_BYTES;
    return slot;
}

static int pool_open(const struct ab_open_args *args, struct ab_heap **out)
{
    const struct ab_facts *facts = args->facts;
    const uint64_t *values = args->values;
    size_t page = ab_os_page_bytes(), heap_bytes = ab_os_round_up(sizeof(struct ab_heap), page);
    struct ab_pool_options options = {
        .slot_bytes = values[PARAM_SLOT] != 0 ? values[PARAM_SLOT] : slot_for(facts, page),
        .align = facts->largest_align,
        .n_slots = values[PARAM_SLOTS],
        .grows = values[PARAM_GROW] != 0,
    };
    if (options.n_slots == 0 && !options.grows)
        options.n_slots = facts->live_peak_blocks;
    struct ab_heap *heap = ab_os_map(heap_bytes, page, PROT_READ | PROT_WRITE);
    if (heap == NULL)
        return errno;
    int error = ab_pool_init(&heap->pool, &options);
    if (error != 0) {
        munmap(heap, heap_bytes);
        return error;
    }
    ab_lane_lock_init(&heap->lock, values[PARAM_THREADS], facts->lanes);
    *out = heap;
    return 0;
}

static void pool_close(struct ab_heap *heap)
{
    ab_pool_fini(&heap->pool);
    munmap(heap, ab_os_round_up(sizeof *heap, ab_os_page_bytes()));
}

static __attribute__((noinline)) ab_ref alloc_locked(struct ab_heap *heap, size_t size)
{
    pthread_mutex_lock(&heap->lock.mutex);
    void *block = ab_pool_alloc(&heap->pool, size);
    pthread_mutex_unlock(&heap->lock.mutex);
    return (ab_ref)block;
}

static ab_ref pool_alloc(struct ab_heap *heap, size_t size)
{
    if (__builtin_expect(heap->lock.is_shared, 0))
        return alloc_locked(heap, size);
    return (ab_ref)ab_pool_alloc(&heap->pool, size);
}

static __attribute__((noinline)) void free_locked(struct ab_heap *heap, ab_ref ref)
{
    pthread_mutex_lock(&heap->lock.mutex);
    ab_pool_free(&heap->pool, (void *)ref);
    pthread_mutex_unlock(&heap->lock.mutex);
}

static void pool_free(struct ab_heap *heap, ab_ref ref, size_t size)
{
    (void)size;
    if (__builtin_expect(heap->lock.is_shared, 0))
        free_locked(heap, ref);
    else
        ab_pool_free(&heap->pool, (void *)ref);
}

static ab_ref pool_alloc_aligned(struct ab_heap *heap, size_t align, size_t size)
{
    ab_lane_lock(&heap->lock);
    void *block = ab_pool_alloc_aligned(&heap->pool, align, size);
    ab_lane_unlock(&heap->lock);
    return (ab_ref)block;
}

static ab_ref pool_alloc_zeroed(struct ab_heap *heap, size_t size)
{
    ab_lane_lock(&heap->lock);
    void *block = ab_pool_alloc_zeroed(&heap->pool, size);
    ab_lane_unlock(&heap->lock);
    return (ab_ref)block;
}

/* No lock: the size of a slot never changes. */
static ab_ref pool_resize(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t new_size)
{
    (void)old_size;
    return new_size <= heap->pool.slot_bytes ? ref : 0;
}

static size_t pool_usable_size(struct ab_heap *heap, ab_ref ref)
{
    (void)ref;
    return heap->pool.slot_bytes;
}

static void pool_reset(struct ab_heap *heap)
{
    ab_lane_lock(&heap->lock);
    ab_pool_reset(&heap->pool);
    ab_lane_unlock(&heap->lock);
}

static void pool_purge(struct ab_heap *heap)
{
    ab_lane_lock(&heap->lock);
    ab_pool_purge(&heap->pool);
    ab_lane_unlock(&heap->lock);
}

/* Live bytes are those of whole slots: what was asked for is not kept. */
static int pool_stats(struct ab_heap *heap, struct ab_heap_stats *out)
{
    ab_lane_lock(&heap->lock);
    const struct ab_pool *pool = &heap->pool;
    *out = (struct ab_heap_stats){
        .reserved_bytes = ab_pool_mapped(pool),
        .committed_bytes = ab_pool_used(pool),
        .live_bytes = pool->n_live * pool->slot_bytes,
        .metadata_bytes = sizeof *heap,
        .os_calls = pool->n_os_calls,
    };
    ab_lane_unlock(&heap->lock);
    return 0;
}

extern const struct ab_backend ab_pool_backend;

const struct ab_backend ab_pool_backend = {
    .abi = AB_BACKEND_ABI,
    .size = sizeof(struct ab_backend),
    .name = "pool",
    .summary = "equal slots as large as the largest request, free list inside the free slots",
    .traits = AB_TRAIT_THREAD_SAFE | AB_TRAIT_REMOTE_FREE,
    .params = params,
    .n_params = PARAM_COUNT,
    .open = pool_open,
    .close = pool_close,
    .alloc = pool_alloc,
    .alloc_aligned = pool_alloc_aligned,
    .alloc_zeroed = pool_alloc_zeroed,
    .free = pool_free,
    .resize = pool_resize,
    .usable_size = pool_usable_size,
    .reset = pool_reset,
    .purge = pool_purge,
    .stats = pool_stats,
};
