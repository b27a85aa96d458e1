/* SPDX-License-Identifier: MIT
 *
 * Steps of the work's time: which are kept, where they stand in the tape and its file, and when they
 * are work of its own.
 * tests: layout.c
 */
#include "support/cmocka.h"
#include "tape/tape_file.h"

#include <string.h>

#define MS UINT64_C(1000000)
#define S (1000 * MS)

static struct ab_err err;

static struct ab_tape_builder *begin(void)
{
    struct ab_tape_builder *b = ab_tape_begin();
    assert_int_equal(ab_tape_phase(b, "load", true, &err), AB_OK);
    return b;
}

static void alloc(struct ab_tape_builder *b, uint32_t lane, uint32_t slot)
{
    const struct ab_request r = {.size = 16};
    assert_int_equal(ab_tape_lane(b, lane, &err), AB_OK);
    assert_int_equal(ab_tape_alloc(b, slot, &r, &err), AB_OK);
}

static void pass(struct ab_tape_builder *b, uint64_t time_ns, unsigned flags)
{
    assert_int_equal(ab_tape_time(b, time_ns, flags, &err), AB_OK);
}

static void end(struct ab_tape_builder *b, struct ab_tape *tape)
{
    assert_int_equal(ab_tape_end(b, tape, &err), AB_OK);
}

static void assert_step(const struct ab_time_step *s, uint32_t position, uint32_t phase,
                        unsigned flags, uint64_t time_ns)
{
    assert_int_equal(s->position, position);
    assert_int_equal(s->phase, phase);
    assert_int_equal(s->flags, flags);
    assert_int_equal(s->time_ns, time_ns);
}

static void what_passes_in_less_than_the_grain_waits_for_the_next(void **state)
{
    (void)state;
    struct ab_tape tape;
    struct ab_tape_builder *b = begin();
    pass(b, 0, 0);
    alloc(b, 0, 0);
    pass(b, MS / 2, 0);
    alloc(b, 0, 1);
    pass(b, 3 * MS / 2, 0); /* 1: a whole one since the begin */
    alloc(b, 0, 2);
    pass(b, 2 * MS, 0); /* 2: the stretch begins there */
    pass(b, 2 * S, AB_STEP_IDLE);
    pass(b, 3 * S, AB_STEP_IDLE); /* the same stretch */
    alloc(b, 0, 3);
    pass(b, 3 * S + 1, 0); /* 4: the phase ends there */
    assert_int_equal(ab_tape_phase(b, "rest", true, &err), AB_OK);
    pass(b, 4 * S, AB_STEP_IDLE);
    end(b, &tape);
    assert_int_equal(tape.n_steps, 5);
    assert_step(&tape.steps[0], 2, 0, 0, 3 * MS / 2);
    assert_step(&tape.steps[1], 3, 0, 0, 2 * MS);
    assert_step(&tape.steps[2], 3, 0, AB_STEP_IDLE, 3 * S);
    assert_step(&tape.steps[3], 4, 0, 0, 3 * S + 1);
    assert_step(&tape.steps[4], 4, 1, AB_STEP_IDLE, 4 * S);
    assert_int_equal(tape.duration_ns, 4 * S);
    ab_tape_fini(&tape);
}

/* Lane 0 publishes what lane 1 waits for: ALLOC PUBLISH | WAIT FREE | ALLOC ALLOC | ALLOC. */
static void guards_count_where_they_are_met(void **state)
{
    (void)state;
    struct ab_tape tape;
    struct ab_tape_builder *b = begin();
    alloc(b, 0, 0);
    pass(b, 1 * S, 0);
    assert_int_equal(ab_tape_lane(b, 1, &err), AB_OK);
    assert_int_equal(ab_tape_free(b, 0, &err), AB_OK);
    alloc(b, 0, 1);
    pass(b, 2 * S, 0); /* in the middle of a turn */
    alloc(b, 0, 2);
    pass(b, 3 * S, 0);
    assert_int_equal(ab_tape_phase(b, "rest", true, &err), AB_OK);
    pass(b, 4 * S, 0);
    alloc(b, 1, 3);
    pass(b, 5 * S, 0);
    end(b, &tape);
    const uint32_t positions[] = {2, 5, 6, 6, 7};
    assert_int_equal(tape.n_ops, 7);
    assert_int_equal(tape.n_steps, 5);
    for (uint32_t i = 0; i < 5; i++)
        assert_step(&tape.steps[i], positions[i], i >= 3, 0, (i + 1) * S);
    ab_tape_fini(&tape);
}

static void a_file_of_bursts_has_all_of_them(void **state)
{
    (void)state;
    struct ab_tape_file file;
    struct ab_tape_map map;
    struct ab_phase phase = {.name = "load"};
    struct ab_tape total = {.phases = &phase, .n_phases = 1};
    const struct ab_tape *burst;
    struct ab_tape_builder *b = ab_tape_begin();
    assert_int_equal(ab_tape_file_begin(true, &file, &err), AB_OK);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(ab_tape_phase(b, "load", true, &err), AB_OK);
        alloc(b, 0, 2 * i);
        pass(b, (2 * i + 1) * S, AB_STEP_IDLE);
        alloc(b, 0, 2 * i + 1);
        pass(b, (2 * i + 2) * S, 0);
        assert_int_equal(ab_tape_cut(b, &burst, &err), AB_OK);
        assert_int_equal(burst->n_steps, 2);
        assert_int_equal(burst->steps[0].position, 1);
        assert_int_equal(ab_tape_file_add(&file, burst, &err), AB_OK);
        ab_tape_total_add(&total, burst);
    }
    assert_int_equal(ab_tape_file_end(&file, &total, &map, &err), AB_OK);
    assert_int_equal(map.image->n_steps, 6);
    assert_int_equal(map.image->duration_ns, 6 * S);
    for (uint32_t i = 0; i < 6; i++)
        assert_step(&ab_tape_steps(map.image)[i], i + 1, 0, i % 2 == 0 ? AB_STEP_IDLE : 0,
                    (i + 1) * S);
    ab_tape_abandon(b);
    ab_tape_map_close(&map);
}

/* The digest of two allocations with a time between them; 0: none. */
static void digest(uint64_t time_ns, unsigned flags, char out[65])
{
    struct ab_tape tape;
    struct ab_tape_builder *b = begin();
    alloc(b, 0, 0);
    pass(b, time_ns, flags);
    alloc(b, 0, 1);
    end(b, &tape);
    strcpy(out, tape.sha256);
    ab_tape_fini(&tape);
}

static void times_are_work_but_those_of_a_recording_that_never_rests(void **state)
{
    (void)state;
    char without[65], told[65], later[65], recorded[65], rests[65];
    digest(0, 0, without);
    digest(S, 0, told);
    digest(2 * S, 0, later);
    digest(S, AB_STEP_RECORDED, recorded);
    digest(S, AB_STEP_RECORDED | AB_STEP_IDLE, rests);
    assert_string_equal(without,
                        "1e0f89a588d1528f2f41c00f6deda79a1ecc63dd31dd6a9d2d3f83eb941614dd");
    assert_string_equal(recorded, without);
    assert_string_not_equal(told, without);
    assert_string_not_equal(later, told);
    assert_string_not_equal(rests, without);
    assert_string_not_equal(rests, told);
}

static void a_long_work_has_coarser_steps(void **state)
{
    (void)state;
    struct ab_tape tape;
    struct ab_tape_builder *b = begin();
    for (uint32_t i = 0; i < AB_STEPS_FINE + 100; i++) {
        alloc(b, 0, i);
        pass(b, (i + 1) * MS, 0);
    }
    end(b, &tape);
    assert_int_equal(tape.n_steps, AB_STEPS_FINE + 50);
    assert_int_equal(tape.steps[AB_STEPS_FINE].time_ns - tape.steps[AB_STEPS_FINE - 1].time_ns,
                     2 * MS);
    ab_tape_fini(&tape);
}

static void wrong_times_are_refused(void **state)
{
    (void)state;
    struct ab_tape_builder *b = ab_tape_begin();
    assert_int_equal(ab_tape_time(b, S, 0, &err), AB_CONFIG);
    assert_int_equal(ab_tape_phase(b, "load", true, &err), AB_OK);
    pass(b, 2 * S, 0);
    assert_int_equal(ab_tape_time(b, S, 0, &err), AB_INPUT);
    assert_string_equal(err.text, "time runs backwards, from 2.000000 s to 1.000000 s");
    assert_int_equal(ab_tape_time(b, AB_TIME_MAX_NS + 1, AB_STEP_IDLE, &err), AB_INPUT);
    assert_string_equal(err.text, "it lasts more than 366 days");
    ab_tape_abandon(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_passes_in_less_than_the_grain_waits_for_the_next),
        cmocka_unit_test(guards_count_where_they_are_met),
        cmocka_unit_test(a_file_of_bursts_has_all_of_them),
        cmocka_unit_test(times_are_work_but_those_of_a_recording_that_never_rests),
        cmocka_unit_test(a_long_work_has_coarser_steps),
        cmocka_unit_test(wrong_times_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
