/* SPDX-License-Identifier: MIT
 *
 * Executes one step of a verb, for one position or one block: pushes ops and updates sets and
 * queues. Each step pushes an op, counts as idle, or makes its lane wait. A verb works on one
 * position after another, or on live blocks in an order that is chosen before the first of them
 * changes.
 */
#include "core/text.h"
#include "workload/generate/generate.h"

#include "core/alloc.h"
#include "core/units_show.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LIVE_BYTES_MAX (UINT64_C(1) << 62)
/* First of the random streams for models, which do not belong to a lane. */
#define MODEL_STREAM (UINT64_C(1) << 32)
enum {
    POOLED_OPS = 12,
    GROWN_OPS = 3
}; /* memory of a pooled slot and of a position by which a set grew, as a number of ops */

/* ---- errors and progress ---- */

enum { IDLE_FREE = 10000000, IDLE_PER_OP = 64 };

enum ab_status ab_generate_fail(struct ab_generator *g, struct ab_place at, const char *fmt, ...)
{
    const struct ab_source_text source = {g->w->file, g->w->text, g->w->n_text};
    struct ab_text out = {0};
    char message[400], lane[40] = "";
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    if (g->lane != NULL && g->phase->n_lanes > 1)
        AB_FIT(lane, " (in lane %u)", g->lane->index);
    ab_text_addf(&out, "%s:%u:%u: %s%s\n", AB_SHOWN(300, g->w->file), at.line, at.col, message,
                 lane);
    ab_diag_excerpt(&out, &source, at);
    /* removes the newline, because the text of an error ends without one */
    out.s[strlen(out.s) - 1] = 0;
    ab_fail(g->err, AB_CONFIG, "%s", out.s);
    ab_text_fini(&out);
    return AB_CONFIG;
}

enum ab_status ab_generate_too_many(struct ab_generator *g, struct ab_place at, double n_ops)
{
    char count[32], max[32];
    ab_units_count(count, sizeof count, n_ops);
    ab_units_count(max, sizeof max, (double)g->max_ops);
    return ab_generate_fail(g, at, "about %s ops; a tape here has room for %s%s", count, max,
                            g->max_ops < AB_TAPE_MAX_OPS ? " (half of the available memory)" : "");
}

enum ab_status ab_generate_idle(struct ab_generator *g, struct ab_place at, uint64_t n)
{
    uint64_t n_ops = ab_tape_count(g->tape);
    struct ab_generator_lane *lane = g->lane != NULL ? g->lane : &g->lanes[0];
    g->idle += n;
    bool is_endless = __builtin_add_overflow(lane->idle, n, &lane->idle) ||
                      lane->idle > IDLE_FREE / g->phase->n_lanes + n_ops * IDLE_PER_OP;
    if (is_endless)
        return ab_generate_fail(g, at,
                                "makes almost no ops: %llu steps had no effect, after %llu ops",
                                (unsigned long long)lane->idle, (unsigned long long)n_ops);
    return AB_OK;
}

uint64_t ab_generate_counter(const struct ab_generator *g)
{
    switch (g->phase->until) {
    case AB_UNTIL_OPS:
        return ab_tape_count(g->tape);
    case AB_UNTIL_ALLOCATED:
        return ab_tape_allocated_bytes(g->tape);
    case AB_UNTIL_LIVE:
        return ab_tape_live_bytes(g->tape);
    case AB_UNTIL_SECONDS:
        return g->clock.now_ns;
    default:
        return 0;
    }
}

/* ---- choosing positions ---- */

static uint32_t pick_bin(struct ab_generator_lane *lane, const struct ab_verb *v)
{
    double u = ab_rng_unit(&lane->positions);
    size_t i = 0;
    while (i + 1 < v->n_bins && v->bins[i].share <= u)
        i++;
    const struct ab_bin *bin = &v->bins[i];
    return bin->begin + (uint32_t)ab_rng_below(&lane->positions, bin->end - bin->begin);
}

/* Returns the first position of a lane's part of a shared set of n positions; with `after` = 1,
 * that of the next part. The lanes of the role share the positions equally. */
static uint32_t own_begin(const struct ab_generator_lane *lane, uint32_t n, uint32_t after)
{
    uint64_t part = lane->index - lane->role->first_lane + after;
    return (uint32_t)(part * n / lane->role->n_lanes);
}

/* Returns the cursor modulo n, and advances the cursor by `step`, modulo n. */
static uint32_t turn_cursor(uint64_t *cursor, uint64_t step, uint32_t n)
{
    /* the cursor may be n or more, because a list may have become shorter since the last call */
    uint64_t now = *cursor % n;
    *cursor = (now + step) % n;
    return (uint32_t)now;
}

/* Picks a position in a list. A list has no fixed positions: its cursors count live blocks only. */
static uint32_t pick_dense(struct ab_generator *g, const struct ab_verb *v, struct ab_live_set *s,
                           enum ab_pick pick)
{
    struct ab_generator_lane *lane = g->lane;
    if (pick == AB_PICK_FREE)
        return s->n_live == s->n ? AB_NO_POSITION : s->members[s->n_live];
    if (s->n_live == 0)
        return AB_NO_POSITION;
    if (pick == AB_PICK_NEXT)
        return s->members[turn_cursor(&s->cursor, 1, s->n_live)];
    if (pick == AB_PICK_ROUND_ROBIN || pick == AB_PICK_STRIDE)
        return s->members[turn_cursor(&lane->cursors[v->cursor],
                                      pick == AB_PICK_STRIDE ? v->step : 1, s->n_live)];
    return s->members[ab_rng_below(&lane->positions, s->n_live)];
}

static uint32_t pick_position(struct ab_generator *g, const struct ab_verb *v, uint32_t set,
                              enum ab_pick pick)
{
    struct ab_generator_lane *lane = g->lane;
    struct ab_live_set *s = &ab_instance_of(g, set, lane->index)->live;
    uint32_t n_empty = s->n - s->n_live;
    if (pick == AB_PICK_FIFO || pick == AB_PICK_LIFO)
        return s->n_live == 0 ? AB_NO_POSITION : pick == AB_PICK_FIFO ? s->oldest : s->youngest;
    if (!ab_set_has_positions(&g->w->sets[set]))
        return pick_dense(g, v, s, pick);
    switch (pick) {
    case AB_PICK_FREE:
        return n_empty == 0 ? AB_NO_POSITION : s->members[s->n_live];
    case AB_PICK_EMPTY:
        return n_empty == 0 ? AB_NO_POSITION
                            : s->members[s->n_live + ab_rng_below(&lane->positions, n_empty)];
    case AB_PICK_OCCUPIED:
        return s->n_live == 0 ? AB_NO_POSITION
                              : s->members[ab_rng_below(&lane->positions, s->n_live)];
    case AB_PICK_RANDOM:
        return (uint32_t)ab_rng_below(&lane->positions, s->n);
    case AB_PICK_BINS:
        return pick_bin(lane, v);
    case AB_PICK_OWN: {
        uint32_t begin = own_begin(lane, s->n, 0);
        return begin + (uint32_t)ab_rng_below(&lane->positions, own_begin(lane, s->n, 1) - begin);
    }
    case AB_PICK_NEXT:
        return turn_cursor(&s->cursor, 1, s->n);
    default: /* AB_PICK_ROUND_ROBIN and AB_PICK_STRIDE use the verb's own cursor */
        return turn_cursor(&lane->cursors[v->cursor], pick == AB_PICK_STRIDE ? v->step : 1, s->n);
    }
}

static uint64_t part_of(const struct ab_verb *v, uint64_t n)
{
    return (uint64_t)(v->fraction * (double)n + 0.5);
}

static uint64_t count_by_at(const struct ab_generator *g, const struct ab_verb *v,
                            const struct ab_live_set *s)
{
    bool is_dense = !ab_set_has_positions(&g->w->sets[v->set]);
    const struct ab_generator_lane *lane = g->lane;
    uint64_t all = v->kind == AB_VERB_ALLOC ? s->n - s->n_live
                   : v->pick == AB_PICK_OWN ? own_begin(lane, s->n, 1) - own_begin(lane, s->n, 0)
                   : v->pick == AB_PICK_OCCUPIED || is_dense ? s->n_live
                                                             : s->n;
    return v->amount == AB_AMOUNT_COUNT      ? g->lane->count
           : v->amount == AB_AMOUNT_FRACTION ? part_of(v, s->n_live)
                                             : all;
}

static void reserve_picked(struct ab_generator_lane *lane, size_t n)
{
    AB_GROW(lane->picked, lane->cap_picked, n);
}

static void pick_live(struct ab_generator_lane *lane, struct ab_live_set *live, enum ab_pick order,
                      uint32_t *out, uint32_t n, uint64_t step)
{
    if (order == AB_PICK_LIFO)
        ab_live_set_youngest(live, out, n);
    else if (order == AB_PICK_SHUFFLED)
        ab_live_set_shuffled(live, out, n, &lane->order);
    else
        ab_live_set_oldest(live, out, n, step);
}

/* Chooses the live blocks of an `order` before the first step, because the steps change which
 * blocks are live and how old they are. */
static enum ab_status choose_by_order(struct ab_generator *g, const struct ab_verb *v,
                                      struct ab_live_set *s)
{
    struct ab_generator_lane *lane = g->lane;
    uint64_t all = v->pick != AB_PICK_EVERY ? s->n_live : (s->n_live + v->step - 1) / v->step;
    uint64_t wanted = v->amount == AB_AMOUNT_COUNT      ? lane->count
                      : v->amount == AB_AMOUNT_FRACTION ? part_of(v, s->n_live)
                                                        : all;
    uint32_t n = (uint32_t)(wanted < all ? wanted : all);
    reserve_picked(lane, n);
    if (wanted > n)
        AB_TRY(ab_generate_idle(g, v->place, wanted - n));
    for (uint64_t i = n; i < wanted; i++)
        ab_tape_note_no_op_free(g->tape);
    pick_live(lane, s, v->pick, lane->picked, n, v->pick == AB_PICK_EVERY ? v->step : 1);
    lane->n_steps = n;
    return AB_OK;
}

/* Returns the number of blocks that a send puts into messages. */
static uint64_t count_sent(const struct ab_generator *g, const struct ab_verb *v)
{
    uint64_t n = g->lane->count;
    if (v->amount == AB_AMOUNT_ALL)
        return ab_instance_of(g, v->other, g->lane->index)->live.n_live;
    return __builtin_mul_overflow(n, (uint64_t)g->w->sets[v->set].unit, &n) ? UINT64_MAX : n;
}

uint64_t ab_step_draw_count(const struct ab_generator *g, const struct ab_verb *v)
{
    return v->counts == SIZE_MAX
               ? v->count
               : ab_dist_draw(&g->w->dists, v->counts, g->lane->turns, &g->lane->choices);
}

/* Begins a `play`. Sets no limit on its steps, because it ends when the model has no further
 * call. */
static enum ab_status begin_play(struct ab_generator *g, const struct ab_verb *v,
                                 struct ab_instance *s)
{
    const struct ab_set_def *def = &g->w->sets[v->set];
    if (def->model.n_lanes > g->phase->n_lanes)
        return ab_generate_fail(g, v->place, "'%s' has blocks of %u lanes; the phase has %u",
                                def->name, def->model.n_lanes, g->phase->n_lanes);
    if (s->play == NULL)
        s->play = ab_play_begin(&def->model, g->w->seed, MODEL_STREAM + v->set);
    g->lane->n_steps = UINT64_MAX;
    return AB_OK;
}

enum ab_status ab_step_begin(struct ab_generator *g, const struct ab_verb *v)
{
    struct ab_generator_lane *lane = g->lane;
    struct ab_instance *s = ab_instance_of(g, v->set, lane->index);
    enum ab_status status = AB_OK;
    lane->step = lane->n_steps = 0;
    lane->count = ab_step_draw_count(g, v);
    if (v->kind == AB_VERB_SEND)
        lane->n_steps = count_sent(g, v);
    else if (v->kind == AB_VERB_PLAY)
        return begin_play(g, v, s);
    else if (v->kind == AB_VERB_RECV)
        lane->n_steps = v->amount == AB_AMOUNT_ALL ? s->queue.lengths.n : lane->count;
    else if ((ab_verbs[v->kind].traits & AB_VERB_WHOLE) != 0)
        lane->n_steps = s->live.n_live > 0;
    else if (v->pick >= AB_PICK_FIFO)
        status = choose_by_order(g, v, &s->live);
    else
        lane->n_steps = count_by_at(g, v, &s->live);
    bool is_counted = v->pick >= AB_PICK_FIFO && v->kind != AB_VERB_SEND &&
                      v->amount == AB_AMOUNT_COUNT &&
                      /* then choose_by_order() has counted the missing blocks as idle steps */
                      lane->count > 0;
    if (status == AB_OK && lane->n_steps == 0 && !is_counted)
        status = ab_generate_idle(g, v->place, 1);
    return status;
}

/* ---- ops on one block, which is in a slot of the pool or at a position of a set ---- */

/* Returns the status of a push, after adding the place of the verb to its error. */
static enum ab_status pushed(struct ab_generator *g, enum ab_status status)
{
    char text[300];
    if (status == AB_OK)
        return AB_OK;
    AB_COPY(text, g->err->text);
    return ab_generate_fail(g, g->lane->verb->place, "%s", text);
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
        return ab_generate_fail(g, v->place, "more than 4 EiB live");
    if (g->w->wants_groups)
        ab_tape_group(g->tape, v->set);
    *request = (struct ab_request){
        .size = size, .align = v->align, .touch = v->touch, .touch_bytes = v->touch_bytes};
    if (v->touch == AB_TOUCH_SHARE)
        ab_request_touch_share(request);
    return AB_OK;
}

static enum ab_status free_at(struct ab_generator *g, struct ab_instance *s, uint32_t position);

/* Frees blocks of the cap's set until a request of `size` bytes fits below the phase's cap. */
static enum ab_status keep_cap(struct ab_generator *g, uint64_t size)
{
    const struct ab_cap *cap = &g->phase->cap;
    const struct ab_verb *v = g->lane->verb;
    struct ab_instance *s = ab_instance_of(g, cap->set, g->lane->index);
    if (size > cap->limit)
        return ab_generate_fail(g, v->place, "a request of %s exceeds the cap of %s",
                                AB_BYTES(size), AB_BYTES(cap->limit));
    while (ab_tape_live_bytes(g->tape) + size > cap->limit) {
        if (s->live.n_live == 0)
            return ab_generate_fail(
                g, v->place, "'cap': no block of '%s' is left to free, and %s are live",
                g->w->sets[cap->set].name, AB_BYTES(ab_tape_live_bytes(g->tape)));
        AB_TRY(free_at(g, s, pick_position(g, v, cap->set, cap->evict)));
    }
    return AB_OK;
}

static enum ab_status push_alloc(struct ab_generator *g, uint32_t slot)
{
    struct ab_request request;
    AB_TRY(draw_request(g, &request));
    if (g->phase->cap.limit > 0)
        AB_TRY(keep_cap(g, request.size));
    return pushed(g, ab_tape_alloc(g->tape, slot, &request, g->err));
}

static enum ab_status alloc_pooled(struct ab_generator *g, uint32_t *slot)
{
    ab_slot_pool_take(&g->pool, g->tape_lane, ab_tape_count(g->tape), slot);
    return push_alloc(g, *slot);
}

static enum ab_status push_free(struct ab_generator *g, uint32_t slot)
{
    return pushed(g, ab_tape_free_by(g->tape, slot, g->lane->verb->is_sized, g->err));
}

static enum ab_status free_pooled(struct ab_generator *g, uint32_t slot)
{
    AB_TRY(push_free(g, slot));
    ab_slot_pool_give(&g->pool, g->tape_lane, ab_tape_count(g->tape), slot);
    return AB_OK;
}

static enum ab_status alloc_at(struct ab_generator *g, struct ab_instance *s, uint32_t position)
{
    AB_TRY(s->slots != NULL ? alloc_pooled(g, &s->slots[position])
                            : push_alloc(g, s->base + position));
    ab_live_set_add(&s->live, position);
    return AB_OK;
}

static enum ab_status free_at(struct ab_generator *g, struct ab_instance *s, uint32_t position)
{
    if (!ab_live_set_has(&s->live, position))
        return no_op(g);
    AB_TRY(s->slots != NULL ? free_pooled(g, s->slots[position])
                            : push_free(g, s->base + position));
    ab_live_set_remove(&s->live, position);
    return AB_OK;
}

static enum ab_status resize_at(struct ab_generator *g, struct ab_instance *s, uint32_t position)
{
    struct ab_request request;
    if (!ab_live_set_has(&s->live, position))
        return no_op(g);
    AB_TRY(draw_request(g, &request));
    return pushed(g, ab_tape_resize(g->tape, ab_instance_slot(s, position), &request, g->err));
}

static enum ab_status access_at(struct ab_generator *g, struct ab_instance *s, uint32_t position)
{
    uint64_t size = 0;
    if (!ab_live_set_has(&s->live, position))
        return no_op(g);
    uint32_t slot = ab_instance_slot(s, position);
    if (!ab_tape_is_live(g->tape, slot, &size) || size == 0)
        return no_op(g);
    return pushed(g, ab_tape_access(g->tape, slot, g->lane->verb->mode, g->err));
}

static enum ab_status exchange_new(struct ab_generator *g, struct ab_instance *s, uint32_t position)
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

static enum ab_status exchange_with(struct ab_generator *g, struct ab_instance *s,
                                    uint32_t position)
{
    const struct ab_verb *v = g->lane->verb;
    struct ab_instance *other = ab_instance_of(g, v->other, g->lane->index);
    uint32_t there = pick_position(g, v, v->other, v->with_pick);
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

static enum ab_status make_room(struct ab_generator *g, struct ab_instance *s)
{
    uint32_t n = s->live.n < 16 ? 16 : s->live.n * 2;
    if (s->live.n_live < s->live.n)
        return AB_OK;
    if (n > AB_MAX_POSITIONS)
        return ab_generate_fail(g, g->lane->verb->place, "more than %u blocks in one set",
                                s->live.n);
    s->slots = ab_realloc(s->slots, n, sizeof s->slots[0]);
    g->n_grown += n - s->live.n;
    ab_live_set_grow(&s->live, n);
    return AB_OK;
}

static enum ab_status fail_full(struct ab_generator *g, uint32_t set, const struct ab_instance *s)
{
    return ab_generate_fail(
        g, g->lane->verb->place,
        "full: all %u positions of '%s' are occupied; free some first, or use a "
        "larger count",
        s->live.n, g->w->sets[set].name);
}

static enum ab_status fail_occupied(struct ab_generator *g, const char *what, uint32_t set,
                                    uint32_t position)
{
    return ab_generate_fail(g, g->lane->verb->place,
                            "%s at position %u of '%s', which is "
                            "occupied; 'at: empty' takes empty ones%s",
                            what, position, g->w->sets[set].name,
                            what[0] == 'a' ? ", 'replace' frees first" : "");
}

/* ---- sending messages to a queue, and receiving them ---- */

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

/* Lets lane `index`, which waited at queue q, continue. Returns the lane. */
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

/* If the queue has room, lets the sender that has waited longest continue, and reserves the room
 * for it. */
static void offer_room(struct ab_generator *g, const struct ab_set_def *def, struct ab_queue *q)
{
    uint32_t waiting;
    if (!has_room(q, def) || !ab_line_next(&q->for_room, &waiting))
        return;
    q->n_reserved++;
    wake(g, waiting, q);
}

/* Gives the message to the receiver that has waited longest. If no lane waits, puts the message
 * into the queue. */
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

/* Begins a message: reserves room in the queue, or applies `on_full`. Returns false if no block can
 * be put into a message now, because the lane waits or the message is dropped. */
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

/* Gets the slot of one more block for the message: a new block, or a block of the set `from`. Sets
 * *slot to AB_NO_POSITION if that set has none. */
static enum ab_status next_block(struct ab_generator *g, const struct ab_verb *v, uint32_t *slot)
{
    *slot = AB_NO_POSITION;
    if (v->other == AB_NO_SET)
        return alloc_pooled(g, slot);
    struct ab_instance *from = ab_instance_of(g, v->other, g->lane->index);
    uint32_t position = pick_position(g, v, v->other, v->pick);
    if (position == AB_NO_POSITION || !ab_live_set_has(&from->live, position))
        return no_op(g);
    *slot = from->slots[position];
    ab_live_set_remove(&from->live, position);
    return ab_generate_idle(g, v->place, 1);
}

static void end_message(struct ab_generator *g, const struct ab_verb *v)
{
    struct ab_generator_lane *lane = g->lane;
    struct ab_queue *q = lane->queue;
    lane->queue = NULL;
    lane->is_refused = false;
    if (q == NULL)
        return;
    q->n_reserved--;
    if (lane->message.n > 0)
        deliver(g, q, &lane->message);
    /* the room is free again if a receiver took the message, or if it was empty */
    offer_room(g, &g->w->sets[v->set], q);
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
        else
            ab_message_add(&lane->message, slot);
    }
    lane->step++;
    if (status == AB_OK &&
        (lane->step % g->w->sets[v->set].unit == 0 || lane->step == lane->n_steps))
        end_message(g, v);
    return status;
}

/* Puts a received block into the set that `into` names. */
static enum ab_status put_into_set(struct ab_generator *g, const struct ab_verb *v, uint32_t slot)
{
    struct ab_instance *s = ab_instance_of(g, v->other, g->lane->index);
    if (g->w->sets[v->other].kind != AB_SET_SLOTS)
        AB_TRY(make_room(g, s));
    uint32_t position = pick_position(g, v, v->other, v->pick);
    if (position == AB_NO_POSITION)
        return fail_full(g, v->other, s);
    if (ab_live_set_has(&s->live, position))
        return fail_occupied(g, "recv", v->other, position);
    s->slots[position] = slot;
    ab_live_set_add(&s->live, position);
    return ab_generate_idle(g, v->place, 1);
}

/* Gets the message that the lane unpacks: the one it has begun, or else the next one of the queue.
 * Before the first block, pushes a wait for the message's last block. That block is the youngest,
 * so the wait covers all blocks. */
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
    return m->next > 0 ? AB_OK : pushed(g, ab_tape_await(g->tape, m->slots[m->n - 1], g->err));
}

static enum ab_status step_recv(struct ab_generator *g, const struct ab_verb *v)
{
    struct ab_generator_lane *lane = g->lane;
    struct ab_queue *q = queue_of(g, v);
    struct ab_message *m = &lane->message;
    if (lane->queue == NULL && q->lengths.n == 0) {
        if (v->amount != AB_AMOUNT_ALL)
            return wait_for(g, AB_WAIT_MESSAGE, q);
        lane->step = lane->n_steps; /* another lane has taken the message */
        return ab_generate_idle(g, v->place, 1);
    }
    AB_TRY(hold_message(g, v, q));
    uint32_t slot = m->slots[m->next];
    enum ab_status status = v->other == AB_NO_SET ? free_pooled(g, slot) : put_into_set(g, v, slot);
    if (status == AB_OK && ++m->next == m->n) {
        m->next = m->n = 0;
        lane->queue = NULL;
        lane->step++;
    }
    return status;
}

/* ---- one position ---- */

static enum ab_status act(struct ab_generator *g, struct ab_instance *s, uint32_t position)
{
    const struct ab_verb *v = g->lane->verb;
    bool is_live = ab_live_set_has(&s->live, position);
    switch (v->kind) {
    case AB_VERB_ALLOC:
        return is_live ? fail_occupied(g, "alloc", v->set, position) : alloc_at(g, s, position);
    case AB_VERB_FREE:
        return free_at(g, s, position);
    case AB_VERB_TOGGLE:
        return is_live ? free_at(g, s, position) : alloc_at(g, s, position);
    case AB_VERB_ACCESS:
        return access_at(g, s, position);
    case AB_VERB_EXCHANGE:
        return v->other == AB_NO_SET ? exchange_new(g, s, position) : exchange_with(g, s, position);
    case AB_VERB_REPLACE:
        AB_TRY(free_at(g, s, position));
        return alloc_at(g, s, position);
    default:
        return resize_at(g, s, position);
    }
}

/* Executes one step of an alloc in a window. If the window is full, frees one block that does not
 * survive, until all of them are freed; otherwise allocates one block. */
static enum ab_status step_window(struct ab_generator *g, struct ab_instance *s)
{
    const struct ab_set_def *def = &g->w->sets[g->lane->verb->set];
    struct ab_window *w = &s->window;
    uint32_t n = s->live.n, survivors = def->n_survivors, skipped = 0;
    if (w->n_left > 0 || s->live.n_live == n) {
        if (w->n_left == 0) {
            w->n_left = n - survivors;
            w->begin = w->next;
            w->next = w->begin + 2 * survivors > n ? 0 : w->begin + survivors;
        }
        uint32_t i = n - survivors - w->n_left--, end = w->begin + survivors;
        w->fill = w->n_left == 0 ? 0 : w->fill;
        if (i < w->begin)
            return free_at(g, s, def->is_below_lifo ? w->begin - 1 - i : i);
        return free_at(g, s, def->is_above_lifo ? n - 1 - (i - w->begin) : end + i - w->begin);
    }
    for (; ab_live_set_has(&s->live, w->fill); skipped++)
        w->fill = (w->fill + 1) % n;
    g->lane->step++;
    AB_TRY(ab_generate_idle(g, g->lane->verb->place, skipped));
    return alloc_at(g, s, w->fill);
}

static enum ab_status step_at_position(struct ab_generator *g, const struct ab_verb *v)
{
    struct ab_generator_lane *lane = g->lane;
    struct ab_instance *s = ab_instance_of(g, v->set, lane->index);
    if (v->kind == AB_VERB_ALLOC && g->w->sets[v->set].kind == AB_SET_WINDOW)
        return step_window(g, s);
    if (v->kind == AB_VERB_ALLOC && g->w->sets[v->set].kind != AB_SET_SLOTS)
        AB_TRY(make_room(g, s));
    uint32_t position = v->pick >= AB_PICK_FIFO ? lane->picked[lane->step]
                                                : pick_position(g, v, v->set, v->pick);
    lane->step++;
    if (position != AB_NO_POSITION)
        return act(g, s, position);
    if (v->kind != AB_VERB_ALLOC)
        return no_op(g);
    if (v->amount != AB_AMOUNT_ALL)
        return fail_full(g, v->set, s);
    lane->step = lane->n_steps; /* another lane has filled the set in the meantime */
    return ab_generate_idle(g, v->place, 1);
}

/* ---- whole sets ---- */

/* True if the set has a live block; if `save` is not 0, a live block that is younger than this save
 * point. */
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

/* Returns a set, other than the instance `reset`, for which holds_blocks() is true; AB_NO_SET =
 * none. Does not find blocks of a message that is being sent, because they are in no set. */
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

/* Counts a reset of n blocks for `check`; is_one = one call could free them. Returns the count if
 * this reset needs several calls and the set that prevented one call is not known yet. Otherwise
 * returns NULL. */
static struct ab_reset_count *count_reset(const struct ab_generator *g, const struct ab_verb *v,
                                          uint32_t n, bool is_one)
{
    struct ab_reset_count *count = &g->w->resets[v->cursor];
    count->n += n > 0;
    count->n_bulk += n > 0 && is_one;
    return n > 0 && !is_one && count->other == AB_NO_SET ? count : NULL;
}

/* Records that no block from before the current scopes of the set is live any more. */
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
    AB_TRY(pushed(g, ab_tape_release(g->tape, scope->save, slots, n, &is_one, g->err)));
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
    reserve_picked(g->lane, n);
    enum ab_status status = n == 0 ? ab_generate_idle(g, scope->place, 1)
                                   : free_scope(g, scope, s, n);
    ab_tape_forget_mark(g->tape, scope->save);
    return status;
}

/* Executes a reset. Gives the slots back in an order in which the next round of allocations gets
 * the same slots. */
static enum ab_status step_reset(struct ab_generator *g, const struct ab_verb *v)
{
    struct ab_generator_lane *lane = g->lane;
    struct ab_instance *s = ab_instance_of(g, v->set, lane->index);
    uint32_t n = s->live.n_live;
    struct ab_reset_count *unexplained = count_reset(g, v, n, n == ab_tape_live_blocks(g->tape));
    if (unexplained != NULL)
        unexplained->other = find_live_set(g, s, 0);
    empty_scopes(lane, v->set);
    reserve_picked(lane, 2 * (size_t)n);
    uint32_t *slots = lane->picked, *by_age = slots + n;
    pick_live(lane, &s->live, v->pick, slots, n, 1);
    pick_live(lane, &s->live, AB_PICK_FIFO, by_age, n, 1);
    lane->step++;
    for (uint32_t i = 0; i < n; i++) {
        slots[i] = s->slots[slots[i]];
        ab_live_set_remove(&s->live, by_age[i]);
        by_age[i] = s->slots[by_age[i]];
    }
    AB_TRY(pushed(g, ab_tape_reset(g->tape, slots, n, g->err)));
    for (uint32_t i = n; i-- > 0;)
        ab_slot_pool_give(&g->pool, g->tape_lane, ab_tape_count(g->tape), by_age[i]);
    return AB_OK;
}

/* Executes a shuffle: blocks exchange their positions at random. The positions keep their ages, so
 * that fifo then frees the blocks in random order. */
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

/* Executes a walk, which reads all live blocks. Skips blocks of size 0, because they have no bytes
 * to read. */
static enum ab_status step_walk(struct ab_generator *g, const struct ab_verb *v)
{
    struct ab_generator_lane *lane = g->lane;
    struct ab_instance *s = ab_instance_of(g, v->set, lane->index);
    bool is_drawn = v->walk == AB_WALK_RANDOM || v->walk == AB_WALK_LINKED;
    uint32_t n = s->live.n_live, n_read = 0;
    lane->step++;
    reserve_picked(lane, n);
    pick_live(lane, &s->live, is_drawn ? AB_PICK_SHUFFLED : AB_PICK_FIFO, lane->picked, n, 1);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slot = ab_instance_slot(s, lane->picked[i]);
        uint64_t size = 0;
        if (ab_tape_is_live(g->tape, slot, &size) && size > 0)
            lane->picked[n_read++] = slot;
    }
    return n_read == 0 ? no_op(g)
                       : pushed(g, ab_tape_walk(g->tape, lane->picked, n_read, v->walk, g->err));
}

static enum ab_status step_play(struct ab_generator *g, const struct ab_verb *v)
{
    struct ab_generator_lane *lane = g->lane;
    bool is_over = false;
    AB_TRY(pushed(g, ab_play_step(g, ab_instance_of(g, v->set, lane->index)->play, v, &is_over)));
    lane->step = is_over ? lane->n_steps : lane->step + 1;
    return is_over ? ab_generate_idle(g, v->place, 1) : AB_OK;
}

/* ---- all steps ---- */

/* Checks after a step whether the phase has reached its end. Fails if the tape has reached its
 * limit. */
static enum ab_status after_step(struct ab_generator *g, const struct ab_verb *v)
{
    if (ab_generate_counts(g) && ab_generate_counter(g) >= g->until)
        g->is_done = true;
    uint64_t n_ops = ab_tape_count(g->tape);
    uint64_t charge = n_ops + (uint64_t)g->pool.n * POOLED_OPS + g->n_grown * GROWN_OPS;
    return charge > g->max_ops ? ab_generate_too_many(g, v->place, (double)charge) : AB_OK;
}

enum ab_status ab_step_end_scope(struct ab_generator *g, const struct ab_loop *scope)
{
    struct ab_generator_lane *lane = g->lane;
    const struct ab_verb *verb = lane->verb;
    lane->verb = scope->scope; /* so that an error names the scope */
    enum ab_status status = end_scope(g, scope);
    lane->verb = verb;
    return status != AB_OK ? status : after_step(g, scope->scope);
}

static enum ab_status step_any(struct ab_generator *g, const struct ab_verb *v)
{
    switch (v->kind) {
    case AB_VERB_SEND:
        return step_send(g, v);
    case AB_VERB_RECV:
        return step_recv(g, v);
    case AB_VERB_RESET:
        return step_reset(g, v);
    case AB_VERB_SHUFFLE:
        return step_shuffle(g, v);
    case AB_VERB_WALK:
        return step_walk(g, v);
    case AB_VERB_PLAY:
        return step_play(g, v);
    default:
        return step_at_position(g, v);
    }
}

enum ab_status ab_step(struct ab_generator *g)
{
    const struct ab_verb *v = g->lane->verb;
    AB_TRY(step_any(g, v));
    return after_step(g, v);
}
