/* SPDX-License-Identifier: MIT
 *
 * The pool as a back end: pool_shared.h in each of its modes, or lock-free. Its slots hold the
 * largest request of the workload. So it serves mixed sizes too and does not declare
 * AB_TRAIT_FIXED_SIZE; usable_size shows the waste. The hot path makes one comparison more than the
 * pool itself. Everything that needs a lock, guards or another heap is out of line.
 */
#include "allocators/glue.h"
#include "allocators/pool/pool_lockfree.h"
#include "allocators/pool/pool_shared.h"

/* A heap is one pool of a group. With threads=lockfree, which has a table of its own, it is a
 * lockfree_heap, which begins with an ab_shard too but belongs to no group. */
struct ab_heap {
    struct ab_pool_shared own;
};
struct lockfree_heap {
    struct ab_shard shard; /* zero, except is_guarded */
    struct ab_pool_lockfree pool;
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
enum { THREADS_LOCKFREE = AB_THREADS_COUNT };

#define SPAN_MIN ((uint64_t)1 << 30)
#define SPAN_MAX ((uint64_t)1 << 40)

static const char *const thread_modes[] = {AB_THREADS_CHOICES, "lockfree", NULL};

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
    [PARAM_DEBUG] = AB_DEBUG_PARAM,
    [PARAM_HUGE] = AB_BOOL_ROW("huge", 0,
                               "request huge pages, in chunks of whole ones: fewer TLB misses, up "
                               "to 2 MiB more memory"),
};

/* Returns the alignment of slots. If the user sets the slot size or the workload asks for an
 * alignment, slots are placed as in an array. */
static size_t align_for(const struct ab_open_args *args)
{
    uint64_t align = args->facts->largest_align;
    if (align > AB_POOL_ALIGN)
        return align;
    return args->values[PARAM_SLOT] != 0 ? AB_POOL_ALIGN : 0;
}

/* Returns the maximum number of live slots of one pool. Lanes may run ahead of each other, and one
 * lane may allocate all blocks. */
static uint64_t slots_at_most(const struct ab_facts *f)
{
    uint64_t ahead = (uint64_t)f->lanes * 65536 + 65536, peak;
    if (__builtin_add_overflow(f->live_peak_blocks, ahead, &peak))
        return UINT64_MAX;
    return peak < f->total_blocks + 64 || f->total_blocks == 0 ? peak : f->total_blocks + 64;
}

/* Returns the bytes of addresses for the slots of a workload, limited by the address space. When
 * they are used up, requests fail. */
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

static struct ab_pool_options options_for(const struct ab_open_args *args)
{
    const struct ab_facts *facts = args->facts;
    const uint64_t *values = args->values;
    struct ab_pool_options options = {
        .slot_bytes = values[PARAM_SLOT] != 0 ? values[PARAM_SLOT] : facts->largest_bytes,
        .align = align_for(args),
        .n_slots = values[PARAM_SLOTS],
        .grows = values[PARAM_GROW] != 0,
        .huge = values[PARAM_HUGE] != 0,
    };
    if (options.slot_bytes < AB_POOL_ALIGN)
        options.slot_bytes = AB_POOL_ALIGN;
    if (values[PARAM_DEBUG] != 0)
        options.slot_bytes = ab_checked_bytes(options.align != 0 ? options.align : AB_POOL_ALIGN,
                                              options.slot_bytes);
    if (options.n_slots == 0 && !options.grows)
        options.n_slots = facts->live_peak_blocks;
    return options;
}

static int pool_open(const struct ab_open_args *args, struct ab_heap **out)
{
    const uint64_t *values = args->values;
    struct ab_pool_shared_options options = {.pool = options_for(args)};
    if (options.pool.slot_bytes > SPAN_MAX || options.pool.align > SPAN_MAX)
        return ENOMEM;
    int error = ab_threads_options(values[PARAM_THREADS], values[PARAM_SHARDS], args->facts->lanes,
                                   &options.threads);
    if (error != 0)
        return error;
    options.threads.is_guarded = values[PARAM_DEBUG] != 0;
    options.pool.range_bytes = span_for(&options.pool, args->facts);
    return ab_heap_given(ab_pool_shared_open(&options), out);
}

/* ---- calls with a lock or guards, and blocks of another heap ---- */

static void *raw_alloc(void *context, size_t align, size_t size, bool is_zeroed)
{
    return ab_pool_shared_alloc_slow(context, align, size, is_zeroed);
}

static void raw_free(void *context, void *block)
{
    ab_pool_shared_free_slow(context, block);
}

static bool owns(void *context, const void *block)
{
    return ab_pool_shared_owns(context, block);
}

static const struct ab_guard_below below = {
    .name = "pool", .alloc = raw_alloc, .free = raw_free, .owns = owns};

/* ---- hooks ---- */

AB_GROUP_HOOKS(ab_pool_shared)
AB_GUARDED_HOOKS(pool, below)

static ab_ref pool_alloc(struct ab_heap *heap, size_t size)
{
    if (__builtin_expect(size - 1 >= heap->own.shard.fast_max, 0))
        return pool_alloc_guarded(heap, 0, size, false);
    return (ab_ref)ab_pool_take(&heap->own.pool, size);
}

static void pool_free(struct ab_heap *heap, ab_ref ref, size_t size)
{
    (void)size;
    if (__builtin_expect(ref - heap->own.shard.own_base >= heap->own.shard.own_bytes, 0))
        pool_free_guarded(heap, ref);
    else
        ab_pool_free(&heap->own.pool, (void *)ref);
}

/* Resizes in place within slot_bytes, the size of every block. */
static ab_ref resize(const struct ab_guard_below *guards, struct ab_heap *heap, ab_ref ref,
                     size_t new_size, size_t slot_bytes)
{
    if (ab_heap_is_guarded(heap))
        return (ab_ref)ab_guard_resize(guards, heap, (void *)ref, new_size);
    if (new_size > slot_bytes)
        return 0;
    AB_MARK_DEFINED((void *)ref, new_size);
    return ref;
}

static size_t usable_size(const struct ab_heap *heap, ab_ref ref, size_t slot_bytes)
{
    if (ab_heap_is_guarded(heap))
        return ab_checked_size((const void *)ref);
    AB_MARK_DEFINED((void *)ref, slot_bytes);
    return slot_bytes;
}

static ab_ref pool_resize(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t new_size)
{
    (void)old_size;
    return resize(&below, heap, ref, new_size, heap->own.pool.slot_bytes);
}

static size_t pool_usable_size(struct ab_heap *heap, ab_ref ref)
{
    return usable_size(heap, ref, heap->own.pool.slot_bytes);
}

/* Reports the figures. live_bytes counts whole slots, because the requested sizes are not stored.
 * With threads=local, no other thread may be in a call. */
static int pool_stats(struct ab_heap *heap, struct ab_heap_stats *out)
{
    struct ab_pool_shared_sums sums = ab_pool_shared_sum(&heap->own);
    *out = (struct ab_heap_stats){
        .reserved_bytes = sums.mapped,
        .committed_bytes = sums.used,
        .live_bytes = sums.live * heap->own.pool.slot_bytes,
        .metadata_bytes = sums.n_heaps * sizeof(struct ab_pool_shared),
        .os_calls = sums.n_os_calls,
    };
    return 0;
}

/* ---- lock-free ---- */

static struct lockfree_heap *lockfree_of(void *heap)
{
    return heap;
}

/* Opens the pool with as many slots as fit the span, if it may grow; halves their number each time
 * the system refuses. */
static int init_lockfree(struct lockfree_heap *heap, const struct ab_pool_options *o, uint64_t span)
{
    struct ab_pool_lockfree_options options = {
        .slot_bytes = o->slot_bytes, .align = o->align, .n_slots = o->n_slots, .huge = o->huge};
    if (o->grows)
        options.n_slots = span / (o->slot_bytes + o->align + 1);
    int error = ENOMEM;
    while (options.n_slots > 0 && error != 0) {
        error = ab_pool_lockfree_init(&heap->pool, &options);
        options.n_slots = o->grows ? options.n_slots / 2 : 0;
    }
    return error;
}

static int lockfree_open(const struct ab_open_args *args, struct ab_heap **out)
{
    struct ab_pool_options options = options_for(args);
    if (options.slot_bytes > SPAN_MAX || options.align > SPAN_MAX)
        return ENOMEM;
    struct lockfree_heap *heap = ab_heap_map(sizeof *heap);
    if (heap == NULL)
        return errno;
    heap->shard.is_guarded = args->values[PARAM_DEBUG] != 0;
    int error = init_lockfree(heap, &options, span_for(&options, args->facts));
    if (error != 0)
        ab_heap_unmap(heap, sizeof *heap);
    else
        *out = (struct ab_heap *)heap;
    return error;
}

static void lockfree_close(struct ab_heap *heap)
{
    ab_pool_lockfree_fini(&lockfree_of(heap)->pool);
    ab_heap_unmap(heap, sizeof(struct lockfree_heap));
}

static void *lockfree_raw_alloc(void *context, size_t align, size_t size, bool is_zeroed)
{
    struct ab_pool_lockfree *pool = &lockfree_of(context)->pool;
    if (align > pool->align)
        return NULL;
    return is_zeroed ? ab_pool_lockfree_alloc_zeroed(pool, size)
                     : ab_pool_lockfree_alloc(pool, size);
}

static void lockfree_raw_free(void *context, void *block)
{
    ab_pool_lockfree_free(&lockfree_of(context)->pool, block);
}

static bool lockfree_owns(void *context, const void *block)
{
    return ab_pool_lockfree_owns(&lockfree_of(context)->pool, block);
}

static const struct ab_guard_below lockfree_below = {
    .name = "pool", .alloc = lockfree_raw_alloc, .free = lockfree_raw_free, .owns = lockfree_owns};

AB_GUARDED_HOOKS(lockfree, lockfree_below)

static ab_ref lockfree_alloc(struct ab_heap *heap, size_t size)
{
    return lockfree_alloc_guarded(heap, 0, size, false);
}

static void lockfree_free(struct ab_heap *heap, ab_ref ref, size_t size)
{
    (void)size;
    lockfree_free_guarded(heap, ref);
}

static ab_ref lockfree_resize(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t new_size)
{
    (void)old_size;
    return resize(&lockfree_below, heap, ref, new_size, lockfree_of(heap)->pool.slot_bytes);
}

static size_t lockfree_usable_size(struct ab_heap *heap, ab_ref ref)
{
    return usable_size(heap, ref, lockfree_of(heap)->pool.slot_bytes);
}

/* No other thread may be in a call during reset, purge and stats. */
static void lockfree_reset(struct ab_heap *heap)
{
    ab_pool_lockfree_reset(&lockfree_of(heap)->pool);
}

static void lockfree_purge(struct ab_heap *heap)
{
    ab_pool_lockfree_purge(&lockfree_of(heap)->pool);
}

static int lockfree_stats(struct ab_heap *heap, struct ab_heap_stats *out)
{
    const struct ab_pool_lockfree *pool = &lockfree_of(heap)->pool;
    *out = (struct ab_heap_stats){
        .reserved_bytes = pool->map_bytes,
        .committed_bytes = ab_round_up(pool->carved, ab_page_size()),
        .live_bytes = ab_pool_lockfree_live(pool) * pool->slot_bytes,
        .metadata_bytes = sizeof(struct lockfree_heap),
        .os_calls = 1,
    };
    return 0;
}

/* ---- the tables ---- */

static const struct ab_backend *pool_variant(const uint64_t *values);

#define TABLE(kind) \
    .abi = AB_BACKEND_ABI, .size = sizeof(struct ab_backend), .name = "pool", \
    .summary = "equal slots of the largest request, free list inside the free slots", \
    .traits = AB_TRAIT_THREAD_SAFE | AB_TRAIT_REMOTE_FREE, .params = params, \
    .n_params = PARAM_COUNT, .open = kind##_open, .alloc = kind##_alloc, \
    .alloc_aligned = kind##_alloc_aligned, .alloc_zeroed = kind##_alloc_zeroed, \
    .free = kind##_free, .resize = kind##_resize, .usable_size = kind##_usable_size, \
    .stats = kind##_stats, .variant = pool_variant

extern const struct ab_backend ab_pool_backend;

const struct ab_backend ab_pool_backend = {TABLE(pool),
                                           .close = in_group_close,
                                           .reset = in_group_reset,
                                           .purge = in_group_purge,
                                           .thread_enter = in_group_thread_enter,
                                           .thread_leave = in_group_thread_leave};
static const struct ab_backend lockfree = {TABLE(lockfree), .close = lockfree_close,
                                           .reset = lockfree_reset, .purge = lockfree_purge};

static const struct ab_backend *pool_variant(const uint64_t *values)
{
    return values[PARAM_THREADS] == THREADS_LOCKFREE ? &lockfree : &ab_pool_backend;
}
