/* SPDX-License-Identifier: MIT
 *
 * Blocks beyond the classes: a mapping each, its record just before the block, in a list of all so
 * that a reset finds them. Growing moves pages, not bytes.
 */
#include "allocators/os_map.h"
#include "allocators/slab/slab.h"

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

void *ab_slabs_large_alloc(struct ab_slabs *s, size_t align, size_t size)
{
    size_t page = ab_os_page_bytes(), lead = align > LEAD_BYTES ? align : LEAD_BYTES;
    if (size > PTRDIFF_MAX / 2 || lead > PTRDIFF_MAX / 4)
        return NULL;
    size_t map_bytes = ab_os_round_up(lead + size + (size == 0), page); /* 0: a byte of its own */
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
    s->n_os_calls++;
    munmap(r->map, r->map_bytes);
}

/* new_size is larger than AB_SLAB_LARGEST. */
void *ab_slabs_large_resize(struct ab_slabs *s, void *block, size_t new_size)
{
    struct ab_slab_large *r = record_of(block);
    size_t lead = (size_t)((char *)block - r->map);
    if (new_size > PTRDIFF_MAX / 2)
        return NULL;
    size_t map_bytes = ab_os_round_up(lead + new_size, ab_os_page_bytes());
    if (map_bytes == r->map_bytes)
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
