/* SPDX-License-Identifier: MIT
 *
 * The shadow of the live blocks against a plain list of them.
 */
#include "base/rng.h"
#include "support/cmocka.h"
#include "worker/checks/shadow.h"

#include <stdlib.h>

enum { N = 400 };

static struct ab_shadow shadow;

static int open_shadow(void **state)
{
    (void)state;
    return ab_shadow_open(&shadow) ? 0 : -1;
}

static int close_shadow(void **state)
{
    (void)state;
    ab_shadow_close(&shadow);
    return 0;
}

static bool put(uintptr_t at, size_t span)
{
    return ab_shadow_put(&shadow, &(struct ab_shadow_block){.at = at, .span = span, .seq = at});
}

static void blocks_side_by_side_do_not_overlap(void **state)
{
    (void)state;
    put(1000, 100);
    put(1200, 100);
    assert_null(ab_shadow_overlap(&shadow, 900, 100));
    assert_null(ab_shadow_overlap(&shadow, 1100, 100));
    assert_null(ab_shadow_overlap(&shadow, 1300, SIZE_MAX - 1300));
}

static void one_shared_byte_is_an_overlap(void **state)
{
    (void)state;
    put(1000, 100);
    assert_int_equal(ab_shadow_overlap(&shadow, 900, 101)->at, 1000);
    assert_int_equal(ab_shadow_overlap(&shadow, 1099, 1)->at, 1000);
    assert_int_equal(ab_shadow_overlap(&shadow, 1050, 1)->at, 1000);
    assert_int_equal(ab_shadow_overlap(&shadow, 1, SIZE_MAX - 1)->at, 1000);
}

static void a_block_is_found_at_its_beginning_only_until_it_is_dropped(void **state)
{
    (void)state;
    put(1000, 100);
    assert_non_null(ab_shadow_find(&shadow, 1000));
    assert_null(ab_shadow_find(&shadow, 1001));
    ab_shadow_drop(&shadow, 1001); /* nobody's: nothing happens */
    assert_int_equal(shadow.n_live, 1);
    ab_shadow_drop(&shadow, 1000);
    assert_null(ab_shadow_find(&shadow, 1000));
    assert_null(ab_shadow_overlap(&shadow, 1000, 100));
    assert_int_equal(shadow.n_live, 0);
}

static void two_blocks_at_one_place_are_dropped_one_by_one(void **state)
{
    (void)state;
    put(1000, 100);
    put(1000, 50);
    put(1000, 70);
    for (uint32_t left = 3; left > 0; left--) {
        assert_int_equal(shadow.n_live, left);
        assert_non_null(ab_shadow_find(&shadow, 1000));
        ab_shadow_drop(&shadow, 1000);
    }
    assert_null(ab_shadow_find(&shadow, 1000));
}

static void a_walk_sees_each_live_block_once(void **state)
{
    (void)state;
    uint64_t sum = 0;
    uint32_t i = 0, n = 0;
    for (uintptr_t k = 1; k <= 100; k++)
        put(k * 16, 16);
    for (uintptr_t k = 2; k <= 100; k += 2)
        ab_shadow_drop(&shadow, k * 16);
    for (struct ab_shadow_block *b; (b = ab_shadow_next(&shadow, &i)) != NULL; n++)
        sum += b->at / 16;
    assert_int_equal(n, 50);
    assert_int_equal(sum, 2500);
    ab_shadow_clear(&shadow);
    i = 0;
    assert_null(ab_shadow_next(&shadow, &i));
    assert_null(ab_shadow_find(&shadow, 16));
}

/* Addresses [0, 100 N), a byte each. */
static void it_agrees_with_a_plain_list(void **state)
{
    static struct {
        uintptr_t at;
        size_t span;
    } list[N];
    struct ab_rng rng;
    (void)state;
    ab_rng_init(&rng, 7, 0);
    for (uint32_t round = 0; round < 20000; round++) {
        uint32_t s = (uint32_t)ab_rng_below(&rng, N);
        uintptr_t at = 1 + ab_rng_below(&rng, 100 * N);
        size_t span = 1 + ab_rng_below(&rng, 60);
        bool is_taken = false;
        if (list[s].span > 0) {
            assert_non_null(ab_shadow_find(&shadow, list[s].at));
            ab_shadow_drop(&shadow, list[s].at);
            list[s].span = 0;
        }
        for (uint32_t i = 0; i < N; i++)
            is_taken = is_taken || (list[i].span > 0 && at < list[i].at + list[i].span &&
                                    list[i].at < at + span);
        assert_int_equal(ab_shadow_overlap(&shadow, at, span) != NULL, is_taken);
        if (is_taken)
            continue;
        assert_true(put(at, span));
        list[s].at = at;
        list[s].span = span;
    }
}

static void it_grows_beyond_its_first_mapping(void **state)
{
    (void)state;
    for (uintptr_t i = 1; i <= 20000; i++)
        assert_true(put(i * 32, 32));
    for (uintptr_t i = 1; i <= 20000; i++)
        assert_int_equal(ab_shadow_find(&shadow, i * 32)->seq, i * 32);
    assert_int_equal(shadow.n_live, 20000);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, open_shadow, close_shadow)
    const struct CMUnitTest tests[] = {
        TEST(blocks_side_by_side_do_not_overlap),
        TEST(one_shared_byte_is_an_overlap),
        TEST(a_block_is_found_at_its_beginning_only_until_it_is_dropped),
        TEST(two_blocks_at_one_place_are_dropped_one_by_one),
        TEST(a_walk_sees_each_live_block_once),
        TEST(it_agrees_with_a_plain_list),
        TEST(it_grows_beyond_its_first_mapping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
