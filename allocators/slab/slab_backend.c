/* SPDX-License-Identifier: MIT
 *
 * The slab allocator as a back end: slab_shared.h in each of its modes. The reservation is sized
 * from the facts, so that the memory of the system runs out before the addresses do. The hot path
 * makes one comparison more than the allocator itself. Everything that needs a lock, guards or
 * another heap is out of line.
 */
#include "allocators/glue.h"
#include "allocators/slab/slab_shared.h"

struct ab_heap {
    struct ab_slab_shared own;
};

enum {
    PARAM_KEEP,
    PARAM_SPARE,
    PARAM_RESERVE,
    PARAM_THREADS,
    PARAM_CLASSES,
    PARAM_SHARDS,
    PARAM_DEBUG,
    PARAM_HUGE,
    PARAM_COUNT
};

#define MIB ((uint64_t)1 << 20)

static const char *const thread_modes[] = {AB_THREADS_CHOICES, NULL};
static const char *const spacings[] = {"pow2", "fine", NULL};

static const struct ab_param params[PARAM_COUNT] = {
    [PARAM_KEEP] = AB_COUNT_ROW("keep", AB_SLAB_KEEP_USUAL, (uint64_t)1 << 40,
                                "empty slabs of 64 KiB kept for reuse; others are returned to the "
                                "system immediately"),
    [PARAM_SPARE] = AB_BYTES_ROW("spare", AB_SLAB_SPARE_USUAL, (uint64_t)1 << 46,
                                 "bytes of freed mappings (blocks over 4096 bytes) kept for "
                                 "reuse; 0 = a system call per block"),
    [PARAM_RESERVE] = AB_BYTES_ROW("reserve", 0, (uint64_t)1 << 46,
                                   "address space to reserve for slabs; 0 = the most that the "
                                   "workload can need"),
    [PARAM_THREADS] = AB_CHOICE_ROW("threads", thread_modes,
                                    "auto = a mutex with more than one lane, none = no locking, "
                                    "one lane only, local = one heap per lane, remote frees "
                                    "queued, sharded = several heaps with a mutex each"),
    [PARAM_CLASSES] = AB_CHOICE_ROW("classes", spacings,
                                    "pow2 = 10 powers of two, fine = 49 sizes with less rounding"),
    [PARAM_SHARDS] = AB_COUNT_ROW("shards", 0, 1024,
                                  "number of heaps with threads=sharded; 0 = one per lane"),
    [PARAM_DEBUG] = AB_DEBUG_PARAM,
    [PARAM_HUGE] = AB_BOOL_ROW("huge", 0,
                               "request huge pages, 2 MiB of slabs at a time: fewer TLB misses, "
                               "more memory"),
};

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* Returns the bytes to reserve. A class takes a new slab only when all its blocks are live, so that
 * it never has more than its own peak. The classes may peak at different times, and lanes may run
 * ahead of the recorded order. */
static uint64_t reserve_for(const struct ab_facts *f)
{
    double each = 8 + least((double)f->largest_align, (double)AB_SLAB_LARGEST);
    double total = 2.0 * (double)f->total_bytes + each * (double)f->total_blocks;
    double peak = 2.0 * (double)f->live_peak_bytes + each * (double)f->live_peak_blocks;
    double bytes = least(total, AB_SLAB_CLASSES_MAX * peak + f->lanes * 256.0 * (double)MIB);
    return (uint64_t)least(bytes, 0x1p40) + 64 * MIB;
}

/* Converts a limit that the user set, where 0 means none, to an option of struct
 * ab_slabs_options. */
static size_t bound_for(uint64_t value)
{
    return value == 0 ? AB_SLAB_KEEP_NOTHING : value;
}

static int slab_open(const struct ab_open_args *args, struct ab_heap **out)
{
    const uint64_t *values = args->values;
    const struct ab_facts *facts = args->facts;
    uint64_t reserve = values[PARAM_RESERVE] != 0 ? values[PARAM_RESERVE] : reserve_for(facts);
    struct ab_slab_shared_options options = {
        .slabs = {.reserve_bytes = reserve,
                  .keep_max = bound_for(values[PARAM_KEEP]),
                  .spare_max_bytes = bound_for(values[PARAM_SPARE]),
                  .spacing = (enum ab_slab_spacing)values[PARAM_CLASSES],
                  .huge = values[PARAM_HUGE] != 0}};
    int error = ab_threads_options(values[PARAM_THREADS], values[PARAM_SHARDS], facts->lanes,
                                   &options.threads);
    if (error != 0)
        return error;
    options.threads.is_guarded = values[PARAM_DEBUG] != 0;
    return ab_heap_given(ab_slab_shared_open(&options), out);
}

/* ---- calls with a lock or guards, and blocks of another heap ---- */

static void *raw_alloc(void *context, size_t align, size_t size, bool is_zeroed)
{
    return ab_slab_shared_alloc_slow(context, align, size, is_zeroed);
}

static void raw_free(void *context, void *block)
{
    ab_slab_shared_free_slow(context, block);
}

static bool owns(void *context, const void *block)
{
    return ab_slab_shared_owns(context, block);
}

static const struct ab_guard_below below = {
    .name = "slab", .alloc = raw_alloc, .free = raw_free, .owns = owns};

/* ---- hooks ---- */

AB_GROUP_HOOKS(ab_slab_shared)
AB_GUARDED_HOOKS(slab, below)

static ab_ref slab_alloc(struct ab_heap *heap, size_t size)
{
    if (__builtin_expect(size - 1 >= heap->own.shard.fast_max, 0))
        return slab_alloc_guarded(heap, 0, size, false);
    return (ab_ref)ab_slabs_alloc_from(&heap->own.slabs, ab_slab_class_of(&heap->own.slabs, size),
                                       size);
}

/* Frees a block. Ignores the size, because a slab knows its class. */
static void slab_free(struct ab_heap *heap, ab_ref ref, size_t size)
{
    (void)size;
    if (__builtin_expect(ref - heap->own.shard.own_base >= heap->own.shard.own_bytes, 0))
        slab_free_guarded(heap, ref);
    else
        ab_slabs_free_small(&heap->own.slabs, (struct ab_slab_block *)ref);
}

static ab_ref slab_resize(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t new_size)
{
    if (ab_heap_is_guarded(heap))
        return (ab_ref)ab_guard_resize(&below, heap, (void *)ref, new_size);
    return (ab_ref)ab_slab_shared_resize(&heap->own, (void *)ref, old_size, new_size);
}

static size_t slab_usable_size(struct ab_heap *heap, ab_ref ref)
{
    const void *block = (const void *)ref;
    return ab_heap_is_guarded(heap) ? ab_checked_size(block)
                                    : ab_slab_shared_usable(&heap->own, block);
}

/* Reports the figures. committed_bytes counts memory that may have pages, live_bytes whole blocks.
 * With threads=local, no other thread may be in a call. */
static int slab_stats(struct ab_heap *heap, struct ab_heap_stats *out)
{
    struct ab_slab_shared_sums sums = ab_slab_shared_sum(&heap->own);
    *out = (struct ab_heap_stats){
        .reserved_bytes = sums.reserved,
        .committed_bytes = sums.committed,
        .live_bytes = sums.live,
        .metadata_bytes = sums.metadata,
        .os_calls = sums.n_os_calls,
    };
    return 0;
}

extern const struct ab_backend ab_slab_backend;

const struct ab_backend ab_slab_backend = {
    .abi = AB_BACKEND_ABI,
    .size = sizeof(struct ab_backend),
    .name = "slab",
    .summary = "size classes 8 to 4096 in slabs of 64 KiB; larger blocks are mapped individually",
    .traits = AB_TRAIT_THREAD_SAFE | AB_TRAIT_REMOTE_FREE,
    .params = params,
    .n_params = PARAM_COUNT,
    .open = slab_open,
    .close = in_group_close,
    .alloc = slab_alloc,
    .alloc_aligned = slab_alloc_aligned,
    .alloc_zeroed = slab_alloc_zeroed,
    .free = slab_free,
    .resize = slab_resize,
    .usable_size = slab_usable_size,
    .reset = in_group_reset,
    .purge = in_group_purge,
    .stats = slab_stats,
    .thread_enter = in_group_thread_enter,
    .thread_leave = in_group_thread_leave,
};
