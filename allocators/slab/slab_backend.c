/* SPDX-License-Identifier: MIT
 *
 * The slab allocator as a back end: alone, or as shards. The reservation is sized from the
 * facts so that it cannot run out before the system's memory does. The hot path asks one question
 * more than the allocator itself; whatever needs a lock, guards or another shard is out of line.
 */
#include "allocators/slab/slab_backend.h"
#include "allocators/ab_backend.h"
#include "allocators/common/pages.h"
#include "allocators/params.h"
#include "allocators/shards/shards.h"
#include "allocators/slab/slab.h"

#include <errno.h>

struct ab_heap {
    struct ab_shard shard;
    struct ab_slabs slabs;
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

static const char *const thread_modes[] = {AB_SHARDS_MODES, NULL};
static const char *const spacings[] = {"pow2", "fine", NULL};

static const struct ab_param params[PARAM_COUNT] = {
    [PARAM_KEEP] = AB_COUNT_ROW("keep", 1024, (uint64_t)1 << 40,
                                "empty slabs of 64 KiB kept for reuse; others are returned to the "
                                "system immediately"),
    [PARAM_SPARE] = AB_BYTES_ROW("spare", 4 * MIB, (uint64_t)1 << 46,
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
    [PARAM_DEBUG] = AB_SHARDS_DEBUG_PARAM,
    [PARAM_HUGE] = AB_BOOL_ROW("huge", 0,
                               "request huge pages, 2 MiB of slabs at a time: fewer TLB misses, "
                               "more memory"),
};

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* A class takes a slab only when all its blocks are live, so it never has more than its own peak
 * needed; all could peak at other times. Lanes may run ahead of the recorded order. */
static uint64_t reserve_for(const struct ab_facts *f)
{
    double each = 8 + least((double)f->largest_align, (double)AB_SLAB_LARGEST);
    double total = 2.0 * (double)f->total_bytes + each * (double)f->total_blocks;
    double peak = 2.0 * (double)f->live_peak_bytes + each * (double)f->live_peak_blocks;
    double bytes = least(total, AB_SLAB_CLASSES_MAX * peak + f->lanes * 256.0 * (double)MIB);
    return (uint64_t)least(bytes, 0x1p40) + 64 * MIB;
}

static struct ab_heap *heap_at(const struct ab_shards *shards, uint32_t index)
{
    return (struct ab_heap *)ab_shards_at(shards, index);
}

static struct ab_heap *heap_of(struct ab_slabs *slabs)
{
    return (struct ab_heap *)((char *)slabs - offsetof(struct ab_heap, slabs));
}

/* What other threads freed of this heap's blocks. */
static bool collect(struct ab_slabs *slabs)
{
    struct ab_shards_link *chain = ab_shards_take(&heap_of(slabs)->shard);
    if (chain == NULL)
        return false;
    while (chain != NULL)
        ab_slabs_free(slabs, ab_shards_pop(&chain));
    return true;
}

/* Pages are given back once the call is through with the lists. */
static void unlock(struct ab_heap *heap)
{
    if (heap->slabs.leaving != NULL)
        ab_slabs_let_go(&heap->slabs);
    ab_shard_unlock(&heap->shard);
}

static void free_own(struct ab_shard *owner, void *block)
{
    struct ab_heap *heap = (struct ab_heap *)owner;
    ab_slabs_free(&heap->slabs, block);
    if (heap->slabs.leaving != NULL)
        ab_slabs_let_go(&heap->slabs);
}

static int init_heap(struct ab_shards *shards, struct ab_heap *heap,
                     struct ab_slabs_options options, bool is_debug)
{
    if (shards->range != NULL) {
        options.range = ab_shards_span(shards, &heap->shard);
        options.reserve_bytes = (size_t)1 << shards->span_log2;
    }
    int error = ab_slabs_init(&heap->slabs, &options);
    if (error != 0)
        return error;
    ab_shard_set_guarded(&heap->shard, is_debug);
    heap->shard.own_base = (uintptr_t)heap->slabs.base;
    heap->shard.own_bytes = heap->shard.is_plain ? heap->slabs.span_bytes : 0;
    heap->shard.fast_max = heap->shard.is_plain ? AB_SLAB_LARGEST : 0;
    heap->slabs.mutex = heap->shard.is_plain ? NULL : &heap->shard.mutex;
    heap->slabs.collect = shards->mode == AB_SHARDS_LOCAL && heap->shard.is_plain ? collect : NULL;
    return 0;
}

static void close_shards(struct ab_shards *shards, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        heap_at(shards, i)->slabs.mutex = NULL; /* no other thread is there any more */
        ab_slabs_fini(&heap_at(shards, i)->slabs);
    }
    ab_shards_close(shards);
}

static int slab_open(const struct ab_open_args *args, struct ab_heap **out)
{
    const uint64_t *values = args->values;
    const struct ab_facts *facts = args->facts;
    uint64_t reserve = values[PARAM_RESERVE] != 0 ? values[PARAM_RESERVE] : reserve_for(facts);
    struct ab_shards *shards = ab_shards_open(
        &(struct ab_shards_options){.mode = (enum ab_shards_mode)values[PARAM_THREADS],
                                    .lanes = facts->lanes,
                                    .shards = (uint32_t)values[PARAM_SHARDS],
                                    .shard_bytes = sizeof(struct ab_heap),
                                    .span_bytes = reserve,
                                    .free_own = free_own});
    if (shards == NULL)
        return errno;
    struct ab_slabs_options options = {.reserve_bytes = reserve,
                                       .keep_max = (values[PARAM_KEEP] + shards->n_shards - 1) /
                                                   shards->n_shards,
                                       .spare_max_bytes = values[PARAM_SPARE] / shards->n_shards,
                                       .spacing = (enum ab_slab_spacing)values[PARAM_CLASSES],
                                       .huge = values[PARAM_HUGE] != 0};
    for (uint32_t i = 0; i < shards->n_shards; i++) {
        int error = init_heap(shards, heap_at(shards, i), options, values[PARAM_DEBUG] != 0);
        if (error != 0) {
            close_shards(shards, i);
            return error;
        }
    }
    *out = heap_at(shards, 0);
    return 0;
}

static void slab_close(struct ab_heap *heap)
{
    close_shards(heap->shard.shards, heap->shard.shards->n_shards);
}

/* ---- with a lock, with guards, or of another shard ---- */

static struct ab_heap *owner_of(struct ab_heap *heap, const void *block)
{
    struct ab_shard *owner = ab_shards_owner(heap->shard.shards, block);
    if (owner != NULL)
        return (struct ab_heap *)owner;
    return heap_of(((const struct ab_slab_large *)block - 1)->home);
}

static void *raw_alloc(void *context, size_t align, size_t size, bool is_zeroed)
{
    struct ab_heap *heap = context;
    void *block;
    ab_shard_lock(&heap->shard);
    if (is_zeroed)
        block = ab_slabs_alloc_zeroed(&heap->slabs, size);
    else if (align > 0)
        block = ab_slabs_alloc_aligned(&heap->slabs, align, size);
    else
        block = ab_slabs_alloc(&heap->slabs, size);
    unlock(heap);
    return block;
}

static void raw_free(void *context, void *block)
{
    struct ab_heap *heap = context, *owner = owner_of(heap, block);
    ab_shards_free(&heap->shard, &owner->shard, block, !ab_slabs_is_small(&owner->slabs, block));
}

/* By address where there is one, else whoever has a large block there. */
static bool owns(void *context, const void *block)
{
    const struct ab_shards *shards = ((struct ab_heap *)context)->shard.shards;
    bool is_owned = false;
    for (uint32_t i = 0; i < shards->n_shards && !is_owned; i++) {
        struct ab_heap *heap = heap_at(shards, i);
        ab_shard_lock(&heap->shard);
        is_owned = ab_slabs_owns(&heap->slabs, block);
        ab_shard_unlock(&heap->shard);
    }
    return is_owned;
}

static const struct ab_guard_below below = {
    .name = "slab", .alloc = raw_alloc, .free = raw_free, .owns = owns};

/* A block of another thread: a new one here, and the old one goes home. */
static void *take_over(struct ab_heap *heap, struct ab_heap *owner, void *block, size_t old_size,
                       size_t new_size)
{
    size_t usable = ab_slabs_usable(&owner->slabs, block);
    if (new_size <= usable && new_size > usable / 2)
        return block;
    void *copy = raw_alloc(heap, 0, new_size, false);
    if (copy == NULL)
        return NULL;
    memcpy(copy, block, old_size < new_size ? old_size : new_size);
    raw_free(heap, block);
    return copy;
}

static void *raw_resize(struct ab_heap *heap, void *block, size_t old_size, size_t new_size)
{
    struct ab_heap *owner = owner_of(heap, block);
    if (owner != heap && owner->shard.is_plain)
        return take_over(heap, owner, block, old_size, new_size);
    ab_shard_lock(&owner->shard);
    void *resized = ab_slabs_resize(&owner->slabs, block, old_size, new_size);
    unlock(owner);
    return resized;
}

/* ---- hooks ---- */

static ab_ref slab_alloc(struct ab_heap *heap, size_t size)
{
    if (__builtin_expect(size - 1 >= heap->shard.fast_max, 0))
        return ab_shards_special_alloc(&below, heap, 0, size, false);
    return (ab_ref)ab_slabs_alloc_from(&heap->slabs, ab_slab_class_of(&heap->slabs, size), size);
}

/* The size is not needed: a slab knows its class. */
static void slab_free(struct ab_heap *heap, ab_ref ref, size_t size)
{
    (void)size;
    if (__builtin_expect(ref - heap->shard.own_base >= heap->shard.own_bytes, 0))
        ab_shards_special_free(&below, heap, ref);
    else
        ab_slabs_free_small(&heap->slabs, (struct ab_slab_block *)ref);
}

static ab_ref slab_alloc_aligned(struct ab_heap *heap, size_t align, size_t size)
{
    return ab_shards_special_alloc(&below, heap, align, size, false);
}

static ab_ref slab_alloc_zeroed(struct ab_heap *heap, size_t size)
{
    return ab_shards_special_alloc(&below, heap, 0, size, true);
}

static ab_ref slab_resize(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t new_size)
{
    if (heap->shard.is_guarded)
        return (ab_ref)ab_guard_resize(&below, heap, (void *)ref, new_size);
    return (ab_ref)raw_resize(heap, (void *)ref, old_size, new_size);
}

/* No lock: nothing that it reads changes while the block lives, but for the caller's own resize. */
static size_t slab_usable_size(struct ab_heap *heap, ab_ref ref)
{
    const void *block = (const void *)ref;
    if (heap->shard.is_guarded)
        return ab_guard_size(block);
    return ab_slabs_usable(&owner_of(heap, block)->slabs, block);
}

static struct ab_heap *next_heap(const struct ab_heap *whole, const struct ab_heap *each)
{
    return (struct ab_heap *)ab_shards_next(&whole->shard, &each->shard);
}

/* No other thread is at work. */
static void slab_reset(struct ab_heap *heap)
{
    for (struct ab_heap *each = heap; each != NULL; each = next_heap(heap, each)) {
        ab_shard_lock(&each->shard);
        ab_shards_forget(&each->shard);
        ab_slabs_reset(&each->slabs);
        unlock(each);
    }
}

/* With threads=local no other thread is at work. */
static void slab_purge(struct ab_heap *heap)
{
    for (struct ab_heap *each = heap; each != NULL; each = next_heap(heap, each))
        ab_shards_leave(&each->shard);
    for (struct ab_heap *each = heap; each != NULL; each = next_heap(heap, each)) {
        ab_shard_lock(&each->shard);
        ab_slabs_purge(&each->slabs);
        unlock(each);
    }
}

static void add_stats(struct ab_heap *heap, struct ab_heap_stats *sum)
{
    const struct ab_slabs *s = &heap->slabs;
    size_t mapped = s->large_map_bytes + s->spare_bytes;
    sum->reserved_bytes += s->span_bytes + mapped;
    sum->committed_bytes += ((s->n_fresh - s->n_returned) << AB_SLAB_LOG2) + mapped;
    sum->live_bytes += ab_slabs_live(s);
    sum->metadata_bytes += sizeof *heap + s->n_fresh * sizeof(struct ab_slab) +
                           s->n_large * sizeof(struct ab_slab_large);
    sum->os_calls += s->n_os_calls;
}

static size_t bytes_in_flight(const struct ab_heap *heap)
{
    size_t bytes = 0;
    struct ab_shards_cursor cursor = {0};
    for (const void *block; (block = ab_shards_in_flight(&heap->shard, &cursor)) != NULL;)
        bytes += ab_slabs_usable(&owner_of((struct ab_heap *)(uintptr_t)heap, block)->slabs, block);
    return bytes;
}

/* Committed: what may have pages. Live bytes are those of whole blocks. With threads=local no
 * other thread is at work. */
static int slab_stats(struct ab_heap *heap, struct ab_heap_stats *out)
{
    struct ab_heap_stats sum = {0};
    for (struct ab_heap *each = heap; each != NULL; each = next_heap(heap, each)) {
        ab_shard_lock(&each->shard);
        add_stats(each, &sum);
        ab_shard_unlock(&each->shard);
        sum.live_bytes -= bytes_in_flight(each);
    }
    *out = sum;
    return 0;
}

struct ab_slabs *ab_slabs_of_heap(struct ab_heap *heap)
{
    return heap->shard.is_plain && !heap->shard.is_guarded ? &heap->slabs : NULL;
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
    .thread_enter = ab_shards_thread_enter,
    .thread_leave = ab_shards_thread_leave,
};
