/* SPDX-License-Identifier: MIT
 *
 * Made-up processes with neighbours, page faults and modes: what the estimate of a phase's time is
 * must be the time that was put in.
 */
#include "runner/fold.h"

#include "base/rng.h"
#include "support/cmocka.h"
#include "support/tape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_SLICES = 400, QUIET = 1000, LIMIT = 1140, N_ROUNDS = 4, N_PROCESSES = 3 };

static struct ab_tape tape;
static struct ab_tape_map map;
static const struct ab_clock clock_half = {.ns_per_tick = 0.5, .quantum_ns = 0.5};
static struct ab_run_page page;
static struct ab_slice slices[N_SLICES];
static struct ab_session session;

/* What a slice costs undisturbed; one in fifty is dear. Phases 1 and 2 take turns. */
static uint64_t ticks_of(unsigned i)
{
    return i % 50 == 7 ? 400000 : 20000 + 10 * (i % 13);
}

static struct ab_outcome outcome(void)
{
    memset(&page, 0, sizeof page);
    page.report.hooks = ~0u;
    page.report.slices.n = N_SLICES;
    for (unsigned i = 0; i < N_SLICES; i++)
        slices[i] = (struct ab_slice){
            .ticks = ticks_of(i), .before = QUIET, .after = QUIET, .phase = 1 + i % 2};
    return (struct ab_outcome){.page = &page, .slices = slices, .cap_slices = N_SLICES};
}

/* The phases' own sums, as the worker would have made them from what the slices now hold. */
static void close_report(void)
{
    for (unsigned p = 1; p <= 2; p++)
        page.report.phases[p].lane_ticks = page.report.phases[p].wall_ticks = 0;
    for (unsigned i = 0; i < N_SLICES; i++) {
        struct ab_phase_report *r = &page.report.phases[slices[i].phase];
        r->lane_ticks += slices[i].ticks;
        r->wall_ticks += slices[i].ticks;
    }
}

static double true_ns(uint32_t phase)
{
    double sum = 0;
    for (unsigned i = 0; i < N_SLICES; i++)
        sum += 1 + i % 2 == phase ? (double)ticks_of(i) * clock_half.ns_per_tick : 0;
    return sum;
}

static void add(struct ab_throughput *t, uint32_t case_index, uint32_t round,
                const struct ab_outcome *run)
{
    struct ab_fold f = {&session, &map, &clock_half, 0, round};
    close_report();
    ab_throughput_add(t, &f, case_index, run);
}

static struct ab_throughput_estimate estimate(const struct ab_throughput *t, uint32_t round,
                                              uint32_t phase)
{
    struct ab_throughput_estimate e;
    ab_throughput_estimate(t, 0, round, phase, LIMIT, &e);
    return e;
}

static void undisturbed_it_is_the_sum(void **state)
{
    (void)state;
    struct ab_throughput t = {0};
    struct ab_outcome run = outcome();
    add(&t, 0, 0, &run);
    add(&t, 0, 0, &run);
    for (uint32_t phase = 1; phase <= 2; phase++) {
        struct ab_throughput_estimate e = estimate(&t, 0, phase);
        assert_int_equal(e.n_processes, 2);
        assert_true(fabs(e.busy / true_ns(phase) - 1) < 1e-6);
        assert_true(fabs(e.whole / true_ns(phase) - 1) < 1e-6);
        assert_true(e.quiet_share == 1);
    }
    assert_int_equal(estimate(&t, 1, 1).n_processes, 0); /* a round that is not there */
    ab_throughput_fini(&t);
}

/* The wall time is less by what the path that ends last stood still for; where lanes share CPUs, as
 * they may in some bursts only, by what each CPU spent on it. */
static void the_wall_time_is_that_of_the_path_that_ends_last(void **state)
{
    (void)state;
    for (unsigned is_crowded = 0; is_crowded < 2; is_crowded++)
        for (unsigned is_strict = 0; is_strict < 2; is_strict++) {
            struct ab_throughput t = {0};
            struct ab_outcome run = outcome();
            struct ab_phase_report *r = &page.report.phases[1];
            bool are_shared = is_crowded && !is_strict;
            page.report.n_cpus = 2;
            page.report.slices.n = 0;
            r->is_crowded = is_crowded;
            r->outside_ticks = 9000;
            r->path_ticks = 4000;
            r->outside_cpu_ns = is_crowded ? 3000 : 0;
            session.is_strict = is_strict;
            add(&t, 0, 0, &run);
            double whole = (double)r->wall_ticks * 0.5;
            double wall = estimate(&t, 0, 1).median.wall;
            assert_true(fabs(whole - wall - (are_shared ? 3500 : 2000)) < 1e-6);
            session.is_strict = false;
            ab_throughput_fini(&t);
        }
}

/* Half of the time another tenant makes everything take 1.7 times as long. */
static void disturb(struct ab_rng *rng, double share)
{
    for (unsigned i = 0, is_disturbed = 0; i < N_SLICES; i++) {
        if (i % 20 == 0)
            is_disturbed = ab_rng_unit(rng) < share;
        if (is_disturbed) {
            slices[i].ticks = slices[i].ticks * 17 / 10;
            slices[i].before = slices[i].after = QUIET * 16 / 10;
        }
    }
}

static void fill(struct ab_throughput *t, double share, double factor)
{
    struct ab_rng rng;
    ab_rng_init(&rng, 7, 1);
    for (uint32_t round = 0; round < N_ROUNDS; round++)
        for (unsigned p = 0; p < N_PROCESSES; p++) {
            struct ab_outcome run = outcome();
            for (unsigned i = 0; i < N_SLICES; i++)
                slices[i].ticks = (uint64_t)((double)slices[i].ticks * factor);
            disturb(&rng, share);
            add(t, 0, round, &run);
        }
}

static void a_neighbour_is_left_out(void **state)
{
    (void)state;
    struct ab_throughput t = {0};
    fill(&t, 0.6, 1);
    for (uint32_t round = 0; round < N_ROUNDS; round++) {
        struct ab_throughput_estimate e = estimate(&t, round, 1);
        assert_true(fabs(e.busy / true_ns(1) - 1) < 0.002);
        assert_true(e.whole / true_ns(1) > 1.2); /* the test would not see anything otherwise */
        assert_true(e.quiet_share > 0.1 && e.quiet_share < 0.7);
    }
    ab_throughput_fini(&t);
}

/* A difference that is there in every slice is found in full, in noise as well. */
static void a_slower_library_is_as_much_slower(void **state)
{
    (void)state;
    struct ab_throughput base = {0}, slow = {0};
    fill(&base, 0.5, 1);
    fill(&slow, 0.5, 1.03);
    double ratio = estimate(&slow, 0, 1).busy / estimate(&base, 0, 1).busy;
    assert_true(fabs(ratio - 1.03) < 0.001);
    ab_throughput_fini(&base);
    ab_throughput_fini(&slow);
}

/* One process of a round has lost the CPU for ten milliseconds in a few slices, unseen by the canary. */
static void what_happens_to_a_few_slices_is_no_difference(void **state)
{
    (void)state;
    struct ab_throughput t = {0};
    for (uint32_t round = 0; round < N_ROUNDS; round++)
        for (unsigned p = 0; p < N_PROCESSES; p++) {
            struct ab_outcome run = outcome();
            for (unsigned i = 3; i < N_SLICES && round == 2 && p == 1; i += 97)
                slices[i].ticks += 20000000;
            add(&t, 0, round, &run);
        }
    assert_true(fabs(estimate(&t, 2, 1).busy / true_ns(1) - 1) < 1e-3);
    ab_throughput_fini(&t);
}

static void never_quiet_it_is_the_median_of_all(void **state)
{
    (void)state;
    struct ab_throughput t = {0};
    fill(&t, 1, 1);
    struct ab_throughput_estimate e = estimate(&t, 0, 1);
    assert_true(e.quiet_share == 0);
    assert_true(e.busy == e.whole);
    assert_true(fabs(e.busy / (1.7 * true_ns(1)) - 1) < 0.001);
    ab_throughput_fini(&t);
}

static void cases_and_rounds_are_dropped_apart(void **state)
{
    (void)state;
    struct ab_throughput t = {0};
    struct ab_outcome run = outcome();
    add(&t, 0, 0, &run);
    add(&t, 0, 1, &run);
    add(&t, 1, 1, &run);
    ab_throughput_drop(&t, 0, 1);
    assert_int_equal(t.n_runs, 2);
    assert_int_equal(estimate(&t, 1, 1).n_processes, 0);
    assert_int_equal(estimate(&t, 0, 1).n_processes, 1);
    ab_throughput_drop(&t, 1, UINT32_MAX);
    assert_int_equal(t.n_runs, 1);
    ab_throughput_fini(&t);
}

static void a_worker_that_lies_does_no_harm(void **state)
{
    (void)state;
    struct ab_throughput t = {0};
    struct ab_outcome run = outcome();
    struct ab_fold f = {&session, &map, &clock_half, 0, 0};
    close_report();
    page.report.slices.n = 4000000000u;
    run.cap_slices = 5;
    ab_throughput_add(&t, &f, 0, &run);
    assert_int_equal(t.runs[0].n_slices, 5);
    slices[3].phase = 77777;
    slices[4].ticks = UINT64_MAX;
    page.report.phases[1].outside_ticks = page.report.phases[1].path_ticks = UINT64_MAX;
    f.round = 1;
    run.cap_slices = N_SLICES;
    page.report.slices.n = N_SLICES;
    ab_throughput_add(&t, &f, 0, &run);
    assert_true(t.runs[1].sums[1].busy == 0 && t.runs[1].sums[1].wall == 0);
    estimate(&t, 1, 1); /* with another number of slices */
    ab_throughput_fini(&t);
}

static void noise_adds_up(void **state)
{
    (void)state;
    struct ab_throughput t = {0};
    struct ab_fold f = {&session, &map, &clock_half, 0, 0};
    struct ab_noise noise = {0};
    struct ab_outcome run = outcome();
    for (unsigned i = 0; i < N_SLICES; i++)
        slices[i] = (struct ab_slice){
            .ticks = 20000, .before = QUIET, .after = i < 100 ? 5000 : QUIET, .phase = 1};
    page.report.slices.n_gaps = 3;
    page.report.slices.waited_ticks = 2000000;
    add(&t, 0, 0, &run);
    page.report.phases[1].thread_cpu_ns = 3000000;
    page.report.phases[1].switches_involuntary = 4;
    for (int i = 0; i < 2; i++)
        ab_throughput_add_noise(&f, &t.runs[0], &run, LIMIT, &noise);
    assert_true(noise.runs == 2 && noise.interruptions == 6 && noise.switches_involuntary == 8);
    assert_true(fabs(noise.slices_s - 8e-3) < 1e-12 && fabs(noise.quiet_s - 6e-3) < 1e-12);
    assert_true(fabs(noise.waited_s - 2e-3) < 1e-12);
    assert_true(fabs(noise.wall_s - 8e-3) < 1e-12 && fabs(noise.cpu_s - 6e-3) < 1e-12);
    ab_throughput_fini(&t);
}

int main(void)
{
    test_tape_churn_map(100, 1000, &tape, &map);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(undisturbed_it_is_the_sum),
        cmocka_unit_test(the_wall_time_is_that_of_the_path_that_ends_last),
        cmocka_unit_test(a_neighbour_is_left_out),
        cmocka_unit_test(a_slower_library_is_as_much_slower),
        cmocka_unit_test(what_happens_to_a_few_slices_is_no_difference),
        cmocka_unit_test(never_quiet_it_is_the_median_of_all),
        cmocka_unit_test(cases_and_rounds_are_dropped_apart),
        cmocka_unit_test(a_worker_that_lies_does_no_harm),
        cmocka_unit_test(noise_adds_up),
    };
    int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
    ab_tape_map_close(&map);
    ab_tape_fini(&tape);
    return n_failed;
}
