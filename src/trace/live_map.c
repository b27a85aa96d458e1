/* SPDX-License-Identifier: MIT
 *
 * The hash table of live blocks by allocation number.
 */
#include "trace/live_map.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_PLACES = 1024, LINE = 64 };

void ab_live_map_fini(struct ab_live_map *m)
{
    free(m->young.places);
    free(m->old.places);
    *m = (struct ab_live_map){0};
}

static bool make_table(size_t n_places, struct ab_live_table *out)
{
    struct ab_live *places = aligned_alloc(LINE, n_places * sizeof places[0]);
    if (places == NULL)
        return false;
    memset(places, 0, n_places * sizeof places[0]);
    *out = (struct ab_live_table){.places = places, .mask = n_places - 1};
    return true;
}

bool ab_live_map_grow(struct ab_live_map *m)
{
    const struct ab_live_table was = m->young;
    if (!make_table(was.places == NULL ? LEAST_PLACES : (was.mask + 1) * 2, &m->young))
        return false;
    m->young.n = was.n;
    for (size_t i = 0; was.places != NULL && i <= was.mask; i++)
        if (was.places[i].number != 0) /* no two of them meet: they did not in half the room */
            m->young.places[(was.places[i].number - 1) & m->young.mask] = was.places[i];
    free(was.places);
    return true;
}

static void put_old(struct ab_live_table *old, const struct ab_live *live)
{
    size_t i = ab_live_home(old, live->number - 1);
    while (old->places[i].number != 0)
        i = (i + 1) & old->mask;
    old->places[i] = *live;
    old->n++;
}

static bool resize_old(struct ab_live_map *m, size_t n_places)
{
    const struct ab_live_table was = m->old;
    if (!make_table(n_places, &m->old))
        return false;
    for (size_t i = 0; was.places != NULL && i <= was.mask; i++)
        if (was.places[i].number != 0)
            put_old(&m->old, &was.places[i]);
    free(was.places);
    return true;
}

bool ab_live_map_age(struct ab_live_map *m, struct ab_live *young)
{
    size_t n_places = m->old.places == NULL ? LEAST_PLACES : (m->old.mask + 1) * 2;
    if (m->old.n * 2 >= m->old.mask && !resize_old(m, n_places))
        return false;
    put_old(&m->old, young);
    return true;
}

struct ab_live *ab_live_map_find_old(const struct ab_live_map *m, uint64_t number)
{
    const struct ab_live_table *old = &m->old;
    if (old->places == NULL)
        return NULL;
    for (size_t i = ab_live_home(old, number); old->places[i].number != 0; i = (i + 1) & old->mask)
        if (old->places[i].number == number + 1)
            return &old->places[i];
    return NULL;
}

void ab_live_map_remove_old(struct ab_live_map *m, struct ab_live *found)
{
    struct ab_live_table *old = &m->old;
    size_t hole = (size_t)(found - old->places);
    for (size_t i = (hole + 1) & old->mask; old->places[i].number != 0; i = (i + 1) & old->mask) {
        size_t distance = (i - ab_live_home(old, old->places[i].number - 1)) & old->mask;
        if (distance >= ((i - hole) & old->mask)) {
            old->places[hole] = old->places[i];
            hole = i;
        }
    }
    old->places[hole].number = 0;
    old->n--;
    if (old->mask + 1 > LEAST_PLACES && old->n * 16 < old->mask)
        resize_old(m, (old->mask + 1) / 4); /* when it fails the table is only larger than needed */
}
