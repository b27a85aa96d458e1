/* SPDX-License-Identifier: MIT
 *
 * What the sources of the paged arena share: its pages, and what is in front of blocks with a tag.
 * No other file includes it.
 */
#ifndef AB_ALLOCATORS_PAGED_PAGE_H
#define AB_ALLOCATORS_PAGED_PAGE_H

#include "../common/blocks.h"
#include "paged_arena.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(hidden)

/* In front of a block with a tag, and of what the checked build has there. */
struct ab_paged_tagged {
    struct ab_paged_tagged *below;
    uint64_t size_and_tag; /* size << 28 | a magic number << 4 | tag; tag 0: it has moved away */
};
AB_STATIC_ASSERT(sizeof(struct ab_paged_tagged) == AB_PAGED_ALIGN, "blocks stay aligned");

#define AB_PAGED_TAGGED_BYTES sizeof(struct ab_paged_tagged)
#define AB_PAGED_TAGGED_MAGIC UINT64_C(0x7A66ED)

static inline unsigned ab_paged_tagged_tag(const struct ab_paged_tagged *t)
{
    return (unsigned)(t->size_and_tag & (AB_PAGED_TAGS - 1));
}

static inline size_t ab_paged_tagged_size(const struct ab_paged_tagged *t)
{
    return (size_t)(t->size_and_tag >> 28);
}

static inline void ab_paged_tagged_set(struct ab_paged_tagged *t, size_t size, unsigned tag)
{
    t->size_and_tag = (uint64_t)size << 28 | AB_PAGED_TAGGED_MAGIC << 4 | tag;
}

static inline struct ab_paged_tagged *ab_paged_tagged_of(const void *block)
{
    return (struct ab_paged_tagged *)((uintptr_t)block - AB_PAGED_FRONT - AB_PAGED_TAGGED_BYTES);
}

static inline char *ab_paged_page_end(const struct ab_paged_arena *a, struct ab_paged_page *page)
{
    return page == a->top ? a->next : ab_paged_page_begin(page) + page->used;
}

static inline bool ab_paged_fits(const struct ab_paged_arena *a, const char *from, size_t size)
{
    size_t last = size - (size != 0), room = (size_t)(a->limit - from);
    return last < room && room - last > AB_PAGED_GAP;
}

/* The checked build ends there when it is NULL or closed. */
static inline void ab_paged_demand_open(const struct ab_paged_arena *a)
{
    (void)a;
#ifdef AB_WITH_CHECKS
    if (a == NULL || a->top == NULL)
        ab_guard_end("paged arena", a, "an arena that is not open");
#endif
}

/* Ends the checked build when it is no page's header. */
void ab_paged_page_check(const struct ab_paged_page *page);
/* To what is counted under a tag; (size_t)-1 and 0 − bytes take away. Tag 0: nothing. */
void ab_paged_tags_add(struct ab_paged_arena *arena, unsigned tag, size_t n_blocks, size_t bytes);

/* A page on top, of so many bytes with its header; false when the pool has none. */
bool ab_paged_page_push(struct ab_paged_arena *arena, size_t bytes);
/* What a page needs to hold such a block; 0 when there is no such number. */
size_t ab_paged_page_bytes_for(size_t align, size_t size);
/* A page of the usual size, or as large as this request needs. */
bool ab_paged_page_push_for(struct ab_paged_arena *arena, size_t align, size_t size);
/* The one below becomes the top one. */
void ab_paged_page_pop(struct ab_paged_arena *arena);
/* Not the top one; nothing is in it. */
void ab_paged_page_take_out(struct ab_paged_arena *arena, struct ab_paged_page *page);
void ab_paged_page_set_end(struct ab_paged_arena *arena, struct ab_paged_page *page, char *end);
/* Where it is in the pool, or not at all; what is in it fits. */
bool ab_paged_page_resize(struct ab_paged_arena *arena, struct ab_paged_page *page, size_t bytes);
/* The last block of the page ends here now; what was after is dead. Of a page that has grown far
 * beyond what is in it, the pool gets the rest. */
void ab_paged_page_cut(struct ab_paged_arena *arena, struct ab_paged_page *page, char *to);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
