/* SPDX-License-Identifier: MIT
 *
 * Blocks on their way back to the heaps of a group that they belong to.
 */
#include "shards.h"

#include "marks.h"

#include <string.h>

/* Writes the link in a waiting block, which may be aligned to less than a pointer. To ASan and
 * Valgrind the whole block stays dead. */
static void set_next(struct ab_shards_link *link, struct ab_shards_link *next)
{
    AB_MARK_DEFINED(link, sizeof *link);
    memcpy((void *)link, &next, sizeof next);
    AB_MARK_UNUSED(link, sizeof *link);
}

static struct ab_shards_link *next_of(const struct ab_shards_link *link)
{
    struct ab_shards_link *next;
    AB_MARK_DEFINED(link, sizeof *link);
    memcpy(&next, (const void *)link, sizeof next);
    AB_MARK_UNUSED(link, sizeof *link);
    return next;
}

static bool is_group(const struct ab_shard *shard)
{
    return (const char *)shard == shard->shards->heaps; /* the first heap stands for the group */
}

bool ab_shard_take(struct ab_shard *shard, enum ab_shard_state state)
{
    uint32_t idle = AB_SHARD_IDLE;
    return __atomic_compare_exchange_n(&shard->state, &idle, (uint32_t)state, false,
                                       __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Frees the blocks that other threads sent and makes the heap idle. If a block is pushed at the
 * same time, either this function sees it, or the pushing thread sees that the heap is idle. */
void ab_shard_give_up(struct ab_shard *shard)
{
    do {
        if (shard->shards->calls.drain != NULL)
            shard->shards->calls.drain(shard);
        __atomic_store_n(&shard->state, (uint32_t)AB_SHARD_IDLE, __ATOMIC_SEQ_CST);
    } while (__atomic_load_n(&shard->remote, __ATOMIC_SEQ_CST) != NULL &&
             ab_shard_take(shard, AB_SHARD_BUSY));
}

static void push_chain(struct ab_shard *owner, struct ab_shards_link *first,
                       struct ab_shards_link *last)
{
    struct ab_shards_link *head = __atomic_load_n(&owner->remote, __ATOMIC_RELAXED);
    do {
        set_next(last, head);
    } while (!__atomic_compare_exchange_n(&owner->remote, &head, first, true, __ATOMIC_SEQ_CST,
                                          __ATOMIC_RELAXED));
    if (__atomic_load_n(&owner->state, __ATOMIC_SEQ_CST) == AB_SHARD_IDLE &&
        ab_shard_take(owner, AB_SHARD_BUSY))
        ab_shard_give_up(owner);
}

void ab_shard_send(struct ab_shard *from)
{
    uint32_t n = from->n_waiting;
    from->n_waiting = 0;
    if (n > 0)
        push_chain(from->to, from->first, from->last);
}

static void send_later(struct ab_shard *from, struct ab_shard *owner, struct ab_shards_link *link)
{
    if (from->n_waiting > 0 && from->to != owner)
        ab_shard_send(from);
    set_next(link, from->first);
    if (from->n_waiting == 0)
        from->last = link;
    from->first = link;
    from->to = owner;
    if (++from->n_waiting == AB_SHARD_BATCH)
        ab_shard_send(from);
}

__attribute__((noinline)) void ab_shard_free(struct ab_shard *from, struct ab_shard *owner,
                                             void *block, bool is_urgent)
{
    struct ab_shards_link *link = (struct ab_shards_link *)block;
    if (owner == from || !owner->is_plain) {
        ab_shard_lock(owner);
        owner->shards->calls.free_own(owner, block);
        ab_shard_unlock(owner);
        return;
    }
    AB_MARK_EXPECT(link, true);
    AB_MARK_UNUSED(link, owner->shards->calls.bytes_of(owner, block));
    /* a heap with a lock has no batch, because several threads would write to it */
    if (is_urgent || !from->is_plain)
        push_chain(owner, link, link);
    else
        send_later(from, owner, link);
}

struct ab_shards_link *ab_shard_take_remote(struct ab_shard *shard)
{
    if (__atomic_load_n(&shard->remote, __ATOMIC_RELAXED) == NULL)
        return NULL;
    return __atomic_exchange_n(&shard->remote, (struct ab_shards_link *)NULL, __ATOMIC_ACQUIRE);
}

void *ab_shard_pop(struct ab_shards_link **chain)
{
    struct ab_shards_link *link = *chain;
    *chain = next_of(link);
    AB_MARK_DEFINED(link, sizeof *link); /* the owner marks it again when it frees the block */
    return link;
}

/* Drops the blocks that wait in the heap or were sent to it, because they are dead. If only a
 * single heap is reset, the blocks that wait in it are sent, because they belong to other heaps and
 * these live on. */
void ab_shard_forget(const struct ab_shard *whole, struct ab_shard *each)
{
    if (!is_group(whole))
        ab_shard_send(each);
    each->n_waiting = 0;
    each->first = NULL;
    __atomic_store_n(&each->remote, (struct ab_shards_link *)NULL, __ATOMIC_RELAXED);
}

size_t ab_shard_in_flight(const struct ab_shard *whole, const struct ab_shard *each)
{
    const struct ab_shards_calls *calls = &each->shards->calls;
    const struct ab_shards_link *link = __atomic_load_n(&each->remote, __ATOMIC_ACQUIRE);
    uint32_t n_waiting = is_group(whole) ? each->n_waiting : 0;
    size_t bytes = 0;
    for (; link != NULL; link = next_of(link))
        bytes += calls->bytes_of((struct ab_shard *)each, link);
    for (link = each->first; n_waiting > 0; n_waiting--, link = next_of(link))
        bytes += calls->bytes_of(each->to, link);
    return bytes;
}
