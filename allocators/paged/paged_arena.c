/* SPDX-License-Identifier: MIT
 *
 * The arena over its pages: blocks, tags, save points. What becomes larger or is popped is in
 * paged_arena_resize.c.
 */
#include "paged_arena.h"

#include "paged_page.h"

#include <errno.h>

static const size_t default_page_bytes = (size_t)64 << 10;

int ab_paged_arena_init(struct ab_paged_arena *arena, struct ab_paged_pool *pool, size_t page_bytes,
                        unsigned pool_tag)
{
    size_t smallest = sizeof(struct ab_paged_page) + AB_PAGED_ALIGN;
    struct ab_paged_arena fresh;
    memset(&fresh, 0, sizeof fresh);
    fresh.pool = pool;
    fresh.page_bytes = page_bytes == 0         ? default_page_bytes
                       : page_bytes < smallest ? smallest
                                               : page_bytes;
    fresh.pool_tag = pool_tag;
#ifdef AB_WITH_CHECKS
    ab_block_list_open(&fresh.blocks, "paged arena");
#endif
    if (!ab_paged_page_push(&fresh, fresh.page_bytes))
        return ENOMEM;
    *arena = fresh;
    return 0;
}

void ab_paged_arena_fini(struct ab_paged_arena *arena)
{
    while (arena->top != NULL)
        ab_paged_page_pop(arena);
    memset(arena, 0, sizeof *arena);
}

/* ---- blocks ---- */

/* From `next` to a block with so much in front of it. */
static size_t pad_for(const struct ab_paged_arena *a, size_t front, size_t align)
{
    return front + (-((uintptr_t)a->next + front) & (align - 1));
}

static void demand_dead(const struct ab_paged_arena *a, char *from, char *to)
{
    (void)a, (void)from, (void)to;
#ifdef AB_WITH_CHECKS
    ab_block_demand_dead(&a->blocks, from, to < a->top->dead_end ? to : a->top->dead_end);
#endif
}

/* `front` bytes before it are the block's as well. */
static char *take(struct ab_paged_arena *a, size_t front, size_t align, size_t size)
{
    ab_paged_demand_open(a);
    ab_paged_page_check(a->top);
    size_t pad = pad_for(a, front, align), room = (size_t)(a->limit - a->next);
    if (pad > room || !ab_paged_fits(a, a->next + pad, size)) {
        if (!ab_paged_page_push_for(a, align, size))
            return NULL;
        pad = pad_for(a, front, align);
    }
    char *block = a->next + pad, *end = block + ab_paged_bytes(size);
    demand_dead(a, a->next, end);
    a->next = end;
    return block;
}

__attribute__((noinline)) void *ab_paged_arena_take_slow(struct ab_paged_arena *a, size_t align,
                                                         size_t size)
{
    return take(a, AB_PAGED_FRONT, align, size);
}

static bool is_alignment(size_t align)
{
    return align != 0 && (align & (align - 1)) == 0 && align <= AB_PAGED_POOL_MAX;
}

void *ab_paged_arena_alloc_aligned(struct ab_paged_arena *a, size_t align, size_t size)
{
    if (!is_alignment(align))
        return NULL;
    if (align <= AB_PAGED_ALIGN)
        return ab_paged_arena_alloc(a, size);
    return ab_paged_born(a, ab_paged_arena_take_slow(a, align, size), size);
}

void *ab_paged_arena_alloc_zeroed(struct ab_paged_arena *a, size_t size)
{
    void *block = ab_paged_arena_alloc(a, size);
    return block == NULL ? NULL : memset(block, 0, size);
}

unsigned ab_paged_arena_tag(struct ab_paged_arena *a, const char *name)
{
    for (unsigned tag = 1; tag < AB_PAGED_TAGS; tag++) {
        struct ab_paged_tag_count *c = &a->tags[tag];
        if (c->name == NULL && c->n_all == 0)
            c->name = name;
        if (c->name == name || (c->name != NULL && strcmp(c->name, name) == 0))
            return tag;
    }
    return 0;
}

void *ab_paged_arena_push(struct ab_paged_arena *a, size_t align, size_t size, unsigned tag)
{
    if (tag == 0)
        return ab_paged_arena_alloc_aligned(a, align, size);
    if (tag >= AB_PAGED_TAGS || !is_alignment(align) || size > AB_PAGED_POOL_MAX)
        return NULL;
    size_t usual = align > AB_PAGED_ALIGN ? align : AB_PAGED_ALIGN;
    char *block = take(a, AB_PAGED_FRONT + AB_PAGED_TAGGED_BYTES, usual, size);
    if (block == NULL)
        return NULL;
    struct ab_paged_tagged *t = ab_paged_tagged_of(block);
    AB_MARK_DEFINED(t, sizeof *t);
    t->below = a->tagged;
    ab_paged_tagged_set(t, size, tag);
    a->tagged = t;
    ab_paged_tags_add(a, tag, 1, size);
    a->tags[tag].n_all++;
    if (a->tags[tag].align < align)
        a->tags[tag].align = align;
    return ab_paged_born(a, block, size);
}

void *ab_paged_arena_alloc_tagged(struct ab_paged_arena *a, size_t size, unsigned tag)
{
    return ab_paged_arena_push(a, AB_PAGED_ALIGN, size, tag);
}

void *ab_paged_arena_push_array(struct ab_paged_arena *a, size_t align, size_t n, size_t each_bytes,
                                unsigned tag)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, each_bytes, &bytes))
        return NULL;
    return ab_paged_arena_push(a, align, bytes, tag);
}

void *ab_paged_arena_push_array_zeroed(struct ab_paged_arena *a, size_t align, size_t n,
                                       size_t each_bytes, unsigned tag)
{
    void *block = ab_paged_arena_push_array(a, align, n, each_bytes, tag);
    return block == NULL ? NULL : memset(block, 0, n * each_bytes);
}

/* ---- how they end ---- */

void ab_paged_arena_clear(struct ab_paged_arena *a)
{
    ab_paged_demand_open(a);
    uint32_t serial = a->top->serial + 1; /* what was saved before is older than the first page */
    while (a->top->below != NULL)
        ab_paged_page_pop(a);
    ab_paged_page_check(a->top);
    AB_MARK_POOL_TRIM(a->top, a->top, 0);
    ab_paged_page_cut(a, a->top, ab_paged_page_begin(a->top));
    a->top->serial = a->first_serial = serial;
#ifdef AB_WITH_CHECKS
    ab_block_forget_all(&a->blocks);
#endif
}

/* The top page's serial, and in units of 16 bytes where in it. */
struct ab_paged_mark ab_paged_arena_save(const struct ab_paged_arena *a)
{
    ab_paged_demand_open(a);
    struct ab_paged_mark mark = {0, 0, 0};
    mark.place = (uint64_t)a->top->serial << 32 |
                 (size_t)(a->next - (char *)a->top) / AB_PAGED_ALIGN;
#ifdef AB_WITH_CHECKS
    mark.arena_id = a->blocks.id;
    mark.serial = ab_block_mark(&a->blocks);
#endif
    return mark;
}

/* Serials may wrap: their difference says which is older. */
static bool is_older(uint32_t serial, uint32_t other)
{
    return (int32_t)(serial - other) < 0;
}

static void go_back(struct ab_paged_arena *a, uint64_t place)
{
    uint32_t serial = (uint32_t)(place >> 32);
    if (is_older(serial, a->first_serial))
        return;
    while (is_older(serial, a->top->serial))
        ab_paged_page_pop(a);
    char *to = (char *)a->top + (uint32_t)place * AB_PAGED_ALIGN;
    if (a->top->serial != serial || to >= a->next)
        return;
    AB_MARK_POOL_TRIM(a->top, ab_paged_page_begin(a->top),
                      (size_t)(to - ab_paged_page_begin(a->top)));
    ab_paged_page_cut(a, a->top, to);
#ifdef AB_WITH_CHECKS
    ab_block_cut_short(&a->blocks, (char *)a->top, a->next);
#endif
}

void ab_paged_arena_restore_place(struct ab_paged_arena *a, uint64_t place)
{
    go_back(a, place);
#ifdef AB_WITH_CHECKS
    ab_block_forget_dead(&a->blocks);
#endif
}

void ab_paged_arena_restore(struct ab_paged_arena *a, struct ab_paged_mark mark)
{
    ab_paged_demand_open(a);
#ifdef AB_WITH_CHECKS
    ab_block_demand_mark(&a->blocks, mark.arena_id, mark.serial);
#endif
    go_back(a, mark.place);
#ifdef AB_WITH_CHECKS
    ab_block_forget_after(&a->blocks, mark.serial);
#endif
}

#ifdef AB_WITH_CHECKS
void *ab_paged_checked_born(struct ab_paged_arena *a, void *block, size_t size)
{
    return ab_block_born(&a->blocks, a->top, block, size, ab_paged_bytes(size));
}
#endif
