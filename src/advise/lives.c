/* SPDX-License-Identifier: MIT
 *
 * Keeps the live blocks of each owner in a list by age, linked through their slots, so that the
 * youngest block is known at each free.
 */
#include "advise/lives.h"

#include "base/bits.h"
#include "core/alloc.h"

#include <stdlib.h>

void ab_lives_fini(struct ab_lives *l)
{
    free(l->slots);
    free(l->owners);
    l->slots = NULL;
    free(l->asked);
    l->owners = NULL;
    l->asked = NULL;
    l->cap_asked = 0;
    l->cap_slots = l->cap_owners = l->n_owners = 0;
}

/* Returns the index of the scopes that apply to the thread: 0 = plan->scopes, i + 1 = entry i of
 * plan->threads, SIZE_MAX = the thread has no scopes. */
static size_t place_of(const struct ab_lives *l, uint32_t thread)
{
    if (!l->scopes->is_of_thread || thread == l->scopes->thread)
        return 0;
    for (size_t i = 0; i < l->threads->n; i++)
        if (l->threads->items[i].thread == thread)
            return i + 1;
    return SIZE_MAX;
}

uint64_t ab_lives_scope(struct ab_lives *l, uint32_t thread)
{
    size_t place = place_of(l, thread);
    if (place == 0 || place == SIZE_MAX)
        return l->scope;
    const struct ab_thread_scopes *other = &l->threads->items[place - 1];
    uint64_t *scope = &l->other_scope[place - 1];
    while (*scope < other->n && other->ends[*scope] <= l->call)
        (*scope)++;
    return *scope;
}

uint64_t ab_lives_outlived(struct ab_lives *l, const struct ab_life *life)
{
    return place_of(l, life->thread) != SIZE_MAX && !life->is_handed_over
               ? ab_lives_scope(l, life->thread) - life->scope
               : UINT64_MAX;
}

static uint64_t bytes_of(const struct ab_lives *l, const struct ab_event *e)
{
    if (!l->rounds)
        return e->size;
    uint64_t size = e->size < 16 ? 16 : e->size;
    uint64_t slack = e->kind == AB_EVENT_ALLOC_ALIGNED && e->align > 16 ? e->align : 0;
    return size > UINT64_MAX / 2 ? size : ab_align_up(size, 16) + slack;
}

/* Counts a request of `bytes` by `thread` for `owner`, in total and within the thread's current
 * scope. A resize counts as a further request, because an arena takes memory for each call. */
static void count(struct ab_lives *l, uint32_t owner, uint32_t thread, uint64_t bytes)
{
    size_t place = place_of(l, thread);
    struct ab_life_owner *o = &l->owners[owner];
    struct ab_life_scope *asked =
        &l->asked[owner * (l->threads->n + 1) + (place != SIZE_MAX ? place : 0)];
    uint64_t scope = ab_lives_scope(l, thread);
    if (asked->scope != scope)
        *asked = (struct ab_life_scope){.scope = scope};
    asked->blocks++;
    asked->bytes += bytes;
    o->fill_blocks++;
    o->fill_bytes += bytes;
    o->bytes += bytes;
    o->most_blocks = o->blocks > o->most_blocks ? o->blocks : o->most_blocks;
    o->most_bytes = o->bytes > o->most_bytes ? o->bytes : o->most_bytes;
    o->scope_most_blocks = asked->blocks > o->scope_most_blocks ? asked->blocks
                                                                : o->scope_most_blocks;
    o->scope_most_bytes = asked->bytes > o->scope_most_bytes ? asked->bytes : o->scope_most_bytes;
    o->fill_most_blocks = o->fill_blocks > o->fill_most_blocks ? o->fill_blocks
                                                               : o->fill_most_blocks;
    o->fill_most_bytes = o->fill_bytes > o->fill_most_bytes ? o->fill_bytes : o->fill_most_bytes;
}

/* Begins a block of the owner. `scope` is the scope in which the block was first allocated. */
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
    count(l, owner, e->thread, l->slots[e->slot].size);
    if (l->given != NULL)
        l->given(l->user, e, owner);
}

/* Ends the block in `slot`. `e` is the event that ends it; NULL = the end of the trace. */
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
    life->is_handed_over |= place_of(l, e->thread) != place_of(l, life->thread);
    o->bytes -= life->size;
    life->size = bytes_of(l, e);
    count(l, owner, life->thread, life->size);
    if (l->given != NULL)
        l->given(l->user, e, owner);
}

static void give(struct ab_lives *l, const struct ab_event *e, uint64_t call)
{
    struct ab_life *old = &l->slots[e->slot];
    bool is_resize = e->kind == AB_EVENT_RESIZE;
    uint64_t scope = is_resize && old->owner != 0 ? old->scope : ab_lives_scope(l, e->thread);
    bool is_handed_over = is_resize && old->owner != 0 &&
                          (old->is_handed_over ||
                           place_of(l, old->thread) != place_of(l, e->thread));
    if (is_resize && l->is_by_birth) {
        if (old->owner != 0)
            resize_in_place(l, e, old->owner - 1);
        return;
    }
    uint32_t owner = l->owner_of(l->user, e);
    if (owner != AB_LIVES_NO_OWNER) {
        size_t last = (owner + (size_t)1) * (l->threads->n + 1) - 1;
        AB_GROW_ZEROED(l->owners, l->cap_owners, owner);
        AB_GROW_ZEROED(l->asked, l->cap_asked, last);
        l->n_owners = owner >= l->n_owners ? owner + 1 : l->n_owners;
    }
    if (is_resize && owner != AB_LIVES_NO_OWNER && old->owner == owner + 1) {
        resize_in_place(l, e, owner);
        return;
    }
    if (old->owner != 0)
        end(l, e->slot, e, call);
    if (owner != AB_LIVES_NO_OWNER) {
        begin(l, e, owner, scope, call);
        l->slots[e->slot].is_handed_over = is_handed_over;
    }
}

/* True if a thread with other scopes frees the block after the last scope of the allocating thread.
 * That thread may have ended, and its end does not end a scope, so the block may have outlived
 * it. */
static bool may_outlive_thread(struct ab_lives *l, const struct ab_life *life,
                               const struct ab_event *e)
{
    size_t place = place_of(l, life->thread);
    if (place == SIZE_MAX || place == place_of(l, e->thread))
        return false;
    return life->scope == (place == 0 ? l->scopes->n : l->threads->items[place - 1].n);
}

static void take(struct ab_lives *l, const struct ab_event *e, uint64_t call)
{
    l->call = call;
    while (l->scope < l->scopes->n && l->scopes->ends[l->scope] <= call)
        l->scope++;
    AB_GROW_ZEROED(l->slots, l->cap_slots, e->slot);
    struct ab_life *life = &l->slots[e->slot];
    if (e->kind == AB_EVENT_FREE || e->released) {
        if (life->owner == 0)
            return;
        life->is_handed_over |= may_outlive_thread(l, life, e);
        end(l, e->slot, e, call);
    } else if (!e->failed) {
        give(l, e, call);
    }
}

static enum ab_status visit(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    struct ab_lives *l = user;
    (void)err;
    for (size_t i = 0; i < batch->n; i++)
        take(l, &batch->events[i], batch->first + i);
    for (size_t i = 0; batch->where == AB_WALK_END && i < l->cap_slots; i++)
        if (l->slots[i].owner != 0)
            end(l, (uint32_t)i, NULL, batch->first);
    return AB_OK;
}

enum ab_status ab_lives_read(struct ab_lives *l, const struct ab_advise_plan *plan,
                             struct ab_trace_info *info, struct ab_err *err)
{
    struct ab_site_table table = {0};
    const struct ab_walk walk = {.path = plan->path,
                                 .is_partial = plan->is_partial,
                                 .sites = l->is_by_birth ? &table
                                                         /* without call sites, owners are decided
                                                          * by size */
                                                         : NULL,
                                 .visit = visit,
                                 .user = l};
    l->scopes = plan->scopes;
    l->threads = plan->threads;
    enum ab_status status = ab_trace_walk(&walk, info, err);
    ab_site_table_fini(&table);
    return status;
}
