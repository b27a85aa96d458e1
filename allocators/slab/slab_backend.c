/* SPDX-License-Identifier: MIT
 *
 * The slab allocator as a back end. The reservation is sized from the facts so that it cannot run
 * out before the system's memory does.
 */
#include "allocators/ab_backend.h"
#include "allocators/lane_lock.h"
#include "allocators/os_map.h"
#include "allocators/slab/slab.h"

struct ab_heap {
    struct ab_slabs slabs;
    struct ab_lane_lock lock;
};

enum { PARAM_KEEP, PARAM_SPARE, PARAM_RESERVE, PARAM_THREADS, PARAM_COUNT };

#define MIB ((uint64_t)1 << 20)

static const struct ab_param params[PARAM_COUNT] = {
    [PARAM_KEEP] = {.name = "keep",
                    .help = "empty slabs of 64 KiB that keep their pages for reuse; more are "
                            "returned to the system at once",
                    .type = AB_PARAM_COUNT,
                    .def = 1024,
                    .max = (uint64_t)1 << 40},
    [PARAM_SPARE] = {.name = "spare",
                     .help = "bytes of mappings of freed blocks beyond 4096 bytes kept for "
                             "reuse; 0 = each block a system call",
                     .type = AB_PARAM_BYTES,
                     .def = 4 * MIB,
                     .max = (uint64_t)1 << 46},
    [PARAM_RESERVE] = {.name = "reserve",
                       .help = "addresses to reserve for slabs; 0 = all that the work can need",
                       .type = AB_PARAM_BYTES,
                       .max = (uint64_t)1 << 46},
    [PARAM_THREADS] = AB_LANE_LOCK_PARAM,
};

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* A class takes a slab only when all its blocks are live, so it never has more than its own peak
 * needed; all ten could peak at other times. Lanes may run ahead of the recorded order. */
static uint64_t reserve_for(const struct ab_facts *f)
{
    double each = 8 + least((double)f->largest_align, (double)AB_SLAB_LARGEST);
    double total = 2.0 * (double)f->total_bytes + each * (double)f->total_blocks;
    double peak = 2.0 * (double)f->live_peak_bytes + each * (double)f->live_peak_blocks;
    double bytes = least(total, AB_SLAB_CLASSES * peak + f->lanes * 256.0 * (double)MIB);
    return (uint64_t)least(bytes, 0x1p40) + 64 * MIB;
}

static int slab_open(const struct ab_open_args *args, struct ab_heap **out)
{
    const uint64_t *values = args->values;
    size_t page = ab_os_page_bytes(), heap_bytes = ab_os_round_up(sizeof(struct ab_heap), page);
    uint64_t reserve = values[PARAM_RESERVE] != 0 ? values[PARAM_RESERVE]
                                                  : reserve_for(args->facts);
    struct ab_heap *heap = ab_os_map(heap_bytes, page, PROT_READ | PROT_WRITE);
    if (heap == NULL)
        return errno;
    int error = ab_slabs_init(&heap->slabs, reserve, values[PARAM_KEEP], values[PARAM_SPARE]);
    if (error != 0) {
        munmap(heap, heap_bytes);
        return error;
    }
    ab_lane_lock_init(&heap->lock, values[PARAM_THREADS], args->facts->lanes);
    *out = heap;
    return 0;
}

static void slab_close(struct ab_heap *heap)
{
    ab_slabs_fini(&heap->slabs);
    munmap(heap, ab_os_round_up(sizeof *heap, ab_os_page_bytes()));
}

static __attribute__((noinline)) ab_ref alloc_locked(struct ab_heap *heap, size_t size)
{
    pthread_mutex_lock(&heap->lock.mutex);
    void *block = ab_slabs_alloc(&heap->slabs, size);
    pthread_mutex_unlock(&heap->lock.mutex);
    return (ab_ref)block;
}

static ab_ref slab_alloc(struct ab_heap *heap, size_t size)
{
    if (__builtin_expect(heap->lock.is_shared, 0))
        return alloc_locked(heap, size);
    return (ab_ref)ab_slabs_alloc(&heap->slabs, size);
}

static __attribute__((noinline)) void free_locked(struct ab_heap *heap, ab_ref ref)
{
    pthread_mutex_lock(&heap->lock.mutex);
    ab_slabs_free(&heap->slabs, (void *)ref);
    pthread_mutex_unlock(&heap->lock.mutex);
}

/* The size is not needed: a slab knows its class. */
static void slab_free(struct ab_heap *heap, ab_ref ref, size_t size)
{
    (void)size;
    if (__builtin_expect(heap->lock.is_shared, 0))
        free_locked(heap, ref);
    else
        ab_slabs_free(&heap->slabs, (void *)ref);
}

static ab_ref slab_alloc_aligned(struct ab_heap *heap, size_t align, size_t size)
{
    ab_lane_lock(&heap->lock);
    void *block = ab_slabs_alloc_aligned(&heap->slabs, align, size);
    ab_lane_unlock(&heap->lock);
    return (ab_ref)block;
}

static ab_ref slab_alloc_zeroed(struct ab_heap *heap, size_t size)
{
    ab_lane_lock(&heap->lock);
    void *block = ab_slabs_alloc_zeroed(&heap->slabs, size);
    ab_lane_unlock(&heap->lock);
    return (ab_ref)block;
}

static ab_ref slab_resize(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t new_size)
{
    ab_lane_lock(&heap->lock);
    void *block = ab_slabs_resize(&heap->slabs, (void *)ref, old_size, new_size);
    ab_lane_unlock(&heap->lock);
    return (ab_ref)block;
}

/* No lock: nothing that it reads changes while the block lives, but for the caller's own resize. */
static size_t slab_usable_size(struct ab_heap *heap, ab_ref ref)
{
    return ab_slabs_usable(&heap->slabs, (const void *)ref);
}

static void slab_reset(struct ab_heap *heap)
{
    ab_lane_lock(&heap->lock);
    ab_slabs_reset(&heap->slabs);
    ab_lane_unlock(&heap->lock);
}

static void slab_purge(struct ab_heap *heap)
{
    ab_lane_lock(&heap->lock);
    ab_slabs_purge(&heap->slabs);
    ab_lane_unlock(&heap->lock);
}

/* Committed: what may have pages. Live bytes are those of whole blocks. */
static int slab_stats(struct ab_heap *heap, struct ab_heap_stats *out)
{
    ab_lane_lock(&heap->lock);
    const struct ab_slabs *s = &heap->slabs;
    size_t mapped = s->large_map_bytes + s->spare_bytes;
    *out = (struct ab_heap_stats){
        .reserved_bytes = s->span_bytes + mapped,
        .committed_bytes = ((s->n_fresh - s->n_returned) << AB_SLAB_LOG2) + mapped,
        .live_bytes = ab_slabs_live(s),
        .metadata_bytes = sizeof *heap + s->n_fresh * sizeof(struct ab_slab) +
                          s->n_large * sizeof(struct ab_slab_large),
        .os_calls = s->n_os_calls,
    };
    ab_lane_unlock(&heap->lock);
    return 0;
}

extern const struct ab_backend ab_slab_backend;

const struct ab_backend ab_slab_backend = {
    .abi = AB_BACKEND_ABI,
    .size = sizeof(struct ab_backend),
    .name = "slab",
    .summary = "powers of two from slabs of 64 KiB; above 4096 bytes a mapping each",
    .traits = AB_TRAIT_THREAD_SAFE | AB_TRAIT_REMOTE_FREE,
    .params = params,
    .n_params = PARAM_COUNT,
    .open = slab_open,
    .close = slab_close,
    .alloc = slab_alloc,
    .alloc_aligned = slab_alloc_aligned,
    .alloc_zeroed = slab_alloc_zeroed,
    .free = slab_free,
    .resize = slab_resize,
    .usable_size = slab_usable_size,
    .reset = slab_reset,
    .purge = slab_purge,
    .stats = slab_stats,
};
