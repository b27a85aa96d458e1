/* SPDX-License-Identifier: MIT
 *
 * What slabs of a group do beside their fast paths: with a lock, or for another thread.
 */
#include "slab_shared.h"

#ifdef AB_WITH_CHECKS
#include "../common/checked.h"
#endif
#include "../common/shard_queue.h"
#include "../common/shards.h"

#include <errno.h>
#include <string.h>

static struct ab_slab_shared *heap_of(struct ab_shard *shard)
{
    return (struct ab_slab_shared *)(void *)shard;
}

static struct ab_slab_shared *heap_with(struct ab_slabs *slabs)
{
    return (struct ab_slab_shared *)(void *)((char *)slabs -
                                             offsetof(struct ab_slab_shared, slabs));
}

static struct ab_slab_shared *next_heap(const struct ab_slab_shared *whole,
                                        const struct ab_slab_shared *each)
{
    return heap_of(ab_shards_next(&whole->shard, &each->shard));
}

/* What other threads freed of this heap's blocks. */
static bool collect(struct ab_slabs *slabs)
{
    struct ab_shards_link *chain = ab_shard_take_remote(&heap_with(slabs)->shard);
    if (chain == NULL)
        return false;
    while (chain != NULL)
        ab_slabs_free(slabs, ab_shard_pop(&chain));
    return true;
}

static void drain(struct ab_shard *owner)
{
    collect(&heap_of(owner)->slabs);
}

/* Pages are given back once the call is through with the lists. */
static void unlock(struct ab_slab_shared *heap)
{
    if (heap->slabs.leaving != NULL)
        ab_slabs_let_go(&heap->slabs);
    ab_shard_unlock(&heap->shard);
}

static void free_own(struct ab_shard *owner, void *block)
{
    struct ab_slabs *slabs = &heap_of(owner)->slabs;
    ab_slabs_free(slabs, block);
    if (slabs->leaving != NULL)
        ab_slabs_let_go(slabs);
}

static size_t bytes_of(struct ab_shard *owner, const void *block)
{
    const struct ab_slabs *s = &heap_of(owner)->slabs;
    return ab_slabs_is_small(s, block) ? s->classes[ab_slab_of(s, block)->class_index].bytes
                                       : ab_slabs_large_usable(block);
}

static int open_heap(struct ab_shard *shard)
{
    const struct ab_shards *shards = shard->shards;
    struct ab_slab_shared *heap = heap_of(shard);
    struct ab_slabs_options options = heap_of(ab_shards_at(shards, 0))->options;
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
    heap->slabs.mutex = shard->is_plain ? NULL : &shard->mutex;
    heap->slabs.collect = shard->is_plain && shards->mode == AB_SHARDS_LOCAL ? collect : NULL;
    return 0;
}

struct ab_slab_shared *ab_slab_shared_open(const struct ab_slab_shared_options *options)
{
    static const struct ab_shards_calls calls = {open_heap, free_own, drain, bytes_of,
                                                 sizeof(struct ab_slab_shared)};
    struct ab_slabs_options slabs = options->slabs;
    if (slabs.reserve_bytes == 0)
        slabs.reserve_bytes = AB_SHARDS_SPAN_BYTES;
    struct ab_shards_options threads = options->threads;
    threads.is_guarded |= AB_SLABS_CHECKS; /* what is wrong shall show at the call itself */
    struct ab_shards *shards = ab_shards_open(&threads, &calls, slabs.reserve_bytes);
    if (shards == NULL)
        return NULL;
    struct ab_slab_shared *group = heap_of(ab_shards_at(shards, 0));
    slabs.range = NULL;
    slabs.keep_max = slabs.keep_max / shards->n_shards + (slabs.keep_max % shards->n_shards != 0);
    slabs.spare_max_bytes /= shards->n_shards;
    group->options = slabs;
    int error = ab_shards_ready(&group->shard);
    if (error == 0)
        return group;
    ab_shards_close(shards);
    errno = error;
    return NULL;
}

void ab_slab_shared_close(struct ab_slab_shared *group)
{
    struct ab_shards *shards = group != NULL ? group->shard.shards : NULL;
    for (struct ab_slab_shared *each = group; each != NULL; each = next_heap(group, each)) {
        each->slabs.mutex = NULL; /* no other thread is there any more */
        ab_slabs_fini(&each->slabs);
    }
    if (shards != NULL)
        ab_shards_close(shards);
}

/* ---- whose ---- */

struct ab_slab_shared *ab_slab_shared_enter(struct ab_slab_shared *group, uint32_t number)
{
    return heap_of(ab_shards_enter(group->shard.shards, number));
}

void ab_slab_shared_leave(struct ab_slab_shared *own)
{
    ab_shards_leave(&own->shard);
}

/* ---- with a lock, or of another heap ---- */

/* Where the slabs have the block: in the checked build before it. */
static const void *raw_of(const void *block)
{
#ifdef AB_WITH_CHECKS
    if (ab_block_head_of(block)->canary != AB_GUARD_FRONT)
        ab_guard_end("slab", block, "not the begin of a live block");
    return ab_checked_raw(block);
#else
    return block;
#endif
}

static struct ab_slab_shared *owner_of(const struct ab_slab_shared *heap, const void *block)
{
    struct ab_shard *owner = ab_shards_owner(heap->shard.shards, block);
    if (owner != NULL)
        return heap_of(owner);
    return heap_with(((const struct ab_slab_large *)raw_of(block) - 1)->home);
}

void *ab_slab_shared_alloc_slow(struct ab_slab_shared *own, size_t align, size_t size, bool zeroed)
{
    void *block;
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
    if (block == NULL)
        return;
    struct ab_slab_shared *owner = owner_of(own, block);
    ab_shard_free(&own->shard, &owner->shard, block, !ab_slabs_is_small(&owner->slabs, block));
}

#ifdef AB_WITH_CHECKS
void ab_slab_shared_free_sized(struct ab_slab_shared *own, void *block, size_t size)
{
    if (block == NULL)
        return;
    struct ab_slab_shared *owner = owner_of(own, block);
    ab_shard_lock(&owner->shard);
    ab_slabs_free_sized(&owner->slabs, block, size);
    unlock(owner);
}
#endif

/* A block of another thread: a new one here, and the old one goes home. */
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
    struct ab_slab_shared *owner = owner_of(own, block);
    if (owner != own && owner->shard.is_plain)
        return take_over(own, owner, block, old_size, new_size);
    ab_shard_lock(&owner->shard);
    void *resized = ab_slabs_resize(&owner->slabs, block, old_size, new_size);
    unlock(owner);
    return resized;
}

/* No lock: nothing that it reads changes while the block lives, but for the caller's own resize. */
size_t ab_slab_shared_usable(const struct ab_slab_shared *own, const void *block)
{
    return ab_slabs_usable(&owner_of(own, block)->slabs, block);
}

/* By address where there is one, else whoever has a large block there. */
bool ab_slab_shared_owns(struct ab_slab_shared *own, const void *p)
{
    struct ab_slab_shared *first = heap_of(ab_shards_at(own->shard.shards, 0)), *each = first;
    bool is_owned = false;
    for (; each != NULL && !is_owned; each = next_heap(first, each)) {
        ab_shard_lock(&each->shard);
        is_owned = ab_slabs_owns(&each->slabs, p);
        ab_shard_unlock(&each->shard);
    }
    return is_owned;
}

/* ---- the whole group ---- */

void ab_slab_shared_reset(struct ab_slab_shared *group)
{
    for (struct ab_slab_shared *each = group; each != NULL; each = next_heap(group, each)) {
        ab_shard_lock(&each->shard);
        ab_shard_forget(&group->shard, &each->shard);
        ab_slabs_reset(&each->slabs);
        unlock(each);
    }
}

/* First all is sent, then each takes what came. */
void ab_slab_shared_purge(struct ab_slab_shared *group)
{
    for (struct ab_slab_shared *each = group; each != NULL; each = next_heap(group, each))
        if (each->shard.is_plain)
            ab_shard_send(&each->shard);
    for (struct ab_slab_shared *each = group; each != NULL; each = next_heap(group, each)) {
        ab_shard_lock(&each->shard);
        ab_slabs_purge(&each->slabs);
        unlock(each);
    }
}

static size_t bytes_in_flight(const struct ab_slab_shared *whole, const struct ab_slab_shared *each)
{
    size_t bytes = 0;
    struct ab_shard_cursor cursor = {NULL, 0, 0};
    for (const void *block;
         (block = ab_shard_in_flight(&whole->shard, &each->shard, &cursor)) != NULL;)
        bytes += bytes_of(&owner_of(each, block)->shard, block);
    return bytes;
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
    size_t flying = 0;
    for (struct ab_slab_shared *each = group; each != NULL; each = next_heap(group, each)) {
        ab_shard_lock(&each->shard);
        add_to(&sums, each);
        ab_shard_unlock(&each->shard);
        flying += bytes_in_flight(group, each);
    }
    sums.live -= flying;
    return sums;
}
