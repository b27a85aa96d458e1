/* SPDX-License-Identifier: MIT
 *
 * Numbers by key: live blocks by address, threads by the number that a file gives them. Keys are
 * whole 64-bit words (Android's pointers carry a tag in the upper byte) and come from files that
 * may be hostile: their order in the table is drawn, so that no file can choose ones that
 * collide. Open addressing with backward-shift deletion; memory O(live).
 */
#ifndef AB_EXCHANGE_BLOCK_MAP_H
#define AB_EXCHANGE_BLOCK_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_mapped {
    uint64_t key; /* never 0, which is an empty place */
    uint64_t number;
};

struct ab_block_map {
    struct ab_mapped *places; /* mask + 1, at most half of them used */
    size_t n, mask;
    uint64_t seed;
};

/* A zeroed map is empty. */
void ab_block_map_fini(struct ab_block_map *m);
/* NULL when there is none; holds until the next set or remove. */
struct ab_mapped *ab_block_map_find(const struct ab_block_map *m, uint64_t key);
/* Adds the key, or gives it another number. False when out of memory. */
bool ab_block_map_set(struct ab_block_map *m, uint64_t key, uint64_t number);
void ab_block_map_remove(struct ab_block_map *m, struct ab_mapped *found);

#endif
