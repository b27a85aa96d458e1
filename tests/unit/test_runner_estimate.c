/* SPDX-License-Identifier: MIT */
#include "runner/estimate.h"
#include "support/cmocka.h"
#include "support/tape.h"

static void what_never_frees_needs_the_sum_of_all(void **state)
{
    (void)state;
    struct ab_facts facts = {.live_peak_bytes = 1000,
                             .live_peak_blocks = 10,
                             .total_bytes = 1000000,
                             .total_blocks = 10000};
    assert_int_equal(ab_estimate_heap_bytes(&facts, false), 1250 + 160);
    assert_int_equal(ab_estimate_heap_bytes(&facts, true), 1000000 + 160000);
    facts.total_bytes = UINT64_MAX;
    assert_true(ab_estimate_heap_bytes(&facts, true) >= UINT64_C(1) << 63);
}

static void longer_tapes_cost_more_time_and_have_later_deadlines(void **state)
{
    (void)state;
    struct ab_tape small, large;
    struct ab_tape_map a, b;
    test_tape_churn_map(100, 1000, &small, &a);
    test_tape_churn_map(100, 100000, &large, &b);
    assert_true(ab_estimate_pass_ns(&b) > 10 * ab_estimate_pass_ns(&a));
    assert_true(ab_estimate_timeout_ns(&a) >= UINT64_C(10000000000));
    assert_true(ab_estimate_timeout_ns(&b) > ab_estimate_timeout_ns(&a));
    assert_true(ab_estimate_harness_bytes(&b) > ab_estimate_harness_bytes(&a));
    ab_tape_map_close(&a);
    ab_tape_map_close(&b);
    ab_tape_fini(&small);
    ab_tape_fini(&large);
}

static void short_work_is_measured_in_more_processes(void **state)
{
    (void)state;
    struct ab_tape small, large;
    struct ab_tape_map a, b;
    test_tape_churn_map(100, 1000, &small, &a);
    test_tape_churn_map(100, 20000000, &large, &b);
    assert_int_equal(ab_estimate_processes(&a), 12);
    assert_int_equal(ab_estimate_processes(&b), 3);
    assert_true(ab_estimate_session_ns(&a, 1, 10, 12, 0) > ab_estimate_session_ns(&a, 1, 10, 3, 0));
    ab_tape_map_close(&a);
    ab_tape_map_close(&b);
    ab_tape_fini(&small);
    ab_tape_fini(&large);
}

static void the_default_limit_is_a_share_of_this_machine(void **state)
{
    (void)state;
    uint64_t limit = ab_default_memory_limit();
    assert_true(limit > UINT64_C(1) << 24);
    assert_true(limit < UINT64_C(1) << 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_never_frees_needs_the_sum_of_all),
        cmocka_unit_test(longer_tapes_cost_more_time_and_have_later_deadlines),
        cmocka_unit_test(short_work_is_measured_in_more_processes),
        cmocka_unit_test(the_default_limit_is_a_share_of_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
