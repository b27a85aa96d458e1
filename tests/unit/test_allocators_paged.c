/* SPDX-License-Identifier: MIT
 *
 * The pool under the paged arena as a library, and the back end's two forms. What all back ends
 * have in common is in tests/contract.
 * tests: paged_pool.c
 */
#include "allocators/paged/paged_pool.h"

#include "allocators/builtin.h"
#include "backend/settings.h"
#include "base/rng.h"
#include "support/heap_model.h"
#include "support/paged_pool.h"
#include "support/small_pages.h"

#include <errno.h>
#include <string.h>

enum { KIB = 1024, MIB = 1024 * 1024 };

static struct ab_paged_pool pool;

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
    open_pool(&pool, MIB);
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
    open_pool(&pool, MIB);
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
    open_pool(&pool, MIB);
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        char *blocks[3];
        for (int k = 0; k < 3; k++)
            blocks[k] = ab_paged_pool_alloc(&pool, 100, 0);
        for (int k = 0; k < 3; k++)
            assert_true(ab_paged_pool_free(&pool, blocks[orders[i][k]]));
        expect_empty(&pool);
    }
    ab_paged_pool_fini(&pool);
}

static void what_is_no_live_block_is_not_freed(void **state)
{
    (void)state;
    open_pool(&pool, MIB);
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
    expect_empty(&pool);
    ab_paged_pool_fini(&pool);
}

static void what_died_by_a_reset_is_not_freed(void **state)
{
    (void)state;
    open_pool(&pool, MIB);
    char *blocks[3];
    for (int i = 0; i < 3; i++)
        blocks[i] = ab_paged_pool_alloc(&pool, 100, 0);
    assert_true(ab_paged_pool_free(&pool, blocks[1]));
    ab_paged_pool_reset(&pool);
    for (int i = 0; i < 3; i++) {
        assert_false(ab_paged_pool_free(&pool, blocks[i]));
        assert_null(ab_paged_pool_resize(&pool, blocks[i], 10));
    }
    expect_empty(&pool);
    ab_paged_pool_fini(&pool);
}

static void a_block_grows_into_a_free_neighbour_and_shrinks_in_place(void **state)
{
    (void)state;
    open_pool(&pool, MIB);
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
    expect_empty(&pool);
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
    open_pool(&pool, 4 * MIB);
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
    expect_empty(&pool);
    ab_paged_pool_fini(&pool);
}

static void a_fresh_region_is_not_written_for_zeroed_blocks(void **state)
{
    (void)state;
    open_pool(&pool, 64 * MIB);
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
        cmocka_unit_test(what_died_by_a_reset_is_not_freed),
        cmocka_unit_test(a_block_grows_into_a_free_neighbour_and_shrinks_in_place),
        cmocka_unit_test(random_work_leaves_nothing_behind),
        cmocka_unit_test(a_fresh_region_is_not_written_for_zeroed_blocks),
        cmocka_unit_test(pools_are_found_by_name_and_keep_to_their_budgets),
        cmocka_unit_test(each_form_has_the_traits_and_hooks_that_are_its_own),
        cmocka_unit_test(random_work_on_each_form_never_mixes_blocks),
        cmocka_unit_test(several_lanes_share_either_form),
    };
    test_with_small_pages();
    return cmocka_run_group_tests_name("paged", tests, NULL, NULL);
}
