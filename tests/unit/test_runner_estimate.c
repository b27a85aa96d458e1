/* SPDX-License-Identifier: MIT */
#include "runner/estimate.h"
#include "support/cmocka.h"
#include "support/tape.h"

#include <math.h>
#include <string.h>

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
    assert_int_equal(ab_estimate_processes(&a), 9);
    assert_int_equal(ab_estimate_processes(&b), 3);
    struct ab_session_work work = {.n_backends = 1, .rounds = 10, .processes = 12};
    double ns = ab_estimate_session(&a, &work).ns;
    work.processes = 3;
    assert_true(ns > ab_estimate_session(&a, &work).ns);
    ab_tape_map_close(&a);
    ab_tape_map_close(&b);
    ab_tape_fini(&small);
    ab_tape_fini(&large);
}

/* All passes in every round, but for tail and memory: in this many. */
static struct ab_session_work work_of(size_t n_backends, uint32_t rounds, uint32_t fewer)
{
    struct ab_session_work work = {.n_backends = n_backends, .rounds = rounds, .processes = 4};
    work.passes.is_known = true;
    for (unsigned i = 0; i < AB_PASS_COUNT; i++)
        work.passes.rounds[i] = AB_EVERY_ROUND;
    work.passes.rounds[AB_PASS_TAIL] = work.passes.rounds[AB_PASS_MEMORY] = fewer;
    return work;
}

static void a_run_is_back_ends_by_rounds_and_one_heap_at_a_time(void **state)
{
    (void)state;
    struct ab_tape tape;
    struct ab_tape_map map;
    test_tape_churn_map(100, 20000, &tape, &map);
    struct ab_session_work work = work_of(1, 9, AB_EVERY_ROUND);
    struct ab_session_cost one = ab_estimate_session(&map, &work);
    work.n_backends = 2;
    struct ab_session_cost two = ab_estimate_session(&map, &work);
    work.n_backends = 4;
    struct ab_session_cost four = ab_estimate_session(&map, &work);
    assert_int_equal(one.processes, 7); /* and latency, tail, memory */
    /* the nulls run once for all */
    assert_true(two.ns > one.ns && two.ns < 2 * one.ns);
    assert_true(fabs((four.ns - two.ns) / (two.ns - one.ns) - 2) < 1e-9);
    assert_int_equal(four.bytes, one.bytes);
    work.n_backends = 1;
    work.never_frees = true;
    assert_int_equal(ab_estimate_session(&map, &work).bytes - one.bytes,
                     ab_estimate_heap_bytes(&map.image->facts, true) -
                         ab_estimate_heap_bytes(&map.image->facts, false));
    ab_tape_map_close(&map);
    ab_tape_fini(&tape);
}

static void a_pass_counts_in_the_rounds_that_it_runs_in(void **state)
{
    (void)state;
    struct ab_tape tape;
    struct ab_tape_map map;
    test_tape_churn_map(100, 20000, &tape, &map);
    struct ab_session_work all = work_of(1, 10, AB_EVERY_ROUND), six = work_of(1, 10, 6);
    struct ab_session_work none = work_of(1, 10, 0), more = work_of(1, 20, 6);
    const uint64_t drain_ns = 100000000;
    all.drain_ns = six.drain_ns = none.drain_ns = more.drain_ns = drain_ns;
    /* the pre-flight, ten rounds of throughput and latency; the first memory pass looks for the peak */
    assert_int_equal(ab_estimate_session(&map, &none).processes_total, 1 + 10 * (4 + 1));
    assert_int_equal(ab_estimate_session(&map, &six).processes_total, 1 + 10 * (4 + 1) + 2 * 6 + 1);
    assert_int_equal(ab_estimate_session(&map, &all).processes_total,
                     1 + 10 * (4 + 1) + 2 * 10 + 1);
    assert_int_equal(ab_estimate_session(&map, &none).processes, 5);
    /* four rounds less of two processes, one of which waits for memory to be returned */
    double saved = ab_estimate_session(&map, &all).ns - ab_estimate_session(&map, &six).ns;
    assert_true(saved > 4 * (double)drain_ns && saved < 8 * (double)drain_ns);
    /* ten rounds more without tail and memory cost less than ten with them */
    double ten = ab_estimate_session(&map, &more).ns - ab_estimate_session(&map, &six).ns;
    assert_true(ten < (ab_estimate_session(&map, &all).ns - 10 * (double)drain_ns));
    /* seven waits: one in each round that it runs in, and one for the first look */
    double waits = ab_estimate_session(&map, &more).ns;
    more.drain_ns = 0;
    waits -= ab_estimate_session(&map, &more).ns;
    assert_true(fabs(waits / (7 * (double)drain_ns) - 1) < 1e-9);
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
        cmocka_unit_test(a_pass_counts_in_the_rounds_that_it_runs_in),
        cmocka_unit_test(the_default_limit_is_a_share_of_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
