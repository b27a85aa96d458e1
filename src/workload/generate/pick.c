/* SPDX-License-Identifier: MIT
 *
 * Where a verb does its work: positions one after the other, or live blocks in an order that is
 * fixed before the first of them is touched.
 */
#include "workload/generate/pick.h"

#include "core/grow.h"

static uint32_t pick_bin(struct ab_generator_lane *lane, const struct ab_verb *v)
{
    double u = ab_rng_unit(&lane->positions);
    size_t i = 0;
    while (i + 1 < v->n_bins && v->bins[i].share <= u)
        i++;
    const struct ab_bin *bin = &v->bins[i];
    return bin->begin + (uint32_t)ab_rng_below(&lane->positions, bin->end - bin->begin);
}

/* A number below n from a cursor that then goes on by `step`, around and around. */
static uint32_t turn_cursor(uint64_t *cursor, uint64_t step, uint32_t n)
{
    uint64_t now = *cursor % n; /* a list may have become shorter */
    *cursor = (now + step) % n;
    return (uint32_t)now;
}

/* What lists have instead of positions: blocks without gaps, the last one fills a hole. */
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

uint32_t ab_pick_position(struct ab_generator *g, const struct ab_verb *v, uint32_t set,
                          enum ab_pick pick)
{
    struct ab_generator_lane *lane = g->lane;
    struct ab_live_set *s = &ab_instance_of(g, set, lane->index)->live;
    uint32_t n_empty = s->n - s->n_live;
    if (pick == AB_PICK_FIFO || pick == AB_PICK_LIFO)
        return s->n_live == 0 ? AB_NO_POSITION : pick == AB_PICK_FIFO ? s->oldest : s->youngest;
    if (g->w->sets[set].kind != AB_SET_SLOTS)
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
    case AB_PICK_NEXT:
        return turn_cursor(&s->cursor, 1, s->n);
    default: /* the verb's own cursor */
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
    bool is_dense = g->w->sets[v->set].kind != AB_SET_SLOTS;
    uint64_t all = v->kind == AB_VERB_ALLOC                  ? s->n - s->n_live
                   : v->pick == AB_PICK_OCCUPIED || is_dense ? s->n_live
                                                             : s->n;
    return v->amount == AB_AMOUNT_COUNT      ? v->count
           : v->amount == AB_AMOUNT_FRACTION ? part_of(v, s->n_live)
                                             : all;
}

void ab_pick_reserve(struct ab_generator_lane *lane, size_t n)
{
    AB_GROW(lane->picked, lane->cap_picked, n);
}

void ab_pick_live(struct ab_generator_lane *lane, struct ab_live_set *live, enum ab_pick order,
                  uint32_t *out, uint32_t n, uint64_t step)
{
    if (order == AB_PICK_LIFO)
        ab_live_set_youngest(live, out, n);
    else if (order == AB_PICK_SHUFFLED)
        ab_live_set_shuffled(live, out, n, &lane->order);
    else
        ab_live_set_oldest(live, out, n, step);
}

/* Chooses before the first step, because the steps change what is live and how old it is. */
static enum ab_status choose_by_order(struct ab_generator *g, const struct ab_verb *v,
                                      struct ab_live_set *s)
{
    struct ab_generator_lane *lane = g->lane;
    uint64_t all = v->pick != AB_PICK_EVERY ? s->n_live : (s->n_live + v->step - 1) / v->step;
    uint64_t wanted = v->amount == AB_AMOUNT_COUNT      ? v->count
                      : v->amount == AB_AMOUNT_FRACTION ? part_of(v, s->n_live)
                                                        : all;
    uint32_t n = (uint32_t)(wanted < all ? wanted : all);
    ab_pick_reserve(lane, n);
    enum ab_status status = wanted > n ? ab_generate_idle(g, v->place, wanted - n) : AB_OK;
    for (uint64_t i = n; status == AB_OK && i < wanted; i++)
        ab_tape_note_no_op_free(g->tape);
    if (status != AB_OK)
        return status;
    ab_pick_live(lane, s, v->pick, lane->picked, n, v->pick == AB_PICK_EVERY ? v->step : 1);
    lane->n_steps = n;
    return AB_OK;
}

/* Of send, in blocks. */
static uint64_t count_sent(const struct ab_generator *g, const struct ab_verb *v)
{
    uint64_t n = v->count;
    if (v->amount == AB_AMOUNT_ALL)
        return ab_instance_of(g, v->other, g->lane->index)->live.n_live;
    return __builtin_mul_overflow(n, (uint64_t)g->w->sets[v->set].unit, &n) ? UINT64_MAX : n;
}

enum ab_status ab_pick_begin(struct ab_generator *g, const struct ab_verb *v)
{
    struct ab_generator_lane *lane = g->lane;
    struct ab_instance *s = ab_instance_of(g, v->set, lane->index);
    enum ab_status status = AB_OK;
    lane->step = lane->n_steps = 0;
    if (v->kind == AB_VERB_SEND)
        lane->n_steps = count_sent(g, v);
    else if (v->kind == AB_VERB_RECV)
        lane->n_steps = v->amount == AB_AMOUNT_ALL ? s->queue.lengths.n : v->count;
    else if ((ab_verbs[v->kind].traits & AB_VERB_WHOLE) != 0)
        lane->n_steps = s->live.n_live > 0;
    else if (v->pick >= AB_PICK_FIFO)
        status = choose_by_order(g, v, &s->live);
    else
        lane->n_steps = count_by_at(g, v, &s->live);
    bool is_counted = v->pick >= AB_PICK_FIFO && v->kind != AB_VERB_SEND &&
                      v->amount == AB_AMOUNT_COUNT; /* its misses are idle steps already */
    if (status == AB_OK && lane->n_steps == 0 && !is_counted)
        status = ab_generate_idle(g, v->place, 1);
    return status;
}
