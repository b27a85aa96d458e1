/* SPDX-License-Identifier: MIT
 *
 * Where iterations end in the tape, of one lane and of several, and that they are no work.
 */
#include "support/cmocka.h"
#include "tape/tape.h"

#include <string.h>

static struct ab_err err;

static struct ab_tape_builder *begin(void)
{
    struct ab_tape_builder *b = ab_tape_begin();
    assert_non_null(b);
    return b;
}

static void phase(struct ab_tape_builder *b, const char *name, bool is_each)
{
    assert_int_equal(ab_tape_phase(b, name, true, &err), AB_OK);
    if (is_each)
        ab_tape_each(b, "frame", 16670000);
}

static void iterate(struct ab_tape_builder *b)
{
    assert_int_equal(ab_tape_iteration(b, &err), AB_OK);
}

/* Allocates the slots in the lane, or frees them. */
static void ops(struct ab_tape_builder *b, uint32_t lane, uint32_t slot, uint32_t n, bool is_alloc)
{
    const struct ab_request r = {.size = 16};
    assert_int_equal(ab_tape_lane(b, lane, &err), AB_OK);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(is_alloc ? ab_tape_alloc(b, slot + i, &r, &err)
                                  : ab_tape_free(b, slot + i, &err),
                         AB_OK);
}

static void end(struct ab_tape_builder *b, struct ab_tape *tape)
{
    assert_int_equal(ab_tape_end(b, tape, &err), AB_OK);
}

static void one_lane_has_them_where_they_were_pushed(void **state)
{
    (void)state;
    struct ab_tape tape;
    struct ab_tape_builder *b = begin();
    phase(b, "load", false);
    ops(b, 0, 0, 3, true);
    phase(b, "frames", true);
    iterate(b); /* of no op */
    ops(b, 0, 3, 2, true);
    iterate(b);
    ops(b, 0, 0, 5, false);
    iterate(b);
    ops(b, 0, 0, 1, true); /* in none */
    phase(b, "unload", false);
    ops(b, 0, 0, 1, false);
    end(b, &tape);
    const uint32_t ends[] = {3, 5, 10}, begins[] = {0, 0, 3, 3};
    assert_int_equal(tape.iterations.n, 3);
    assert_memory_equal(tape.iterations.at, ends, sizeof ends);
    assert_memory_equal(tape.iterations.begin, begins, sizeof begins);
    assert_string_equal(tape.phases[1].iteration, "frame");
    assert_int_equal(tape.phases[1].budget_ns, 16670000);
    assert_string_equal(tape.phases[0].iteration, "");
    ab_tape_fini(&tape);
}

/* What guards an op is in the iteration of that op. */
static void lanes_have_their_own_behind_what_guards_them(void **state)
{
    (void)state;
    struct ab_tape tape;
    struct ab_tape_builder *b = begin();
    phase(b, "frames", true);
    ops(b, 0, 0, 2, true);
    iterate(b);
    ops(b, 1, 8, 1, true);
    iterate(b);
    ops(b, 1, 0, 1, false); /* lane 0 had it: lane 0 publishes, lane 1 waits */
    iterate(b);
    ops(b, 0, 1, 1, false);
    iterate(b);
    end(b, &tape);
    const uint32_t begins[] = {0, 2, 4};
    assert_int_equal(tape.iterations.n, 4);
    assert_memory_equal(tape.iterations.begin, begins, sizeof begins);
    uint32_t second = tape.lane_begin[1];
    assert_int_equal(tape.iterations.at[1], second); /* the last of lane 0 */
    assert_int_equal(tape.iterations.at[3], tape.n_ops);
    assert_int_equal(AB_OP_CODE(tape.ops[tape.iterations.at[2]]), AB_CODE_WAIT);
    uint32_t n_allocs = 0;
    for (uint32_t i = 0; i < tape.iterations.at[0]; i++)
        n_allocs += AB_OP_CODE(tape.ops[i]) == AB_CODE_ALLOC;
    assert_int_equal(n_allocs, 2);
    ab_tape_fini(&tape);
}

static void they_are_no_work(void **state)
{
    (void)state;
    char digest[2][65];
    for (int is_each = 0; is_each < 2; is_each++) {
        struct ab_tape tape;
        struct ab_tape_builder *b = begin();
        phase(b, "frames", is_each);
        ops(b, 0, 0, 2, true);
        if (is_each)
            iterate(b);
        ops(b, 0, 0, 2, false);
        end(b, &tape);
        assert_int_equal(tape.iterations.n, is_each);
        assert_true(is_each || tape.iterations.begin == NULL);
        memcpy(digest[is_each], tape.sha256, sizeof digest[0]);
        ab_tape_fini(&tape);
    }
    assert_string_equal(digest[0], digest[1]);
}

static void each_burst_has_its_own(void **state)
{
    (void)state;
    struct ab_tape_builder *b = begin();
    const struct ab_tape *burst;
    phase(b, "replay", true);
    ops(b, 0, 0, 2, true);
    iterate(b);
    ops(b, 0, 2, 1, true);
    assert_int_equal(ab_tape_cut(b, &burst, &err), AB_OK);
    assert_int_equal(burst->iterations.n, 1);
    assert_int_equal(burst->iterations.at[0], 2);
    phase(b, "replay", true);
    ops(b, 0, 0, 3, false);
    iterate(b);
    assert_int_equal(ab_tape_cut(b, &burst, &err), AB_OK);
    assert_int_equal(burst->iterations.n, 1);
    assert_int_equal(burst->iterations.at[0], 3);
    assert_int_equal(burst->iterations.begin[0], 0);
    assert_int_equal(burst->iterations.begin[1], 1);
    ab_tape_abandon(b);
}

/* All lanes that did something, and the current one stays. */
static void one_of_all_lanes_is_none_of_idle_ones(void **state)
{
    (void)state;
    struct ab_tape tape;
    struct ab_tape_builder *b = begin();
    phase(b, "load", false);
    ops(b, 2, 8, 1, true);
    phase(b, "replay", true);
    ops(b, 0, 0, 2, true);
    ops(b, 1, 2, 1, true);
    assert_int_equal(ab_tape_iteration_of_all(b, &err), AB_OK);
    assert_int_equal(ab_tape_free(b, 2, &err), AB_OK); /* of lane 1 */
    assert_int_equal(ab_tape_iteration_of_all(b, &err), AB_OK);
    assert_int_equal(ab_tape_iteration_of_all(b, &err), AB_OK);
    end(b, &tape);
    const uint32_t begins[] = {0, 0, 0, 0, 1, 3, 3};
    assert_int_equal(tape.iterations.n, 3);
    assert_memory_equal(tape.iterations.begin, begins, sizeof begins);
    ab_tape_fini(&tape);
}

static void none_before_the_first_phase(void **state)
{
    (void)state;
    struct ab_tape_builder *b = begin();
    assert_int_equal(ab_tape_iteration(b, &err), AB_CONFIG);
    ab_tape_abandon(b);
}

static void end_thread(struct ab_tape_builder *b, uint32_t lane)
{
    assert_int_equal(ab_tape_lane(b, lane, &err), AB_OK);
    assert_int_equal(ab_tape_thread_end(b, &err), AB_OK);
}

/* Also after the last op, and once where nothing happens between two of them. */
static void threads_end_in_a_turn_of_their_own(void **state)
{
    (void)state;
    struct ab_tape tape;
    struct ab_tape_builder *b = begin();
    phase(b, "replay", true);
    ops(b, 1, 0, 2, true);
    ops(b, 0, 8, 1, true);
    end_thread(b, 1);
    end_thread(b, 1);
    ops(b, 1, 4, 3, true);
    ops(b, 0, 9, 1, true);
    end_thread(b, 1);
    end(b, &tape);
    const uint32_t begins[] = {0, 0, 2};
    const struct ab_turn turns[] = {{1, 2}, {0, 1}, {1, 3}, {0, 1}, {1, 0}};
    assert_int_equal(tape.thread_ends.n, 2);
    assert_int_equal(tape.phases[0].n_thread_ends, 2);
    assert_memory_equal(tape.thread_ends.begin, begins, sizeof begins);
    assert_int_equal(tape.thread_ends.at[0], tape.lane_begin[1] + 2);
    assert_int_equal(tape.thread_ends.at[1], tape.n_ops);
    assert_int_equal(tape.n_turns, 5);
    assert_memory_equal(tape.turns, turns, sizeof turns);
    assert_int_equal(tape.iterations.n, 0);
    ab_tape_fini(&tape);
}

static void ends_of_threads_are_work(void **state)
{
    (void)state;
    char digest[3][65];
    for (int n_ends = 0; n_ends < 3; n_ends++) {
        struct ab_tape tape;
        struct ab_tape_builder *b = begin();
        phase(b, "replay", true);
        ops(b, 0, 0, 2, true);
        if (n_ends > 0)
            end_thread(b, 0);
        ops(b, 0, 0, 2, false);
        if (n_ends > 1)
            end_thread(b, 0);
        end(b, &tape);
        assert_int_equal(tape.thread_ends.n, n_ends);
        memcpy(digest[n_ends], tape.sha256, sizeof digest[0]);
        ab_tape_fini(&tape);
    }
    assert_string_not_equal(digest[0], digest[1]);
    assert_string_not_equal(digest[1], digest[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_lane_has_them_where_they_were_pushed),
        cmocka_unit_test(lanes_have_their_own_behind_what_guards_them),
        cmocka_unit_test(they_are_no_work),
        cmocka_unit_test(each_burst_has_its_own),
        cmocka_unit_test(one_of_all_lanes_is_none_of_idle_ones),
        cmocka_unit_test(none_before_the_first_phase),
        cmocka_unit_test(threads_end_in_a_turn_of_their_own),
        cmocka_unit_test(ends_of_threads_are_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
