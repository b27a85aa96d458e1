/* SPDX-License-Identifier: MIT
 *
 * Several lanes on one tape: whose sets, whose turn, and the exact ops in their global order.
 */
#include "support/workload_ops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static enum ab_status compile(const char *sets, const char *phases, struct ab_tape *tape,
                              struct ab_err *err)
{
    char text[4096];
    snprintf(text, sizeof text, "allocbench: 1\nname: t\nsets: [%s]\nphases: [%s]\n", sets, phases);
    struct ab_workload *w = load_text(text);
    assert_non_null(w);
    enum ab_status status = ab_workload_compile(w, tape, err);
    ab_workload_free(w);
    return status;
}

static struct ab_tape compiled(const char *sets, const char *phases)
{
    struct ab_tape tape = {0};
    struct ab_err err = {0};
    if (compile(sets, phases, &tape, &err) != AB_OK)
        fail_msg("%s", err.text);
    return tape;
}

static void expect(const char *sets, const char *phases, const char *ops)
{
    struct ab_tape tape = compiled(sets, phases);
    char *found = tape_text(&tape);
    assert_string_equal(found, ops);
    free(found);
    ab_tape_fini(&tape);
}

static void expect_error(const char *sets, const char *phases, const char *message)
{
    struct ab_tape tape;
    struct ab_err err = {0};
    assert_int_equal(compile(sets, phases, &tape, &err), AB_CONFIG);
    if (strstr(err.text, message) == NULL)
        fail_msg("%s", err.text);
}

/* ---- turns ---- */

static void each_lane_has_positions_of_its_own(void **state)
{
    (void)state;
    expect("{name: s, count: 10}",
           "{name: p, lanes: 3, do: [{alloc: s, size: 8, count: 2}, {free: s}]}",
           "[0] a0:8 a1:8 f0 [1] a10:8 a11:8 f10 [2] a20:8 a21:8 f20");
}

static void a_turn_is_16_steps_and_a_lane_that_is_done_drops_out(void **state)
{
    (void)state;
    struct ab_tape tape = compiled(
        "{name: s, count: 30}, {name: t, count: 5}",
        "{name: p, roles: [{name: a, lanes: 2, do: [{alloc: s, size: 8, count: 20}]},"
        "                  {name: b, do: [{alloc: s, size: 8, count: 5}]},"
        "                  {name: c, do: [{repeat: 7, do: [{replace: t, at: next, size: 8,"
        "                                                   count: 5}]}]}]}");
    static const struct ab_turn turns[] = {{0, 16}, {1, 16}, {2, 5}, {3, 11},
                                           {0, 4},  {1, 4},  {3, 54}}; /* five frees find nothing */
    assert_int_equal(tape.n_turns, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(tape.turns[i].lane, turns[i].lane);
        assert_int_equal(tape.turns[i].n, turns[i].n);
    }
    ab_tape_fini(&tape);
}

static void steps_that_find_nothing_to_do_count_in_a_turn(void **state)
{
    (void)state;
    expect("{name: s, count: 40}",
           "{name: p, roles: [{name: a, do: [{free: s, at: next, count: 30}, {alloc: s, size: 8}]},"
           "                  {name: b, do: [{alloc: s, size: 9}, {free: s, at: next, count: 1},"
           "                                 {free: s, at: next, count: 20},"
           "                                 {alloc: s, size: 9}]}]}",
           "[1] a40:9 f40 [0] a0:8 [1] a40:9");
}

static void ops_counts_those_of_all_lanes_and_iters_those_of_each(void **state)
{
    (void)state;
    static const char set[] = "{name: s, count: 10}";
    struct ab_tape tape = compiled(set, "{name: p, lanes: 4, until: ops(1001), "
                                        "do: [{toggle: s, at: random, size: 8}]}");
    assert_int_equal(tape.facts.total_blocks + tape.phases[0].n_ops[AB_OP_FREE], 1001);
    ab_tape_fini(&tape);
    tape = compiled(set, "{name: p, lanes: 4, until: iters(10), do: [{replace: s, size: 8}]}");
    assert_int_equal(tape.facts.total_blocks, 40);
    ab_tape_fini(&tape);
    tape = compiled(set, "{name: p, lanes: 4, until: allocated(800), "
                         "do: [{replace: s, at: random, size: 8}]}");
    assert_int_equal(tape.facts.total_bytes, 800);
    ab_tape_fini(&tape);
    tape = compiled(set, "{name: p, lanes: 4, until: live(24), do: [{alloc: s, size: 8}]}");
    assert_int_equal(tape.facts.total_blocks, 3);
    ab_tape_fini(&tape);
}

static void the_main_lane_builds_the_sets_of_all(void **state)
{
    (void)state;
    expect("{name: s, count: 10}",
           "{name: w, lanes: 2, run_as: main, do: [{alloc: s, size: 8, count: 2}]}",
           "a0:8 a1:8 a10:8 a11:8");
    expect("{name: s, count: 10}",
           "{name: w, lanes: 2, run_as: main, do: [{alloc: s, size: 8, count: 2}]},"
           "{name: p, lanes: 2, do: [{replace: s, order: lifo, size: 9}]}",
           "[0] a0:8 a1:8 a10:8 a11:8 / [0] f1 a1:9 [1] f11 a11:9");
}

/* Sizes that lane l asks for, of the only phase. */
static uint32_t sizes_of(const struct ab_tape *tape, uint32_t lane, uint32_t *sizes)
{
    uint32_t n = 0;
    for (uint32_t i = tape->lane_begin[lane]; i < tape->lane_begin[lane + 1]; i++)
        if ((AB_OP_CODE(tape->ops[i]) & 7u) == AB_CODE_ALLOC)
            sizes[n++] = AB_OP_SIZE(tape->ops[i]);
    return n;
}

static void a_lane_draws_the_same_whatever_others_do(void **state)
{
    (void)state;
    static const char one[] = "{name: p, until: iters(50), "
                              "do: [{replace: s, at: random, size: 'uniform(1, 1M)'}]}";
    static const char many[] = "{name: p, lanes: 3, until: iters(50), "
                               "do: [{replace: s, at: random, size: 'uniform(1, 1M)'}]}";
    struct ab_tape a = compiled("{name: s, count: 10}", one);
    struct ab_tape b = compiled("{name: s, count: 10}", many);
    uint32_t alone[64], first[64], second[64], third[64];
    assert_int_equal(sizes_of(&a, 0, alone), 50);
    assert_int_equal(sizes_of(&b, 0, first), 50);
    assert_int_equal(sizes_of(&b, 1, second), 50);
    assert_int_equal(sizes_of(&b, 2, third), 50);
    assert_memory_equal(alone, first, 50 * sizeof alone[0]);
    assert_memory_not_equal(first, second, 50 * sizeof alone[0]);
    assert_memory_not_equal(second, third, 50 * sizeof alone[0]);
    assert_int_equal(b.n_edges, 0);
    ab_tape_fini(&a);
    ab_tape_fini(&b);
}

static void own_positions_of_a_shared_set_are_cut_evenly_and_never_meet(void **state)
{
    (void)state;
    struct ab_tape tape = compiled("{name: s, count: 7, per: all}",
                                   "{name: a, do: [{alloc: s, size: 8, count: all}]},"
                                   "{name: b, lanes: 3, do: [{free: s, at: own, count: 60}]}");
    static const uint32_t n[] = {2, 2, 3};
    for (size_t l = 0; l < 3; l++)
        assert_int_equal(tape.lane_begin[4 + l] - tape.lane_begin[3 + l], n[l]);
    assert_int_equal(tape.n_edges, 0);
    ab_tape_fini(&tape);
}

static void a_slot_of_a_shared_set_goes_back_to_the_lane_that_had_it_first(void **state)
{
    (void)state;
    expect("{name: s, count: 10, per: all}",
           "{name: p, lanes: 2, do: [{alloc: s, size: 8, count: 2}, {free: s, count: 2},"
           "                         {alloc: s, size: 9, count: 2}]}",
           "[0] a0:8 a1:8 f0 f1 a1:9 a0:9 [1] a8:8 a9:8 f1 f0 a10:9 a11:9");
    expect("{name: s, count: 3, per: all}",
           "{name: p, lanes: 2, do: [{alloc: s, size: 8, count: all}, {free: s}]}",
           "[0] a0:8 a1:8 a2:8 f0 [1] a8:8 f1");
}

/* ---- sets that grow ---- */

static void a_list_grows_and_closes_its_gaps(void **state)
{
    (void)state;
    static const char list[] = "{name: l, kind: list}";
    expect(list,
           "{name: p, do: [{alloc: l, size: 8, count: 3}, {free: l, at: next},"
           "               {alloc: l, size: 9}, {free: l, order: lifo},"
           "               {replace: l, order: fifo, size: 7}, {free: l, count: all}]}",
           "a0:8 a1:8 a2:8 f0 a0:9 f0 f1 a1:7 f2 f1");
    expect(list, "{name: p, do: [{alloc: l, size: 8, count: 3}, {free: l, at: next, count: all}]}",
           "a0:8 a1:8 a2:8 f0 f1 f2");
    struct ab_tape tape = compiled(list, "{name: p, do: [{alloc: l, size: 8, count: 1000}, "
                                         "{free: l, at: random, count: 999}]}");
    assert_int_equal(tape.no_op_frees, 0); /* a list has no empty positions */
    assert_int_equal(tape.live_end_blocks, 1);
    ab_tape_fini(&tape);
}

static void a_region_dies_at_once_and_finds_its_slots_again(void **state)
{
    (void)state;
    expect("{name: r, kind: region}",
           "{name: p, until: iters(2), do: [{alloc: r, size: 8, count: 3}, {reset: r}, "
           "{reset: r}]}",
           "a0:8 a1:8 a2:8 R3 f0 f1 f2 a0:8 a1:8 a2:8 R3 f0 f1 f2");
    expect("{name: r, kind: region}, {name: s, count: 1}",
           "{name: p, do: [{alloc: s, size: 9}, {alloc: r, size: 8}, {resize: r, size: 7}, "
           "{reset: r}]}",
           "a0:9 a1:8 r1:7 R1! f1");
}

static void the_single_frees_of_a_reset_have_an_order_and_the_slots_keep_theirs(void **state)
{
    (void)state;
    expect("{name: r, kind: region}",
           "{name: p, until: iters(2), do: [{alloc: r, size: 8, count: 3}, "
           "{reset: r, order: lifo}]}",
           "a0:8 a1:8 a2:8 R3 f2 f1 f0 a0:8 a1:8 a2:8 R3 f2 f1 f0");
    expect("{name: r, kind: region}",
           "{name: p, do: [{alloc: r, size: 8, count: 4}, {reset: r, order: shuffled}, "
           "{alloc: r, size: 8, count: 2}]}",
           "a0:8 a1:8 a2:8 a3:8 R4 f1 f2 f0 f3 a0:8 a1:8");
}

/* ---- toggle, exchange, shuffle ---- */

static void toggle_frees_what_is_there_and_fills_what_is_not(void **state)
{
    (void)state;
    expect("{name: s, count: 3}",
           "{name: p, do: [{toggle: s, size: 8, count: 2}, {toggle: s, size: 9, count: all}]}",
           "a0:8 a1:8 a2:9 f0 f1");
}

static void exchange_puts_the_new_block_first_and_frees_the_displaced_one(void **state)
{
    (void)state;
    expect("{name: s, count: 2}",
           "{name: p, until: iters(2), do: [{exchange: s, size: 8, count: 2}]}",
           "a0:8 a1:8 a2:8 f0 a0:8 f1");
    expect("{name: s, count: 1, per: all}",
           "{name: p, lanes: 2, until: iters(2), do: [{exchange: s, size: 8}]}",
           "[0] a0:8 a1:8 f0 [1] a8:8 f1 a9:8 f8");
}

static void exchange_with_a_set_moves_blocks_without_an_op(void **state)
{
    (void)state;
    expect("{name: own, count: 2}, {name: all, count: 2, per: all}",
           "{name: p, do: [{alloc: own, size: 8, count: 2}, {alloc: all, size: 9},"
           "  {exchange: all, at: next, with: own, with_at: next, count: 2},"
           "  {free: own, count: all}, {free: all, count: all}]}",
           "a0:8 a1:8 a2:9 f2 f0 f1");
    expect("{name: l, kind: list}, {name: all, count: 2, per: all}",
           "{name: p, do: [{alloc: l, size: 8, count: 2}, "
           "  {exchange: all, with: l, with_at: next}, {free: l, count: all}, {free: all}]}",
           "a0:8 a1:8 f1 f0");
}

static void shuffle_lets_fifo_free_in_another_order(void **state)
{
    (void)state;
    struct ab_tape tape = compiled("{name: s, count: 16}",
                                   "{name: p, do: [{alloc: s, size: 8, count: all}, {shuffle: s},"
                                   "               {free: s, count: all}]}");
    uint32_t seen = 0, n_moved = 0;
    for (uint32_t i = 0; i < 16; i++) {
        seen |= 1u << AB_OP_SLOT(tape.ops[16 + i]);
        n_moved += AB_OP_SLOT(tape.ops[16 + i]) != i;
    }
    assert_int_equal(seen, 0xffff);
    assert_true(n_moved > 4);
    ab_tape_fini(&tape);
}

/* ---- queues ---- */

/* ---- windows, fixed sizes, caps, what is done finally ---- */

static uint64_t count_kind(const struct ab_tape *tape, enum ab_op_kind kind)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < tape->n_phases; i++)
        n += tape->phases[i].n_ops[kind];
    return n;
}

static void a_full_window_lets_the_next_survivors_live_and_frees_the_others(void **state)
{
    (void)state;
    expect(
        "{name: s, kind: window, count: 5, survive: 40%}",
        "{name: p, do: [{alloc: s, size: 8, count: 12}]}",
        "a0:8 a1:8 a2:8 a3:8 a4:8 f4 f3 f2 a2:8 a3:8 a4:8 f0 f1 f4 a0:8 a1:8 a4:8 f4 f3 f2 a2:8");
    expect("{name: s, kind: window, count: 4, survive: 25%, below: lifo, above: fifo}",
           "{name: p, do: [{alloc: s, size: 8, count: 11}, {free: s, count: all}]}",
           "a0:8 a1:8 a2:8 a3:8 f1 f2 f3 a1:8 a2:8 a3:8 f0 f2 f3 a0:8 a2:8 a3:8 f1 f0 f3 a0:8 "
           "f2 f0");
    /* A allocs of n positions with S survivors: one round of n - S frees for each n - S allocs
     * beyond the first n */
    static const unsigned n[] = {10, 50, 97}, survivors[] = {2, 0, 24};
    for (unsigned i = 0; i < 3; i++)
        for (unsigned allocs = 1; allocs < 700; allocs += 31) {
            char set[100], phase[100];
            unsigned dying = n[i] - survivors[i];
            snprintf(set, sizeof set, "{name: s, kind: window, count: %u, survive: '%u%%'}", n[i],
                     i == 0   ? 20
                     : i == 1 ? 0
                              : 25);
            snprintf(phase, sizeof phase, "{name: p, do: [{alloc: s, size: 8, count: %u}]}",
                     allocs);
            struct ab_tape tape = compiled(set, phase);
            unsigned rounds = allocs > n[i] ? (allocs - n[i] + dying - 1) / dying : 0;
            assert_int_equal(count_kind(&tape, AB_OP_ALLOC), allocs);
            assert_int_equal(count_kind(&tape, AB_OP_FREE), rounds * dying);
            ab_tape_fini(&tape);
        }
}

static void a_window_fills_its_holes_and_ends_a_phase_in_the_middle_of_its_frees(void **state)
{
    (void)state;
    expect("{name: s, kind: window, count: 4, survive: 0}",
           "{name: p, do: [{alloc: s, size: 8, count: all}, {free: s, at: next, count: 2}, "
           "{alloc: s, size: 9, count: 3}]}",
           "a0:8 a1:8 a2:8 a3:8 f0 f1 a0:9 a1:9 f3 f2 f1 f0 a0:9");
    expect("{name: s, kind: window, count: 4, survive: 0, per: all}",
           "{name: p, until: ops(6), do: [{alloc: s, size: 8}]},"
           "{name: q, lanes: 2, do: [{alloc: s, size: 9}]}",
           "[0] a0:8 a1:8 a2:8 a3:8 f3 f2 / [0] f1 f0 a0:9 [1] a8:9");
}

static void a_fixed_size_is_that_of_all_verbs_of_the_set(void **state)
{
    (void)state;
    expect("{name: s, count: 2, fixed: 48}, {name: q, kind: queue, fixed: 32}",
           "{name: p, do: [{alloc: s}, {replace: s}, {toggle: s, count: 2}, {exchange: s}, "
           "{send: q}, {recv: q}]}",
           "a0:48 f0 a0:48 a1:48 f0 a0:48 f1 a1:32 f1");
}

static void a_cap_frees_before_a_request_until_it_fits(void **state)
{
    (void)state;
    expect("{name: s, kind: list}, {name: t, count: 1}",
           "{name: p, cap: {set: s, live: 30, evict: fifo}, do: [{alloc: t, size: 5}, "
           "{alloc: s, size: 10, count: 3}, {alloc: s, size: 25}, {resize: s, size: 40}]}",
           "a0:5 a1:10 a2:10 f1 a3:10 f2 f3 a1:25 r1:40");
    expect("{name: s, kind: list}",
           "{name: p, cap: {set: s, live: 20, evict: lifo}, do: [{alloc: s, size: 10, count: 3}, "
           "{replace: s, order: fifo, size: 20}]}",
           "a0:10 a1:10 f1 a2:10 f0 f2 a0:20");
    struct ab_tape tape = compiled(
        "{name: s, kind: list}",
        "{name: p, lanes: 3, until: allocated(100KiB), cap: {set: s, live: 10KiB}, "
        "do: [{alloc: s, size: 64}]}");
    assert_int_equal(count_kind(&tape, AB_OP_ALLOC), 1600);
    assert_int_equal(count_kind(&tape, AB_OP_FREE), 1600 - 160);
    assert_int_equal(tape.facts.live_peak_bytes, 10240);
    ab_tape_fini(&tape);
    expect_error("{name: s, kind: list}",
                 "{name: p, cap: {set: s, live: 20}, do: [{alloc: s, size: 21}]}",
                 "a request of 21 B exceeds the cap of 20 B");
    expect_error("{name: s, kind: list}, {name: t, count: 2}",
                 "{name: p, cap: {set: s, live: 20}, do: [{alloc: t, size: 15, count: 2}]}",
                 "no block of 's' is left to free, and 15 B are live");
    expect_error("{name: s, kind: list}",
                 "{name: p, until: live(21), cap: {set: s, live: 20}, do: [{alloc: s, size: 1}]}",
                 "'cap' keeps the live bytes at 20 B");
}

static void finally_comes_once_after_the_bodies_of_all_lanes_in_each_repetition(void **state)
{
    (void)state;
    expect("{name: s, kind: list}, {name: q, kind: queue}",
           "{name: p, repeat: 2, lanes: 2, until: ops(3), do: [{alloc: s, size: 8}, {send: q, to: "
           "next_lane, size: 9}], finally: [{free: s, count: all}, {recv: q, count: all}]}",
           "[0] a0:8 a1:9 a2:8 f0 f2 [1] f1 [0] a2:8 a0:9 a3:8 f2 f3 [1] f0");
    expect("{name: s, count: 1}, {name: q, kind: queue, per: all}",
           "{name: p, roles: [{name: a, do: [{send: q, size: 8, count: 2}]}, {name: b, do: [{recv: "
           "q}], finally: [{recv: q, count: 9}]}]}",
           "[0] a1:8 a2:8 [1] f1 f2");
}

static void messages_leave_a_queue_at_the_end_that_its_order_says(void **state)
{
    (void)state;
    static const char body[] = "{name: p, do: [{send: q, size: 8, count: 3}, {recv: q, count: 2}]}";
    expect("{name: q, kind: queue, unit: 2}", body, "a0:8 a1:8 a2:8 a3:8 a4:8 a5:8 f0 f1 f2 f3");
    expect("{name: q, kind: queue, unit: 2, order: lifo}", body,
           "a0:8 a1:8 a2:8 a3:8 a4:8 a5:8 f4 f5 f2 f3");
}

static void a_sender_waits_for_room_and_a_receiver_for_a_message(void **state)
{
    (void)state;
    expect("{name: q, kind: queue, count: 2, per: all}",
           "{name: p, roles: [{name: c, do: [{recv: q, count: 4}]},"
           "                  {name: p, do: [{send: q, size: 8, count: 4}]}]}",
           "[1] a0:8 a1:8 a2:8 [0] f0 f1 f2 [1] a3:8 [0] f3");
}

static void lanes_that_wait_are_served_in_the_order_in_which_they_came(void **state)
{
    (void)state;
    expect("{name: q, kind: queue, count: 1, per: all}",
           "{name: p, roles: [{name: p, lanes: 3, do: [{send: q, size: 8, count: 2}]},"
           "                  {name: c, do: [{recv: q, count: 6}]}]}",
           "[0] a0:8 [3] f0 [0] a1:8 [1] a8:8 [3] f1 f8 [2] a16:8 [3] f16 [1] a9:8 [2] a17:8 "
           "[3] f9 f17");
    expect("{name: q, kind: queue, per: all}",
           "{name: p, roles: [{name: c, lanes: 3, do: [{recv: q, count: 2}]},"
           "                  {name: p, do: [{send: q, size: 8, count: 6}]}]}",
           "[3] a0:8 a1:8 a2:8 a3:8 a4:8 a5:8 [0] f0 f3 [1] f1 f4 [2] f2 f5");
}

static void a_full_queue_drops_or_has_the_sender_free(void **state)
{
    (void)state;
    static const char body[] = "{name: p, do: [{send: q, size: 8, count: 3}, "
                               "{recv: q, count: all}]}";
    struct ab_tape tape = compiled("{name: q, kind: queue, count: 1, unit: 2, on_full: drop}",
                                   body);
    char *text = tape_text(&tape);
    assert_string_equal(text, "a0:8 a1:8 f0 f1");
    assert_int_equal(tape.no_op_frees, 2);
    free(text);
    ab_tape_fini(&tape);
    expect("{name: q, kind: queue, count: 1, unit: 2, on_full: free}", body,
           "a0:8 a1:8 a2:8 f2 a2:8 f2 a2:8 f2 a2:8 f2 f0 f1");
}

static void blocks_come_from_a_set_and_go_into_one(void **state)
{
    (void)state;
    expect("{name: s, count: 3}, {name: q, kind: queue, unit: 2}, {name: l, kind: list}",
           "{name: p, do: [{alloc: s, size: 8, count: 3}, {send: q, from: s, order: lifo, "
           "count: 2}, {recv: q, count: 2, into: l}, {free: l, count: all}]}",
           "a0:8 a1:8 a2:8 f2 f1 f0");
    expect("{name: s, count: 3}, {name: q, kind: queue}",
           "{name: p, do: [{alloc: s, size: 8, count: 3}, {send: q, from: s, count: all}, "
           "{recv: q, count: 2, into: s, at: next}, {free: s, at: next, count: 1}, "
           "{free: s, count: all}]}",
           "a0:8 a1:8 a2:8 f0 f1");
}

static void the_next_lane_of_the_role_gets_what_is_sent_to_it(void **state)
{
    (void)state;
    expect("{name: box, kind: queue}",
           "{name: p, lanes: 3, do: [{send: box, size: 8, to: next_lane}, {recv: box}]}",
           "[0] a0:8 [1] a8:8 f0 [2] a16:8 f8 [0] f16");
}

static void receivers_are_done_when_no_sender_is_left(void **state)
{
    (void)state;
    expect("{name: q, kind: queue, count: 2, per: all}",
           "{name: p, until: iters(3), roles: [{name: c, lanes: 2, do: [{recv: q, count: 2}]},"
           "                                   {name: p, do: [{send: q, size: 8}]}]}",
           "[2] a0:8 a1:8 a2:8 [0] f0 f2 [1] f1");
}

static void a_phase_that_ends_in_the_middle_of_a_message_loses_no_block(void **state)
{
    (void)state;
    expect("{name: q, kind: queue, unit: 4}",
           "{name: p, until: ops(6), do: [{send: q, size: 8}]},"
           "{name: r, until: ops(3), do: [{recv: q}]}, {name: e, do: [{recv: q, count: all}]}",
           "a0:8 a1:8 a2:8 a3:8 a4:8 a5:8 / f0 f1 f2 / f3 f4 f5");
    expect("{name: q, kind: queue, unit: 4, order: lifo}",
           "{name: p, until: ops(6), do: [{send: q, size: 8}]},"
           "{name: r, until: ops(3), do: [{recv: q}]}, {name: e, do: [{recv: q, count: all}]}",
           "a0:8 a1:8 a2:8 a3:8 a4:8 a5:8 / f4 f5 f0 / f1 f2 f3");
}

static void a_receiver_waits_once_for_a_message_and_not_for_each_block(void **state)
{
    (void)state;
    struct ab_tape tape = compiled(
        "{name: q, kind: queue, count: 4, unit: 10, per: all}",
        "{name: p, until: iters(4), roles: [{name: p, do: [{send: q, size: 8}]},"
        "                                   {name: c, do: [{recv: q}]}]}");
    assert_int_equal(tape.n_remote, 40);
    assert_in_range(tape.n_edges, 1, 4); /* one may do for several messages */
    ab_tape_fini(&tape);
}

static void what_stands_still_or_never_ends_is_told(void **state)
{
    (void)state;
    expect_error("{name: q, kind: queue, count: 2}",
                 "{name: p, do: [{send: q, size: 8, count: 3}]}",
                 "deadlock: lane 0 waits for room in 'q'");
    expect_error("{name: q, kind: queue, per: all}",
                 "{name: p, lanes: 2, do: [{send: q, size: 8}, {recv: q, count: 2}]}, "
                 "{name: e, until: ops(9), do: [{recv: q}]}",
                 "deadlock: lane 0 waits for a message in 'q'");
    expect_error("{name: q, kind: queue, per: all}, {name: s, count: 4}",
                 "{name: p, until: ops(100), lanes: 3, do: [{recv: q, count: all}]}", "never ends");
    expect_error("{name: q, kind: queue, per: all}, {name: s, count: 4}",
                 "{name: p, until: iters(1e12), lanes: 3, do: [{recv: q, count: all}]}",
                 "almost no ops");
    expect_error("{name: s, count: 4}, {name: t, count: 4}",
                 "{name: p, until: iters(1e12), do: [{exchange: s, with: t}]}", "almost no ops");
    expect_error("{name: r, kind: region}, {name: s, count: 4}",
                 "{name: p, until: iters(1e12), do: [{reset: r}, {shuffle: s}]}", "almost no ops");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_lane_has_positions_of_its_own),
        cmocka_unit_test(a_turn_is_16_steps_and_a_lane_that_is_done_drops_out),
        cmocka_unit_test(steps_that_find_nothing_to_do_count_in_a_turn),
        cmocka_unit_test(ops_counts_those_of_all_lanes_and_iters_those_of_each),
        cmocka_unit_test(the_main_lane_builds_the_sets_of_all),
        cmocka_unit_test(a_lane_draws_the_same_whatever_others_do),
        cmocka_unit_test(own_positions_of_a_shared_set_are_cut_evenly_and_never_meet),
        cmocka_unit_test(a_slot_of_a_shared_set_goes_back_to_the_lane_that_had_it_first),
        cmocka_unit_test(a_list_grows_and_closes_its_gaps),
        cmocka_unit_test(a_region_dies_at_once_and_finds_its_slots_again),
        cmocka_unit_test(the_single_frees_of_a_reset_have_an_order_and_the_slots_keep_theirs),
        cmocka_unit_test(toggle_frees_what_is_there_and_fills_what_is_not),
        cmocka_unit_test(exchange_puts_the_new_block_first_and_frees_the_displaced_one),
        cmocka_unit_test(exchange_with_a_set_moves_blocks_without_an_op),
        cmocka_unit_test(shuffle_lets_fifo_free_in_another_order),
        cmocka_unit_test(a_full_window_lets_the_next_survivors_live_and_frees_the_others),
        cmocka_unit_test(a_window_fills_its_holes_and_ends_a_phase_in_the_middle_of_its_frees),
        cmocka_unit_test(a_fixed_size_is_that_of_all_verbs_of_the_set),
        cmocka_unit_test(a_cap_frees_before_a_request_until_it_fits),
        cmocka_unit_test(finally_comes_once_after_the_bodies_of_all_lanes_in_each_repetition),
        cmocka_unit_test(messages_leave_a_queue_at_the_end_that_its_order_says),
        cmocka_unit_test(a_sender_waits_for_room_and_a_receiver_for_a_message),
        cmocka_unit_test(lanes_that_wait_are_served_in_the_order_in_which_they_came),
        cmocka_unit_test(a_full_queue_drops_or_has_the_sender_free),
        cmocka_unit_test(blocks_come_from_a_set_and_go_into_one),
        cmocka_unit_test(the_next_lane_of_the_role_gets_what_is_sent_to_it),
        cmocka_unit_test(receivers_are_done_when_no_sender_is_left),
        cmocka_unit_test(a_phase_that_ends_in_the_middle_of_a_message_loses_no_block),
        cmocka_unit_test(a_receiver_waits_once_for_a_message_and_not_for_each_block),
        cmocka_unit_test(what_stands_still_or_never_ends_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
