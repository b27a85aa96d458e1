/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "support/cmocka.h"
#include "worker/between.h"

static uint64_t least_ticks(uint32_t n)
{
    uint64_t least = UINT64_MAX;
    for (int try = 0; try < 50; try++) {
        uint64_t begin = ab_tick_begin();
        ab_between(n);
        uint64_t ticks = ab_tick_end() - begin;
        least = ticks < least ? ticks : least;
    }
    return least;
}

static void so_many_functions_run(void **state)
{
    (void)state;
    uint64_t none = least_ticks(0), some = least_ticks(300), more = least_ticks(3000);
    assert_true(some > 2 * none);
    assert_true(more > 4 * some && more < 30 * some);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(so_many_functions_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
