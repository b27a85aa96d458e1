/* SPDX-License-Identifier: MIT
 *
 * The table, and where in it a key is at home: the finaliser of MurmurHash3 (Appleby, public domain)
 * over the key and a drawn number.
 */
#include "exchange/block_map.h"

#include <stdlib.h>
#include <sys/random.h>

enum { LEAST_PLACES = 64 };

static size_t home_of(const struct ab_block_map *m, uint64_t key)
{
    uint64_t h = key ^ m->seed;
    h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return (size_t)(h ^ h >> 33) & m->mask;
}

/* Its place, or the empty one where it would be. */
static struct ab_mapped *seek(const struct ab_block_map *m, uint64_t key)
{
    size_t i = home_of(m, key);
    while (m->places[i].key != 0 && m->places[i].key != key)
        i = (i + 1) & m->mask;
    return &m->places[i];
}

static bool resize(struct ab_block_map *m, size_t n_places)
{
    struct ab_block_map old = *m;
    struct ab_mapped *fresh = calloc(n_places, sizeof fresh[0]);
    if (fresh == NULL)
        return false;
    if (old.places == NULL && getrandom(&m->seed, sizeof m->seed, GRND_NONBLOCK) < 0)
        m->seed = (uintptr_t)fresh;
    m->places = fresh;
    m->mask = n_places - 1;
    for (size_t i = 0; old.places != NULL && i <= old.mask; i++)
        if (old.places[i].key != 0)
            *seek(m, old.places[i].key) = old.places[i];
    free(old.places);
    return true;
}

void ab_block_map_fini(struct ab_block_map *m)
{
    free(m->places);
    *m = (struct ab_block_map){0};
}

struct ab_mapped *ab_block_map_find(const struct ab_block_map *m, uint64_t key)
{
    if (m->places == NULL)
        return NULL;
    struct ab_mapped *place = seek(m, key);
    return place->key != 0 ? place : NULL;
}

bool ab_block_map_set(struct ab_block_map *m, uint64_t key, uint64_t number)
{
    if (m->places == NULL || m->n * 2 >= m->mask)
        if (!resize(m, m->places == NULL ? LEAST_PLACES : (m->mask + 1) * 2))
            return false;
    struct ab_mapped *place = seek(m, key);
    m->n += place->key == 0;
    *place = (struct ab_mapped){key, number};
    return true;
}

void ab_block_map_remove(struct ab_block_map *m, struct ab_mapped *found)
{
    size_t hole = (size_t)(found - m->places);
    for (size_t i = (hole + 1) & m->mask; m->places[i].key != 0; i = (i + 1) & m->mask)
        if (((i - home_of(m, m->places[i].key)) & m->mask) >= ((i - hole) & m->mask)) {
            m->places[hole] = m->places[i];
            hole = i;
        }
    m->places[hole].key = 0;
    m->n--;
    if (m->mask + 1 > LEAST_PLACES && m->n * 32 < m->mask)
        resize(m, (m->mask + 1) / 4); /* when it fails the map is only larger than needed */
}
