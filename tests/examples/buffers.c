// SPDX-License-Identifier: MIT
//
// Arena, pool and handle arena over buffers of a program, in random use against what they promise:
// blocks are aligned, keep their contents and overlap nothing; slots and handles come in the documented
// order, which is printed. The same program is built with the headers for small systems or, with
// -DFULL, with the full ones: it prints the same.
//
//     scripts/single-headers single && cc -m32 -Isingle tests/examples/buffers.c && ./a.out
#ifdef FULL
#define AB_ARENA_IMPLEMENTATION
#define AB_POOL_IMPLEMENTATION
#define AB_HANDLE_IMPLEMENTATION
#include "arena.h"
#include "handle.h"
#include "pool.h"
#else
#include "arena_buffer.h"
#include "handle_buffer.h"
#include "pool_buffer.h"
#endif

#include <stdio.h>
#include <stdlib.h>

#define DEMAND(what) \
    do { \
        if (!(what)) { \
            printf("line %d: %s\n", __LINE__, #what); \
            exit(1); \
        } \
    } while (0)

AB_ALIGNAS(64) static char buffer[1 << 16];
static uint64_t state;

static uint32_t below(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

/* ---- arena ---- */

struct block {
    unsigned char *at;
    size_t size, align;
    unsigned char fill;
};

static struct block blocks[4096];
static size_t n_blocks;
static struct ab_arena_mark marks[8];
static size_t blocks_at[8], n_marks;

static void look_at_blocks(void)
{
    for (size_t i = 0; i < n_blocks; i++) {
        DEMAND(((uintptr_t)blocks[i].at & (blocks[i].align - 1)) == 0);
        for (size_t k = 0; k < blocks[i].size; k++)
            DEMAND(blocks[i].at[k] == blocks[i].fill);
    }
}

static void fill_block(struct block *b)
{
    DEMAND((char *)b->at >= buffer && (char *)b->at + b->size <= buffer + sizeof buffer);
    memset(b->at, b->fill, b->size);
}

static bool add_block(struct ab_arena *arena)
{
    struct block *b = &blocks[n_blocks];
    b->align = (size_t)1 << below(8);
    b->size = below(below(8) == 0 ? 3000 : 100);
    b->fill = (unsigned char)below(256);
    bool is_zeroed = below(4) == 0;
    b->at = (unsigned char *)(is_zeroed ? ab_arena_alloc_array_zeroed(arena, b->align, b->size, 1)
                                        : ab_arena_alloc_aligned(arena, b->align, b->size));
    if (b->at == NULL)
        return false;
    for (size_t i = 0; is_zeroed && i < b->size; i++)
        DEMAND(b->at[i] == 0);
    fill_block(b);
    n_blocks++;
    return true;
}

/* The last block, or one before it, which is copied. */
static void resize_block(struct ab_arena *arena)
{
    if (n_blocks == 0 || (n_marks > 0 && blocks_at[n_marks - 1] == n_blocks))
        return;
    struct block *b = &blocks[n_blocks - 1], old = *b;
    size_t size = below(400);
    unsigned char *at = (unsigned char *)ab_arena_resize_aligned(arena, b->align, b->at, b->size,
                                                                 size);
    if (at == NULL)
        return;
    for (size_t i = 0; i < size && i < old.size; i++)
        DEMAND(at[i] == old.fill);
    b->at = at;
    b->size = size;
    fill_block(b);
}

static void go_back(struct ab_arena *arena)
{
    if (n_marks == 0)
        return;
    ab_arena_restore(arena, marks[--n_marks]);
    n_blocks = blocks_at[n_marks];
}

static void save(struct ab_arena *arena)
{
    if (n_marks == 8)
        return;
    marks[n_marks] = ab_arena_save(arena);
    blocks_at[n_marks++] = n_blocks;
}

static void use_arena(uint64_t seed)
{
    struct ab_arena arena;
    state = seed;
    size_t skipped = below(17);
    ab_arena_init_buffer(&arena, buffer + skipped, sizeof buffer - skipped - below(17));
    n_blocks = n_marks = 0;
    for (int i = 0; i < 2000; i++) {
        uint32_t what = below(20);
        if (what < 12) {
            if (n_blocks == 4096 || !add_block(&arena))
                go_back(&arena);
        } else if (what < 15) {
            resize_block(&arena);
        } else if (what < 17) {
            save(&arena);
        } else if (what < 19) {
            go_back(&arena);
        } else if (below(20) == 0) {
            ab_arena_reset(&arena);
            n_blocks = n_marks = 0;
            DEMAND(ab_arena_used(&arena) == 0);
        }
        if (i % 64 == 0)
            look_at_blocks();
        DEMAND(ab_arena_used(&arena) <= sizeof buffer);
    }
    DEMAND(ab_arena_alloc(&arena, SIZE_MAX) == NULL && ab_arena_alloc(&arena, PTRDIFF_MAX) == NULL);
    DEMAND(ab_arena_alloc_aligned(&arena, 24, 1) == NULL);
    DEMAND(ab_arena_alloc_array(&arena, 4, SIZE_MAX / 2, 4) == NULL);
    ab_arena_fini(&arena);
}

/* ---- pool ---- */

static unsigned use_pool(uint64_t seed)
{
    struct ab_pool pool;
    struct ab_pool_options options;
    char *live[2048];
    unsigned n_live = 0, sum = 0;
    state = seed;
    memset(&options, 0, sizeof options);
    options.slot_bytes = 8 + below(100);
    options.align = (size_t)1 << (3 + below(4));
    size_t offset = below(16), bytes = 300 + below(40000);
    char *first = NULL;
    DEMAND(ab_pool_init_buffer(&pool, buffer + offset, bytes, &options) == 0);
    for (int i = 0; i < 4000; i++) {
        if (below(i / 500 % 2 == 0 ? 3 : 5) < 2 && n_live < 2048) {
            char *slot = (char *)ab_pool_alloc(&pool, options.slot_bytes);
            first = first == NULL ? slot : first;
            sum = sum * 31 + (slot == NULL ? 1 : (unsigned)((size_t)(slot - first) / pool.stride));
            if (slot == NULL)
                continue;
            DEMAND(((uintptr_t)slot & (options.align - 1)) == 0 && ab_pool_owns(&pool, slot));
            memset(slot, (int)(n_live & 0xff), options.slot_bytes);
            live[n_live++] = slot;
        } else if (n_live > 0) {
            unsigned k = below(n_live);
            ab_pool_free(&pool, live[k]);
            live[k] = live[--n_live];
        }
        DEMAND(ab_pool_live(&pool) == n_live);
    }
    DEMAND(!ab_pool_owns(&pool, buffer + sizeof buffer - 1));
    DEMAND(ab_pool_alloc(&pool, options.slot_bytes + 4096) == NULL);
    ab_pool_reset(&pool);
    DEMAND(ab_pool_live(&pool) == 0);
    ab_pool_fini(&pool);
    return sum;
}

/* ---- handles ---- */

struct ship {
    uint32_t number, other[3];
};
AB_HANDLE_DEFINE(ship, struct ship)

static unsigned use_handles(uint64_t seed)
{
    struct ab_handle_arena arena;
    struct ab_handle_options options;
    struct ab_handle live[300], stale[64];
    uint32_t numbers[300];
    unsigned n_live = 0, n_stale = 0, sum = 0;
    state = seed;
    memset(&options, 0, sizeof options);
    options.value_bytes = sizeof(struct ship);
    options.capacity = 1 + below(300);
    options.version_base = AB_HANDLE_BASE_ZERO;
    options.version_max = below(2) == 0 ? 0 : 1 + below(9);
    DEMAND(ab_handle_arena_init_buffer(&arena, buffer + below(16), 60000, &options) == 0);
    for (uint32_t i = 0; i < 3000; i++) {
        if (below(5) < 3) {
            struct ab_handle made;
            int error = ab_handle_insert_zeroed(&arena, &made);
            sum = sum * 31 + (error != 0 ? 7 : made.index * 131 + made.version);
            if (error != 0)
                continue;
            struct ship *ship = (struct ship *)ab_handle_get_mut(&arena, made);
            DEMAND(ship->number == 0 && ship->other[2] == 0);
            ship->number = numbers[n_live] = i;
            live[n_live++] = made;
        } else if (n_live > 0) {
            unsigned k = below(n_live);
            const struct ship *ship = (const struct ship *)ab_handle_get(&arena, live[k]);
            DEMAND(ship != NULL && ship->number == numbers[k]);
            DEMAND(ab_handle_remove(&arena, live[k]) && !ab_handle_remove(&arena, live[k]));
            stale[n_stale++ % 64] = live[k];
            live[k] = live[--n_live];
            numbers[k] = numbers[n_live];
        }
        if (below(500) == 0) {
            ab_handle_flush(&arena);
            for (; n_live > 0; n_live--)
                stale[n_stale++ % 64] = live[n_live - 1];
        }
        DEMAND(arena.n_live == n_live);
    }
    for (unsigned i = 0; i < 64 && i < n_stale; i++)
        DEMAND(ab_handle_get(&arena, stale[i]) == NULL);
    unsigned n = 0;
    for (struct ab_handle h = {0, 0}; ab_handle_next(&arena, &h); n++)
        sum = sum * 31 + h.index;
    DEMAND(n == n_live && arena.n_live == n_live);
    sum = sum * 31 + arena.n_retired;
    ab_handle_flush(&arena);
    ab_handle_arena_fini(&arena);
    return sum;
}

static unsigned use_ships(void)
{
    struct ship_arena ships;
    struct ship_handle handle, first;
    unsigned n = 0;
    DEMAND(ship_arena_init_buffer(&ships, buffer, 1000) == 0);
    while (ship_insert(&ships, &handle) != NULL)
        first = n++ == 0 ? handle : first;
    DEMAND(ship_get(&ships, first)->number == 0 && ship_remove(&ships, first));
    DEMAND(ship_get(&ships, first) == NULL && ship_insert(&ships, &handle) != NULL);
    DEMAND(!ab_handle_equal(first.any, handle.any) && first.any.index == handle.any.index);
    DEMAND(ship_arena_init_buffer(&ships, buffer, 20) == ENOMEM);
    DEMAND(ab_handle_arena_init_type_buffer(&ships.any, 8, 24, buffer, 1000) == EINVAL);
    ab_handle_flush(&ships.any);
    ship_arena_fini(&ships);
    return n;
}

int main(void)
{
    unsigned sum = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        use_arena(seed);
        sum = sum * 31 + use_pool(seed);
        sum = sum * 31 + use_handles(seed);
    }
    use_ships();
    printf("%08x\n", sum);
    return 0;
}
