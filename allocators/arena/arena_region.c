/* SPDX-License-Identifier: MIT
 *
 * Memory of the arena: regions that are reserved, committed step by step, chained and given back.
 */
#include "arena_region.h"

#include "../common/pages.h"

#include <errno.h>

static const size_t arena_first_step_bytes = (size_t)64 << 10;
static const size_t arena_largest_step_bytes = (size_t)64 << 20;
static const uint32_t arena_magic = 0xA7E4AB0Bu;

void ab_arena_demand_open(const struct ab_arena *a)
{
    (void)a;
#ifdef AB_WITH_CHECKS
    if (a == NULL || a->magic != arena_magic)
        ab_guard_end("arena", a, "an arena that is not open");
#endif
}

/* ---- regions ---- */

/* The arena goes on in [base, end), of which nothing is committed yet, or all where it is the
 * caller's (page_bytes 0). */
static void arena_enter(struct ab_arena *a, char *base, size_t bytes, size_t page_bytes)
{
    char *limit = page_bytes != 0 ? base : base + bytes;
    a->next = a->base = base;
    a->limit = limit;
    a->dirty = limit; /* what a caller left there is not zero */
    a->end = base + bytes;
    a->packed = a->packed_end = NULL;
    a->page_bytes = page_bytes;
    a->head_bytes = 0;
    AB_MARK_POOL_CREATE(a->end);
#ifdef AB_WITH_CHECKS
    a->dead_end = base;
#endif
}

static void arena_start(struct ab_arena *a, size_t keep_bytes)
{
    a->keep_bytes = a->plain_bytes = keep_bytes == 0 ? SIZE_MAX : keep_bytes;
    a->magic = arena_magic;
#ifdef AB_WITH_CHECKS
    ab_block_list_open(&a->blocks, "arena");
#endif
}

/* NULL and errno on failure. */
static char *arena_reserve(size_t bytes, size_t align, bool is_huge)
{
    char *base = (char *)ab_pages_reserve(bytes, align);
    int error = base != NULL && is_huge ? ab_pages_want_huge(base, bytes) : 0;
    if (error == 0)
        return base;
    ab_pages_release(base, bytes);
    errno = error;
    return NULL;
}

int ab_arena_init(struct ab_arena *arena, const struct ab_arena_options *o)
{
    size_t page = ab_page_size(), step = o->step_bytes;
    if (o->huge && step < AB_HUGE_PAGE_BYTES)
        step = AB_HUGE_PAGE_BYTES;
    size_t align = step >= AB_HUGE_PAGE_BYTES ? AB_HUGE_PAGE_BYTES : page;
    if (o->reserve_bytes == 0 || o->reserve_bytes > PTRDIFF_MAX - align)
        return ENOMEM;
    size_t bytes = ab_round_up(o->reserve_bytes, page);
    char *base = arena_reserve(bytes, align, o->huge);
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
    char *base = (char *)((uintptr_t)buffer + head); /* aligned, also where there is no room */
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

/* Growing: as much again as there is, so that n bytes cost O(log n) calls. */
static size_t arena_next_step(const struct ab_arena *a)
{
    if (a->step_bytes != 0)
        return a->step_bytes;
    size_t step = (size_t)(a->limit - a->base);
    if (step < arena_first_step_bytes)
        step = arena_first_step_bytes;
    return step < arena_largest_step_bytes ? step : arena_largest_step_bytes;
}

bool ab_arena_commit(struct ab_arena *a, size_t need)
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
    return true;
}

/* ---- the chain ---- */

/* What of the arena belongs to its region, kept at the begin of the region above. */
static void arena_keep(const struct ab_arena *a, struct ab_arena_region *r)
{
    r->next = a->next;
    r->limit = a->limit;
    r->base = a->base;
    r->end = a->end;
    r->dirty = a->dirty;
    r->packed = a->packed;
    r->packed_end = a->packed_end;
    r->page_bytes = a->page_bytes;
    r->head_bytes = a->head_bytes;
    r->below = a->below;
}

static bool arena_enter_region(struct ab_arena *a, struct ab_arena_region *header, char *limit,
                               char *dirty, size_t bytes)
{
    struct ab_arena before = *a;
    char *start = (char *)header;
    size_t head = ab_round_up(sizeof *header, AB_CACHE_LINE_BYTES);
    arena_enter(a, start, bytes, ab_page_size());
    a->limit = limit;
    if (limit == start && !ab_arena_commit(a, head)) {
        AB_MARK_POOL_DESTROY(a->end);
        *a = before;
        return false;
    }
    AB_MARK_DEFINED(header, head);
    arena_keep(&before, header);
    header->bytes = bytes;
    a->used_below += (size_t)(before.next - before.base);
    a->committed_below += (size_t)(before.limit - before.base);
    a->head_bytes = head;
    a->next = a->base = start + head;
    a->dirty = dirty > a->base ? dirty : a->base;
    a->below = header;
    a->plain_bytes = 0;
#ifdef AB_WITH_CHECKS
    a->dead_end = a->base;
#endif
    return true;
}

bool ab_arena_push_region(struct ab_arena *a, size_t align, size_t size)
{
    size_t page = ab_page_size(), least = ab_arena_used(a), need;
    size_t extra = 2 * AB_CACHE_LINE_BYTES + sizeof(struct ab_arena_region) + AB_ARENA_FRONT +
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
    char *start = arena_reserve(bytes, a->is_huge ? AB_HUGE_PAGE_BYTES : page, a->is_huge);
    if (start == NULL)
        return false;
    a->n_os_calls += 1u + a->is_huge;
    if (arena_enter_region(a, (struct ab_arena_region *)(void *)start, start, start, bytes))
        return true;
    ab_pages_release(start, bytes);
    return false;
}

void ab_arena_drop_spare(struct ab_arena *a)
{
    struct ab_arena_region *spare = a->spare;
    if (spare == NULL)
        return;
    a->spare = NULL;
    a->n_os_calls++;
    AB_MARK_DEFINED(spare, (size_t)(spare->own_limit - (char *)spare));
    ab_pages_release(spare, spare->bytes);
}

/* The larger of the region that goes and the spare one is kept, as far as the threshold allows. */
void ab_arena_pop_region(struct ab_arena *a)
{
    struct ab_arena_region *gone = a->below;
    struct ab_arena_region below = *gone;
    AB_MARK_POOL_DESTROY(a->end);
    gone->own_limit = a->limit;
    gone->own_dirty = a->next > a->dirty ? a->next : a->dirty;
    if (a->spare != NULL && a->spare->bytes < gone->bytes)
        ab_arena_drop_spare(a);
    bool is_kept = a->spare == NULL && (size_t)(a->limit - a->base) <= a->keep_bytes;
    if (is_kept)
        a->spare = gone;
    a->used_below -= (size_t)(below.next - below.base);
    a->committed_below -= (size_t)(below.limit - below.base);
    size_t usable = (size_t)(a->limit - (char *)gone);
    (void)usable;
    a->next = below.next;
    a->limit = below.limit;
    a->base = below.base;
    a->end = below.end;
    a->dirty = below.dirty;
    a->page_bytes = below.page_bytes;
    a->head_bytes = below.head_bytes;
    a->below = below.below;
    a->packed = below.packed;
    a->packed_end = below.packed_end;
#ifdef AB_WITH_CHECKS
    a->dead_end = a->next;
#endif
    if (is_kept)
        return;
    a->n_os_calls++;
    size_t bytes = gone->bytes;
    AB_MARK_DEFINED(gone, usable);
    ab_pages_release(gone, bytes);
}

bool ab_arena_make_room(struct ab_arena *a, const char *block, size_t size)
{
    size_t last = ab_arena_last_byte(size), room = (size_t)(a->end - block);
    if (last >= room || room - last <= AB_ARENA_GAP)
        return false;
    /* Of a close block: it may pass the end by less than 16. */
    size_t bytes = ab_arena_block_bytes(size);
    const char *end = bytes < room ? block + bytes : a->end;
    return end <= a->limit || ab_arena_commit(a, (size_t)(end - a->limit));
}
