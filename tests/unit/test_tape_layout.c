/* SPDX-License-Identifier: MIT
 *
 * Where guards are laid, and where the window makes them needless. That they suffice is proven on
 * threads (test_worker_lanes).
 */
#include "support/cmocka.h"
#include "tape/tape.h"

#include <string.h>

static struct ab_err err;

static struct ab_tape_builder *begin(void)
{
    struct ab_tape_builder *b = ab_tape_begin();
    assert_non_null(b);
    assert_int_equal(ab_tape_phase(b, "p", true, &err), AB_OK);
    return b;
}

static void alloc(struct ab_tape_builder *b, uint32_t lane, uint32_t slot)
{
    const struct ab_request r = {.size = 16};
    assert_int_equal(ab_tape_lane(b, lane, &err), AB_OK);
    assert_int_equal(ab_tape_alloc(b, slot, &r, &err), AB_OK);
}

static void release(struct ab_tape_builder *b, uint32_t lane, uint32_t slot)
{
    assert_int_equal(ab_tape_lane(b, lane, &err), AB_OK);
    assert_int_equal(ab_tape_free(b, slot, &err), AB_OK);
}

static void end(struct ab_tape_builder *b, struct ab_tape *tape)
{
    assert_int_equal(ab_tape_end(b, tape, &err), AB_OK);
}

static uint32_t count(const struct ab_tape *tape, unsigned code, bool is_frame)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < tape->n_ops; i++)
        n += AB_OP_CODE(tape->ops[i]) == code &&
             (AB_OP_SLOT(tape->ops[i]) == AB_SLOT_FRAME) == is_frame;
    return n;
}

static void a_block_that_crosses_is_published_and_awaited(void **state)
{
    (void)state;
    struct ab_tape tape;
    struct ab_tape_builder *b = begin();
    alloc(b, 0, 0);
    release(b, 1, 0);
    alloc(b, 0, 1);
    release(b, 0, 1);
    end(b, &tape);
    const uint64_t wanted[] = {
        AB_OP_MAKE(AB_CODE_ALLOC, 0, 16),
        AB_OP_MAKE(AB_CODE_PUBLISH, 0, 1),
        AB_OP_MAKE(AB_CODE_ALLOC, 1, 16),
        AB_OP_MAKE(AB_CODE_FREE, 1, 0),
        AB_OP_MAKE(AB_CODE_WAIT, AB_SLOT_OF_LANE(0), 1),
        AB_OP_MAKE(AB_CODE_FREE, 0, 0),
    };
    assert_int_equal(tape.n_ops, 6);
    assert_memory_equal(tape.ops, wanted, sizeof wanted);
    assert_int_equal(tape.facts.lanes, 2);
    assert_int_equal(tape.n_edges, 1);
    assert_int_equal(tape.n_remote, 1);
    assert_int_equal(tape.lane_begin[0], 0);
    assert_int_equal(tape.lane_begin[1], 4);
    assert_int_equal(tape.lane_begin[2], 6);
    assert_int_equal(tape.n_turns, 3);
    ab_tape_fini(&tape);
}

static void a_wait_covers_all_that_came_before_it(void **state)
{
    (void)state;
    struct ab_tape tape;
    struct ab_tape_builder *b = begin();
    for (uint32_t i = 0; i < 10; i++)
        alloc(b, 0, i);
    for (uint32_t i = 10; i-- > 0;) /* the youngest first: the others are older still */
        release(b, 1, i);
    end(b, &tape);
    assert_int_equal(tape.n_edges, 1);
    assert_int_equal(tape.n_remote, 10);
    ab_tape_fini(&tape);
}

/* Handed over in a batch: the first wait is for all of it. */
static void one_wait_does_for_a_batch(void **state)
{
    (void)state;
    struct ab_tape tape;
    struct ab_tape_builder *b = begin();
    for (uint32_t batch = 0; batch < 10; batch++) {
        for (uint32_t i = 0; i < 64; i++)
            alloc(b, 0, batch * 64 + i);
        for (uint32_t i = 0; i < 64; i++)
            release(b, 1, batch * 64 + i);
    }
    end(b, &tape);
    assert_int_equal(tape.n_edges, 10);
    assert_int_equal(count(&tape, AB_CODE_WAIT, false), 10);
    assert_int_equal(count(&tape, AB_CODE_PUBLISH, false), 10);
    ab_tape_fini(&tape);
}

static void a_barrier_of_phases_needs_no_guard(void **state)
{
    (void)state;
    struct ab_tape tape;
    struct ab_tape_builder *b = begin();
    for (uint32_t i = 0; i < 10; i++)
        alloc(b, 0, i);
    assert_int_equal(ab_tape_phase(b, "q", true, &err), AB_OK);
    for (uint32_t i = 0; i < 10; i++)
        release(b, 1 + i % 3, i);
    end(b, &tape);
    assert_int_equal(tape.n_edges, 0);
    assert_int_equal(tape.n_remote, 10);
    assert_int_equal(count(&tape, AB_CODE_WAIT, true), 0); /* nor does it need a window */
    ab_tape_fini(&tape);
}

static void what_is_two_frames_apart_needs_no_guard(void **state)
{
    (void)state;
    for (int is_far = 0; is_far < 2; is_far++) {
        struct ab_tape tape;
        struct ab_tape_builder *b = begin();
        ab_tape_set_window(b, 100, true);
        alloc(b, 0, 0);
        for (uint32_t i = 0; i < (is_far ? 100 : 20); i++) {
            alloc(b, 0, 1);
            release(b, 0, 1);
        }
        release(b, 1, 0);
        end(b, &tape);
        assert_int_equal(tape.n_edges, is_far ? 0 : 1); /* a wait covers 64 ops */
        assert_true(!is_far || count(&tape, AB_CODE_WAIT, true) > 0);
        ab_tape_fini(&tape);
    }
}

static void frames_are_entered_by_each_lane_that_has_ops_in_them(void **state)
{
    (void)state;
    struct ab_tape tape;
    struct ab_tape_builder *b = begin();
    ab_tape_set_window(b, 20, true); /* frames of 10 ops */
    for (uint32_t i = 0; i < 50; i++)
        alloc(b, i % 2, i);
    end(b, &tape);
    assert_int_equal(count(&tape, AB_CODE_WAIT, true), 2 * 4); /* frame 0 needs no entering */
    ab_tape_fini(&tape);
}

static void a_release_among_busy_lanes_is_for_heaps_of_their_own(void **state)
{
    (void)state;
    struct ab_tape tape;
    uint32_t depth, slot = 1;
    bool is_one;
    struct ab_tape_builder *b = begin();
    alloc(b, 1, 0);
    assert_int_equal(ab_tape_lane(b, 0, &err), AB_OK);
    assert_int_equal(ab_tape_mark(b, &depth, &err), AB_OK);
    alloc(b, 0, 1);
    assert_int_equal(ab_tape_release(b, depth, &slot, 1, &is_one, &err), AB_OK);
    assert_true(is_one);
    end(b, &tape);
    uint32_t mark = AB_OP_SLOT(tape.ops[0]), how = AB_OP_SLOT(tape.ops[2]);
    const uint32_t all = AB_RESET_OTHERS | AB_RESET_RELEASE | AB_RESET_CROWDED;
    assert_int_equal(how, AB_RESET_MAKE(all, 1));
    assert_int_equal(mark, AB_RESET_MAKE(all | AB_RESET_MARK, 1));
    assert_int_equal(tape.phases[0].n_ops[AB_OP_RESET], 1);
    ab_tape_fini(&tape);
}

/* Of blocks that were freed one by one: only where there were some, and all are dead. */
static void a_release_of_no_blocks_goes_back_where_all_since_then_are_dead(void **state)
{
    (void)state;
    struct ab_tape tape;
    uint32_t depth;
    bool is_one, expected[] = {false, true, false, true};
    struct ab_tape_builder *b = begin();
    alloc(b, 0, 0);
    for (uint32_t round = 0; round < 4; round++) {
        assert_int_equal(ab_tape_mark(b, &depth, &err), AB_OK);
        if (round > 0)
            alloc(b, 0, round);
        if (round % 2 == 1)
            release(b, 0, round);
        if (round == 3)
            release(
                b, 0,
                0); /* nothing lives at all: yet no bulk reset, and for heaps with marks alone */
        assert_int_equal(ab_tape_release(b, depth, NULL, 0, &is_one, &err), AB_OK);
        assert_int_equal(is_one, expected[round]);
        if (round == 2)
            release(b, 0, round);
        ab_tape_forget_mark(b, depth);
    }
    end(b, &tape);
    assert_int_equal(tape.n_ops, 1 + 1 + 4 + 3 + 5);
    for (uint32_t i = 0, round = 0; i < tape.n_ops; i++) {
        uint32_t how = AB_RESET_OTHERS | AB_RESET_RELEASE;
        if (ab_op_is_mark(tape.ops[i]))
            assert_int_equal(
                AB_OP_SLOT(tape.ops[i]),
                AB_RESET_MAKE((expected[round++] ? how : AB_RESET_OTHERS) | AB_RESET_MARK, 1));
        else if (AB_OP_CODE(tape.ops[i]) == AB_CODE_RESET)
            assert_int_equal(AB_OP_SLOT(tape.ops[i]), AB_RESET_MAKE(how, 1));
    }
    assert_int_equal(tape.phases[0].n_ops[AB_OP_RESET], 2);
    ab_tape_fini(&tape);
}

static void a_reset_among_busy_lanes_is_not_in_bulk(void **state)
{
    (void)state;
    const uint32_t slots[] = {0, 1};
    for (int is_busy = 0; is_busy < 2; is_busy++) {
        struct ab_tape tape;
        struct ab_tape_builder *b = begin();
        alloc(b, 0, 0);
        alloc(b, 0, 1);
        assert_int_equal(ab_tape_reset(b, slots, 2, &err), AB_OK);
        alloc(b, is_busy ? 1 : 0, 2);
        end(b, &tape);
        assert_int_equal(AB_OP_CODE(tape.ops[2]), AB_CODE_RESET);
        assert_int_equal(AB_OP_SLOT(tape.ops[2]), is_busy);
        assert_int_equal(AB_OP_SIZE(tape.ops[2]), 2);
        assert_int_equal(tape.phases[0].n_ops[AB_OP_RESET], !is_busy);
        assert_int_equal(tape.stretch_bytes, is_busy ? 48 : 32);
        assert_int_equal(tape.phases[0].n_ops[AB_OP_FREE], 2);
        ab_tape_fini(&tape);
    }
}

static void a_phase_of_one_kind_of_plain_allocation_says_so(void **state)
{
    (void)state;
    const struct ab_request touched = {.size = 16, .touch = AB_TOUCH_PAGE},
                            aligned = {.size = 16, .align = 64};
    struct ab_tape tape;
    struct ab_tape_builder *b = begin();
    alloc(b, 0, 0);
    alloc(b, 1, 1);
    assert_int_equal(ab_tape_phase(b, "touched", true, &err), AB_OK);
    assert_int_equal(ab_tape_alloc(b, 2, &touched, &err), AB_OK);
    assert_int_equal(ab_tape_alloc(b, 3, &touched, &err), AB_OK);
    assert_int_equal(ab_tape_phase(b, "both", true, &err), AB_OK);
    assert_int_equal(ab_tape_alloc(b, 4, &touched, &err), AB_OK);
    alloc(b, 0, 5);
    assert_int_equal(ab_tape_phase(b, "aligned", true, &err), AB_OK);
    assert_int_equal(ab_tape_alloc(b, 6, &aligned, &err), AB_OK);
    assert_int_equal(ab_tape_phase(b, "nothing", true, &err), AB_OK);
    assert_int_equal(ab_tape_phase(b, "free", true, &err), AB_OK);
    release(b, 0, 0);
    end(b, &tape);
    assert_int_equal(tape.phases[0].only_code, AB_CODE_ALLOC);
    assert_int_equal(tape.phases[1].only_code, AB_CODE_ALLOC | AB_CODE_TOUCHED);
    for (uint32_t p = 2; p < tape.n_phases; p++)
        assert_int_equal(tape.phases[p].only_code, 0);
    ab_tape_fini(&tape);
}

static void lanes_and_their_order_are_part_of_the_digest(void **state)
{
    (void)state;
    struct ab_tape tapes[3];
    for (uint32_t t = 0; t < 3; t++) {
        struct ab_tape_builder *b = begin();
        alloc(b, 0, 0);
        alloc(b, t > 0, 1);
        alloc(b, 0, 2);
        if (t < 2)
            alloc(b, t > 0, 3);
        else { /* the same ops in the same lanes, in another order */
            ab_tape_abandon(b);
            b = begin();
            alloc(b, 0, 0);
            alloc(b, 0, 2);
            alloc(b, 1, 1);
            alloc(b, 1, 3);
        }
        end(b, &tapes[t]);
    }
    assert_string_not_equal(tapes[0].sha256, tapes[1].sha256);
    assert_string_not_equal(tapes[1].sha256, tapes[2].sha256);
    for (uint32_t t = 0; t < 3; t++)
        ab_tape_fini(&tapes[t]);
}

static void too_many_lanes_are_refused(void **state)
{
    (void)state;
    struct ab_tape_builder *b = begin();
    assert_int_equal(ab_tape_lane(b, AB_LANES_MAX - 1, &err), AB_OK);
    assert_int_equal(ab_tape_lane(b, AB_LANES_MAX, &err), AB_INPUT);
    ab_tape_abandon(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_that_crosses_is_published_and_awaited),
        cmocka_unit_test(a_wait_covers_all_that_came_before_it),
        cmocka_unit_test(one_wait_does_for_a_batch),
        cmocka_unit_test(a_barrier_of_phases_needs_no_guard),
        cmocka_unit_test(what_is_two_frames_apart_needs_no_guard),
        cmocka_unit_test(frames_are_entered_by_each_lane_that_has_ops_in_them),
        cmocka_unit_test(a_release_among_busy_lanes_is_for_heaps_of_their_own),
        cmocka_unit_test(a_release_of_no_blocks_goes_back_where_all_since_then_are_dead),
        cmocka_unit_test(a_reset_among_busy_lanes_is_not_in_bulk),
        cmocka_unit_test(a_phase_of_one_kind_of_plain_allocation_says_so),
        cmocka_unit_test(lanes_and_their_order_are_part_of_the_digest),
        cmocka_unit_test(too_many_lanes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
