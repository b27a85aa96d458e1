/* SPDX-License-Identifier: MIT */
#include "trace/live_map.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_PLACES = 1024 };

/* Numbers come nearly in order, and order is what a multiplicative hash spreads well; four that
 * follow each other stay neighbours, as they are asked for together. The numbers are counted by the
 * reader itself, so no file can choose keys that collide. */
static size_t home(const struct ab_live_map *m, uint64_t key)
{
    return (size_t)(((key >> 2) * 0x9e3779b97f4a7c15u >> 20) + (key & 3)) & m->mask;
}

void ab_live_map_fini(struct ab_live_map *m)
{
    free(m->places);
    *m = (struct ab_live_map){0};
}

static void place(struct ab_live_map *m, const struct ab_live *live)
{
    size_t i = home(m, live->number);
    while (m->places[i].number != 0)
        i = (i + 1) & m->mask;
    m->places[i] = *live;
}

static bool resize(struct ab_live_map *m, size_t n_places)
{
    struct ab_live_map old = *m;
    struct ab_live *fresh = calloc(n_places, sizeof fresh[0]);
    if (fresh == NULL)
        return false;
    m->places = fresh;
    m->mask = n_places - 1;
    for (size_t i = 0; old.places != NULL && i <= old.mask; i++)
        if (old.places[i].number != 0)
            place(m, &old.places[i]);
    free(old.places);
    return true;
}

bool ab_live_map_add(struct ab_live_map *m, uint64_t number, uint64_t size, uint32_t slot)
{
    if (m->places == NULL && !resize(m, LEAST_PLACES))
        return false;
    if (m->n * 2 >= m->mask && !resize(m, (m->mask + 1) * 2))
        return false;
    place(m, &(struct ab_live){number + 1, size, slot});
    m->n++;
    return true;
}

struct ab_live *ab_live_map_find(const struct ab_live_map *m, uint64_t number)
{
    if (m->places == NULL || number == UINT64_MAX)
        return NULL;
    for (size_t i = home(m, number + 1); m->places[i].number != 0; i = (i + 1) & m->mask)
        if (m->places[i].number == number + 1)
            return &m->places[i];
    return NULL;
}

void ab_live_map_prefetch(const struct ab_live_map *m, uint64_t number)
{
    if (m->places != NULL)
        __builtin_prefetch(&m->places[home(m, number + 1)], 1);
}

void ab_live_map_remove(struct ab_live_map *m, struct ab_live *found)
{
    size_t hole = (size_t)(found - m->places);
    for (size_t i = (hole + 1) & m->mask; m->places[i].number != 0; i = (i + 1) & m->mask) {
        size_t distance = (i - home(m, m->places[i].number)) & m->mask;
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
