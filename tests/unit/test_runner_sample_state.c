/* SPDX-License-Identifier: MIT
 *
 * Made-up slices: which samples are quiet, which are left out, and that what is left out is counted
 * and in no number.
 */
#include "result/numbers.h"
#include "runner/sampling.h"

#include "runner/fold.h"
#include "support/cmocka.h"
#include "support/tape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { QUIET = 1000, LIMIT = 1100, LOUD = 1900, SLICE = 100 };

static struct ab_tape tape;
static struct ab_tape_map map;
static const struct ab_clock clock_one = {.ns_per_tick = 1, .quantum_ns = 1};
static struct ab_run_page page;
static uint32_t positions[50000], ticks[50000];
static uint8_t kinds[50000], classes[50000];
static struct ab_slice slices[500];

/* Every op of the phase churn, 100 ns in quiet slices, 200 in the others: of ten slices the first
 * n_quiet are quiet. */
static struct ab_outcome outcome(unsigned n_quiet)
{
    struct ab_outcome run = {.page = &page,
                             .positions = positions,
                             .ticks = ticks,
                             .kinds = kinds,
                             .classes = classes,
                             .slices = slices,
                             .cap_slices = sizeof slices / sizeof slices[0]};
    memset(&page, 0, sizeof page);
    page.report.hooks = ~0u;
    for (uint32_t i = map.phases[1].begin; i < map.phases[1].end; i++) {
        uint32_t n = run.n_samples++, slice = n / SLICE;
        bool is_quiet = slice % 10 < n_quiet;
        positions[n] = i;
        kinds[n] = (uint8_t)test_tape_op(&map, i).kind;
        classes[n] = 5;
        ticks[n] = (is_quiet ? 100 : 200) + 1;
        slices[slice] = (struct ab_slice){.ticks = 1000,
                                          .before = QUIET,
                                          .after = is_quiet ? QUIET : LOUD,
                                          .phase = 1,
                                          .samples_end = n + 1};
        page.report.slices.n = slice + 1;
    }
    return run;
}

static void only_what_is_quiet_on_both_sides_and_uninterrupted_is_quiet(void **state)
{
    (void)state;
    struct ab_outcome run = {.page = &page, .slices = slices, .cap_slices = 5};
    const struct ab_slice made[] = {
        {.before = QUIET, .after = LIMIT, .samples_end = 2},
        {.before = QUIET, .after = LIMIT + 1, .samples_end = 4},
        {.before = LOUD, .after = QUIET, .samples_end = 4}, /* without samples */
        {.before = QUIET, .after = QUIET, .n_preempted = 1, .samples_end = 6},
        {.before = QUIET, .after = QUIET, .samples_end = 4000000}, /* forged */
        {.before = LOUD, .after = LOUD, .samples_end = 9},         /* beyond the room for slices */
    };
    static const bool expected[] = {true, true, false, false, false, false, true, true, true};
    memcpy(slices, made, sizeof made);
    page.report.slices.n = 4000000; /* forged */
    bool *quiet = ab_sampling_quiet(slices, ab_outcome_slices(&run), LIMIT, 9);
    assert_memory_equal(quiet, expected, sizeof expected);
    free(quiet);
}

static void without_slices_nothing_is_known(void **state)
{
    (void)state;
    assert_null(ab_sampling_quiet(slices, 0, LIMIT, 9));
}

static void a_quarter_is_enough(void **state)
{
    (void)state;
    assert_true(ab_samples_suffice(25, 100) && !ab_samples_suffice(24, 100));
    assert_true(ab_samples_suffice(1, 1) && !ab_samples_suffice(0, 1));
}

static struct ab_result *find(struct ab_session *s, unsigned op)
{
    for (uint32_t i = 0; i < s->n_results; i++)
        if (s->results[i].op == op && strcmp(s->results[i].phase, "churn") == 0)
            return &s->results[i];
    fail();
    return NULL;
}

static void fold(struct ab_session *s, struct ab_outcome *run)
{
    struct ab_fold f = {s, &map, &clock_one, 0, 0};
    struct ab_throughput runs = {0};
    run->is_quiet = ab_sampling_quiet(slices, page.report.slices.n, LIMIT, run->n_samples);
    page.report.slices.n = 0; /* those of the throughput pass are not looked at here */
    ab_throughput_add(&runs, &f, 0, run);
    ab_fold_throughput(&f, &runs, 0);
    ab_throughput_fini(&runs);
    ab_fold_latency(&f, run);
    ab_fold_depth(&f, run);
}

static void forget(struct ab_session *s, struct ab_outcome *run)
{
    ab_fold_drop(s, 0, AB_FOLD_ANY);
    free(s->results);
    free(s->size_classes);
    free(s->windows);
    free(run->is_quiet);
}

static void what_was_not_quiet_is_left_out_and_counted(void **state)
{
    (void)state;
    struct ab_session s = {.seed = 1};
    struct ab_outcome run = outcome(4);
    fold(&s, &run);
    uint64_t n = 0, n_left_out = 0, n_classes = 0;
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        if (map.phases[1].n_ops[k] > 0) {
            const struct ab_result *r = find(&s, k);
            assert_true(r->max == 100 && r->min == 100 && r->quantiles[0] == 100);
            assert_true(r->worst[0].ns == 100);
            n += r->n;
            n_left_out += (uint64_t)r->n_left_out;
        }
    assert_int_equal(n + n_left_out, run.n_samples);
    const struct ab_result *all = find(&s, AB_OP_ALL);
    assert_true(fabs(all->latency_quiet_percent - 100.0 * (double)n / run.n_samples) < 1e-9);
    assert_true(fabs(all->latency_quiet_percent - 40) < 1);
    for (uint32_t i = 0; i < s.n_size_classes; i++)
        n_classes += ab_hdr_total(s.size_classes[i].hdr);
    assert_int_equal(n_classes, n);
    for (uint32_t i = 0; i < s.n_windows; i++)
        assert_true(s.windows[i].n == 0 || s.windows[i].max == 100);
    forget(&s, &run);
}

static void where_little_was_quiet_all_is_taken_and_that_is_said(void **state)
{
    (void)state;
    struct ab_session s = {.seed = 1};
    struct ab_outcome run = outcome(2);
    fold(&s, &run);
    const struct ab_result *alloc = find(&s, AB_OP_ALLOC), *all = find(&s, AB_OP_ALL);
    assert_int_equal(alloc->n, map.phases[1].n_ops[AB_OP_ALLOC]);
    assert_true(alloc->n_left_out == 0 && alloc->max == 200);
    assert_true(all->latency_quiet_percent > 19 && all->latency_quiet_percent < 21);
    forget(&s, &run);
}

/* Marked by the worker, in a quiet slice too: in no number but its own. */
static void what_was_the_schedulers_is_nobodys(void **state)
{
    (void)state;
    struct ab_session s = {.seed = 1};
    struct ab_outcome run = outcome(10);
    unsigned kind = kinds[7];
    uint64_t n_kind = map.phases[1].n_ops[kind];
    ticks[7] = AB_TICKS_SCHEDULER;
    page.report.phases[1].tail[kind].n_scheduler = 1;
    page.report.phases[1].tail[kind].scheduler_max_ticks = 4000000;
    page.report.phases[1].tail[kind].max_least_ns = 1500000;
    page.report.phases[1].tail[kind].n_least_1us = 1; /* the tail's alone */
    fold(&s, &run);
    const struct ab_result *r = find(&s, kind), *all = find(&s, AB_OP_ALL);
    assert_int_equal(r->n, n_kind - 1);
    assert_true(r->overflow == 0 && r->max == 100);
    assert_true(r->n_scheduler == 1 && r->scheduler_max_ns == 4e6);
    assert_true(all->n_scheduler == 1 && all->scheduler_max_ns == 4e6);
    assert_true(r->max_least_ns == 1.5e6 && all->max_least_ns == 1.5e6);
    assert_true(isnan(r->tail_least_over_1us) && isnan(all->tail_least_over_1us));
    assert_true(find(&s, kind == AB_OP_FREE ? AB_OP_ALLOC : AB_OP_FREE)->n_scheduler == 0);
    /* the tail pass adds its own */
    struct ab_fold f = {&s, &map, &clock_one, 0, 0};
    page.report.phases[1].tail[kind].n_scheduler = 2;
    page.report.phases[1].tail[kind].scheduler_max_ticks = 3000000;
    page.report.phases[1].tail[kind].max_least_ns = 1000000;
    page.report.phases[1].tail[kind].n_least_1us = 2;
    page.report.phases[1].tail[kind].n_least_100us = 1;
    ab_fold_tail(&f, &run);
    r = find(&s, kind), all = find(&s, AB_OP_ALL);
    assert_true(r->n_scheduler == 3 && r->scheduler_max_ns == 4e6);
    assert_true(all->n_scheduler == 3 && all->max == 100);
    assert_true(r->max_least_ns == 1.5e6 && all->max_least_ns == 1.5e6);
    assert_true(r->tail_least_over_1us == 2 && all->tail_least_over_1us == 2);
    assert_true(r->tail_least_over_10us == 0 && all->tail_least_over_100us == 1);
    forget(&s, &run);
}

/* Several threads: no slices, and no claim about the core. */
static void without_slices_all_count_and_nothing_is_claimed(void **state)
{
    (void)state;
    struct ab_session s = {.seed = 1};
    struct ab_outcome run = outcome(1);
    page.report.slices.n = 0;
    fold(&s, &run);
    const struct ab_result *alloc = find(&s, AB_OP_ALLOC);
    assert_int_equal(alloc->n, map.phases[1].n_ops[AB_OP_ALLOC]);
    assert_true(isnan(alloc->n_left_out) && isnan(find(&s, AB_OP_ALL)->latency_quiet_percent));
    assert_true(alloc->n_scheduler == 0 && isnan(alloc->scheduler_max_ns));
    forget(&s, &run);
}

static int open_tape(void **state)
{
    (void)state;
    test_tape_churn_map(100, 20000, &tape, &map);
    return 0;
}

static int close_tape(void **state)
{
    (void)state;
    ab_tape_map_close(&map);
    ab_tape_fini(&tape);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_quiet_on_both_sides_and_uninterrupted_is_quiet),
        cmocka_unit_test(without_slices_nothing_is_known),
        cmocka_unit_test(a_quarter_is_enough),
        cmocka_unit_test(what_was_not_quiet_is_left_out_and_counted),
        cmocka_unit_test(where_little_was_quiet_all_is_taken_and_that_is_said),
        cmocka_unit_test(what_was_the_schedulers_is_nobodys),
        cmocka_unit_test(without_slices_all_count_and_nothing_is_claimed),
    };
    return cmocka_run_group_tests(tests, open_tape, close_tape);
}
