/* SPDX-License-Identifier: MIT
 *
 * Samples by size and over time: nothing is lost, nothing counted twice, and what a worker says
 * about sizes is believed within bounds only.
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
static uint8_t classes[100000], kinds[100000];

/* Every op of the measured phases is timed: allocs take 100 ns, the others 40; sizes alternate
 * between two classes. */
static struct ab_outcome outcome(void)
{
    struct ab_outcome run = {
        .page = &page, .positions = positions, .ticks = ticks, .classes = classes, .kinds = kinds};
    memset(&page, 0, sizeof page);
    page.report.hooks = ~0u;
    for (uint32_t i = map.phases[1].begin; i < map.phases[2].end; i++) {
        uint32_t n = run.n_samples++;
        int kind = test_tape_op(&map, i).kind;
        assert_true(kind >= 0);
        positions[n] = i;
        kinds[n] = (uint8_t)kind;
        ticks[n] = (kind == AB_OP_ALLOC ? 200 : 80) + 1;
        classes[n] = i % 2 == 0 ? 5 : 8;
    }
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

static void fold_all(struct ab_session *s, const struct ab_outcome *run)
{
    struct ab_fold f = {s, &map, &clock_half, 0, 3};
    fold_throughput(&f, run);
    ab_fold_latency(&f, run);
    ab_fold_depth(&f, run);
}

static void forget_all(struct ab_session *s)
{
    ab_fold_drop(s, 0, AB_FOLD_ANY);
    assert_int_equal(s->n_results + s->n_size_classes + s->n_windows, 0);
    free(s->results);
    free(s->size_classes);
    free(s->windows);
}

static const struct ab_size_class *find(const struct ab_session *s, const char *phase, unsigned op,
                                        unsigned log2)
{
    for (uint32_t i = 0; i < s->n_size_classes; i++) {
        const struct ab_size_class *c = &s->size_classes[i];
        if (strcmp(c->phase, phase) == 0 && c->op == op && c->log2 == log2)
            return c;
    }
    return NULL;
}

static void each_sample_is_in_one_class_of_its_kind(void **state)
{
    (void)state;
    struct ab_session s = {.seed = 1};
    struct ab_outcome run = outcome();
    fold_all(&s, &run);
    for (uint32_t i = 0; i < s.n_results; i++) {
        const struct ab_result *r = &s.results[i];
        uint64_t n = 0;
        for (uint32_t k = 0; k < s.n_size_classes; k++)
            if (s.size_classes[k].op == r->op && s.size_classes[k].phase == r->phase)
                n += ab_hdr_total(s.size_classes[k].hdr);
        if (r->op != AB_OP_ALL)
            assert_int_equal(n, r->n);
    }
    assert_null(find(&s, "churn", AB_OP_ALL, 5));
    assert_null(find(&s, "churn", AB_OP_ALLOC, 6)); /* no empty ones */
    assert_int_equal(find(&s, "churn", AB_OP_ALLOC, 8)->hdr->max, 100);
    assert_int_equal(find(&s, "drain", AB_OP_FREE, 5)->hdr->min, 40);
    assert_int_equal(find(&s, "drain", AB_OP_FREE, 5)->round, 3);
    assert_null(find(&s, "fill", AB_OP_ALLOC, 5)); /* not measured */
    forget_all(&s);
}

static void a_class_that_cannot_be_is_the_last_one(void **state)
{
    (void)state;
    struct ab_session s = {.seed = 1};
    struct ab_outcome run = outcome();
    memset(classes, 255, sizeof classes);
    fold_all(&s, &run);
    for (uint32_t i = 0; i < s.n_size_classes; i++)
        assert_int_equal(s.size_classes[i].log2, AB_SIZE_CLASS_COUNT - 1);
    forget_all(&s);
}

static void what_was_not_timed_is_nowhere_and_what_is_too_long_overflows(void **state)
{
    (void)state;
    struct ab_session s = {.seed = 1};
    struct ab_outcome run = outcome();
    memset(ticks, 0, sizeof ticks);
    ticks[4] = AB_TICKS_OVERFLOW; /* an alloc */
    fold_all(&s, &run);
    assert_int_equal(s.n_size_classes, 1);
    assert_int_equal(s.size_classes[0].hdr->overflow, 1);
    assert_int_equal(ab_hdr_total(s.size_classes[0].hdr), 0);
    for (uint32_t i = 0; i < s.n_windows; i++) {
        assert_int_equal(s.windows[i].n, 0);
        assert_true(isnan(s.windows[i].p50) && isnan(s.windows[i].max));
    }
    forget_all(&s);
}

static void windows_cover_the_phase_and_hold_its_fair_sample(void **state)
{
    (void)state;
    struct ab_session s = {.seed = 1};
    struct ab_outcome run = outcome();
    fold_all(&s, &run);
    for (uint32_t p = 1; p < 3; p++) {
        const struct ab_phase *phase = &map.phases[p];
        uint32_t n_windows = 0, end = phase->begin;
        uint64_t n = 0, wanted = 0;
        for (uint32_t i = 0; i < s.n_windows; i++) {
            const struct ab_window *w = &s.windows[i];
            if (w->phase != phase->name)
                continue;
            assert_int_equal(w->begin, end);
            end = w->end;
            n += w->n;
            n_windows++;
            uint64_t counted = 0;
            for (unsigned bin = 0; bin < AB_WINDOW_BINS; bin++)
                counted += w->counts[bin];
            assert_int_equal(counted, w->n);
            assert_int_equal(counted, w->counts[ab_window_bin(100)] + w->counts[ab_window_bin(40)]);
        }
        for (uint32_t i = 0; i < s.n_results; i++)
            if (s.results[i].phase == phase->name && s.results[i].op == AB_OP_ALL)
                wanted = s.results[i].n;
        assert_int_equal(end, phase->end);
        assert_int_equal(n_windows, ab_fold_window_count(phase));
        assert_int_equal(n, wanted);
        assert_true(n > 0);
    }
    forget_all(&s);
}

/* What is slow late in the phase shows in the late windows, and only there. */
static void a_window_tells_its_own_stretch(void **state)
{
    (void)state;
    struct ab_session s = {.seed = 1};
    struct ab_outcome run = outcome();
    const struct ab_phase *phase = &map.phases[1];
    uint32_t late = phase->begin + (phase->end - phase->begin) / 2;
    for (uint32_t i = 0; i < run.n_samples; i++)
        ticks[i] = positions[i] < late ? 100 + 1 : 2000 + 1;
    fold_all(&s, &run);
    for (uint32_t i = 0; i < s.n_windows; i++) {
        const struct ab_window *w = &s.windows[i];
        if (w->phase != phase->name)
            continue;
        if (w->end <= late)
            assert_true(w->p50 == 50 && w->max == 50);
        if (w->begin >= late)
            assert_true(w->p50 == 1000 && w->max == 1000);
        if (w->n >= 1000)
            assert_true(!isnan(w->p99));
    }
    forget_all(&s);
}

static void there_are_as_many_windows_as_the_samples_allow(void **state)
{
    (void)state;
    struct ab_phase phase = {.n_ops = {[AB_OP_ALLOC] = 10}};
    assert_int_equal(ab_fold_window_count(&phase), 1);
    phase.n_ops[AB_OP_ALLOC] = 1000;
    assert_int_equal(ab_fold_window_count(&phase), 16); /* medians */
    phase.n_ops[AB_OP_ALLOC] = 20000 * 16 * 2;
    assert_int_equal(ab_fold_window_count(&phase), 32); /* of 1,250 samples: p99 */
    phase.n_ops[AB_OP_ALLOC] = 100000000;
    assert_int_equal(ab_fold_window_count(&phase), AB_WINDOWS_MAX);
}

static void lanes_run_side_by_side_on_the_op_clock(void **state)
{
    (void)state;
    struct ab_tape two;
    struct ab_tape_map lanes;
    struct ab_err err;
    struct ab_tape_builder *b = ab_tape_begin();
    struct ab_request r = {.size = 64, .touch = AB_TOUCH_NONE};
    assert_int_equal(ab_tape_phase(b, "p", true, &err), AB_OK);
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(ab_tape_lane(b, i % 4 == 0, &err), AB_OK); /* three to one */
        assert_int_equal(ab_tape_alloc(b, i, &r, &err), AB_OK);
    }
    assert_int_equal(ab_tape_end(b, &two, &err), AB_OK);
    assert_int_equal(ab_tape_map_open(&two, &lanes, &err), AB_OK);
    uint32_t end = lanes.phases[0].end, split = two.lane_begin[1];
    assert_int_equal(ab_tape_map_clock(&lanes, 0, 0), 0);
    assert_int_equal(ab_tape_map_clock(&lanes, 0, split), 0); /* the other lane begins too */
    assert_in_range(ab_tape_map_clock(&lanes, 0, split / 2), end / 2 - 2, end / 2 + 2);
    assert_in_range(ab_tape_map_clock(&lanes, 0, (split + end) / 2), end / 2 - 4, end / 2 + 4);
    for (uint32_t i = 0; i < end; i++)
        assert_true(ab_tape_map_clock(&lanes, 0, i) < end);
    ab_tape_map_close(&lanes);
    ab_tape_fini(&two);
}

static void dropping_takes_a_back_end_or_a_round_and_no_more(void **state)
{
    (void)state;
    struct ab_session s = {.seed = 1};
    struct ab_outcome run = outcome();
    for (uint32_t i = 0; i < 4; i++) {
        struct ab_fold f = {&s, &map, &clock_half, i / 2, i % 2};
        ab_fold_depth(&f, &run);
    }
    uint32_t n_classes = s.n_size_classes / 4, n_windows = s.n_windows / 4;
    ab_fold_drop(&s, 0, 1);
    assert_int_equal(s.n_size_classes, 3 * n_classes);
    assert_int_equal(s.n_windows, 3 * n_windows);
    ab_fold_drop(&s, UINT32_MAX, 1);
    assert_int_equal(s.n_windows, 2 * n_windows);
    for (uint32_t i = 0; i < s.n_windows; i++)
        assert_int_equal(s.windows[i].round, 0);
    ab_fold_drop(&s, 0, UINT32_MAX);
    for (uint32_t i = 0; i < s.n_size_classes; i++)
        assert_int_equal(s.size_classes[i].backend, 1);
    assert_int_equal(s.n_size_classes, n_classes);
    ab_fold_drop(&s, UINT32_MAX, UINT32_MAX);
    free(s.size_classes);
    free(s.windows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sample_is_in_one_class_of_its_kind),
        cmocka_unit_test(a_class_that_cannot_be_is_the_last_one),
        cmocka_unit_test(what_was_not_timed_is_nowhere_and_what_is_too_long_overflows),
        cmocka_unit_test(windows_cover_the_phase_and_hold_its_fair_sample),
        cmocka_unit_test(a_window_tells_its_own_stretch),
        cmocka_unit_test(there_are_as_many_windows_as_the_samples_allow),
        cmocka_unit_test(lanes_run_side_by_side_on_the_op_clock),
        cmocka_unit_test(dropping_takes_a_back_end_or_a_round_and_no_more),
    };
    test_tape_churn_map(200, 30000, &tape, &map);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ab_tape_map_close(&map);
    ab_tape_fini(&tape);
    return failed;
}
