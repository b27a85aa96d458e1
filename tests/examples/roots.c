/* SPDX-License-Identifier: MIT
 *
 * Blocks of every allocator, each with the only pointer to an object of malloc's, for LeakSanitizer.
 *   usage: roots live    the blocks live at exit: nothing is leaked
 *          roots reset   their heaps were reset: each object is leaked
 *          roots closed  their heaps were closed: the same
 * Prints how many objects there are.
 */
#include "allocators/arena/arena.h"
#include "allocators/handle/handle.h"
#include "allocators/paged/paged_arena.h"
#include "allocators/pool/pool.h"
#include "allocators/pool/pool_lockfree.h"
#include "allocators/slab/slab.h"
#include "allocators/slab/slab_shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64, LARGE = 100000, LARGER = 900000 };

static struct {
    struct ab_arena arena;
    struct ab_pool pool;
    struct ab_pool_lockfree lockfree;
    struct ab_slabs slabs;
    struct ab_slab_shared *shared;
    struct ab_paged_pool paged_pool, pages;
    struct ab_paged_arena paged_arena;
    struct ab_handle_arena handles;
} heaps;

static int open_heaps(void)
{
    struct ab_arena_options arena = {.reserve_bytes = 1 << 20, .chain_bytes = 1 << 20};
    struct ab_pool_options pool = {.slot_bytes = BLOCK, .n_slots = 100, .grows = true};
    struct ab_pool_lockfree_options lockfree = {.slot_bytes = BLOCK, .n_slots = 100};
    struct ab_slabs_options slabs = {.reserve_bytes = 64 << 20};
    struct ab_slab_shared_options shared = {.threads.mode = AB_SHARDS_LOCAL};
    struct ab_handle_options handles = {.value_bytes = BLOCK, .capacity = 100};
    heaps.shared = ab_slab_shared_open(&shared);
    return heaps.shared == NULL || ab_arena_init(&heaps.arena, &arena) != 0 ||
           ab_pool_init(&heaps.pool, &pool) != 0 ||
           ab_pool_lockfree_init(&heaps.lockfree, &lockfree) != 0 ||
           ab_slabs_init(&heaps.slabs, &slabs) != 0 ||
           ab_paged_pool_init(&heaps.paged_pool, "blocks", 1 << 20) != 0 ||
           ab_paged_pool_init(&heaps.pages, "pages", 1 << 20) != 0 ||
           ab_paged_arena_init(&heaps.paged_arena, &heaps.pages, 0, 0) != 0 ||
           ab_handle_arena_init(&heaps.handles, &handles) != 0;
}

static int n_objects;

/* The last word of the block is where no free list has its links. */
static void hold_object(void *block, size_t bytes)
{
    void *object = malloc(24);
    memcpy((char *)block + bytes - sizeof object, &object, sizeof object);
    n_objects++;
}

static void *large_block(void)
{
    void *block = ab_slabs_alloc(&heaps.slabs, LARGE);
    return ab_slabs_resize(&heaps.slabs, block, LARGE, LARGER);
}

__attribute__((noinline)) static int fill_heaps(void)
{
    struct ab_handle handle;
    hold_object(ab_arena_alloc(&heaps.arena, BLOCK), BLOCK);
    hold_object(ab_arena_alloc(&heaps.arena, 2 << 20), 2 << 20); /* in a further region */
    hold_object(ab_pool_alloc(&heaps.pool, BLOCK), BLOCK);
    hold_object(ab_pool_lockfree_alloc(&heaps.lockfree, BLOCK), BLOCK);
    hold_object(ab_slabs_alloc(&heaps.slabs, BLOCK), BLOCK);
    hold_object(ab_slabs_alloc_aligned(&heaps.slabs, 65536, LARGE), LARGE);
    hold_object(large_block(), LARGER);
    hold_object(ab_slab_shared_alloc(ab_slab_shared_own(heaps.shared), BLOCK), BLOCK);
    hold_object(ab_paged_pool_alloc(&heaps.paged_pool, BLOCK, 0), BLOCK);
    hold_object(ab_paged_arena_alloc(&heaps.paged_arena, BLOCK), BLOCK);
    if (ab_handle_insert(&heaps.handles, &handle) != 0)
        return 1;
    hold_object(ab_handle_get_mut(&heaps.handles, handle), BLOCK);
    return 0;
}

/* What was on the stack there points to nothing any more. */
__attribute__((noinline)) static void clear_stack(void)
{
    volatile char bytes[4096];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = 0;
}

static void reset_heaps(void)
{
    ab_arena_reset(&heaps.arena);
    ab_pool_reset(&heaps.pool);
    ab_pool_lockfree_reset(&heaps.lockfree);
    ab_slabs_reset(&heaps.slabs);
    ab_slab_shared_reset(heaps.shared);
    ab_paged_pool_reset(&heaps.paged_pool);
    ab_paged_arena_clear(&heaps.paged_arena);
    ab_handle_flush(&heaps.handles);
}

static void close_heaps(void)
{
    reset_heaps();
    ab_arena_fini(&heaps.arena);
    ab_pool_fini(&heaps.pool);
    ab_pool_lockfree_fini(&heaps.lockfree);
    ab_slabs_fini(&heaps.slabs);
    ab_slab_shared_close(heaps.shared);
    ab_paged_pool_fini(&heaps.paged_pool);
    ab_paged_arena_fini(&heaps.paged_arena);
    ab_paged_pool_fini(&heaps.pages);
    ab_handle_arena_fini(&heaps.handles);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (open_heaps() != 0 || fill_heaps() != 0)
        return 2;
    clear_stack();
    if (strcmp(what, "reset") == 0)
        reset_heaps();
    if (strcmp(what, "closed") == 0)
        close_heaps();
    printf("%d\n", n_objects);
    fflush(stdout); /* LeakSanitizer ends the process before the C library does */
    return 0;
}
