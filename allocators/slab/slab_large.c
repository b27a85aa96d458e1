/* SPDX-License-Identifier: MIT
 *
 * Blocks beyond the classes: a mapping each, its record just before the block, in a list of all so
 * that a reset finds them. Growing moves pages, not bytes. Mappings of freed blocks are kept up to
 * a bound, in a bin a number of pages: a mapping from the system costs two calls and a fault a
 * page, some 5 us for 8 KiB.
 */
#include "allocators/os_map.h"
#include "allocators/slab/slab.h"

#include <string.h>

enum { LEAD_BYTES = 64 }; /* room for the record; blocks begin a cache line into their pages */

_Static_assert(sizeof(struct ab_slab_large) <= LEAD_BYTES, "the record fits");

static struct ab_slab_large *record_of(const void *block)
{
    return (struct ab_slab_large *)(uintptr_t)block - 1;
}

static size_t usable(const struct ab_slab_large *r)
{
    return (size_t)(r->map + r->map_bytes - (const char *)(r + 1));
}

static void enter(struct ab_slabs *s, struct ab_slab_large *r)
{
    if (r->prev != NULL)
        r->prev->next = r;
    else
        s->large = r;
    if (r->next != NULL)
        r->next->prev = r;
    s->n_large++;
    s->large_bytes += usable(r);
    s->large_map_bytes += r->map_bytes;
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
    size_t bin = map_bytes / ab_os_page_bytes() - 1;
    if (bin >= AB_SLAB_SPARE_PAGES || s->spare_bytes > s->spare_max_bytes ||
        map_bytes > s->spare_max_bytes - s->spare_bytes)
        return false;
    struct ab_slab_large *r = record_of(map + LEAD_BYTES);
    *r = (struct ab_slab_large){.next = s->spare[bin], .map = map, .map_bytes = map_bytes};
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
    size_t least = map_bytes / ab_os_page_bytes() - 1;
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
        munmap(r->map, r->map_bytes);
    }
}

/* ---- blocks ---- */

static void *reuse(struct ab_slabs *s, size_t lead, size_t map_bytes)
{
    struct ab_slab_large *spare = take_spare(s, map_bytes);
    if (spare == NULL)
        return NULL;
    struct ab_slab_large *r = record_of(spare->map + lead), whole = *spare;
    *r = (struct ab_slab_large){.next = s->large, .map = whole.map, .map_bytes = whole.map_bytes};
    enter(s, r);
    return r + 1;
}

void *ab_slabs_large_alloc(struct ab_slabs *s, size_t align, size_t size, bool zeroed)
{
    size_t page = ab_os_page_bytes(), lead = align > LEAD_BYTES ? align : LEAD_BYTES;
    if (size > PTRDIFF_MAX / 2 || lead > PTRDIFF_MAX / 4)
        return NULL;
    size_t map_bytes = ab_os_round_up(lead + size + (size == 0), page); /* 0: a byte of its own */
    void *reused = lead <= page ? reuse(s, lead, map_bytes) : NULL;
    if (reused != NULL)
        return zeroed ? memset(reused, 0, size) : reused;
    char *map = ab_os_map(map_bytes, align, PROT_READ | PROT_WRITE);
    if (map == NULL)
        return NULL;
    struct ab_slab_large *r = record_of(map + lead);
    if (lead > page) { /* one page before the block is enough */
        munmap(map, lead - page);
        map += lead - page;
        map_bytes -= lead - page;
    }
    *r = (struct ab_slab_large){.next = s->large, .map = map, .map_bytes = map_bytes};
    enter(s, r);
    s->n_os_calls += lead > page ? 4 : 1;
    return r + 1;
}

void ab_slabs_large_free(struct ab_slabs *s, void *block)
{
    if (block == NULL)
        return;
    struct ab_slab_large *r = record_of(block);
    leave(s, r);
    char *map = r->map;
    size_t map_bytes = r->map_bytes;
    if (keep(s, map, map_bytes))
        return;
    s->n_os_calls++;
    munmap(map, map_bytes);
}

/* new_size is larger than AB_SLAB_LARGEST. */
void *ab_slabs_large_resize(struct ab_slabs *s, void *block, size_t new_size)
{
    struct ab_slab_large *r = record_of(block);
    size_t lead = (size_t)((char *)block - r->map);
    if (new_size > PTRDIFF_MAX / 2)
        return NULL;
    size_t map_bytes = ab_os_round_up(lead + new_size, ab_os_page_bytes());
    if (map_bytes <= r->map_bytes && map_bytes > r->map_bytes / 2)
        return block;
    leave(s, r);
    s->n_os_calls++;
    char *map = mremap(r->map, r->map_bytes, map_bytes, MREMAP_MAYMOVE);
    if (map != MAP_FAILED) {
        r = record_of(map + lead);
        r->map = map;
        r->map_bytes = map_bytes;
    }
    enter(s, r);
    return map != MAP_FAILED ? map + lead : new_size <= usable(r) ? block : NULL;
}

size_t ab_slabs_large_usable(const void *block)
{
    return usable(record_of(block));
}
