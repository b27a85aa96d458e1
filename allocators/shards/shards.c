/* SPDX-License-Identifier: MIT
 *
 * Shards, their spans, and the way of a block back to its owner. None of it is a fast path.
 */
#include "allocators/shards/shards.h"

#include "allocators/common/marks.h"
#include "allocators/common/pages.h"

#include <errno.h>

enum { CACHE_LINES = 128 }; /* a pair of lines: the prefetcher takes two */
enum { SPAN_LOG2_MAX = 42 };

static enum ab_shards_mode mode_of(const struct ab_shards_options *o)
{
    if (o->mode != AB_SHARDS_AUTO)
        return o->mode;
    return o->lanes > 1 ? AB_SHARDS_MUTEX : AB_SHARDS_ONE;
}

static uint32_t count_shards(enum ab_shards_mode mode, const struct ab_shards_options *o)
{
    if (mode == AB_SHARDS_SHARDED)
        return o->shards > 0 ? o->shards : o->lanes > 0 ? o->lanes : 1;
    if (mode != AB_SHARDS_LOCAL)
        return 1;
    return o->lanes < AB_SHARDS_MAX ? o->lanes + 1 : UINT32_MAX;
}

static unsigned log2_above(size_t bytes)
{
    return bytes <= 1 ? 0 : (unsigned)(64 - __builtin_clzll(bytes - 1));
}

/* Addresses for all, at a multiple of a span; half as many each time that the system refuses. */
static int reserve_spans(struct ab_shards *shards, size_t span_bytes)
{
    unsigned least = log2_above(ab_page_size()) + 4, log2 = log2_above(span_bytes);
    for (log2 = log2 > SPAN_LOG2_MAX ? SPAN_LOG2_MAX : log2; log2 >= least; log2--) {
        size_t bytes = (size_t)shards->n_shards << log2;
        if (bytes >> log2 != shards->n_shards)
            continue;
        shards->span_log2 = log2;
        shards->range = ab_pages_reserve(bytes, (size_t)1 << log2);
        if (shards->range != NULL)
            return 0;
    }
    return ENOMEM;
}

static void init_shard(struct ab_shards *shards, uint32_t index)
{
    struct ab_shard *shard = ab_shards_at(shards, index);
    shard->shards = shards;
    shard->mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    shard->is_plain = shards->mode == AB_SHARDS_ONE ||
                      (shards->mode == AB_SHARDS_LOCAL && index > 0);
    if (!shard->is_plain)
        return;
    shard->own_base = shards->range != NULL ? (uintptr_t)ab_shards_span(shards, shard) : 1;
    shard->own_bytes = shards->range != NULL ? (size_t)1 << shards->span_log2 : SIZE_MAX - 1;
}

struct ab_shards *ab_shards_open(const struct ab_shards_options *o)
{
    size_t page = ab_page_size(), head = ab_round_up(sizeof(struct ab_shards), CACHE_LINES);
    size_t each = ab_round_up(o->shard_bytes, CACHE_LINES);
    enum ab_shards_mode mode = mode_of(o);
    uint32_t n = count_shards(mode, o);
    if (n > AB_SHARDS_MAX || (mode == AB_SHARDS_ONE && o->lanes > 1)) {
        errno = EINVAL;
        return NULL;
    }
    size_t map_bytes = ab_round_up(head + n * each, page);
    struct ab_shards *shards = ab_pages_map(map_bytes, page);
    if (shards == NULL)
        return NULL;
    *shards = (struct ab_shards){.mode = mode,
                                 .n_shards = n,
                                 .shard_bytes = each,
                                 .map_bytes = map_bytes,
                                 .heaps = (char *)shards + head,
                                 .free_own = o->free_own};
    bool has_spans = mode >= AB_SHARDS_LOCAL;
    int error = has_spans ? reserve_spans(shards, o->span_bytes) : 0;
    if (error != 0) {
        ab_pages_release(shards, map_bytes);
        errno = error;
        return NULL;
    }
    for (uint32_t i = 0; i < shards->n_shards; i++)
        init_shard(shards, i);
    return shards;
}

void ab_shards_close(struct ab_shards *shards)
{
    if (shards->range != NULL)
        ab_pages_release(shards->range, (size_t)shards->n_shards << shards->span_log2);
    ab_pages_release(shards, shards->map_bytes);
}

struct ab_shard *ab_shards_at(const struct ab_shards *shards, uint32_t index)
{
    return (struct ab_shard *)(shards->heaps + index * shards->shard_bytes);
}

static uint32_t index_of(const struct ab_shard *shard)
{
    const struct ab_shards *shards = shard->shards;
    return (uint32_t)((size_t)((const char *)shard - shards->heaps) / shards->shard_bytes);
}

struct ab_shard *ab_shards_next(const struct ab_shard *whole, const struct ab_shard *each)
{
    uint32_t next = index_of(each) + 1;
    return index_of(whole) == 0 && next < whole->shards->n_shards
               ? ab_shards_at(whole->shards, next)
               : NULL;
}

char *ab_shards_span(const struct ab_shards *shards, const struct ab_shard *shard)
{
    return shards->range + ((size_t)index_of(shard) << shards->span_log2);
}

struct ab_shard *ab_shards_enter(const struct ab_shards *shards, uint32_t lane)
{
    if (shards->mode == AB_SHARDS_SHARDED)
        return ab_shards_at(shards, lane % shards->n_shards);
    if (shards->mode != AB_SHARDS_LOCAL)
        return ab_shards_at(shards, 0);
    return lane < shards->n_shards - 1 ? ab_shards_at(shards, lane + 1) : NULL;
}

struct ab_shard *ab_shards_owner(const struct ab_shards *shards, const void *block)
{
    if (shards->range == NULL)
        return ab_shards_at(shards, 0);
    size_t index = ((uintptr_t)block - (uintptr_t)shards->range) >> shards->span_log2;
    return index < shards->n_shards ? ab_shards_at(shards, (uint32_t)index) : NULL;
}

/* ---- blocks on their way ---- */

static void push_chain(struct ab_shard *owner, struct ab_shards_link *first,
                       struct ab_shards_link *last)
{
    struct ab_shards_link *head = __atomic_load_n(&owner->remote, __ATOMIC_RELAXED);
    do {
        AB_MARK_DEFINED(last, sizeof *last);
        last->next = head;
    } while (!__atomic_compare_exchange_n(&owner->remote, &head, first, true, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED));
}

static void send_waiting(struct ab_shard *from)
{
    if (from->n_waiting > 0)
        push_chain(from->to, from->first, from->last);
    from->n_waiting = 0;
}

static void send(struct ab_shard *from, struct ab_shard *owner, void *block, bool is_urgent)
{
    struct ab_shards_link *link = block;
    AB_MARK_DEFINED(link, sizeof *link);
    if (is_urgent || !from->is_plain) { /* else several threads would write to one batch */
        push_chain(owner, link, link);
        return;
    }
    if (from->n_waiting > 0 && from->to != owner)
        send_waiting(from);
    link->next = from->first;
    if (from->n_waiting == 0)
        from->last = link;
    from->first = link;
    from->to = owner;
    if (++from->n_waiting == AB_SHARDS_BATCH)
        send_waiting(from);
}

__attribute__((noinline)) void ab_shards_free(struct ab_shard *from, struct ab_shard *owner,
                                              void *block, bool is_urgent)
{
    if (owner != from && owner->is_plain) {
        send(from, owner, block, is_urgent);
        return;
    }
    ab_shard_lock(owner);
    owner->shards->free_own(owner, block);
    ab_shard_unlock(owner);
}

void ab_shards_leave(struct ab_shard *shard)
{
    if (shard->is_plain)
        send_waiting(shard);
}

struct ab_shards_link *ab_shards_take(struct ab_shard *shard)
{
    if (__atomic_load_n(&shard->remote, __ATOMIC_RELAXED) == NULL)
        return NULL;
    return __atomic_exchange_n(&shard->remote, NULL, __ATOMIC_ACQUIRE);
}

void ab_shards_forget(struct ab_shard *shard)
{
    shard->n_waiting = 0;
    shard->first = NULL;
    __atomic_store_n(&shard->remote, NULL, __ATOMIC_RELAXED);
}

const void *ab_shards_in_flight(const struct ab_shard *shard, struct ab_shards_cursor *cursor)
{
    if (cursor->stage == 0) {
        cursor->next = __atomic_load_n(&shard->remote, __ATOMIC_ACQUIRE);
        cursor->stage = 1;
    }
    if (cursor->stage == 1 && cursor->next == NULL) {
        cursor->next = shard->first;
        cursor->n_left = shard->n_waiting;
        cursor->stage = 2;
    }
    if (cursor->stage == 2 && cursor->n_left-- == 0)
        return NULL;
    const struct ab_shards_link *link = cursor->next;
    cursor->next = link->next;
    return link;
}

void *ab_shards_pop(struct ab_shards_link **chain)
{
    struct ab_shards_link *link = *chain;
    *chain = link->next;
    return link;
}

/* ---- hooks ---- */

int ab_shards_thread_enter(struct ab_heap *heap, uint32_t lane, struct ab_heap **out)
{
    struct ab_shard *shard = ab_shards_enter(((struct ab_shard *)heap)->shards, lane);
    if (shard == NULL)
        return EINVAL;
    *out = (struct ab_heap *)shard;
    return 0;
}

void ab_shards_thread_leave(struct ab_heap *heap)
{
    ab_shards_leave((struct ab_shard *)heap);
}

ab_ref ab_shards_special_alloc(const struct ab_guard_below *below, struct ab_heap *heap,
                               size_t align, size_t size, bool is_zeroed)
{
    bool is_guarded = ((struct ab_shard *)heap)->is_guarded;
    return (ab_ref)(is_guarded ? ab_guard_alloc(below, heap, align, size, is_zeroed)
                               : below->alloc(heap, align, size, is_zeroed));
}

void ab_shards_special_free(const struct ab_guard_below *below, struct ab_heap *heap, ab_ref ref)
{
    if (((struct ab_shard *)heap)->is_guarded)
        ab_guard_free(below, heap, (void *)ref);
    else if (ref != 0)
        below->free(heap, (void *)ref);
}
