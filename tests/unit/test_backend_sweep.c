/* SPDX-License-Identifier: MIT */
#include "backend/presets.h"

#include "backend/selection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void every_row_is_a_back_end_that_can_be_selected(void **state)
{
    (void)state;
    const char *name;
    size_t n_names = 0, n;
    for (; (name = ab_sweep_name(n_names)) != NULL; n_names++) {
        const struct ab_sweep_row *rows = ab_sweep_rows(name, &n);
        assert_true(n > 1);
        assert_string_equal(rows[0].spelling, name);
        for (size_t i = 0; i < n; i++) {
            struct ab_selection_list list;
            struct ab_err err;
            if (ab_selection_parse(&rows[i].spelling, 1, NULL, &list, &err) != AB_OK)
                fail_msg("%s: %s", rows[i].spelling, err.text);
            assert_int_equal(list.n, 1);
            assert_string_equal(list.items[0].name, rows[i].spelling);
            assert_string_equal(rows[i].backend, name);
            assert_true(rows[i].says[0] != 0 && rows[i].says[strlen(rows[i].says) - 1] != '.');
            ab_selection_list_fini(&list);
        }
    }
    assert_int_equal(n_names, 10);
}

static void rows_of_a_name_differ_and_can_stand_side_by_side(void **state)
{
    (void)state;
    const char *spellings[64];
    size_t n;
    for (size_t k = 0; ab_sweep_name(k) != NULL; k++) {
        const struct ab_sweep_row *rows = ab_sweep_rows(ab_sweep_name(k), &n);
        struct ab_selection_list list;
        struct ab_err err;
        for (size_t i = 0; i < n; i++)
            spellings[i] = rows[i].spelling;
        if (ab_selection_parse(spellings, n, NULL, &list, &err) != AB_OK)
            fail_msg("%s", err.text);
        assert_int_equal(list.n, n);
        ab_selection_list_fini(&list);
    }
}

static void an_unknown_name_is_refused_with_the_nearest_and_the_list(void **state)
{
    (void)state;
    const struct ab_sweep_row *rows;
    struct ab_err err;
    size_t n;
    assert_int_equal(ab_sweep_find("jemaloc", &rows, &n, &err), AB_USAGE);
    assert_non_null(strstr(err.text, "\"; did you mean \"jemalloc\"? Known:"));
    assert_non_null(strstr(err.text,
                           "Known: glibc, jemalloc, tcmalloc, mimalloc, scudo, tbb, arena, "
                           "pool, slab, paged"));
    assert_int_equal(ab_sweep_find("qqqqqqqq", &rows, &n, &err), AB_USAGE);
    assert_non_null(strstr(err.text, "\"qqqqqqqq\". Known: "));
    assert_int_equal(ab_sweep_find("", &rows, &n, &err), AB_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_a_back_end_that_can_be_selected),
        cmocka_unit_test(rows_of_a_name_differ_and_can_stand_side_by_side),
        cmocka_unit_test(an_unknown_name_is_refused_with_the_nearest_and_the_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
