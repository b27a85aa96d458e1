/* SPDX-License-Identifier: MIT
 *
 * What becomes of each kind of recorded call on a tape, above all of those that failed.
 */
#include "base/bits.h"
#include "support/cmocka.h"
#include "support/trace.h"
#include "trace_tools/to_tape.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ab_err err;
static uint64_t most_events; /* 0 = all */
static const struct ab_scopes *scopes;
static const struct ab_scope_spans *spans;
static const struct ab_mark_table *requests;
static bool has_time;
static uint32_t n_lanes, n_ends; /* 0 = as many as it takes; of threads, among the records */
static enum ab_touch_recorded recorded;
static uint32_t share; /* in millionths, of AB_TOUCH_SHARE */

static enum ab_status try_tape(const struct ab_event *records, size_t n, unsigned touch,
                               struct ab_tape *tape)
{
    char path[] = "/tmp/test-trace-to-tape-XXXXXX";
    struct ab_trace_writer *w;
    struct ab_trace_info info;
    struct ab_trace_tape_options options = {.touch = touch,
                                            .touch_bytes = share != 0 ? share : 8,
                                            .n_lanes = n_lanes,
                                            .recorded = recorded,
                                            .most_events = most_events,
                                            .scopes = scopes,
                                            .spans = spans};
    uint64_t number;
    FILE *f = fdopen(mkstemp(path), "w");
    assert_non_null(f);
    const struct ab_trace_writer_options writing = {
        .program = "x", .has_time = has_time, .requests = requests};
    assert_int_equal(ab_trace_writer_open_with(f, &writing, &w, &err), AB_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(ab_trace_write(w, &records[i], &number, &err), AB_OK);
    assert_int_equal(ab_trace_writer_close(w, NULL, &err), AB_OK);
    fclose(f);
    enum ab_status status = ab_trace_to_tape(path, &options, tape, &info, &err);
    unlink(path);
    if (status == AB_OK)
        assert_int_equal(info.events, most_events != 0 ? most_events : n - n_ends);
    return status;
}

static void to_tape(const struct ab_event *records, size_t n, unsigned touch, struct ab_tape *tape)
{
    if (try_tape(records, n, touch, tape) != AB_OK)
        fail_msg("%s", err.text);
}

/* What no process can hold is the trace's fault, and not that of the back end that is asked first. */
static void a_block_that_cannot_be_is_refused_with_its_event(void **state)
{
    (void)state;
    const uint64_t most = UINT64_C(1) << 47;
    static struct ab_event records[] = {
        {.kind = AB_EVENT_ALLOC, .size = 10},
        {.kind = AB_EVENT_ALLOC_ALIGNED, .size = 64},
    };
    struct ab_tape tape;
    records[1].align = UINT64_C(1) << 63;
    assert_int_equal(try_tape(records, 2, AB_TOUCH_PAGE, &tape), AB_INPUT);
    assert_non_null(
        strstr(err.text, ": event 1: a block of 64 bytes aligned to 9223372036854775808"));
    assert_int_equal(strncmp(err.text, "/tmp/test-trace-to-tape-", 24), 0);
    records[1] = (struct ab_event){.kind = AB_EVENT_ALLOC, .size = most + 1};
    assert_int_equal(try_tape(records, 2, AB_TOUCH_PAGE, &tape), AB_INPUT);
    records[1].size = most;
    assert_int_equal(try_tape(records, 2, AB_TOUCH_PAGE, &tape), AB_OK);
    ab_tape_fini(&tape);
}

static void calls_become_ops_one_by_one(void **state)
{
    (void)state;
    static const struct ab_event records[] = {
        {.kind = AB_EVENT_ALLOC, .size = 10},
        {.kind = AB_EVENT_ALLOC_ZEROED, .size = 20},
        {.kind = AB_EVENT_ALLOC_ALIGNED, .size = 30, .align = 64},
        {.kind = AB_EVENT_FREE, .block = 1},
        {.kind = AB_EVENT_RESIZE, .block = 0, .size = 5000},
        {.kind = AB_EVENT_ALLOC, .size = 40},
    };
    static const uint64_t expected[] = {
        AB_OP_MAKE(AB_CODE_ALLOC, 0, 10),
        AB_OP_MAKE(AB_CODE_ALLOC_ZEROED, 1, 20),
        AB_OP_MAKE(AB_CODE_ALLOC_ALIGNED, 2, AB_ALIGNED_MAKE(30, 6)),
        AB_OP_MAKE(AB_CODE_FREE, 1, 0),
        AB_OP_MAKE(AB_CODE_RESIZE, 0, 5000),
        AB_OP_MAKE(AB_CODE_ALLOC, 1, 40), /* the slot freed last */
    };
    struct ab_tape tape;
    to_tape(records, AB_ARRAY_LEN(records), AB_TOUCH_NONE, &tape);
    assert_int_equal(tape.n_ops, AB_ARRAY_LEN(expected));
    assert_memory_equal(tape.ops, expected, sizeof expected);
    assert_int_equal(tape.n_slots, 3);
    assert_int_equal(tape.n_phases, 1);
    assert_string_equal(tape.phases[0].name, "replay");
    assert_true(tape.phases[0].is_measured);
    ab_tape_fini(&tape);
}

static void what_failed_may_fail_again(void **state)
{
    (void)state;
    static const struct ab_event records[] = {
        {.kind = AB_EVENT_ALLOC, .size = 10},
        {.kind = AB_EVENT_ALLOC, .size = UINT64_MAX, .failed = true},
        {.kind = AB_EVENT_ALLOC_ALIGNED, .size = 100, .align = 4, .failed = true},
        {.kind = AB_EVENT_RESIZE, .block = 0, .size = UINT64_MAX - 7, .failed = true},
        {.kind = AB_EVENT_FREE, .block = 0},
    };
    struct ab_tape tape;
    to_tape(records, AB_ARRAY_LEN(records), AB_TOUCH_PAGE, &tape);
    assert_int_equal(tape.n_wide, 3);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(tape.wide[i].flags, AB_WIDE_MAY_FAIL);
    assert_int_equal(tape.wide[0].size, UINT64_MAX);
    assert_int_equal(tape.wide[1].align, 4);
    assert_int_equal(tape.wide[2].code & ~AB_CODE_TOUCHED, AB_CODE_RESIZE);
    assert_int_equal(tape.facts.live_peak_bytes, 10);
    assert_int_equal(tape.live_end_blocks, 0);
    ab_tape_fini(&tape);
}

static void a_resize_that_released_is_a_free(void **state)
{
    (void)state;
    static const struct ab_event records[] = {
        {.kind = AB_EVENT_ALLOC, .size = 10},
        {.kind = AB_EVENT_RESIZE, .block = 0, .released = true},
        {.kind = AB_EVENT_ALLOC, .size = 10},
        {.kind = AB_EVENT_RESIZE, .block = 1, .size = 0}, /* gave a block of no bytes */
    };
    struct ab_tape tape;
    to_tape(records, AB_ARRAY_LEN(records), AB_TOUCH_NONE, &tape);
    assert_int_equal(tape.n_ops, 4);
    assert_int_equal(tape.ops[1], AB_OP_MAKE(AB_CODE_FREE, 0, 0));
    assert_int_equal(tape.ops[3], AB_OP_MAKE(AB_CODE_RESIZE, 0, 1));
    assert_int_equal(tape.live_end_blocks, 1);
    ab_tape_fini(&tape);
}

static void touches_are_what_was_asked_for(void **state)
{
    (void)state;
    static const struct ab_event records[] = {{.kind = AB_EVENT_ALLOC, .size = 10000}};
    static const enum ab_touch modes[] = {AB_TOUCH_NONE, AB_TOUCH_FIRST, AB_TOUCH_PAGE,
                                          AB_TOUCH_ALL};
    char seen[AB_ARRAY_LEN(modes)][65];
    for (size_t i = 0; i < AB_ARRAY_LEN(modes); i++) {
        struct ab_tape tape;
        to_tape(records, 1, modes[i], &tape);
        assert_int_equal(tape.phases[0].n_touches, modes[i] == AB_TOUCH_NONE ? 0 : 1);
        memcpy(seen[i], tape.sha256, sizeof seen[i]);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(seen[k], seen[i]); /* other work, other digest */
        ab_tape_fini(&tape);
    }
}

/* As many calls as are wanted, though the trace goes on; what lives then is not freed. */
static void a_part_of_a_trace_is_its_beginning(void **state)
{
    (void)state;
    static const struct ab_event records[] = {
        {.kind = AB_EVENT_ALLOC, .size = 10},
        {.kind = AB_EVENT_ALLOC, .size = 20},
        {.kind = AB_EVENT_FREE, .block = 0},
        {.kind = AB_EVENT_FREE, .block = 1},
    };
    struct ab_tape tape;
    most_events = 3;
    to_tape(records, 4, AB_TOUCH_NONE, &tape);
    assert_int_equal(tape.n_ops, 3);
    assert_int_equal(tape.live_end_blocks, 1);
    assert_int_equal(tape.live_end_bytes, 20);
    ab_tape_fini(&tape);
    most_events = 4;
    to_tape(records, 4, AB_TOUCH_NONE, &tape);
    assert_int_equal(tape.n_ops, 4);
    ab_tape_fini(&tape);
    most_events = 0;
}

#define SCOPE(flags) AB_OP_MAKE(AB_CODE_RESET, AB_RESET_MAKE(AB_RESET_OTHERS | (flags), 1), 0)
#define NESTED(flags) AB_OP_MAKE(AB_CODE_RESET, AB_RESET_MAKE(AB_RESET_OTHERS | (flags), 2), 0)

/* The last scope is said to be one, but a block lives on: no heap goes back. */
static void scopes_are_save_points(void **state)
{
    (void)state;
    static const struct ab_event records[] = {
        {.kind = AB_EVENT_ALLOC, .size = 10},
        {.kind = AB_EVENT_ALLOC, .size = 20}, /* a scope, and */
        {.kind = AB_EVENT_ALLOC, .size = 30}, /* one in it */
        {.kind = AB_EVENT_FREE, .block = 2},
        {.kind = AB_EVENT_FREE, .block = 1},
        {.kind = AB_EVENT_ALLOC, .size = 40},
        {.kind = AB_EVENT_ALLOC, .size = 50},
        {.kind = AB_EVENT_FREE, .block = 3},
    };
    static const uint64_t expected[] = {
        AB_OP_MAKE(AB_CODE_ALLOC, 0, 10), SCOPE(AB_RESET_MARK | AB_RESET_RELEASE),
        AB_OP_MAKE(AB_CODE_ALLOC, 1, 20), NESTED(AB_RESET_MARK | AB_RESET_RELEASE),
        AB_OP_MAKE(AB_CODE_ALLOC, 2, 30), AB_OP_MAKE(AB_CODE_FREE, 2, 0),
        NESTED(AB_RESET_RELEASE),         AB_OP_MAKE(AB_CODE_FREE, 1, 0),
        SCOPE(AB_RESET_RELEASE),          SCOPE(AB_RESET_MARK),
        AB_OP_MAKE(AB_CODE_ALLOC, 1, 40), AB_OP_MAKE(AB_CODE_ALLOC, 2, 50),
        AB_OP_MAKE(AB_CODE_FREE, 1, 0),
    };
    struct ab_scope_span items[] = {{1, 5}, {2, 4}, {5, 8}};
    const struct ab_scope_spans known = {.items = items, .n = AB_ARRAY_LEN(items)};
    uint64_t ends[] = {5, 8};
    const struct ab_scopes iterations = {.ends = ends, .n = 2};
    struct ab_tape tape;
    spans = &known;
    scopes = &iterations;
    to_tape(records, AB_ARRAY_LEN(records), AB_TOUCH_NONE, &tape);
    spans = NULL;
    scopes = NULL;
    assert_int_equal(tape.n_ops, AB_ARRAY_LEN(expected));
    assert_memory_equal(tape.ops, expected, sizeof expected);
    assert_int_equal(tape.phases[0].n_ops[AB_OP_RESET], 2);
    assert_int_equal(tape.iterations.n,
                     2); /* the way back is part of it, the next save point not */
    assert_int_equal(tape.iterations.at[0], 9);
    assert_int_equal(tape.iterations.at[1], 13);
    ab_tape_fini(&tape);
}

/* Before the thread has begun there is no lane to take one; then it is for a heap of its own. */
static void scopes_of_a_thread_have_save_points_in_its_lane(void **state)
{
    (void)state;
    static const struct ab_event records[] = {
        {.kind = AB_EVENT_ALLOC, .size = 10},
        {.kind = AB_EVENT_ALLOC, .size = 20, .thread = 1},
        {.kind = AB_EVENT_FREE, .block = 1, .thread = 1},
        {.kind = AB_EVENT_ALLOC, .size = 30, .thread = 1},
        {.kind = AB_EVENT_ALLOC, .size = 40},
        {.kind = AB_EVENT_FREE, .block = 2, .thread = 1},
    };
    struct ab_scope_span items[] = {{0, 3}, {3, 6}};
    const struct ab_scope_spans known = {.items = items, .n = 2};
    const struct ab_scopes of_one = {.is_of_thread = true, .thread = 1};
    struct ab_tape tape;
    spans = &known;
    scopes = &of_one;
    to_tape(records, AB_ARRAY_LEN(records), AB_TOUCH_NONE, &tape);
    spans = NULL;
    scopes = NULL;
    assert_int_equal(tape.facts.lanes, 2);
    const uint64_t *op = &tape.ops[tape.lane_begin[1]];
    const uint32_t all = AB_RESET_RELEASE | AB_RESET_CROWDED;
    const uint64_t expected[] = {SCOPE(all | AB_RESET_MARK),
                                 AB_OP_MAKE(AB_CODE_ALLOC, AB_OP_SLOT(op[3]), 30),
                                 AB_OP_MAKE(AB_CODE_FREE, AB_OP_SLOT(op[3]), 0), SCOPE(all)};
    assert_int_equal(tape.lane_begin[2] - tape.lane_begin[1], 2 + AB_ARRAY_LEN(expected));
    assert_memory_equal(&op[2], expected, sizeof expected);
    ab_tape_fini(&tape);
}

/* Digests of traces from before are those of traces that never rest. */
static void times_become_steps_and_long_gaps_idle_stretches(void **state)
{
    (void)state;
    struct ab_event records[] = {
        {.kind = AB_EVENT_ALLOC, .size = 10},
        {.kind = AB_EVENT_ALLOC, .size = 10, .time_us = 400},
        {.kind = AB_EVENT_ALLOC, .size = 10, .time_us = 1500},
        {.kind = AB_EVENT_ALLOC, .size = 10, .time_us = 1001499},
    };
    struct ab_tape without, busy, rests;
    to_tape(records, 4, AB_TOUCH_NONE, &without);
    has_time = true;
    to_tape(records, 4, AB_TOUCH_NONE, &busy);
    records[3].time_us++;
    to_tape(records, 4, AB_TOUCH_NONE, &rests);
    records[3].time_us = AB_TIME_MAX_NS / 1000 + 1;
    assert_int_equal(try_tape(records, 4, AB_TOUCH_NONE, &(struct ab_tape){0}), AB_INPUT);
    assert_non_null(strstr(err.text, ": it lasts more than 366 days"));
    has_time = false;
    assert_int_equal(without.n_steps, 0);
    assert_int_equal(busy.n_steps, 2);
    assert_int_equal(busy.steps[0].position, 2);
    assert_int_equal(busy.steps[0].time_ns, 1500000);
    assert_int_equal(busy.steps[1].position, 3);
    assert_int_equal(busy.duration_ns, 1001499000);
    assert_int_equal(busy.n_idle, 0);
    assert_string_equal(busy.sha256, without.sha256);
    assert_int_equal(rests.n_idle, 1);
    assert_int_equal(rests.idle_ns, 1000000000);
    assert_int_equal(rests.steps[1].flags, AB_STEP_IDLE | AB_STEP_RECORDED);
    assert_string_not_equal(rests.sha256, without.sha256);
    ab_tape_fini(&without);
    ab_tape_fini(&busy);
    ab_tape_fini(&rests);
}

static void ends_of_threads_are_those_of_lanes(void **state)
{
    (void)state;
    static const struct ab_event records[] = {
        {.kind = AB_EVENT_ALLOC, .size = 10},
        {.kind = AB_EVENT_ALLOC, .size = 20, .thread = 1},
        {.kind = AB_EVENT_ALLOC, .size = 30},
        {.kind = AB_EVENT_THREAD_END, .thread = 1},
        {.kind = AB_EVENT_FREE, .block = 1},
        {.kind = AB_EVENT_ALLOC, .size = 40, .thread = 2}, /* on the lane of thread 1 */
        {.kind = AB_EVENT_THREAD_END, .thread = 2},
        {.kind = AB_EVENT_FREE, .block = 3},
    };
    struct ab_tape tape;
    n_ends = 2;
    to_tape(records, AB_ARRAY_LEN(records), AB_TOUCH_NONE, &tape);
    assert_int_equal(tape.facts.lanes, 2);
    assert_int_equal(tape.thread_ends.n, 2);
    assert_int_equal(tape.thread_ends.begin[1], 0);
    assert_int_equal(tape.phases[0].n_thread_ends, 2);
    ab_tape_fini(&tape);
    n_lanes = 1; /* thread 0 lives on, so the lane keeps its thread */
    to_tape(records, AB_ARRAY_LEN(records), AB_TOUCH_NONE, &tape);
    assert_int_equal(tape.thread_ends.n, 0);
    ab_tape_fini(&tape);
    n_lanes = n_ends = 0;
}

/* The operand of the touch behind op i; 0 = there is none. */
static uint32_t touch_behind(const struct ab_tape *tape, uint32_t i)
{
    return i + 1 < tape->n_ops && AB_OP_CODE(tape->ops[i + 1]) == AB_CODE_TOUCH
               ? AB_OP_SIZE(tape->ops[i + 1])
               : 0;
}

/* Of 10 bytes the page, of 1,000,000 the first 13 pages, of none that kept a block its byte. */
static void a_share_of_each_block_is_touched(void **state)
{
    (void)state;
    static const struct ab_event records[] = {
        {.kind = AB_EVENT_ALLOC, .size = 10},
        {.kind = AB_EVENT_ALLOC, .size = 1000000},
        {.kind = AB_EVENT_RESIZE, .size = 0, .block = 0},
    };
    struct ab_tape tape;
    share = 50000;
    to_tape(records, 3, AB_TOUCH_SHARE, &tape);
    share = 0;
    assert_int_equal(tape.n_ops, 4);
    assert_int_equal(AB_OP_CODE(tape.ops[0]), AB_CODE_ALLOC | AB_CODE_TOUCHED);
    assert_int_equal(touch_behind(&tape, 1), AB_LEADING_MAKE(13));
    assert_int_equal(AB_OP_CODE(tape.ops[3]), AB_CODE_RESIZE | AB_CODE_TOUCHED);
    ab_tape_fini(&tape);
}

/* Of 245 pages 240 are known and 6 written: 11 are touched. Where all are, the op is as ever. */
static void of_large_blocks_what_was_written_is_touched(void **state)
{
    (void)state;
    static const struct ab_event records[] = {
        {.kind = AB_EVENT_ALLOC_ZEROED, .size = 1000000, .known_pages = 240, .written_pages = 6},
        {.kind = AB_EVENT_ALLOC, .size = 1000000, .known_pages = 240, .written_pages = 240},
        {.kind = AB_EVENT_RESIZE,
         .size = 1200000,
         .block = 0,
         .known_pages = 290,
         .written_pages = 1},
        {.kind = AB_EVENT_ALLOC_ZEROED, .size = 100000},
    };
    struct ab_tape tape, plain;
    recorded = AB_RECORDED_MUST;
    to_tape(records, 4, AB_TOUCH_PAGE, &tape);
    assert_int_equal(tape.n_ops, 8);
    assert_int_equal(touch_behind(&tape, 0), AB_LEADING_MAKE(11));
    assert_int_equal(touch_behind(&tape, 2), AB_TOUCH_MAKE(AB_TOUCH_PAGE, 8));
    assert_int_equal(AB_OP_CODE(tape.ops[4]), AB_CODE_RESIZE); /* of 293 pages 4 */
    assert_int_equal(touch_behind(&tape, 4), AB_LEADING_MAKE(4));
    assert_int_equal(touch_behind(&tape, 6), AB_TOUCH_MAKE(AB_TOUCH_PAGE, 8));
    assert_int_equal(tape.phases[0].touched_pages, 11 + 245 + 4 + 25);
    ab_tape_fini(&tape);
    to_tape(records, 1, AB_TOUCH_APART, &tape);
    assert_int_equal(touch_behind(&tape, 0), AB_LEADING_MAKE(11 | AB_LEADING_APART));
    ab_tape_fini(&tape);
    recorded = AB_RECORDED_AUTO; /* where that is what page does, the tape is the same */
    to_tape(records + 1, 1, AB_TOUCH_PAGE, &tape);
    recorded = AB_RECORDED_NOT;
    to_tape(records + 1, 1, AB_TOUCH_PAGE, &plain);
    assert_string_equal(tape.sha256, plain.sha256);
    ab_tape_fini(&tape);
    ab_tape_fini(&plain);
}

static void without_a_word_on_it_large_zeroed_blocks_are_left_alone(void **state)
{
    (void)state;
    static const struct ab_event records[] = {
        {.kind = AB_EVENT_ALLOC_ZEROED, .size = AB_TRACE_LARGE},
        {.kind = AB_EVENT_ALLOC_ZEROED, .size = AB_TRACE_LARGE - 1},
        {.kind = AB_EVENT_ALLOC, .size = AB_TRACE_LARGE},
        {.kind = AB_EVENT_RESIZE, .size = 2 * AB_TRACE_LARGE, .block = 0},
    };
    struct ab_tape tape;
    recorded = AB_RECORDED_AUTO;
    to_tape(records, 4, AB_TOUCH_PAGE, &tape);
    assert_int_equal(tape.n_ops, 6);
    assert_int_equal(touch_behind(&tape, 0), 0);
    assert_int_equal(touch_behind(&tape, 1), AB_TOUCH_MAKE(AB_TOUCH_PAGE, 8));
    assert_int_equal(touch_behind(&tape, 3), AB_TOUCH_MAKE(AB_TOUCH_PAGE, 8));
    assert_int_equal(AB_OP_CODE(tape.ops[5]), AB_CODE_RESIZE | AB_CODE_TOUCHED);
    ab_tape_fini(&tape);
    recorded = AB_RECORDED_MUST;
    assert_int_equal(try_tape(records, 4, AB_TOUCH_PAGE, &tape), AB_USAGE);
    assert_non_null(strstr(err.text, "the trace does not say what is written"));
    recorded = AB_RECORDED_NOT;
}

/* Its thread ends before any other call comes. */
static void a_scope_that_ends_with_its_thread_is_an_iteration(void **state)
{
    (void)state;
    static const struct ab_event records[] = {
        {.kind = AB_EVENT_ALLOC, .size = 10},
        {.kind = AB_EVENT_ALLOC, .size = 20, .thread = 1},
        {.kind = AB_EVENT_THREAD_END, .thread = 1},
        {.kind = AB_EVENT_FREE, .block = 0},
    };
    uint64_t ends[] = {2};
    struct ab_scopes found = {
        .ends = ends, .n = 1, .from = AB_SCOPES_FOUND, .is_of_thread = true, .thread = 1};
    struct ab_tape tape;
    scopes = &found;
    n_ends = 1;
    to_tape(records, AB_ARRAY_LEN(records), AB_TOUCH_NONE, &tape);
    assert_int_equal(tape.iterations.n, 1);
    assert_int_equal(tape.thread_ends.n, 1);
    ab_tape_fini(&tape);
    scopes = NULL;
    n_ends = 0;
}

/* By the lane of the thread that asked, in front of the call that came next, or behind the last one. What
 * only some libraries have is no op, and what came after the calls that are wanted is not asked. */
static void malloc_trim_is_an_op_where_the_program_called_it(void **state)
{
    (void)state;
    static const struct ab_event records[] = {
        {.kind = AB_EVENT_ALLOC, .size = 10},
        {.kind = AB_EVENT_ALLOC, .size = 20, .thread = 1},
        {.kind = AB_EVENT_FREE, .block = 1, .thread = 1},
        {.kind = AB_EVENT_FREE, .block = 0},
    };
    struct ab_mark_table asked = {.is_of_requests = true};
    uint32_t trim = ab_mark_know_name(&asked, AB_REQUEST_TRIM);
    uint32_t option = ab_mark_know_name(&asked, "mallopt");
    struct ab_tape tape;
    const struct ab_trace_mark marks[] = {
        {.call = 0, .name = trim, .thread = AB_MARK_NO_THREAD},
        {.call = 2, .name = option, .thread = 0},
        {.call = 3, .name = trim, .thread = 1, .argument = 8192},
        {.call = 4, .name = trim, .thread = 0},
    };
    for (size_t i = 0; i < AB_ARRAY_LEN(marks); i++)
        ab_mark_add(&asked, marks[i]);
    requests = &asked;
    to_tape(records, AB_ARRAY_LEN(records), AB_TOUCH_NONE, &tape);
    assert_int_equal(tape.n_trims, 3);
    assert_int_equal(tape.n_ops, 7);
    const uint32_t second = tape.lane_begin[1];
    assert_int_equal(second, 4);
    assert_true(ab_op_is_trim(tape.ops[0]) && ab_op_is_trim(tape.ops[3]));
    assert_int_equal(tape.ops[second + 2], AB_OP_MAKE(AB_CODE_TOUCH, 0, AB_TRIM_MAKE(2)));
    ab_tape_fini(&tape);
    most_events = 2;
    to_tape(records, AB_ARRAY_LEN(records), AB_TOUCH_NONE, &tape);
    assert_int_equal(tape.n_trims, 1);
    ab_tape_fini(&tape);
    most_events = 0;
    requests = NULL;
    ab_mark_table_fini(&asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_become_steps_and_long_gaps_idle_stretches),
        cmocka_unit_test(a_block_that_cannot_be_is_refused_with_its_event),
        cmocka_unit_test(a_share_of_each_block_is_touched),
        cmocka_unit_test(of_large_blocks_what_was_written_is_touched),
        cmocka_unit_test(without_a_word_on_it_large_zeroed_blocks_are_left_alone),
        cmocka_unit_test(calls_become_ops_one_by_one),
        cmocka_unit_test(what_failed_may_fail_again),
        cmocka_unit_test(a_resize_that_released_is_a_free),
        cmocka_unit_test(touches_are_what_was_asked_for),
        cmocka_unit_test(a_part_of_a_trace_is_its_beginning),
        cmocka_unit_test(scopes_are_save_points),
        cmocka_unit_test(scopes_of_a_thread_have_save_points_in_its_lane),
        cmocka_unit_test(ends_of_threads_are_those_of_lanes),
        cmocka_unit_test(a_scope_that_ends_with_its_thread_is_an_iteration),
        cmocka_unit_test(malloc_trim_is_an_op_where_the_program_called_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
