/* SPDX-License-Identifier: MIT
 *
 * Mistakes with blocks of a pool or a slab, one a run, for a sanitizer or Valgrind to find.
 *   usage: misuse none|overflow|after-free|after-reset|undefined|twice|inside|foreign|large-twice pool|slab
 */
#include "allocators/pool/pool.h"
#include "allocators/slab/slab.h"

#include <stdio.h>
#include <string.h>

static struct ab_pool pool;
static struct ab_slabs slabs;
static char is_pool, foreign[128];

static char *get(size_t size)
{
    return is_pool ? ab_pool_alloc(&pool, size) : ab_slabs_alloc(&slabs, size);
}

static void give(void *block)
{
    if (is_pool)
        ab_pool_free(&pool, block);
    else
        ab_slabs_free(&slabs, block);
}

static void reset(void)
{
    if (is_pool)
        ab_pool_reset(&pool);
    else
        ab_slabs_reset(&slabs);
}

int main(int argc, char **argv)
{
    struct ab_pool_options pool_options = {.slot_bytes = 48, .grows = true};
    struct ab_slabs_options slab_options = {.reserve_bytes = 1 << 24, .keep_max = 4};
    if (argc != 3 || ab_pool_init(&pool, &pool_options) != 0 ||
        ab_slabs_init(&slabs, &slab_options) != 0)
        return 2;
    is_pool = strcmp(argv[2], "pool") == 0;
    char *volatile block = get(44), *volatile neighbour = get(44);
    for (int i = 0; i < 5000; i++) { /* all ways of a block back and forth */
        char *more[3] = {get(40), get(17), get(48)};
        memset(more[0], 1, 40);
        memset(more[1], 1, 17);
        for (int k = 0; k < 3 && i % 2 == 0; k++)
            give(more[k]);
    }
    memset(block, 1, 44);
    if (strcmp(argv[1], "overflow") == 0)
        block[is_pool ? 48 : 44] = 1; /* the first byte behind the slot, behind the block */
    if (strcmp(argv[1], "undefined") == 0)
        printf("%s\n", neighbour[3] > 0 ? "positive" : "not");
    give(neighbour);
    if (strcmp(argv[1], "twice") == 0)
        give(neighbour);
    if (strcmp(argv[1], "inside") == 0)
        give(block + 8);
    if (strcmp(argv[1], "foreign") == 0)
        give(foreign + 64);
    if (strcmp(argv[1], "large-twice") == 0) {
        char *large = ab_slabs_alloc(&slabs, 10000);
        ab_slabs_free(&slabs, large);
        ab_slabs_free(&slabs, large);
    }
    if (strcmp(argv[1], "after-free") == 0)
        neighbour[3] = 1;
    if (strcmp(argv[1], "after-reset") == 0) {
        reset();
        block[3] = 1;
    }
    ab_pool_fini(&pool);
    ab_slabs_fini(&slabs);
    puts("in order");
    return 0;
}
