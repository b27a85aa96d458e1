/* SPDX-License-Identifier: MIT
 *
 * Makes the tape of a valid workload. The lanes execute their bodies in turns on sets of live
 * blocks, and push their actions as ops. The order of the pushes is the global order of the tape.
 *
 * Each lane has separate random streams for sizes, positions, shuffles and choices. So a change of
 * one distribution does not affect other draws of the lane, and no lane affects the draws of
 * another.
 *
 * Nothing here can run for ever. Each step makes an op, counts as idle, or makes its lane wait. The
 * number of idle steps is limited by the ops made, and the ops by AB_TAPE_MAX_OPS and memory. If
 * all lanes wait, the phase ends or fails. An end that cannot be reached is refused before the
 * first step if the sizes of sets and requests prove it. Otherwise it is refused after a limited
 * number of ops without progress.
 */
#include "workload/generate/generate.h"

#include "base/bits.h"
#include "core/alloc.h"
#include "core/system_file.h"
#include "core/text.h"
#include "core/units_show.h"

#include <stdlib.h>
#include <string.h>

enum {
    STREAM_CHOICES = 0,
    STREAM_SIZES = 1,
    STREAM_POSITIONS = 2,
    STREAM_ORDER = 3,
    STREAMS_A_LANE = 4
};
enum { TURNS_SHOWN = 1 << 16 }; /* number of turns between two calls of the progress callback */

/* ---- size of a tape ----
 *
 * A typing error such as iters(1e12) must end in an error message with the number of ops, not in an
 * hour of work or the kernel's out-of-memory killer. So the number of ops is bounded from the text
 * alone before a tape is made, and checked again while it grows. Sums and products saturate. */

/* Memory per position and per op of a tape. POSITION_BYTES: the entries of live_set.c and of the
 * tape builder, and the slot. LANE_OP_BYTES, with several lanes: the op, its copy in the final
 * order, and its share of a turn and of an edge. */
enum { OP_BYTES = 8, LANE_OP_BYTES = 40, POSITION_BYTES = 44 };

static uint64_t add(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t multiply(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* True if each step of the verb makes an op, whatever blocks are live. */
static bool is_sure(const struct ab_workload *w, const struct ab_verb *v)
{
    if (v->kind == AB_VERB_REPLACE && (v->pick >= AB_PICK_FIFO || v->pick == AB_PICK_OCCUPIED))
        return false;
    return (ab_verbs[v->kind].traits & AB_VERB_SURE) != 0 && v->other == AB_NO_SET &&
           w->sets[v->set].on_full != AB_ON_FULL_DROP;
}

static uint64_t body_ops(const struct ab_workload *w, const struct ab_verb *body, size_t n);

static uint64_t least_branch_ops(const struct ab_workload *w, const struct ab_verb *v)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < v->n_body; i++) {
        uint64_t n = body_ops(w, v->body[i].body, v->body[i].n_body);
        least = n < least ? n : least;
    }
    return least;
}

static uint64_t body_ops(const struct ab_workload *w, const struct ab_verb *body, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const struct ab_verb *v = &body[i];
        uint64_t unit = v->kind == AB_VERB_SEND ? w->sets[v->set].unit : 1;
        if (v->kind == AB_VERB_CHOOSE)
            sum = add(sum, least_branch_ops(w, v));
        else if (v->n_body > 0 && v->kind != AB_VERB_EVERY &&
                 (v->kind != AB_VERB_MAYBE || v->fraction >= 1))
            sum = add(sum, multiply(v->count, body_ops(w, v->body, v->n_body)));
        else if (v->amount == AB_AMOUNT_COUNT && is_sure(w, v))
            sum = add(sum, multiply(v->count, unit));
    }
    return sum;
}

static uint64_t body_largest(const struct ab_workload *w, const struct ab_verb *body, size_t n)
{
    uint64_t largest = 0;
    for (const struct ab_verb *v = body; v < body + n; v++) {
        bool has_size = (ab_verbs[v->kind].options & AB_OPT_SIZE) != 0 && v->other == AB_NO_SET;
        uint64_t size = has_size ? w->dists.items[v->dist].max
                                 : body_largest(w, v->body, v->n_body);
        largest = size > largest ? size : largest;
    }
    return largest;
}

/* Returns the largest size that a verb of the phase may request; 0 = no verb requests bytes. */
static uint64_t estimate_phase_largest(const struct ab_workload *w,
                                       const struct ab_phase_def *phase)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < phase->n_roles; i++) {
        const struct ab_role *role = &phase->roles[i];
        uint64_t size = body_largest(w, role->body, role->n_body);
        uint64_t last = body_largest(w, role->finally, role->n_finally);
        largest = size > largest ? size : largest;
        largest = last > largest ? last : largest;
    }
    return largest;
}

static bool body_names(const struct ab_verb *body, size_t n, uint32_t set)
{
    bool is_named = false;
    for (const struct ab_verb *v = body; v < body + n && !is_named; v++)
        is_named = v->set == set || v->other == set || body_names(v->body, v->n_body, set);
    return is_named;
}

/* Returns the largest number of blocks in a set, summed over all lanes; 0 if no verb names the
 * set. */
static uint64_t set_capacity(const struct ab_workload *w, uint32_t index)
{
    const struct ab_set_def *set = &w->sets[index];
    uint64_t n = set->count > 0 ? set->count : AB_MAX_POSITIONS;
    bool is_named = false;
    for (size_t i = 0; i < w->n_phases; i++)
        for (size_t k = 0; k < w->phases[i].n_roles && !is_named; k++) {
            const struct ab_role *role = &w->phases[i].roles[k];
            is_named = body_names(role->body, role->n_body, index) ||
                       body_names(role->finally, role->n_finally, index);
        }
    /* besides the queue's messages, each lane may hold one message that it unpacks */
    if (set->kind == AB_SET_QUEUE)
        n = multiply(n + AB_LANES_MAX, set->unit);
    return is_named ? multiply(n, set->is_shared ? 1 : set->end_lane - set->first_lane) : 0;
}

/* Returns an upper bound on the live bytes: the largest number of blocks in all sets, times the
 * largest size. */
static uint64_t estimate_most_live(const struct ab_workload *w)
{
    uint64_t largest = 0, blocks = 0;
    for (size_t i = 0; i < w->n_phases; i++) {
        uint64_t size = estimate_phase_largest(w, &w->phases[i]);
        largest = size > largest ? size : largest;
    }
    for (uint32_t i = 0; i < w->n_sets; i++)
        blocks = add(blocks, set_capacity(w, i));
    return multiply(blocks, largest);
}

/* Returns a lower bound on the ops of a phase. Amounts that depend on the live blocks (`all`,
 * `fraction`, empty positions) count as no ops. */
static uint64_t estimate_phase_ops(const struct ab_workload *w, const struct ab_phase_def *phase)
{
    uint64_t once = phase->until == AB_UNTIL_OPS ? phase->limit : 0;
    if (phase->until == AB_UNTIL_ALLOCATED && estimate_phase_largest(w, phase) > 0)
        once = phase->limit / estimate_phase_largest(w, phase);
    for (size_t i = 0; i < phase->n_roles; i++) {
        const struct ab_role *role = &phase->roles[i];
        uint64_t n = body_ops(w, role->finally, role->n_finally);
        if (phase->until == AB_UNTIL_ITERS)
            n = add(n, multiply(phase->limit, body_ops(w, role->body, role->n_body)));
        once = add(once, multiply(role->n_lanes, n));
    }
    return multiply(phase->repeat, once);
}

uint64_t ab_estimate_ops(const struct ab_workload *w)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < w->n_phases; i++)
        sum = add(sum, estimate_phase_ops(w, &w->phases[i]));
    return sum;
}

/* Returns MemAvailable in bytes, or UINT64_MAX if /proc/meminfo cannot be read. */
static uint64_t available_bytes(void)
{
    char buf[AB_SYSTEM_FILE_BYTES], value[64] = "";
    ab_system_file_value(value, sizeof value, ab_system_file("", "/proc/meminfo", buf),
                         "MemAvailable", ':');
    double kib = ab_system_file_parse(value);
    return kib >= 0 ? (uint64_t)kib * 1024 : UINT64_MAX;
}

/* True if a phase of the workload has `over`. The times of its ops are known only when all its ops
 * are made. */
static bool has_spread_ops(const struct ab_workload *w)
{
    bool is_spread = false;
    for (size_t i = 0; i < w->n_phases; i++)
        is_spread = is_spread || w->phases[i].over_ns != 0;
    return is_spread;
}

/* Returns the limit on the ops of a tape. For a tape in bursts, this is the limit of the format. A
 * tape that is held whole must also fit into half of the available memory, beside the live sets of
 * w. */
static uint64_t estimate_max_ops(const struct ab_workload *w, bool is_in_bursts)
{
    uint64_t room = available_bytes() / 2, taken = 0, op_bytes = OP_BYTES;
    for (size_t i = 0; i < w->n_sets; i++) {
        const struct ab_set_def *set = &w->sets[i];
        uint64_t n = set->is_shared ? 1 : set->end_lane - set->first_lane;
        if (ab_set_has_positions(set))
            taken = add(taken, multiply(n * set->count, POSITION_BYTES));
    }
    for (size_t i = 0; i < w->n_phases; i++)
        if (w->phases[i].n_lanes > 1)
            op_bytes = LANE_OP_BYTES;
    room = room > taken ? room - taken : 0;
    if (is_in_bursts && !has_spread_ops(w))
        return AB_TAPE_MAX_OPS;
    return room / op_bytes < AB_TAPE_MAX_OPS ? room / op_bytes : AB_TAPE_MAX_OPS;
}

/* ---- lanes taking turns ---- */

static enum ab_status fail_deadlock(struct ab_generator *g)
{
    const struct ab_phase_def *p = g->phase;
    const struct ab_generator_lane *first = NULL;
    struct ab_text all = {0};
    unsigned n_shown = 0;
    for (uint32_t i = 0; i < p->n_lanes; i++) {
        const struct ab_generator_lane *lane = &g->lanes[i];
        if (lane->is_finished || n_shown++ >= 3)
            continue;
        first = first != NULL ? first : lane;
        ab_text_addf(&all, "%slane %u waits for %s '%s'", lane != first ? ", " : "", i,
                     lane->wait == AB_WAIT_ROOM ? "room in" : "a message in",
                     g->w->sets[lane->verb->set].name);
    }
    const struct ab_set_def *queue = &g->w->sets[first->verb->set];
    enum ab_status status = ab_generate_fail(
        g, first->verb->place, "deadlock: %s%s, and no other lane can proceed%s", all.s,
        n_shown > 3 ? " …" : "",
        queue->is_shared || p->n_lanes == 1
            ? ""
            : "; each lane has its own queue; 'per: all' makes one for all lanes");
    ab_text_fini(&all);
    return status;
}

/* Decides what happens when all unfinished lanes wait. If some lanes have finished and all others
 * wait for messages, no message will come, so the phase is done. Otherwise fails, because the lanes
 * are in a deadlock. */
static enum ab_status end_of_messages(struct ab_generator *g, uint32_t n_finished)
{
    bool all_receive = true;
    for (uint32_t i = 0; i < g->phase->n_lanes; i++)
        all_receive = all_receive &&
                      (g->lanes[i].is_finished || g->lanes[i].wait == AB_WAIT_MESSAGE);
    if (n_finished == 0 || !all_receive)
        return fail_deadlock(g);
    g->is_done = true;
    return AB_OK;
}

/* ---- simulated time ----
 *
 * Ops take no time. Time advances if all lanes of a phase wait and one of them waits for time: in
 * `settle`, or for the next `every` of a phase that lasts `seconds(t)`. With `over`, time advances
 * at the end of a repetition, when its ops are known and can be spread over it. */

enum { PACES_MOST = 1 << 20 };

static bool is_spread(const struct ab_generator *g)
{
    return g->phase->over_ns != 0;
}

static bool is_timed(const struct ab_generator *g)
{
    return g->phase->until == AB_UNTIL_SECONDS && !g->is_final;
}

/* ---- every ---- */

/* Sets the time at which each `every` in a body, and in the bodies nested in it, is due first. */
static void begin_every(struct ab_generator_lane *lane, const struct ab_verb *body, size_t n,
                        uint64_t begin_ns)
{
    for (const struct ab_verb *v = body; v < body + n; v++) {
        if (v->kind == AB_VERB_EVERY)
            lane->cursors[v->cursor] = begin_ns + v->time_ns;
        begin_every(lane, v->body, v->n_body, begin_ns);
    }
}

static void time_begin_lane(struct ab_generator *g, struct ab_generator_lane *lane)
{
    const struct ab_role *role = lane->role;
    lane->body_ns = g->clock.now_ns;
    lane->body_ops = lane->n_ops;
    begin_every(lane, g->is_final ? role->finally : role->body,
                g->is_final ? role->n_finally : role->n_body, g->clock.begin_ns);
}

/* Returns the time at which the next `every` in the body is due; UINT64_MAX = the body has none. */
static uint64_t next_due(const struct ab_generator_lane *lane, const struct ab_verb *body, size_t n)
{
    uint64_t due = UINT64_MAX;
    for (const struct ab_verb *v = body; v < body + n; v++) {
        uint64_t of_verb = v->kind == AB_VERB_EVERY ? lane->cursors[v->cursor]
                                                    : next_due(lane, v->body, v->n_body);
        due = of_verb < due ? of_verb : due;
    }
    return due;
}

/* Returns the simulated time. With `over`, the exact times of ops are known only at the end of the
 * repetition. Until then the time is estimated from the finished fraction of `until`. */
static uint64_t time_now(const struct ab_generator *g)
{
    const struct ab_phase_def *p = g->phase;
    if (!is_spread(g))
        return g->clock.now_ns;
    bool is_counted = ab_generate_counts(g);
    double done = is_counted ? (double)(ab_generate_counter(g) - g->start)
                             : (double)g->clock.n_bodies;
    double all = is_counted ? (double)(g->until - g->start) : (double)p->limit * (double)p->n_lanes;
    double part = g->is_final || done > all ? 1 : done / all;
    return g->clock.begin_ns + (uint64_t)(part * (double)p->over_ns);
}

static uint64_t time_take_due(struct ab_generator *g, const struct ab_verb *every)
{
    uint64_t *due = &g->lane->cursors[every->cursor], at = time_now(g);
    if (at < *due)
        return 0;
    uint64_t n = (at - *due) / every->time_ns + 1;
    *due += n * every->time_ns;
    return n;
}

/* ---- lanes that wait ---- */

static void time_await(struct ab_generator *g, struct ab_generator_lane *lane, enum ab_wait what,
                       uint64_t ns)
{
    lane->wait = what;
    lane->wait_ns = ns;
    ab_lane_set_ready(g, lane->index, false);
}

static enum ab_status time_settle(struct ab_generator *g, const struct ab_verb *settle)
{
    time_await(g, g->lane, AB_WAIT_SETTLE, settle->time_ns);
    return ab_generate_idle(g, settle->place, 1);
}

static void time_end_iteration(struct ab_generator *g, struct ab_generator_lane *lane)
{
    const struct ab_role *role = lane->role;
    uint64_t due = next_due(lane, role->body, role->n_body);
    bool has_passed = g->clock.now_ns > lane->body_ns;
    bool has_ops = lane->n_ops > lane->body_ops;
    lane->body_ns = g->clock.now_ns;
    lane->body_ops = lane->n_ops;
    if (!has_passed && due > g->clock.now_ns && (due != UINT64_MAX || !has_ops))
        time_await(g, lane, AB_WAIT_TIME, due);
}

/* Wakes all lanes that have waited for time long enough, or that wait in `settle`. */
static void time_wake(struct ab_generator *g)
{
    for (uint32_t i = 0; i < g->phase->n_lanes; i++) {
        struct ab_generator_lane *lane = &g->lanes[i];
        bool is_over = lane->wait == AB_WAIT_SETTLE ||
                       (lane->wait == AB_WAIT_TIME &&
                        (lane->wait_ns <= g->clock.now_ns || lane->wait_ns == UINT64_MAX));
        if (!is_over)
            continue;
        /* a lane waits for AB_WAIT_TIME between two iterations, but for a `settle` within one */
        if (lane->wait == AB_WAIT_TIME)
            lane->body_ns = g->clock.now_ns;
        lane->wait = AB_WAIT_NONE;
        ab_lane_set_ready(g, i, true);
    }
}

static enum ab_status time_move(struct ab_generator *g, uint64_t to, unsigned flags)
{
    struct ab_err why;
    if (ab_tape_time(g->tape, to, flags, &why) != AB_OK)
        return ab_generate_fail(g, g->phase->place, "phase '%s': %s", g->phase->name, why.text);
    g->clock.now_ns = to;
    return AB_OK;
}

static enum ab_status time_pass(struct ab_generator *g, bool *has_passed)
{
    uint64_t settle = 0, due = UINT64_MAX, to;
    bool waits = false;
    for (uint32_t i = 0; i < g->phase->n_lanes; i++) {
        const struct ab_generator_lane *lane = &g->lanes[i];
        if (lane->wait == AB_WAIT_SETTLE && lane->wait_ns > settle)
            settle = lane->wait_ns;
        if (lane->wait == AB_WAIT_TIME && lane->wait_ns < due)
            due = lane->wait_ns;
        waits = waits || lane->wait == AB_WAIT_TIME;
    }
    *has_passed = waits || settle > 0;
    if (!*has_passed)
        return AB_OK;
    to = settle > 0 ? g->clock.now_ns + settle : due;
    if (is_timed(g) && to > g->until)
        to = g->until;
    AB_TRY(time_move(g, to, settle > 0 ? AB_STEP_IDLE : 0));
    g->is_done = g->is_done || (is_timed(g) && to >= g->until);
    time_wake(g);
    return AB_OK;
}

/* ---- over ---- */

static void thin_out(struct ab_clock *c)
{
    for (size_t i = 0; 2 * i < c->n_paces; i++)
        c->paces[i] = c->paces[2 * i];
    c->n_paces = (c->n_paces + 1) / 2;
    c->stride *= 2;
}

static void time_note_ops(struct ab_generator *g)
{
    struct ab_clock *c = &g->clock;
    uint64_t n_ops = ab_tape_count(g->tape) - g->begin;
    if (!is_spread(g) || (c->n_paces > 0 && n_ops < c->paces[c->n_paces - 1].n_ops + c->stride))
        return;
    if (c->n_paces == PACES_MOST)
        thin_out(c);
    AB_GROW(c->paces, c->cap_paces, c->n_paces);
    c->paces[c->n_paces++] = (struct ab_pace){ab_tape_pushed(g->tape), (uint32_t)n_ops};
}

static void time_begin(struct ab_generator *g)
{
    g->clock.begin_ns = g->clock.now_ns;
    g->clock.n_bodies = 0;
    g->clock.n_paces = 0;
    g->clock.stride = 1;
    if (is_spread(g))
        time_note_ops(g);
}

/* Sets the times of the ops that are spread over the phase (`over`). The time of an op is
 * proportional to its number in the repetition; the last op is at the end. */
static enum ab_status time_end(struct ab_generator *g)
{
    const struct ab_clock *c = &g->clock;
    double n_ops = (double)(ab_tape_count(g->tape) - g->begin), over = (double)g->phase->over_ns;
    if (!is_spread(g))
        return AB_OK;
    for (size_t i = 0; i < c->n_paces && c->paces[i].n_ops < n_ops; i++) {
        uint64_t at = (uint64_t)((c->paces[i].n_ops + 1) / n_ops * over);
        AB_TRY(ab_tape_time_at(g->tape, c->paces[i].pushed, c->begin_ns + at, 0, g->err));
    }
    return time_move(g, c->begin_ns + g->phase->over_ns, 0);
}

/* Number of ops without progress towards `until` from which on the phase fails. Also the number of
 * ops before its speed is first checked. */
#define AB_PROBE_OPS (UINT64_C(1) << 24)

/* ---- executing the body of a lane within its turn ----
 *
 * The state of a lane is stored in records, not on the C stack, so that the lane can stop in the
 * middle of a verb and continue in its next turn. */

enum { STALLED_ITERS = 1000000, PROBE_ITERS = 16 };

/* Prepares a lane for one repetition of a phase, or for its `finally`. */
static void interpret_begin(struct ab_generator *g, struct ab_generator_lane *lane)
{
    const struct ab_phase_def *p = g->phase;
    const struct ab_role *role = lane->role;
    lane->verb = NULL;
    lane->queue = NULL;
    lane->is_refused = false;
    lane->is_finished = g->is_final && role->n_finally == 0;
    lane->wait = AB_WAIT_NONE;
    lane->depth = !lane->is_finished;
    lane->loops[0] = (struct ab_loop){.body = g->is_final ? role->finally : role->body,
                                      .n_body = g->is_final ? role->n_finally : role->n_body,
                                      .limit = g->is_final ? 1 : p->limit,
                                      .begin = lane->n_ops,
                                      .place = p->place};
    time_begin_lane(g, lane);
}

/* Fails if a loop will make too many ops, estimated from the iterations that are done. */
static enum ab_status interpret_probe(struct ab_generator *g, const struct ab_loop *loop,
                                      uint64_t n_ops)
{
    if (loop->done < PROBE_ITERS || !ab_is_pow2(loop->done))
        return AB_OK;
    double made = (double)(n_ops - loop->begin);
    double total = (double)ab_tape_count(g->tape) - made +
                   made / (double)loop->done * (double)loop->limit;
    return total > 2.0 * (double)g->max_ops ? ab_generate_too_many(g, loop->place, total) : AB_OK;
}

/* Fails if the phase will make too many ops before its counter reaches the end, estimated from the
 * ops so far. */
static enum ab_status check_pace(struct ab_generator *g, uint64_t n_ops)
{
    double made = (double)(n_ops - g->begin), risen = (double)(g->highest - g->start);
    double total = (double)g->begin + made / risen * (double)(g->until - g->start);
    g->probe_at = n_ops + (n_ops - g->begin);
    return total > 2.0 * (double)g->max_ops ? ab_generate_too_many(g, g->phase->place, total)
                                            : AB_OK;
}

/* Checks after an iteration of a phase that ends by ops, allocated, live or seconds that its
 * counter still rises. */
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
    uint64_t unit = p->until == AB_UNTIL_SECONDS ? UINT64_C(1000000000) : 1;
    bool is_costly = g->stalled >= PROBE_ITERS && n_ops - g->highest_at >= AB_PROBE_OPS;
    if (g->stalled >= STALLED_ITERS || is_costly)
        return ab_generate_fail(g, p->place,
                                "never ends: no progress towards 'until' in %llu iterations "
                                "(%llu of %llu)",
                                (unsigned long long)g->stalled,
                                (unsigned long long)((g->highest - (g->until - p->limit)) / unit),
                                (unsigned long long)(p->limit / unit));
    return n_ops >= g->probe_at && g->highest > g->start ? check_pace(g, n_ops) : AB_OK;
}

/* Ends the lane's thread if `renew` is due after this iteration and the lane has another iteration
 * to do. */
static enum ab_status renew_thread(struct ab_generator *g, const struct ab_loop *loop)
{
    uint64_t renew = g->lane->role->renew;
    bool is_last = !ab_generate_counts(g) && loop->done == loop->limit;
    bool is_due = renew != 0 && !g->is_final && loop->done % renew == 0;
    return is_due && !is_last ? ab_tape_thread_end(g->tape, g->err) : AB_OK;
}

static enum ab_status end_iteration(struct ab_generator *g, struct ab_generator_lane *lane)
{
    struct ab_loop *loop = &lane->loops[lane->depth - 1];
    loop->next = 0;
    loop->done++;
    g->clock.n_bodies += lane->depth == 1 && !g->is_final;
    if (lane->depth == 1 && ab_generate_counts(g)) {
        enum ab_status rise = check_rise(g);
        if (g->phase->until == AB_UNTIL_SECONDS)
            time_end_iteration(g, lane);
        return rise == AB_OK ? renew_thread(g, loop) : rise;
    }
    enum ab_status status = interpret_probe(g, loop, lane->n_ops);
    if (status == AB_OK && lane->depth == 1 && g->phase->each[0] != 0 && !g->is_final)
        status = ab_tape_iteration(g->tape, g->err);
    if (status == AB_OK && lane->depth == 1)
        status = renew_thread(g, loop);
    if (loop->done < loop->limit)
        return status;
    if (status == AB_OK && loop->scope != NULL)
        status = ab_step_end_scope(g, loop);
    lane->is_finished = --lane->depth == 0;
    return status;
}

/* Chooses a branch of `choose` at random, by the weights. */
static const struct ab_verb *choose_branch(struct ab_generator_lane *lane, const struct ab_verb *v)
{
    double u = ab_rng_unit(&lane->choices);
    size_t i = 0;
    while (i + 1 < v->n_body && v->body[i].share <= u)
        i++;
    return &v->body[i];
}

/* Begins the body of a control verb. If the body is not executed this time, counts a step without
 * effect. */
static enum ab_status enter(struct ab_generator *g, struct ab_generator_lane *lane,
                            const struct ab_verb *v)
{
    uint64_t n = v->kind == AB_VERB_EVERY ? time_take_due(g, v) : ab_step_draw_count(g, v);
    if (n == 0 || (v->kind == AB_VERB_MAYBE && ab_rng_unit(&lane->choices) >= v->fraction))
        return ab_generate_idle(g, v->place, 1);
    struct ab_loop *loop = &lane->loops[lane->depth++];
    *loop = (struct ab_loop){
        .body = v->body, .n_body = v->n_body, .limit = n, .begin = lane->n_ops, .place = v->place};
    if (v->kind != AB_VERB_SCOPE)
        return AB_OK;
    loop->scope = v;
    loop->n_before = ab_instance_of(g, v->set, lane->index)->live.n_live;
    return ab_tape_mark(g->tape, &loop->save, g->err);
}

/* Does the next action of a lane: one step of its verb, the beginning of its next verb, or the end
 * of an iteration. */
static enum ab_status advance(struct ab_generator *g, struct ab_generator_lane *lane)
{
    if (lane->verb != NULL && lane->step < lane->n_steps)
        return ab_step(g);
    lane->verb = NULL;
    struct ab_loop *loop = &lane->loops[lane->depth - 1];
    if (loop->next == loop->n_body)
        return end_iteration(g, lane);
    const struct ab_verb *v = &loop->body[loop->next++];
    if (v->kind == AB_VERB_SETTLE)
        return time_settle(g, v);
    if (v->n_body == 0) {
        lane->verb = v;
        return ab_step_begin(g, v);
    }
    return enter(g, lane, v->kind == AB_VERB_CHOOSE ? choose_branch(lane, v) : v);
}

/* Ends the body of a lane at the end of the phase, even in its middle, and all scopes that the lane
 * is in. */
static enum ab_status interpret_end(struct ab_generator *g, struct ab_generator_lane *lane)
{
    enum ab_status status = AB_OK;
    for (; lane->depth > 0 && status == AB_OK; lane->depth--)
        if (lane->loops[lane->depth - 1].scope != NULL)
            status = ab_step_end_scope(g, &lane->loops[lane->depth - 1]);
    return status;
}

static enum ab_status interpret_turn(struct ab_generator *g, struct ab_generator_lane *lane)
{
    enum ab_status status = AB_OK;
    uint64_t n_ops = ab_tape_count(g->tape), begin = n_ops + g->idle;
    while (status == AB_OK && !lane->is_finished && !g->is_done && lane->wait == AB_WAIT_NONE &&
           ab_tape_count(g->tape) + g->idle - begin < AB_TURN_STEPS) {
        status = advance(g, lane);
        lane->n_ops += ab_tape_count(g->tape) - n_ops;
        n_ops = ab_tape_count(g->tape);
        time_note_ops(g);
    }
    return status;
}

static enum ab_status take_turn(struct ab_generator *g, struct ab_generator_lane *lane)
{
    g->lane = lane;
    g->tape_lane = g->phase->is_run_by_main ? 0 : lane->index;
    enum ab_status status = ab_tape_lane(g->tape, g->tape_lane, g->err);
    if (status == AB_OK)
        status = interpret_turn(g, lane);
    g->lane = NULL;
    return status;
}

/* Returns the first ready lane at or after `from`, wrapping around; AB_LANES_MAX = no lane is
 * ready. */
static uint32_t next_ready(const struct ab_generator *g, uint32_t from)
{
    enum { WORDS = AB_LANES_MAX / 64 };
    uint32_t first = from % AB_LANES_MAX / 64;
    for (uint32_t i = 0; i <= WORDS; i++) {
        uint32_t word = (first + i) % WORDS;
        uint64_t bits = g->ready[word];
        if (i == 0)
            bits &= UINT64_MAX << from % 64;
        if (bits != 0)
            return word * 64 + (uint32_t)__builtin_ctzll(bits);
    }
    return AB_LANES_MAX;
}

/* ---- bursts ---- */

static enum ab_status begin_phase(struct ab_generator *g)
{
    const struct ab_phase_def *p = g->phase;
    enum ab_status status = ab_tape_phase(g->tape, p->name, p->is_measured, g->err);
    if (status == AB_OK && p->each[0] != 0)
        ab_tape_each(g->tape, p->each, p->budget_ns);
    if (status == AB_OK && p->renew != 0)
        ab_tape_renew(g->tape, (uint32_t)p->renew);
    return status;
}

/* Returns the entry of a phase that has no ops in a burst. `at` and `turn` are its position in the
 * burst. */
static struct ab_phase name_phase(const struct ab_phase_def *p, uint32_t at, uint32_t turn)
{
    struct ab_phase phase = {.is_measured = p->is_measured,
                             .begin = at,
                             .end = at,
                             .turns_begin = turn,
                             .turns_end = turn,
                             .budget_ns = p->budget_ns,
                             .renew = (uint32_t)p->renew};
    strcpy(phase.name, p->name);
    strcpy(phase.iteration, p->each);
    return phase;
}

/* Copies an array with the beginning of each lane in each phase, from a tape that has only the
 * phases [first, first + n_made). In the copy, all other phases of the n are empty. */
static uint32_t *pad_begins(const uint32_t *made, uint32_t first, uint32_t n_made, uint32_t n,
                            uint32_t n_lanes)
{
    size_t before = (size_t)first * n_lanes, own = (size_t)n_made * n_lanes;
    size_t all = (size_t)n * n_lanes;
    uint32_t *begins = ab_alloc_zeroed(all + 1, sizeof begins[0]);
    memcpy(begins + before, made, own * sizeof begins[0]);
    for (size_t i = before + own; i <= all; i++)
        begins[i] = made[own];
    return begins;
}

/* Returns a copy of the burst `made` in which all phases of the workload are listed. The caller
 * frees its phases and its arrays of beginnings; all other arrays belong to `made`. */
static struct ab_tape pad(const struct ab_generator *g, const struct ab_tape *made)
{
    struct ab_tape burst = *made;
    const uint32_t n = (uint32_t)g->w->n_phases, first = g->first_phase;
    const uint32_t end = first + made->n_phases, n_lanes = made->facts.lanes;
    burst.n_phases = n;
    burst.phases = ab_alloc(n * sizeof burst.phases[0]);
    for (uint32_t i = 0; i < n; i++)
        burst.phases[i] = name_phase(&g->w->phases[i], i < first ? 0 : made->n_ops,
                                     i < first ? 0 : made->n_turns);
    memcpy(burst.phases + first, made->phases, made->n_phases * sizeof burst.phases[0]);
    burst.lane_begin = pad_begins(made->lane_begin, first, end - first, n, n_lanes);
    for (uint32_t i = 0; i < burst.n_steps; i++)
        burst.steps[i].phase += (uint16_t)first;
    if (made->iterations.n > 0)
        burst.iterations.begin = pad_begins(made->iterations.begin, first, end - first, n, n_lanes);
    if (made->thread_ends.n > 0)
        burst.thread_ends.begin = pad_begins(made->thread_ends.begin, first, end - first, n,
                                             n_lanes);
    return burst;
}

/* Creates a burst of everything that was pushed since the last burst, and passes it to the caller's
 * `take`. */
static enum ab_status hand_over(struct ab_generator *g, bool is_only)
{
    const struct ab_tape *made;
    AB_TRY(ab_tape_cut(g->tape, &made, g->err));
    uint64_t n_ops = (uint64_t)g->total->n_ops + made->n_ops;
    if (n_ops > g->max_ops)
        return ab_generate_too_many(g, g->phase->place, (double)n_ops);
    struct ab_tape burst = pad(g, made);
    ab_tape_total_add(g->total, &burst);
    g->bursts->n++;
    enum ab_status status = g->bursts->take(g->bursts->user, &burst, is_only, g->err);
    free(burst.phases);
    free(burst.lane_begin);
    if (made->iterations.n > 0)
        free(burst.iterations.begin);
    if (made->thread_ends.n > 0)
        free(burst.thread_ends.begin);
    return status;
}

/* True if a lane is in a scope. Then the burst cannot end, because save points are lost at its
 * end. */
static bool is_in_scope(const struct ab_generator *g)
{
    bool is_found = false;
    for (uint32_t i = 0; i < g->phase->n_lanes; i++)
        for (uint32_t k = 0; k < g->lanes[i].depth; k++)
            is_found = is_found || g->lanes[i].loops[k].scope != NULL;
    return is_found;
}

/* Ends the burst between two turns if it has grown to `most_bytes`. */
static enum ab_status end_burst(struct ab_generator *g)
{
    if (g->bursts == NULL || ab_tape_bytes(g->tape) < g->bursts->most_bytes || is_in_scope(g) ||
        g->phase->over_ns != 0)
        return AB_OK;
    AB_TRY(hand_over(g, false));
    g->first_phase = (uint32_t)(g->phase - g->w->phases);
    return begin_phase(g);
}

static enum ab_status take_turns(struct ab_generator *g)
{
    enum ab_status status = AB_OK;
    uint32_t index = 0, n_finished = 0;
    for (uint32_t i = 0; i < g->phase->n_lanes; i++)
        n_finished += g->lanes[i].is_finished;
    while (n_finished < g->phase->n_lanes && status == AB_OK && !g->is_done) {
        index = next_ready(g, index);
        if (g->w->progress != NULL && ++g->n_turns % TURNS_SHOWN == 0)
            g->w->progress(g->w->progress_user, ab_tape_count(g->tape));
        if (index == AB_LANES_MAX) {
            bool has_passed;
            status = time_pass(g, &has_passed);
            if (status == AB_OK && !has_passed)
                status = end_of_messages(g, n_finished);
            index = 0;
            continue;
        }
        status = take_turn(g, &g->lanes[index]);
        if (status == AB_OK)
            status = end_burst(g);
        if (g->lanes[index].is_finished) {
            ab_lane_set_ready(g, index, false);
            n_finished++;
        }
        index++;
    }
    return status;
}

/* ---- phases ---- */

static enum ab_status end_scopes(struct ab_generator *g)
{
    enum ab_status status = AB_OK;
    for (uint32_t i = 0; i < g->phase->n_lanes && status == AB_OK; i++) {
        g->lane = &g->lanes[i];
        g->tape_lane = g->phase->is_run_by_main ? 0 : i;
        status = ab_tape_lane(g->tape, g->tape_lane, g->err);
        if (status == AB_OK)
            status = interpret_end(g, g->lane);
    }
    g->lane = NULL;
    return status;
}

/* At the end of a phase: puts the message that a lane has begun to send or unpack back into its
 * queue. */
static void step_put_down(struct ab_generator *g, struct ab_generator_lane *lane)
{
    const struct ab_verb *v = lane->verb;
    struct ab_queue *q = lane->queue;
    if (lane->wait == AB_WAIT_ROOM || lane->wait == AB_WAIT_MESSAGE)
        /* the phase ends for all lanes, so the lists of waiting lanes are emptied */
        lane->waits_at->for_room.n = lane->waits_at->for_message.n = 0;
    lane->wait = AB_WAIT_NONE;
    if (v == NULL || q == NULL)
        return;
    lane->queue = NULL;
    q->n_reserved -= v->kind == AB_VERB_SEND;
    bool to_front = v->kind == AB_VERB_RECV && !g->w->sets[v->set].is_lifo;
    if (lane->message.n > 0)
        ab_queue_put(q, &lane->message, to_front);
}

/* Executes the bodies of all lanes, or the `finally` of all lanes if g->is_final. */
static enum ab_status run_bodies(struct ab_generator *g, const struct ab_phase_def *p)
{
    memset(g->ready, 0, sizeof g->ready);
    for (size_t r = 0, i = 0; r < p->n_roles; r++)
        for (uint32_t k = 0; k < p->roles[r].n_lanes; k++, i++) {
            g->lanes[i].role = &p->roles[r];
            interpret_begin(g, &g->lanes[i]);
            ab_lane_set_ready(g, (uint32_t)i, !g->lanes[i].is_finished);
        }
    enum ab_status status = take_turns(g);
    if (status == AB_OK)
        status = end_scopes(g);
    for (uint32_t i = 0; i < p->n_lanes && status == AB_OK; i++)
        step_put_down(g, &g->lanes[i]);
    return status;
}

static enum ab_status run_once(struct ab_generator *g, const struct ab_phase_def *p)
{
    g->highest = ab_generate_counter(g);
    g->start = g->highest;
    g->begin = g->highest_at = ab_tape_count(g->tape);
    g->probe_at = g->begin + AB_PROBE_OPS;
    g->stalled = 0;
    if (__builtin_add_overflow(p->until == AB_UNTIL_LIVE ? 0 : g->start, p->limit, &g->until))
        g->until = UINT64_MAX;
    g->is_done = p->until != AB_UNTIL_ITERS && g->highest >= g->until;
    time_begin(g);
    enum ab_status status = run_bodies(g, p);
    bool has_finally = false;
    for (size_t r = 0; r < p->n_roles; r++)
        has_finally = has_finally || p->roles[r].n_finally > 0;
    g->is_done = false;
    g->is_final = true;
    if (status == AB_OK && has_finally)
        status = run_bodies(g, p);
    g->is_final = false;
    return status == AB_OK ? time_end(g) : status;
}

static enum ab_status run_phase(struct ab_generator *g, const struct ab_phase_def *p)
{
    struct ab_loop repeat = {
        .limit = p->repeat, .begin = ab_tape_count(g->tape), .place = p->place};
    uint64_t begin_ns = g->clock.now_ns;
    g->phase = p;
    enum ab_status status = begin_phase(g);
    g->pool.barrier = repeat.begin;
    while (repeat.done < repeat.limit && status == AB_OK) {
        uint64_t before = ab_tape_count(g->tape);
        status = run_once(g, p);
        repeat.done++;
        if (status == AB_OK && ab_tape_count(g->tape) == before)
            status = ab_generate_idle(g, p->roles[0].body[0].place, 1);
        if (status == AB_OK)
            status = interpret_probe(g, &repeat, ab_tape_count(g->tape));
    }
    if (status == AB_OK && p->is_measured && ab_tape_count(g->tape) == repeat.begin &&
        g->clock.now_ns == begin_ns)
        status = ab_generate_fail(g, p->place, "phase '%s' is measured, but makes no ops", p->name);
    return status;
}

/* ---- whole workloads ---- */

static void prepare_lane(const struct ab_workload *w, struct ab_generator_lane *lane,
                         uint32_t index)
{
    uint64_t stream = (uint64_t)index * STREAMS_A_LANE;
    lane->index = index;
    ab_rng_init(&lane->sizes, w->seed, stream + STREAM_SIZES);
    ab_rng_init(&lane->positions, w->seed, stream + STREAM_POSITIONS);
    ab_rng_init(&lane->order, w->seed, stream + STREAM_ORDER);
    ab_rng_init(&lane->choices, w->seed, stream + STREAM_CHOICES);
    lane->turns = ab_alloc_zeroed(w->dists.n + 1, sizeof lane->turns[0]);
    lane->cursors = ab_alloc_zeroed(w->n_cursors + 1u, sizeof lane->cursors[0]);
}

static uint32_t count_instances(const struct ab_set_def *set)
{
    return set->is_shared ? 1 : set->end_lane - set->first_lane;
}

static void prepare_instances(struct ab_generator *g, const struct ab_set_def *set,
                              struct ab_instance *instances)
{
    for (uint32_t i = 0; i < count_instances(set); i++) {
        struct ab_instance *s = &instances[i];
        bool has_positions = ab_set_has_positions(set);
        ab_live_set_init(&s->live, has_positions ? set->count : 0);
        s->base = set->base + i * set->count;
        if (has_positions && set->is_moving)
            s->slots = ab_alloc_zeroed(set->count, sizeof s->slots[0]);
        if (has_positions && !set->is_moving && s->base + set->count > g->pool.first)
            g->pool.first = s->base + set->count;
    }
}

static uint32_t count_all_instances(const struct ab_workload *w)
{
    uint32_t n = 0;
    for (size_t i = 0; i < w->n_sets; i++)
        n += count_instances(&w->sets[i]);
    return n;
}

static void prepare(struct ab_generator *g)
{
    const struct ab_workload *w = g->w;
    uint32_t n = 0;
    g->tape = ab_tape_begin();
    ab_tape_set_window(g->tape, w->window, false);
    if (w->wants_groups)
        ab_tape_group(g->tape, 0);
    g->instances = ab_alloc_zeroed(count_all_instances(w) + 1u, sizeof g->instances[0]);
    g->first_instance = ab_alloc_zeroed(w->n_sets + 1, sizeof g->first_instance[0]);
    for (size_t i = 0; i < w->n_phases; i++)
        ab_tape_set_lanes(g->tape, w->phases[i].is_run_by_main ? 1 : w->phases[i].n_lanes);
    for (size_t i = 0; i < w->n_phases; i++)
        g->n_lanes = w->phases[i].n_lanes > g->n_lanes ? w->phases[i].n_lanes : g->n_lanes;
    g->lanes = ab_alloc_zeroed(g->n_lanes, sizeof g->lanes[0]);
    ab_slot_pool_init(&g->pool, 0);
    for (size_t i = 0; i < w->n_sets; i++) {
        g->first_instance[i] = n;
        prepare_instances(g, &w->sets[i], &g->instances[n]);
        n += count_instances(&w->sets[i]);
    }
    for (uint32_t i = 0; i < g->n_lanes; i++)
        prepare_lane(w, &g->lanes[i], i);
}

static void release(struct ab_generator *g)
{
    uint32_t n_instances = g->instances != NULL ? count_all_instances(g->w) : 0;
    ab_tape_abandon(g->tape);
    for (uint32_t i = 0; i < n_instances; i++) {
        ab_live_set_fini(&g->instances[i].live);
        ab_queue_fini(&g->instances[i].queue);
        free(g->instances[i].slots);
        ab_play_end(g->instances[i].play);
    }
    for (uint32_t i = 0; g->lanes != NULL && i < g->n_lanes; i++) {
        free(g->lanes[i].turns);
        free(g->lanes[i].cursors);
        free(g->lanes[i].picked);
        free(g->lanes[i].message.slots);
    }
    ab_slot_pool_fini(&g->pool);
    free(g->clock.paces);
    free(g->instances);
    free(g->first_instance);
    free(g->lanes);
}

/* Fails if the phase cannot reach its end. `most` is an upper bound on the live bytes. */
static enum ab_status check_end(struct ab_generator *g, const struct ab_phase_def *p, uint64_t most)
{
    if (p->until == AB_UNTIL_LIVE && p->limit > most)
        return ab_generate_fail(g, p->place,
                                "never ends: no more than %s can be live in these sets, with the "
                                "largest size in each position",
                                AB_BYTES(most));
    if (p->until == AB_UNTIL_LIVE && p->cap.limit > 0 && p->limit > p->cap.limit)
        return ab_generate_fail(g, p->place, "never ends: 'cap' keeps the live bytes at %s",
                                AB_BYTES(p->cap.limit));
    if (p->until == AB_UNTIL_ALLOCATED && estimate_phase_largest(g->w, p) == 0)
        return ab_generate_fail(g, p->place, "never ends: phase '%s' requests no bytes", p->name);
    return AB_OK;
}

/* Checks the bounds that follow from the text alone, before memory is allocated for the tape. */
static enum ab_status check_estimate(struct ab_generator *g)
{
    const struct ab_workload *w = g->w;
    g->max_ops = estimate_max_ops(w, g->bursts != NULL);
    uint64_t most_live = estimate_most_live(w);
    for (size_t i = 0; i < w->n_phases; i++) {
        AB_TRY(check_end(g, &w->phases[i], most_live));
        if (estimate_phase_ops(w, &w->phases[i]) > g->max_ops)
            return ab_generate_too_many(g, w->phases[i].place,
                                        (double)estimate_phase_ops(w, &w->phases[i]));
    }
    if (ab_estimate_ops(w) > g->max_ops)
        return ab_generate_too_many(g, w->phases[0].place, (double)ab_estimate_ops(w));
    return AB_OK;
}

/* Adds the place of the phase to an error of the tape builder, which does not know the text.
 * Returns the status. */
static enum ab_status place_failure(struct ab_generator *g, const struct ab_phase_def *phase,
                                    enum ab_status status)
{
    char text[400];
    if (status != AB_INPUT)
        return status;
    AB_COPY(text, g->err->text);
    g->lane = NULL;
    return ab_generate_fail(g, phase->place, "phase '%s': %s", phase->name, text);
}

static enum ab_status run_all(struct ab_generator *g, struct ab_workload *w)
{
    g->w = w;
    free(w->resets);
    w->resets = ab_alloc_zeroed(w->n_cursors + 1u, sizeof w->resets[0]);
    for (uint32_t i = 0; i < w->n_cursors; i++)
        w->resets[i].other = AB_NO_SET;
    enum ab_status status = check_estimate(g);
    if (status == AB_OK)
        prepare(g);
    for (size_t i = 0; i < w->n_phases && status == AB_OK; i++)
        status = place_failure(g, &w->phases[i], run_phase(g, &w->phases[i]));
    return status;
}

enum ab_status ab_workload_compile(struct ab_workload *w, struct ab_tape *out, struct ab_err *err)
{
    struct ab_err local;
    struct ab_generator g = {.err = err != NULL ? err : &local};
    enum ab_status status = run_all(&g, w);
    if (status == AB_OK) {
        status = place_failure(&g, &w->phases[0], ab_tape_end(g.tape, out, g.err));
        g.tape = NULL;
    }
    release(&g);
    return status;
}

/* Compiles the tape as a single burst, because only a tape that is not split can record which set
 * each request is for. */
static enum ab_status compile_whole(struct ab_workload *w, struct ab_workload_bursts *bursts,
                                    struct ab_tape *total, struct ab_err *err)
{
    struct ab_tape tape;
    AB_TRY(ab_workload_compile(w, &tape, err));
    bursts->n = 1;
    enum ab_status status = bursts->take(bursts->user, &tape, true, err);
    if (status != AB_OK) {
        ab_tape_fini(&tape);
        return status;
    }
    free(tape.ops);
    tape.ops = NULL;
    *total = tape;
    return AB_OK;
}

enum ab_status ab_workload_compile_bursts(struct ab_workload *w, struct ab_workload_bursts *bursts,
                                          struct ab_tape *total, struct ab_err *err)
{
    struct ab_tape sum = {.n_phases = (uint32_t)w->n_phases};
    struct ab_generator g = {.bursts = bursts, .total = &sum, .err = err};
    if (w->wants_groups)
        return compile_whole(w, bursts, total, err);
    sum.phases = ab_alloc(w->n_phases * sizeof sum.phases[0]);
    for (size_t i = 0; i < w->n_phases; i++)
        sum.phases[i] = name_phase(&w->phases[i], 0, 0);
    bursts->n = 0;
    enum ab_status status = run_all(&g, w);
    if (status == AB_OK && (bursts->n == 0 || ab_tape_bytes(g.tape) > 0))
        status = place_failure(&g, &w->phases[0], hand_over(&g, bursts->n == 0));
    if (status == AB_OK)
        *total = sum;
    else
        ab_tape_fini(&sum);
    release(&g);
    return status;
}
