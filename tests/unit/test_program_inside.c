/* SPDX-License-Identifier: MIT
 *
 * Time inside the allocator, computed from what an interposer would have counted, with a tick counter that moves
 * in steps of 10 ns.
 */
#include "inside/inside.h"
#include "program/program.h"
#include "result/numbers.h"

#include "base/rng.h"
#include "result/result_fields.h"
#include "result/session.h"
#include "support/cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 8, STEP = 26, TIMED = 20000, EMPTY = 256, CLASS = 5 };
static const double ns_per_tick = 10.0 / STEP;

/* What the counter shows of `ns`, begun at any moment of a step. */
static uint64_t read_ticks(struct ab_rng *rng, double ns)
{
    return (uint64_t)floor(ns / 10 + (double)ab_rng_below(rng, 1 << 20) / (1 << 20)) * STEP;
}

static void time_calls(struct ab_inside_file *f, struct ab_rng *rng, unsigned kind, double ns)
{
    f->n_slots = 1;
    f->slots[0].calls[kind][CLASS] = UINT64_C(128) * TIMED;
    for (unsigned i = 0; i < TIMED; i++)
        f->sampled[kind][CLASS].ticks += read_ticks(rng, ns);
    f->sampled[kind][CLASS].n = TIMED;
}

static struct ab_inside_file *new_file(struct ab_rng *rng, double empty_ns)
{
    struct ab_inside_file *f = aligned_alloc(_Alignof(struct ab_inside_file), sizeof *f);
    assert_non_null(f);
    memset(f, 0, sizeof *f);
    f->n_processes = 1;
    f->empty_call = (uint64_t)(1.3 / ns_per_tick * AB_INSIDE_NULL_SCALE);
    for (unsigned i = 0; i < EMPTY; i++) {
        const uint64_t ticks = read_ticks(rng, empty_ns);
        f->empty_ticks.counts[ab_hdr_index(ticks)]++;
        f->hdrs[AB_INSIDE_NULL].counts[ab_hdr_index((uint64_t)((double)ticks * ns_per_tick))]++;
    }
    return f;
}

struct program {
    struct ab_session s;
    struct ab_inside_empty empty;
    struct ab_rng rng;
};

static struct program *new_program(void)
{
    struct program *p = calloc(1, sizeof *p);
    assert_non_null(p);
    ab_rng_init(&p->rng, 7, 1);
    return p;
}

static struct ab_result *add_round(struct program *p, uint32_t round, struct ab_inside_file *f)
{
    if (p->s.results == NULL) /* callers keep pointers into the list */
        p->s.results = calloc(100, sizeof p->s.results[0]);
    p->s.cap_results = 100;
    const uint32_t all = p->s.n_results++;
    p->s.results[all] = (struct ab_result){
        .phase = AB_PROGRAM_PHASE, .op = AB_OP_ALL, .round = round};
    ab_fields_forget_all(&p->s.results[all]);
    ab_inside_take_empty(f, &p->empty);
    ab_inside_note(f, &p->empty, ns_per_tick, 1e9, &p->s, all);
    free(f);
    return &p->s.results[all];
}

static void free_program(struct program *p)
{
    free(p->empty.ticks);
    ab_session_fini(&p->s);
    free(p);
}

static void a_counter_in_steps_moves_no_round(void **state)
{
    struct program *p = new_program();
    struct ab_result *rounds[ROUNDS];
    bool has_median[2] = {false, false};
    (void)state;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct ab_inside_file *f = new_file(&p->rng, 25);
        time_calls(f, &p->rng, AB_INSIDE_ALLOC, 32);
        rounds[i] = add_round(p, i, f);
    }
    ab_inside_settle(&p->empty, ns_per_tick, &p->s);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        has_median[rounds[i]->inside_floor_ns > 25] = true;
        assert_true(fabs(rounds[i]->inside_ns_per_call - 7) < 1);
        assert_true(rounds[i]->inside_subtracted_ns == rounds[0]->inside_subtracted_ns);
        assert_true(fabs(rounds[i]->inside_ns - 128.0 * TIMED * rounds[i]->inside_ns_per_call) < 1);
        assert_true(fabs(rounds[i]->inside_ns + rounds[i]->outside_ns + rounds[i]->interposer_ns -
                         1e9) < 1);
    }
    assert_true(has_median[0] && has_median[1]); /* the median is off by half a step, either way */
    free_program(p);
}

static void no_part_of_a_sum_is_cut_at_0(void **state)
{
    struct program *p = new_program();
    struct ab_inside_file *f = new_file(&p->rng, 25);
    (void)state;
    time_calls(f, &p->rng, AB_INSIDE_ALLOC, 33);
    time_calls(f, &p->rng, AB_INSIDE_FREE, 21); /* less than an empty call */
    f->sites.is_wanted = 1;
    f->sites.sites[0] = (struct ab_inside_site){1,
                                                {TIMED, f->sampled[AB_INSIDE_ALLOC][CLASS].ticks}};
    f->sites.sites[1] = (struct ab_inside_site){2,
                                                {TIMED, f->sampled[AB_INSIDE_FREE][CLASS].ticks}};
    const struct ab_result *r = add_round(p, 0, f);
    ab_inside_settle(&p->empty, ns_per_tick, &p->s);
    assert_true(fabs(r->inside_ns_per_call - 2) < 1);
    assert_int_equal(p->s.n_call_sites, 2);
    assert_true(p->s.call_sites[1].inside_ns < 0);
    assert_true(fabs(p->s.call_sites[0].inside_ns + p->s.call_sites[1].inside_ns - r->inside_ns) <
                1e-6 * r->inside_ns);
    free_program(p);
}

static void less_than_an_empty_call_is_not_known(void **state)
{
    struct program *p = new_program();
    struct ab_result *rounds[2];
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct ab_inside_file *f = new_file(&p->rng, 25);
        time_calls(f, &p->rng, AB_INSIDE_ALLOC, i == 0 ? 25.5 : 30);
        f->sites.is_wanted = 1;
        f->sites.unknown = f->sampled[AB_INSIDE_ALLOC][CLASS];
        rounds[i] = add_round(p, i, f);
    }
    ab_inside_settle(&p->empty, ns_per_tick, &p->s);
    assert_true(isnan(rounds[0]->inside_ns) && isnan(rounds[0]->inside_ns_per_call));
    assert_true(isnan(rounds[0]->outside_ns) && isnan(p->s.call_sites[0].inside_ns));
    assert_true(isfinite(rounds[0]->inside_subtracted_ns));
    assert_true(fabs(rounds[0]->inside_empty_call_ns - 1.3) < 0.01);
    assert_true(rounds[1]->inside_ns > 0 && p->s.call_sites[1].inside_ns > 0);
    free_program(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_counter_in_steps_moves_no_round),
        cmocka_unit_test(no_part_of_a_sum_is_cut_at_0),
        cmocka_unit_test(less_than_an_empty_call_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
