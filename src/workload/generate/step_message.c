/* SPDX-License-Identifier: MIT
 *
 * Blocks from lane to lane: messages into a queue and out of it.
 */
#include "workload/generate/step_message.h"

#include "workload/generate/pick.h"
#include "workload/generate/step_block.h"

static struct ab_queue *queue_of(const struct ab_generator *g, const struct ab_verb *v)
{
    const struct ab_role *role = g->lane->role;
    uint32_t lane = g->lane->index;
    if (v->to_next_lane)
        lane = role->first_lane + (lane - role->first_lane + 1) % role->n_lanes;
    return &ab_instance_of(g, v->set, lane)->queue;
}

static enum ab_status wait_for(struct ab_generator *g, enum ab_wait what, struct ab_queue *q)
{
    struct ab_generator_lane *lane = g->lane;
    lane->wait = what;
    lane->waits_at = q;
    ab_lane_set_ready(g, lane->index, false);
    struct ab_ring *line = what == AB_WAIT_ROOM ? &q->for_room : &q->for_message;
    ab_line_join(line, lane->index);
    return AB_OK;
}

/* The lane goes on, with the queue as if it had found it so by itself. */
static struct ab_generator_lane *wake(struct ab_generator *g, uint32_t index, struct ab_queue *q)
{
    struct ab_generator_lane *lane = &g->lanes[index];
    lane->wait = AB_WAIT_NONE;
    lane->queue = q;
    ab_lane_set_ready(g, index, true);
    return lane;
}

static bool has_room(const struct ab_queue *q, const struct ab_set_def *def)
{
    return def->count == 0 || q->lengths.n + q->n_reserved < def->count;
}

/* Room goes to the sender that waits longest. */
static void offer_room(struct ab_generator *g, const struct ab_set_def *def, struct ab_queue *q)
{
    uint32_t waiting;
    if (!has_room(q, def) || !ab_line_next(&q->for_room, &waiting))
        return;
    q->n_reserved++;
    wake(g, waiting, q);
}

/* A message goes to the receiver that waits longest, else into the queue. */
static void deliver(struct ab_generator *g, struct ab_queue *q, struct ab_message *m)
{
    uint32_t waiting;
    if (!ab_line_next(&q->for_message, &waiting)) {
        ab_queue_put(q, m, false);
        return;
    }
    struct ab_generator_lane *receiver = wake(g, waiting, q);
    struct ab_message empty = receiver->message;
    receiver->message = *m;
    *m = empty;
}

/* Begins a message: a place in the queue, or what the queue does when it is full. False when there
 * is nothing to put into a message now. */
static bool begin_message(struct ab_generator *g, const struct ab_verb *v, enum ab_status *status)
{
    struct ab_generator_lane *lane = g->lane;
    const struct ab_set_def *def = &g->w->sets[v->set];
    struct ab_queue *q = queue_of(g, v);
    if (has_room(q, def)) {
        lane->queue = q;
        q->n_reserved++;
        return true;
    }
    lane->is_refused = def->on_full == AB_ON_FULL_FREE;
    if (def->on_full == AB_ON_FULL_BLOCK)
        *status = wait_for(g, AB_WAIT_ROOM, q);
    if (def->on_full == AB_ON_FULL_DROP) {
        lane->step += def->unit < lane->n_steps - lane->step ? def->unit
                                                             : lane->n_steps - lane->step;
        *status = ab_block_no_op(g);
    }
    return lane->is_refused;
}

/* One more block for the message, new or out of a set; AB_NO_POSITION when there was none. */
static enum ab_status next_block(struct ab_generator *g, const struct ab_verb *v, uint32_t *slot)
{
    *slot = AB_NO_POSITION;
    if (v->other == AB_NO_SET)
        return ab_block_alloc_pooled(g, slot);
    struct ab_instance *from = ab_instance_of(g, v->other, g->lane->index);
    uint32_t position = ab_pick_position(g, v, v->other, v->pick);
    if (position == AB_NO_POSITION || !ab_live_set_has(&from->live, position))
        return ab_block_no_op(g);
    *slot = from->slots[position];
    ab_live_set_remove(&from->live, position);
    return ab_generate_idle(g, v->place, 1);
}

static enum ab_status end_message(struct ab_generator *g, const struct ab_verb *v)
{
    struct ab_generator_lane *lane = g->lane;
    struct ab_queue *q = lane->queue;
    enum ab_status status = AB_OK;
    lane->queue = NULL;
    lane->is_refused = false;
    if (q == NULL)
        return AB_OK;
    q->n_reserved--;
    if (lane->message.n > 0)
        deliver(g, q, &lane->message);
    offer_room(g, &g->w->sets[v->set], q); /* delivered immediately, or nothing to send */
    return status;
}

enum ab_status ab_step_send(struct ab_generator *g, const struct ab_verb *v)
{
    struct ab_generator_lane *lane = g->lane;
    enum ab_status status = AB_OK;
    uint32_t slot;
    if (lane->queue == NULL && !lane->is_refused && !begin_message(g, v, &status))
        return status;
    status = next_block(g, v, &slot);
    if (status == AB_OK && slot != AB_NO_POSITION) {
        if (lane->is_refused)
            status = ab_block_free_pooled(g, slot);
        else
            ab_message_add(&lane->message, slot);
    }
    lane->step++;
    if (status == AB_OK &&
        (lane->step % g->w->sets[v->set].unit == 0 || lane->step == lane->n_steps))
        status = end_message(g, v);
    return status;
}

/* A received block finds its place in a set. */
static enum ab_status settle(struct ab_generator *g, const struct ab_verb *v, uint32_t slot)
{
    struct ab_instance *s = ab_instance_of(g, v->other, g->lane->index);
    enum ab_status status = AB_OK;
    if (g->w->sets[v->other].kind != AB_SET_SLOTS)
        status = ab_block_make_room(g, s);
    if (status != AB_OK)
        return status;
    uint32_t position = ab_pick_position(g, v, v->other, v->pick);
    if (position == AB_NO_POSITION)
        return ab_block_no_room(g, v->other, s);
    if (ab_live_set_has(&s->live, position))
        return ab_block_occupied(g, "recv", v->other, position);
    s->slots[position] = slot;
    ab_live_set_add(&s->live, position);
    return ab_generate_idle(g, v->place, 1);
}

/* The message that the lane takes apart, its own or the next one of the queue. Its last block is
 * the youngest: one wait for it does for all. */
static enum ab_status hold_message(struct ab_generator *g, const struct ab_verb *v,
                                   struct ab_queue *q)
{
    struct ab_generator_lane *lane = g->lane;
    const struct ab_set_def *def = &g->w->sets[v->set];
    struct ab_message *m = &lane->message;
    if (lane->queue == NULL) {
        ab_queue_get(q, m, def->is_lifo);
        lane->queue = q;
        offer_room(g, def, q);
    }
    if (m->next > 0 || ab_tape_await(g->tape, m->slots[m->n - 1], g->err) == AB_OK)
        return AB_OK;
    return ab_block_push_failed(g);
}

enum ab_status ab_step_recv(struct ab_generator *g, const struct ab_verb *v)
{
    struct ab_generator_lane *lane = g->lane;
    struct ab_queue *q = queue_of(g, v);
    struct ab_message *m = &lane->message;
    if (lane->queue == NULL && q->lengths.n == 0) {
        if (v->amount != AB_AMOUNT_ALL)
            return wait_for(g, AB_WAIT_MESSAGE, q);
        lane->step = lane->n_steps; /* another lane was faster */
        return ab_generate_idle(g, v->place, 1);
    }
    AB_TRY(hold_message(g, v, q));
    uint32_t slot = m->slots[m->next];
    enum ab_status status = v->other == AB_NO_SET ? ab_block_free_pooled(g, slot)
                                                  : settle(g, v, slot);
    if (status == AB_OK && ++m->next == m->n) {
        m->next = m->n = 0;
        lane->queue = NULL;
        lane->step++;
    }
    return status;
}

enum ab_status ab_step_put_down(struct ab_generator *g, struct ab_generator_lane *lane)
{
    const struct ab_verb *v = lane->verb;
    struct ab_queue *q = lane->queue;
    if (lane->wait != AB_WAIT_NONE)
        lane->waits_at->for_room.n = lane->waits_at->for_message.n = 0; /* no lane waits any more */
    lane->wait = AB_WAIT_NONE;
    if (v == NULL || q == NULL)
        return AB_OK;
    lane->queue = NULL;
    q->n_reserved -= v->kind == AB_VERB_SEND;
    bool to_front = v->kind == AB_VERB_RECV && !g->w->sets[v->set].is_lifo;
    if (lane->message.n > 0)
        ab_queue_put(q, &lane->message, to_front);
    return AB_OK;
}
