/* SPDX-License-Identifier: MIT
 *
 * How blocks of the arena end: resize, save points, resets, clean-ups, pages that go back.
 */
#include "../common/pages.h"
#include "arena.h"
#include "arena_region.h"

#include <errno.h>

/* [from, next) is dead. */
static void arena_bury(struct ab_arena *a, char *from)
{
    size_t bytes = (size_t)(a->next - from);
    (void)bytes;
#ifdef AB_WITH_CHECKS
    AB_MARK_DEFINED(from, bytes);
    memset(from, AB_GUARD_DEAD, bytes);
    if (a->dead_end < a->next)
        a->dead_end = a->next;
#endif
    AB_MARK_UNUSED(from, bytes);
}

/* Blocks end at `to` now, which need not be a multiple of 16. Where any lay close that end stays
 * known to the byte: else a block below it would be taken for the last one, padded to 16. */
static void arena_move_down(struct ab_arena *a, char *to)
{
    char *next = to + (-(uintptr_t)to & (AB_ARENA_ALIGN - 1));
    if (a->next > a->dirty)
        a->dirty = a->next;
    arena_bury(a, next);
    a->next = next;
    bool is_close = to != next || (a->packed != NULL && next != a->base);
    a->packed = is_close ? to : NULL;
    a->packed_end = is_close ? next : NULL;
}

/* The end of the last block, to the byte. */
static char *arena_end_of_blocks(const struct ab_arena *a)
{
    return a->packed != NULL && a->packed_end == a->next ? a->packed : a->next;
}

/* ---- resize ---- */

/* Where a block of that size at `block` would end; only for sizes that were compared with the room. */
static char *arena_end_for(const struct ab_arena *a, char *block, size_t size)
{
    bool is_packed = a->packed != NULL && a->packed_end == a->next;
    return is_packed ? block + ab_arena_last_byte(size) + 1 : block + ab_arena_block_bytes(size);
}

/* The bytes from old_size on become part of the block, or cease to be; the granule that both
 * share is set anew. */
static void arena_resize_top(struct ab_arena *a, char *block, size_t old_size, size_t new_size)
{
    char *to = arena_end_for(a, block, new_size), *next = to + (-(uintptr_t)to & 15);
    size_t kept = new_size & ~(size_t)7;
    (void)old_size, (void)kept;
    if (to < arena_end_of_blocks(a)) {
        arena_move_down(a, to);
    } else {
        if (to != next || a->packed_end == a->next) {
            a->packed = to;
            a->packed_end = next;
        }
#ifdef AB_WITH_CHECKS
        ab_block_demand_dead(&a->blocks, a->next, next < a->dead_end ? next : a->dead_end);
        AB_MARK_DEFINED(block, new_size);
        if (new_size > old_size)
            memset(block + old_size, AB_GUARD_NEW, new_size - old_size);
#endif
        a->next = next;
    }
    AB_MARK_RESIZE(a->end, block, new_size);
    AB_MARK_UNUSED(block + kept, (size_t)(next - block) - kept);
    AB_MARK_DEFINED(block, new_size);
#ifdef AB_WITH_CHECKS
    ab_block_set_size(block, new_size);
#endif
}

static void *arena_copy(struct ab_arena *a, size_t align, void *block, size_t old_size,
                        size_t new_size)
{
    void *copy = ab_arena_alloc_aligned(a, align, new_size);
    if (copy == NULL)
        return NULL;
    memcpy(copy, block, old_size);
#ifdef AB_WITH_CHECKS
    ab_block_moved(&a->blocks, block);
    memset(block, AB_GUARD_DEAD, old_size);
#endif
    AB_MARK_FREE(a->end, block, old_size);
    return copy;
}

void *ab_arena_resize_aligned(struct ab_arena *a, size_t align, void *block, size_t old_size,
                              size_t new_size)
{
    char *p = (char *)block;
    if (p == NULL)
        return ab_arena_alloc_aligned(a, align, new_size);
#ifdef AB_WITH_CHECKS
    ab_arena_demand_open(a);
    ab_block_demand(&a->blocks, block, old_size);
#endif
    /* A block of another arena may end where this one begins. */
    bool is_top = p >= a->base && p < a->next &&
                  arena_end_for(a, p, old_size) == arena_end_of_blocks(a);
    if (is_top && ab_arena_make_room(a, p, new_size)) {
        arena_resize_top(a, p, old_size, new_size);
        return p;
    }
    /* What is behind a block up to the next multiple of 16 is its own, unless blocks lie close. */
    size_t own = a->plain_bytes != 0 ? ab_arena_block_bytes(old_size) - AB_ARENA_GAP : old_size;
    if (!is_top && new_size <= own) {
#ifdef AB_WITH_CHECKS
        ab_block_set_size(block, new_size);
#endif
        AB_MARK_DEFINED(p, new_size);
        return p;
    }
    if (is_top && a->chain_bytes == 0 && a->exhausted == NULL)
        return NULL;
    return arena_copy(a, align, block, old_size, new_size);
}

/* The usual case in few instructions: on top, within what is committed, not among close blocks,
 * without checks or marks. */
static bool arena_resize_plain(struct ab_arena *a, char *p, size_t old_size, size_t new_size)
{
    size_t last = ab_arena_last_byte(new_size);
    if (AB_MARKS || AB_ARENA_CHECKS || p < a->base ||
        p + ab_arena_block_bytes(old_size) != a->next || a->packed_end == a->next ||
        last >= (size_t)(a->limit - p))
        return false;
    char *to = p + ab_arena_block_bytes(new_size);
    if (to < a->next && a->next > a->dirty)
        a->dirty = a->next;
    a->next = to;
    return true;
}

void *ab_arena_resize(struct ab_arena *a, void *block, size_t old_size, size_t new_size)
{
    if (block != NULL && arena_resize_plain(a, (char *)block, old_size, new_size))
        return block;
    return ab_arena_resize_aligned(a, AB_ARENA_ALIGN, block, old_size, new_size);
}

/* ---- save points ---- */

struct ab_arena_mark ab_arena_save(const struct ab_arena *a)
{
    if (AB_ARENA_CHECKS)
        ab_arena_demand_open(a);
    struct ab_arena_mark mark = {a->used_below + (size_t)(arena_end_of_blocks(a) - a->base), 0, 0};
#ifdef AB_WITH_CHECKS
    mark.arena_id = a->blocks.id;
    mark.serial = ab_block_mark(&a->blocks);
#endif
    return mark;
}

static void arena_run_deferred(struct ab_arena *a, size_t position)
{
    while (a->deferred != NULL && a->deferred->position >= position) {
        struct ab_arena_deferred *record = a->deferred;
        a->deferred = record->below;
        record->act(record->context);
    }
}

/* The blocks of this region from `from` on are looked at for the last time. */
static void arena_kill(struct ab_arena *a, const char *from)
{
    (void)a, (void)from;
#ifdef AB_WITH_CHECKS
    ab_block_kill_in(&a->blocks, from, a->end);
#endif
}

static void arena_cut(struct ab_arena *a, size_t position)
{
    while (a->below != NULL && position <= a->used_below) {
        arena_kill(a, a->base);
        arena_bury(a, a->base);
        ab_arena_pop_region(a);
    }
    size_t within = position - a->used_below;
    arena_kill(a, a->base + within);
    AB_MARK_POOL_TRIM(a->end, a->base, within);
    arena_move_down(a, a->base + within);
    if ((size_t)(a->limit - a->next) > a->keep_bytes)
        ab_arena_trim(a, a->keep_bytes);
    if (position == 0 && a->below == NULL && a->deferred == NULL)
        a->plain_bytes =
            a->keep_bytes; /* a reset is an assignment again, a block has its 16 bytes */
}

/* Ahead of the arena: nothing is done. */
static void arena_go_back(struct ab_arena *a, size_t position)
{
    ab_arena_demand_open(a);
    if (position > ab_arena_save(a).position)
        return;
    arena_run_deferred(a, position);
    arena_cut(a, position);
#ifdef AB_WITH_CHECKS
    ab_block_cut_short(&a->blocks, a->base, a->next);
#endif
}

void ab_arena_restore_position(struct ab_arena *a, size_t position)
{
    arena_go_back(a, position);
#ifdef AB_WITH_CHECKS
    if (position == 0)
        ab_block_forget_all(&a->blocks);
    else
        ab_block_forget_dead(&a->blocks);
#endif
}

void ab_arena_restore(struct ab_arena *a, struct ab_arena_mark mark)
{
#ifdef AB_WITH_CHECKS
    ab_arena_demand_open(a);
    ab_block_demand_mark(&a->blocks, mark.arena_id, mark.serial);
    if ((mark.position & (AB_ARENA_ALIGN - 1)) != 0)
        ab_guard_end("arena", &a->blocks, "a save point of another arena, or of none");
#endif
    arena_go_back(a, mark.position);
#ifdef AB_WITH_CHECKS
    ab_block_forget_after(&a->blocks, mark.serial);
#endif
}

bool ab_arena_defer(struct ab_arena *a, void (*act)(void *context), void *context)
{
    size_t position = ab_arena_save(a).position;
    struct ab_arena_deferred *record = (struct ab_arena_deferred *)ab_arena_alloc(
        a, sizeof(struct ab_arena_deferred));
    if (record == NULL)
        return false;
    record->act = act;
    record->context = context;
    record->position = position;
    record->below = a->deferred;
    a->deferred = record;
    a->plain_bytes = 0;
    return true;
}

/* ---- the end ---- */

void ab_arena_fini(struct ab_arena *arena)
{
    ab_arena_restore_position(arena, 0);
    ab_arena_drop_spare(arena);
    AB_MARK_POOL_DESTROY(arena->end);
    char *start = arena->base - arena->head_bytes;
    AB_MARK_DEFINED(start, (size_t)(arena->limit - start));
    size_t bytes = arena->page_bytes == 0 ? 0 : (size_t)(arena->end - start);
    memset(arena, 0, sizeof *arena);
    if (bytes != 0)
        ab_pages_release(start, bytes);
}

struct ab_arena *ab_arena_open(const struct ab_arena_options *options)
{
    struct ab_arena a;
    size_t head = ab_round_up(sizeof a, AB_CACHE_LINE_BYTES);
    int error = ab_arena_init(&a, options);
    if (error == 0 && (size_t)(a.end - a.base) <= head) {
        ab_arena_fini(&a);
        error = ENOMEM;
    }
    if (error == 0 && !ab_arena_commit(&a, head)) {
        error = errno;
        ab_arena_fini(&a);
    }
    if (error != 0) {
        errno = error;
        return NULL;
    }
    struct ab_arena *arena = (struct ab_arena *)(void *)a.base;
    AB_MARK_DEFINED(arena, head);
    a.head_bytes = head;
    a.next = a.base = a.dirty = a.base + head;
#ifdef AB_WITH_CHECKS
    a.dead_end = a.base;
#endif
    *arena = a;
    return arena;
}

void ab_arena_close(struct ab_arena *arena)
{
    if (arena == NULL)
        return;
    ab_arena_reset(arena); /* clean-ups may still ask it for memory */
    struct ab_arena copy = *arena;
    ab_arena_fini(&copy);
}

/* ---- pages that go back ---- */

/* The first whole page that begins `kept` bytes after the last block; limit when there is none. */
static char *arena_spare_pages(const struct ab_arena *a, size_t kept)
{
    size_t room = (size_t)(a->limit - a->next);
    if (a->page_bytes == 0 || kept >= room)
        return a->limit;
    char *from = a->next + kept;
    return from + (-(uintptr_t)from & (a->page_bytes - 1));
}

/* The pages from there on are zero. */
static void arena_forget_contents(struct ab_arena *a, char *from)
{
    if (a->dirty > from)
        a->dirty = from;
#ifdef AB_WITH_CHECKS
    if (a->dead_end > from)
        a->dead_end = from;
#endif
}

void ab_arena_purge(struct ab_arena *a)
{
    ab_arena_demand_open(a);
    char *from = arena_spare_pages(a, 0);
    ab_arena_drop_spare(a);
    if (from >= a->limit)
        return;
    a->n_os_calls++;
    if (ab_pages_discard(from, (size_t)(a->limit - from)) == 0)
        arena_forget_contents(a, from);
}

void ab_arena_trim(struct ab_arena *a, size_t keep_bytes)
{
    ab_arena_demand_open(a);
    char *from = arena_spare_pages(a, keep_bytes);
    if (a->spare != NULL && (size_t)(a->spare->own_limit - (char *)a->spare) > keep_bytes)
        ab_arena_drop_spare(a);
    if (from >= a->limit)
        return;
    size_t bytes = (size_t)(a->limit - from);
    a->n_os_calls += 2;
    if (ab_pages_decommit(from, bytes) != 0)
        return;
    arena_forget_contents(a, from);
    AB_MARK_DEFINED(from, bytes);
    a->limit = from;
}

void ab_arena_release(struct ab_arena *a)
{
    ab_arena_reset(a);
    ab_arena_trim(a, 0);
}

/* ---- the checked build ---- */

#ifdef AB_WITH_CHECKS
void *ab_arena_checked_born(struct ab_arena *a, void *block, size_t size)
{
    return ab_block_born(&a->blocks, a->end, block, size, ab_arena_block_bytes(size));
}

void ab_arena_visit(const struct ab_arena *a,
                    void (*visit)(void *block, size_t size, void *context), void *context)
{
    ab_block_visit(&a->blocks, visit, context);
}
#endif
