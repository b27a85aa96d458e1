/* SPDX-License-Identifier: MIT
 *
 * What a verb does in one step, at one position or with one block: ops are pushed, sets and queues
 * follow. Each step pushes an op, counts as idle, or makes its lane wait.
 */
#include "workload/generate/workload_step.h"

#include "workload/generate/pick.h"
#include "workload/generate/step_block.h"
#include "workload/generate/step_message.h"

enum { POOLED_OPS = 12, GROWN_OPS = 3 }; /* memory of a pooled slot, a grown position, in ops */

static enum ab_status act(struct ab_generator *g, struct ab_instance *s, uint32_t position)
{
    const struct ab_verb *v = g->lane->verb;
    bool is_live = ab_live_set_has(&s->live, position);
    enum ab_status status;
    switch (v->kind) {
    case AB_VERB_ALLOC:
        return is_live ? ab_block_occupied(g, "alloc", v->set, position)
                       : ab_block_alloc_at(g, s, position);
    case AB_VERB_FREE:
        return ab_block_free_at(g, s, position);
    case AB_VERB_TOGGLE:
        return is_live ? ab_block_free_at(g, s, position) : ab_block_alloc_at(g, s, position);
    case AB_VERB_ACCESS:
        return ab_block_access_at(g, s, position);
    case AB_VERB_EXCHANGE:
        return v->other == AB_NO_SET ? ab_block_exchange_new(g, s, position)
                                     : ab_block_exchange_with(g, s, position);
    case AB_VERB_REPLACE:
        status = ab_block_free_at(g, s, position);
        return status != AB_OK ? status : ab_block_alloc_at(g, s, position);
    default:
        return ab_block_resize_at(g, s, position);
    }
}

static enum ab_status step_at_position(struct ab_generator *g, const struct ab_verb *v)
{
    struct ab_generator_lane *lane = g->lane;
    struct ab_instance *s = ab_instance_of(g, v->set, lane->index);
    enum ab_status status = AB_OK;
    if (v->kind == AB_VERB_ALLOC && g->w->sets[v->set].kind != AB_SET_SLOTS)
        status = ab_block_make_room(g, s);
    if (status != AB_OK)
        return status;
    uint32_t position = v->pick >= AB_PICK_FIFO ? lane->picked[lane->step]
                                                : ab_pick_position(g, v, v->set, v->pick);
    lane->step++;
    if (position != AB_NO_POSITION)
        return act(g, s, position);
    if (v->kind != AB_VERB_ALLOC)
        return ab_block_no_op(g);
    if (v->amount != AB_AMOUNT_ALL)
        return ab_block_no_room(g, v->set, s);
    lane->step = lane->n_steps; /* another lane has filled the set meanwhile */
    return ab_generate_idle(g, v->place, 1);
}

/* ---- whole sets ---- */

/* Has the set a live block, or where `save` is not 0, one that is younger than that save point? */
static bool holds_blocks(const struct ab_generator *g, const struct ab_instance *s, uint32_t save)
{
    if (save == 0)
        return s->live.n_live > 0 || s->queue.blocks.n > 0;
    for (uint32_t i = 0; i < s->live.n_live; i++)
        if (ab_tape_is_younger(g->tape, save, ab_instance_slot(s, s->live.members[i])))
            return true;
    const struct ab_ring *ring = &s->queue.blocks;
    for (size_t i = 0; i < ring->n; i++)
        if (ab_tape_is_younger(g->tape, save, ring->items[(ring->begin + i) & (ring->cap - 1)]))
            return true;
    return false;
}

/* A set other than the one that is reset that holds such blocks; the message under way is of none. */
static uint32_t find_live_set(const struct ab_generator *g, const struct ab_instance *reset,
                              uint32_t save)
{
    for (uint32_t i = 0; i < (uint32_t)g->w->n_sets; i++) {
        const struct ab_set_def *set = &g->w->sets[i];
        uint32_t n_lanes = set->is_shared ? 1 : set->end_lane - set->first_lane;
        for (uint32_t k = 0; k < n_lanes; k++) {
            const struct ab_instance *s = &g->instances[g->first_instance[i] + k];
            if (s != reset && holds_blocks(g, s, save))
                return i;
        }
    }
    return AB_NO_SET;
}

/* For `check`: whether it ever frees its n blocks in one call. The count where it does not and nobody
 * knows yet which set is in the way, else NULL. */
static struct ab_reset_count *count_reset(const struct ab_generator *g, const struct ab_verb *v,
                                          uint32_t n, bool is_one)
{
    struct ab_reset_count *count = &g->w->resets[v->cursor];
    count->n += n > 0;
    count->n_bulk += n > 0 && is_one;
    return n > 0 && !is_one && count->other == AB_NO_SET ? count : NULL;
}

/* Nothing lives in the set that did when the scopes around began. */
static void empty_scopes(struct ab_generator_lane *lane, uint32_t set)
{
    for (uint32_t i = 0; i < lane->depth; i++)
        if (lane->loops[i].scope != NULL && lane->loops[i].scope->set == set)
            lane->loops[i].n_before = 0;
}

static enum ab_status free_scope(struct ab_generator *g, const struct ab_loop *scope,
                                 struct ab_instance *s, uint32_t n)
{
    uint32_t *slots = g->lane->picked;
    bool is_one;
    ab_live_set_youngest(&s->live, slots, n);
    for (uint32_t i = 0; i < n; i++) {
        ab_live_set_remove(&s->live, slots[i]);
        slots[i] = s->slots[slots[i]];
    }
    if (ab_tape_release(g->tape, scope->save, slots, n, &is_one, g->err) != AB_OK)
        return ab_block_push_failed(g);
    struct ab_reset_count *unexplained = count_reset(g, scope->scope, n, is_one);
    if (unexplained != NULL)
        unexplained->other = find_live_set(g, NULL, scope->save);
    for (uint32_t i = 0; i < n; i++)
        ab_slot_pool_give(&g->pool, g->tape_lane, ab_tape_count(g->tape), slots[i]);
    return AB_OK;
}

static enum ab_status end_scope(struct ab_generator *g, const struct ab_loop *scope)
{
    struct ab_instance *s = ab_instance_of(g, scope->scope->set, g->lane->index);
    uint32_t n = s->live.n_live - scope->n_before;
    ab_pick_reserve(g->lane, n);
    enum ab_status status = n == 0 ? ab_generate_idle(g, scope->place, 1)
                                   : free_scope(g, scope, s, n);
    ab_tape_forget_mark(g->tape, scope->save);
    return status;
}

/* Slots go back in such an order that the next round finds them where this one did. */
static enum ab_status step_reset(struct ab_generator *g, const struct ab_verb *v)
{
    struct ab_generator_lane *lane = g->lane;
    struct ab_instance *s = ab_instance_of(g, v->set, lane->index);
    uint32_t n = s->live.n_live;
    struct ab_reset_count *unexplained = count_reset(g, v, n, n == ab_tape_live_blocks(g->tape));
    if (unexplained != NULL)
        unexplained->other = find_live_set(g, s, 0);
    empty_scopes(lane, v->set);
    ab_pick_reserve(lane, 2 * (size_t)n);
    uint32_t *slots = lane->picked, *by_age = slots + n;
    ab_pick_live(lane, &s->live, v->pick, slots, n, 1);
    ab_pick_live(lane, &s->live, AB_PICK_FIFO, by_age, n, 1);
    lane->step++;
    for (uint32_t i = 0; i < n; i++) {
        slots[i] = s->slots[slots[i]];
        ab_live_set_remove(&s->live, by_age[i]);
        by_age[i] = s->slots[by_age[i]];
    }
    if (ab_tape_reset(g->tape, slots, n, g->err) != AB_OK)
        return ab_block_push_failed(g);
    for (uint32_t i = n; i-- > 0;)
        ab_slot_pool_give(&g->pool, g->tape_lane, ab_tape_count(g->tape), by_age[i]);
    return AB_OK;
}

/* The blocks change places, the ages of the positions stay: fifo then frees in random order. */
static enum ab_status step_shuffle(struct ab_generator *g, const struct ab_verb *v)
{
    struct ab_instance *s = ab_instance_of(g, v->set, g->lane->index);
    const uint32_t *members = s->live.members;
    g->lane->step++;
    for (uint32_t i = s->live.n_live; i-- > 1;) {
        uint32_t *a = &s->slots[members[i]];
        uint32_t *b = &s->slots[members[ab_rng_below(&g->lane->order, (uint64_t)i + 1)]];
        uint32_t slot = *a;
        *a = *b;
        *b = slot;
    }
    return ab_generate_idle(g, v->place, s->live.n_live);
}

/* ---- any step ---- */

/* Has the phase reached its end, or the tape its limit? */
static enum ab_status after_step(struct ab_generator *g, const struct ab_verb *v)
{
    if (g->phase->until != AB_UNTIL_ITERS && ab_generate_counter(g) >= g->until)
        g->is_done = true;
    uint64_t n_ops = ab_tape_count(g->tape);
    uint64_t charge = n_ops + (uint64_t)g->pool.n * POOLED_OPS + g->n_grown * GROWN_OPS;
    return charge > g->max_ops ? ab_generate_too_many(g, v->place, (double)charge) : AB_OK;
}

enum ab_status ab_step_end_scope(struct ab_generator *g, const struct ab_loop *scope)
{
    struct ab_generator_lane *lane = g->lane;
    const struct ab_verb *verb = lane->verb;
    lane->verb = scope->scope; /* for errors */
    enum ab_status status = end_scope(g, scope);
    lane->verb = verb;
    return status != AB_OK ? status : after_step(g, scope->scope);
}

enum ab_status ab_step(struct ab_generator *g)
{
    const struct ab_verb *v = g->lane->verb;
    enum ab_status status;
    switch (v->kind) {
    case AB_VERB_SEND:
        status = ab_step_send(g, v);
        break;
    case AB_VERB_RECV:
        status = ab_step_recv(g, v);
        break;
    case AB_VERB_RESET:
        status = step_reset(g, v);
        break;
    case AB_VERB_SHUFFLE:
        status = step_shuffle(g, v);
        break;
    default:
        status = step_at_position(g, v);
        break;
    }
    return status != AB_OK ? status : after_step(g, v);
}
