/* SPDX-License-Identifier: MIT
 *
 * Hand-made worker reports folded into results: every number can be computed on paper.
 * tests: fold.c fold_samples.c sampling.c
 */
#include "result/numbers.h"
#include "runner/fold.h"

#include "runner/fold_samples.h"
#include "support/cmocka.h"
#include "support/tape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct ab_tape tape;
static struct ab_tape_map map;
static const struct ab_clock clock_half = {.ns_per_tick = 0.5, .quantum_ns = 0.5};
static struct ab_run_page page;
static uint32_t positions[100000], ticks[100000];
static uint8_t kinds[100000];

static struct ab_outcome outcome(void)
{
    struct ab_outcome run = {.page = &page, .positions = positions, .ticks = ticks, .kinds = kinds};
    memset(&page, 0, sizeof page);
    page.report.hooks = ~0u;
    for (uint32_t i = 0; i < 3; i++)
        page.report.phases[i].wall_ticks = page.report.phases[i].lane_ticks = 2000000;
    return run;
}

/* One process. */
static void fold_throughput(const struct ab_fold *f, const struct ab_outcome *run)
{
    struct ab_throughput runs = {0};
    ab_throughput_add(&runs, f, f->backend, run);
    ab_fold_throughput(f, &runs, 0);
    ab_throughput_fini(&runs);
}

static const struct ab_result *find(const struct ab_session *s, const char *phase, unsigned op)
{
    for (uint32_t i = 0; i < s->n_results; i++)
        if (strcmp(s->results[i].phase, phase) == 0 && s->results[i].op == op)
            return &s->results[i];
    return NULL;
}

static void forget_all(struct ab_session *s)
{
    ab_fold_drop(s, 0, AB_FOLD_ANY);
    assert_int_equal(s->n_results, 0);
    free(s->results);
}

static void throughput_is_wall_time_by_ops(void **state)
{
    (void)state;
    struct ab_session s = {.seed = 1};
    struct ab_fold f = {&s, &map, &clock_half, 0, 3};
    struct ab_outcome run = outcome();
    fold_throughput(&f, &run);
    const struct ab_result *all = find(&s, "churn", AB_OP_ALL);
    assert_non_null(all);
    uint64_t n = map.phases[1].n_ops[AB_OP_ALLOC] + map.phases[1].n_ops[AB_OP_FREE] +
                 map.phases[1].n_ops[AB_OP_RESIZE];
    assert_int_equal(all->n_ops, n);
    assert_true(fabs(all->ns_per_op - 1e6 / (double)n) < 1e-9);
    assert_true(all->wall_ns_per_op == all->ns_per_op);
    assert_int_equal(all->round, 3);
    assert_null(find(&s, "fill", AB_OP_ALL)); /* not measured */
    assert_null(find(&s, "churn", AB_OP_ALLOC_ZEROED));
    assert_true(isnan(find(&s, "churn", AB_OP_ALLOC)->ns_per_op));
    assert_true(isnan(find(&s, "churn", AB_OP_ALLOC)->max));
    forget_all(&s);
}

/* Four lanes, each 1 ms, 0.25 ms of it waiting: 0.1 awake, the rest asleep. */
static void waits_of_lanes_are_in_no_ns_per_op(void **state)
{
    (void)state;
    for (uint32_t is_crowded = 0; is_crowded < 2; is_crowded++) {
        struct ab_session s = {.seed = 1};
        struct ab_fold f = {&s, &map, &clock_half, 0, 3};
        struct ab_outcome run = outcome();
        struct ab_phase_report *report = &page.report.phases[1];
        report->is_crowded = is_crowded;
        report->lane_ticks = 4 * 2000000;
        report->wait_ticks = 4 * 500000;
        report->awake_ticks = 4 * 200000;
        report->asleep_cpu_ns = 4 * 5000;
        report->thread_cpu_ns = 4 * 500000; /* two CPUs for them */
        fold_throughput(&f, &run);
        const struct ab_result *all = find(&s, "churn", AB_OP_ALL);
        double n = (double)all->n_ops, busy = is_crowded ? 500e3 - 100e3 - 5e3 : 1e6 - 250e3;
        assert_true(fabs(all->ns_per_op - 4 * busy / n) < 1e-9);
        assert_true(fabs(all->wall_ns_per_op - 1e6 / n) < 1e-9);
        assert_true(fabs(all->ops_per_s * all->ns_per_op - 1e9) < 1);
        forget_all(&s);
    }
}

/* Of two lanes, each 1 ms, 0.2 ms of it outside of the work; of 0.9 ms of CPU time as much. Of the
 * rest 0.15 ms is waits. In strict order the two times outside come one after the other. */
static void what_is_outside_is_in_no_time_of_lanes(void **state)
{
    (void)state;
    struct ab_tape_image image = *map.image;
    struct ab_tape_map of_lanes = map;
    of_lanes.image = &image;
    image.n_lanes = 2;
    for (uint32_t i = 0; i < 4; i++) {
        bool is_crowded = i % 2 != 0, is_strict = i / 2 != 0;
        struct ab_session s = {.seed = 1, .is_strict = is_strict};
        struct ab_fold f = {&s, &of_lanes, &clock_half, 0, 3};
        struct ab_outcome run = outcome();
        struct ab_phase_report *report = &page.report.phases[1];
        report->is_crowded = is_crowded;
        report->lane_ticks = 2 * 2000000;
        report->outside_ticks = 2 * 400000;
        report->path_ticks = is_crowded && !is_strict ? 0 : 600000; /* as a worker has it */
        page.report.n_cpus = 1;
        report->canary_ticks = is_crowded ? 0 : 2 * 400000;
        report->outside_cpu_ns = is_crowded ? 2 * 200000 : 0;
        report->wait_ticks = 600000;
        report->asleep_cpu_ns = is_crowded ? 2 * 150000 : 0;
        report->thread_cpu_ns = report->process_cpu_ns = 2 * 900000;
        fold_throughput(&f, &run);
        const struct ab_result *all = find(&s, "churn", AB_OP_ALL);
        double n = (double)all->n_ops, busy = is_crowded ? 1100e3 : 1300e3;
        assert_true(fabs(all->ns_per_op - busy / n) < 1e-9);
        assert_true(fabs(all->wall_ns_per_op - (is_crowded && !is_strict ? 0.6e6 : 0.7e6) / n) <
                    1e-9);
        assert_true(fabs(all->cpu_ns_per_op - 2 * 0.7e6 / n) < 1e-9);
        assert_true(fabs(all->wait_percent - 18.75) < 1e-9);
        forget_all(&s);
    }
}

/* Two rows of two rounds; in the second the threads of one row wait for so much of 1 ms. */
static void a_small_difference_of_long_times_is_no_time_in_any_row(void **state)
{
    (void)state;
    struct ab_tape_image image = *map.image;
    struct ab_tape_map of_lanes = map;
    of_lanes.image = &image;
    image.n_lanes = 2;
    for (uint64_t waits = 900000; waits <= 1100000; waits += 200000) {
        struct ab_backend_info backends[2] = {{.name = "a"}, {.name = "b"}};
        struct ab_session s = {.seed = 1, .backends = backends, .n_backends = 2};
        for (uint32_t i = 0; i < 4; i++) {
            struct ab_fold f = {&s, &of_lanes, &clock_half, i % 2, i / 2};
            struct ab_outcome run = outcome();
            struct ab_phase_report *report = &page.report.phases[1];
            report->lane_ticks = 2000000;
            report->process_cpu_ns = report->thread_cpu_ns = 800000;
            report->wait_ticks = i == 2 ? waits : 0;
            fold_throughput(&f, &run);
        }
        for (uint32_t i = 0; i < s.n_results; i++) {
            const struct ab_result *x = &s.results[i];
            bool is_left_out = x->round == 1 && waits > 1000000;
            if (x->op != AB_OP_ALL || strcmp(x->phase, "churn") != 0)
                continue;
            assert_int_equal(isnan(x->ns_per_op), is_left_out);
            assert_int_equal(isnan(x->whole_ns_per_op), is_left_out);
            assert_int_equal(isnan(x->ops_per_s), is_left_out);
            assert_true(x->cpu_ns_per_op > 0 && x->wall_ns_per_op > 0);
            assert_int_equal(ab_is_mostly_waiting(x->subtracted_percent),
                             is_left_out && x->backend == 0);
        }
        ab_fold_drop(&s, AB_FOLD_ANY, AB_FOLD_ANY);
        free(s.results);
    }
}

/* Above a fifth of the time of all lanes, and said in percent of it. One lane waits for nobody. */
static void a_phase_of_long_waits_is_waiting(void **state)
{
    (void)state;
    struct ab_tape_image image = *map.image;
    struct ab_tape_map of_lanes = map;
    of_lanes.image = &image;
    for (uint32_t lanes = 1; lanes <= 4; lanes += 3)
        for (uint64_t waits = 0; waits <= 4000000; waits += 400000) {
            struct ab_session s = {.seed = 1};
            struct ab_fold f = {&s, &of_lanes, &clock_half, 0, 3};
            struct ab_outcome run = outcome();
            struct ab_phase_report *report = &page.report.phases[1];
            image.n_lanes = lanes;
            report->lane_ticks = 8000000;
            report->wait_ticks = waits;
            report->wall_ticks = 2000000;
            fold_throughput(&f, &run);
            const struct ab_result *all = find(&s, "churn", AB_OP_ALL);
            assert_true(lanes == 1 ? isnan(all->wait_percent)
                                   : fabs(all->wait_percent - (double)waits / 80000) < 1e-9);
            assert_true(lanes == 1 ? isnan(all->ready_threads)
                                   : fabs(all->ready_threads - 4 + (double)waits / 2e6) < 1e-9);
            assert_int_equal(ab_result_is_waiting(all), lanes > 1 && waits > 8000000 / 5);
            forget_all(&s);
        }
}

static void ops_without_a_hook_have_no_entry_and_are_counted(void **state)
{
    (void)state;
    struct ab_session s = {.seed = 1};
    struct ab_fold f = {&s, &map, &clock_half, 0, 0};
    struct ab_outcome run = outcome();
    page.report.hooks = ~(1u << AB_OP_RESIZE);
    fold_throughput(&f, &run);
    assert_null(find(&s, "churn", AB_OP_RESIZE));
    assert_int_equal(find(&s, "churn", AB_OP_ALL)->n_unsupported,
                     map.phases[1].n_ops[AB_OP_RESIZE]);
    forget_all(&s);
}

/* Every op of the phase churn: an alloc took 200 ticks, all else 80. Returns how many allocs. */
static uint32_t sample_churn(struct ab_outcome *run)
{
    uint32_t n_alloc = 0;
    for (uint32_t i = map.phases[1].begin; i < map.phases[1].end; i++) {
        int kind = test_tape_op(&map, i).kind;
        positions[run->n_samples] = i;
        kinds[run->n_samples] = (uint8_t)kind;
        ticks[run->n_samples++] = kind == AB_OP_ALLOC ? 200 + 1 : 80 + 1;
        n_alloc += kind == AB_OP_ALLOC;
    }
    return n_alloc;
}

static void ticks_become_nanoseconds_by_kind(void **state)
{
    (void)state;
    struct ab_session s = {.seed = 1};
    struct ab_fold f = {&s, &map, &clock_half, 0, 0};
    struct ab_outcome run = outcome();
    uint32_t n_alloc = sample_churn(&run);
    ticks[0] = AB_TICKS_OVERFLOW;
    fold_throughput(&f, &run);
    ab_fold_latency(&f, &run);
    const struct ab_result *alloc = find(&s, "churn", AB_OP_ALLOC);
    const struct ab_result *resize = find(&s, "churn", AB_OP_RESIZE);
    const struct ab_result *all = find(&s, "churn", AB_OP_ALL);
    assert_int_equal(alloc->n + alloc->overflow, n_alloc);
    assert_true(alloc->quantiles[0] == 100 && alloc->min == 100 && alloc->max == 100);
    assert_true(resize->quantiles[0] == 40);
    assert_int_equal(resize->overflow, 1); /* the first churn op is a resize */
    assert_int_equal(all->n, ab_hdr_total(all->hdr));
    assert_true(all->n > 0 && all->n <= run.n_samples);
    assert_true(isnan(find(&s, "drain", AB_OP_FREE)->quantiles[0])); /* no samples: n/a */
    forget_all(&s);
}

static void the_tail_gives_max_and_the_worst_slowest_first(void **state)
{
    (void)state;
    struct ab_session s = {.seed = 1};
    struct ab_fold f = {&s, &map, &clock_half, 0, 0};
    struct ab_outcome run = outcome();
    fold_throughput(&f, &run);
    struct ab_tail *tail = &page.report.phases[1].tail[AB_OP_ALLOC];
    tail->n = 500;
    tail->n_slow = 3;
    tail->max_ticks = 90000;
    tail->n_worst = 3;
    tail->worst[0] = (struct ab_worst){.ticks = 1000, .position = 201};
    tail->worst[1] = (struct ab_worst){.ticks = 90000, .position = 203};
    tail->worst[2] = (struct ab_worst){.ticks = 77777, .position = 4000000}; /* forged */
    ab_fold_tail(&f, &run);
    const struct ab_result *alloc = find(&s, "churn", AB_OP_ALLOC);
    assert_true(alloc->max == 45000);
    assert_int_equal(alloc->n_worst, 2);
    assert_int_equal(alloc->worst[0].position, 203);
    assert_true(alloc->worst[0].ns == 45000 && alloc->worst[1].ns == 500);
    assert_int_equal(find(&s, "churn", AB_OP_ALL)->tail_n, 500);
    tail->n_worst = 4000000000u; /* a worker that lies about its own count */
    ab_fold_tail(&f, &run);
    forget_all(&s);
}

/* Else a table would show a maximum that no list of slow ops has. */
static void the_slowest_sample_is_among_the_worst(void **state)
{
    (void)state;
    struct ab_session s = {.seed = 1};
    struct ab_fold f = {&s, &map, &clock_half, 0, 0};
    struct ab_outcome run = outcome();
    sample_churn(&run);
    ticks[0] = 180001; /* 90 us; the first churn op is a resize */
    fold_throughput(&f, &run);
    ab_fold_latency(&f, &run);
    struct ab_tail *tail = &page.report.phases[1].tail[AB_OP_RESIZE];
    *tail = (struct ab_tail){.n = 500, .n_slow = 1, .max_ticks = 9000, .n_worst = 1};
    tail->worst[0] = (struct ab_worst){.ticks = 9000, .position = 203, .size = 64};
    ab_fold_tail(&f, &run);
    const struct ab_result *resize = find(&s, "churn", AB_OP_RESIZE);
    assert_true(resize->max == 90000);
    assert_int_equal(resize->n_worst, 2);
    assert_true(resize->worst[0].ns == 90000 && resize->worst[0].size == AB_SIZE_UNKNOWN);
    assert_true(resize->worst[1].ns == 4500 && resize->worst[1].size == 64);
    forget_all(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(throughput_is_wall_time_by_ops),
        cmocka_unit_test(waits_of_lanes_are_in_no_ns_per_op),
        cmocka_unit_test(what_is_outside_is_in_no_time_of_lanes),
        cmocka_unit_test(a_small_difference_of_long_times_is_no_time_in_any_row),
        cmocka_unit_test(a_phase_of_long_waits_is_waiting),
        cmocka_unit_test(ops_without_a_hook_have_no_entry_and_are_counted),
        cmocka_unit_test(ticks_become_nanoseconds_by_kind),
        cmocka_unit_test(the_tail_gives_max_and_the_worst_slowest_first),
        cmocka_unit_test(the_slowest_sample_is_among_the_worst),
    };
    test_tape_churn_map(200, 30000, &tape, &map);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ab_tape_map_close(&map);
    ab_tape_fini(&tape);
    return failed;
}
