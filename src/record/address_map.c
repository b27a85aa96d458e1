/* SPDX-License-Identifier: MIT
 *
 * The hash table of live blocks. Its mapped memory grows and shrinks with the number of blocks.
 */
#include "record/address_map.h"

#include "base/bits.h"
#include "core/alloc.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { LEAST_PLACES = 4096, HUGE_PAGE = 2 << 20 };

static void place(struct ab_address_map *m, const struct ab_held *held)
{
    size_t i = ab_address_map_home(m, ab_held_address(held));
    while (m->places[i].key != 0)
        i = (i + 1) & m->mask;
    m->places[i] = *held;
}

/* Maps n zeroed places. Uses mmap, so that large tables can get huge pages. */
static struct ab_held *map_places(size_t n)
{
    size_t bytes = n * sizeof(struct ab_held);
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        ab_memory_end(bytes);
    if (bytes >= 2 * HUGE_PAGE)
        madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}

static void unmap_places(const struct ab_address_map *m)
{
    if (m->places != NULL)
        munmap(m->places, (m->mask + 1) * sizeof m->places[0]);
}

static void resize(struct ab_address_map *m, size_t n_places)
{
    struct ab_address_map old = *m;
    m->places = map_places(n_places);
    m->mask = n_places - 1;
    for (size_t i = 0; i <= old.mask; i++)
        if (old.places[i].key != 0)
            place(m, &old.places[i]);
    unmap_places(&old);
}

void ab_address_map_init(struct ab_address_map *m)
{
    *m = (struct ab_address_map){.places = map_places(LEAST_PLACES), .mask = LEAST_PLACES - 1};
}

void ab_address_map_fini(struct ab_address_map *m)
{
    unmap_places(m);
    *m = (struct ab_address_map){0};
}

void ab_address_map_grow(struct ab_address_map *m)
{
    resize(m, (m->mask + 1) * 2);
}

void ab_address_map_remove(struct ab_address_map *m, struct ab_held *found)
{
    size_t hole = (size_t)(found - m->places);
    for (size_t i = (hole + 1) & m->mask; m->places[i].key != 0; i = (i + 1) & m->mask) {
        size_t home = ab_address_map_home(m, ab_held_address(&m->places[i]));
        if (((i - home) & m->mask) >= ((i - hole) & m->mask)) {
            m->places[hole] = m->places[i];
            hole = i;
        }
    }
    m->places[hole].key = 0;
    m->n--;
    if (m->mask + 1 > LEAST_PLACES && m->n * 32 < m->mask)
        resize(m, (m->mask + 1) / 4);
}

static int by_number(const void *a, const void *b)
{
    const struct ab_held *x = a, *y = b;
    return AB_COMPARE(x->number, y->number);
}

struct ab_held *ab_address_map_sorted(const struct ab_address_map *m)
{
    struct ab_held *all = ab_alloc((m->n + 1) * sizeof all[0]);
    size_t n = 0;
    for (size_t i = 0; i <= m->mask; i++)
        if (m->places[i].key != 0)
            all[n++] = m->places[i];
    qsort(all, n, sizeof all[0], by_number);
    return all;
}
