/* SPDX-License-Identifier: MIT
 *
 * Blocks of an owner hang in a list by age, through their slots, so that the youngest is known at
 * each free.
 */
#include "advise/lives.h"

#include "base/bits.h"
#include "core/grow.h"

#include <stdlib.h>

void ab_lives_fini(struct ab_lives *l)
{
    free(l->slots);
    free(l->owners);
    l->slots = NULL;
    l->owners = NULL;
    l->cap_slots = l->cap_owners = l->n_owners = 0;
}

uint64_t ab_lives_outlived(const struct ab_lives *l, const struct ab_life *life)
{
    bool has_scope = !l->is_of_thread || life->thread == l->thread;
    return has_scope ? l->scope - life->scope : UINT64_MAX;
}

static uint64_t bytes_of(const struct ab_lives *l, const struct ab_event *e)
{
    if (!l->rounds)
        return e->size;
    uint64_t size = e->size < 16 ? 16 : e->size;
    uint64_t slack = e->kind == AB_EVENT_ALLOC_ALIGNED && e->align > 16 ? e->align : 0;
    return size > UINT64_MAX / 2 ? size : ab_align_up(size, 16) + slack;
}

/* Of the owner; asked for in its scope as well, for what takes memory with every call. */
static void count(const struct ab_lives *l, struct ab_life_owner *o, uint64_t bytes)
{
    if (o->scope != l->scope || (o->scope_blocks == 0 && o->scope_bytes == 0)) {
        o->scope = l->scope;
        o->scope_blocks = o->scope_bytes = 0;
    }
    o->scope_blocks++;
    o->scope_bytes += bytes;
    o->fill_blocks++;
    o->fill_bytes += bytes;
    o->bytes += bytes;
    o->most_blocks = o->blocks > o->most_blocks ? o->blocks : o->most_blocks;
    o->most_bytes = o->bytes > o->most_bytes ? o->bytes : o->most_bytes;
    o->scope_most_blocks = o->scope_blocks > o->scope_most_blocks ? o->scope_blocks
                                                                  : o->scope_most_blocks;
    o->scope_most_bytes = o->scope_bytes > o->scope_most_bytes ? o->scope_bytes
                                                               : o->scope_most_bytes;
    o->fill_most_blocks = o->fill_blocks > o->fill_most_blocks ? o->fill_blocks
                                                               : o->fill_most_blocks;
    o->fill_most_bytes = o->fill_bytes > o->fill_most_bytes ? o->fill_bytes : o->fill_most_bytes;
}

/* `scope`: in which the block was allocated first. */
static void begin(struct ab_lives *l, const struct ab_event *e, uint32_t owner, uint64_t scope,
                  uint64_t call)
{
    struct ab_life_owner *o = &l->owners[owner];
    l->slots[e->slot] = (struct ab_life){.born = call,
                                         .size = bytes_of(l, e),
                                         .scope = scope,
                                         .owner = owner + 1,
                                         .thread = e->thread,
                                         .older = o->youngest};
    if (o->youngest != 0)
        l->slots[o->youngest - 1].younger = e->slot + 1;
    o->youngest = e->slot + 1;
    if (o->blocks++ == 0) {
        o->n_fills++;
        o->fill_blocks = o->fill_bytes = 0;
    }
    count(l, o, l->slots[e->slot].size);
    if (l->given != NULL)
        l->given(l->user, e, owner);
}

/* `e` NULL: the trace ends. */
static void end(struct ab_lives *l, uint32_t slot, const struct ab_event *e, uint64_t call)
{
    struct ab_life *life = &l->slots[slot];
    struct ab_life_owner *o = &l->owners[life->owner - 1];
    l->ended(l->user, life, o->youngest == slot + 1, e, call);
    if (life->younger != 0)
        l->slots[life->younger - 1].older = life->older;
    else
        o->youngest = life->older;
    if (life->older != 0)
        l->slots[life->older - 1].younger = life->younger;
    o->blocks--;
    o->bytes -= life->size;
    *life = (struct ab_life){0};
}

static void resize_in_place(struct ab_lives *l, const struct ab_event *e, uint32_t owner)
{
    struct ab_life *life = &l->slots[e->slot];
    struct ab_life_owner *o = &l->owners[owner];
    o->bytes -= life->size;
    life->size = bytes_of(l, e);
    count(l, o, life->size);
    if (l->given != NULL)
        l->given(l->user, e, owner);
}

static bool give(struct ab_lives *l, const struct ab_event *e, uint64_t call)
{
    struct ab_life *old = &l->slots[e->slot];
    bool is_resize = e->kind == AB_EVENT_RESIZE;
    uint64_t scope = is_resize && old->owner != 0 ? old->scope : l->scope;
    uint32_t owner;
    if (is_resize && l->is_by_birth) {
        if (old->owner != 0)
            resize_in_place(l, e, old->owner - 1);
        return true;
    }
    if (!l->owner_of(l->user, e, &owner))
        return false;
    if (owner != AB_LIVES_NO_OWNER) {
        if (!AB_GROW_ZEROED(l->owners, l->cap_owners, owner))
            return false;
        l->n_owners = owner >= l->n_owners ? owner + 1 : l->n_owners;
    }
    if (is_resize && owner != AB_LIVES_NO_OWNER && old->owner == owner + 1) {
        resize_in_place(l, e, owner);
        return true;
    }
    if (old->owner != 0)
        end(l, e->slot, e, call);
    if (owner != AB_LIVES_NO_OWNER)
        begin(l, e, owner, scope, call);
    return true;
}

static bool take(struct ab_lives *l, const struct ab_event *e, uint64_t call)
{
    while (l->scope < l->n_scope_ends && l->scope_ends[l->scope] <= call)
        l->scope++;
    if (!AB_GROW_ZEROED(l->slots, l->cap_slots, e->slot))
        return false;
    if (e->kind != AB_EVENT_FREE && !e->released)
        return e->failed || give(l, e, call);
    if (l->slots[e->slot].owner != 0)
        end(l, e->slot, e, call);
    return true;
}

enum ab_status ab_lives_visit(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    struct ab_lives *l = user;
    for (size_t i = 0; i < batch->n; i++)
        if (!take(l, &batch->events[i], batch->first + i))
            return ab_fail(err, AB_SYSTEM, "out of memory for the blocks of the trace");
    for (size_t i = 0; batch->where == AB_WALK_END && i < l->cap_slots; i++)
        if (l->slots[i].owner != 0)
            end(l, (uint32_t)i, NULL, batch->first);
    return AB_OK;
}
