/* SPDX-License-Identifier: MIT
 *
 * Blocks beyond the classes: a mapping each, its record just before the block, in a list of all so
 * that a reset finds them. Growing moves pages, not bytes. Mappings of freed blocks are kept up to
 * a bound, in a bin a number of pages: a mapping from the system costs two calls and a fault a
 * page, some 5 us for 8 KiB.
 */
#include "../common/lock.h"
#include "../common/pages.h"
#include "slab.h"

#include <string.h>

enum { LEAD_BYTES = 64 }; /* room for the record; blocks begin a cache line into their pages */

AB_STATIC_ASSERT(sizeof(struct ab_slab_large) <= LEAD_BYTES, "the record fits");

static struct ab_slab_large *record_of(const void *block)
{
    return (struct ab_slab_large *)(uintptr_t)block - 1;
}

static size_t usable(const struct ab_slab_large *r)
{
    return (size_t)(r->map + r->map_bytes - (const char *)(r + 1));
}

/* Nothing of it is known to a sanitizer any more: the next mapping may be there. */
static void give_back(char *map, size_t map_bytes)
{
    AB_MARK_DEFINED(map, map_bytes);
    ab_pages_release(map, map_bytes);
}

/* A record of a mapping; the block after it lives. */
static void *enter(struct ab_slabs *s, struct ab_slab_large *r, char *map, size_t map_bytes)
{
    struct ab_slab_large record = {NULL, s->large, s, map, map_bytes};
    *r = record;
    s->large = r;
    if (r->next != NULL)
        r->next->prev = r;
    s->n_large++;
    s->large_bytes += usable(r);
    s->large_map_bytes += r->map_bytes;
    return r + 1;
}

static void leave(struct ab_slabs *s, struct ab_slab_large *r)
{
    if (r->prev != NULL)
        r->prev->next = r->next;
    else
        s->large = r->next;
    if (r->next != NULL)
        r->next->prev = r->prev;
    s->n_large--;
    s->large_bytes -= usable(r);
    s->large_map_bytes -= r->map_bytes;
}

/* ---- spare mappings ---- */

static bool keep(struct ab_slabs *s, char *map, size_t map_bytes)
{
    size_t bin = map_bytes / ab_page_size() - 1;
    if (bin >= AB_SLAB_SPARE_PAGES || s->spare_bytes > s->spare_max_bytes ||
        map_bytes > s->spare_max_bytes - s->spare_bytes)
        return false;
    struct ab_slab_large *r = record_of(map + LEAD_BYTES);
    struct ab_slab_large record = {NULL, s->spare[bin], NULL, map, map_bytes};
    *r = record;
    s->spare[bin] = r;
    s->spare_mask |= UINT64_C(1) << bin;
    s->spare_bytes += map_bytes;
    return true;
}

static struct ab_slab_large *take_from(struct ab_slabs *s, unsigned bin)
{
    struct ab_slab_large *r = s->spare[bin];
    s->spare[bin] = r->next;
    if (r->next == NULL)
        s->spare_mask &= ~(UINT64_C(1) << bin);
    s->spare_bytes -= r->map_bytes;
    return r;
}

/* The smallest that holds map_bytes and is less than twice that. NULL when there is none. */
static struct ab_slab_large *take_spare(struct ab_slabs *s, size_t map_bytes)
{
    size_t least = map_bytes / ab_page_size() - 1;
    if (least >= AB_SLAB_SPARE_PAGES || s->spare_mask >> least == 0)
        return NULL;
    size_t bin = least + (unsigned)__builtin_ctzll(s->spare_mask >> least);
    return bin <= 2 * least ? take_from(s, (unsigned)bin) : NULL;
}

void ab_slabs_large_purge(struct ab_slabs *s)
{
    while (s->spare_mask != 0) {
        struct ab_slab_large *r = take_from(s, (unsigned)__builtin_ctzll(s->spare_mask));
        s->n_os_calls++;
        ab_lock_let_go(s->mutex);
        give_back(r->map, r->map_bytes);
        ab_lock_take_back(s->mutex);
    }
}

/* ---- blocks ---- */

/* One page before the block is enough, however it is aligned. */
static void *map_block(struct ab_slabs *s, size_t align, size_t lead, size_t map_bytes)
{
    size_t page = ab_page_size(), spared = lead > page ? lead - page : 0;
    lead -= spared;
    map_bytes -= spared;
    ab_lock_let_go(s->mutex);
    char *map = (char *)ab_pages_map_after(spared > 0 ? lead : 0, map_bytes, align);
    ab_lock_take_back(s->mutex);
    if (map == NULL)
        return NULL;
    s->n_os_calls += spared > 0 ? 3 : 1;
    return enter(s, record_of(map + lead), map, map_bytes);
}

void *ab_slabs_large_alloc(struct ab_slabs *s, size_t align, size_t size, bool zeroed)
{
    size_t page = ab_page_size(), lead = align > LEAD_BYTES ? align : (size_t)LEAD_BYTES;
    if (size > PTRDIFF_MAX / 2 || lead > PTRDIFF_MAX / 4)
        return NULL;
    size_t map_bytes = ab_round_up(lead + size + (size == 0), page); /* 0: a byte of its own */
    struct ab_slab_large *spare = lead <= page ? take_spare(s, map_bytes) : NULL;
    void *block;
    if (spare != NULL) {
        AB_MARK_DEFINED(spare->map, spare->map_bytes);
        block = enter(s, record_of(spare->map + lead), spare->map, spare->map_bytes);
    } else {
        block = map_block(s, align, lead, map_bytes);
    }
    if (block == NULL)
        return NULL;
    AB_MARK_UNUSED(block, usable(record_of(block)));
    AB_MARK_ALLOC(s, block, size);
    if (zeroed)
        AB_MARK_DEFINED(block, size);
    return zeroed && spare != NULL ? memset(block, 0, size) : block;
}

void ab_slabs_large_drop(struct ab_slabs *s, struct ab_slab_large *r)
{
    char *map = r->map;
    size_t map_bytes = r->map_bytes;
    leave(s, r);
    AB_MARK_UNUSED(r + 1, usable(r));
    if (keep(s, map, map_bytes))
        return;
    s->n_os_calls++;
    ab_lock_let_go(s->mutex);
    give_back(map, map_bytes);
    ab_lock_take_back(s->mutex);
}

bool ab_slabs_large_owns(const struct ab_slabs *s, const void *p)
{
    const struct ab_slab_large *r = s->large;
    while (r != NULL && (const void *)(r + 1) != p)
        r = r->next;
    return r != NULL;
}

void ab_slabs_large_free(struct ab_slabs *s, void *block)
{
    if (block == NULL)
        return;
    AB_MARK_EXPECT(block, ab_slabs_large_owns(s, block));
    AB_MARK_FREE(s, block, 0);
    ab_slabs_large_drop(s, record_of(block));
}

static void *move_pages(struct ab_slabs *s, struct ab_slab_large *r, size_t map_bytes)
{
    size_t lead = (size_t)((char *)(r + 1) - r->map), old_bytes = r->map_bytes;
    char *old = r->map;
    leave(s, r);
    s->n_os_calls++;
    ab_lock_let_go(s->mutex);
    char *map = (char *)ab_pages_remap(old, old_bytes, map_bytes);
    ab_lock_take_back(s->mutex);
    if (map == NULL) {
        enter(s, r, old, old_bytes);
        return NULL;
    }
    return enter(s, record_of(map + lead), map, map_bytes);
}

static void mark_whole(struct ab_slabs *s, void *block)
{
    size_t bytes = usable(record_of(block));
    (void)s, (void)bytes;
    AB_MARK_ALLOC(s, block, bytes);
    AB_MARK_DEFINED(block, bytes);
}

/* new_size is larger than AB_SLAB_LARGEST. */
void *ab_slabs_large_resize(struct ab_slabs *s, void *block, size_t new_size)
{
    struct ab_slab_large *r = record_of(block);
    size_t lead = (size_t)((char *)block - r->map), old_usable = usable(r);
    if (new_size > PTRDIFF_MAX / 2)
        return NULL;
    size_t map_bytes = ab_round_up(lead + new_size, ab_page_size());
    AB_MARK_FREE(s, block, 0);
    AB_MARK_DEFINED(block, old_usable);
    bool stays = map_bytes <= r->map_bytes && map_bytes > r->map_bytes / 2;
    void *moved = stays ? block : move_pages(s, r, map_bytes);
    mark_whole(s, moved != NULL ? moved : block);
    return moved != NULL ? moved : new_size <= old_usable ? block : NULL;
}

size_t ab_slabs_large_usable(const void *block)
{
    return usable(record_of(block));
}
