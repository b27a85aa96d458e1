/* SPDX-License-Identifier: MIT
 *
 * The functions of a group of slab heaps outside of the fast paths: calls with a lock, and blocks
 * of other threads.
 */
#include "slab_shared.h"

#include "../common/checked.h"
#include "../common/shards.h"

#include <string.h>

AB_SHARDS_DEFINE(ab_slab_shared, slabs, ab_slabs)
AB_SHARDS_DEFINE_COLLECT(ab_slab_shared, slabs, ab_slabs, struct ab_slabs)

/* Gives back the pages of empty slabs. Called when the call in progress has finished with the lists
 * of slabs. */
static void settle(struct ab_shard *shard)
{
    struct ab_slabs *slabs = &ab_slab_shared_of(shard)->slabs;
    if (slabs->leaving != NULL)
        ab_slabs_let_go(slabs);
}

static void unlock(struct ab_slab_shared *heap)
{
    settle(&heap->shard);
    ab_shard_unlock(&heap->shard);
}

static void free_own(struct ab_shard *owner, void *block)
{
    ab_slabs_free(&ab_slab_shared_of(owner)->slabs, block);
    settle(owner);
}

static size_t bytes_of(struct ab_shard *owner, const void *block)
{
    const struct ab_slabs *s = &ab_slab_shared_of(owner)->slabs;
    return ab_slabs_is_small(s, block) ? s->classes[ab_slab_of(s, block)->class_index].bytes
                                       : ab_slabs_large_usable(block);
}

static int open_heap(struct ab_shard *shard)
{
    const struct ab_shards *shards = shard->shards;
    struct ab_slab_shared *heap = ab_slab_shared_of(shard);
    struct ab_slabs_options options = ab_slab_shared_of(ab_shards_at(shards, 0))->options;
    if (shards->range != NULL) {
        options.range = ab_shards_span(shards, shard);
        options.reserve_bytes = (size_t)1 << shards->span_log2;
    }
    int error = ab_slabs_init(&heap->slabs, &options);
    if (error != 0)
        return error;
    shard->own_base = (uintptr_t)heap->slabs.base;
    shard->own_bytes = shard->is_plain ? heap->slabs.span_bytes : 0;
    shard->fast_max = shard->is_plain ? AB_SLAB_LARGEST : 0;
    heap->slabs.n_sharing = &shards->n_open;
    heap->slabs.mutex = shard->is_plain ? NULL : &shard->mutex;
    AB_CHECKED(heap->slabs.blocks.is_locked = true);
    heap->slabs.collect = shard->is_plain && shards->mode == AB_SHARDS_LOCAL
                              ? ab_slab_shared_collect
                              : NULL;
    return 0;
}

struct ab_slab_shared *ab_slab_shared_open(const struct ab_slab_shared_options *options)
{
    static const struct ab_shards_calls calls = AB_SHARDS_CALLS(
        ab_slab_shared, open_heap, settle, free_own, ab_slab_shared_drain, bytes_of);
    size_t span = options->slabs.reserve_bytes;
    struct ab_shards_options threads = options->threads;
    /* in the checked build, errors must show at the wrong call itself */
    threads.is_guarded |= AB_CHECKS;
    struct ab_shards *shards = ab_shards_open(&threads, &calls,
                                              span != 0 ? span : AB_SHARDS_SPAN_BYTES);
    if (shards == NULL)
        return NULL;
    struct ab_slab_shared *group = ab_slab_shared_of(ab_shards_at(shards, 0));
    group->options = options->slabs;
    group->options.range = NULL;
    return ab_slab_shared_of(ab_shards_begin(shards));
}

/* ---- calls with a lock, and blocks of another heap ---- */

#ifdef AB_WITH_CHECKS

/* Returns the heap that owns the block, or, if is_dead, the heap that owned it before it was freed;
 * NULL = none. */
static struct ab_slab_shared *find_heap(struct ab_shards *shards, const void *block, bool is_dead)
{
    for (uint32_t i = 0; i < shards->n_shards; i++) {
        struct ab_slab_shared *each = ab_slab_shared_of(ab_shards_at(shards, i));
        if (!__atomic_load_n(&each->shard.is_ready, __ATOMIC_ACQUIRE))
            continue;
        ab_shard_lock(&each->shard);
        bool is_it = is_dead ? ab_block_death_at(&each->slabs.blocks, block) != NULL
                             : ab_slabs_owns(&each->slabs, block);
        ab_shard_unlock(&each->shard);
        if (is_it)
            return each;
    }
    return NULL;
}

/* Returns the heap of the block. Reads nothing before the block, which may be foreign. A foreign
 * block is reported by the caller's heap. */
static struct ab_slab_shared *owner_of(struct ab_slab_shared *heap, const void *block)
{
    struct ab_slab_shared *owner = find_heap(heap->shard.shards, block, false);
    if (owner == NULL)
        owner = find_heap(heap->shard.shards, block, true);
    return owner != NULL ? owner : heap;
}

#else

static struct ab_slab_shared *owner_of(struct ab_slab_shared *heap, const void *block)
{
    struct ab_shard *owner = ab_shards_owner(heap->shard.shards, block);
    if (owner != NULL)
        return ab_slab_shared_of(owner);
    struct ab_slabs *home = ((const struct ab_slab_large *)block - 1)->home;
    return (struct ab_slab_shared *)(void *)((char *)home - offsetof(struct ab_slab_shared, slabs));
}

#endif

void *ab_slab_shared_alloc_slow(struct ab_slab_shared *own, size_t align, size_t size, bool zeroed)
{
    void *block;
    AB_CHECKED_OWN(own, "slab");
    ab_shard_lock(&own->shard);
    if (zeroed)
        block = ab_slabs_alloc_zeroed(&own->slabs, size);
    else if (align > 0)
        block = ab_slabs_alloc_aligned(&own->slabs, align, size);
    else
        block = ab_slabs_alloc(&own->slabs, size);
    unlock(own);
    return block;
}

void ab_slab_shared_free_slow(struct ab_slab_shared *own, void *block)
{
    AB_CHECKED_OWN(own, "slab");
    if (block == NULL)
        return;
    struct ab_slab_shared *owner = owner_of(own, block);
    ab_shard_free(&own->shard, &owner->shard, block, !ab_slabs_is_small(&owner->slabs, block));
}

#ifdef AB_WITH_CHECKS
void ab_slab_shared_free_sized(struct ab_slab_shared *own, void *block, size_t size)
{
    AB_CHECKED_OWN(own, "slab");
    if (block == NULL)
        return;
    struct ab_slab_shared *owner = owner_of(own, block);
    ab_shard_lock(&owner->shard);
    ab_slabs_free_sized(&owner->slabs, block, size);
    unlock(owner);
}
#endif

/* Resizes a block of another thread's heap. Keeps the block if the new size fits it well. Otherwise
 * copies it into the caller's heap and returns the old block to its owner. */
static void *take_over(struct ab_slab_shared *own, struct ab_slab_shared *owner, void *block,
                       size_t old_size, size_t new_size)
{
    size_t usable = ab_slabs_usable(&owner->slabs, block);
    if (new_size <= usable && new_size > usable / 2)
        return block;
    void *copy = ab_slab_shared_alloc_slow(own, 0, new_size, false);
    if (copy == NULL)
        return new_size <= usable ? block : NULL;
    memcpy(copy, block, old_size < new_size ? old_size : new_size);
    ab_slab_shared_free_slow(own, block);
    return copy;
}

void *ab_slab_shared_resize(struct ab_slab_shared *own, void *block, size_t old_size,
                            size_t new_size)
{
    AB_CHECKED_OWN(own, "slab");
    struct ab_slab_shared *owner = owner_of(own, block);
    if (owner != own && owner->shard.is_plain)
        return take_over(own, owner, block, old_size, new_size);
    ab_shard_lock(&owner->shard);
    void *resized = ab_slabs_resize(&owner->slabs, block, old_size, new_size);
    unlock(owner);
    return resized;
}

/* Returns the usable bytes of the block. Reads them without a lock, because only a resize of this
 * block changes them. */
size_t ab_slab_shared_usable(const struct ab_slab_shared *own, const void *block)
{
    return ab_slabs_usable(&owner_of((struct ab_slab_shared *)(uintptr_t)own, block)->slabs, block);
}

/* Asks all heaps one after the other, because the address of a large block does not show its
 * heap. */
bool ab_slab_shared_owns(struct ab_slab_shared *own, const void *p)
{
    struct ab_slab_shared *first = ab_slab_shared_of(ab_shards_at(own->shard.shards, 0)),
                          *each = first;
    bool is_owned = false;
    for (; each != NULL && !is_owned; each = ab_slab_shared_next(first, each)) {
        ab_shard_lock(&each->shard);
        is_owned = ab_slabs_owns(&each->slabs, p);
        ab_shard_unlock(&each->shard);
    }
    return is_owned;
}

static void add_to(struct ab_slab_shared_sums *sums, const struct ab_slab_shared *heap)
{
    const struct ab_slabs *s = &heap->slabs;
    size_t mapped = s->large_map_bytes + s->spare_bytes;
    sums->n_heaps++;
    sums->reserved += s->span_bytes + mapped;
    sums->committed += ((s->n_fresh - s->n_returned) << AB_SLAB_LOG2) + mapped;
    sums->live += ab_slabs_live(s);
    sums->metadata += sizeof *heap + s->n_fresh * sizeof(struct ab_slab) +
                      s->n_large * sizeof(struct ab_slab_large);
    sums->n_os_calls += s->n_os_calls;
}

struct ab_slab_shared_sums ab_slab_shared_sum(struct ab_slab_shared *group)
{
    struct ab_slab_shared_sums sums = {0, 0, 0, 0, 0, 0};
    struct ab_slab_shared *each = group;
    for (; each != NULL; each = ab_slab_shared_next(group, each)) {
        ab_shard_lock(&each->shard);
        add_to(&sums, each);
        sums.live -= ab_shard_in_flight(&group->shard, &each->shard);
        ab_shard_unlock(&each->shard);
    }
    return sums;
}
