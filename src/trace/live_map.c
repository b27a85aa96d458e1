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
    free(m->places);
    *m = (struct ab_live_map){0};
}

static void place(struct ab_live_map *m, const struct ab_live *live)
{
    size_t i = ab_live_map_home(m, live->number);
    while (m->places[i].number != 0)
        i = (i + 1) & m->mask;
    m->places[i] = *live;
}

static bool resize(struct ab_live_map *m, size_t n_places)
{
    struct ab_live_map old = *m;
    struct ab_live *fresh = aligned_alloc(LINE, n_places * sizeof fresh[0]);
    if (fresh == NULL)
        return false;
    memset(fresh, 0, n_places * sizeof fresh[0]);
    m->places = fresh;
    m->mask = n_places - 1;
    for (size_t i = 0; old.places != NULL && i <= old.mask; i++)
        if (old.places[i].number != 0)
            place(m, &old.places[i]);
    free(old.places);
    return true;
}

bool ab_live_map_grow(struct ab_live_map *m)
{
    return resize(m, m->places == NULL ? LEAST_PLACES : (m->mask + 1) * 2);
}

void ab_live_map_remove(struct ab_live_map *m, struct ab_live *found)
{
    size_t hole = (size_t)(found - m->places);
    for (size_t i = (hole + 1) & m->mask; m->places[i].number != 0; i = (i + 1) & m->mask) {
        size_t distance = (i - ab_live_map_home(m, m->places[i].number)) & m->mask;
        if (distance >= ((i - hole) & m->mask)) {
            m->places[hole] = m->places[i];
            hole = i;
        }
    }
    m->places[hole].number = 0;
    m->n--;
    if (m->mask + 1 > LEAST_PLACES && m->n * 16 < m->mask)
        resize(m, (m->mask + 1) / 4); /* when it fails the map is only larger than needed */
}
