/* SPDX-License-Identifier: MIT
 *
 * Holds a tape against what was pushed, in two passes over each phase. The first takes the ops in
 * the one order that the turns give: they must be the requests, each in its lane. The second runs
 * the lanes as the worker does, each as far as its guards let it, with a vector clock a lane that
 * holds only what a guard promises, not what the others happened to do. Guards wait for things
 * that, once true, stay true: so if one order of running the lanes comes to its end, all do, and
 * what the clocks allow holds in all of them.
 */
#include "fuzz/tape_model.h"

#include <stdlib.h>
#include <string.h>

struct clock { /* by lane: so many of its ops are done */
    uint32_t n[MODEL_LANES];
};

struct told { /* a PUBLISH, or the entering of a frame */
    uint32_t value;
    struct clock clock;
};

struct lane_run {
    uint32_t begin, at, end;      /* words of the tape */
    uint32_t n_done;              /* ops, WAITs and PUBLISHes not counted */
    uint32_t *request, *position; /* by op: which request it belongs to; place in the one order */
    uint32_t n_ops, cap_ops;
    struct told *published, *entered;
    uint32_t n_published, cap_published, n_entered, cap_entered;
    struct clock clock;
    bool
        is_marked[AB_SAVE_POINTS_MAX + 1]; /* by depth: the save point there is one to go back to */
    bool is_entered; /* the frame at `at` was entered already, its wait is not over */
};

struct check {
    const struct tape_model *m;
    const struct ab_tape *tape;
    const struct ab_phase *phase;
    const struct model_phase *expected;
    struct lane_run lanes[MODEL_LANES];
    uint32_t *last_op; /* by request: its last op, a place in its lane's ops */
    uint32_t next_request, n_positions, n_releases;
    bool is_windowed;
};

static void *grow(void *items, uint32_t *cap, uint32_t n, size_t bytes)
{
    if (n < *cap)
        return items;
    *cap = n * 2 + 64;
    items = realloc(items, *cap * bytes);
    REQUIRE(items != NULL);
    return items;
}

static bool is_guard(uint64_t op)
{
    return AB_OP_CODE(op) == AB_CODE_WAIT || AB_OP_CODE(op) == AB_CODE_PUBLISH;
}

/* ---- what an op says ---- */

struct said {
    unsigned code;
    uint32_t slot;
    uint64_t size, align;
    bool is_touched, may_fail;
};

static struct said say(const struct ab_tape *tape, uint64_t op)
{
    struct said s = {.code = AB_OP_CODE(op), .slot = AB_OP_SLOT(op), .size = AB_OP_SIZE(op)};
    if (s.code == AB_CODE_WIDE) {
        REQUIRE(s.size < tape->n_wide);
        const struct ab_wide *w = &tape->wide[s.size];
        REQUIRE(w->slot == s.slot);
        s = (struct said){.code = w->code,
                          .slot = w->slot,
                          .size = w->size,
                          .align = w->align,
                          .may_fail = (w->flags & AB_WIDE_MAY_FAIL) != 0};
    } else if (s.code == AB_CODE_ALLOC_ALIGNED ||
               s.code == (AB_CODE_ALLOC_ALIGNED | AB_CODE_TOUCHED)) {
        s.align = UINT64_C(1) << AB_ALIGNED_LOG2(s.size);
        s.size = AB_ALIGNED_SIZE(s.size);
    }
    if (s.code > AB_CODE_TOUCHED && s.code <= (AB_CODE_TOUCHED | AB_CODE_RESIZE)) {
        s.code -= AB_CODE_TOUCHED;
        s.is_touched = true;
    }
    return s;
}

static void check_touch(const struct check *c, const struct model_request *r, uint64_t op)
{
    struct said s = say(c->tape, op);
    REQUIRE(s.code == AB_CODE_TOUCH && s.slot == r->slot);
    REQUIRE(AB_TOUCH_MODE(s.size) == r->request.touch);
    REQUIRE(AB_TOUCH_BYTES(s.size) == r->request.touch_bytes);
}

static void check_reset(const struct model_request *r, const struct said *s)
{
    REQUIRE(s->size == r->slot && AB_RESET_DEPTH(s->slot) == r->depth);
    REQUIRE(((s->slot & AB_RESET_MARK) != 0) == r->is_mark);
    REQUIRE((s->slot & AB_RESET_OTHERS) != 0 || r->is_bulk);
    REQUIRE((s->slot & AB_RESET_RELEASE) == 0 || r->is_mark || r->is_dead);
}

/* True when an op that touches the block must follow. */
static bool check_request(const struct check *c, const struct model_request *r, uint64_t op)
{
    struct said s = say(c->tape, op);
    const struct ab_request *asked = &r->request;
    REQUIRE(ab_op_code_kind(s.code) == r->kind);
    if (r->kind == AB_OP_RESET) {
        check_reset(r, &s);
        return false;
    }
    REQUIRE(s.may_fail == asked->may_fail);
    REQUIRE(s.slot == (asked->may_fail && r->kind != AB_OP_RESIZE ? 0 : r->slot));
    if (r->kind == AB_OP_FREE)
        return false;
    REQUIRE(s.size == asked->size && s.align == asked->align);
    bool is_touched = asked->touch != AB_TOUCH_NONE && asked->size > 0 && !asked->may_fail;
    REQUIRE(!s.is_touched || (is_touched && asked->touch == AB_TOUCH_PAGE));
    return is_touched && !s.is_touched;
}

/* ---- first pass: the one order ---- */

static void note_op(struct check *c, struct lane_run *lane, uint32_t request)
{
    uint32_t cap = lane->cap_ops;
    lane->request = grow(lane->request, &cap, lane->n_ops, sizeof(uint32_t));
    lane->position = grow(lane->position, &lane->cap_ops, lane->n_ops, sizeof(uint32_t));
    lane->request[lane->n_ops] = request;
    lane->position[lane->n_ops] = c->n_positions++;
    c->last_op[request] = lane->n_ops++;
}

static uint64_t next_op(const struct check *c, struct lane_run *lane)
{
    while (lane->at < lane->end && is_guard(c->tape->ops[lane->at]))
        lane->at++;
    REQUIRE(lane->at < lane->end);
    return c->tape->ops[lane->at++];
}

/* A bulk reset passes over the words behind it, and so does a release, whose save point is taken: they
 * must be the frees it stands for. */
static void check_bulk(struct check *c, struct lane_run *lane, uint64_t op)
{
    uint32_t how = AB_OP_SLOT(op), depth = AB_RESET_DEPTH(how);
    bool is_reset = AB_OP_CODE(op) == AB_CODE_RESET, is_mark = is_reset && ab_op_is_mark(op);
    bool is_release = is_reset && !is_mark && (how & AB_RESET_RELEASE) != 0;
    if (is_mark)
        lane->is_marked[depth] = (how & AB_RESET_RELEASE) != 0;
    if (is_release)
        REQUIRE(lane->is_marked[depth]);
    c->n_releases += is_release;
    if (!is_reset || ((how & AB_RESET_OTHERS) != 0 && !is_release))
        return;
    REQUIRE(AB_OP_SIZE(op) <= lane->end - lane->at);
    for (uint32_t i = 0; i < AB_OP_SIZE(op); i++)
        REQUIRE(AB_OP_CODE(c->tape->ops[lane->at + i]) == AB_CODE_FREE);
    for (uint32_t l = 0; l < c->m->n_lanes; l++) /* it would take the blocks of others along */
        REQUIRE((how & AB_RESET_CROWDED) != 0 || &c->lanes[l] == lane ||
                c->lanes[l].at == c->lanes[l].end);
}

/* `n` ops of one lane. */
static void take_turn(struct check *c, uint32_t index, uint32_t n)
{
    struct lane_run *lane = &c->lanes[index];
    for (uint32_t i = 0; i < n; i++) {
        REQUIRE(c->next_request < c->expected->end);
        uint32_t request = c->next_request++;
        const struct model_request *r = &c->m->requests[request];
        REQUIRE(r->lane == index);
        uint64_t op = next_op(c, lane);
        note_op(c, lane, request);
        check_bulk(c, lane, op);
        if (check_request(c, r, op)) {
            REQUIRE(++i < n);
            check_touch(c, r, next_op(c, lane));
            note_op(c, lane, request);
        }
    }
}

static void check_order(struct check *c)
{
    const struct ab_phase *p = c->phase;
    c->next_request = c->expected->begin;
    c->n_positions = c->n_releases = 0;
    if (c->m->n_lanes == 1)
        take_turn(c, 0, p->end - p->begin);
    for (uint32_t t = p->turns_begin; t < p->turns_end; t++) {
        REQUIRE(c->tape->turns[t].lane < c->m->n_lanes);
        take_turn(c, c->tape->turns[t].lane, c->tape->turns[t].n);
    }
    REQUIRE(c->next_request == c->expected->end);
    for (uint32_t l = 0; l < c->m->n_lanes; l++)
        while (c->lanes[l].at < c->lanes[l].end)
            REQUIRE(is_guard(c->tape->ops[c->lanes[l].at++]));
}

/* ---- second pass: each lane as far as its guards let it ---- */

static void tell(struct told **list, uint32_t *n, uint32_t *cap, uint32_t value,
                 const struct lane_run *lane)
{
    REQUIRE(*n == 0 || (*list)[*n - 1].value < value);
    *list = grow(*list, cap, *n, sizeof **list);
    (*list)[(*n)++] = (struct told){value, lane->clock};
}

static void learn(struct lane_run *lane, const struct clock *from)
{
    for (uint32_t l = 0; l < MODEL_LANES; l++)
        if (from->n[l] > lane->clock.n[l])
            lane->clock.n[l] = from->n[l];
}

/* The earliest that another lane told and that is at least `value`; NULL = not yet. */
static const struct told *find_told(const struct told *list, uint32_t n, uint32_t value)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (list[middle].value < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n ? &list[low] : NULL;
}

/* UINT32_MAX: all. */
static uint32_t group_of(const struct check *c, const struct lane_run *lane)
{
    uint64_t op = lane->begin < lane->end ? c->tape->ops[lane->begin] : 0;
    bool is_said = AB_OP_CODE(op) == AB_CODE_WAIT && AB_OP_SLOT(op) == AB_SLOT_GROUP;
    return is_said ? AB_OP_SIZE(op) : UINT32_MAX;
}

static bool is_bound(const struct check *c, const struct lane_run *a, const struct lane_run *b)
{
    return group_of(c, a) == group_of(c, b) || group_of(c, b) == UINT32_MAX;
}

static bool enter_frame(struct check *c, struct lane_run *lane, uint32_t frame)
{
    if (!lane->is_entered)
        tell(&lane->entered, &lane->n_entered, &lane->cap_entered, frame, lane);
    lane->is_entered = true;
    for (uint32_t l = 0; l < c->m->n_lanes; l++) {
        const struct lane_run *other = &c->lanes[l];
        const struct told *told = find_told(other->entered, other->n_entered, frame - 1);
        if (other == lane || frame == 1 || !is_bound(c, lane, other))
            continue;
        if (told == NULL && other->at < other->end)
            return false;
        learn(lane, told != NULL ? &told->clock : &other->clock);
    }
    lane->is_entered = false;
    return true;
}

/* False: the lane has to wait. */
static bool pass_guard(struct check *c, struct lane_run *lane, uint64_t op)
{
    uint32_t value = AB_OP_SIZE(op);
    if (AB_OP_CODE(op) == AB_CODE_PUBLISH) {
        REQUIRE(value == lane->n_done);
        tell(&lane->published, &lane->n_published, &lane->cap_published, value, lane);
        return true;
    }
    if (AB_OP_SLOT(op) == AB_SLOT_FRAME)
        return enter_frame(c, lane, value);
    if (AB_OP_SLOT(op) == AB_SLOT_GROUP)
        return true;
    REQUIRE(AB_LANE_OF_SLOT(AB_OP_SLOT(op)) < c->m->n_lanes);
    const struct lane_run *other = &c->lanes[AB_LANE_OF_SLOT(AB_OP_SLOT(op))];
    REQUIRE(other != lane);
    const struct told *told = find_told(other->published, other->n_published, value);
    if (told == NULL)
        return false;
    learn(lane, &told->clock);
    return true;
}

/* Request `of` is known to be over. */
static void require_behind(const struct check *c, const struct lane_run *lane, uint32_t of)
{
    uint32_t other = c->m->requests[of].lane;
    REQUIRE(lane->clock.n[other] > c->last_op[of]);
}

static void require_awaits(const struct check *c, const struct lane_run *lane, uint32_t request)
{
    uint32_t i = c->m->requests[request].awaits;
    for (; i != MODEL_NONE; i = c->m->awaits[i].next)
        require_behind(c, lane, c->m->awaits[i].of);
}

static void require_window(const struct check *c, const struct lane_run *lane)
{
    uint32_t position = lane->position[lane->n_done];
    for (uint32_t l = 0; l < c->m->n_lanes; l++) {
        uint32_t known = lane->clock.n[l];
        if (&c->lanes[l] != lane && known < c->lanes[l].n_ops)
            REQUIRE((uint64_t)c->lanes[l].position[known] + c->tape->window > position);
    }
}

static void run_op(const struct check *c, struct lane_run *lane)
{
    uint32_t request = lane->request[lane->n_done];
    const struct model_request *r = &c->m->requests[request];
    bool is_first = lane->n_done == 0 || lane->request[lane->n_done - 1] != request;
    if (is_first && r->prev != MODEL_NONE)
        require_behind(c, lane, r->prev);
    if (is_first)
        require_awaits(c, lane, request);
    if (c->is_windowed)
        require_window(c, lane);
    lane->clock.n[lane - c->lanes] = ++lane->n_done;
}

/* True when it came on. */
static bool run_lane(struct check *c, struct lane_run *lane)
{
    uint32_t begun = lane->at;
    for (; lane->at < lane->end; lane->at++) {
        uint64_t op = c->tape->ops[lane->at];
        if (!is_guard(op))
            run_op(c, lane);
        else if (!pass_guard(c, lane, op))
            break;
    }
    return lane->at > begun;
}

static void run_lanes(struct check *c)
{
    bool has_moved = true, is_over = false;
    while (has_moved) {
        has_moved = false;
        is_over = true;
        for (uint32_t l = 0; l < c->m->n_lanes; l++) {
            has_moved |= run_lane(c, &c->lanes[l]);
            is_over &= c->lanes[l].at == c->lanes[l].end;
        }
    }
    REQUIRE(is_over); /* else they hang */
}

/* ---- all of it ---- */

static void set_lanes(struct check *c, uint32_t index)
{
    const uint32_t *begin = &c->tape->lane_begin[index * c->m->n_lanes];
    for (uint32_t l = 0; l < c->m->n_lanes; l++) {
        c->lanes[l].begin = c->lanes[l].at = begin[l];
        c->lanes[l].end = begin[l + 1];
        REQUIRE(begin[l] <= begin[l + 1] && begin[l + 1] <= c->tape->n_ops);
    }
    REQUIRE(begin[0] == c->phase->begin && begin[c->m->n_lanes] == c->phase->end);
}

static void check_counts(const struct check *c)
{
    const struct ab_phase *p = c->phase;
    uint32_t n_busy = 0;
    for (uint32_t l = 0; l < c->m->n_lanes; l++)
        n_busy += c->lanes[l].n_ops > 0;
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        REQUIRE(p->n_ops[k] ==
                (k == AB_OP_RESET && n_busy > 1 ? c->n_releases : c->expected->n_ops[k]));
    REQUIRE(p->n_touches == c->expected->n_touches);
}

static void check_phase(struct check *c, uint32_t index)
{
    c->phase = &c->tape->phases[index];
    c->expected = &c->m->phases[index];
    c->is_windowed = c->m->n_lanes > 1 && c->m->window != AB_WINDOW_AUTO && c->tape->window > 1 &&
                     (c->m->is_window_always || c->expected->has_crossed);
    set_lanes(c, index);
    check_order(c);
    check_counts(c);
    set_lanes(c, index);
    run_lanes(c);
    for (uint32_t l = 0; l < c->m->n_lanes; l++) {
        struct lane_run *lane = &c->lanes[l];
        free(lane->request);
        free(lane->position);
        free(lane->published);
        free(lane->entered);
        *lane = (struct lane_run){0};
    }
}

static void check_facts(const struct tape_model *m, const struct ab_tape *tape)
{
    const struct ab_facts *f = &tape->facts;
    REQUIRE(f->lanes == m->n_lanes && f->kinds == m->kinds);
    REQUIRE(f->live_peak_blocks == m->peak_blocks && f->live_peak_bytes == m->peak_bytes);
    REQUIRE(f->total_blocks == m->total_blocks && f->total_bytes == m->total_bytes);
    REQUIRE(f->largest_bytes == m->largest_bytes && f->largest_align == m->largest_align);
    REQUIRE(tape->live_end_blocks == m->live_blocks && tape->live_end_bytes == m->live_bytes);
    REQUIRE(tape->n_slots == m->n_slots && tape->n_remote == m->n_remote);
    REQUIRE(tape->no_op_frees == m->n_no_op_frees && tape->n_phases == m->n_phases);
    REQUIRE(m->n_lanes == 1 || m->window == AB_WINDOW_AUTO || tape->window == (m->window & ~1u));
    for (uint32_t i = 0; i < AB_TAPE_PAD; i++)
        REQUIRE(tape->ops[tape->n_ops + i] == 0);
}

void model_check_tape(const struct tape_model *m, const struct ab_tape *tape)
{
    struct check c = {.m = m, .tape = tape, .last_op = calloc(m->n_requests + 1, sizeof(uint32_t))};
    REQUIRE(c.last_op != NULL);
    check_facts(m, tape);
    for (uint32_t p = 0; p < tape->n_phases; p++)
        check_phase(&c, p);
    free(c.last_op);
}
