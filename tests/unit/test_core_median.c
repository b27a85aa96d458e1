/* SPDX-License-Identifier: MIT */
#include "core/median.h"

#include "support/cmocka.h"

#include <math.h>

static void the_median_is_the_middle(void **state)
{
    (void)state;
    double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2};
    assert_true(ab_median(odd, 3) == 2);
    assert_true(ab_median(even, 4) == 2.5);
    assert_true(isnan(ab_median(odd, 0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_median_is_the_middle),
    };
    return cmocka_run_group_tests_name("median", tests, NULL, NULL);
}
