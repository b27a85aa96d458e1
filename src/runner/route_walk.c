/* SPDX-License-Identifier: MIT
 *
 * Goes through a tape in its common order: which heap each block is in, what lives in each heap, and
 * which resets empty one.
 */
#include "runner/route_walk.h"

#include "core/grow.h"
#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

int ab_route_shown_name(const char *name)
{
    size_t n = strlen(name);
    bool is_twin = n > 2 && name[n - 2] == '#' && (name[n - 1] == '1' || name[n - 1] == '2');
    return (int)(is_twin ? n - 2 : n);
}

static uint32_t first_of_name(const struct ab_route_heap *heaps, uint32_t h)
{
    int n = ab_route_shown_name(heaps[h].name);
    uint32_t first = 0;
    while (ab_route_shown_name(heaps[first].name) != n ||
           strncmp(heaps[first].name, heaps[h].name, (size_t)n) != 0)
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

/* Matches the rule with the op's own request; a resize has the attributes of its block's birth. */
static bool fits(const struct ab_route_rule *rule, const uint64_t x[AB_ROUTE_RANGES],
                 uint8_t origin)
{
    for (unsigned r = 0; r < AB_ROUTE_RANGES; r++)
        if (rule->ranges[r].is_asked &&
            (x[r] < rule->ranges[r].least || x[r] > rule->ranges[r].most))
            return false;
    return (!rule->asks_scope || (origin & AB_ORIGIN_SCOPED) != 0) &&
           (!rule->asks_site || (rule->classes >> (origin & AB_ORIGIN_CLASS) & 1) != 0);
}

static uint8_t choose(struct ab_route_walk *w, uint32_t lane, const struct ab_op_view *op,
                      uint8_t origin)
{
    const struct ab_route_rule *rule = w->plan->rules, *last = rule + w->plan->n_rules - 1;
    const uint64_t x[AB_ROUTE_RANGES] = {
        [AB_ROUTE_GROUP] = w->groups != NULL ? w->groups[lane][w->lanes[lane].n_choices] : 0,
        [AB_ROUTE_SIZE] = op->size,
        [AB_ROUTE_LANE] = lane,
    };
    while (rule < last && !fits(rule, x, origin))
        rule++;
    w->n_requests[rule - w->plan->rules] += (op->flags & AB_WIDE_MAY_FAIL) == 0;
    return (uint8_t)((origin & AB_ORIGIN_ODD) != 0 ? rule->odd_heap : rule->heap);
}

static void note_call(struct ab_route_walk *w, const uint64_t *word, int kind, uint8_t heap)
{
    w->heap_of[word - w->tape.ops] = heap;
    if (heap != AB_ROUTE_NO_HEAP)
        w->use[heap].n_calls[kind]++;
}

static void note_user(struct ab_route_walk *w, uint32_t heap, uint32_t lane)
{
    w->heaps[heap].n_lanes += !w->is_user[heap][lane];
    w->is_user[heap][lane] = true;
}

/* Adds a request to the facts of the heap that serves it. */
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

/* Updates the live peak of all heaps of one name. */
static void note_peak(struct ab_route_walk *w, uint32_t shown)
{
    struct ab_route_use *use = &w->use[shown];
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

/* The lane's save points are older than the block, where it has been allocated or resized. */
static void note_born(struct ab_route_walk *w, struct ab_route_block *block, uint32_t lane)
{
    struct ab_save_points *saves = w->lanes[lane].saves;
    uint32_t born = saves != NULL ? ab_save_born(saves, block->heap) : 0;
    if (block->lane == lane)
        block->born_save = born;
}

static void note_gone(struct ab_route_walk *w, const struct ab_route_block *block, uint32_t lane)
{
    struct ab_save_points *saves = w->lanes[lane].saves;
    if (saves != NULL && block->lane == lane)
        ab_save_gone(saves, block->born_save, block->heap);
}

static void put_block(struct ab_route_walk *w, const struct ab_op_view *op,
                      struct ab_route_block block, uint32_t lane)
{
    uint8_t heap = block.heap;
    struct ab_facts *f = &w->heaps[heap].facts;
    note_born(w, &block, lane);
    w->blocks[op->slot] = block;
    w->live_bytes[heap] += op->size;
    if (++w->live_blocks[heap] > f->live_peak_blocks)
        f->live_peak_blocks = w->live_blocks[heap];
    if (w->live_bytes[heap] > f->live_peak_bytes)
        f->live_peak_bytes = w->live_bytes[heap];
    note_peak(w, w->shown[heap]);
}

/* Can the worker tell by the frees alone when it is empty, and is nothing of another lane in it? As far
 * as is known. */
static bool may_renew(const struct ab_route_walk *w, uint32_t heap)
{
    const struct ab_route_heap *h = &w->heaps[heap];
    return h->renews != 0 && h->n_lanes <= 1 && h->n_remote == 0 && !w->lives[heap].is_unsure;
}

/* Notes a free in a heap that is renewed when it is empty. */
static void note_free(struct ab_route_lives *lives, bool is_empty)
{
    if (++lives->since >= AB_ROUTE_NEVER)
        lives->is_unsure = true;
    if (!is_empty)
        return;
    AB_GROW(lives->frees, lives->cap, lives->n);
    lives->frees[lives->n++] = (uint32_t)lives->since;
    lives->since = 0;
}

static void forget_heap(struct ab_save_points *saves, uint32_t heap)
{
    for (uint32_t i = 0; saves != NULL && i < saves->n; i++)
        saves->open[i].gone |= 1u << heap;
}

static void drop_block(struct ab_route_walk *w, const struct ab_route_block *block, uint32_t lane)
{
    struct ab_route_heap *heap = &w->heaps[block->heap];
    heap->facts.kinds |= 1u << AB_OP_FREE;
    heap->n_remote += block->lane != lane;
    note_gone(w, block, lane);
    note_user(w, block->heap, lane);
    w->live_bytes[block->heap] -= block->size;
    bool is_empty = --w->live_blocks[block->heap] == 0;
    heap->n_lives += is_empty;
    if (is_empty && heap->renews != 0)
        forget_heap(w->lanes[lane].saves, block->heap);
    if (may_renew(w, block->heap))
        note_free(&w->lives[block->heap], is_empty);
}

/* A resize is the new heap's op; where it comes from another one, an allocation there and a free. */
static void resize(struct ab_route_walk *w, const struct ab_op_view *op, uint8_t heap,
                   uint32_t lane)
{
    struct ab_route_block old = w->blocks[op->slot];
    struct ab_facts *f = &w->heaps[heap].facts;
    f->kinds |= 1u << (heap == old.heap ? AB_OP_RESIZE : AB_OP_ALLOC);
    if (old.size == 0) /* it may be NULL: then nothing of it is resized or freed */
        w->lives[heap].is_unsure = true;
    if ((op->flags & AB_WIDE_MAY_FAIL) != 0) { /* a heap that serves it all the same has it then */
        w->lives[heap].is_unsure = w->lives[old.heap].is_unsure = true;
        return;
    }
    if (heap == old.heap) {
        w->heaps[heap].n_remote += old.lane != lane;
        w->live_blocks[heap]--;
        w->live_bytes[heap] -= old.size;
        note_gone(w, &old, lane);
        old.size = op->size;
        put_block(w, op, old, lane);
        return;
    }
    put_block(w, op, (struct ab_route_block){op->size, lane, 0, heap, old.origin}, lane);
    drop_block(w, &old, lane);
}

static void request(struct ab_route_walk *w, const struct ab_op_view *op, const uint64_t *word,
                    uint32_t lane)
{
    struct ab_route_lane *to = &w->lanes[lane];
    bool is_resize = op->kind == AB_OP_RESIZE, is_refused = (op->flags & AB_WIDE_MAY_FAIL) != 0;
    size_t born = w->n_born;
    w->n_born += !is_resize;
    uint8_t origin = is_resize                   ? w->blocks[op->slot].origin
                     : born < w->plan->n_origins ? w->plan->origins[born]
                                                 : 0;
    uint8_t heap = choose(w, lane, op, origin);
    AB_GROW(to->choices, to->cap_choices, to->n_choices);
    to->choices[to->n_choices++] = heap;
    note_user(w, heap, lane);
    note_call(w, word, op->kind, w->shown[heap]);
    note_request(&w->heaps[heap].facts, op);
    if (is_resize) {
        resize(w, op, heap, lane);
        return;
    }
    w->heaps[heap].facts.kinds |= 1u << op->kind;
    if (is_refused) /* it is freed at once where it is served */
        w->lives[heap].is_unsure = true;
    else
        put_block(w, op, (struct ab_route_block){op->size, lane, 0, heap, origin}, lane);
}

/* How many of each heap's blocks the n frees behind the op free; false: something else is in between. */
static bool count_dying(const struct ab_route_walk *w, const uint64_t *op, uint32_t n,
                        uint64_t dying[AB_ROUTE_HEAPS_MAX])
{
    for (uint32_t i = 1; i <= n; i++) {
        if (AB_OP_CODE(op[i]) != AB_CODE_FREE)
            return false;
        dying[w->blocks[AB_OP_SLOT(op[i])].heap]++;
    }
    return true;
}

/* How many of the n blocks are of the lane and younger than its save point. */
static void count_younger(const struct ab_route_walk *w, const uint64_t *op,
                          const struct ab_save_point *save, uint32_t lane,
                          uint64_t younger[AB_ROUTE_HEAPS_MAX])
{
    for (uint32_t i = 1; i <= AB_OP_SIZE(*op); i++) {
        const struct ab_route_block *block = &w->blocks[AB_OP_SLOT(op[i])];
        younger[block->heap] += block->lane == lane && block->born_save >= save->id;
    }
}

/* Heaps that the frees behind the op empty, and others in which all that is younger than the save point
 * (NULL: there is none) dies; both 0 unless all heaps that they reach are such. Without frees: those in
 * which all of it is dead, unless they were renewed meanwhile: there the save point is gone. */
static void find_masks(const struct ab_route_walk *w, const uint64_t *op, uint32_t lane,
                       const struct ab_save_point *save, uint16_t masks[2])
{
    uint64_t dying[AB_ROUTE_HEAPS_MAX] = {0}, younger[AB_ROUTE_HEAPS_MAX] = {0};
    masks[0] = masks[1] = 0;
    if (!count_dying(w, op, AB_OP_SIZE(*op), dying))
        return;
    if (save != NULL)
        count_younger(w, op, save, lane, younger);
    for (uint32_t h = 0; h < w->plan->n_heaps; h++) {
        bool is_emptied = dying[h] == w->live_blocks[h];
        bool is_released = save != NULL && dying[h] == younger[h] && dying[h] == save->n_live[h];
        if (dying[h] == 0) {
            if (save != NULL && AB_OP_SIZE(*op) == 0 && save->n_live[h] == 0)
                masks[1] |= (uint16_t)(save->used & ~save->gone & 1u << h);
            continue;
        }
        if (!is_emptied && !is_released) {
            masks[0] = masks[1] = 0;
            return;
        }
        masks[!is_emptied] |= (uint16_t)(1u << h);
    }
}

static void add_mask(struct ab_route_lane *to, uint16_t mask)
{
    AB_GROW(to->resets, to->cap_resets, to->n_resets);
    to->resets[to->n_resets++] = mask;
}

/* Scopes that have ended without frees are still open when one around them ends or another begins. */
static void end_scopes(struct ab_save_points *saves, uint32_t least_depth)
{
    while (saves->n > 0 && saves->open[saves->n - 1].depth >= least_depth)
        ab_save_end(saves, saves->open[saves->n - 1].depth);
}

static void note_mark(struct ab_route_lane *to, uint32_t depth)
{
    if (to->saves == NULL)
        to->saves = ab_alloc_zeroed(1, sizeof *to->saves);
    struct ab_save_points *saves = to->saves;
    end_scopes(saves, depth);
    struct ab_save_point *save = ab_save_begin(saves, to->n_resets);
    if (save != NULL)
        save->depth = depth;
    add_mask(to, 0);
}

static void note_reset(struct ab_route_walk *w, const uint64_t *op, uint32_t lane)
{
    struct ab_route_lane *to = &w->lanes[lane];
    uint32_t depth = AB_RESET_DEPTH(AB_OP_SLOT(*op));
    uint16_t masks[2] = {0, 0};
    if (ab_op_is_mark(*op)) {
        note_mark(to, depth);
        return;
    }
    if (AB_OP_SIZE(*op) == 0 && depth == 0)
        return;
    struct ab_save_point *save = NULL;
    if (depth != 0) {
        end_scopes(to->saves, depth + 1);
        save = ab_save_last(to->saves, depth);
    }
    if (w->may_reset)
        find_masks(w, op, lane, save, masks);
    if (save != NULL)
        to->resets[save->at] |= masks[1];
    add_mask(to, masks[0]);
    if (depth != 0)
        add_mask(to, masks[1]);
}

/* The one heap that the n blocks are in which die behind the op. */
static uint8_t heap_of_reset(const struct ab_route_walk *w, const uint64_t *op, uint32_t n)
{
    uint8_t heap = w->plan->n_heaps == 1 ? w->shown[0] : AB_ROUTE_NO_HEAP; /* also of none */
    for (uint32_t i = 1; i <= n; i++) {
        if (AB_OP_CODE(op[i]) != AB_CODE_FREE) /* it waits for another lane: not in bulk */
            return AB_ROUTE_NO_HEAP;
        uint8_t h = w->shown[w->blocks[AB_OP_SLOT(op[i])].heap];
        if (i > 1 && h != heap)
            return AB_ROUTE_NO_HEAP;
        heap = h;
    }
    return heap;
}

static void walk_op(struct ab_route_walk *w, const uint64_t *word, uint32_t lane)
{
    struct ab_op_view op = ab_op_decode(*word, w->tape.wide);
    if (ab_op_is_mark(*word)) {
        note_reset(w, word, lane);
        return;
    }
    switch (op.kind) {
    case AB_OP_ALLOC:
    case AB_OP_ALLOC_ZEROED:
    case AB_OP_ALLOC_ALIGNED:
    case AB_OP_RESIZE:
        request(w, &op, word, lane);
        break;
    case AB_OP_FREE:
        note_call(w, word, op.kind, w->shown[w->blocks[op.slot].heap]);
        drop_block(w, &w->blocks[op.slot], lane);
        break;
    case AB_OP_ACCESS:
        note_call(w, word, op.kind, w->shown[w->blocks[op.slot].heap]);
        w->heaps[w->blocks[op.slot].heap].facts.kinds |= 1u << AB_OP_ACCESS;
        break;
    case AB_OP_RESET:
        note_call(w, word, op.kind, heap_of_reset(w, word, (uint32_t)op.size));
        note_reset(w, word, lane);
        break;
    default:
        break;
    }
}

static void walk_phase(struct ab_route_walk *w, uint32_t index)
{
    const struct ab_phase *phase = &w->tape.phases[index];
    const uint32_t *begin = &w->tape.lane_begin[(size_t)index * w->image->n_lanes];
    uint32_t at[AB_LANES_MAX], n_busy = 0;
    w->use = w->uses[index];
    for (uint32_t h = 0; h < w->plan->n_heaps; h++)
        note_peak(w, w->shown[h]); /* what was left by the phase before */
    for (uint32_t l = 0; l < w->image->n_lanes; l++) {
        at[l] = begin[l];
        n_busy += begin[l + 1] > begin[l];
        if (w->lanes[l].saves != NULL)
            w->lanes[l].saves->n = 0; /* scopes end with their phase */
    }
    w->may_reset = n_busy < 2;
    if (w->image->n_lanes == 1)
        while (at[0] < begin[1])
            walk_op(w, &w->tape.ops[at[0]++], 0);
    for (uint32_t t = phase->turns_begin; t < phase->turns_end; t++) {
        const struct ab_turn *turn = &w->tape.turns[t];
        for (uint32_t n = turn->n; n > 0; at[turn->lane]++) {
            n -= !ab_op_is_guard(w->tape.ops[at[turn->lane]]);
            walk_op(w, &w->tape.ops[at[turn->lane]], turn->lane);
        }
    }
}

static void name_heaps(struct ab_route_walk *w)
{
    for (uint32_t h = 0; h < w->plan->n_heaps; h++) {
        w->heaps[h] = w->plan->heaps[h];
        w->heaps[h].facts.lanes = w->image->n_lanes;
        w->shown[h] = (uint8_t)ab_route_shown(w->plan->heaps, h);
    }
}

static uint32_t most_ops(const struct ab_tape_image *image)
{
    uint32_t most = 0;
    for (uint32_t b = 0; b < image->n_bursts; b++)
        if (ab_tape_burst(image, b)->n_ops > most)
            most = ab_tape_burst(image, b)->n_ops;
    return most;
}

void ab_route_walk_begin(struct ab_route_walk *w, const struct ab_route_plan *plan,
                         const struct ab_tape_image *tape, uint8_t *const *groups)
{
    w->plan = plan;
    w->image = tape;
    w->groups = groups;
    w->blocks = ab_alloc_zeroed(tape->n_slots + 1u, sizeof w->blocks[0]);
    w->lanes = ab_alloc_zeroed(tape->n_lanes, sizeof w->lanes[0]);
    w->uses = ab_alloc_zeroed(tape->n_phases + 1u, sizeof w->uses[0]);
    w->heap_of = ab_alloc(most_ops(tape) + 1u);
    name_heaps(w);
}

static void end_lives(struct ab_route_lives *lives)
{
    AB_GROW(lives->frees, lives->cap, lives->n);
    lives->frees[lives->n] = AB_ROUTE_NEVER;
}

void ab_route_walk_burst(struct ab_route_walk *w, uint32_t burst)
{
    w->tape = ab_tape_part(w->image, burst);
    memset(w->heap_of, AB_ROUTE_NO_HEAP, w->tape.n_ops);
    for (uint32_t l = 0; l < w->image->n_lanes; l++)
        w->lanes[l].n_choices = w->lanes[l].n_resets = 0;
    for (uint32_t h = 0; h < w->plan->n_heaps; h++)
        w->lives[h].n = w->lives[h].since = 0;
    for (uint32_t p = 0; p < w->image->n_phases; p++)
        walk_phase(w, p);
    for (uint32_t h = 0; h < w->plan->n_heaps; h++)
        if (w->heaps[h].renews != 0)
            end_lives(&w->lives[h]);
}

/* A program that has it for one thread takes no lock either. */
static void narrow(struct ab_route_heap *h)
{
    h->narrows = h->narrows != 0 && h->n_lanes <= 1 && h->n_remote == 0;
    if (h->narrows != 0)
        h->facts.lanes = 1;
}

enum ab_status ab_route_walk_end(struct ab_route_walk *w, struct ab_err *err)
{
    for (uint32_t h = 0; h < w->plan->n_heaps; h++) {
        if (w->heaps[h].n_lives == 0 || !may_renew(w, h))
            w->heaps[h].renews = 0;
        narrow(&w->heaps[h]);
    }
    bool is_all = w->n_born == w->plan->n_origins;
    if (w->plan->origins != NULL && !is_all &&
        (!w->plan->is_part || w->n_born > w->plan->n_origins))
        return ab_fail(err, AB_INPUT, "the file has changed since it was read");
    return AB_OK;
}

void ab_route_walk_fini(struct ab_route_walk *w)
{
    for (uint32_t l = 0; w->lanes != NULL && l < w->image->n_lanes; l++) {
        free(w->lanes[l].choices);
        free(w->lanes[l].resets);
        free(w->lanes[l].saves);
    }
    free(w->lanes);
    for (uint32_t h = 0; h < AB_ROUTE_HEAPS_MAX; h++)
        free(w->lives[h].frees);
    free(w->heap_of);
    free(w->uses);
    free(w->blocks);
    *w = (struct ab_route_walk){0};
}
