/* SPDX-License-Identifier: MIT
 *
 * Executes the verb `play`, one call of the model in each step.
 *
 * A resize or free that is due comes first, in the order of due times; of equal times, the youngest
 * block first. Otherwise the part's automaton chooses the next block to allocate. When a part has
 * no further blocks to allocate and its due actions are done, the next part begins. Each call is
 * made in the lane that the table gives, whichever lane has its turn.
 */
#include "base/search.h"
#include "core/alloc.h"
#include "workload/generate/generate.h"
#include "workload/model.h"

#include <stdlib.h>
#include <string.h>

/* A time is a number of calls of the model, as a fixed-point number; the fraction orders actions
 * between two calls. */
enum { FRACTION_BITS = 20 };
#define TIME(calls) ((uint64_t)(calls) << FRACTION_BITS)

struct living { /* a live block that will be resized or freed */
    uint64_t due, born, dies, number;
    uint32_t slot, block, n_resized;
    bool is_free; /* True if its next action is the free */
};

struct ab_play {
    const struct ab_model *t;
    struct ab_rng rng;
    struct living *heap; /* binary heap by due time; the next action is on top */
    size_t n_heap, cap_heap;
    /* now: number of calls so far; n_born: number of blocks allocated so far */
    uint64_t now, n_born;
    uint32_t part;
    bool has_part, is_finished;
    size_t first, end; /* range of the part's rows in t->rows */
    uint32_t state, n_states, jump;
    uint64_t n_left; /* number of blocks that the part will still allocate */
    uint32_t *left;  /* remaining count of each row of the part */
    /* for each state of the part that has rows: index of its first row in the part */
    uint32_t *states;
    uint64_t *left_in; /* for each state in `states`: number of blocks that remain */
    /* number of blocks of the part that end in fifo or lifo order, by index of order_of(). n_ends:
     * all of them; n_placed: the blocks allocated so far */
    uint32_t *n_ends, *n_placed;
};

struct ab_play *ab_play_begin(const struct ab_model *t, uint64_t seed, uint64_t stream)
{
    struct ab_play *p = ab_alloc_zeroed(1, sizeof *p);
    p->t = t;
    ab_rng_init(&p->rng, seed, stream);
    p->left = ab_alloc_zeroed(t->n_rows, sizeof p->left[0]);
    p->states = ab_alloc_zeroed(t->n_rows + 2, sizeof p->states[0]);
    p->left_in = ab_alloc_zeroed(t->n_rows + 1, sizeof p->left_in[0]);
    p->n_ends = ab_alloc_zeroed(2 * AB_MODEL_PARTS_MAX, sizeof p->n_ends[0]);
    p->n_placed = ab_alloc_zeroed(2 * AB_MODEL_PARTS_MAX, sizeof p->n_placed[0]);
    return p;
}

void ab_play_end(struct ab_play *p)
{
    if (p == NULL)
        return;
    free(p->heap);
    free(p->left);
    free(p->states);
    free(p->left_in);
    free(p->n_ends);
    free(p->n_placed);
    free(p);
}

/* ---- due actions ---- */

static bool is_before(const struct living *a, const struct living *b)
{
    return a->due != b->due ? a->due < b->due : a->number > b->number;
}

static void push(struct ab_play *p, struct living x)
{
    AB_GROW(p->heap, p->cap_heap, p->n_heap);
    size_t i = p->n_heap++;
    for (; i > 0 && is_before(&x, &p->heap[(i - 1) / 2]); i = (i - 1) / 2)
        p->heap[i] = p->heap[(i - 1) / 2];
    p->heap[i] = x;
}

static struct living pop(struct ab_play *p)
{
    struct living top = p->heap[0], last = p->heap[--p->n_heap];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < p->n_heap; i = child) {
        if (child + 1 < p->n_heap && is_before(&p->heap[child + 1], &p->heap[child]))
            child++;
        if (!is_before(&p->heap[child], &last))
            break;
        p->heap[i] = p->heap[child];
    }
    p->heap[i] = last;
    return top;
}

/* Schedules the next resize or the free of a block, if it has one. */
static void plan(struct ab_play *p, struct living x)
{
    const struct ab_model_block *b = &p->t->blocks[x.block];
    uint64_t until = b->ends == AB_ENDS_NEVER ? TIME(p->t->part_calls) : x.dies - x.born;
    x.is_free = x.n_resized == b->resizes;
    x.due = x.dies;
    if (!x.is_free)
        x.due = x.born + TIME(1) / 2 +
                (uint64_t)((double)until * (double)b->grown / 100 / (double)(b->resizes + 1) *
                           (x.n_resized + 1));
    if (x.due > x.dies && b->ends != AB_ENDS_NEVER)
        x.due = x.dies;
    if (!x.is_free || b->ends != AB_ENDS_NEVER)
        push(p, x);
}

static uint64_t random_part(struct ab_play *p, uint64_t range)
{
    return ab_rng_below(&p->rng, range > 0 ? range : 1);
}

/* Returns the index in n_ends for blocks that end in fifo or lifo order: one for each order and
 * number of parts that they live. */
static size_t order_of(const struct ab_model_block *b)
{
    return (b->ends == AB_ENDS_LIFO ? AB_MODEL_PARTS_MAX : 0) + b->life;
}

/* Returns the time at which a block that is allocated now is freed. */
static uint64_t death_of(struct ab_play *p, const struct ab_model_block *b)
{
    uint64_t part = TIME(p->t->part_calls), range = part * (b->to - b->from) / 100;
    uint64_t begin = (p->part + b->life) * part + part * b->from / 100;
    if (b->ends == AB_ENDS_CALLS)
        return TIME(p->now + b->life + 1);
    if (b->ends == AB_ENDS_RANDOM || b->life >= AB_MODEL_PARTS_MAX)
        return begin + random_part(p, range);
    size_t i = order_of(b);
    uint64_t place = p->n_placed[i]++, n = p->n_ends[i];
    place = b->ends == AB_ENDS_LIFO ? n - 1 - place : place;
    return begin + (uint64_t)((double)range * ((double)place + 0.5) / (double)n);
}

/* ---- parts ---- */

/* Adds the count of the row to n_ends, if its blocks end in fifo or lifo order. */
static void count_ends(struct ab_play *p, const struct ab_model_row *row)
{
    const struct ab_model_block *b = &p->t->blocks[row->block];
    bool is_ordered = b->ends == AB_ENDS_FIFO || b->ends == AB_ENDS_LIFO;
    if (is_ordered && b->life < AB_MODEL_PARTS_MAX)
        p->n_ends[order_of(b)] += row->count;
}

static void begin_part(struct ab_play *p)
{
    const struct ab_model *t = p->t;
    for (p->first = p->end; p->end < t->n_rows && t->rows[p->end].part == p->part;)
        p->end++;
    p->state = p->jump = 0;
    p->n_left = 0;
    memset(p->n_ends, 0, 2 * AB_MODEL_PARTS_MAX * sizeof p->n_ends[0]);
    memset(p->n_placed, 0, 2 * AB_MODEL_PARTS_MAX * sizeof p->n_placed[0]);
    uint32_t n = 0;
    for (size_t i = p->first; i < p->end; i++) {
        const struct ab_model_row *row = &t->rows[i];
        if (i == p->first || row->state != t->rows[i - 1].state) {
            p->states[n] = (uint32_t)(i - p->first);
            p->left_in[n++] = 0;
        }
        p->left[i - p->first] = row->count;
        p->left_in[n - 1] += row->count;
        p->n_left += row->count;
        count_ends(p, row);
    }
    p->n_states = n;
    p->has_part = true;
}

/* Returns the index of a state in `states`; n_states = the state has no rows. */
static uint32_t find_state(const struct ab_play *p, uint32_t state)
{
    const struct ab_model_row *rows = &p->t->rows[p->first];
    size_t i = AB_SEARCH(k, p->n_states, rows[p->states[k]].state < state);
    return i < p->n_states && rows[p->states[i]].state == state ? (uint32_t)i : p->n_states;
}

/* Draws the kind of the next block of the part, and moves to the next state. At least one block
 * must remain. */
static uint32_t draw_block(struct ab_play *p)
{
    uint32_t at = find_state(p, p->state);
    if (at == p->n_states || p->left_in[at] == 0) {
        while (p->left_in[p->jump] == 0)
            p->jump++;
        at = p->jump;
    }
    uint64_t u = ab_rng_below(&p->rng, p->left_in[at]);
    uint32_t row = p->states[at];
    for (; u >= p->left[row]; row++)
        u -= p->left[row];
    p->left[row]--;
    p->left_in[at]--;
    p->n_left--;
    p->state = p->t->rows[p->first + row].next;
    return p->t->rows[p->first + row].block;
}

/* ---- one call ---- */

static enum ab_status use_lane(struct ab_generator *g, uint64_t lane)
{
    g->tape_lane = g->phase->is_run_by_main ? 0 : (uint32_t)lane;
    return ab_tape_lane(g->tape, g->tape_lane, g->err);
}

static struct ab_request request_of(const struct ab_verb *v, const struct ab_model_block *b,
                                    uint64_t size)
{
    struct ab_request request = {.size = size,
                                 .align = b->align,
                                 .is_zeroed = b->is_zeroed != 0,
                                 .touch = v->touch,
                                 .touch_bytes = v->touch_bytes};
    if (v->touch == AB_TOUCH_SHARE)
        ab_request_touch_share(&request);
    return request;
}

static enum ab_status play_allocation(struct ab_generator *g, struct ab_play *p,
                                      const struct ab_verb *v)
{
    struct living x = {.block = draw_block(p), .born = TIME(p->now), .number = p->n_born++};
    const struct ab_model_block *b = &p->t->blocks[x.block];
    struct ab_request request = request_of(v, b, b->size);
    x.dies = death_of(p, b);
    AB_TRY(use_lane(g, b->lane));
    if (g->w->wants_groups)
        ab_tape_group(g->tape, v->set);
    ab_slot_pool_take(&g->pool, g->tape_lane, ab_tape_count(g->tape), &x.slot);
    AB_TRY(ab_tape_alloc(g->tape, x.slot, &request, g->err));
    plan(p, x);
    return AB_OK;
}

static uint64_t size_after(const struct ab_model_block *b, uint32_t n)
{
    if (n >= b->resizes || b->size == 0)
        return b->last_size;
    double factor = ab_real_log((double)b->last_size / (double)b->size);
    double size = (double)b->size * ab_real_exp(factor * n / (double)b->resizes) + 0.5;
    return size < 1 ? 1 : (uint64_t)size;
}

static enum ab_status play_due_action(struct ab_generator *g, struct ab_play *p,
                                      const struct ab_verb *v)
{
    struct living x = pop(p);
    const struct ab_model_block *b = &p->t->blocks[x.block];
    if (x.is_free) {
        AB_TRY(use_lane(g, b->freed_by));
        AB_TRY(ab_tape_free(g->tape, x.slot, g->err));
        ab_slot_pool_give(&g->pool, g->tape_lane, ab_tape_count(g->tape), x.slot);
        return AB_OK;
    }
    struct ab_request request = request_of(v, b, size_after(b, ++x.n_resized));
    request.align = 0;
    request.is_zeroed = false;
    AB_TRY(use_lane(g, b->lane));
    AB_TRY(ab_tape_resize(g->tape, x.slot, &request, g->err));
    plan(p, x);
    return AB_OK;
}

/* True if the part has no block left to allocate and no action that is due before its end. */
static bool is_part_over(const struct ab_play *p)
{
    bool is_last = p->part + 1 >= p->t->n_parts;
    return p->n_left == 0 &&
           (p->n_heap == 0 ||
            (!is_last && p->heap[0].due >= TIME((p->part + 1) * p->t->part_calls)));
}

static enum ab_status call(struct ab_generator *g, struct ab_play *p, const struct ab_verb *v)
{
    bool is_due = p->n_heap > 0 && (p->n_left == 0 || p->heap[0].due <= TIME(p->now));
    enum ab_status status = is_due ? play_due_action(g, p, v) : play_allocation(g, p, v);
    p->now++;
    return status;
}

enum ab_status ab_play_step(struct ab_generator *g, struct ab_play *p, const struct ab_verb *v,
                            bool *is_over)
{
    uint32_t lane = g->tape_lane;
    while (!p->is_finished && (!p->has_part || is_part_over(p))) {
        if (p->has_part && p->now < (p->part + 1) * p->t->part_calls)
            p->now = (p->part + 1) * p->t->part_calls;
        p->part += p->has_part;
        p->is_finished = p->part == p->t->n_parts;
        if (!p->is_finished)
            begin_part(p);
    }
    *is_over = p->is_finished;
    if (p->is_finished)
        return AB_OK;
    AB_TRY(call(g, p, v));
    return use_lane(g, lane);
}
