/* SPDX-License-Identifier: MIT
 *
 * The two forms of the paged allocator as one back end. `form=arena` is bump allocation in pages of
 * a pool; `form=pool` is the pool itself. They have different hooks and traits, so each has a
 * table. The region is sized from the facts; its pages come when they are written.
 */
#include "allocators/glue.h"
#include "allocators/paged/paged_arena.h"
#include "allocators/paged/paged_locked.h"

struct ab_heap {
    struct ab_paged_arena arena; /* unused by form=pool */
    struct ab_paged_locked own;
};

enum { PARAM_FORM, PARAM_POOL, PARAM_BLOCK, PARAM_THREADS, PARAM_COUNT };
enum { FORM_ARENA, FORM_POOL };

#define SLACK_BYTES ((uint64_t)64 << 20)
/* largest pool of a workload; must be below AB_PAGED_POOL_MAX */
#define LARGEST_POOL ((uint64_t)63 << 30)

static const char *const form_choices[] = {"arena", "pool", NULL};

static const struct ab_param params[PARAM_COUNT] = {
    [PARAM_FORM] = AB_CHOICE_ROW("form", form_choices,
                                 "arena = bump allocation in chunks of the pool, only the last "
                                 "block can be freed; pool = the pool itself, first fit"),
    [PARAM_POOL] = AB_BYTES_ROW("pool", 0, LARGEST_POOL,
                                "size of the pool, requests beyond it fail; 0 = what the workload "
                                "needs"),
    [PARAM_BLOCK] = AB_BYTES_ROW("block", 0, (uint64_t)1 << 30,
                                 "size of the chunks that an arena takes from the pool; 0 = 64 "
                                 "KiB"),
    [PARAM_THREADS] = AB_LANE_LOCK_PARAM,
};

/* Returns the size of the pool: factor × (bytes + what n blocks lose to headers and alignment) +
 * slack, within the limit of a pool. In an arena, the rest of a page that is too small for a
 * request wastes less than that request, so that the factor is 2. Holes between live blocks have no
 * such bound; the factor for the pool is 16. */
static uint64_t pool_for(const struct ab_facts *f, bool is_arena, uint64_t block_bytes)
{
    uint64_t n = is_arena ? f->total_blocks : f->live_peak_blocks;
    uint64_t bytes = is_arena ? f->total_bytes : f->live_peak_bytes, lost, all;
    uint64_t each = 64 + (f->largest_align > AB_PAGED_ALIGN ? 2 * f->largest_align : 0);
    if (__builtin_mul_overflow(n, each, &lost) || __builtin_add_overflow(bytes, lost, &all) ||
        __builtin_add_overflow(all, f->largest_bytes, &all) ||
        __builtin_mul_overflow(all, is_arena ? 2 : 16, &all) ||
        __builtin_add_overflow(all, SLACK_BYTES + 2 * block_bytes, &all) || all > LARGEST_POOL)
        return LARGEST_POOL;
    return all;
}

static int open_parts(struct ab_heap *heap, const struct ab_open_args *args)
{
    const uint64_t *values = args->values;
    bool is_arena = values[PARAM_FORM] == FORM_ARENA;
    uint64_t bytes = values[PARAM_POOL];
    if (bytes == 0)
        bytes = pool_for(args->facts, is_arena, values[PARAM_BLOCK]);
    int error = ab_paged_locked_init(&heap->own, "heap", bytes);
    if (error != 0 || !is_arena)
        return error;
    error = ab_paged_arena_init(&heap->arena, &heap->own.pool, values[PARAM_BLOCK], 0);
    if (error != 0)
        ab_paged_locked_fini(&heap->own);
    return error;
}

static int paged_open(const struct ab_open_args *args, struct ab_heap **out)
{
    struct ab_heap *heap = ab_heap_map(sizeof *heap);
    if (heap == NULL)
        return errno;
    int error = open_parts(heap, args);
    if (error != 0) {
        ab_heap_unmap(heap, sizeof *heap);
        return error;
    }
    ab_lane_lock_init(&heap->own.lock, args->values[PARAM_THREADS], args->facts->lanes);
    *out = heap;
    return 0;
}

static void paged_close(struct ab_heap *heap)
{
    if (heap->arena.top != NULL)
        ab_paged_arena_fini(&heap->arena);
    ab_paged_locked_fini(&heap->own);
    ab_heap_unmap(heap, sizeof *heap);
}

static void paged_purge(struct ab_heap *heap)
{
    ab_paged_locked_purge(&heap->own);
}

/* ---- form=arena ---- */

static __attribute__((noinline)) ab_ref arena_alloc_locked(struct ab_heap *heap, size_t size)
{
    pthread_mutex_lock(&heap->own.lock.mutex);
    void *block = ab_paged_arena_alloc(&heap->arena, size);
    pthread_mutex_unlock(&heap->own.lock.mutex);
    return (ab_ref)block;
}

static ab_ref arena_alloc(struct ab_heap *heap, size_t size)
{
    if (__builtin_expect(heap->own.lock.is_shared, 0))
        return arena_alloc_locked(heap, size);
    return (ab_ref)ab_paged_arena_alloc(&heap->arena, size);
}

static ab_ref arena_alloc_aligned(struct ab_heap *heap, size_t align, size_t size)
{
    AB_LOCK_GUARD(&heap->own.lock);
    return (ab_ref)ab_paged_arena_alloc_aligned(&heap->arena, align, size);
}

static ab_ref arena_alloc_zeroed(struct ab_heap *heap, size_t size)
{
    AB_LOCK_GUARD(&heap->own.lock);
    return (ab_ref)ab_paged_arena_alloc_zeroed(&heap->arena, size);
}

static void arena_free(struct ab_heap *heap, ab_ref ref, size_t size)
{
    AB_LOCK_GUARD(&heap->own.lock);
    ab_paged_arena_pop(&heap->arena, (void *)ref, size, 0);
}

static ab_ref arena_resize(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t new_size)
{
    AB_LOCK_GUARD(&heap->own.lock);
    return (ab_ref)ab_paged_arena_resize(&heap->arena, (void *)ref, old_size, new_size, 0);
}

static void arena_reset(struct ab_heap *heap)
{
    AB_LOCK_GUARD(&heap->own.lock);
    ab_paged_arena_clear(&heap->arena);
}

static uint64_t arena_mark(struct ab_heap *heap)
{
    AB_LOCK_GUARD(&heap->own.lock);
    return ab_paged_arena_save(&heap->arena).place;
}

static void arena_release(struct ab_heap *heap, uint64_t mark)
{
    AB_LOCK_GUARD(&heap->own.lock);
    ab_paged_arena_restore_place(&heap->arena, mark);
}

/* Reports the figures. The live bytes are unknown, because most frees do nothing. */
static int arena_stats(struct ab_heap *heap, struct ab_heap_stats *out)
{
    AB_LOCK_GUARD(&heap->own.lock);
    *out = (struct ab_heap_stats){
        .reserved_bytes = ab_paged_pool_size(&heap->own.pool),
        .committed_bytes = heap->own.pool.live_bytes,
        .live_bytes = AB_UNKNOWN,
        .metadata_bytes = sizeof *heap +
                          heap->arena.n_pages * (sizeof(struct ab_paged_page) + AB_PAGED_ALIGN),
        .os_calls = heap->own.pool.n_os_calls,
    };
    return 0;
}

/* ---- form=pool ---- */

static ab_ref pool_alloc(struct ab_heap *heap, size_t size)
{
    return (ab_ref)ab_paged_locked_alloc(&heap->own, size, 0);
}

static ab_ref pool_alloc_aligned(struct ab_heap *heap, size_t align, size_t size)
{
    return (ab_ref)ab_paged_locked_alloc_aligned(&heap->own, align, size, 0);
}

static ab_ref pool_alloc_zeroed(struct ab_heap *heap, size_t size)
{
    return (ab_ref)ab_paged_locked_alloc_zeroed(&heap->own, size, 0);
}

static void pool_free(struct ab_heap *heap, ab_ref ref, size_t size)
{
    (void)size;
    ab_paged_locked_free(&heap->own, (void *)ref);
}

static ab_ref pool_resize(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t new_size)
{
    (void)old_size;
    return (ab_ref)ab_paged_locked_resize(&heap->own, (void *)ref, new_size);
}

static size_t pool_usable_size(struct ab_heap *heap, ab_ref ref)
{
    (void)heap;
    return ab_paged_locked_usable((const void *)ref);
}

static void pool_reset(struct ab_heap *heap)
{
    ab_paged_locked_reset(&heap->own);
}

/* Reports the figures. live_bytes counts whole blocks, because the requested sizes are not stored.
 * committed_bytes is the end of the memory that was ever written; a purge makes holes in it. */
static int pool_stats(struct ab_heap *heap, struct ab_heap_stats *out)
{
    AB_LOCK_GUARD(&heap->own.lock);
    const struct ab_paged_pool *pool = &heap->own.pool;
    *out = (struct ab_heap_stats){
        .reserved_bytes = ab_paged_pool_size(pool),
        .committed_bytes = (uint64_t)(pool->dirty - pool->base),
        .live_bytes = pool->live_bytes - pool->live_blocks * AB_PAGED_ALIGN,
        .metadata_bytes = sizeof *heap + pool->live_blocks * AB_PAGED_ALIGN,
        .os_calls = pool->n_os_calls,
    };
    return 0;
}

/* ---- the tables ---- */

static const struct ab_backend *paged_variant(const uint64_t *values);

#define COMMON \
    .abi = AB_BACKEND_ABI, .size = sizeof(struct ab_backend), .name = "paged", \
    .summary = "arena of linked pages over a first-fit memory pool, or the pool itself", \
    .params = params, .n_params = PARAM_COUNT, .open = paged_open, .close = paged_close, \
    .purge = paged_purge, .variant = paged_variant

extern const struct ab_backend ab_paged_backend;

const struct ab_backend ab_paged_backend = {
    COMMON,
    .traits = AB_TRAIT_NO_FREE | AB_TRAIT_THREAD_SAFE | AB_TRAIT_REMOTE_FREE,
    .alloc = arena_alloc,
    .alloc_aligned = arena_alloc_aligned,
    .alloc_zeroed = arena_alloc_zeroed,
    .free = arena_free,
    .resize = arena_resize,
    .reset = arena_reset,
    .mark = arena_mark,
    .release = arena_release,
    .stats = arena_stats,
};

static const struct ab_backend pool_form = {
    COMMON,
    .traits = AB_TRAIT_THREAD_SAFE | AB_TRAIT_REMOTE_FREE,
    .alloc = pool_alloc,
    .alloc_aligned = pool_alloc_aligned,
    .alloc_zeroed = pool_alloc_zeroed,
    .free = pool_free,
    .resize = pool_resize,
    .usable_size = pool_usable_size,
    .reset = pool_reset,
    .stats = pool_stats,
};

static const struct ab_backend *paged_variant(const uint64_t *values)
{
    return values[PARAM_FORM] == FORM_POOL ? &pool_form : &ab_paged_backend;
}
