/* SPDX-License-Identifier: MIT
 *
 * The pool and the arena over it as a library, and the back end's two forms. What all back ends
 * have in common is in tests/contract.
 */
#include "allocators/paged/paged_arena.h"

#include "allocators/builtin.h"
#include "backend/params.h"
#include "base/rng.h"
#include "support/heap_model.h"
#include "support/small_pages.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { KIB = 1024, MIB = 1024 * 1024, HEADER = 16 };

static struct ab_paged_pool pool;

static void open_pool(size_t bytes)
{
    assert_int_equal(ab_paged_pool_init(&pool, "test", bytes), 0);
}

/* One free block that is the whole region: what must be left when all is freed. */
static void expect_empty(void)
{
    assert_int_equal(pool.live_blocks, 0);
    assert_int_equal(pool.live_bytes, 0);
    void *all = ab_paged_pool_alloc(&pool, ab_paged_pool_size(&pool) - HEADER - AB_MARK_GAP, 0);
    assert_ptr_equal(all, pool.base + HEADER);
    assert_true(ab_paged_pool_free(&pool, all));
}

static struct ab_paged_arena open_arena(size_t block_bytes)
{
    struct ab_paged_arena a;
    assert_int_equal(ab_paged_arena_init(&a, &pool, block_bytes, 3), 0);
    return a;
}

/* ---- the pool ---- */

static void a_pool_that_cannot_be_is_refused(void **state)
{
    (void)state;
    struct ab_paged_pool p = {.n_os_calls = 77};
    assert_int_equal(ab_paged_pool_init(&p, "x", 0), ENOMEM);
    assert_int_equal(ab_paged_pool_init(&p, "x", SIZE_MAX), ENOMEM);
    assert_int_equal(ab_paged_pool_init(&p, "x", AB_PAGED_POOL_MAX), ENOMEM);
    assert_int_equal(p.n_os_calls, 77);
}

static void the_first_hole_that_fits_is_taken(void **state)
{
    (void)state;
    open_pool(MIB);
    char *small = ab_paged_pool_alloc(&pool, 64, 0), *fence = ab_paged_pool_alloc(&pool, 64, 0);
    char *large = ab_paged_pool_alloc(&pool, 1000, 0), *end = ab_paged_pool_alloc(&pool, 64, 0);
    ab_paged_pool_free(&pool, large);
    ab_paged_pool_free(&pool, small); /* first in the list now */
    assert_ptr_equal(ab_paged_pool_alloc(&pool, 100, 0), large);
    assert_ptr_equal(ab_paged_pool_alloc(&pool, 60, 0), small);
    assert_true(ab_paged_pool_free(&pool, fence) && ab_paged_pool_free(&pool, end));
    ab_paged_pool_fini(&pool);
}

static void a_block_is_split_when_the_rest_holds_a_header_and_sixteen_bytes(void **state)
{
    (void)state;
    open_pool(MIB);
    char *hole = ab_paged_pool_alloc(&pool, 128, 0);
    ab_paged_pool_alloc(&pool, 16, 0);
    ab_paged_pool_free(&pool, hole);
    size_t least = HEADER + 16 + AB_MARK_GAP;
    assert_ptr_equal(ab_paged_pool_alloc(&pool, 128 - least, 0), hole);
    assert_int_equal(ab_paged_pool_usable(hole), 128 - least);
    assert_ptr_equal(ab_paged_pool_alloc(&pool, 1, 0), hole + 128 - 16);
    ab_paged_pool_free(&pool, hole + 128 - 16);
    ab_paged_pool_free(&pool, hole);
    assert_ptr_equal(ab_paged_pool_alloc(&pool, 128 - least + 1, 0), hole); /* too little is left */
    assert_int_equal(ab_paged_pool_usable(hole), 128);
    ab_paged_pool_fini(&pool);
}

static void neighbours_merge_in_whatever_order_they_die(void **state)
{
    (void)state;
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    open_pool(MIB);
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        char *blocks[3];
        for (int k = 0; k < 3; k++)
            blocks[k] = ab_paged_pool_alloc(&pool, 100, 0);
        for (int k = 0; k < 3; k++)
            assert_true(ab_paged_pool_free(&pool, blocks[orders[i][k]]));
        expect_empty();
    }
    ab_paged_pool_fini(&pool);
}

static void what_is_no_live_block_is_not_freed(void **state)
{
    (void)state;
    open_pool(MIB);
    char *block = ab_paged_pool_alloc(&pool, 100, 0), *other = ab_paged_pool_alloc(&pool, 100, 0);
    char foreign[64];
    memset(block, 0, 100);
    assert_true(ab_paged_pool_free(&pool, NULL));
    assert_false(ab_paged_pool_free(&pool, foreign + 32));
    assert_false(ab_paged_pool_free(&pool, block + 16));
    assert_false(ab_paged_pool_free(&pool, block + 1));
    assert_false(ab_paged_pool_free(&pool, pool.base));
    assert_false(ab_paged_pool_free(&pool, pool.end));
    assert_int_equal(pool.live_blocks, 2);
    assert_true(ab_paged_pool_free(&pool, other));
    assert_false(ab_paged_pool_free(&pool, other)); /* merged away */
    assert_true(ab_paged_pool_free(&pool, block));
    assert_false(ab_paged_pool_free(&pool, block));
    assert_null(ab_paged_pool_resize(&pool, block, 10));
    expect_empty();
    ab_paged_pool_fini(&pool);
}

static void a_block_grows_into_a_free_neighbour_and_shrinks_in_place(void **state)
{
    (void)state;
    open_pool(MIB);
    char *block = ab_paged_pool_alloc(&pool, 100, 5), *behind = ab_paged_pool_alloc(&pool, 500, 0);
    char *fence = ab_paged_pool_alloc(&pool, 10, 0);
    memset(block, 7, 100);
    ab_paged_pool_free(&pool, behind);
    assert_ptr_equal(ab_paged_pool_resize(&pool, block, 400), block);
    assert_ptr_equal(ab_paged_pool_resize(&pool, block, 50), block);
    assert_ptr_equal(ab_paged_pool_resize(&pool, block, 600), block);
    char *moved = ab_paged_pool_resize(&pool, block, 3000);
    assert_ptr_not_equal(moved, block);
    for (int i = 0; i < 50; i++)
        assert_int_equal(moved[i], 7);
    assert_int_equal(pool.tags[5].n_blocks, 1);
    assert_in_range(pool.tags[5].bytes, 3000, 3000 + 64);
    assert_null(ab_paged_pool_resize(&pool, moved, 2 * MIB));
    assert_true(ab_paged_pool_free(&pool, moved) && ab_paged_pool_free(&pool, fence));
    expect_empty();
    ab_paged_pool_fini(&pool);
}

static void random_work_leaves_nothing_behind(void **state)
{
    (void)state;
    enum { N = 200 };
    static void *blocks[N];
    struct ab_rng rng;
    memset(blocks, 0, sizeof blocks);
    ab_rng_init(&rng, 12, 34);
    open_pool(4 * MIB);
    for (int i = 0; i < 40000; i++) {
        void **b = &blocks[ab_rng_below(&rng, N)];
        size_t size = ab_rng_below(&rng, 3000);
        if (*b == NULL)
            *b = i % 7 == 0 ? ab_paged_pool_alloc_aligned(&pool, 256, size, 1)
                            : ab_paged_pool_alloc(&pool, size, 0);
        else if (i % 3 == 0)
            *b = ab_paged_pool_resize(&pool, *b, size);
        else
            assert_true(ab_paged_pool_free(&pool, *b)), *b = NULL;
    }
    for (int i = 0; i < N; i++)
        assert_true(ab_paged_pool_free(&pool, blocks[i]));
    assert_int_equal(pool.tags[0].bytes + pool.tags[1].bytes, 0);
    expect_empty();
    ab_paged_pool_fini(&pool);
}

static void a_fresh_region_is_not_written_for_zeroed_blocks(void **state)
{
    (void)state;
    open_pool(64 * MIB);
    char *p = ab_paged_pool_alloc_zeroed(&pool, 32 * MIB, 0);
    assert_true(heap_model_resident(p, 32 * MIB) <= 64 * KIB);
    memset(p, 1, MIB);
    ab_paged_pool_free(&pool, p);
    ab_paged_pool_purge(&pool);
    assert_true(heap_model_resident(pool.base, 64 * MIB) <= 64 * KIB);
    p = ab_paged_pool_alloc_zeroed(&pool, MIB, 0);
    for (size_t i = 0; i < MIB; i++)
        assert_int_equal(p[i], 0);
    ab_paged_pool_fini(&pool);
}

static void pools_are_found_by_name_and_keep_to_their_budgets(void **state)
{
    (void)state;
    struct ab_paged_pools set = {0};
    struct ab_paged_pool level = {0}, editor = {0}, other = {.n_os_calls = 77};
    assert_int_equal(ab_paged_pools_add(&set, &level, "level", MIB), 0);
    assert_int_equal(ab_paged_pools_add(&set, &editor, "editor", 2 * MIB), 0);
    assert_int_equal(ab_paged_pools_add(&set, &other, "level", MIB), EEXIST);
    assert_int_equal(ab_paged_pools_add(&set, &other, "a name of more than thirty-one bytes", MIB),
                     ENAMETOOLONG);
    assert_int_equal(other.n_os_calls, 77);
    assert_ptr_equal(ab_paged_pools_find(&set, "level"), &level);
    assert_ptr_equal(ab_paged_pools_find(&set, "editor"), &editor);
    assert_null(ab_paged_pools_find(&set, "sound"));
    assert_null(ab_paged_pool_alloc(&level, MIB, 0));
    assert_non_null(ab_paged_pool_alloc(&editor, MIB, 0));
    ab_paged_pools_fini(&set);
    assert_null(level.base);
    assert_null(ab_paged_pools_find(&set, "editor"));
}

/* ---- the arena over it ---- */

static void an_arena_begins_with_one_block_and_clear_keeps_it(void **state)
{
    (void)state;
    open_pool(MIB);
    struct ab_paged_arena a = open_arena(4 * KIB);
    assert_int_equal(a.n_pages, 1);
    char *first = ab_paged_arena_alloc(&a, 1000);
    for (int i = 0; i < 40; i++)
        memset(ab_paged_arena_alloc(&a, 1000), i, 1000);
    assert_in_range(a.n_pages, 10, 15);
    assert_in_range(ab_paged_arena_used(&a), 41 * 1000, 41 * (1008 + AB_PAGED_GAP));
    assert_int_equal(pool.tags[3].n_blocks, a.n_pages);
    ab_paged_arena_clear(&a);
    assert_int_equal(a.n_pages, 1);
    assert_int_equal(pool.live_blocks, 1);
    assert_int_equal(ab_paged_arena_used(&a), 0);
    assert_ptr_equal(ab_paged_arena_alloc(&a, 1000), first);
    ab_paged_arena_fini(&a);
    expect_empty();
    ab_paged_pool_fini(&pool);
}

static void a_request_larger_than_a_block_gets_one_of_its_size(void **state)
{
    (void)state;
    open_pool(MIB);
    struct ab_paged_arena a = open_arena(4 * KIB);
    char *p = ab_paged_arena_alloc(&a, 100 * KIB);
    memset(p, 1, 100 * KIB);
    char *q = ab_paged_arena_alloc_aligned(&a, 64 * KIB, 5000);
    assert_int_equal((uintptr_t)q % (64 * KIB), 0);
    memset(q, 2, 5000);
    assert_null(ab_paged_arena_alloc(&a, 2 * MIB));
    assert_null(ab_paged_arena_alloc(&a, SIZE_MAX));
    assert_null(ab_paged_arena_alloc_aligned(&a, (size_t)1 << 63, SIZE_MAX - 10));
    assert_null(ab_paged_arena_alloc_aligned(&a, 48, 1));
    assert_int_equal(p[100 * KIB - 1], 1);
    ab_paged_arena_fini(&a);
    expect_empty();
    ab_paged_pool_fini(&pool);
}

static void pops_in_reverse_empty_the_arena_block_by_block(void **state)
{
    (void)state;
    enum { N = 50 };
    char *blocks[N];
    open_pool(MIB);
    struct ab_paged_arena a = open_arena(4 * KIB);
    for (int i = 0; i < N; i++)
        blocks[i] = ab_paged_arena_alloc(&a, (size_t)(500 + i));
    assert_false(ab_paged_arena_pop(&a, blocks[0], 500, 0)); /* not on top */
    assert_false(ab_paged_arena_pop(&a, NULL, 0, 0));
    for (int i = N - 1; i >= 0; i--)
        assert_true(ab_paged_arena_pop(&a, blocks[i], (size_t)(500 + i), 0));
    assert_int_equal(ab_paged_arena_used(&a), 0);
    assert_int_equal(a.n_pages, 1);
    ab_paged_arena_fini(&a);
    ab_paged_pool_fini(&pool);
}

static void the_top_block_grows_in_place_and_others_are_copied(void **state)
{
    (void)state;
    open_pool(MIB);
    struct ab_paged_arena a = open_arena(64 * KIB);
    char *low = ab_paged_arena_alloc(&a, 64), *top = ab_paged_arena_alloc(&a, 64);
    memset(low, 3, 64);
    memset(top, 4, 64);
    assert_ptr_equal(ab_paged_arena_resize(&a, top, 64, 5000, 0), top);
    assert_ptr_equal(ab_paged_arena_resize(&a, top, 5000, 10, 0), top);
    char *moved = ab_paged_arena_resize(&a, low, 64, 200, 0);
    assert_ptr_not_equal(moved, low);
    assert_int_equal(moved[63], 3);
    char *far = ab_paged_arena_resize(&a, moved, 200, 200 * KIB, 0); /* the page grows with it */
    assert_ptr_equal(far, moved);
    assert_int_equal(a.n_pages, 1);
    memset(far + 200, 5, 200 * KIB - 200);
    assert_null(ab_paged_arena_resize(&a, far, 200 * KIB, 2 * MIB, 0));
    assert_null(ab_paged_arena_resize(&a, far, 200 * KIB, SIZE_MAX, 0));
    assert_int_equal(far[63], 3);
    ab_paged_arena_fini(&a);
    ab_paged_pool_fini(&pool);
}

/* A vector of words, one a step, written where each step begins. */
enum { STEP = 4 * KIB };

struct vector {
    struct ab_paged_arena *arena;
    char *bytes;
    size_t size, n_moves;
};

static void grow(struct vector *v)
{
    char *at = v->bytes == NULL
                   ? ab_paged_arena_alloc(v->arena, STEP)
                   : ab_paged_arena_resize(v->arena, v->bytes, v->size, v->size + STEP, 0);
    assert_non_null(at);
    v->n_moves += v->bytes != NULL && at != v->bytes;
    v->bytes = at;
    memcpy(at + v->size, &v->size, sizeof v->size);
    v->size += STEP;
}

static void expect_whole(const struct vector *v)
{
    for (size_t i = 0, word; i < v->size; i += STEP) {
        memcpy(&word, v->bytes + i, sizeof word);
        assert_int_equal(word, i);
    }
}

static void a_vector_grows_by_small_steps_without_a_move(void **state)
{
    (void)state;
    open_pool((size_t)512 * MIB);
    struct ab_paged_arena a = open_arena(0);
    char *older = ab_paged_arena_alloc(&a, 1000);
    struct vector v = {.arena = &a};
    while (v.size < (size_t)128 * MIB) {
        grow(&v);
        assert_true(pool.live_bytes <= v.size + 3 * 64 * KIB);
    }
    expect_whole(&v);
    assert_int_equal(v.n_moves, 0);
    assert_int_equal(a.held_bytes + HEADER + AB_MARK_GAP, pool.live_bytes);
    assert_true(ab_paged_arena_pop(&a, v.bytes, v.size, 0)); /* what the page has gained too */
    assert_true(pool.live_bytes <= 3 * 64 * KIB);
    assert_ptr_equal(ab_paged_arena_alloc(&a, 10), older + 1008 + AB_PAGED_GAP);
    ab_paged_arena_fini(&a);
    expect_empty();
    ab_paged_pool_fini(&pool);
}

/* Each one's page is soon behind the other's. */
static void vectors_of_two_arenas_move_a_few_times_and_their_old_pages_go_back(void **state)
{
    (void)state;
    open_pool((size_t)512 * MIB);
    struct ab_paged_arena a = open_arena(0), b = open_arena(0);
    struct vector v = {.arena = &a}, w = {.arena = &b};
    while (v.size < (size_t)64 * MIB) {
        grow(&v);
        grow(&w);
        assert_true(pool.live_bytes <= 2 * (v.size + w.size) + 8 * 64 * KIB);
        assert_true(a.n_pages <= 2 && b.n_pages <= 2); /* the first ones stay */
    }
    expect_whole(&v);
    expect_whole(&w);
    assert_in_range(v.n_moves + w.n_moves, 1, 2 * 10); /* 64 MiB are 2^10 times 64 KiB */
    ab_paged_arena_clear(&a);
    ab_paged_arena_fini(&a);
    ab_paged_arena_fini(&b);
    expect_empty();
    ab_paged_pool_fini(&pool);
}

static void vectors_of_one_arena_grow_in_turn(void **state)
{
    (void)state;
    open_pool((size_t)512 * MIB);
    struct ab_paged_arena a = open_arena(0);
    struct vector v[3] = {{.arena = &a}, {.arena = &a}, {.arena = &a}};
    while (v[2].size < (size_t)24 * MIB) {
        for (int i = 0; i < 3; i++)
            grow(&v[i]);
        assert_true(pool.live_bytes <= 2 * 3 * v[0].size + 16 * 64 * KIB);
    }
    for (int i = 0; i < 3; i++) {
        expect_whole(&v[i]);
        assert_in_range(v[i].n_moves, 0, 40); /* the first 64 KiB move at each step */
    }
    ab_paged_arena_clear(&a);
    assert_true(pool.live_bytes <= 3 * 64 * KIB);
    ab_paged_arena_fini(&a);
    expect_empty();
    ab_paged_pool_fini(&pool);
}

/* Twice the size is not to be had; a part of that serves as well. */
static void a_vector_takes_what_the_pool_has_left(void **state)
{
    (void)state;
    open_pool(16 * MIB);
    struct ab_paged_arena a = open_arena(0);
    struct vector v = {.arena = &a};
    while (v.size < 5 * MIB)
        grow(&v);
    void *fence = ab_paged_pool_alloc(&pool, MIB, 0);
    while (v.size < 9 * MIB)
        grow(&v);
    assert_int_equal(v.n_moves, 1);
    while (ab_paged_arena_resize(&a, v.bytes, v.size, v.size + STEP, 0) == v.bytes)
        v.size += STEP;
    expect_whole(&(struct vector){.bytes = v.bytes, .size = 9 * MIB});
    assert_true(ab_paged_pool_free(&pool, fence));
    ab_paged_arena_fini(&a);
    expect_empty();
    ab_paged_pool_fini(&pool);
}

/* The block on top when it was saved moves away, its page goes back, and an older block grows over
 * those very addresses. */
static void a_save_point_outlives_its_page(void **state)
{
    (void)state;
    open_pool(64 * MIB);
    void *hole = ab_paged_pool_alloc(&pool, 120 * KIB, 0);
    struct ab_paged_arena a = open_arena(0);
    char *grows = ab_paged_arena_alloc(&a, 100 * KIB);
    assert_true(ab_paged_pool_free(&pool, hole)); /* the next page goes there */
    char *stays = memset(ab_paged_arena_alloc(&a, 100 * KIB), 7, 100 * KIB);
    char *moves = ab_paged_arena_alloc(&a, 200 * KIB);
    assert_true(stays < grows && grows < moves);
    void *fence = ab_paged_pool_alloc(&pool, 50 * KIB, 0);
    struct ab_paged_mark mark = ab_paged_arena_save(&a);
    assert_ptr_not_equal(ab_paged_arena_resize(&a, moves, 200 * KIB, 300 * KIB, 0), moves);
    assert_ptr_equal(ab_paged_arena_resize(&a, grows, 100 * KIB, 250 * KIB, 0), grows);
    assert_non_null(ab_paged_arena_alloc(&a, 10 * MIB));
    ab_paged_arena_restore(&a, mark);
    assert_int_equal(a.n_pages, 3);
    assert_int_equal(stays[0] + stays[100 * KIB - 1], 14);
    assert_int_equal(ab_paged_arena_used(&a), 350 * KIB + 2 * AB_PAGED_GAP);
    assert_true(ab_paged_pool_free(&pool, fence));
    ab_paged_arena_fini(&a);
    expect_empty();
    ab_paged_pool_fini(&pool);
}

static void a_save_point_from_before_a_clear_is_ignored(void **state)
{
    (void)state;
    open_pool(MIB);
    struct ab_paged_arena a = open_arena(4 * KIB);
    for (int i = 0; i < 5; i++)
        ab_paged_arena_alloc(&a, 1000);
    struct ab_paged_mark early = ab_paged_arena_save(&a);
    for (int i = 0; i < 25; i++)
        ab_paged_arena_alloc(&a, 1000);
    struct ab_paged_mark late = ab_paged_arena_save(&a);
    ab_paged_arena_clear(&a);
    for (int i = 0; i < 40; i++)
        ab_paged_arena_alloc(&a, 1000);
    size_t used = ab_paged_arena_used(&a);
    ab_paged_arena_restore(&a, early);
    ab_paged_arena_restore(&a, late);
    assert_int_equal(ab_paged_arena_used(&a), used);
    ab_paged_arena_fini(&a);
    ab_paged_pool_fini(&pool);
}

static void tags_count_what_lives_under_them(void **state)
{
    (void)state;
    open_pool(MIB);
    struct ab_paged_arena a = open_arena(0);
    char *mesh = ab_paged_arena_alloc_tagged(&a, 100, 1);
    ab_paged_arena_alloc(&a, 1000);
    char *sound = ab_paged_arena_alloc_tagged(&a, 300, 2);
    assert_int_equal(a.tags[0].n_blocks, 0);
    assert_int_equal(a.tags[1].bytes, 100);
    sound = ab_paged_arena_resize(&a, sound, 300, 450, 2);
    assert_int_equal(a.tags[2].bytes, 450);
    mesh = ab_paged_arena_resize(&a, mesh, 100, 700, 1);
    assert_int_equal(a.tags[1].bytes, 700);
    assert_int_equal(a.tags[1].n_blocks, 1);
    assert_true(ab_paged_arena_pop(&a, mesh, 700, 1));
    assert_int_equal(a.tags[1].n_blocks + a.tags[1].bytes, 0);
    assert_int_equal(a.tags[2].n_blocks, 1);
    ab_paged_arena_clear(&a);
    assert_int_equal(a.tags[2].n_blocks + a.tags[2].bytes, 0);
    ab_paged_arena_fini(&a);
    ab_paged_pool_fini(&pool);
}

static void save_points_reach_over_blocks_and_stale_ones_are_ignored(void **state)
{
    (void)state;
    open_pool(MIB);
    struct ab_paged_arena a = open_arena(4 * KIB);
    ab_paged_arena_alloc(&a, 100);
    struct ab_paged_mark outer = ab_paged_arena_save(&a);
    size_t used = ab_paged_arena_used(&a);
    for (int i = 0; i < 30; i++)
        ab_paged_arena_alloc(&a, 1000);
    struct ab_paged_mark inner = ab_paged_arena_save(&a);
    ab_paged_arena_alloc(&a, 3000);
    ab_paged_arena_restore(&a, inner);
    assert_int_equal(ab_paged_arena_save(&a).place, inner.place);
    ab_paged_arena_restore(&a, outer);
    assert_int_equal(ab_paged_arena_used(&a), used);
    assert_int_equal(a.n_pages, 1);
    ab_paged_arena_restore(&a, inner);
    assert_int_equal(ab_paged_arena_used(&a), used);
    ab_paged_arena_fini(&a);
    expect_empty();
    ab_paged_pool_fini(&pool);
}

static void a_stale_save_point_at_a_lower_address_is_ignored_too(void **state)
{
    (void)state;
    open_pool(MIB);
    void *hole = ab_paged_pool_alloc(&pool, 5 * KIB, 0);
    struct ab_paged_arena a = open_arena(4 * KIB);
    ab_paged_pool_free(&pool, hole); /* the second block goes there, below the first */
    ab_paged_arena_alloc(&a, 1000);
    struct ab_paged_mark outer = ab_paged_arena_save(&a);
    assert_true((char *)ab_paged_arena_alloc(&a, 3500) < a.pool->base + 5 * KIB);
    struct ab_paged_mark inner = ab_paged_arena_save(&a);
    ab_paged_arena_restore(&a, outer);
    ab_paged_arena_restore(&a, inner);
    assert_int_equal(ab_paged_arena_save(&a).place, outer.place);
    ab_paged_arena_fini(&a);
    ab_paged_pool_fini(&pool);
}

static void several_arenas_share_the_budget_of_one_pool(void **state)
{
    (void)state;
    open_pool(256 * KIB);
    struct ab_paged_arena a = open_arena(16 * KIB), b = open_arena(16 * KIB), c;
    while (ab_paged_arena_alloc(&a, 1000) != NULL)
        ;
    assert_int_equal(ab_paged_arena_init(&c, &pool, 16 * KIB, 0), ENOMEM);
    assert_non_null(ab_paged_arena_alloc(&b, 15 * KIB));
    assert_null(ab_paged_arena_alloc(&b, 15 * KIB));
    ab_paged_arena_clear(&a);
    assert_non_null(ab_paged_arena_alloc(&b, 100 * KIB));
    ab_paged_arena_fini(&a);
    ab_paged_arena_fini(&b);
    expect_empty();
    ab_paged_pool_fini(&pool);
}

static void the_interface_gives_the_last_block_back(void **state)
{
    (void)state;
    open_pool(MIB);
    struct ab_paged_arena a = open_arena(0);
    struct ab_allocator allocator = ab_paged_allocator(&a);
    int *one = AB_NEW(int, &allocator), *two = AB_NEW_ARRAY(int, 20, &allocator);
    assert_null(allocator.alloc(0, allocator.context));
    AB_DELETE_ARRAY(int, 20, two, &allocator);
    AB_DELETE(int, one, &allocator);
    assert_int_equal(ab_paged_arena_used(&a), 0);
    AB_DELETE(int, NULL, &allocator);
    ab_paged_arena_fini(&a);
    ab_paged_pool_fini(&pool);
}

/* ---- the back end ---- */

static const struct ab_backend *form(const char *params)
{
    uint64_t values[AB_PARAMS_MAX];
    const struct ab_backend *b = ab_builtin_find("paged");
    assert_int_equal(ab_params_parse(b, params, values, NULL), AB_OK);
    return ab_backend_variant(b, values);
}

static void each_form_has_the_traits_and_hooks_that_are_its_own(void **state)
{
    (void)state;
    const struct ab_backend *arena = form(""), *pool_form = form("form=pool");
    assert_true((arena->traits & AB_TRAIT_NO_FREE) != 0);
    assert_true(arena->mark != NULL && arena->usable_size == NULL);
    assert_int_equal(pool_form->traits & AB_TRAIT_NO_FREE, 0);
    assert_true(pool_form->mark == NULL && pool_form->usable_size != NULL);
    assert_ptr_equal(form("form=arena:block=1MiB"), arena);
    assert_ptr_equal(pool_form->params, arena->params);
}

static void random_work_on_each_form_never_mixes_blocks(void **state)
{
    (void)state;
    static const char *const forms[] = {"", "block=4KiB", "form=pool"};
    struct ab_facts facts = {.total_bytes = 256 * MIB,
                             .total_blocks = 20000,
                             .lanes = 1,
                             .largest_bytes = 20000,
                             .largest_align = 4096,
                             .live_peak_blocks = 400,
                             .live_peak_bytes = 400 * 20000};
    for (int i = 0; i < 3; i++) {
        struct heap_model_work work = {.n_ops = 20000, .largest = 20000, .largest_align = 4096};
        struct ab_heap *heap = heap_model_open(form(forms[i]), forms[i], &facts);
        heap_model_run(form(forms[i]), heap, &work);
        form(forms[i])->close(heap);
    }
}

static void several_lanes_share_either_form(void **state)
{
    (void)state;
    struct ab_facts facts = {.total_bytes = 64 * MIB, .total_blocks = 100000, .lanes = 4};
    for (int i = 0; i < 2; i++) {
        const char *params = i == 0 ? "" : "form=pool";
        struct ab_heap *heap = heap_model_open(form(params), params, &facts);
        heap_model_run_threads(form(params), heap, 5000, 500);
        form(params)->close(heap);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pool_that_cannot_be_is_refused),
        cmocka_unit_test(the_first_hole_that_fits_is_taken),
        cmocka_unit_test(a_block_is_split_when_the_rest_holds_a_header_and_sixteen_bytes),
        cmocka_unit_test(neighbours_merge_in_whatever_order_they_die),
        cmocka_unit_test(what_is_no_live_block_is_not_freed),
        cmocka_unit_test(a_block_grows_into_a_free_neighbour_and_shrinks_in_place),
        cmocka_unit_test(random_work_leaves_nothing_behind),
        cmocka_unit_test(a_fresh_region_is_not_written_for_zeroed_blocks),
        cmocka_unit_test(pools_are_found_by_name_and_keep_to_their_budgets),
        cmocka_unit_test(an_arena_begins_with_one_block_and_clear_keeps_it),
        cmocka_unit_test(a_request_larger_than_a_block_gets_one_of_its_size),
        cmocka_unit_test(pops_in_reverse_empty_the_arena_block_by_block),
        cmocka_unit_test(the_top_block_grows_in_place_and_others_are_copied),
        cmocka_unit_test(a_vector_grows_by_small_steps_without_a_move),
        cmocka_unit_test(vectors_of_two_arenas_move_a_few_times_and_their_old_pages_go_back),
        cmocka_unit_test(vectors_of_one_arena_grow_in_turn),
        cmocka_unit_test(a_vector_takes_what_the_pool_has_left),
        cmocka_unit_test(a_save_point_outlives_its_page),
        cmocka_unit_test(a_save_point_from_before_a_clear_is_ignored),
        cmocka_unit_test(tags_count_what_lives_under_them),
        cmocka_unit_test(save_points_reach_over_blocks_and_stale_ones_are_ignored),
        cmocka_unit_test(a_stale_save_point_at_a_lower_address_is_ignored_too),
        cmocka_unit_test(several_arenas_share_the_budget_of_one_pool),
        cmocka_unit_test(the_interface_gives_the_last_block_back),
        cmocka_unit_test(each_form_has_the_traits_and_hooks_that_are_its_own),
        cmocka_unit_test(random_work_on_each_form_never_mixes_blocks),
        cmocka_unit_test(several_lanes_share_either_form),
    };
    test_with_small_pages();
    return cmocka_run_group_tests_name("paged", tests, NULL, NULL);
}
