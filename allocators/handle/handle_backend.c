/* SPDX-License-Identifier: MIT
 *
 * The handle arena as a back end, the only one whose refs are not addresses. A ref is the version
 * above the index, so that it is never 0. The slots hold the largest request of the workload, like
 * those of the pool.
 */
#include "allocators/glue.h"
#include "allocators/handle/handle.h"

_Static_assert(sizeof(ab_ref) == sizeof(struct ab_handle), "a ref holds a handle");

struct ab_heap {
    struct ab_lock lock;
    struct ab_handle_arena arena;
    size_t align; /* alignment of every value, in bytes */
};

enum { PARAM_CAPACITY, PARAM_SLOT, PARAM_VERSIONS, PARAM_THREADS, PARAM_COUNT };

/* Limit of the bytes of addresses if the capacity is a guess. */
#define GUESS_BYTES ((uint64_t)64 << 30)

static const struct ab_param params[PARAM_COUNT] = {
    [PARAM_CAPACITY] = AB_COUNT_ROW("capacity", 0, AB_HANDLE_CAPACITY_MAX,
                                    "maximum number of live values; 0 = the peak of the workload "
                                    "(with several lanes: the highest possible)"),
    [PARAM_SLOT] = AB_BYTES_ROW("slot", 0, (uint64_t)1 << 40,
                                "size of a value, larger requests fail; 0 = the largest request"),
    [PARAM_VERSIONS] = AB_COUNT_ROW("versions", 0, UINT32_MAX,
                                    "reuses of a slot before it is retired; 0 = the most "
                                    "possible, at least 2^31"),
    [PARAM_THREADS] = AB_LANE_LOCK_PARAM,
};

static struct ab_handle handle_of(ab_ref ref)
{
    return (struct ab_handle){(uint32_t)ref, (uint32_t)(ref >> 32)};
}

static ab_ref ref_of(struct ab_handle handle)
{
    return (ab_ref)handle.version << 32 | handle.index;
}

/* Returns the capacity. The live peak is the peak in the recorded order. Lanes that run in another
 * order can have more blocks live at a time, but never more than all. */
static uint64_t capacity_for(const struct ab_facts *f, uint64_t slot_bytes)
{
    uint64_t peak = f->live_peak_blocks > 0 ? f->live_peak_blocks : 1;
    uint64_t most = GUESS_BYTES / (slot_bytes + AB_HANDLE_ALIGN);
    if (f->lanes <= 1)
        return peak;
    most = most < AB_HANDLE_CAPACITY_MAX ? most : AB_HANDLE_CAPACITY_MAX;
    most = most < f->total_blocks ? most : f->total_blocks;
    return most > peak ? most : peak;
}

static int handle_open(const struct ab_open_args *args, struct ab_heap **out)
{
    const struct ab_facts *facts = args->facts;
    const uint64_t *values = args->values;
    struct ab_handle_options options = {
        .value_bytes = values[PARAM_SLOT] != 0 ? values[PARAM_SLOT] : facts->largest_bytes,
        .align = facts->largest_align,
        .capacity = values[PARAM_CAPACITY],
        .version_max = (uint32_t)values[PARAM_VERSIONS],
    };
    if (options.capacity == 0)
        options.capacity = capacity_for(facts, options.value_bytes);
    struct ab_heap *heap = ab_heap_map(sizeof *heap);
    if (heap == NULL)
        return errno;
    int error = ab_handle_arena_init(&heap->arena, &options);
    if (error != 0) {
        ab_heap_unmap(heap, sizeof *heap);
        return error;
    }
    heap->align = options.align < AB_HANDLE_ALIGN ? AB_HANDLE_ALIGN : options.align;
    ab_lane_lock_init(&heap->lock, values[PARAM_THREADS], facts->lanes);
    *out = heap;
    return 0;
}

static void handle_close(struct ab_heap *heap)
{
    ab_handle_arena_fini(&heap->arena);
    ab_heap_unmap(heap, sizeof *heap);
}

static inline ab_ref insert(struct ab_heap *heap, size_t size)
{
    struct ab_handle made;
    if (size > heap->arena.slot_bytes || ab_handle_insert(&heap->arena, &made) != 0)
        return 0;
    return ref_of(made);
}

static __attribute__((noinline)) ab_ref alloc_locked(struct ab_heap *heap, size_t size)
{
    pthread_mutex_lock(&heap->lock.mutex);
    ab_ref ref = insert(heap, size);
    pthread_mutex_unlock(&heap->lock.mutex);
    return ref;
}

static ab_ref handle_alloc(struct ab_heap *heap, size_t size)
{
    if (__builtin_expect(heap->lock.is_shared, 0))
        return alloc_locked(heap, size);
    return insert(heap, size);
}

/* Allocates like handle_alloc: every value is aligned to the largest alignment of the workload. */
static ab_ref handle_alloc_aligned(struct ab_heap *heap, size_t align, size_t size)
{
    return align <= heap->align ? handle_alloc(heap, size) : 0;
}

static ab_ref handle_alloc_zeroed(struct ab_heap *heap, size_t size)
{
    struct ab_handle made = {0, 0};
    if (size > heap->arena.slot_bytes)
        return 0;
    AB_LOCK_GUARD(&heap->lock);
    int error = ab_handle_insert_zeroed(&heap->arena, &made);
    return error == 0 ? ref_of(made) : 0;
}

static __attribute__((noinline)) void free_locked(struct ab_heap *heap, ab_ref ref)
{
    pthread_mutex_lock(&heap->lock.mutex);
    ab_handle_remove(&heap->arena, handle_of(ref));
    pthread_mutex_unlock(&heap->lock.mutex);
}

static void handle_free(struct ab_heap *heap, ab_ref ref, size_t size)
{
    (void)size;
    if (__builtin_expect(heap->lock.is_shared, 0))
        free_locked(heap, ref);
    else
        ab_handle_remove(&heap->arena, handle_of(ref)); /* a stale handle does nothing */
}

/* Resizes in place; the handle stays the same. */
static ab_ref handle_resize(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t new_size)
{
    (void)old_size;
    bool fits = new_size <= heap->arena.slot_bytes;
    return fits && ab_handle_is_live(&heap->arena, handle_of(ref)) ? ref : 0;
}

static size_t handle_usable_size(struct ab_heap *heap, ab_ref ref)
{
    (void)ref;
    return heap->arena.slot_bytes;
}

static void handle_reset(struct ab_heap *heap)
{
    AB_LOCK_GUARD(&heap->lock);
    ab_handle_flush(&heap->arena);
}

static void handle_purge(struct ab_heap *heap)
{
    AB_LOCK_GUARD(&heap->lock);
    ab_handle_purge(&heap->arena);
}

/* Returns the address of a value. Takes no lock: handle.h allows that, and a lane knows only
 * handles whose insertion it has seen. */
static void *handle_resolve(struct ab_heap *heap, ab_ref ref)
{
    return ab_handle_get_mut(&heap->arena, handle_of(ref));
}

/* Reports the figures. live_bytes counts whole slots, because the requested sizes are not
 * stored. */
static int handle_stats(struct ab_heap *heap, struct ab_heap_stats *out)
{
    AB_LOCK_GUARD(&heap->lock);
    const struct ab_handle_arena *arena = &heap->arena;
    *out = (struct ab_heap_stats){
        .reserved_bytes = arena->map_bytes,
        .committed_bytes = ab_handle_used_bytes(arena),
        .live_bytes = (uint64_t)arena->n_live * arena->slot_bytes,
        .metadata_bytes = sizeof *heap + ab_handle_word_bytes(arena),
        .os_calls = arena->n_os_calls,
    };
    return 0;
}

extern const struct ab_backend ab_handle_backend;
static const struct ab_backend *handle_variant(const uint64_t *values);

/* A free of a stale handle, or of one that was never given, is found by its version and changes
 * nothing. That costs nothing extra, because the version is compared anyway. */
#define TABLE(more_traits) \
    { \
        .abi = AB_BACKEND_ABI, .size = sizeof(struct ab_backend), .name = "handle", \
        .summary = "fixed number of equal slots addressed by index and version; detects stale " \
                   "handles", \
        .traits = AB_TRAIT_THREAD_SAFE | AB_TRAIT_REMOTE_FREE | AB_TRAIT_DETECTS_MISUSE | \
                  (more_traits), \
        .params = params, .n_params = PARAM_COUNT, .open = handle_open, .close = handle_close, \
        .alloc = handle_alloc, .alloc_aligned = handle_alloc_aligned, \
        .alloc_zeroed = handle_alloc_zeroed, .free = handle_free, .resize = handle_resize, \
        .usable_size = handle_usable_size, .reset = handle_reset, .purge = handle_purge, \
        .resolve = handle_resolve, .stats = handle_stats, .variant = handle_variant, \
    }

const struct ab_backend ab_handle_backend = TABLE(0);
static const struct ab_backend wearing = TABLE(AB_TRAIT_WEARS);

static const struct ab_backend *handle_variant(const uint64_t *values)
{
    return values[PARAM_VERSIONS] == 0 ? &ab_handle_backend : &wearing;
}
