/* SPDX-License-Identifier: MIT
 *
 * A lane's body, as far as its turn goes. Where a lane is, is kept in records, not on the stack, so
 * that it can stop in the middle of a verb and go on in its next turn.
 */
#include "workload/generate/interpret.h"
#include "workload/generate/pick.h"
#include "workload/generate/workload_step.h"

#include "base/bits.h"

enum { STALLED_ITERS = 1000000, PROBE_ITERS = 16 };

void ab_interpret_begin(struct ab_generator *g, struct ab_generator_lane *lane)
{
    const struct ab_phase_def *p = g->phase;
    lane->verb = NULL;
    lane->queue = NULL;
    lane->is_refused = lane->is_finished = false;
    lane->wait = AB_WAIT_NONE;
    lane->depth = 1;
    lane->loops[0] = (struct ab_loop){.body = lane->role->body,
                                      .n_body = lane->role->n_body,
                                      .limit = p->limit,
                                      .begin = lane->n_ops,
                                      .place = p->place};
}

enum ab_status ab_interpret_probe(struct ab_generator *g, const struct ab_loop *loop,
                                  uint64_t n_ops)
{
    if (loop->done < PROBE_ITERS || !ab_is_pow2(loop->done))
        return AB_OK;
    double made = (double)(n_ops - loop->begin);
    double total = (double)ab_tape_count(g->tape) - made +
                   made / (double)loop->done * (double)loop->limit;
    return total > 2.0 * (double)g->max_ops ? ab_generate_too_many(g, loop->place, total) : AB_OK;
}

/* At the pace of the phase so far, will there be too many ops when its counter is where it shall? */
static enum ab_status check_pace(struct ab_generator *g, uint64_t n_ops)
{
    double made = (double)(n_ops - g->begin), risen = (double)(g->highest - g->start);
    double total = (double)g->begin + made / risen * (double)(g->until - g->start);
    g->probe_at = n_ops + (n_ops - g->begin);
    return total > 2.0 * (double)g->max_ops ? ab_generate_too_many(g, g->phase->place, total)
                                            : AB_OK;
}

/* ops, allocated, live: an iteration is over; the counter must keep rising. */
static enum ab_status check_rise(struct ab_generator *g)
{
    const struct ab_phase_def *p = g->phase;
    uint64_t counter = ab_generate_counter(g), n_ops = ab_tape_count(g->tape);
    g->stalled++;
    if (counter > g->highest) {
        g->highest = counter;
        g->highest_at = n_ops;
        g->stalled = 0;
    }
    bool is_costly = g->stalled >= PROBE_ITERS && n_ops - g->highest_at >= AB_PROBE_OPS;
    if (g->stalled >= STALLED_ITERS || is_costly)
        return ab_generate_fail(g, p->place,
                                "never ends: no progress towards 'until' in %llu iterations "
                                "(%llu of %llu)",
                                (unsigned long long)g->stalled,
                                (unsigned long long)(g->highest - (g->until - p->limit)),
                                (unsigned long long)p->limit);
    return n_ops >= g->probe_at && g->highest > g->start ? check_pace(g, n_ops) : AB_OK;
}

static enum ab_status end_iteration(struct ab_generator *g, struct ab_generator_lane *lane)
{
    struct ab_loop *loop = &lane->loops[lane->depth - 1];
    loop->next = 0;
    if (lane->depth == 1 && g->phase->until != AB_UNTIL_ITERS)
        return check_rise(g);
    loop->done++;
    enum ab_status status = ab_interpret_probe(g, loop, lane->n_ops);
    if (status == AB_OK && lane->depth == 1 && g->phase->each[0] != 0)
        status = ab_tape_iteration(g->tape, g->err);
    if (loop->done < loop->limit)
        return status;
    if (status == AB_OK && loop->scope != NULL)
        status = ab_step_end_scope(g, loop);
    lane->is_finished = --lane->depth == 0;
    return status;
}

/* The smallest thing to do next. */
static enum ab_status advance(struct ab_generator *g, struct ab_generator_lane *lane)
{
    if (lane->verb != NULL && lane->step < lane->n_steps)
        return ab_step(g);
    lane->verb = NULL;
    struct ab_loop *loop = &lane->loops[lane->depth - 1];
    if (loop->next == loop->n_body)
        return end_iteration(g, lane);
    const struct ab_verb *v = &loop->body[loop->next++];
    if (v->n_body == 0) {
        lane->verb = v;
        return ab_pick_begin(g, v);
    }
    lane->loops[lane->depth++] = (struct ab_loop){.body = v->body,
                                                  .n_body = v->n_body,
                                                  .limit = v->count,
                                                  .begin = lane->n_ops,
                                                  .place = v->place};
    if (v->kind == AB_VERB_SCOPE) {
        loop = &lane->loops[lane->depth - 1];
        loop->scope = v;
        loop->n_before = ab_instance_of(g, v->set, lane->index)->live.n_live;
        return ab_tape_mark(g->tape, &loop->save, g->err);
    }
    return AB_OK;
}

enum ab_status ab_interpret_end(struct ab_generator *g, struct ab_generator_lane *lane)
{
    enum ab_status status = AB_OK;
    for (; lane->depth > 0 && status == AB_OK; lane->depth--)
        if (lane->loops[lane->depth - 1].scope != NULL)
            status = ab_step_end_scope(g, &lane->loops[lane->depth - 1]);
    return status;
}

enum ab_status ab_interpret_turn(struct ab_generator *g, struct ab_generator_lane *lane)
{
    enum ab_status status = AB_OK;
    uint64_t n_ops = ab_tape_count(g->tape), begin = n_ops + g->idle;
    while (status == AB_OK && !lane->is_finished && !g->is_done && lane->wait == AB_WAIT_NONE &&
           ab_tape_count(g->tape) + g->idle - begin < AB_TURN_STEPS) {
        status = advance(g, lane);
        lane->n_ops += ab_tape_count(g->tape) - n_ops;
        n_ops = ab_tape_count(g->tape);
    }
    return status;
}
