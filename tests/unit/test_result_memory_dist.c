/* SPDX-License-Identifier: MIT
 *
 * What may be told of a distribution, and what not.
 */
#include "result/memory_dist.h"
#include "support/cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { P50, P90, P99, MAX };

static struct ab_memory_dist d;

static void reset(enum ab_memory_dist_kind kind, uint64_t n_ops)
{
    free(d.hdr);
    d = (struct ab_memory_dist){.kind = kind, .n_ops = n_ops, .hdr = ab_memory_dist_histogram()};
    assert_non_null(d.hdr);
}

static int finish(void **state)
{
    (void)state;
    free(d.hdr);
    d.hdr = NULL;
    return 0;
}

static void expect_why(unsigned stat, const char *why)
{
    char text[200];
    ab_memory_dist_why(&d, stat, text, sizeof text);
    assert_string_equal(text, why);
    assert_true(isnan(ab_memory_dist_value(&d, stat)) == (why[0] != 0));
}

static void each_sample_counts_as_many_times_as_it_stands_for_ops(void **state)
{
    (void)state;
    reset(AB_DIST_EXTERNAL_BYTES, 100);
    ab_memory_dist_add(&d, 10, 51);
    ab_memory_dist_add(&d, 20, 40);
    ab_memory_dist_add(&d, 1234567, 9);
    d.n_samples = 1000; /* as if there had been so many */
    assert_true(ab_memory_dist_value(&d, P50) == 10 && ab_memory_dist_value(&d, P90) == 20);
    assert_true(ab_memory_dist_value(&d, P99) == 1234567); /* not its counter's edge */
    assert_true(ab_memory_dist_value(&d, MAX) == 1234567);
    assert_int_equal(ab_hdr_total(d.hdr), 100);
}

static void ratios_are_kept_to_a_hundredth_of_a_percent(void **state)
{
    (void)state;
    reset(AB_DIST_EXTERNAL_RATIO, 2);
    ab_memory_dist_add(&d, 0.12344, 1);
    ab_memory_dist_add(&d, 0, 1);
    assert_true(fabs(ab_memory_dist_value(&d, MAX) - 0.1234) < 1e-12);
    assert_true(ab_memory_dist_value(&d, P50) == 0);
}

static void a_percentile_needs_samples_above_it_unless_each_op_was_one(void **state)
{
    (void)state;
    reset(AB_DIST_OVERHEAD, 2000);
    for (unsigned i = 0; i < 999; i++)
        ab_memory_dist_add(&d, 1.5, 2);
    ab_memory_dist_add(&d, NAN, 2);
    assert_int_equal(d.n_samples, 999);
    expect_why(P99, "p99 needs 1000 samples, there are 999");
    expect_why(P90, "");
    ab_memory_dist_add(&d, 1.5, 2);
    expect_why(P99, "");
    reset(AB_DIST_OVERHEAD, 7);
    for (unsigned i = 0; i < 7; i++)
        ab_memory_dist_add(&d, i, 1);
    assert_true(fabs(ab_memory_dist_value(&d, P50) - 3) < 0.003); /* three digits */
    assert_true(fabs(ab_memory_dist_value(&d, P99) - 6) < 1e-9);  /* the most, which is exact */
}

static void what_is_known_of_few_ops_only_is_not_told(void **state)
{
    (void)state;
    reset(AB_DIST_RETAINED_RATIO, 1000);
    for (unsigned i = 0; i < 899; i++)
        ab_memory_dist_add(&d, 1, 1);
    expect_why(P50, "known for 89 % of the ops only");
    strcpy(d.reason, "ratios: no live bytes");
    expect_why(MAX, "ratios: no live bytes");
    ab_memory_dist_add(&d, 1, 1);
    expect_why(P50, "");
}

static void nothing_and_too_much_are_no_number(void **state)
{
    (void)state;
    reset(AB_DIST_EXTERNAL_BYTES, 10);
    expect_why(MAX, "not measured");
    ab_memory_dist_add(&d, -1, 1);
    ab_memory_dist_add(&d, INFINITY, 1);
    assert_int_equal(ab_hdr_total(d.hdr), 0);
    assert_int_equal(d.hdr->overflow, 1);
    ab_memory_dist_add(&d, 5, 9);
    expect_why(MAX, "larger than can be kept");
    free(d.hdr);
    d.hdr = NULL; /* as it is stored */
    strcpy(d.reason, "blocks may move");
    expect_why(P50, "blocks may move");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(each_sample_counts_as_many_times_as_it_stands_for_ops, finish),
        cmocka_unit_test_teardown(ratios_are_kept_to_a_hundredth_of_a_percent, finish),
        cmocka_unit_test_teardown(a_percentile_needs_samples_above_it_unless_each_op_was_one,
                                  finish),
        cmocka_unit_test_teardown(what_is_known_of_few_ops_only_is_not_told, finish),
        cmocka_unit_test_teardown(nothing_and_too_much_are_no_number, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
