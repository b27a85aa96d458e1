/* SPDX-License-Identifier: MIT
 *
 * Which lanes the window binds and how far: not at all where the live bytes need it not, else so
 * that no schedule that the guards allow goes more than a tenth above the peak. Schedules are tried
 * that are as bad as can be: every lane goes on until it frees, and frees come last.
 */
#include "base/rng.h"
#include "support/cmocka.h"
#include "tape/layout.h"

#include <stdlib.h>
#include <string.h>

static struct ab_err err;
static struct ab_rng rng;

static uint32_t below(uint32_t n)
{
    return (uint32_t)ab_rng_below(&rng, n);
}

/* ---- tapes, and what is known about them ---- */

struct plan {
    struct ab_tape_builder *b;
    struct ab_tape tape;
    struct ab_tape_window window;
    uint32_t n_slots, again; /* again: slot + 1 that the next alloc takes, 0 = a new one */
    uint64_t live, peak;     /* weighed */
    uint64_t sizes[1 << 16];
};

static void begin(struct plan *p)
{
    memset(p, 0, sizeof *p);
    p->b = ab_tape_begin();
    assert_non_null(p->b);
    ab_tape_set_window(p->b, AB_WINDOW_AUTO, true);
    assert_int_equal(ab_tape_phase(p->b, "p", true, &err), AB_OK);
}

static uint32_t alloc(struct plan *p, uint32_t lane, uint64_t size)
{
    const struct ab_request r = {.size = size};
    uint32_t slot = p->again != 0 ? p->again - 1 : p->n_slots++;
    assert_true(slot < 1 << 16);
    p->again = 0;
    assert_int_equal(ab_tape_lane(p->b, lane, &err), AB_OK);
    assert_int_equal(ab_tape_alloc(p->b, slot, &r, &err), AB_OK);
    p->sizes[slot] = size;
    p->live += size + AB_BLOCK_WEIGHT;
    p->peak = p->live > p->peak ? p->live : p->peak;
    return slot;
}

/* The slot is not used again, so that no edge comes of it. */
static void release(struct plan *p, uint32_t lane, uint32_t slot)
{
    assert_int_equal(ab_tape_lane(p->b, lane, &err), AB_OK);
    assert_int_equal(ab_tape_free(p->b, slot, &err), AB_OK);
    p->live -= p->sizes[slot] + AB_BLOCK_WEIGHT;
}

static void end(struct plan *p)
{
    for (uint32_t l = 0; l < p->b->n_lanes; l++)
        ab_tape_end_crest(&p->b->lanes[l]);
    ab_tape_choose_window(p->b, 0, p->b->edges, p->b->n_edges, &p->window);
    assert_int_equal(ab_tape_end(p->b, &p->tape, &err), AB_OK);
}

static void drop(struct plan *p)
{
    ab_tape_fini(&p->tape);
}

static uint64_t bound_of(const struct plan *p)
{
    uint64_t tenth = p->peak / 10, spare = (uint64_t)p->tape.facts.lanes * AB_WINDOW_SPARE;
    return p->peak + (tenth > spare ? tenth : spare);
}

static uint32_t count_waits(const struct ab_tape *tape, uint32_t slot)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < tape->n_ops; i++)
        n += AB_OP_CODE(tape->ops[i]) == AB_CODE_WAIT && AB_OP_SLOT(tape->ops[i]) == slot;
    return n;
}

/* In the slot, unless that is the other one. */
static uint32_t alloc_again(struct plan *p, uint32_t lane, uint32_t slot, uint32_t but,
                            uint64_t size)
{
    p->again = slot == but ? 0 : slot + 1;
    return alloc(p, lane, size);
}

/* ---- schedules ---- */

struct run {
    const struct ab_tape *tape;
    uint32_t at[AB_LANES_MAX], published[AB_LANES_MAX], frame[AB_LANES_MAX], group[AB_LANES_MAX];
    uint64_t *sizes, live, worst;
};

static bool is_over(const struct run *r, uint32_t lane)
{
    return r->at[lane] == r->tape->lane_begin[lane + 1];
}

static uint32_t frame_of(const struct run *r, uint32_t lane)
{
    return is_over(r, lane) ? UINT32_MAX : r->frame[lane];
}

/* Passes the guards in front of the lane's next op. False where it has to wait. */
static bool pass_guards(struct run *r, uint32_t lane)
{
    for (; !is_over(r, lane); r->at[lane]++) {
        uint64_t op = r->tape->ops[r->at[lane]];
        uint32_t slot = AB_OP_SLOT(op), n = AB_OP_SIZE(op);
        if (AB_OP_CODE(op) == AB_CODE_PUBLISH) {
            r->published[lane] = n;
            continue;
        }
        if (AB_OP_CODE(op) != AB_CODE_WAIT)
            return true;
        if (slot == AB_SLOT_FRAME)
            r->frame[lane] = n;
        for (uint32_t l = 0; slot == AB_SLOT_FRAME && l < r->tape->facts.lanes; l++)
            if (r->group[l] == r->group[lane] && frame_of(r, l) < n - 1)
                return false;
        if (slot < AB_SLOT_GROUP && !is_over(r, AB_LANE_OF_SLOT(slot)) &&
            r->published[AB_LANE_OF_SLOT(slot)] < n)
            return false;
    }
    return false;
}

static bool frees_next(const struct run *r, uint32_t lane)
{
    return AB_OP_CODE(r->tape->ops[r->at[lane]]) == AB_CODE_FREE;
}

static void run_op(struct run *r, uint32_t lane)
{
    uint64_t op = r->tape->ops[r->at[lane]++];
    uint64_t *size = &r->sizes[AB_OP_SLOT(op)];
    if (AB_OP_CODE(op) == AB_CODE_FREE) {
        assert_int_not_equal(*size, 0);
        r->live -= *size;
        *size = 0;
    } else {
        assert_int_equal(*size, 0);
        *size = AB_OP_SIZE(op) + AB_BLOCK_WEIGHT;
        r->live += *size;
    }
    r->worst = r->live > r->worst ? r->live : r->worst;
}

/* Lets all lanes tell where they are, as far as they come without an op. */
static void tell(struct run *r)
{
    uint64_t before, after = 0;
    do {
        before = after;
        after = 0;
        for (uint32_t l = 0; l < r->tape->facts.lanes; l++) {
            pass_guards(r, l);
            after += r->at[l] + (uint64_t)r->frame[l];
        }
    } while (after != before);
}

/* One op of some lane, a free only if nothing else can be done. False when all is done. */
static bool go_on(struct run *r)
{
    uint32_t n = r->tape->facts.lanes, first = below(n), freeing = UINT32_MAX;
    tell(r);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t lane = (first + i) % n;
        if (!pass_guards(r, lane))
            continue;
        if (frees_next(r, lane)) {
            freeing = freeing == UINT32_MAX ? lane : freeing;
            continue;
        }
        while (pass_guards(r, lane) && !frees_next(r, lane))
            run_op(r, lane);
        return true;
    }
    if (freeing != UINT32_MAX)
        run_op(r, freeing);
    return freeing != UINT32_MAX;
}

/* The most that ever lived. */
static uint64_t run_badly(const struct ab_tape *tape)
{
    struct run r = {.tape = tape, .sizes = calloc(tape->n_slots + 1u, sizeof(uint64_t))};
    for (uint32_t l = 0; l < tape->facts.lanes; l++) {
        uint64_t op = tape->ops[r.at[l] = tape->lane_begin[l]];
        r.group[l] = AB_OP_CODE(op) == AB_CODE_WAIT && AB_OP_SLOT(op) == AB_SLOT_GROUP
                         ? AB_OP_SIZE(op)
                         : UINT32_MAX;
    }
    while (go_on(&r)) {
    }
    for (uint32_t l = 0; l < tape->facts.lanes; l++)
        assert_true(is_over(&r, l)); /* else it hangs */
    free(r.sizes);
    return r.worst;
}

/* ---- cases ---- */

static struct plan p;

/* Each lane has blocks of its own and replaces them in turn. */
static void lanes_that_share_nothing_run_free(void **state)
{
    (void)state;
    uint32_t live[16][8];
    begin(&p);
    for (uint32_t i = 0; i < 16 * 8; i++)
        live[i % 16][i / 16] = alloc(&p, i % 16, 500);
    for (uint32_t i = 0; i < 40000; i++) {
        uint32_t lane = below(16), *slot = &live[lane][below(8)];
        release(&p, lane, *slot);
        p.again = *slot + 1;
        *slot = alloc(&p, lane, 500);
    }
    end(&p);
    assert_int_equal(p.tape.window, 0);
    assert_int_equal(count_waits(&p.tape, AB_SLOT_FRAME), 0);
    assert_int_equal(p.tape.n_edges, 0);
    assert_true(run_badly(&p.tape) <= bound_of(&p));
    drop(&p);
}

/* Lanes 2i and 2i + 1: one allocates, the other frees, so many blocks later. */
static void push_pairs(uint32_t n_pairs, uint32_t n, uint32_t live)
{
    uint32_t *slots = calloc((size_t)n_pairs * n, sizeof slots[0]);
    begin(&p);
    for (uint32_t i = 0; i < n + live; i++)
        for (uint32_t pair = 0; pair < n_pairs; pair++) {
            if (i < n)
                slots[pair * n + i] = alloc(&p, 2 * pair, 100);
            if (i >= live)
                release(&p, 2 * pair + 1, slots[pair * n + i - live]);
        }
    end(&p);
    free(slots);
}

static void a_pipeline_is_kept_within_a_tenth(void **state)
{
    (void)state;
    push_pairs(1, 50000, 5000);
    assert_in_range(p.tape.window, 300, 1000);
    assert_true(count_waits(&p.tape, AB_SLOT_FRAME) > 0);
    assert_int_equal(count_waits(&p.tape, AB_SLOT_GROUP), 0); /* it binds both */
    for (int i = 0; i < 10; i++)
        assert_in_range(run_badly(&p.tape), p.peak, bound_of(&p));
    drop(&p);
}

static void pairs_are_bound_each_for_itself(void **state)
{
    (void)state;
    push_pairs(4, 15000, 2000);
    assert_true(p.tape.window >= AB_WINDOW_LEAST);
    assert_int_equal(count_waits(&p.tape, AB_SLOT_GROUP), 8);
    for (uint32_t l = 0; l < 8; l++) {
        uint64_t op = p.tape.ops[p.tape.lane_begin[l]];
        uint64_t other = p.tape.ops[p.tape.lane_begin[l ^ 1]];
        uint64_t stranger = p.tape.ops[p.tape.lane_begin[(l + 2) % 8]];
        assert_int_equal(AB_OP_SLOT(op), AB_SLOT_GROUP);
        assert_int_equal(op, other);
        assert_int_not_equal(op, stranger);
    }
    for (int i = 0; i < 10; i++)
        assert_in_range(run_badly(&p.tape), p.peak, bound_of(&p));
    drop(&p);
}

/* They share nothing, but all at once they would hold four times what they did. */
static void lanes_that_had_their_peaks_one_after_another_keep_that_order(void **state)
{
    (void)state;
    uint32_t slots[2000];
    begin(&p);
    for (uint32_t lane = 0; lane < 4; lane++)
        alloc(&p, lane, 16);
    for (uint32_t round = 0; round < 8; round++) {
        for (uint32_t i = 0; i < 2000; i++)
            slots[i] = alloc(&p, round % 4, 1000);
        for (uint32_t i = 0; i < 2000; i++)
            release(&p, round % 4, slots[i]);
    }
    end(&p);
    assert_int_equal(p.tape.n_edges, 0);
    assert_true(p.tape.window >= 512);
    assert_int_equal(count_waits(&p.tape, AB_SLOT_GROUP), 0);
    for (int i = 0; i < 10; i++)
        assert_in_range(run_badly(&p.tape), p.peak, bound_of(&p));
    drop(&p);
}

/* Lanes of any number and share of foreign frees, sizes and pauses; what the window promises. */
static void push_chaos(uint32_t n_lanes)
{
    uint32_t *live = calloc(4096, sizeof live[0]), n_live = 0, lane = 0;
    uint32_t most = 1 + below(below(2) == 0 ? 60 : 4000), foreign = below(4) * below(50),
             run = 1 + below(400);
    uint8_t *born = calloc(1 << 16, 1);
    begin(&p);
    for (uint32_t i = 0; i < 40000 && p.n_slots < (1 << 16) - 1; i++) {
        lane = below(run) == 0 ? below(n_lanes) : lane;
        if (n_live < most && (n_live == 0 || below(2) == 0)) {
            live[n_live] = alloc(&p, lane, 1 + below(below(300) == 0 ? 20000 : 500));
            born[live[n_live++]] = (uint8_t)lane;
        } else {
            uint32_t at = below(n_live), slot = live[at];
            release(&p, below(100) < foreign ? lane : born[slot], slot);
            live[at] = live[--n_live];
        }
    }
    end(&p);
    free(live);
    free(born);
}

static void no_schedule_goes_further_than_the_window_promises(void **state)
{
    (void)state;
    uint32_t n_bound = 0;
    for (uint32_t i = 0; i < 60; i++) {
        ab_rng_init(&rng, 3, i);
        push_chaos(2 + below(15));
        bool is_kept = p.window.worst <= (int64_t)bound_of(&p); /* else as well as can be */
        for (int k = 0; k < 2; k++)
            assert_true((int64_t)run_badly(&p.tape) <= p.window.worst);
        n_bound += is_kept && p.window.frame_ops != 0;
        drop(&p);
    }
    assert_true(n_bound >= 10);
}

/* What a lane holds while it pauses is known: it is not taken for the most that it ever held. */
static void a_lane_that_pauses_holds_what_it_has_then(void **state)
{
    (void)state;
    begin(&p);
    for (uint32_t round = 0; round < 40; round++)
        for (uint32_t lane = 0; lane < 4; lane++) {
            uint32_t big = alloc(&p, lane, 1 << 20), slot = big;
            for (uint32_t i = 0; i < 600; i++)
                release(&p, lane, slot = alloc_again(&p, lane, slot, big, 16));
            release(&p, lane, big);
            for (uint32_t i = 0; i < 600; i++)
                release(&p, lane, slot = alloc_again(&p, lane, slot, big, 16));
        }
    end(&p);
    assert_in_range(p.tape.window, AB_WINDOW_LEAST + 1, 4096);
    for (int i = 0; i < 5; i++)
        assert_in_range(run_badly(&p.tape), p.peak, bound_of(&p));
    drop(&p);
}

static void a_window_that_was_asked_for_binds_all(void **state)
{
    (void)state;
    for (uint32_t window = 0; window <= 2000; window += 1000) {
        begin(&p);
        ab_tape_set_window(p.b, window, true);
        for (uint32_t i = 0; i < 20000; i++)
            release(&p, i % 4, alloc(&p, i % 4, 100));
        end(&p);
        assert_int_equal(p.tape.window, window);
        assert_int_equal(count_waits(&p.tape, AB_SLOT_FRAME) > 0, window > 0);
        assert_int_equal(count_waits(&p.tape, AB_SLOT_GROUP), 0);
        drop(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_that_share_nothing_run_free),
        cmocka_unit_test(a_pipeline_is_kept_within_a_tenth),
        cmocka_unit_test(pairs_are_bound_each_for_itself),
        cmocka_unit_test(lanes_that_had_their_peaks_one_after_another_keep_that_order),
        cmocka_unit_test(no_schedule_goes_further_than_the_window_promises),
        cmocka_unit_test(a_lane_that_pauses_holds_what_it_has_then),
        cmocka_unit_test(a_window_that_was_asked_for_binds_all),
    };
    ab_rng_init(&rng, 1, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
