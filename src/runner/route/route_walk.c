/* SPDX-License-Identifier: MIT
 *
 * Goes through a tape in its common order: which heap each block is in, what lives in each heap, and
 * which resets empty one.
 */
#include "runner/route/route_walk.h"

#include "core/grow.h"

#include <stdlib.h>
#include <string.h>

struct block { /* of a slot */
    uint64_t size;
    uint32_t heap, lane;
};

struct walk {
    const struct ab_route_plan *plan;
    struct ab_tape_part tape;
    uint32_t n_lanes;
    uint8_t *const *groups;
    struct ab_route_walk *out;
    struct block *blocks; /* one a slot */
    uint64_t live_blocks[AB_ROUTE_HEAPS_MAX], live_bytes[AB_ROUTE_HEAPS_MAX];
    uint8_t shown[AB_ROUTE_HEAPS_MAX]; /* as in struct ab_route */
    struct ab_route_use *uses;         /* of the phase */
    bool is_user[AB_ROUTE_HEAPS_MAX][AB_LANES_MAX];
    bool may_reset; /* of the phase: one lane at work */
};

static uint32_t first_of_name(const struct ab_route_heap *heaps, uint32_t h)
{
    uint32_t first = 0;
    while (strcmp(heaps[first].name, heaps[h].name) != 0)
        first++;
    return first;
}

uint32_t ab_route_shown(const struct ab_route_heap *heaps, uint32_t h)
{
    uint32_t first = first_of_name(heaps, h), rank = 0;
    for (uint32_t i = 0; i < first; i++)
        rank += first_of_name(heaps, i) == i;
    return rank;
}

static uint64_t looked_at(const struct walk *w, const struct ab_route_rule *rule, uint32_t lane,
                          uint64_t size)
{
    switch (rule->by) {
    case AB_ROUTE_GROUP:
        return w->groups != NULL ? w->groups[lane][w->out->lanes[lane].n_choices] : 0;
    case AB_ROUTE_SIZE:
        return size;
    case AB_ROUTE_LANE:
        return lane;
    default:
        return rule->least;
    }
}

static uint32_t choose(const struct walk *w, uint32_t lane, uint64_t size)
{
    const struct ab_route_rule *rule = w->plan->rules, *last = rule + w->plan->n_rules - 1;
    for (; rule < last; rule++) {
        uint64_t x = looked_at(w, rule, lane, size);
        if (rule->least <= x && x <= rule->most)
            break;
    }
    return rule->heap;
}

static void note_call(struct walk *w, const uint64_t *word, int kind, uint8_t heap)
{
    w->out->heap_of[word - w->tape.ops] = heap;
    if (heap != AB_ROUTE_NOBODY)
        w->uses[heap].n_calls[kind]++;
}

static void note_user(struct walk *w, uint32_t heap, uint32_t lane)
{
    w->out->heaps[heap].n_lanes += !w->is_user[heap][lane];
    w->is_user[heap][lane] = true;
}

/* What the heap is told of a request that it gets. */
static void note_request(struct ab_facts *f, const struct ab_op_view *op)
{
    if ((op->flags & AB_WIDE_MAY_FAIL) != 0)
        return;
    f->total_blocks++;
    if (__builtin_add_overflow(f->total_bytes, op->size, &f->total_bytes))
        f->total_bytes = UINT64_MAX;
    if (op->size > f->largest_bytes)
        f->largest_bytes = op->size;
    if (op->align > f->largest_align)
        f->largest_align = op->align;
}

/* What lives in all heaps of one name. */
static void note_peak(struct walk *w, uint32_t shown)
{
    struct ab_route_use *use = &w->uses[shown];
    uint64_t blocks = 0, bytes = 0;
    for (uint32_t h = 0; h < w->plan->n_heaps; h++)
        if (w->shown[h] == shown) {
            blocks += w->live_blocks[h];
            bytes += w->live_bytes[h];
        }
    if (blocks > use->live_peak_blocks)
        use->live_peak_blocks = blocks;
    if (bytes > use->live_peak_bytes)
        use->live_peak_bytes = bytes;
}

static void put_block(struct walk *w, const struct ab_op_view *op, uint32_t heap, uint32_t lane)
{
    struct ab_facts *f = &w->out->heaps[heap].facts;
    w->blocks[op->slot] = (struct block){op->size, heap, lane};
    w->live_bytes[heap] += op->size;
    if (++w->live_blocks[heap] > f->live_peak_blocks)
        f->live_peak_blocks = w->live_blocks[heap];
    if (w->live_bytes[heap] > f->live_peak_bytes)
        f->live_peak_bytes = w->live_bytes[heap];
    note_peak(w, w->shown[heap]);
}

static void drop_block(struct walk *w, const struct block *block, uint32_t lane)
{
    struct ab_route_heap *heap = &w->out->heaps[block->heap];
    heap->facts.kinds |= 1u << AB_OP_FREE;
    heap->n_remote += block->lane != lane;
    note_user(w, block->heap, lane);
    w->live_blocks[block->heap]--;
    w->live_bytes[block->heap] -= block->size;
}

/* A resize is the new heap's op; where it comes from another one, an allocation there and a free. */
static void resize(struct walk *w, const struct ab_op_view *op, uint32_t heap, uint32_t lane)
{
    struct block old = w->blocks[op->slot];
    struct ab_facts *f = &w->out->heaps[heap].facts;
    f->kinds |= 1u << (heap == old.heap ? AB_OP_RESIZE : AB_OP_ALLOC);
    if ((op->flags & AB_WIDE_MAY_FAIL) != 0)
        return;
    if (heap == old.heap) {
        w->out->heaps[heap].n_remote += old.lane != lane;
        w->live_blocks[heap]--;
        w->live_bytes[heap] -= old.size;
        put_block(w, op, heap, old.lane);
    } else {
        put_block(w, op, heap, lane);
        drop_block(w, &old, lane);
    }
}

static bool request(struct walk *w, const struct ab_op_view *op, const uint64_t *word,
                    uint32_t lane)
{
    struct ab_route_lane *to = &w->out->lanes[lane];
    uint32_t heap = choose(w, lane, op->size);
    if (!AB_GROW(to->choices, to->cap_choices, to->n_choices))
        return false;
    to->choices[to->n_choices++] = (uint8_t)heap;
    note_user(w, heap, lane);
    note_call(w, word, op->kind, w->shown[heap]);
    note_request(&w->out->heaps[heap].facts, op);
    if (op->kind == AB_OP_RESIZE) {
        resize(w, op, heap, lane);
        return true;
    }
    w->out->heaps[heap].facts.kinds |= 1u << op->kind;
    if ((op->flags & AB_WIDE_MAY_FAIL) == 0)
        put_block(w, op, heap, lane);
    return true;
}

/* The heaps that the n frees behind the op empty, when all heaps that they reach are such. */
static uint16_t emptied(const struct walk *w, const uint64_t *op, uint32_t n)
{
    uint64_t dying[AB_ROUTE_HEAPS_MAX] = {0};
    uint16_t mask = 0;
    for (uint32_t i = 1; i <= n; i++) {
        if (AB_OP_CODE(op[i]) != AB_CODE_FREE)
            return 0;
        dying[w->blocks[AB_OP_SLOT(op[i])].heap]++;
    }
    for (uint32_t h = 0; h < w->plan->n_heaps; h++) {
        if (dying[h] > 0 && dying[h] != w->live_blocks[h])
            return 0;
        mask |= (uint16_t)((dying[h] > 0 ? 1u : 0u) << h);
    }
    return mask;
}

static bool note_reset(struct walk *w, const uint64_t *op, uint32_t lane)
{
    struct ab_route_lane *to = &w->out->lanes[lane];
    uint32_t n = AB_OP_SIZE(*op);
    if (n == 0)
        return true;
    if (!AB_GROW(to->resets, to->cap_resets, to->n_resets))
        return false;
    to->resets[to->n_resets++] = w->may_reset ? emptied(w, op, n) : 0;
    return true;
}

/* The one heap that the n blocks are in which die behind the op. */
static uint8_t heap_of_reset(const struct walk *w, const uint64_t *op, uint32_t n)
{
    uint8_t heap = w->plan->n_heaps == 1 ? w->shown[0] : AB_ROUTE_NOBODY; /* also of none */
    for (uint32_t i = 1; i <= n; i++) {
        uint8_t h = w->shown[w->blocks[AB_OP_SLOT(op[i])].heap];
        if (i > 1 && h != heap)
            return AB_ROUTE_NOBODY;
        heap = h;
    }
    return heap;
}

static bool walk_op(struct walk *w, const uint64_t *word, uint32_t lane)
{
    struct ab_op_view op = ab_op_decode(*word, w->tape.wide);
    switch (op.kind) {
    case AB_OP_ALLOC:
    case AB_OP_ALLOC_ZEROED:
    case AB_OP_ALLOC_ALIGNED:
    case AB_OP_RESIZE:
        return request(w, &op, word, lane);
    case AB_OP_FREE:
        note_call(w, word, op.kind, w->shown[w->blocks[op.slot].heap]);
        drop_block(w, &w->blocks[op.slot], lane);
        return true;
    case AB_OP_ACCESS:
        note_call(w, word, op.kind, w->shown[w->blocks[op.slot].heap]);
        w->out->heaps[w->blocks[op.slot].heap].facts.kinds |= 1u << AB_OP_ACCESS;
        return true;
    case AB_OP_RESET:
        note_call(w, word, op.kind, heap_of_reset(w, word, (uint32_t)op.size));
        return note_reset(w, word, lane);
    default:
        return true;
    }
}

static bool walk_phase(struct walk *w, uint32_t index)
{
    const struct ab_phase *phase = &w->tape.phases[index];
    const uint32_t *begin = &w->tape.lane_begin[(size_t)index * w->n_lanes];
    uint32_t at[AB_LANES_MAX], n_busy = 0;
    bool ok = true;
    w->uses = w->out->uses[index];
    for (uint32_t h = 0; h < w->plan->n_heaps; h++)
        note_peak(w, w->shown[h]); /* what was left by the phase before */
    for (uint32_t l = 0; l < w->n_lanes; l++) {
        at[l] = begin[l];
        n_busy += begin[l + 1] > begin[l];
    }
    w->may_reset = n_busy < 2;
    if (w->n_lanes == 1)
        while (at[0] < begin[1] && ok)
            ok = walk_op(w, &w->tape.ops[at[0]++], 0);
    for (uint32_t t = phase->turns_begin; t < phase->turns_end && ok; t++) {
        const struct ab_turn *turn = &w->tape.turns[t];
        for (uint32_t n = turn->n; n > 0 && ok; at[turn->lane]++) {
            n -= !ab_op_is_guard(w->tape.ops[at[turn->lane]]);
            ok = walk_op(w, &w->tape.ops[at[turn->lane]], turn->lane);
        }
    }
    return ok;
}

static void name_heaps(struct walk *w)
{
    for (uint32_t h = 0; h < w->plan->n_heaps; h++) {
        w->out->heaps[h] = w->plan->heaps[h];
        w->out->heaps[h].facts.lanes = w->n_lanes;
        w->shown[h] = (uint8_t)ab_route_shown(w->plan->heaps, h);
    }
}

static bool begin_walk(struct walk *w, const struct ab_tape_image *image)
{
    struct ab_route_walk *out = w->out;
    w->tape = ab_tape_part(image, 0);
    w->n_lanes = image->n_lanes;
    w->blocks = calloc(image->n_slots + 1u, sizeof w->blocks[0]);
    out->lanes = calloc(w->n_lanes, sizeof out->lanes[0]);
    out->uses = calloc(image->n_phases + 1u, sizeof out->uses[0]);
    out->heap_of = malloc(image->n_ops + 1u);
    if (out->heap_of != NULL)
        memset(out->heap_of, AB_ROUTE_NOBODY, image->n_ops + 1u);
    name_heaps(w);
    return w->blocks != NULL && out->lanes != NULL && out->uses != NULL && out->heap_of != NULL;
}

enum ab_status ab_route_walk(const struct ab_route_plan *plan, const struct ab_tape_map *tape,
                             uint8_t *const *groups, struct ab_route_walk *out, struct ab_err *err)
{
    struct walk *w = calloc(1, sizeof *w);
    bool ok = w != NULL;
    *out = (struct ab_route_walk){0};
    if (ok) {
        w->plan = plan;
        w->groups = groups;
        w->out = out;
        ok = begin_walk(w, tape->image);
        for (uint32_t p = 0; p < tape->image->n_phases && ok; p++)
            ok = walk_phase(w, p);
        free(w->blocks);
    }
    free(w);
    return ok ? AB_OK : ab_fail(err, AB_SYSTEM, "out of memory for the placement");
}

void ab_route_walk_fini(struct ab_route_walk *walk, uint32_t n_lanes)
{
    for (uint32_t l = 0; walk->lanes != NULL && l < n_lanes; l++) {
        free(walk->lanes[l].choices);
        free(walk->lanes[l].resets);
    }
    free(walk->lanes);
    free(walk->heap_of);
    free(walk->uses);
    *walk = (struct ab_route_walk){0};
}
