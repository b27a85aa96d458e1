/* SPDX-License-Identifier: MIT
 *
 * The time of the work while its tape is made. Ops take none. It moves at three places: where all lanes
 * of a phase wait and one of them waits for time (`settle`; in a phase that lasts `seconds(t)` also the
 * next `every`); and with `over`, when the ops of a repetition are known and can be spread over it.
 */
#include "workload/generate/generate.h"

#include "core/grow.h"

#include <stdlib.h>

enum { PACES_MOST = 1 << 20 };

static bool is_spread(const struct ab_generator *g)
{
    return g->phase->over_ns != 0;
}

static bool is_timed(const struct ab_generator *g)
{
    return g->phase->until == AB_UNTIL_SECONDS && !g->is_final;
}

/* ---- every ---- */

/* The first `every` below is due when so much has passed. */
static void begin_every(struct ab_generator_lane *lane, const struct ab_verb *body, size_t n,
                        uint64_t begin_ns)
{
    for (const struct ab_verb *v = body; v < body + n; v++) {
        if (v->kind == AB_VERB_EVERY)
            lane->cursors[v->cursor] = begin_ns + v->time_ns;
        begin_every(lane, v->body, v->n_body, begin_ns);
    }
}

void ab_time_begin_lane(struct ab_generator *g, struct ab_generator_lane *lane)
{
    const struct ab_role *role = lane->role;
    lane->body_ns = g->clock.now_ns;
    lane->body_ops = lane->n_ops;
    begin_every(lane, g->is_final ? role->finally : role->body,
                g->is_final ? role->n_finally : role->n_body, g->clock.begin_ns);
}

/* When the next `every` that the body itself leads to is due; UINT64_MAX = it has none. */
static uint64_t next_due(const struct ab_generator_lane *lane, const struct ab_verb *body, size_t n)
{
    uint64_t due = UINT64_MAX;
    for (const struct ab_verb *v = body; v < body + n; v++) {
        uint64_t of_verb = v->kind == AB_VERB_EVERY ? lane->cursors[v->cursor]
                                                    : next_due(lane, v->body, v->n_body);
        due = of_verb < due ? of_verb : due;
    }
    return due;
}

/* With `over` the times of ops are known when their number is: until then the part of `until` that is
 * done stands for them. */
static uint64_t now(const struct ab_generator *g)
{
    const struct ab_phase_def *p = g->phase;
    if (!is_spread(g))
        return g->clock.now_ns;
    bool is_counted = ab_generate_counts(g);
    double done = is_counted ? (double)(ab_generate_counter(g) - g->start)
                             : (double)g->clock.n_bodies;
    double all = is_counted ? (double)(g->until - g->start) : (double)p->limit * (double)p->n_lanes;
    double part = g->is_final || done > all ? 1 : done / all;
    return g->clock.begin_ns + (uint64_t)(part * (double)p->over_ns);
}

uint64_t ab_time_take_due(struct ab_generator *g, const struct ab_verb *every)
{
    uint64_t *due = &g->lane->cursors[every->cursor], at = now(g);
    if (at < *due)
        return 0;
    uint64_t n = (at - *due) / every->time_ns + 1;
    *due += n * every->time_ns;
    return n;
}

/* ---- lanes that wait ---- */

static void await(struct ab_generator *g, struct ab_generator_lane *lane, enum ab_wait what,
                  uint64_t ns)
{
    lane->wait = what;
    lane->wait_ns = ns;
    ab_lane_set_ready(g, lane->index, false);
}

enum ab_status ab_time_settle(struct ab_generator *g, const struct ab_verb *settle)
{
    await(g, g->lane, AB_WAIT_SETTLE, settle->time_ns);
    return ab_generate_idle(g, settle->place, 1);
}

void ab_time_end_iteration(struct ab_generator *g, struct ab_generator_lane *lane)
{
    const struct ab_role *role = lane->role;
    uint64_t due = next_due(lane, role->body, role->n_body);
    bool has_passed = g->clock.now_ns > lane->body_ns;
    bool has_ops = lane->n_ops > lane->body_ops;
    lane->body_ns = g->clock.now_ns;
    lane->body_ops = lane->n_ops;
    if (!has_passed && due > g->clock.now_ns && (due != UINT64_MAX || !has_ops))
        await(g, lane, AB_WAIT_TIME, due);
}

/* All that wait for time, when it has passed. */
static void wake(struct ab_generator *g)
{
    for (uint32_t i = 0; i < g->phase->n_lanes; i++) {
        struct ab_generator_lane *lane = &g->lanes[i];
        bool is_over = lane->wait == AB_WAIT_SETTLE ||
                       (lane->wait == AB_WAIT_TIME &&
                        (lane->wait_ns <= g->clock.now_ns || lane->wait_ns == UINT64_MAX));
        if (!is_over)
            continue;
        if (lane->wait == AB_WAIT_TIME) /* between two iterations; at a settle it is in one */
            lane->body_ns = g->clock.now_ns;
        lane->wait = AB_WAIT_NONE;
        ab_lane_set_ready(g, i, true);
    }
}

static enum ab_status move(struct ab_generator *g, uint64_t to, unsigned flags)
{
    struct ab_err why;
    if (ab_tape_time(g->tape, to, flags, &why) != AB_OK)
        return ab_generate_fail(g, g->phase->place, "phase '%s': %s", g->phase->name, why.text);
    g->clock.now_ns = to;
    return AB_OK;
}

enum ab_status ab_time_pass(struct ab_generator *g, bool *has_passed)
{
    uint64_t settle = 0, due = UINT64_MAX, to;
    bool waits = false;
    for (uint32_t i = 0; i < g->phase->n_lanes; i++) {
        const struct ab_generator_lane *lane = &g->lanes[i];
        if (lane->wait == AB_WAIT_SETTLE && lane->wait_ns > settle)
            settle = lane->wait_ns;
        if (lane->wait == AB_WAIT_TIME && lane->wait_ns < due)
            due = lane->wait_ns;
        waits = waits || lane->wait == AB_WAIT_TIME;
    }
    *has_passed = waits || settle > 0;
    if (!*has_passed)
        return AB_OK;
    to = settle > 0 ? g->clock.now_ns + settle : due;
    if (is_timed(g) && to > g->until)
        to = g->until;
    AB_TRY(move(g, to, settle > 0 ? AB_STEP_IDLE : 0));
    g->is_done = g->is_done || (is_timed(g) && to >= g->until);
    wake(g);
    return AB_OK;
}

/* ---- over ---- */

void ab_time_begin(struct ab_generator *g)
{
    g->clock.begin_ns = g->clock.now_ns;
    g->clock.n_bodies = 0;
    g->clock.n_paces = 0;
    g->clock.stride = 1;
    if (is_spread(g))
        ab_time_note_ops(g);
}

static void thin_out(struct ab_clock *c)
{
    for (size_t i = 0; 2 * i < c->n_paces; i++)
        c->paces[i] = c->paces[2 * i];
    c->n_paces = (c->n_paces + 1) / 2;
    c->stride *= 2;
}

void ab_time_note_ops(struct ab_generator *g)
{
    struct ab_clock *c = &g->clock;
    uint64_t n_ops = ab_tape_count(g->tape) - g->begin;
    if (!is_spread(g) || (c->n_paces > 0 && n_ops < c->paces[c->n_paces - 1].n_ops + c->stride))
        return;
    if (c->n_paces == PACES_MOST)
        thin_out(c);
    AB_GROW(c->paces, c->cap_paces, c->n_paces);
    c->paces[c->n_paces++] = (struct ab_pace){ab_tape_pushed(g->tape), (uint32_t)n_ops};
}

/* The op after n_ops others is the one of number n_ops + 1. */
enum ab_status ab_time_end(struct ab_generator *g)
{
    const struct ab_clock *c = &g->clock;
    double n_ops = (double)(ab_tape_count(g->tape) - g->begin), over = (double)g->phase->over_ns;
    if (!is_spread(g))
        return AB_OK;
    for (size_t i = 0; i < c->n_paces && c->paces[i].n_ops < n_ops; i++) {
        uint64_t at = (uint64_t)((c->paces[i].n_ops + 1) / n_ops * over);
        AB_TRY(ab_tape_time_at(g->tape, c->paces[i].pushed, c->begin_ns + at, 0, g->err));
    }
    return move(g, c->begin_ns + g->phase->over_ns, 0);
}
