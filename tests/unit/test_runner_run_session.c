/* SPDX-License-Identifier: MIT
 *
 * How many ops a slice has: a power of two between the bounds, never longer than the time allowed
 * unless the least number of ops is.
 */
#include "runner/run_session.h"

#include "support/cmocka.h"

#include <math.h>

static void fast_ops_have_the_longest_slices(void **state)
{
    (void)state;
    assert_int_equal(ab_slice_grid(NAN), AB_SLICE_OPS);
    assert_int_equal(ab_slice_grid(0), AB_SLICE_OPS);
    assert_int_equal(ab_slice_grid(AB_SLICE_NS_MAX / AB_SLICE_OPS), AB_SLICE_OPS);
}

static void slow_ops_have_as_many_as_the_time_allows(void **state)
{
    (void)state;
    for (double ns = 1; ns < 1e9; ns *= 1.37) {
        uint32_t ops = ab_slice_grid(ns);
        assert_in_range(ops, AB_SLICE_OPS_MIN, AB_SLICE_OPS);
        assert_int_equal(ops & (ops - 1), 0);
        if (ops > AB_SLICE_OPS_MIN)
            assert_true(ops * ns <= AB_SLICE_NS_MAX);
        if (ops < AB_SLICE_OPS)
            assert_true(2 * ops * ns > AB_SLICE_NS_MAX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_ops_have_the_longest_slices),
        cmocka_unit_test(slow_ops_have_as_many_as_the_time_allows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
