/* SPDX-License-Identifier: MIT
 *
 * The checked build visits every live block of an arena, a pool and a slab heap, the youngest first,
 * with the size that was asked for. Says which heap does not, and exits with 1.
 */
#include "allocators/arena/arena.h"
#include "allocators/pool/pool.h"
#include "allocators/slab/slab.h"

#include <stdbool.h>
#include <stdio.h>

struct seen {
    void *blocks[8];
    size_t sizes[8];
    unsigned n;
};

static void note(void *block, size_t size, void *context)
{
    struct seen *seen = context;
    if (seen->n < 8) {
        seen->blocks[seen->n] = block;
        seen->sizes[seen->n] = size;
    }
    seen->n++;
}

/* True if exactly the n blocks were seen, the last one first, each with its size. */
static bool is_right(const char *heap, const struct seen *seen, void *const *blocks,
                     const size_t *sizes, unsigned n)
{
    bool is_same = seen->n == n;
    for (unsigned i = 0; is_same && i < n; i++)
        is_same = seen->blocks[i] == blocks[n - 1 - i] && seen->sizes[i] == sizes[n - 1 - i];
    if (!is_same)
        fprintf(stderr, "%s: %u blocks were visited, or others than the live ones\n", heap,
                seen->n);
    return is_same;
}

static bool try_arena(void)
{
    struct ab_arena_options options = {.reserve_bytes = 1 << 20};
    struct ab_arena arena;
    struct seen seen = {.n = 0}, none = {.n = 0};
    void *blocks[3];
    const size_t sizes[3] = {10, 20, 30};
    if (ab_arena_init(&arena, &options) != 0)
        return false;
    for (unsigned i = 0; i < 3; i++)
        blocks[i] = ab_arena_alloc(&arena, sizes[i]);
    ab_arena_visit(&arena, note, &seen);
    ab_arena_reset(&arena);
    ab_arena_visit(&arena, note, &none);
    ab_arena_fini(&arena);
    return is_right("arena", &seen, blocks, sizes, 3) && is_right("arena", &none, NULL, NULL, 0);
}

static bool try_pool(void)
{
    struct ab_pool_options options = {.slot_bytes = 48, .grows = true};
    struct ab_pool pool;
    struct seen seen = {.n = 0};
    void *blocks[3];
    const size_t sizes[3] = {10, 20, 30};
    if (ab_pool_init(&pool, &options) != 0)
        return false;
    for (unsigned i = 0; i < 3; i++)
        blocks[i] = ab_pool_alloc(&pool, sizes[i]);
    ab_pool_free(&pool, blocks[2]);
    ab_pool_visit(&pool, note, &seen);
    bool is_ok = is_right("pool", &seen, blocks, sizes, 2);
    ab_pool_reset(&pool);
    ab_pool_fini(&pool);
    return is_ok;
}

static bool try_slabs(void)
{
    struct ab_slabs_options options = {.reserve_bytes = 1 << 24};
    struct ab_slabs slabs;
    struct seen seen = {.n = 0};
    void *blocks[3];
    const size_t sizes[3] = {10, 3000, 300000}; /* the last one has a mapping of its own */
    if (ab_slabs_init(&slabs, &options) != 0)
        return false;
    void *first = ab_slabs_alloc(&slabs, 100);
    for (unsigned i = 0; i < 3; i++)
        blocks[i] = ab_slabs_alloc(&slabs, sizes[i]);
    ab_slabs_free(&slabs, first);
    ab_slabs_visit(&slabs, note, &seen);
    bool is_ok = is_right("slab", &seen, blocks, sizes, 3);
    ab_slabs_reset(&slabs);
    ab_slabs_fini(&slabs);
    return is_ok;
}

int main(void)
{
    bool is_ok = try_arena();
    is_ok = try_pool() && is_ok;
    return try_slabs() && is_ok ? 0 : 1;
}
