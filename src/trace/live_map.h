/* SPDX-License-Identifier: MIT
 *
 * Live blocks by allocation number: open addressing with backward-shift deletion, memory O(live).
 */
#ifndef AB_TRACE_LIVE_MAP_H
#define AB_TRACE_LIVE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_live {
    uint64_t number; /* of its allocation, + 1; 0 = empty place */
    uint64_t size;
    uint32_t slot;
};

struct ab_live_map {
    struct ab_live *places;
    size_t n, mask; /* mask + 1 places, at most half of them used */
};

void ab_live_map_fini(struct ab_live_map *m);
/* False when out of memory. `number` must not be in it. */
bool ab_live_map_add(struct ab_live_map *m, uint64_t number, uint64_t size, uint32_t slot);
/* NULL when the block is not live; the pointer holds until the next add or remove. */
struct ab_live *ab_live_map_find(const struct ab_live_map *m, uint64_t number);
/* Tells the processor that `number` will be added or looked for soon. */
void ab_live_map_prefetch(const struct ab_live_map *m, uint64_t number);
void ab_live_map_remove(struct ab_live_map *m, struct ab_live *found);

#endif
