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
    assert_true(ab_estimate_session(&a, 1, false, 10, 12, 0).ns >
                ab_estimate_session(&a, 1, false, 10, 3, 0).ns);
    ab_tape_map_close(&a);
    ab_tape_map_close(&b);
    ab_tape_fini(&small);
    ab_tape_fini(&large);
}

static void a_run_is_back_ends_by_rounds_and_one_heap_at_a_time(void **state)
{
    (void)state;
    struct ab_tape tape;
    struct ab_tape_map map;
    test_tape_churn_map(100, 20000, &tape, &map);
    struct ab_session_cost one = ab_estimate_session(&map, 1, false, 9, 4, 0);
    struct ab_session_cost three = ab_estimate_session(&map, 3, false, 19, 4, 0);
    assert_int_equal(one.processes, 7); /* and latency, tail, memory */
    assert_true(three.ns > 5.99 * one.ns && three.ns < 6.01 * one.ns); /* one round more each */
    assert_int_equal(three.bytes, one.bytes);
    assert_int_equal(ab_estimate_session(&map, 1, true, 9, 4, 0).bytes - one.bytes,
                     ab_estimate_heap_bytes(&map.image->facts, true) -
                         ab_estimate_heap_bytes(&map.image->facts, false));
    ab_tape_map_close(&map);
    ab_tape_fini(&tape);
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
        cmocka_unit_test(a_run_is_back_ends_by_rounds_and_one_heap_at_a_time),
        cmocka_unit_test(the_default_limit_is_a_share_of_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
