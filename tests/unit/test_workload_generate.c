/* SPDX-License-Identifier: MIT
 *
 * What verbs make of themselves on the tape, op by op.
 * tests: steps.c
 */
#include "support/workload_ops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

static char *ops_of(const char *phase)
{
    struct ab_tape tape;
    struct ab_err err = {0};
    if (compile_phase(phase, &tape, &err) != AB_OK) {
        print_error("%s\n", err.text);
        return strdup("failed");
    }
    char *text = tape_text(&tape);
    ab_tape_fini(&tape);
    return text;
}

static void expect(const char *phase, const char *ops)
{
    char *found = ops_of(phase);
    assert_string_equal(found, ops);
    free(found);
}

static void expect_error(const char *phase, const char *message)
{
    struct ab_tape tape;
    struct ab_err err = {0};
    memset(&tape, 0x5a, sizeof tape);
    assert_int_equal(compile_phase(phase, &tape, &err), AB_CONFIG);
    if (strstr(err.text, message) == NULL)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < sizeof tape; i++)
        assert_int_equal(((unsigned char *)&tape)[i], 0x5a);
}

static void alloc_all_fills_the_empty_positions_and_fifo_frees_the_oldest_first(void **state)
{
    (void)state;
    expect("    do: [{alloc: s, size: 8, count: 3}, {free: s, count: all}]\n",
           "a0:8 a1:8 a2:8 f0 f1 f2");
    expect("    do: [{alloc: s, size: 8, count: all}, {free: s, count: 8}, {alloc: s, size: 9, "
           "count: all}]\n",
           "a0:8 a1:8 a2:8 a3:8 a4:8 a5:8 a6:8 a7:8 a8:8 a9:8 f0 f1 f2 f3 f4 f5 f6 f7 "
           "a7:9 a6:9 a5:9 a4:9 a3:9 a2:9 a1:9 a0:9");
}

static void lifo_frees_the_youngest_first_and_every_leaves_the_others(void **state)
{
    (void)state;
    expect("    do: [{alloc: s, size: 8, count: 4}, {free: s, order: lifo, count: 2}]\n",
           "a0:8 a1:8 a2:8 a3:8 f3 f2");
    expect("    do: [{alloc: s, size: 8, count: 5}, {free: s, order: every(2), count: all}]\n",
           "a0:8 a1:8 a2:8 a3:8 a4:8 f0 f2 f4");
    expect("    do: [{alloc: s, size: 8, count: 5}, {free: s, order: every(2), count: 2}]\n",
           "a0:8 a1:8 a2:8 a3:8 a4:8 f0 f2");
}

static void replace_frees_first_and_makes_the_block_the_youngest(void **state)
{
    (void)state;
    expect("    do: [{alloc: s, size: 8, count: 3}, {replace: s, size: 9}, "
           "{free: s, count: all}]\n",
           "a0:8 a1:8 a2:8 f0 a0:9 f1 f2 f0");
}

static void resize_keeps_the_age_of_the_block(void **state)
{
    (void)state;
    expect("    do: [{alloc: s, size: 8, count: 2}, {resize: s, order: fifo, size: 9}, "
           "{free: s, count: all}]\n",
           "a0:8 a1:8 r0:9 f0 f1");
}

static void an_access_reads_or_writes_and_changes_no_age(void **state)
{
    (void)state;
    expect("    do: [{alloc: s, size: 8, count: 3}, {access: s, order: lifo, count: 2}, "
           "{access: s, at: next, mode: write}, {free: s, count: all}]\n",
           "a0:8 a1:8 a2:8 x2 x1 x0w f0 f1 f2");
    expect("    do: [{alloc: s, size: 0}, {alloc: s, size: 8}, {access: s, count: all}, "
           "{access: s, at: next, count: 3}]\n",
           "a0:0 a1:8 x1 x1");
    expect("    until: ops(5)\n    do: [{alloc: s, size: 8, count: 2}, "
           "{access: s, at: round_robin, count: 11}]\n",
           "a0:8 a1:8 x0 x1 x0");
}

static void frees_and_resizes_of_empty_positions_are_counted_no_ops(void **state)
{
    (void)state;
    struct ab_tape tape;
    struct ab_err err;
    assert_int_equal(compile_phase("    do: [{alloc: s, size: 8}, {free: s, at: next, count: 4}, "
                                   "{resize: s, at: next, size: 8}, {free: s, count: 5}]\n",
                                   &tape, &err),
                     AB_OK);
    assert_int_equal(tape.n_ops, 2);
    assert_int_equal(tape.no_op_frees, 3 + 1 + 5);
    ab_tape_fini(&tape);
}

static void the_cursor_of_next_is_shared_and_that_of_round_robin_is_not(void **state)
{
    (void)state;
    expect("    do: [{alloc: s, at: next, size: 8, count: 2}, {alloc: s, at: next, size: 8}, "
           "{replace: s, at: round_robin, size: 9}]\n",
           "a0:8 a1:8 a2:8 f0 a0:9");
    expect("    until: iters(2)\n    do: [{alloc: s, at: stride(3), size: 8, count: 2}]\n",
           "a0:8 a3:8 a6:8 a9:8");
}

static void touch_is_page_by_default_and_other_touches_are_ops_of_their_own(void **state)
{
    (void)state;
    struct ab_tape tape;
    struct ab_err err;
    assert_int_equal(compile_phase("    do: [{alloc: s, size: 8}]\n", &tape, &err), AB_OK);
    assert_int_equal(AB_OP_CODE(tape.ops[0]), AB_CODE_ALLOC | AB_CODE_TOUCHED);
    ab_tape_fini(&tape);
    expect("    do: [{alloc: s, size: 8, touch: all}, {alloc: s, size: 8, touch: none}]\n",
           "a0:8 t0 a1:8");
    expect("    do: [{alloc: s, size: 8, align: 64}]\n", "A0:8");
}

static void until_ops_ends_in_the_middle_of_the_body(void **state)
{
    (void)state;
    expect("    until: ops(5)\n    do: [{alloc: s, size: 8, count: 3}, {free: s, count: all}]\n",
           "a0:8 a1:8 a2:8 f0 f1");
    expect("    until: allocated(17)\n    do: [{alloc: s, size: 8}]\n", "a0:8 a1:8 a2:8");
    expect("    until: live(16)\n    do: [{alloc: s, size: 8}]\n", "a0:8 a1:8");
    expect("    repeat: 2\n    until: ops(1)\n    do: [{alloc: s, size: 8}]\n", "a0:8 a1:8");
}

static void fraction_is_of_the_live_blocks_and_rounded(void **state)
{
    (void)state;
    expect("    do: [{alloc: s, size: 8, count: 5}, {free: s, fraction: 50%}]\n",
           "a0:8 a1:8 a2:8 a3:8 a4:8 f0 f1 f2");
    expect("    do: [{alloc: s, size: 8, count: 2}, {free: s, fraction: 0}]\n", "a0:8 a1:8");
}

static void shuffled_and_occupied_take_every_live_block_once(void **state)
{
    (void)state;
    struct ab_tape tape;
    struct ab_err err;
    assert_int_equal(compile_phase("    do: [{alloc: s, size: 8, count: all}, {resize: s, "
                                   "order: shuffled, count: all, size: 9}, {free: s, at: occupied, "
                                   "count: all}]\n",
                                   &tape, &err),
                     AB_OK);
    uint32_t resized = 0, freed = 0;
    assert_int_equal(tape.n_ops, 30);
    for (uint32_t i = 10; i < 20; i++)
        resized |= 1u << AB_OP_SLOT(tape.ops[i]);
    for (uint32_t i = 20; i < 30; i++)
        freed |= 1u << AB_OP_SLOT(tape.ops[i]);
    assert_int_equal(resized, 1023);
    assert_int_equal(freed, 1023);
    assert_int_equal(tape.live_end_blocks, 0);
    ab_tape_fini(&tape);
}

static void an_end_beyond_what_the_sets_can_hold_is_refused_before_the_first_op(void **state)
{
    (void)state;
    const char *loop = "    do: [{alloc: s, size: 8, count: all}, {free: s, count: all}]\n";
    char text[200];
    snprintf(text, sizeof text, "    until: live(81)\n%s", loop);
    expect_error(text, ":6:12: never ends: no more than 80 B can be live in these sets");
    snprintf(text, sizeof text, "    until: live(1TiB)\n%s", loop);
    expect_error(text, ":6:12: never ends: no more than 80 B can be live in these sets");
    snprintf(text, sizeof text, "    until: allocated(1024TiB)\n%s", loop);
    expect_error(text, ":6:12: about 141 T ops; a tape here has room for");
    expect("    until: live(80)\n    do: [{alloc: s, size: 40, count: 2}]\n", "a0:40 a1:40");
}

/* One block of 1 TiB after a thousand million of a byte: the sizes prove nothing. */
static void a_loop_without_progress_is_given_up_by_its_ops_not_by_its_iterations(void **state)
{
    (void)state;
#define LONG_WAY "    until: live(1TiB)\n    do: [{alloc: s, size: \"cycle(1:1e9, 1TiB:1)\"}, "
    expect_error(LONG_WAY "{repeat: 2000, do: [{free: s}, {alloc: s, size: 1}]}, {free: s}]\n",
                 "never ends: no progress towards 'until' in 41");
    expect_error(LONG_WAY "{repeat: 5_000_000, do: [{alloc: s, size: 1}, {free: s}]}]\n",
                 " T ops; a tape here has room for");
#undef LONG_WAY
}

static void what_cannot_be_done_ends_in_an_error_with_its_place(void **state)
{
    (void)state;
    expect_error("    do: [{alloc: s, at: next, size: 8, count: 11}]\n",
                 ":6:11: alloc at position 0 of 's', which is occupied");
    expect_error("    do: [{alloc: s, size: 8, count: 11}]\n", ":6:11: full: all 10 positions");
    expect_error("    until: ops(5)\n    do: [{free: s, count: all}]\n", "never ends");
    expect_error("    until: live(1MiB)\n    do: [{replace: s, size: 8}]\n", "never ends");
    expect_error("    until: allocated(1MiB)\n    do: [{alloc: s, size: 0}, {free: s}]\n",
                 "never ends");
    expect_error("    until: iters(1e15)\n    do: [{free: s, at: random}]\n", "almost no ops");
    expect_error("    repeat: 1e15\n    do: [{free: s, at: random}]\n", "almost no ops");
    expect_error("    do: [{alloc: s, size: 8}, {free: s, count: 1e15}]\n", "almost no ops");
    expect_error("    do: [{free: s, count: all}]\n", "makes no ops");
}

/* Replaces at positions that are occupied make two ops. */
static void choices_and_drawn_counts_make_as_many_ops_as_their_weights_say(void **state)
{
    (void)state;
    enum { N = 20000 };
    static const struct {
        const char *body;
        double per_iteration;
    } cases[] = {
        {"{choose: [{weight: 3, do: [{replace: s, size: 8}]}, {weight: 1, do: [{access: s}]}]}",
         0.75 * 2 + 0.25},
        {"{maybe: 30%, do: [{replace: s, size: 8, count: 2}]}", 0.3 * 4},
        {"{access: s, at: random, count: 'uniform(1, 9)'}", 5},
        {"{repeat: 'uniform(0, 4)', do: [{access: s}]}", 2},
        {"{access: s, order: shuffled, count: 'cycle(1:1, 3:1)'}", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char phase[300];
        struct ab_tape tape;
        struct ab_err err = {0};
        snprintf(phase, sizeof phase,
                 "    do: [{alloc: s, size: 8, count: all}, {repeat: %d, do: [%s]}]\n", N,
                 cases[i].body);
        assert_int_equal(compile_phase(phase, &tape, &err), AB_OK);
        uint64_t n = 0;
        for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
            n += tape.phases[0].n_ops[k];
        assert_true(fabs((double)(n - 10) / N - cases[i].per_iteration) < 0.03);
        ab_tape_fini(&tape);
    }
}

/* U, V, W uniform in [0, 1): the mean of 15992 U |V + W - 1| is 15992/6, of its floor half a byte less. */
static void sums_and_products_of_distributions_have_the_mean_of_their_formula(void **state)
{
    (void)state;
    enum { N = 200000 };
    static const struct {
        const char *dist;
        double mean, deviation, least, most;
    } cases[] = {
        {"8 + 15992 * real(0, 1) * abs(real(0, 1) + real(0, 1) - 1)", 2672.8, 2700, 8, 15999},
        {"product(uniform(1, 3), uniform(1, 5), 0.5)", 2.8, 2, 0, 7},
        {"sum(choice(2, 4), 10) - 1", 12, 1, 11, 13},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char phase[300];
        struct ab_tape tape;
        struct ab_err err = {0};
        snprintf(phase, sizeof phase, "    do: [{repeat: %d, do: [{replace: s, size: '%s'}]}]\n", N,
                 cases[i].dist);
        assert_int_equal(compile_phase(phase, &tape, &err), AB_OK);
        double mean = (double)tape.facts.total_bytes / N;
        if (fabs(mean - cases[i].mean) > 4 * cases[i].deviation / sqrt(N))
            fail_msg("%s: mean %g, should be %g", cases[i].dist, mean, cases[i].mean);
        assert_true((double)tape.facts.largest_bytes <= cases[i].most);
        for (uint64_t k = 0; k < tape.n_ops; k++)
            if (AB_OP_CODE(tape.ops[k] & ~(uint64_t)AB_CODE_TOUCHED) == AB_CODE_ALLOC)
                assert_true(AB_OP_SIZE(tape.ops[k]) >= cases[i].least);
        ab_tape_fini(&tape);
    }
}

static void a_scope_frees_what_came_since_it_began_the_youngest_first(void **state)
{
    (void)state;
    expect("    do: [{scope: region, do: [{alloc: region, size: 8, count: 2}, "
           "{scope: region, do: [{alloc: region, size: 9, count: 2}]}, "
           "{alloc: region, size: 7}]}]\n",
           "m1 a10:8 a11:8 M2 a12:9 a13:9 R2^2 f13 f12 a12:7 R3 f12 f11 f10");
    /* not what was there before; and it ends where the phase does */
    expect("    until: ops(4)\n"
           "    do: [{alloc: region, size: 8}, {scope: region, do: [{alloc: region, size: 9}, "
           "{alloc: s, size: 5, count: 3}]}]\n",
           "a10:8 m1 a11:9 a0:5 a1:5 R1! f11");
    /* what a reset has freed is gone for the scopes around it */
    expect("    do: [{alloc: region, size: 8}, {scope: region, do: [{reset: region}, "
           "{alloc: region, size: 9}]}]\n",
           "a10:8 m1 R1 f10 a10:9 R1 f10");
}

static void a_scope_goes_back_to_its_save_point_where_all_since_then_dies(void **state)
{
    (void)state;
    /* beside what lives longer, and what is freed one by one within it */
    expect("    do: [{alloc: s, size: 5, count: 2}, {scope: region, do: [{alloc: region, size: 8}, "
           "{alloc: s, size: 6}, {free: s, order: lifo}]}]\n",
           "a0:5 a1:5 M1 a10:8 a2:6 f2 R1^1 f10");
    /* not where something from within it lives on */
    expect("    do: [{scope: region, do: [{alloc: region, size: 8}, {alloc: s, size: 6}]}]\n",
           "m1 a10:8 a0:6 R1! f10");
    /* nor where an older block may have moved behind the save point */
    expect("    do: [{alloc: s, size: 5}, {scope: region, do: [{alloc: region, size: 8}, "
           "{resize: s, at: occupied, size: 9}]}]\n",
           "a0:5 m1 a10:8 r0:9 R1! f10");
    /* the next scope is as if that one had never been */
    expect("    do: [{alloc: s, size: 6}, {repeat: 2, do: [{scope: region, do: "
           "[{alloc: region, size: 8}]}]}]\n",
           "a0:6 M1 a10:8 R1^1 f10 M1 a10:8 R1^1 f10");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scope_goes_back_to_its_save_point_where_all_since_then_dies),
        cmocka_unit_test(a_scope_frees_what_came_since_it_began_the_youngest_first),
        cmocka_unit_test(alloc_all_fills_the_empty_positions_and_fifo_frees_the_oldest_first),
        cmocka_unit_test(lifo_frees_the_youngest_first_and_every_leaves_the_others),
        cmocka_unit_test(replace_frees_first_and_makes_the_block_the_youngest),
        cmocka_unit_test(resize_keeps_the_age_of_the_block),
        cmocka_unit_test(an_access_reads_or_writes_and_changes_no_age),
        cmocka_unit_test(frees_and_resizes_of_empty_positions_are_counted_no_ops),
        cmocka_unit_test(the_cursor_of_next_is_shared_and_that_of_round_robin_is_not),
        cmocka_unit_test(touch_is_page_by_default_and_other_touches_are_ops_of_their_own),
        cmocka_unit_test(until_ops_ends_in_the_middle_of_the_body),
        cmocka_unit_test(fraction_is_of_the_live_blocks_and_rounded),
        cmocka_unit_test(shuffled_and_occupied_take_every_live_block_once),
        cmocka_unit_test(an_end_beyond_what_the_sets_can_hold_is_refused_before_the_first_op),
        cmocka_unit_test(a_loop_without_progress_is_given_up_by_its_ops_not_by_its_iterations),
        cmocka_unit_test(what_cannot_be_done_ends_in_an_error_with_its_place),
        cmocka_unit_test(sums_and_products_of_distributions_have_the_mean_of_their_formula),
        cmocka_unit_test(choices_and_drawn_counts_make_as_many_ops_as_their_weights_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
