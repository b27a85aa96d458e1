/* SPDX-License-Identifier: MIT
 *
 * What `settle`, `every`, `over` and `until: seconds(t)` make of the work's time: the steps of the tape
 * as POSITION@MILLISECONDS, with an i where nothing is called meanwhile.
 * tests: workload/generate/generate.c
 */
#include "support/workload_ops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static char *steps_text(const struct ab_tape *tape)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    for (uint32_t i = 0; i < tape->n_steps; i++) {
        const struct ab_time_step *s = &tape->steps[i];
        fprintf(f, "%s%u@%g%s", i > 0 ? " " : "", s->position, (double)s->time_ns / 1e6,
                (s->flags & AB_STEP_IDLE) != 0 ? "i" : "");
    }
    fclose(f);
    return text;
}

static void expect(const char *phase, const char *ops, const char *steps)
{
    struct ab_tape tape;
    struct ab_err err = {0};
    if (compile_phase(phase, &tape, &err) != AB_OK)
        fail_msg("%s", err.text);
    char *found_ops = tape_text(&tape), *found_steps = steps_text(&tape);
    if (ops != NULL)
        assert_string_equal(found_ops, ops);
    assert_string_equal(found_steps, steps);
    free(found_ops);
    free(found_steps);
    ab_tape_fini(&tape);
}

static void a_settle_is_an_idle_stretch(void **state)
{
    (void)state;
    expect("    until: iters(2)\n"
           "    do: [{alloc: s, size: 8}, {settle: 30s}, {free: s}, {settle: 100ms}]\n",
           "a0:8 f0 a0:8 f0", "1@30000i 2@30100i 3@60100i 4@60200i");
}

static void every_makes_up_what_was_missed_from_the_begin_of_the_repetition(void **state)
{
    (void)state;
    expect("    repeat: 2\n    until: iters(2)\n"
           "    do: [{settle: 25s}, {every: 10s, do: [{alloc: s, size: 8}]}]\n",
           "a0:8 a1:8 a2:8 a3:8 a4:8 a5:8 a6:8 a7:8 a8:8 a9:8",
           "0@25000i 2@50000i 5@75000i 7@100000i");
}

/* What it would do at the end is not done any more. */
static void in_a_phase_that_lasts_time_passes_to_the_next_every(void **state)
{
    (void)state;
    expect("    until: seconds(30)\n"
           "    do: [{every: 10s, do: [{alloc: s, size: 8}]}, {every: 15s, do: [{free: s}]}]\n",
           "a0:8 f0 a0:8", "0@10000 1@15000 2@20000 3@30000");
    expect("    until: seconds(25s)\n"
           "    do: [{alloc: s, size: 8}, {every: 10s, do: [{free: s, count: all}]}]\n",
           "a0:8 a1:8 f0 f1 a1:8 f1", "1@10000 4@20000 6@25000");
}

static void a_settle_that_goes_beyond_the_end_is_cut(void **state)
{
    (void)state;
    expect("    until: seconds(50)\n    do: [{alloc: s, size: 8}, {settle: 20s}]\n",
           "a0:8 a1:8 a2:8", "1@20000i 2@40000i 3@50000i");
}

static void ops_are_spread_over_the_phase(void **state)
{
    (void)state;
    expect("    over: 4s\n    do: [{alloc: s, size: 8, count: 4, touch: ends}]\n",
           "a0:8 t0 a1:8 t1 a2:8 t2 a3:8 t3", "0@1000 2@2000 4@3000 6@4000");
    expect("    over: 60s\n    until: iters(6)\n"
           "    do: [{alloc: s, size: 8}, {every: 20s, do: [{free: s}]}]\n",
           "a0:8 a1:8 a2:8 f0 a0:8 a3:8 f1 a1:8",
           "0@7500 1@15000 2@22500 3@30000 4@37500 5@45000 6@52500 7@60000");
}

/* The last one to come is what the others wait for, and the longest time counts, once. */
static void a_settle_is_a_barrier_of_the_lanes(void **state)
{
    (void)state;
    expect("    roles:\n"
           "      - {name: a, do: [{settle: 5s}, {alloc: s, size: 8}]}\n"
           "      - {name: b, lanes: 2, do: [{alloc: s, size: 9, count: 2}, {settle: 10s}]}\n"
           "      - {name: c, do: [{alloc: s, size: 10}]}\n",
           "[1] a10:9 a11:9 [2] a20:9 a21:9 [3] a30:10 [0] a0:8", "5@10000i");
}

/* Between two messages nobody waits for time. */
static void a_lane_without_times_goes_on_as_ever(void **state)
{
    (void)state;
    struct ab_tape tape;
    struct ab_err err = {0};
    struct ab_workload *w = load_text(
        "allocbench: 1\nname: test\nsets: [{name: q, kind: queue, per: all}]\n"
        "phases:\n  - name: run\n    until: seconds(30)\n    roles:\n"
        "      - {name: a, do: [{every: 10s, do: [{send: q, size: 8, count: 3}]}]}\n"
        "      - {name: b, do: [{recv: q}]}\n");
    assert_non_null(w);
    assert_int_equal(ab_workload_compile(w, &tape, &err), AB_OK);
    assert_int_equal(tape.phases[0].n_ops[AB_OP_ALLOC], 6);
    assert_int_equal(tape.phases[0].n_ops[AB_OP_FREE], 6);
    assert_int_equal(tape.duration_ns, UINT64_C(30000000000));
    assert_int_equal(tape.n_idle, 0);
    ab_tape_fini(&tape);
    ab_workload_free(w);
}

static void a_phase_may_consist_of_nothing_but_time(void **state)
{
    (void)state;
    struct ab_tape tape;
    struct ab_err err = {0};
    assert_int_equal(compile_phase("    do: [{alloc: s, size: 8}]\n"
                                   "  - name: idle\n    do: [{settle: 60s}]\n"
                                   "  - name: drain\n    do: [{free: s}]\n",
                                   &tape, &err),
                     AB_OK);
    assert_int_equal(tape.n_steps, 1);
    assert_int_equal(tape.steps[0].phase, 1);
    assert_int_equal(tape.steps[0].position, 1);
    assert_int_equal(tape.idle_ns, UINT64_C(60000000000));
    assert_int_equal(tape.n_idle, 1);
    ab_tape_fini(&tape);
}

static uint32_t phases_of_bursts[8], n_phases_of_bursts;

static enum ab_status take(void *user, const struct ab_tape *burst, bool is_only,
                           struct ab_err *err)
{
    (void)user, (void)is_only, (void)err;
    for (uint32_t i = 0; i < burst->n_steps && n_phases_of_bursts < 8; i++)
        phases_of_bursts[n_phases_of_bursts++] = burst->steps[i].phase;
    return AB_OK;
}

static void bursts_keep_the_phases_of_times(void **state)
{
    (void)state;
    struct ab_tape total;
    struct ab_err err = {0};
    struct ab_workload_bursts bursts = {.most_bytes = 80, .take = take};
    struct ab_workload *w = load_text(
        WORKLOAD_HEAD "    until: iters(20)\n    do: [{alloc: s, size: 8}, {free: s}]\n"
                      "  - name: idle\n    do: [{settle: 60s}]\n"
                      "  - name: rest\n    until: iters(20)\n"
                      "    do: [{alloc: s, size: 8}, {free: s}]\n"
                      "  - name: last\n    do: [{settle: 5s}]\n");
    assert_non_null(w);
    assert_int_equal(ab_workload_compile_bursts(w, &bursts, &total, &err), AB_OK);
    assert_true(bursts.n > 2);
    assert_int_equal(n_phases_of_bursts, 2);
    assert_int_equal(phases_of_bursts[0], 1);
    assert_int_equal(phases_of_bursts[1], 3);
    assert_int_equal(total.duration_ns, UINT64_C(65000000000));
    assert_int_equal(total.n_idle, 2);
    ab_tape_fini(&total);
    ab_workload_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_settle_is_an_idle_stretch),
        cmocka_unit_test(every_makes_up_what_was_missed_from_the_begin_of_the_repetition),
        cmocka_unit_test(in_a_phase_that_lasts_time_passes_to_the_next_every),
        cmocka_unit_test(a_settle_that_goes_beyond_the_end_is_cut),
        cmocka_unit_test(ops_are_spread_over_the_phase),
        cmocka_unit_test(a_settle_is_a_barrier_of_the_lanes),
        cmocka_unit_test(a_lane_without_times_goes_on_as_ever),
        cmocka_unit_test(a_phase_may_consist_of_nothing_but_time),
        cmocka_unit_test(bursts_keep_the_phases_of_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
