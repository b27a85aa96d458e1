/* SPDX-License-Identifier: MIT */
#include "answer/sparkline.h"
#include "support/cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct ab_hdr *histogram(const uint64_t *values, const uint64_t *counts, unsigned n)
{
    struct ab_hdr *h = malloc(sizeof *h);
    ab_hdr_init(h);
    for (unsigned i = 0; i < n; i++)
        for (uint64_t k = 0; k < counts[i]; k++)
            ab_hdr_record(h, values[i]);
    return h;
}

static void equal_factors_take_equal_cells_and_shares_their_height(void **state)
{
    (void)state;
    struct ab_hdr *h = histogram((const uint64_t[]){15, 150, 1500, 15000},
                                 (const uint64_t[]){9000, 900, 90, 10}, 4);
    struct ab_sparkline_range range;
    char cell[AB_CELL_BYTES];
    ab_sparkline_begin(&range);
    ab_sparkline_widen(&range, h);
    assert_true(range.low == 15);
    range.low = 10;
    range.high = 1e5;
    assert_string_equal(ab_sparkline_hdr(cell, h, &range, 4, false), "#*=:");
    assert_string_equal(ab_sparkline_hdr(cell, h, &range, 4, true), "\u2587\u2586\u2584\u2582");
    assert_string_equal(ab_sparkline_hdr(cell, h, &range, 8, false), "# * = : ");
    free(h);
}

static void what_is_rare_still_shows_and_what_is_not_there_does_not(void **state)
{
    (void)state;
    struct ab_hdr *h = histogram((const uint64_t[]){10, 90000}, (const uint64_t[]){200000, 1}, 2);
    const struct ab_sparkline_range range = {.low = 10, .high = 1e5};
    char cell[AB_CELL_BYTES];
    assert_string_equal(ab_sparkline_hdr(cell, h, &range, 4, false), "#  .");
    free(h);
}

static void nothing_recorded_is_an_empty_cell(void **state)
{
    (void)state;
    struct ab_hdr *h = histogram(NULL, NULL, 0);
    struct ab_sparkline_range range;
    char cell[AB_CELL_BYTES];
    ab_sparkline_begin(&range);
    ab_sparkline_widen(&range, h);
    assert_string_equal(ab_sparkline_hdr(cell, h, &range, 20, true), "");
    free(h);
}

static void a_series_goes_from_nothing_to_the_most(void **state)
{
    (void)state;
    const double values[] = {0, 1, 50, 99, 100, NAN, INFINITY, -5};
    char cell[AB_CELL_BYTES];
    assert_string_equal(ab_sparkline_series(cell, values, 8, 100, false), "..=@@  .");
    assert_string_equal(ab_sparkline_series(cell, values, 8, 0, false), "        ");
    double many[40];
    for (unsigned i = 0; i < 40; i++)
        many[i] = 1;
    assert_int_equal(strlen(ab_sparkline_series(cell, many, 40, 1, true)), 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_factors_take_equal_cells_and_shares_their_height),
        cmocka_unit_test(what_is_rare_still_shows_and_what_is_not_there_does_not),
        cmocka_unit_test(nothing_recorded_is_an_empty_cell),
        cmocka_unit_test(a_series_goes_from_nothing_to_the_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
