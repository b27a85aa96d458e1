/* SPDX-License-Identifier: MIT
 *
 * Iterations made by hand, folded: every number can be computed on paper.
 * tests: merge_rounds.c
 */
#include "runner/fold.h"

#include "result/merge/merge_rounds.h"
#include "support/cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct ab_err err;
static const struct ab_clock clock_half = {.ns_per_tick = 0.5, .quantum_ns = 0.5};
static struct ab_backend_info backends[1] = {{.name = "glibc", .boundary = "malloc"}};

/* Two lanes with three iterations of two calls between them; the budget is 100 ns. */
static struct ab_tape_map make_map(struct ab_tape *tape)
{
    struct ab_tape_map map;
    struct ab_tape_builder *b = ab_tape_begin();
    const struct ab_request r = {.size = 16};
    assert_non_null(b);
    assert_int_equal(ab_tape_phase(b, "load", false, &err), AB_OK);
    assert_int_equal(ab_tape_alloc(b, 9, &r, &err), AB_OK);
    assert_int_equal(ab_tape_phase(b, "frames", true, &err), AB_OK);
    ab_tape_each(b, "frame", 100);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(ab_tape_lane(b, i % 2, &err), AB_OK);
        assert_int_equal(ab_tape_alloc(b, i, &r, &err), AB_OK);
        assert_int_equal(ab_tape_free(b, i, &err), AB_OK);
        assert_int_equal(ab_tape_iteration(b, &err), AB_OK);
    }
    assert_int_equal(ab_tape_end(b, tape, &err), AB_OK);
    assert_int_equal(ab_tape_map_open(tape, &map, &err), AB_OK);
    assert_int_equal(map.image->n_iterations, 3);
    return map;
}

struct run {
    struct ab_tape tape;
    struct ab_tape_map map;
    struct ab_null_cost null;
    struct ab_session s;
    struct ab_fold f;
};

/* With the null back end's run of the same round: 20 and 30 ns a call, and one that was disturbed. */
static void begin(struct run *r, bool has_null)
{
    const struct ab_iteration null[3] = {{80, 2, 0}, {120, 2, 0}, {1000000, 1, 1}};
    const struct ab_outcome outcome = {.iterations = null};
    memset(r, 0, sizeof *r);
    r->map = make_map(&r->tape);
    r->null = (struct ab_null_cost){
        .phase = "frames", .boundary = "malloc", .round = 3, .iteration_call_ns = NAN};
    r->s = (struct ab_session){
        .backends = backends, .n_backends = 1, .nulls = &r->null, .n_nulls = 1};
    r->f = (struct ab_fold){&r->s, &r->map, &clock_half, 0, 3};
    if (has_null)
        ab_fold_iteration_cost(&r->f, &outcome);
}

static void finish(struct run *r)
{
    ab_fold_drop(&r->s, AB_FOLD_ANY, AB_FOLD_ANY);
    assert_int_equal(r->s.n_iterations, 0);
    free(r->s.iterations);
    ab_tape_map_close(&r->map);
    ab_tape_fini(&r->tape);
}

static void what_null_takes_is_subtracted_for_each_call(void **state)
{
    (void)state;
    struct run r;
    begin(&r, true);
    assert_true(r.null.iteration_call_ns == 25); /* median of 20 and 30 */
    const struct ab_iteration made[3] = {{300, 2, 0}, {60, 2, 0}, {2000, 2, 0}};
    const struct ab_outcome outcome = {.iterations = made};
    ab_fold_iterations(&r.f, &outcome);
    assert_int_equal(r.s.n_iterations, 1); /* "load" has none */
    const struct ab_iterations *x = &r.s.iterations[0];
    assert_string_equal(x->phase, "frames");
    assert_string_equal(x->name, "frame");
    assert_int_equal(x->round, 3);
    assert_int_equal(x->n, 3);
    assert_int_equal(x->n_calls, 6);
    assert_int_equal(x->n_calls_most, 2);
    assert_int_equal(x->n_scheduler, 0);
    assert_true(x->budget_ns == 100);
    assert_true(x->max == 950);            /* 1000 - 2 * 25 */
    assert_int_equal(x->hdr->min, 0);      /* 30 - 50: nothing that the clock could tell */
    assert_int_equal(x->n_over_budget, 1); /* 950; 150 - 50 = 100 is within */
    assert_true(isnan(x->p50));            /* of three */
    /* Lane 0 made the first two, the second of which took no more than under null. */
    assert_int_equal(x->n_worst, 2);
    assert_true(x->worst[0].ns == 950 && x->worst[0].lane == 1 && x->worst[0].iteration == 1);
    assert_true(x->worst[1].ns == 100 && x->worst[1].lane == 0 && x->worst[1].iteration == 1);
    assert_int_equal(x->n_stretches, 2);
    assert_true(x->stretch == 1 && x->stretches[0] == 950 && x->stretches[1] == 0);
    finish(&r);
}

static void what_the_scheduler_disturbed_is_counted_and_in_nothing_else(void **state)
{
    (void)state;
    struct run r;
    begin(&r, true);
    const struct ab_iteration made[3] = {{9000, 1, 1}, {150, 2, 0}, {150, 2, 0}};
    const struct ab_outcome outcome = {.iterations = made};
    ab_fold_iterations(&r.f, &outcome);
    const struct ab_iterations *x = &r.s.iterations[0];
    assert_int_equal(x->n, 2);
    assert_int_equal(x->n_scheduler, 1);
    assert_int_equal(x->n_calls, 4);
    assert_int_equal(x->n_over_budget, 0);
    assert_true(x->max == 25);
    assert_true(x->worst[0].ns == 25 && x->worst[0].iteration == 2 && x->worst[0].lane == 0);
    assert_true(x->worst[1].ns == 25 && x->worst[1].iteration == 1 && x->worst[1].lane == 1);
    finish(&r);
}

static void without_the_null_nothing_is_known_and_it_says_why(void **state)
{
    (void)state;
    struct run r;
    begin(&r, false);
    const struct ab_iteration made[3] = {{300, 2, 0}, {60, 2, 0}, {2000, 2, 0}};
    const struct ab_outcome outcome = {.iterations = made};
    ab_fold_iterations(&r.f, &outcome);
    const struct ab_iterations *x = &r.s.iterations[0];
    assert_int_equal(x->n, 0);
    assert_true(isnan(x->max) && isnan(x->p50) && isnan(x->call_ns));
    assert_true(x->n_worst == 0 && x->n_stretches == 0);
    assert_string_not_equal(x->reason, "");
    finish(&r);
}

static void a_place_in_the_tape_is_in_an_iteration_of_its_lane(void **state)
{
    (void)state;
    struct run r;
    begin(&r, true);
    const uint32_t expected[] = {0, 1, 1, 2,
                                 2, 1, 1, 0}; /* load; lane 0; lane 1; beyond the tape */
    assert_int_equal(r.map.image->n_ops, 7);
    for (uint32_t i = 0; i < AB_ARRAY_LEN(expected); i++)
        assert_int_equal(ab_fold_iteration_at(&r.f, i), expected[i]);
    finish(&r);
}

/* A phase of 150 iterations, each an allocation, and its repetition of 100, after which there is an
 * op more. */
static void make_repeated(struct ab_tape *tape, struct ab_tape_map *map)
{
    struct ab_tape_builder *b = ab_tape_begin();
    const struct ab_request size = {.size = 16};
    for (uint32_t p = 0; p < 2; p++) {
        assert_int_equal(ab_tape_phase(b, "frames", true, &err), AB_OK);
        ab_tape_each(b, "frame", 100);
        for (uint32_t i = 0; i < (p == 0 ? 150 : 100); i++) {
            assert_int_equal(ab_tape_alloc(b, 150 * p + i, &size, &err), AB_OK);
            assert_int_equal(ab_tape_iteration(b, &err), AB_OK);
        }
    }
    assert_int_equal(ab_tape_free(b, 0, &err), AB_OK);
    assert_int_equal(ab_tape_end(b, tape, &err), AB_OK);
    assert_int_equal(ab_tape_map_open(tape, map, &err), AB_OK);
}

static void repetitions_count_on_and_the_slowest_are_kept(void **state)
{
    (void)state;
    struct run r;
    struct ab_iteration made[250];
    const struct ab_outcome outcome = {.iterations = made};
    begin(&r, true);
    ab_tape_map_close(&r.map);
    ab_tape_fini(&r.tape);
    make_repeated(&r.tape, &r.map);
    for (uint32_t i = 0; i < 250;
         i++) /* 1 ns in the first, 250 ns in the last, and 25 ns of null */
        made[i] = (struct ab_iteration){52 + 2 * i, 1, i == 200};
    ab_fold_iterations(&r.f, &outcome);
    assert_int_equal(r.s.n_iterations, 2);
    const struct ab_iterations *a = &r.s.iterations[0], *b = &r.s.iterations[1];
    assert_int_equal(a->n_worst, AB_ITERATIONS_WORST_MAX);
    assert_true(a->worst[0].ns == 150 && a->worst[0].iteration == 150);
    assert_true(a->worst[63].ns == 87 && a->worst[63].iteration == 87);
    assert_true(b->worst[0].ns == 250 && b->worst[0].iteration == 250);
    assert_true(b->worst[48].iteration == 202 && b->worst[49].iteration == 200);
    assert_true(a->stretch == 3 && b->stretch == 3 && a->n_stretches == 84 && b->n_stretches == 84);
    assert_true(a->stretches[0] == 3 && a->stretches[49] == 150 && a->stretches[50] == AB_NO_TIME);
    assert_true(b->stretches[49] == AB_NO_TIME && b->stretches[66] == 200 &&
                b->stretches[83] == 250);
    assert_int_equal(ab_fold_iteration_at(&r.f, 149), 150);
    assert_int_equal(ab_fold_iteration_at(&r.f, 150), 151);
    assert_int_equal(ab_fold_iteration_at(&r.f, 249), 250);
    assert_int_equal(ab_fold_iteration_at(&r.f, 250), 0);
    finish(&r);
}

static void rounds_add_up(void **state)
{
    (void)state;
    struct run r;
    struct ab_iterations sum;
    struct ab_hdr *hdr = ab_hdr_new();
    begin(&r, true);
    const struct ab_iteration made[3] = {{300, 2, 0}, {600, 2, 0}, {2000, 2, 1}};
    const struct ab_outcome outcome = {.iterations = made};
    for (uint32_t round = 0; round < 20; round++) {
        r.f.round = r.null.round = round;
        ab_fold_iterations(&r.f, &outcome);
    }
    assert_true(
        ab_session_merge_iterations(&r.s, 0, "frames", AB_ITERATIONS_ALL_ROUNDS, hdr, &sum));
    assert_int_equal(sum.n, 40);
    assert_int_equal(sum.n_scheduler, 20);
    assert_int_equal(sum.n_over_budget, 20);
    assert_true(sum.p50 == 100 && sum.max == 250 && isnan(sum.p99));
    assert_true(sum.call_ns == 25);
    assert_false(ab_session_merge_iterations(&r.s, 0, "load", AB_ITERATIONS_ALL_ROUNDS, hdr, &sum));
    assert_true(ab_session_merge_iterations(&r.s, 0, "frames", 7, hdr, &sum));
    assert_true(sum.n == 2 && sum.n_over_budget == 1 && sum.n_scheduler == 1);
    ab_fold_drop(&r.s, 0, 7);
    assert_int_equal(r.s.n_iterations, 19);
    free(hdr);
    finish(&r);
}

/* Such a histogram holds up to 60 s: what is longer is counted, missed, and not taken for the rest. */
static void what_is_too_long_for_the_histogram_is_said(void **state)
{
    (void)state;
    struct run r;
    begin(&r, true);
    const struct ab_iteration made[3] = {
        {300, 2, 0}, {UINT64_C(130000000000), 2, 0}, {UINT64_C(130000000000), 2, 0}};
    const struct ab_outcome outcome = {.iterations = made};
    for (uint32_t round = 0; round < 10; round++) {
        r.f.round = r.null.round = round;
        ab_fold_iterations(&r.f, &outcome);
    }
    const struct ab_iterations *x = &r.s.iterations[0];
    assert_int_equal(x->n, 3);
    assert_int_equal(x->hdr->overflow, 2);
    assert_int_equal(x->n_over_budget, 2);
    assert_true(isnan(x->max)); /* not the 100 ns of the one that is stored */
    struct ab_hdr *hdr = ab_hdr_new();
    struct ab_iterations sum;
    assert_true(
        ab_session_merge_iterations(&r.s, 0, "frames", AB_ITERATIONS_ALL_ROUNDS, hdr, &sum));
    assert_int_equal(sum.n, 30);
    assert_true(isnan(sum.p50)); /* two of three are longer */
    free(hdr);
    finish(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_null_takes_is_subtracted_for_each_call),
        cmocka_unit_test(what_the_scheduler_disturbed_is_counted_and_in_nothing_else),
        cmocka_unit_test(without_the_null_nothing_is_known_and_it_says_why),
        cmocka_unit_test(a_place_in_the_tape_is_in_an_iteration_of_its_lane),
        cmocka_unit_test(repetitions_count_on_and_the_slowest_are_kept),
        cmocka_unit_test(rounds_add_up),
        cmocka_unit_test(what_is_too_long_for_the_histogram_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
