/* SPDX-License-Identifier: MIT
 *
 * What a verb does in one step, at one position or with one block: ops are pushed, sets and queues
 * follow. Each step pushes an op, counts as idle, or makes its lane wait.
 */
#include "workload/generate/workload_step.h"
#include "workload/generate/pick.h"

#include <stdio.h>
#include <stdlib.h>

#define LIVE_BYTES_MAX (UINT64_C(1) << 62)
enum { POOLED_OPS = 12, GROWN_OPS = 3 }; /* memory of a pooled slot, a grown position, in ops */

/* ---- blocks ---- */

static enum ab_status push_failed(struct ab_generator *g)
{
    char text[300];
    snprintf(text, sizeof text, "%.299s", g->err->text);
    return ab_generate_fail(g, g->lane->verb->place, "%s", text);
}

static enum ab_status no_memory(struct ab_generator *g)
{
    return ab_generate_fail(g, g->lane->verb->place, "out of memory");
}

static enum ab_status no_op(struct ab_generator *g)
{
    ab_tape_note_no_op_free(g->tape);
    return ab_generate_idle(g, g->lane->verb->place, 1);
}

static enum ab_status draw_request(struct ab_generator *g, struct ab_request *request)
{
    const struct ab_verb *v = g->lane->verb;
    uint64_t size = ab_dist_draw(&g->w->dists, v->dist, g->lane->turns, &g->lane->sizes);
    if (ab_tape_live_bytes(g->tape) + size > LIVE_BYTES_MAX)
        return ab_generate_fail(g, v->place, "more than 4 EiB live at once");
    *request = (struct ab_request){.size = size, .align = v->align, .touch = v->touch,
                                   .touch_bytes = v->touch_bytes};
    return AB_OK;
}

static enum ab_status push_alloc(struct ab_generator *g, uint32_t slot)
{
    struct ab_request request;
    enum ab_status status = draw_request(g, &request);
    if (status != AB_OK)
        return status;
    return ab_tape_alloc(g->tape, slot, &request, g->err) == AB_OK ? AB_OK : push_failed(g);
}

/* A block in a slot of the pool. */
static enum ab_status alloc_pooled(struct ab_generator *g, uint32_t *slot)
{
    if (!ab_slot_pool_take(&g->pool, g->tape_lane, ab_tape_count(g->tape), slot))
        return no_memory(g);
    return push_alloc(g, *slot);
}

static enum ab_status free_pooled(struct ab_generator *g, uint32_t slot)
{
    if (ab_tape_free(g->tape, slot, g->err) != AB_OK)
        return push_failed(g);
    ab_slot_pool_give(&g->pool, g->tape_lane, ab_tape_count(g->tape), slot);
    return AB_OK;
}

/* ---- blocks at positions ---- */

static enum ab_status alloc_at(struct ab_generator *g, struct ab_instance *s, uint32_t position)
{
    enum ab_status status = s->slots != NULL ? alloc_pooled(g, &s->slots[position])
                                             : push_alloc(g, s->base + position);
    if (status == AB_OK)
        ab_live_set_add(&s->live, position);
    return status;
}

static enum ab_status free_at(struct ab_generator *g, struct ab_instance *s, uint32_t position)
{
    enum ab_status status = AB_OK;
    if (!ab_live_set_has(&s->live, position))
        return no_op(g);
    if (s->slots != NULL)
        status = free_pooled(g, s->slots[position]);
    else if (ab_tape_free(g->tape, s->base + position, g->err) != AB_OK)
        status = push_failed(g);
    if (status == AB_OK)
        ab_live_set_remove(&s->live, position);
    return status;
}

static enum ab_status resize_at(struct ab_generator *g, struct ab_instance *s, uint32_t position)
{
    struct ab_request request;
    if (!ab_live_set_has(&s->live, position))
        return no_op(g);
    enum ab_status status = draw_request(g, &request);
    if (status == AB_OK && ab_tape_resize(g->tape, ab_instance_slot(s, position), &request,
                                          g->err) != AB_OK)
        status = push_failed(g);
    return status;
}

/* An empty block has no line that could be read. */
static enum ab_status access_at(struct ab_generator *g, struct ab_instance *s, uint32_t position)
{
    uint64_t size = 0;
    if (!ab_live_set_has(&s->live, position))
        return no_op(g);
    uint32_t slot = ab_instance_slot(s, position);
    if (!ab_tape_is_live(g->tape, slot, &size) || size == 0)
        return no_op(g);
    return ab_tape_access(g->tape, slot, g->lane->verb->mode, g->err) == AB_OK ? AB_OK
                                                                               : push_failed(g);
}

/* A new block takes the position; then the one that was there is freed. */
static enum ab_status exchange_new(struct ab_generator *g, struct ab_instance *s,
                                   uint32_t position)
{
    uint32_t slot, old = s->slots[position];
    enum ab_status status = alloc_pooled(g, &slot);
    if (status == AB_OK && ab_live_set_has(&s->live, position)) {
        status = free_pooled(g, old);
        ab_live_set_remove(&s->live, position);
    }
    s->slots[position] = slot;
    ab_live_set_add(&s->live, position);
    return status;
}

/* The blocks at two positions change places; where one is empty, the other's block moves. */
static enum ab_status exchange_with(struct ab_generator *g, struct ab_instance *s,
                                    uint32_t position)
{
    const struct ab_verb *v = g->lane->verb;
    struct ab_instance *other = ab_instance_of(g, v->other, g->lane->index);
    uint32_t there = ab_pick_position(g, v, v->other, v->with_pick);
    if (there == AB_NO_POSITION)
        return no_op(g);
    bool is_here = ab_live_set_has(&s->live, position);
    bool is_there = ab_live_set_has(&other->live, there);
    uint32_t here_slot = s->slots[position], there_slot = other->slots[there];
    if (!is_here && !is_there)
        return no_op(g);
    if (is_here)
        ab_live_set_remove(&s->live, position);
    if (is_there)
        ab_live_set_remove(&other->live, there);
    if (is_there)
        ab_live_set_add(&s->live, position);
    if (is_here)
        ab_live_set_add(&other->live, there);
    s->slots[position] = there_slot;
    other->slots[there] = here_slot;
    return ab_generate_idle(g, v->place, 1);
}

/* Room for one more block where a set grows. */
static enum ab_status make_room(struct ab_generator *g, struct ab_instance *s)
{
    uint32_t n = s->live.n < 16 ? 16 : s->live.n * 2;
    if (s->live.n_live < s->live.n)
        return AB_OK;
    if (n > AB_MAX_POSITIONS)
        return ab_generate_fail(g, g->lane->verb->place, "more than %u blocks in one set",
                                s->live.n);
    uint32_t *slots = realloc(s->slots, n * sizeof *slots);
    if (slots == NULL)
        return no_memory(g);
    s->slots = slots;
    g->n_grown += n - s->live.n;
    return ab_live_set_grow(&s->live, n) ? AB_OK : no_memory(g);
}

static enum ab_status no_room(struct ab_generator *g, uint32_t set, const struct ab_instance *s)
{
    return ab_generate_fail(g, g->lane->verb->place, "no room: all %u positions of '%s' are "
                            "occupied", s->live.n, g->w->sets[set].name);
}

static enum ab_status occupied(struct ab_generator *g, const char *what, uint32_t set,
                               uint32_t position)
{
    return ab_generate_fail(g, g->lane->verb->place, "%s at position %u of '%s', which is "
                            "occupied; 'at: empty' takes empty ones%s", what, position,
                            g->w->sets[set].name,
                            what[0] == 'a' ? ", 'replace' frees first" : "");
}

static enum ab_status act(struct ab_generator *g, struct ab_instance *s, uint32_t position)
{
    const struct ab_verb *v = g->lane->verb;
    bool is_live = ab_live_set_has(&s->live, position);
    enum ab_status status;
    switch (v->kind) {
    case AB_VERB_ALLOC:
        return is_live ? occupied(g, "alloc", v->set, position) : alloc_at(g, s, position);
    case AB_VERB_FREE:
        return free_at(g, s, position);
    case AB_VERB_TOGGLE:
        return is_live ? free_at(g, s, position) : alloc_at(g, s, position);
    case AB_VERB_ACCESS:
        return access_at(g, s, position);
    case AB_VERB_EXCHANGE:
        return v->other == AB_NO_SET ? exchange_new(g, s, position)
                                     : exchange_with(g, s, position);
    case AB_VERB_REPLACE:
        status = free_at(g, s, position);
        return status != AB_OK ? status : alloc_at(g, s, position);
    default:
        return resize_at(g, s, position);
    }
}

static enum ab_status step_at_position(struct ab_generator *g, const struct ab_verb *v)
{
    struct ab_generator_lane *lane = g->lane;
    struct ab_instance *s = ab_instance_of(g, v->set, lane->index);
    enum ab_status status = AB_OK;
    if (v->kind == AB_VERB_ALLOC && g->w->sets[v->set].kind != AB_SET_SLOTS)
        status = make_room(g, s);
    if (status != AB_OK)
        return status;
    uint32_t position = v->pick >= AB_PICK_FIFO ? lane->picked[lane->step]
                                                : ab_pick_position(g, v, v->set, v->pick);
    lane->step++;
    if (position != AB_NO_POSITION)
        return act(g, s, position);
    if (v->kind != AB_VERB_ALLOC)
        return no_op(g);
    if (v->amount != AB_AMOUNT_ALL)
        return no_room(g, v->set, s);
    lane->step = lane->n_steps; /* another lane has filled the set meanwhile */
    return ab_generate_idle(g, v->place, 1);
}

/* ---- whole sets ---- */

/* In the order that frees one by one take. */
static void list_live(struct ab_generator_lane *lane, struct ab_live_set *live, enum ab_pick order,
                      uint32_t *out)
{
    if (order == AB_PICK_LIFO)
        ab_live_set_youngest(live, out, live->n_live);
    else if (order == AB_PICK_SHUFFLED)
        ab_live_set_shuffled(live, out, live->n_live, &lane->order);
    else
        ab_live_set_oldest(live, out, live->n_live, 1);
}

/* Slots go back in such an order that the next round finds them where this one did. */
static enum ab_status step_reset(struct ab_generator *g, const struct ab_verb *v)
{
    struct ab_generator_lane *lane = g->lane;
    struct ab_instance *s = ab_instance_of(g, v->set, lane->index);
    uint32_t n = s->live.n_live;
    enum ab_status status = ab_pick_reserve(g, v, 2 * (size_t)n);
    if (status != AB_OK)
        return status;
    uint32_t *slots = lane->picked, *by_age = slots + n;
    list_live(lane, &s->live, v->pick, slots);
    list_live(lane, &s->live, AB_PICK_FIFO, by_age);
    lane->step++;
    for (uint32_t i = 0; i < n; i++) {
        slots[i] = s->slots[slots[i]];
        ab_live_set_remove(&s->live, by_age[i]);
        by_age[i] = s->slots[by_age[i]];
    }
    if (ab_tape_reset(g->tape, slots, n, g->err) != AB_OK)
        return push_failed(g);
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

/* ---- messages ---- */

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
    return ab_line_join(line, lane->index) ? AB_OK : no_memory(g);
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
static enum ab_status deliver(struct ab_generator *g, struct ab_queue *q, struct ab_message *m)
{
    uint32_t waiting;
    if (!ab_line_next(&q->for_message, &waiting))
        return ab_queue_put(q, m, false) ? AB_OK : no_memory(g);
    struct ab_generator_lane *receiver = wake(g, waiting, q);
    struct ab_message empty = receiver->message;
    receiver->message = *m;
    *m = empty;
    return AB_OK;
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
        *status = no_op(g);
    }
    return lane->is_refused;
}

/* One more block for the message, new or out of a set; AB_NO_POSITION when there was none. */
static enum ab_status next_block(struct ab_generator *g, const struct ab_verb *v, uint32_t *slot)
{
    *slot = AB_NO_POSITION;
    if (v->other == AB_NO_SET)
        return alloc_pooled(g, slot);
    struct ab_instance *from = ab_instance_of(g, v->other, g->lane->index);
    uint32_t position = ab_pick_position(g, v, v->other, v->pick);
    if (position == AB_NO_POSITION || !ab_live_set_has(&from->live, position))
        return no_op(g);
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
        status = deliver(g, q, &lane->message);
    offer_room(g, &g->w->sets[v->set], q); /* delivered at once, or nothing to send */
    return status;
}

static enum ab_status step_send(struct ab_generator *g, const struct ab_verb *v)
{
    struct ab_generator_lane *lane = g->lane;
    enum ab_status status = AB_OK;
    uint32_t slot;
    if (lane->queue == NULL && !lane->is_refused && !begin_message(g, v, &status))
        return status;
    status = next_block(g, v, &slot);
    if (status == AB_OK && slot != AB_NO_POSITION) {
        if (lane->is_refused)
            status = free_pooled(g, slot);
        else if (!ab_message_add(&lane->message, slot))
            status = no_memory(g);
    }
    lane->step++;
    if (status == AB_OK && (lane->step % g->w->sets[v->set].unit == 0 ||
                            lane->step == lane->n_steps))
        status = end_message(g, v);
    return status;
}

/* A received block finds its place in a set. */
static enum ab_status settle(struct ab_generator *g, const struct ab_verb *v, uint32_t slot)
{
    struct ab_instance *s = ab_instance_of(g, v->other, g->lane->index);
    enum ab_status status = AB_OK;
    if (g->w->sets[v->other].kind != AB_SET_SLOTS)
        status = make_room(g, s);
    if (status != AB_OK)
        return status;
    uint32_t position = ab_pick_position(g, v, v->other, v->pick);
    if (position == AB_NO_POSITION)
        return no_room(g, v->other, s);
    if (ab_live_set_has(&s->live, position))
        return occupied(g, "recv", v->other, position);
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
        if (!ab_queue_get(q, m, def->is_lifo))
            return no_memory(g);
        lane->queue = q;
        offer_room(g, def, q);
    }
    if (m->next > 0 || ab_tape_await(g->tape, m->slots[m->n - 1], g->err) == AB_OK)
        return AB_OK;
    return push_failed(g);
}

static enum ab_status step_recv(struct ab_generator *g, const struct ab_verb *v)
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
    enum ab_status status = hold_message(g, v, q);
    if (status != AB_OK)
        return status;
    uint32_t slot = m->slots[m->next];
    status = v->other == AB_NO_SET ? free_pooled(g, slot) : settle(g, v, slot);
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
        lane->waits_at->for_room.n = lane->waits_at->for_message.n = 0; /* nobody waits any more */
    lane->wait = AB_WAIT_NONE;
    if (v == NULL || q == NULL)
        return AB_OK;
    lane->queue = NULL;
    q->n_reserved -= v->kind == AB_VERB_SEND;
    bool to_front = v->kind == AB_VERB_RECV && !g->w->sets[v->set].is_lifo;
    if (lane->message.n == 0 || ab_queue_put(q, &lane->message, to_front))
        return AB_OK;
    return ab_generate_fail(g, v->place, "out of memory");
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

enum ab_status ab_step(struct ab_generator *g)
{
    const struct ab_verb *v = g->lane->verb;
    enum ab_status status;
    switch (v->kind) {
    case AB_VERB_SEND:
        status = step_send(g, v);
        break;
    case AB_VERB_RECV:
        status = step_recv(g, v);
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
