/* SPDX-License-Identifier: MIT
 *
 * From a valid workload to its tape: the verbs are carried out on live sets, and what they do is
 * pushed as ops. Sizes, positions and shuffles have random streams of their own, so that a change
 * of one distribution does not move what the others draw.
 *
 * Nothing here can run for ever: each step makes an op or counts as idle, idle steps are bounded
 * by the ops made, and ops by AB_TAPE_MAX_OPS and memory.
 */
#include "workload/generate.h"

#include "core/bits.h"
#include "workload/estimate_ops.h"
#include "workload/live_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STREAM_SIZES = 1, STREAM_POSITIONS = 2, STREAM_ORDER = 3 };
enum { IDLE_FREE = 10000000, IDLE_PER_OP = 64, STALLED_ITERS = 1000000, PROBE_ITERS = 16 };
#define LIVE_BYTES_MAX (UINT64_C(1) << 62)

struct generator {
    const struct ab_workload *w;
    struct ab_tape_builder *tape;
    struct ab_live_set *sets;
    struct ab_rng sizes, positions, order;
    uint64_t *turns;   /* of cycles, one a distribution */
    uint64_t *cursors; /* one a verb */
    uint32_t *picked;  /* the blocks that an order has chosen */
    size_t cap_picked;
    uint64_t max_ops, idle;
    const struct ab_phase_def *phase;
    uint64_t until; /* the phase's counter must reach that */
    bool is_done;
    struct ab_err *err;
};

/* ---- errors, with the place in the workload ---- */

static enum ab_status fail_at(struct generator *g, struct ab_place at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static enum ab_status fail_at(struct generator *g, struct ab_place at, const char *fmt, ...)
{
    const struct ab_source source = {g->w->file, g->w->text, g->w->n_text};
    struct ab_text out = {0};
    char file[300], message[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    ab_text_addf(&out, "%s:%u:%u: %s\n", ab_text_printable(file, sizeof file, g->w->file), at.line,
                 at.col, message);
    ab_diag_excerpt(&out, &source, at);
    size_t n = out.s == NULL ? 0 : strlen(out.s);
    if (n > 0)
        out.s[n - 1] = 0; /* no newline at the end of an error */
    ab_fail(g->err, AB_CONFIG, "%s", out.s != NULL ? out.s : message);
    ab_text_fini(&out);
    return AB_CONFIG;
}

static enum ab_status fail_too_many(struct generator *g, struct ab_place at, double n_ops)
{
    char count[32], max[32];
    ab_units_count(count, sizeof count, n_ops);
    ab_units_count(max, sizeof max, (double)g->max_ops);
    return fail_at(g, at, "about %s ops; a tape here has room for %s%s", count, max,
                   g->max_ops < AB_TAPE_MAX_OPS ? " (half of the available memory)" : "");
}

/* ---- until ---- */

static uint64_t until_counter(const struct generator *g)
{
    switch (g->phase->until) {
    case AB_UNTIL_OPS:
        return ab_tape_count(g->tape);
    case AB_UNTIL_ALLOCATED:
        return ab_tape_allocated_bytes(g->tape);
    case AB_UNTIL_LIVE:
        return ab_tape_live_bytes(g->tape);
    default:
        return 0;
    }
}

/* Behind each step: has the phase reached its end, or the tape its limit? */
static enum ab_status after_step(struct generator *g, const struct ab_verb *v)
{
    if (g->phase->until != AB_UNTIL_ITERS && until_counter(g) >= g->until)
        g->is_done = true;
    uint64_t n_ops = ab_tape_count(g->tape);
    if (AB_UNLIKELY(n_ops > g->max_ops))
        return fail_too_many(g, v->place, (double)n_ops);
    return AB_OK;
}

static enum ab_status idle_step(struct generator *g, const struct ab_verb *v, uint64_t n)
{
    uint64_t n_ops = ab_tape_count(g->tape);
    bool is_endless = __builtin_add_overflow(g->idle, n, &g->idle) ||
                      g->idle > IDLE_FREE + n_ops * IDLE_PER_OP;
    if (is_endless)
        return fail_at(g, v->place, "makes almost no ops: %llu steps found nothing to do, after "
                                    "%llu ops", (unsigned long long)g->idle,
                       (unsigned long long)n_ops);
    return AB_OK;
}

static enum ab_status no_op(struct generator *g, const struct ab_verb *v)
{
    ab_tape_note_no_op_free(g->tape);
    return idle_step(g, v, 1);
}

/* ---- one step at one position ---- */

static enum ab_status push_failed(struct generator *g, const struct ab_verb *v)
{
    char text[300];
    snprintf(text, sizeof text, "%.299s", g->err->text);
    return fail_at(g, v->place, "%s", text);
}

static enum ab_status draw_request(struct generator *g, const struct ab_verb *v,
                                   struct ab_request *request)
{
    uint64_t size = ab_dist_draw(&g->w->dists, v->dist, g->turns, &g->sizes);
    if (ab_tape_live_bytes(g->tape) + size > LIVE_BYTES_MAX)
        return fail_at(g, v->place, "more than 4 EiB live at once");
    *request = (struct ab_request){.size = size, .align = v->align, .touch = v->touch,
                                   .touch_bytes = v->touch_bytes};
    return AB_OK;
}

static enum ab_status alloc_one(struct generator *g, const struct ab_verb *v, uint32_t position)
{
    const struct ab_set_def *def = &g->w->sets[v->set];
    struct ab_request request;
    enum ab_status status = draw_request(g, v, &request);
    if (status != AB_OK)
        return status;
    if (ab_tape_alloc(g->tape, def->base + position, &request, g->err) != AB_OK)
        return push_failed(g, v);
    ab_live_set_add(&g->sets[v->set], position);
    return AB_OK;
}

static enum ab_status free_one(struct generator *g, const struct ab_verb *v, uint32_t position)
{
    if (!ab_live_set_has(&g->sets[v->set], position))
        return no_op(g, v);
    if (ab_tape_free(g->tape, g->w->sets[v->set].base + position, g->err) != AB_OK)
        return push_failed(g, v);
    ab_live_set_remove(&g->sets[v->set], position);
    return AB_OK;
}

static enum ab_status resize_one(struct generator *g, const struct ab_verb *v, uint32_t position)
{
    struct ab_request request;
    if (!ab_live_set_has(&g->sets[v->set], position))
        return no_op(g, v);
    enum ab_status status = draw_request(g, v, &request);
    if (status != AB_OK)
        return status;
    if (ab_tape_resize(g->tape, g->w->sets[v->set].base + position, &request, g->err) != AB_OK)
        return push_failed(g, v);
    return AB_OK;
}

static enum ab_status step(struct generator *g, const struct ab_verb *v, uint32_t position)
{
    const struct ab_set_def *def = &g->w->sets[v->set];
    enum ab_status status = AB_OK;
    switch (v->kind) {
    case AB_VERB_ALLOC:
        if (ab_live_set_has(&g->sets[v->set], position))
            return fail_at(g, v->place, "alloc at position %u of '%s', which is occupied; "
                                        "'at: empty' takes empty ones, 'replace' frees first",
                           position, def->name);
        status = alloc_one(g, v, position);
        break;
    case AB_VERB_FREE:
        status = free_one(g, v, position);
        break;
    case AB_VERB_REPLACE:
        if ((status = free_one(g, v, position)) == AB_OK)
            status = alloc_one(g, v, position);
        break;
    default:
        status = resize_one(g, v, position);
        break;
    }
    return status != AB_OK ? status : after_step(g, v);
}

/* ---- which positions ---- */

static uint32_t pick_bin(struct generator *g, const struct ab_verb *v)
{
    double u = ab_rng_unit(&g->positions);
    size_t i = 0;
    while (i + 1 < v->n_bins && v->bins[i].share <= u)
        i++;
    const struct ab_bin *bin = &v->bins[i];
    return bin->begin + (uint32_t)ab_rng_below(&g->positions, bin->end - bin->begin);
}

/* The next position of an `at`, or AB_NO_POSITION when there is none of the kind. */
static uint32_t pick_position(struct generator *g, const struct ab_verb *v)
{
    struct ab_live_set *s = &g->sets[v->set];
    uint32_t n_empty = s->n - s->n_live;
    uint64_t turn;
    switch (v->pick) {
    case AB_PICK_FREE:
        return n_empty == 0 ? AB_NO_POSITION : s->members[s->n_live];
    case AB_PICK_EMPTY:
        return n_empty == 0 ? AB_NO_POSITION
                            : s->members[s->n_live + ab_rng_below(&g->positions, n_empty)];
    case AB_PICK_OCCUPIED:
        return s->n_live == 0 ? AB_NO_POSITION
                              : s->members[ab_rng_below(&g->positions, s->n_live)];
    case AB_PICK_RANDOM:
        return (uint32_t)ab_rng_below(&g->positions, s->n);
    case AB_PICK_BINS:
        return pick_bin(g, v);
    case AB_PICK_NEXT:
        turn = s->cursor;
        s->cursor = s->cursor + 1 == s->n ? 0 : s->cursor + 1;
        return (uint32_t)turn;
    default: /* the verb's own cursor */
        turn = g->cursors[v->cursor];
        g->cursors[v->cursor] = (turn + (v->pick == AB_PICK_STRIDE ? v->step : 1)) % s->n;
        return (uint32_t)turn;
    }
}

static uint64_t part_of(const struct ab_verb *v, uint64_t n)
{
    return (uint64_t)(v->fraction * (double)n + 0.5);
}

static enum ab_status step_by_at(struct generator *g, const struct ab_verb *v)
{
    const struct ab_live_set *s = &g->sets[v->set];
    uint64_t all = v->kind == AB_VERB_ALLOC      ? s->n - s->n_live
                 : v->pick == AB_PICK_OCCUPIED ? s->n_live : s->n;
    uint64_t n = v->amount == AB_AMOUNT_COUNT      ? v->count
               : v->amount == AB_AMOUNT_FRACTION ? part_of(v, s->n_live) : all;
    enum ab_status status = n == 0 ? idle_step(g, v, 1) : AB_OK;
    for (uint64_t i = 0; i < n && status == AB_OK && !g->is_done; i++) {
        uint32_t position = pick_position(g, v);
        if (position != AB_NO_POSITION)
            status = step(g, v, position);
        else if (v->kind == AB_VERB_ALLOC)
            status = fail_at(g, v->place, "no room: all %u positions of '%s' are occupied", s->n,
                             g->w->sets[v->set].name);
        else
            status = no_op(g, v);
    }
    return status;
}

static enum ab_status reserve_picked(struct generator *g, const struct ab_verb *v, size_t n)
{
    if (n <= g->cap_picked)
        return AB_OK;
    uint32_t *grown = realloc(g->picked, n * sizeof *grown);
    if (grown == NULL)
        return fail_at(g, v->place, "out of memory");
    g->picked = grown;
    g->cap_picked = n;
    return AB_OK;
}

/* Chooses before the first step, because the steps change what is live and how old it is. */
static enum ab_status choose_by_order(struct generator *g, const struct ab_verb *v, uint32_t *n)
{
    struct ab_live_set *s = &g->sets[v->set];
    uint64_t all = v->pick != AB_PICK_EVERY ? s->n_live
                 : (s->n_live + v->step - 1) / v->step;
    uint64_t wanted = v->amount == AB_AMOUNT_COUNT      ? v->count
                    : v->amount == AB_AMOUNT_FRACTION ? part_of(v, s->n_live) : all;
    *n = (uint32_t)(wanted < all ? wanted : all);
    enum ab_status status = reserve_picked(g, v, *n);
    if (status == AB_OK && (wanted > *n || wanted == 0))
        status = idle_step(g, v, wanted == 0 ? 1 : wanted - *n);
    for (uint64_t i = *n; status == AB_OK && i < wanted; i++)
        ab_tape_note_no_op_free(g->tape);
    if (status != AB_OK)
        return status;
    if (v->pick == AB_PICK_LIFO)
        ab_live_set_youngest(s, g->picked, *n);
    else if (v->pick == AB_PICK_SHUFFLED)
        ab_live_set_shuffled(s, g->picked, *n, &g->order);
    else
        ab_live_set_oldest(s, g->picked, *n, v->pick == AB_PICK_EVERY ? v->step : 1);
    return AB_OK;
}

static enum ab_status step_by_order(struct generator *g, const struct ab_verb *v)
{
    uint32_t n = 0;
    enum ab_status status = choose_by_order(g, v, &n);
    for (uint32_t i = 0; i < n && status == AB_OK && !g->is_done; i++)
        status = step(g, v, g->picked[i]);
    return status;
}

/* ---- bodies and loops ---- */

/* After some turns of a loop: what all of them will come to. */
static enum ab_status probe(struct generator *g, struct ab_place at, uint64_t begin, uint64_t done,
                            uint64_t all)
{
    if (done < PROBE_ITERS || !ab_is_pow2(done))
        return AB_OK;
    double made = (double)(ab_tape_count(g->tape) - begin);
    double total = (double)begin + made / (double)done * (double)all;
    return total > 2.0 * (double)g->max_ops ? fail_too_many(g, at, total) : AB_OK;
}

static enum ab_status run_body(struct generator *g, const struct ab_verb *body, size_t n);

static enum ab_status run_verb(struct generator *g, const struct ab_verb *v)
{
    enum ab_status status = AB_OK;
    if (v->kind != AB_VERB_REPEAT)
        return v->pick >= AB_PICK_FIFO ? step_by_order(g, v) : step_by_at(g, v);
    uint64_t begin = ab_tape_count(g->tape);
    for (uint64_t i = 0; i < v->count && status == AB_OK && !g->is_done; i++)
        if ((status = run_body(g, v->body, v->n_body)) == AB_OK)
            status = probe(g, v->place, begin, i + 1, v->count);
    return status;
}

static enum ab_status run_body(struct generator *g, const struct ab_verb *body, size_t n)
{
    enum ab_status status = AB_OK;
    for (size_t i = 0; i < n && status == AB_OK && !g->is_done; i++)
        status = run_verb(g, &body[i]);
    return status;
}

static enum ab_status run_iters(struct generator *g, const struct ab_phase_def *p)
{
    enum ab_status status = AB_OK;
    uint64_t begin = ab_tape_count(g->tape);
    for (uint64_t i = 0; i < p->limit && status == AB_OK; i++)
        if ((status = run_body(g, p->body, p->n_body)) == AB_OK)
            status = probe(g, p->place, begin, i + 1, p->limit);
    return status;
}

/* ops, allocated, live: until the counter is there; it must keep rising. */
static enum ab_status run_until(struct generator *g, const struct ab_phase_def *p)
{
    enum ab_status status = AB_OK;
    uint64_t base = p->until == AB_UNTIL_LIVE ? 0 : until_counter(g), highest = until_counter(g);
    uint64_t stalled = 0;
    if (__builtin_add_overflow(base, p->limit, &g->until))
        g->until = UINT64_MAX;
    g->is_done = until_counter(g) >= g->until;
    while (status == AB_OK && !g->is_done) {
        status = run_body(g, p->body, p->n_body);
        stalled = until_counter(g) > highest ? 0 : stalled + 1;
        if (until_counter(g) > highest)
            highest = until_counter(g);
        if (status == AB_OK && stalled >= STALLED_ITERS)
            status = fail_at(g, p->place, "never ends: %d iterations in a row brought it no nearer "
                                          "to 'until' (%llu of %llu)", STALLED_ITERS,
                             (unsigned long long)(highest - base), (unsigned long long)p->limit);
    }
    g->is_done = false;
    return status;
}

static enum ab_status run_phase(struct generator *g, const struct ab_phase_def *p)
{
    enum ab_status status = ab_tape_phase(g->tape, p->name, p->is_measured, g->err);
    uint64_t begin = ab_tape_count(g->tape);
    g->phase = p;
    for (uint64_t i = 0; i < p->repeat && status == AB_OK; i++) {
        uint64_t before = ab_tape_count(g->tape);
        status = p->until == AB_UNTIL_ITERS ? run_iters(g, p) : run_until(g, p);
        if (status == AB_OK && ab_tape_count(g->tape) == before)
            status = idle_step(g, &p->body[0], 1);
        if (status == AB_OK)
            status = probe(g, p->place, begin, i + 1, p->repeat);
    }
    if (status == AB_OK && p->is_measured && ab_tape_count(g->tape) == begin)
        status = fail_at(g, p->place, "phase '%s' is measured, but makes no ops", p->name);
    return status;
}

/* ---- all of it ---- */

static enum ab_status prepare(struct generator *g)
{
    const struct ab_workload *w = g->w;
    bool ok = (g->tape = ab_tape_begin()) != NULL;
    if (ok)
        ab_tape_set_window(g->tape, w->window, false);
    ok = ok && (g->sets = calloc(w->n_sets + 1, sizeof g->sets[0])) != NULL;
    ok = ok && (g->turns = calloc(w->dists.n + 1, sizeof g->turns[0])) != NULL;
    ok = ok && (g->cursors = calloc(w->n_cursors + 1u, sizeof g->cursors[0])) != NULL;
    for (size_t i = 0; ok && i < w->n_sets; i++)
        ok = ab_live_set_init(&g->sets[i], w->sets[i].count);
    ab_rng_init(&g->sizes, w->seed, STREAM_SIZES);
    ab_rng_init(&g->positions, w->seed, STREAM_POSITIONS);
    ab_rng_init(&g->order, w->seed, STREAM_ORDER);
    return ok ? AB_OK : ab_fail(g->err, AB_SYSTEM, "out of memory for the sets of '%s'", w->name);
}

/* What the text alone says, before any memory is taken. */
static enum ab_status check_estimate(struct generator *g)
{
    const struct ab_workload *w = g->w;
    g->max_ops = ab_estimate_max_ops(w);
    for (size_t i = 0; i < w->n_phases; i++)
        if (ab_estimate_phase_ops(&w->phases[i]) > g->max_ops)
            return fail_too_many(g, w->phases[i].place,
                                 (double)ab_estimate_phase_ops(&w->phases[i]));
    if (ab_estimate_ops(w) > g->max_ops)
        return fail_too_many(g, w->phases[0].place, (double)ab_estimate_ops(w));
    return AB_OK;
}

enum ab_status ab_workload_generate(const struct ab_workload *w, struct ab_tape *out,
                                    struct ab_err *err)
{
    struct ab_err local;
    struct generator g = {.w = w, .err = err != NULL ? err : &local};
    enum ab_status status = check_estimate(&g);
    if (status == AB_OK)
        status = prepare(&g);
    for (size_t i = 0; i < w->n_phases && status == AB_OK; i++)
        status = run_phase(&g, &w->phases[i]);
    if (status == AB_OK) {
        status = ab_tape_end(g.tape, out, g.err);
        g.tape = NULL;
    }
    ab_tape_abandon(g.tape);
    for (size_t i = 0; g.sets != NULL && i < w->n_sets; i++)
        ab_live_set_fini(&g.sets[i]);
    free(g.sets);
    free(g.turns);
    free(g.cursors);
    free(g.picked);
    return status;
}
