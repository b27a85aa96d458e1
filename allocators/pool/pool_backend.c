/* SPDX-License-Identifier: MIT
 *
 * The pool as a back end: alone, as shards, or lock-free. Its slots hold the largest
 * request to come, so it serves mixed sizes too: that is why it does not declare
 * AB_TRAIT_FIXED_SIZE. What that wastes, usable_size says. The hot path asks one question more than
 * the pool itself; whatever needs a lock, guards or another shard is out of line.
 */
#include "allocators/pool/pool_backend.h"
#include "allocators/ab_backend.h"
#include "allocators/common/pages.h"
#include "allocators/params.h"
#include "allocators/pool/pool.h"
#include "allocators/pool/pool_lockfree.h"
#include "allocators/shards/shards.h"

#include <errno.h>

struct ab_heap {
    struct ab_shard shard;
    bool is_lockfree;
    struct ab_pool pool;
    struct ab_pool_lockfree lockfree; /* of the first shard only */
};

enum {
    PARAM_SLOT,
    PARAM_SLOTS,
    PARAM_GROW,
    PARAM_THREADS,
    PARAM_SHARDS,
    PARAM_DEBUG,
    PARAM_HUGE,
    PARAM_COUNT
};
enum { THREADS_LOCKFREE = AB_SHARDS_MODE_COUNT };

#define CACHE_LINE_BYTES ((uint64_t)64)
#define CROWDED_BYTES ((uint64_t)256)
#define SPAN_MIN ((uint64_t)1 << 30)
#define SPAN_MAX ((uint64_t)1 << 40)

static const char *const thread_modes[] = {AB_SHARDS_MODES, "lockfree", NULL};

static const struct ab_param params[PARAM_COUNT] = {
    [PARAM_SLOT] = AB_BYTES_ROW("slot", 0, (uint64_t)1 << 40,
                                "size of a slot, larger requests fail; 0 = the largest request, "
                                "plus padding where slots would share few cache sets"),
    [PARAM_SLOTS] = AB_COUNT_ROW("slots", 0, (uint64_t)1 << 40,
                                 "initial slots of each pool; 0 = 64 KiB of them, or with "
                                 "grow=off the peak of live blocks of the workload"),
    [PARAM_GROW] = AB_BOOL_ROW("grow", 1,
                               "map more memory when all slots are used; off = requests fail"),
    [PARAM_THREADS] = AB_CHOICE_ROW("threads", thread_modes,
                                    "auto = a mutex with more than one lane, none = no locking, "
                                    "one lane only, local = one pool per lane, remote frees "
                                    "queued, sharded = several pools with a mutex each, lockfree "
                                    "= one pool, atomics"),
    [PARAM_SHARDS] = AB_COUNT_ROW("shards", 0, 1024,
                                  "number of pools with threads=sharded; 0 = one per lane"),
    [PARAM_DEBUG] = AB_SHARDS_DEBUG_PARAM,
    [PARAM_HUGE] = AB_BOOL_ROW("huge", 0,
                               "request huge pages, in chunks of whole ones: fewer TLB misses, up "
                               "to 2 MiB more memory"),
};

/* Slots a multiple of 256 bytes apart begin in a quarter of all cache lines, or fewer, and push each
 * other out: replacing 100,000 of them at random took 14 ns and takes 5. A sixteenth more, at most a
 * line, spreads them. Not when alignment was asked for, nor against an explicit slot=. */
static uint64_t slot_for(const struct ab_facts *f)
{
    uint64_t slot = f->largest_bytes, more = slot / 16;
    if (slot == 0 || slot % CROWDED_BYTES != 0 || f->largest_align > AB_POOL_ALIGN)
        return slot;
    return slot + (more < CACHE_LINE_BYTES ? more : CACHE_LINE_BYTES);
}

static struct ab_heap *heap_at(const struct ab_shards *shards, uint32_t index)
{
    return (struct ab_heap *)ab_shards_at(shards, index);
}

static struct ab_heap *next_heap(const struct ab_heap *whole, const struct ab_heap *each)
{
    return (struct ab_heap *)ab_shards_next(&whole->shard, &each->shard);
}

/* What other threads freed of this pool's slots. */
static bool collect(struct ab_pool *pool)
{
    struct ab_heap *heap = (struct ab_heap *)((char *)pool - offsetof(struct ab_heap, pool));
    struct ab_shards_link *chain = ab_shards_take(&heap->shard);
    if (chain == NULL)
        return false;
    while (chain != NULL)
        ab_pool_free(pool, ab_shards_pop(&chain));
    return true;
}

static void free_own(struct ab_shard *owner, void *block)
{
    ab_pool_free(&((struct ab_heap *)owner)->pool, block);
}

/* Lanes may run ahead of each other, and one of them may make all the blocks. */
static uint64_t slots_at_most(const struct ab_facts *f)
{
    uint64_t ahead = (uint64_t)f->lanes * 65536 + 65536, peak;
    if (__builtin_add_overflow(f->live_peak_blocks, ahead, &peak))
        return UINT64_MAX;
    return peak < f->total_blocks + 64 || f->total_blocks == 0 ? peak : f->total_blocks + 64;
}

/* Addresses for so many slots, within what a process has; the pool fails when they are used up. */
static uint64_t span_for(const struct ab_pool_options *o, const struct ab_facts *f)
{
    uint64_t stride = ab_round_up(o->slot_bytes + AB_MARK_GAP + 1, 16), bytes;
    uint64_t n = o->n_slots > slots_at_most(f) ? o->n_slots : slots_at_most(f);
    if (stride < o->align)
        stride = o->align;
    if (__builtin_mul_overflow(n, 2 * stride, &bytes) || bytes > SPAN_MAX)
        return SPAN_MAX;
    return bytes < SPAN_MIN ? SPAN_MIN : bytes;
}

/* As many slots as fit the addresses, half as many each time that the system refuses. */
static int init_lockfree(struct ab_heap *heap, const struct ab_pool_options *o, uint64_t span)
{
    struct ab_pool_lockfree_options options = {
        .slot_bytes = o->slot_bytes, .align = o->align, .n_slots = o->n_slots, .huge = o->huge};
    if (o->grows)
        options.n_slots = span / (o->slot_bytes + o->align + 1);
    int error = ENOMEM;
    while (options.n_slots > 0 && error != 0) {
        error = ab_pool_lockfree_init(&heap->lockfree, &options);
        options.n_slots = o->grows ? options.n_slots / 2 : 0;
    }
    heap->is_lockfree = true;
    return error;
}

static int init_heap(struct ab_shards *shards, struct ab_heap *heap, struct ab_pool_options options)
{
    if (shards->range != NULL) {
        options.range = ab_shards_span(shards, &heap->shard);
        options.range_bytes = (size_t)1 << shards->span_log2;
    }
    int error = ab_pool_init(&heap->pool, &options);
    if (error != 0)
        return error;
    bool is_plain = heap->shard.is_plain;
    heap->shard.fast_max = is_plain ? heap->pool.slot_bytes : 0;
    heap->pool.mutex = is_plain ? NULL : &heap->shard.mutex;
    heap->pool.collect = is_plain && shards->mode == AB_SHARDS_LOCAL ? collect : NULL;
    return 0;
}

static void fini_heap(struct ab_heap *heap)
{
    heap->pool.mutex = NULL; /* no other thread is there any more */
    if (heap->is_lockfree)
        ab_pool_lockfree_fini(&heap->lockfree);
    else
        ab_pool_fini(&heap->pool);
}

static int init_shards(struct ab_shards *shards, const struct ab_pool_options *options,
                       const uint64_t *values, uint64_t span)
{
    int error = 0;
    uint32_t n = 0;
    while (n < shards->n_shards && error == 0) {
        struct ab_heap *heap = heap_at(shards, n);
        ab_shard_set_guarded(&heap->shard, values[PARAM_DEBUG] != 0);
        error = values[PARAM_THREADS] == THREADS_LOCKFREE ? init_lockfree(heap, options, span)
                                                          : init_heap(shards, heap, *options);
        n += error == 0;
    }
    while (error != 0 && n > 0)
        fini_heap(heap_at(shards, --n));
    return error;
}

static int open_shards(const struct ab_open_args *args, const struct ab_pool_options *options,
                       struct ab_heap **out)
{
    const uint64_t *values = args->values;
    bool is_lockfree = values[PARAM_THREADS] == THREADS_LOCKFREE;
    uint64_t span = span_for(options, args->facts);
    struct ab_shards *shards = ab_shards_open(&(struct ab_shards_options){
        .mode = is_lockfree ? AB_SHARDS_MUTEX : (enum ab_shards_mode)values[PARAM_THREADS],
        .lanes = args->facts->lanes,
        .shards = (uint32_t)values[PARAM_SHARDS],
        .shard_bytes = sizeof(struct ab_heap),
        .span_bytes = span,
        .free_own = free_own});
    if (shards == NULL)
        return errno;
    int error = init_shards(shards, options, values, span);
    if (error != 0) {
        ab_shards_close(shards);
        return error;
    }
    *out = heap_at(shards, 0);
    return 0;
}

static int pool_open(const struct ab_open_args *args, struct ab_heap **out)
{
    const struct ab_facts *facts = args->facts;
    const uint64_t *values = args->values;
    struct ab_pool_options options = {
        .slot_bytes = values[PARAM_SLOT] != 0 ? values[PARAM_SLOT] : slot_for(facts),
        .align = facts->largest_align > AB_POOL_ALIGN ? facts->largest_align : AB_POOL_ALIGN,
        .n_slots = values[PARAM_SLOTS],
        .grows = values[PARAM_GROW] != 0,
        .huge = values[PARAM_HUGE] != 0,
    };
    if (options.slot_bytes < AB_POOL_ALIGN)
        options.slot_bytes = AB_POOL_ALIGN;
    if (values[PARAM_DEBUG] != 0)
        options.slot_bytes = ab_guard_bytes(options.align, options.slot_bytes);
    if (options.slot_bytes > SPAN_MAX || options.align > SPAN_MAX)
        return ENOMEM;
    if (options.n_slots == 0 && !options.grows)
        options.n_slots = facts->live_peak_blocks;
    return open_shards(args, &options, out);
}

static void pool_close(struct ab_heap *heap)
{
    for (struct ab_heap *each = heap; each != NULL; each = next_heap(heap, each))
        fini_heap(each);
    ab_shards_close(heap->shard.shards);
}

/* ---- with a lock, with guards, or of another shard ---- */

static void *lockfree_alloc(struct ab_heap *heap, size_t align, size_t size, bool is_zeroed)
{
    if (align > heap->lockfree.align)
        return NULL;
    return is_zeroed ? ab_pool_lockfree_alloc_zeroed(&heap->lockfree, size)
                     : ab_pool_lockfree_alloc(&heap->lockfree, size);
}

static void *raw_alloc(void *context, size_t align, size_t size, bool is_zeroed)
{
    struct ab_heap *heap = context;
    if (heap->is_lockfree)
        return lockfree_alloc(heap, align, size, is_zeroed);
    ab_shard_lock(&heap->shard);
    void *block = is_zeroed ? ab_pool_alloc_zeroed(&heap->pool, size)
                            : ab_pool_alloc_aligned(&heap->pool, align, size);
    ab_shard_unlock(&heap->shard);
    return block;
}

static void raw_free(void *context, void *block)
{
    struct ab_heap *heap = context;
    if (heap->is_lockfree)
        ab_pool_lockfree_free(&heap->lockfree, block);
    else
        ab_shards_free(&heap->shard, ab_shards_owner(heap->shard.shards, block), block, false);
}

static bool owns(void *context, const void *block)
{
    struct ab_heap *heap = context;
    if (heap->is_lockfree)
        return ab_pool_lockfree_owns(&heap->lockfree, block);
    struct ab_heap *owner = (struct ab_heap *)ab_shards_owner(heap->shard.shards, block);
    if (owner == NULL)
        return false;
    ab_shard_lock(&owner->shard);
    bool is_owned = ab_pool_owns(&owner->pool, block);
    ab_shard_unlock(&owner->shard);
    return is_owned;
}

static const struct ab_guard_below below = {
    .name = "pool", .alloc = raw_alloc, .free = raw_free, .owns = owns};

/* ---- hooks ---- */

static ab_ref pool_alloc(struct ab_heap *heap, size_t size)
{
    if (__builtin_expect(size - 1 >= heap->shard.fast_max, 0))
        return ab_shards_special_alloc(&below, heap, 0, size, false);
    return (ab_ref)ab_pool_take(&heap->pool, size);
}

static void pool_free(struct ab_heap *heap, ab_ref ref, size_t size)
{
    (void)size;
    if (__builtin_expect(ref - heap->shard.own_base >= heap->shard.own_bytes, 0))
        ab_shards_special_free(&below, heap, ref);
    else
        ab_pool_free(&heap->pool, (void *)ref);
}

static ab_ref pool_alloc_aligned(struct ab_heap *heap, size_t align, size_t size)
{
    return ab_shards_special_alloc(&below, heap, align, size, false);
}

static ab_ref pool_alloc_zeroed(struct ab_heap *heap, size_t size)
{
    return ab_shards_special_alloc(&below, heap, 0, size, true);
}

/* Of every block; no lock, it never changes. */
static size_t slot_bytes(const struct ab_heap *heap)
{
    return heap->is_lockfree ? heap->lockfree.slot_bytes : heap->pool.slot_bytes;
}

static ab_ref pool_resize(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t new_size)
{
    (void)old_size;
    if (heap->shard.is_guarded)
        return (ab_ref)ab_guard_resize(&below, heap, (void *)ref, new_size);
    if (new_size > slot_bytes(heap))
        return 0;
    AB_MARK_DEFINED((void *)ref, new_size);
    return ref;
}

static size_t pool_usable_size(struct ab_heap *heap, ab_ref ref)
{
    if (heap->shard.is_guarded)
        return ab_guard_size((const void *)ref);
    AB_MARK_DEFINED((void *)ref, slot_bytes(heap));
    return slot_bytes(heap);
}

/* No other thread is at work. */
static void pool_reset(struct ab_heap *heap)
{
    if (heap->is_lockfree) {
        ab_pool_lockfree_reset(&heap->lockfree);
        return;
    }
    for (struct ab_heap *each = heap; each != NULL; each = next_heap(heap, each)) {
        ab_shard_lock(&each->shard);
        ab_shards_forget(&each->shard);
        ab_pool_reset(&each->pool);
        ab_shard_unlock(&each->shard);
    }
}

/* With threads=local or lockfree no other thread is at work. */
static void pool_purge(struct ab_heap *heap)
{
    if (heap->is_lockfree) {
        ab_pool_lockfree_purge(&heap->lockfree);
        return;
    }
    for (struct ab_heap *each = heap; each != NULL; each = next_heap(heap, each))
        ab_shards_leave(&each->shard);
    for (struct ab_heap *each = heap; each != NULL; each = next_heap(heap, each)) {
        ab_shard_lock(&each->shard);
        if (each->pool.collect != NULL)
            each->pool.collect(&each->pool);
        ab_pool_purge(&each->pool);
        ab_shard_unlock(&each->shard);
    }
}

static void add_stats(struct ab_heap *heap, struct ab_heap_stats *sum)
{
    const struct ab_pool *pool = &heap->pool;
    size_t n_flying = 0;
    struct ab_shards_cursor cursor = {0};
    while (ab_shards_in_flight(&heap->shard, &cursor) != NULL)
        n_flying++;
    sum->reserved_bytes += ab_pool_mapped(pool);
    sum->committed_bytes += ab_pool_used(pool);
    sum->live_bytes += (ab_pool_live(pool) - n_flying) * pool->slot_bytes;
    sum->metadata_bytes += sizeof *heap;
    sum->os_calls += pool->n_os_calls;
}

static struct ab_heap_stats lockfree_stats(const struct ab_heap *heap)
{
    const struct ab_pool_lockfree *pool = &heap->lockfree;
    return (struct ab_heap_stats){
        .reserved_bytes = pool->map_bytes,
        .committed_bytes = ab_round_up(pool->carved, ab_page_size()),
        .live_bytes = ab_pool_lockfree_live(pool) * pool->slot_bytes,
        .metadata_bytes = sizeof *heap,
        .os_calls = 1,
    };
}

/* Live bytes are those of whole slots: what was asked for is not kept. With threads=local or
 * lockfree no other thread is at work. */
static int pool_stats(struct ab_heap *heap, struct ab_heap_stats *out)
{
    struct ab_heap_stats sum = {0};
    if (heap->is_lockfree)
        sum = lockfree_stats(heap);
    for (struct ab_heap *each = heap; each != NULL && !heap->is_lockfree;
         each = next_heap(heap, each)) {
        ab_shard_lock(&each->shard);
        add_stats(each, &sum);
        ab_shard_unlock(&each->shard);
    }
    *out = sum;
    return 0;
}

struct ab_pool *ab_pool_of_heap(struct ab_heap *heap)
{
    return heap->shard.is_plain && !heap->is_lockfree && !heap->shard.is_guarded ? &heap->pool
                                                                                 : NULL;
}

extern const struct ab_backend ab_pool_backend;

const struct ab_backend ab_pool_backend = {
    .abi = AB_BACKEND_ABI,
    .size = sizeof(struct ab_backend),
    .name = "pool",
    .summary = "equal slots of the largest request, free list inside the free slots",
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
    .thread_enter = ab_shards_thread_enter,
    .thread_leave = ab_shards_thread_leave,
};
