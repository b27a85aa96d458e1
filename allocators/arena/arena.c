/* SPDX-License-Identifier: MIT
 *
 * The arena outside of its fast path: how regions are reserved, committed step by step, chained and
 * given back; slow allocations; resizing; and how blocks end.
 *
 * Pages above `dirty` were not handed out since the system zeroed them, so that zeroed blocks are
 * cheap. `dirty` is raised only when the pointer goes down, so that allocation never has to.
 */
#include "arena.h"

#include "../common/checked.h"
#include "../common/pages.h"

#include <errno.h>

enum { CACHE_LINE_BYTES = 64 };

/* The header of a further region. It stores the members of the arena for the region below, and its
 * own size. */
struct ab_arena_region {
    char *next, *limit, *base, *end, *dirty, *packed, *packed_end;
    size_t page_bytes, head_bytes;
    struct ab_arena_region *below;
    size_t bytes;
    char *own_limit, *own_dirty; /* limit and dirty of this region while it is the spare one */
};
/* Copies the members that an arena and a region both have. */
#define COPY_REGION(to, from) \
    ((to)->next = (from)->next, (to)->limit = (from)->limit, (to)->base = (from)->base, \
     (to)->end = (from)->end, (to)->dirty = (from)->dirty, (to)->packed = (from)->packed, \
     (to)->packed_end = (from)->packed_end, (to)->page_bytes = (from)->page_bytes, \
     (to)->head_bytes = (from)->head_bytes, (to)->below = (from)->below)

struct ab_arena_deferred {
    void (*act)(void *context);
    void *context;
    size_t position; /* position of the arena just before this record was allocated */
    struct ab_arena_deferred *below;
};

static const size_t arena_first_step_bytes = (size_t)64 << 10;
static const size_t arena_largest_step_bytes = (size_t)64 << 20;
static const uint32_t arena_magic = 0xA7E4AB0Bu;

/* Ends the process if the arena is not open; only in the checked build. */
static void arena_demand_open(const struct ab_arena *a)
{
    if (AB_CHECKS && (a == NULL || a->magic != arena_magic))
        ab_guard_end("arena", a, AB_SAYS_CLOSED);
}

/* ---- regions ---- */

/* Makes the bytes [base, base + bytes) the region that the arena allocates from. Pages of the
 * system (page_bytes > 0) are not committed yet. A buffer of the caller (page_bytes 0) can be used
 * at once. */
static void arena_enter(struct ab_arena *a, char *base, size_t bytes, size_t page_bytes)
{
    char *limit = page_bytes != 0 ? base : base + bytes;
    a->next = a->base = base;
    a->limit = limit;
    /* pages of the system are all zero; a buffer of the caller may have any contents, so all of it
     * counts as dirty */
    a->dirty = limit;
    a->end = base + bytes;
    a->packed = a->packed_end = NULL;
    a->page_bytes = page_bytes;
    a->head_bytes = 0;
    AB_MARK_POOL_CREATE(a->end);
    AB_CHECKED(a->dead_end = base);
}

static void arena_set_floor(struct ab_arena *a)
{
    bool is_plain = a->below == NULL && a->deferred == NULL && a->packed == NULL &&
                    (size_t)(a->limit - a->base) <= a->keep_bytes;
    a->floor = is_plain ? a->base : AB_ARENA_NO_FLOOR;
}

static void arena_start(struct ab_arena *a, size_t keep_bytes)
{
    a->keep_bytes = keep_bytes == 0 ? SIZE_MAX : keep_bytes;
    arena_set_floor(a);
    a->magic = arena_magic;
    AB_CHECKED(ab_block_list_open(&a->blocks, "arena"));
}

/* Reserves addresses. Returns NULL and sets errno on failure. */
static char *arena_reserve(size_t bytes, size_t align, bool is_huge)
{
    return (char *)ab_pages_huge_if(is_huge, ab_pages_reserve(bytes, align), bytes);
}

static char *arena_reserve_usual(size_t *bytes, size_t align, bool is_huge)
{
    char *base = NULL;
    for (*bytes = AB_ARENA_RESERVE_USUAL; *bytes >= arena_largest_step_bytes; *bytes /= 2)
        if ((base = arena_reserve(*bytes, align, is_huge)) != NULL)
            break;
    return base;
}

int ab_arena_init(struct ab_arena *arena, const struct ab_arena_options *o)
{
    size_t page = ab_page_size(), step = o->step_bytes;
    if (o->huge && step < AB_HUGE_PAGE_BYTES)
        step = AB_HUGE_PAGE_BYTES;
    size_t align = step >= AB_HUGE_PAGE_BYTES ? AB_HUGE_PAGE_BYTES : page;
    if (o->reserve_bytes > PTRDIFF_MAX - align)
        return ENOMEM;
    size_t bytes = ab_round_up(o->reserve_bytes, page);
    char *base = bytes != 0 ? arena_reserve(bytes, align, o->huge)
                            : arena_reserve_usual(&bytes, align, o->huge);
    if (base == NULL)
        return errno;
    memset(arena, 0, sizeof *arena);
    arena_enter(arena, base, bytes, page);
    arena_start(arena, o->keep_bytes);
    arena->step_bytes = step > bytes ? bytes : ab_round_up(step, page);
    arena->chain_bytes = o->chain_bytes;
    arena->n_os_calls = 1u + o->huge;
    arena->populates = o->populate;
    arena->is_huge = o->huge;
    return 0;
}

void ab_arena_init_buffer(struct ab_arena *arena, void *buffer, size_t bytes)
{
    size_t head = -(uintptr_t)buffer & (AB_ARENA_ALIGN - 1);
    /* base is aligned even if the buffer is too small for a block */
    char *base = (char *)((uintptr_t)buffer + head);
    bytes = head < bytes ? (bytes - head) & ~(AB_ARENA_ALIGN - 1) : 0;
    memset(arena, 0, sizeof *arena);
    arena_enter(arena, base, bytes, 0);
    arena_start(arena, 0);
    AB_MARK_UNUSED(base, bytes);
}

void ab_arena_chain(struct ab_arena *arena, size_t chain_bytes)
{
    arena->chain_bytes = chain_bytes;
}

void ab_arena_on_exhausted(struct ab_arena *arena, ab_arena_exhausted *ask, void *context)
{
    arena->exhausted = ask;
    arena->exhausted_context = context;
}

/* Returns the bytes to commit next. Growing steps double the committed memory, so that n bytes cost
 * O(log n) calls. */
static size_t arena_next_step(const struct ab_arena *a)
{
    if (a->step_bytes != 0)
        return a->step_bytes;
    size_t step = (size_t)(a->limit - a->base);
    if (step < arena_first_step_bytes)
        step = arena_first_step_bytes;
    return step < arena_largest_step_bytes ? step : arena_largest_step_bytes;
}

/* Commits pages so that [limit, limit + need) is usable; need must be ≤ end − limit. Returns false
 * and sets errno on failure. */
static bool arena_commit(struct ab_arena *a, size_t need)
{
    size_t room = (size_t)(a->end - a->limit), step = arena_next_step(a);
    size_t bytes = need > step ? need : step;
    char *to = a->limit + (bytes < room ? bytes : room);
    bytes = ab_round_up((uintptr_t)to, a->page_bytes) - (uintptr_t)a->limit;
    a->n_os_calls += 1u + a->populates;
    int error = ab_pages_commit(a->limit, bytes);
    if (error == 0 && a->populates && (error = ab_pages_populate(a->limit, bytes)) != 0)
        (void)ab_pages_decommit(a->limit, bytes);
    if (error != 0) {
        errno = error;
        return false;
    }
    AB_MARK_UNUSED(a->limit, bytes);
    a->limit += bytes;
    arena_set_floor(a);
    return true;
}

/* ---- the chain ---- */

static bool arena_enter_region(struct ab_arena *a, struct ab_arena_region *header, char *limit,
                               char *dirty, size_t bytes)
{
    struct ab_arena before = *a;
    char *start = (char *)header;
    size_t head = ab_round_up(sizeof *header, CACHE_LINE_BYTES);
    arena_enter(a, start, bytes, ab_page_size());
    a->limit = limit;
    if (limit == start && !arena_commit(a, head)) {
        AB_MARK_POOL_DESTROY(a->end);
        *a = before;
        return false;
    }
    AB_MARK_DEFINED(header, head);
    COPY_REGION(header, &before);
    header->bytes = bytes;
    a->used_below += (size_t)(before.next - before.base);
    a->committed_below += (size_t)(before.limit - before.base);
    a->head_bytes = head;
    a->next = a->base = start + head;
    a->dirty = dirty > a->base ? dirty : a->base;
    a->below = header;
    arena_set_floor(a);
    AB_CHECKED(a->dead_end = a->base);
    return true;
}

/* Releases a region, with the unused page after it. That page keeps the end of a region different
 * from the beginning of any other. */
static void arena_release(void *region, size_t bytes)
{
    ab_pages_release(region, bytes + ab_page_size());
}

/* Makes a region current that can hold a block of `size` bytes aligned to `align`: the spare
 * region, or a new one. */
static bool arena_push_region(struct ab_arena *a, size_t align, size_t size)
{
    size_t page = ab_page_size(), least = ab_arena_used(a), need;
    size_t extra = 2 * CACHE_LINE_BYTES + sizeof(struct ab_arena_region) + AB_ARENA_FRONT +
                   AB_ARENA_GAP + page;
    if (least < a->chain_bytes)
        least = a->chain_bytes;
    if (align > PTRDIFF_MAX / 4 || __builtin_add_overflow(size, align + extra, &need) ||
        need > PTRDIFF_MAX / 2)
        return false;
    struct ab_arena_region *spare = a->spare;
    if (spare != NULL && spare->bytes >= need) {
        a->spare = NULL;
        return arena_enter_region(a, spare, spare->own_limit, spare->own_dirty, spare->bytes);
    }
    size_t bytes = ab_round_up(need > least ? need : least, page);
    char *start = arena_reserve(bytes + page, a->is_huge ? AB_HUGE_PAGE_BYTES : page, a->is_huge);
    if (start == NULL)
        return false;
    a->n_os_calls += 1u + a->is_huge;
    if (arena_enter_region(a, (struct ab_arena_region *)(void *)start, start, start, bytes))
        return true;
    arena_release(start, bytes);
    return false;
}

static void arena_drop_spare(struct ab_arena *a)
{
    struct ab_arena_region *spare = a->spare;
    if (spare == NULL)
        return;
    a->spare = NULL;
    a->n_os_calls++;
    AB_MARK_DEFINED(spare, (size_t)(spare->own_limit - (char *)spare));
    arena_release(spare, spare->bytes);
}

/* Makes the region below current again; there must be one. Keeps the larger one of the old region
 * and the spare region as the spare, if keep_bytes allows it. */
static void arena_pop_region(struct ab_arena *a)
{
    struct ab_arena_region *gone = a->below;
    struct ab_arena_region below = *gone;
    AB_MARK_POOL_DESTROY(a->end);
    gone->own_limit = a->limit;
    gone->own_dirty = a->next > a->dirty ? a->next : a->dirty;
    if (a->spare != NULL && a->spare->bytes < gone->bytes)
        arena_drop_spare(a);
    bool is_kept = a->spare == NULL && (size_t)(a->limit - a->base) <= a->keep_bytes;
    if (is_kept)
        a->spare = gone;
    a->used_below -= (size_t)(below.next - below.base);
    a->committed_below -= (size_t)(below.limit - below.base);
    size_t usable = (size_t)(a->limit - (char *)gone);
    (void)usable;
    COPY_REGION(a, &below);
    AB_CHECKED(a->dead_end = a->next);
    if (is_kept)
        return;
    a->n_os_calls++;
    size_t bytes = gone->bytes;
    AB_MARK_DEFINED(gone, usable);
    arena_release(gone, bytes);
}

/* Commits memory for [block, block + size) and the gap after it. Returns false if the region has no
 * room for it. */
static bool arena_make_room(struct ab_arena *a, const char *block, size_t size)
{
    size_t last = ab_arena_last_byte(size), room = (size_t)(a->end - block);
    if (last >= room || room - last <= AB_ARENA_GAP)
        return false;
    /* The rounded size of a packed block may pass the end of the region by less than 16 bytes. */
    size_t bytes = ab_arena_block_bytes(size);
    const char *end = bytes < room ? block + bytes : a->end;
    return end <= a->limit || arena_commit(a, (size_t)(end - a->limit));
}

/* ---- blocks ---- */

/* Allocates in the current region; returns NULL if there is no room. */
static void *arena_place(struct ab_arena *a, size_t align, size_t size)
{
    size_t room = (size_t)(a->end - a->next);
    size_t pad = AB_ARENA_FRONT + (-((uintptr_t)a->next + AB_ARENA_FRONT) & (align - 1));
    if (pad > room || !arena_make_room(a, a->next + pad, size))
        return NULL;
    char *block = a->next + pad, *end = block + ab_arena_block_bytes(size);
    AB_CHECKED(ab_block_demand_dead(&a->blocks, a->next, end < a->dead_end ? end : a->dead_end));
    a->next = end;
    return block;
}

static void *arena_place_anywhere(struct ab_arena *a, size_t align, size_t size)
{
    void *block = arena_place(a, align, size);
    if (block != NULL || a->chain_bytes == 0 || !arena_push_region(a, align, size))
        return block;
    block = arena_place(a, align, size);
    if (block == NULL)
        arena_pop_region(a);
    return block;
}

static bool arena_ask(struct ab_arena *a, size_t size)
{
    AB_CHECKED(const void *place = ab_block_step_out(&a->blocks));
    bool has_made_room = a->exhausted(a, size, a->exhausted_context);
    AB_CHECKED(ab_block_step_in(&a->blocks, place));
    return has_made_room;
}

__attribute__((noinline)) void *ab_arena_take_slow(struct ab_arena *a, size_t align, size_t size)
{
    arena_demand_open(a);
    AB_CHECKED_CALL(a, "arena");
    void *block = arena_place_anywhere(a, align, size);
    if (block == NULL && a->exhausted != NULL && arena_ask(a, size))
        block = arena_place_anywhere(a, align, size);
    return block;
}

/* Allocates a block at a multiple of 16. The next block of a smaller alignment is packed directly
 * after it. */
__attribute__((noinline)) void *ab_arena_take_packed(struct ab_arena *a, size_t size)
{
    char *block = (char *)ab_arena_take_slow(a, AB_ARENA_ALIGN, size);
    if (block == NULL)
        return NULL;
    a->packed = block + ab_arena_last_byte(size) + 1;
    a->packed_end = a->next;
    arena_set_floor(a);
    return block;
}

void *ab_arena_alloc_aligned(struct ab_arena *a, size_t align, size_t size)
{
    AB_CHECKED_CALL(a, "arena");
    if (align == 0 || (align & (align - 1)) != 0)
        return NULL;
    if (align <= AB_ARENA_ALIGN)
        return ab_arena_alloc_packed(a, align, size);
    if (!AB_CHECKS && a == NULL)
        return NULL;
    return ab_arena_born(a, ab_arena_take_slow(a, align, size), size);
}

/* Clears the block's bytes below `dirty`. The block may be in a region with another `dirty`, so its
 * addresses are compared, not a position. */
static void *arena_clear(const struct ab_arena *a, void *block, size_t size)
{
    if (block == NULL)
        return NULL;
    if (AB_CHECKS || (char *)block < a->dirty) {
        size_t stale = AB_CHECKS ? size : (size_t)(a->dirty - (char *)block);
        memset(block, 0, size < stale ? size : stale);
    }
    AB_MARK_DEFINED(block, size);
    return block;
}

void *ab_arena_alloc_zeroed(struct ab_arena *a, size_t size)
{
    AB_CHECKED_CALL(a, "arena");
    return arena_clear(a, ab_arena_alloc(a, size), size);
}

void *ab_arena_alloc_array(struct ab_arena *a, size_t align, size_t n, size_t each_bytes)
{
    size_t bytes;
    AB_CHECKED_CALL(a, "arena");
    if (__builtin_mul_overflow(n, each_bytes, &bytes))
        return NULL;
    return ab_arena_alloc_aligned(a, align, bytes);
}

void *ab_arena_alloc_array_zeroed(struct ab_arena *a, size_t align, size_t n, size_t each_bytes)
{
    AB_CHECKED_CALL(a, "arena");
    void *block = ab_arena_alloc_array(a, align, n, each_bytes);
    return block == NULL ? NULL : arena_clear(a, block, n * each_bytes);
}

/* Marks [from, next) as dead for ASan and Valgrind, and fills it in the checked build. */
static void arena_bury(struct ab_arena *a, char *from)
{
    size_t bytes = (size_t)(a->next - from);
    (void)bytes;
    AB_CHECKED(AB_MARK_DEFINED(from, bytes));
    AB_CHECKED(memset(from, AB_GUARD_DEAD, bytes));
    AB_CHECKED(if (a->dead_end < a->next) a->dead_end = a->next);
    AB_MARK_UNUSED(from, bytes);
}

/* Moves the end of the blocks down to `to`, which need not be a multiple of 16. If blocks were
 * packed, stores the exact end. Otherwise a packed block below it would be taken for the last one,
 * rounded up to 16. */
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

/* Returns the exact end of the last block. */
static char *arena_end_of_blocks(const struct ab_arena *a)
{
    return a->packed != NULL && a->packed_end == a->next ? a->packed : a->next;
}

/* ---- resize ---- */

/* Returns the end of a block of `size` at `block`. Call it only for a size that fits the room. */
static char *arena_end_for(const struct ab_arena *a, char *block, size_t size)
{
    bool is_packed = a->packed != NULL && a->packed_end == a->next;
    return is_packed ? block + ab_arena_last_byte(size) + 1 : block + ab_arena_block_bytes(size);
}

/* Resizes the top block in place: the bytes from old_size on become part of the block, or are
 * freed. Marks the 8 bytes at its new end anew, because ASan knows no smaller unit. */
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
        AB_CHECKED(
            ab_block_demand_dead(&a->blocks, a->next, next < a->dead_end ? next : a->dead_end));
        AB_CHECKED(AB_MARK_DEFINED(block, new_size));
        if (AB_CHECKS && new_size > old_size)
            memset(block + old_size, AB_GUARD_NEW, new_size - old_size);
        a->next = next;
    }
    AB_MARK_RESIZE(a->end, block, new_size);
    AB_MARK_UNUSED(block + kept, (size_t)(next - block) - kept);
    AB_MARK_DEFINED(block, new_size);
    AB_CHECKED(
        ab_block_set_size(block, new_size, ab_block_tail((size_t)(next - block) - new_size)));
}

/* Returns the end of the region that holds the block. This address identifies the block's pool to
 * Valgrind. */
static char *arena_end_around(const struct ab_arena *a, const char *block)
{
    char *base = a->base, *end = a->end;
    for (const struct ab_arena_region *r = a->below; r != NULL && (block < base || block >= end);
         r = r->below) {
        base = r->base;
        end = r->end;
    }
    return end;
}

static void *arena_copy(struct ab_arena *a, size_t align, void *block, size_t old_size,
                        size_t new_size)
{
    const char *home = AB_MARKS ? arena_end_around(a, (const char *)block) : NULL;
    void *copy = ab_arena_alloc_aligned(a, align, new_size);
    (void)home;
    if (copy == NULL)
        return NULL;
    memcpy(copy, block, old_size);
    AB_CHECKED(ab_block_moved(&a->blocks, block));
    AB_CHECKED(memset(block, AB_GUARD_DEAD, old_size));
    AB_MARK_FREE(home, block, old_size);
    return copy;
}

void *ab_arena_resize_aligned(struct ab_arena *a, size_t align, void *block, size_t old_size,
                              size_t new_size)
{
    char *p = (char *)block;
    arena_demand_open(a);
    AB_CHECKED_CALL(a, "arena");
    if (p == NULL)
        return ab_arena_alloc_aligned(a, align, new_size);
    AB_CHECKED(ab_block_demand(&a->blocks, block, old_size, ab_arena_checked_holds(a, block)));
    /* p may be in another arena, which may end where this one begins */
    bool is_top = p >= a->base && p < a->next &&
                  arena_end_for(a, p, old_size) == arena_end_of_blocks(a);
    if (is_top && arena_make_room(a, p, new_size)) {
        arena_resize_top(a, p, old_size, new_size);
        return p;
    }
    /* Without packed blocks, a block owns the bytes up to the next multiple of 16. */
    bool is_close = a->packed != NULL || a->below != NULL;
    size_t own = is_close ? old_size : ab_arena_block_bytes(old_size) - AB_ARENA_GAP;
    if (!is_top && new_size <= own) {
        AB_CHECKED(ab_block_set_size_within(block, new_size));
        AB_MARK_DEFINED(p, new_size);
        return p;
    }
    if (is_top && a->chain_bytes == 0 && a->exhausted == NULL)
        return NULL;
    return arena_copy(a, align, block, old_size, new_size);
}

/* Resizes in place in the usual case: the top block, within the committed memory, not packed,
 * without checks or marks. Returns false in all other cases. */
static bool arena_resize_plain(struct ab_arena *a, char *p, size_t old_size, size_t new_size)
{
    size_t last = ab_arena_last_byte(new_size);
    if (AB_MARKS || AB_CHECKS || p < a->base || p + ab_arena_block_bytes(old_size) != a->next ||
        a->packed_end == a->next || last >= (size_t)(a->limit - p))
        return false;
    char *to = p + ab_arena_block_bytes(new_size);
    if (to < a->next && a->next > a->dirty)
        a->dirty = a->next;
    a->next = to;
    return true;
}

void *ab_arena_resize(struct ab_arena *a, void *block, size_t old_size, size_t new_size)
{
    AB_CHECKED_CALL(a, "arena");
    if (block != NULL && arena_resize_plain(a, (char *)block, old_size, new_size))
        return block;
    return ab_arena_resize_aligned(a, AB_ARENA_ALIGN, block, old_size, new_size);
}

/* ---- save points ---- */

__attribute__((noinline)) struct ab_arena_mark ab_arena_save_slow(const struct ab_arena *a)
{
    arena_demand_open(a);
    struct ab_arena_mark mark = {a->used_below + (size_t)(arena_end_of_blocks(a) - a->base), 0, 0};
    AB_CHECKED(mark.arena_id = a->blocks.id);
    AB_CHECKED(mark.serial = ab_block_mark(&a->blocks));
    return mark;
}

/* Calls the deferred functions registered after `position`. A stale save point may point into a
 * record; the record is run then too. */
static void arena_run_deferred(struct ab_arena *a, size_t position)
{
    while (a->deferred != NULL && a->deferred->position + sizeof *a->deferred > position) {
        struct ab_arena_deferred *record = a->deferred;
        a->deferred = record->below;
        AB_CHECKED(const void *place = ab_block_step_out(&a->blocks));
        record->act(record->context);
        AB_CHECKED(ab_block_step_in(&a->blocks, place));
    }
}

static void arena_cut(struct ab_arena *a, size_t position)
{
    while (a->below != NULL && position <= a->used_below) {
        AB_CHECKED(ab_block_kill_in(&a->blocks, a->base, a->end));
        arena_bury(a, a->base);
        arena_pop_region(a);
    }
    size_t within = position - a->used_below;
    AB_CHECKED(ab_block_kill_in(&a->blocks, a->base + within, a->end));
    AB_MARK_POOL_TRIM(a->end, a->base, within);
    arena_move_down(a, a->base + within);
    if ((size_t)(a->limit - a->next) > a->keep_bytes)
        ab_arena_trim(a, a->keep_bytes);
    arena_set_floor(a);
}

/* Restores a position. Does nothing if it is ahead of the arena. */
static void arena_go_back(struct ab_arena *a, size_t position)
{
    arena_demand_open(a);
    if (position > ab_arena_save(a).position)
        return;
    arena_run_deferred(a, position);
    if (position > ab_arena_save(a).position)
        return; /* a deferred function moved the arena further back */
    arena_cut(a, position);
    AB_CHECKED(ab_block_cut_short(&a->blocks, a->base, a->next));
}

void ab_arena_restore_position(struct ab_arena *a, size_t position)
{
    AB_CHECKED_CALL(a, "arena");
    arena_go_back(a, position);
#ifdef AB_WITH_CHECKS
    if (position == 0)
        ab_block_forget_all(&a->blocks);
    else
        ab_block_forget_dead(&a->blocks);
#endif
}

__attribute__((noinline)) void ab_arena_restore_slow(struct ab_arena *a, struct ab_arena_mark mark)
{
    arena_demand_open(a);
    AB_CHECKED_CALL(a, "arena");
    AB_CHECKED(ab_block_demand_mark(&a->blocks, mark.arena_id, mark.serial));
    if (AB_CHECKS && (mark.position & (AB_ARENA_ALIGN - 1)) != 0)
        ab_guard_end("arena", a, AB_SAYS_NO_MARK);
    arena_go_back(a, mark.position);
    AB_CHECKED(ab_block_forget_after(&a->blocks, mark.serial));
}

#ifndef AB_WITH_CHECKS
/* Returns the position of an address in one of the arena's regions, or at the end of one. For other
 * addresses returns SIZE_MAX, which counts as ahead of the arena. */
static size_t arena_position_of(const struct ab_arena *a, const char *to)
{
    const char *base = a->base, *end = a->end;
    size_t below = a->used_below;
    for (const struct ab_arena_region *r = a->below; to < base || to > end; r = r->below) {
        if (r == NULL)
            return SIZE_MAX;
        base = r->base;
        end = r->end;
        below -= (size_t)(r->next - r->base);
    }
    return below + (size_t)(to - base);
}

/* Ends a scope when that takes more than an assignment. `to` and `packed` are the values of `next`
 * and `packed` of the arena at the beginning of the scope. If blocks were packed then, restores the
 * exact end, which is below `to`. Otherwise records that no blocks are packed. */
__attribute__((noinline)) void ab_arena_scope_end_slow(struct ab_arena *a, char *to, char *packed)
{
    size_t left = (size_t)(to - packed);
    struct ab_arena_mark mark = {arena_position_of(a, to), 0, 0};
    if (packed != NULL && left < AB_ARENA_ALIGN && mark.position != SIZE_MAX)
        mark.position -= left;
    ab_arena_restore_slow(a, mark);
    if (packed == NULL && a->next == to)
        a->packed = a->packed_end = NULL;
    arena_set_floor(a);
}
#endif

bool ab_arena_defer(struct ab_arena *a, void (*act)(void *context), void *context)
{
    AB_CHECKED_CALL(a, "arena");
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
    arena_set_floor(a);
    return true;
}

/* ---- opening and closing ---- */

void ab_arena_fini(struct ab_arena *arena)
{
    ab_arena_restore_position(arena, 0);
    arena_drop_spare(arena);
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
    size_t head = ab_round_up(sizeof a, CACHE_LINE_BYTES);
    int error = ab_arena_init(&a, options);
    if (error == 0 && (size_t)(a.end - a.base) <= head) {
        ab_arena_fini(&a);
        error = ENOMEM;
    }
    if (error == 0 && !arena_commit(&a, head)) {
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
    arena_set_floor(&a);
    AB_CHECKED(a.dead_end = a.base);
    *arena = a;
    return arena;
}

void ab_arena_close(struct ab_arena *arena)
{
    if (arena == NULL)
        return;
    ab_arena_reset(arena); /* the deferred functions may still allocate from it */
    struct ab_arena copy = *arena;
    ab_arena_fini(&copy);
}

/* ---- giving pages back ---- */

/* Returns the first whole page that begins at least `kept` bytes after the last block; `limit` if
 * there is none. */
static char *arena_spare_pages(const struct ab_arena *a, size_t kept)
{
    size_t room = (size_t)(a->limit - a->next);
    if (a->page_bytes == 0 || kept >= room)
        return a->limit;
    char *from = a->next + kept;
    return from + (-(uintptr_t)from & (a->page_bytes - 1));
}

/* Records that the pages from `from` on are zero. */
static void arena_forget_contents(struct ab_arena *a, char *from)
{
    if (a->dirty > from)
        a->dirty = from;
    AB_CHECKED(if (a->dead_end > from) a->dead_end = from);
}

void ab_arena_purge(struct ab_arena *a)
{
    arena_demand_open(a);
    AB_CHECKED_CALL(a, "arena");
    char *from = arena_spare_pages(a, 0);
    arena_drop_spare(a);
    if (from >= a->limit)
        return;
    a->n_os_calls++;
    if (ab_pages_discard(from, (size_t)(a->limit - from)) == 0)
        arena_forget_contents(a, from);
}

void ab_arena_trim(struct ab_arena *a, size_t keep_bytes)
{
    arena_demand_open(a);
    AB_CHECKED_CALL(a, "arena");
    char *from = arena_spare_pages(a, keep_bytes);
    if (a->spare != NULL && (size_t)(a->spare->own_limit - (char *)a->spare) > keep_bytes)
        arena_drop_spare(a);
    if (from >= a->limit)
        return;
    size_t bytes = (size_t)(a->limit - from);
    a->n_os_calls += 2;
    if (ab_pages_decommit(from, bytes) != 0)
        return;
    arena_forget_contents(a, from);
    AB_MARK_DEFINED(from, bytes);
    a->limit = from;
    arena_set_floor(a);
}

void ab_arena_release(struct ab_arena *a)
{
    ab_arena_reset(a);
    ab_arena_trim(a, 0);
}

/* ---- the checked build ---- */

#ifdef AB_WITH_CHECKS
/* True if the address is in one of the arena's regions, with room for a head before it. */
bool ab_arena_checked_holds(const struct ab_arena *a, const void *block)
{
    const char *base = a->base, *next = a->next;
    const struct ab_arena_region *below = a->below;
    while (((const char *)block < base + AB_ARENA_FRONT || (const char *)block > next) &&
           below != NULL) {
        base = below->base;
        next = below->next;
        below = below->below;
    }
    return (const char *)block >= base + AB_ARENA_FRONT && (const char *)block <= next;
}

void *ab_arena_checked_born(struct ab_arena *a, void *block, size_t size)
{
    AB_CHECKED_CALL(a, "arena");
    return ab_block_born(&a->blocks, a->end, block, size, ab_arena_block_bytes(size));
}

void ab_arena_visit(const struct ab_arena *a,
                    void (*visit)(void *block, size_t size, void *context), void *context)
{
    ab_block_visit(&a->blocks, visit, context);
}
#endif
