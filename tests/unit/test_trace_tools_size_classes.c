/* SPDX-License-Identifier: MIT */
#include "trace_tools/trace_stats.h"

#include "support/cmocka.h"

#include <string.h>

static void every_value_is_between_the_bounds_of_its_class(void **state)
{
    (void)state;
    assert_int_equal(ab_class_of(0), 0);
    assert_int_equal(ab_class_of(1), 1);
    assert_int_equal(ab_class_of(64), 7);
    assert_int_equal(ab_class_of(65), 8);
    assert_int_equal(ab_class_of(UINT64_MAX), AB_CLASS_COUNT - 1);
    for (unsigned k = 0; k < AB_CLASS_COUNT; k++) {
        assert_int_equal(ab_class_of(ab_class_from(k)), k);
        assert_int_equal(ab_class_of(ab_class_to(k)), k);
        if (k > 0)
            assert_int_equal(ab_class_from(k), ab_class_to(k - 1) + 1);
    }
}

static void classes_count_what_was_added(void **state)
{
    (void)state;
    struct ab_classes c = {0};
    for (uint64_t v = 0; v <= 1024; v++)
        ab_classes_add(&c, v);
    assert_int_equal(ab_classes_total(&c), 1025);
    assert_int_equal(c.n[0], 1);
    assert_int_equal(c.n[11], 512); /* 513 to 1024 */
}

/* n values of which each is known again by its number. */
static void fill(struct ab_curve *c, uint64_t n)
{
    memset(c, 0, sizeof *c);
    for (uint64_t i = 0; i < n; i++)
        ab_curve_add(c, i + 1, 2 * n - i);
}

static void a_curve_keeps_the_highest_values_of_each_step(void **state)
{
    (void)state;
    static struct ab_curve c;
    static const uint64_t counts[] = {1, 2, 59, 959, 960, 961, 1920, 1921, 5000, 100000};
    for (size_t i = 0; i < AB_ARRAY_LEN(counts); i++) {
        uint64_t n = counts[i];
        fill(&c, n);
        size_t steps = ab_curve_count(&c);
        assert_true(steps <= AB_CURVE_STEPS && (n < 960 || steps >= AB_CURVE_STEPS / 2));
        assert_true(steps == n || n > AB_CURVE_STEPS);
        for (size_t k = 0; k < steps; k++) {
            uint64_t end = (k + 1) * c.width < n ? (k + 1) * c.width : n;
            assert_int_equal(c.steps[k].bytes, end);
            assert_int_equal(c.steps[k].blocks, 2 * n - k * c.width);
        }
    }
}

static void columns_cover_the_whole_curve(void **state)
{
    (void)state;
    static struct ab_curve c;
    struct ab_curve_step columns[60];
    fill(&c, 0);
    assert_int_equal(ab_curve_columns(&c, columns, 60), 0);
    fill(&c, 7);
    assert_int_equal(ab_curve_columns(&c, columns, 60), 7);
    assert_int_equal(columns[6].bytes, 7);
    for (uint64_t n = 60; n < 4000; n += 37) {
        fill(&c, n);
        assert_int_equal(ab_curve_columns(&c, columns, 60), 60);
        assert_int_equal(columns[59].bytes, n);
        assert_int_equal(columns[0].blocks, 2 * n);
        for (size_t k = 1; k < 60; k++)
            assert_true(columns[k].bytes > columns[k - 1].bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_is_between_the_bounds_of_its_class),
        cmocka_unit_test(classes_count_what_was_added),
        cmocka_unit_test(a_curve_keeps_the_highest_values_of_each_step),
        cmocka_unit_test(columns_cover_the_whole_curve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
