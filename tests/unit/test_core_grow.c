/* SPDX-License-Identifier: MIT */
#include "core/grow.h"

#include "support/cmocka.h"

#include <stdlib.h>

static void what_was_there_stays_while_an_array_grows(void **state)
{
    (void)state;
    uint32_t *items = NULL;
    size_t cap = 0;
    for (uint32_t n = 0; n < 1000; n++) {
        AB_GROW(items, cap, n);
        items[n] = n;
    }
    for (uint32_t n = 0; n < 1000; n++)
        assert_int_equal(items[n], n);
    assert_true(cap >= 1000 && cap < 2048);
    free(items);
}

static void one_step_reaches_any_index_and_zeroes_what_it_adds(void **state)
{
    (void)state;
    uint64_t *items = NULL;
    size_t cap = 0;
    AB_GROW_ZEROED(items, cap, 0);
    items[0] = 7;
    AB_GROW_ZEROED(items, cap, 5000);
    assert_int_equal(items[0], 7);
    for (size_t n = 1; n < cap; n++)
        assert_int_equal(items[n], 0);
    assert_true(cap > 5000);
    free(items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_there_stays_while_an_array_grows),
        cmocka_unit_test(one_step_reaches_any_index_and_zeroes_what_it_adds),
    };
    return cmocka_run_group_tests_name("grow", tests, NULL, NULL);
}
