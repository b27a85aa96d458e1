/* SPDX-License-Identifier: MIT */
#include "result/merge/shard_part.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void four_shards_of_ten_rounds_have_whole_rounds(void **state)
{
    (void)state;
    static const uint32_t wanted[4][3] = {{0, 4, 8}, {1, 5, 9}, {2, 6}, {3, 7}};
    static const uint32_t n[4] = {3, 3, 2, 2};
    for (uint32_t i = 0; i < 4; i++) {
        struct ab_run_shard shard = {i + 1, 4};
        assert_false(ab_shard_is_divided(shard, 10));
        assert_int_equal(ab_shard_n_rounds(shard, 10), n[i]);
        for (uint32_t k = 0; k < n[i]; k++) {
            assert_int_equal(ab_shard_round(shard, 10, k), wanted[i][k]);
            assert_true(ab_shard_has_round(shard, 10, wanted[i][k]));
            assert_int_equal(ab_shard_merged_round(shard, 10, wanted[i][k]), wanted[i][k]);
        }
        assert_false(ab_shard_has_round(shard, 10, (i + 1) % 4));
        for (uint32_t b = 0; b < 5; b++)
            assert_true(ab_shard_has_backend(shard, 10, b));
    }
}

static void six_shards_of_four_rounds_divide_the_first_two(void **state)
{
    (void)state;
    /* shard: round, which back ends of four, index in the whole */
    static const struct {
        uint32_t round, backends, merged;
    } wanted[6] = {{0, 0x5, 0}, {1, 0x5, 2}, {2, 0xf, 4}, {3, 0xf, 5}, {0, 0xa, 1}, {1, 0xa, 3}};
    for (uint32_t i = 0; i < 6; i++) {
        struct ab_run_shard shard = {i + 1, 6};
        assert_true(ab_shard_is_divided(shard, 4));
        assert_int_equal(ab_shard_n_rounds(shard, 4), 1);
        assert_int_equal(ab_shard_round(shard, 4, 0), wanted[i].round);
        assert_int_equal(ab_shard_merged_round(shard, 4, wanted[i].round), wanted[i].merged);
        for (uint32_t b = 0; b < 4; b++)
            assert_int_equal(ab_shard_has_backend(shard, 4, b), wanted[i].backends >> b & 1);
    }
}

static void no_shard_is_everything(void **state)
{
    (void)state;
    struct ab_run_shard all = {0, 0};
    assert_int_equal(ab_shard_n_rounds(all, 7), 7);
    assert_int_equal(ab_shard_round(all, 7, 3), 3);
    assert_true(ab_shard_has_round(all, 7, 6));
    assert_false(ab_shard_has_round(all, 7, 7));
    assert_true(ab_shard_has_backend(all, 7, 5));
}

/* The matrix is covered exactly once, whatever the numbers. */
static void every_cell_is_in_exactly_one_shard(void **state)
{
    (void)state;
    for (uint32_t rounds = 1; rounds <= 6; rounds++)
        for (uint32_t n_backends = 1; n_backends <= 5; n_backends++)
            for (uint32_t count = 1; count <= rounds * n_backends; count++) {
                unsigned cells[6][5] = {{0}}, merged[30] = {0};
                for (uint32_t i = 1; i <= count; i++) {
                    struct ab_run_shard shard = {i, count};
                    uint32_t n_cells = 0;
                    assert_int_equal(ab_shard_check(shard, rounds, n_backends, NULL), AB_OK);
                    for (uint32_t k = 0; k < ab_shard_n_rounds(shard, rounds); k++) {
                        uint32_t round = ab_shard_round(shard, rounds, k);
                        assert_true(round < rounds && ab_shard_has_round(shard, rounds, round));
                        merged[ab_shard_merged_round(shard, rounds, round)]++;
                        for (uint32_t b = 0; b < n_backends; b++) {
                            cells[round][b] += ab_shard_has_backend(shard, rounds, b);
                            n_cells += ab_shard_has_backend(shard, rounds, b);
                        }
                    }
                    assert_true(n_cells > 0);
                }
                for (uint32_t r = 0; r < rounds; r++)
                    for (uint32_t b = 0; b < n_backends; b++)
                        assert_int_equal(cells[r][b], 1);
                for (uint32_t r = 0; r < (count > rounds ? count : rounds); r++)
                    assert_int_equal(merged[r], 1);
            }
}

static void more_shards_than_cells_are_refused(void **state)
{
    (void)state;
    struct ab_err err = {.text = ""};
    assert_int_equal(ab_shard_check((struct ab_run_shard){1, 7}, 3, 2, &err), AB_USAGE);
    assert_string_equal(err.text, "--shard 1/7: 3 rounds of 2 back ends make at most 6 shards");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_shards_of_ten_rounds_have_whole_rounds),
        cmocka_unit_test(six_shards_of_four_rounds_divide_the_first_two),
        cmocka_unit_test(no_shard_is_everything),
        cmocka_unit_test(every_cell_is_in_exactly_one_shard),
        cmocka_unit_test(more_shards_than_cells_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
