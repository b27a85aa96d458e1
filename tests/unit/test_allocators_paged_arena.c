/* SPDX-License-Identifier: MIT
 *
 * The arena over a pool as a library: its pages, what grows in it, and its save points.
 */
#include "allocators/paged/paged_arena.h"

#include "support/paged_pool.h"

#include <errno.h>
#include <string.h>

enum { KIB = 1024, MIB = 1024 * 1024 };

static struct ab_paged_pool pool;

static struct ab_paged_arena open_arena(size_t block_bytes)
{
    struct ab_paged_arena a;
    assert_int_equal(ab_paged_arena_init(&a, &pool, block_bytes, 3), 0);
    return a;
}

static void an_arena_begins_with_one_block_and_clear_keeps_it(void **state)
{
    (void)state;
    open_pool(&pool, MIB);
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
    expect_empty(&pool);
    ab_paged_pool_fini(&pool);
}

static void a_request_larger_than_a_block_gets_one_of_its_size(void **state)
{
    (void)state;
    open_pool(&pool, MIB);
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
    expect_empty(&pool);
    ab_paged_pool_fini(&pool);
}

static void pops_in_reverse_empty_the_arena_block_by_block(void **state)
{
    (void)state;
    enum { N = 50 };
    char *blocks[N];
    open_pool(&pool, MIB);
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
    open_pool(&pool, MIB);
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
    open_pool(&pool, (size_t)512 * MIB);
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
    expect_empty(&pool);
    ab_paged_pool_fini(&pool);
}

/* Each one's page is soon behind the other's. */
static void vectors_of_two_arenas_move_a_few_times_and_their_old_pages_go_back(void **state)
{
    (void)state;
    open_pool(&pool, (size_t)512 * MIB);
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
    expect_empty(&pool);
    ab_paged_pool_fini(&pool);
}

static void vectors_of_one_arena_grow_in_turn(void **state)
{
    (void)state;
    open_pool(&pool, (size_t)512 * MIB);
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
    expect_empty(&pool);
    ab_paged_pool_fini(&pool);
}

/* Twice the size is not to be had; a part of that serves as well. */
static void a_vector_takes_what_the_pool_has_left(void **state)
{
    (void)state;
    open_pool(&pool, 16 * MIB);
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
    expect_empty(&pool);
    ab_paged_pool_fini(&pool);
}

/* The block on top when it was saved moves away, its page goes back, and an older block grows over
 * those very addresses. */
static void a_save_point_outlives_its_page(void **state)
{
    (void)state;
    open_pool(&pool, 64 * MIB);
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
    expect_empty(&pool);
    ab_paged_pool_fini(&pool);
}

static void a_save_point_from_before_a_clear_is_ignored(void **state)
{
    (void)state;
    open_pool(&pool, MIB);
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
    open_pool(&pool, MIB);
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
    open_pool(&pool, MIB);
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
    expect_empty(&pool);
    ab_paged_pool_fini(&pool);
}

static void a_stale_save_point_at_a_lower_address_is_ignored_too(void **state)
{
    (void)state;
    open_pool(&pool, MIB);
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
    open_pool(&pool, 256 * KIB);
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
    expect_empty(&pool);
    ab_paged_pool_fini(&pool);
}

static void the_interface_gives_the_last_block_back(void **state)
{
    (void)state;
    open_pool(&pool, MIB);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
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
    };
    return cmocka_run_group_tests_name("paged arena", tests, NULL, NULL);
}
