/* SPDX-License-Identifier: MIT
 *
 * Lays out the lanes' streams of ops as one tape. All guards between lanes are made here; the
 * worker only follows them. No run can hang, for three reasons. Every WAIT is for something earlier
 * in the global order. A lane announces that it entered a frame before it waits for anything in it.
 * Frames only wait for earlier ones. So the earliest op that is not done yet can always be done.
 */
#include "tape/layout.h"

#include "base/search.h"
#include "core/alloc.h"
#include "core/text.h"

#include <stdlib.h>
#include <string.h>

void ab_tape_end_crest(struct ab_lane_ops *lane)
{
    if (lane->n == lane->crest_begin)
        return;
    AB_GROW(lane->crests, lane->cap_crests, lane->n_crests);
    lane->crests[lane->n_crests++] = (struct ab_crest){
        .end = (uint32_t)lane->n, .most = lane->most, .level = lane->level};
    lane->most = lane->level;
    lane->crest_begin = lane->n;
}

struct frame_start { /* the lane enters `frame` at its op `op` */
    uint32_t op, frame;
};

struct lane_plan {       /* one lane in one phase */
    uint32_t begin, end; /* ops [begin, end) of the lane's own stream */
    bool is_bound;       /* True if the window binds the lane to other lanes of its group */
    struct frame_start *frames;
    size_t n_frames, cap_frames;
    uint32_t *publishes; /* ops whose completion other lanes await, ascending, unique */
    size_t n_publishes, cap_publishes;
    /* the lane's waits: the kept edges [next_edge, end_edge), sorted by `to` */
    size_t next_edge, end_edge;
};

struct layout {
    struct ab_tape_builder *b;
    struct lane_plan *lanes;
    struct ab_tape_window window; /* window of the current phase */
};

/* ---- frames ---- */

/* Walks the global order of a phase and records where each lane that is bound to others enters a
 * frame of its group. */
static void plan_frames(struct layout *l, const struct ab_phase *phase)
{
    uint32_t at[AB_LANES_MAX], frame[AB_LANES_MAX] = {0}, frame_ops = l->window.frame_ops;
    uint64_t clocks[AB_LANES_MAX] = {0}; /* number of ops walked so far, for each group */
    for (uint32_t i = 0; i < l->b->n_lanes; i++)
        at[i] = l->lanes[i].begin;
    for (uint32_t t = phase->turns_begin; t < phase->turns_end; t++) {
        const struct ab_turn *turn = &l->b->tape.turns[t];
        struct lane_plan *lane = &l->lanes[turn->lane];
        uint64_t *clock = &clocks[l->window.group[turn->lane]];
        for (uint32_t i = 0; i < turn->n && lane->is_bound;) {
            uint32_t f = (uint32_t)((*clock + i) / frame_ops);
            uint32_t left = frame_ops - (uint32_t)((*clock + i) % frame_ops);
            if (f != frame[turn->lane]) {
                AB_GROW(lane->frames, lane->cap_frames, lane->n_frames);
                lane->frames[lane->n_frames++] = (struct frame_start){at[turn->lane] + i, f};
                frame[turn->lane] = f;
            }
            i += left < turn->n - i ? left : turn->n - i;
        }
        at[turn->lane] += turn->n;
        *clock += turn->n;
    }
}

static uint32_t frame_of(const struct lane_plan *lane, uint32_t op)
{
    size_t low = AB_SEARCH(i, lane->n_frames, lane->frames[i].op <= op);
    return low == 0 ? 0 : lane->frames[low - 1].frame;
}

/* ---- edges ---- */

static int by_waiter(const void *a, const void *b)
{
    const struct ab_edge *x = a, *y = b;
    if (x->to_lane != y->to_lane)
        return x->to_lane < y->to_lane ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* True if the window already guards an edge: a lane in frame f has seen all others end frame f −
 * 2. */
static bool is_kept_by_window(const struct layout *l, const struct ab_edge *e)
{
    return l->window.frame_ops != 0 &&
           frame_of(&l->lanes[e->from_lane], e->from) + 2 <= frame_of(&l->lanes[e->to_lane], e->to);
}

static void plan_edges(struct layout *l, struct ab_edge *edges, size_t n)
{
    size_t kept = 0;
    if (n == 0)
        return;
    for (size_t i = 0; i < n; i++) {
        if (is_kept_by_window(l, &edges[i]))
            continue;
        struct lane_plan *from = &l->lanes[edges[i].from_lane];
        AB_GROW(from->publishes, from->cap_publishes, from->n_publishes);
        from->publishes[from->n_publishes++] = edges[i].from;
        edges[kept++] = edges[i];
    }
    qsort(edges, kept, sizeof edges[0], by_waiter);
    size_t first = (size_t)(edges - l->b->edges);
    for (size_t i = 0; i < kept; i++) {
        struct lane_plan *to = &l->lanes[edges[i].to_lane];
        if (to->end_edge == 0)
            to->next_edge = first + i;
        to->end_edge = first + i + 1;
    }
    for (uint32_t i = 0; i < l->b->n_lanes; i++) {
        struct lane_plan *lane = &l->lanes[i];
        if (lane->n_publishes > 0)
            qsort(lane->publishes, lane->n_publishes, sizeof(uint32_t), by_value);
    }
    l->b->tape.n_edges += kept;
}

/* ---- laying out ---- */

static bool put(struct layout *l, uint64_t op)
{
    struct ab_tape *tape = &l->b->tape;
    if (tape->n_ops >= AB_TAPE_MAX_OPS)
        return false;
    AB_GROW(tape->ops, l->b->cap_ops, (size_t)tape->n_ops + AB_TAPE_PAD);
    tape->ops[tape->n_ops++] = op;
    return true;
}

/* Writes op i of the lane, with the WAITs before it and the PUBLISH after it. */
static bool put_op(struct layout *l, const struct ab_lane_ops *ops, struct lane_plan *lane,
                   uint32_t i, size_t *next_frame, size_t *next_publish)
{
    bool ok = true;
    if (*next_frame < lane->n_frames && lane->frames[*next_frame].op == i)
        ok = put(l, AB_OP_MAKE(AB_CODE_WAIT, AB_SLOT_FRAME, lane->frames[(*next_frame)++].frame));
    for (; ok && lane->next_edge < lane->end_edge && l->b->edges[lane->next_edge].to == i;
         lane->next_edge++) {
        const struct ab_edge *e = &l->b->edges[lane->next_edge];
        uint32_t count = e->from - l->lanes[e->from_lane].begin + 1;
        ok = put(l, AB_OP_MAKE(AB_CODE_WAIT, AB_SLOT_OF_LANE(e->from_lane), count));
    }
    ok = ok && put(l, ops->ops[i]);
    if (*next_publish < lane->n_publishes && lane->publishes[*next_publish] == i) {
        uint32_t count = i - lane->begin + 1;
        ok = ok && put(l, AB_OP_MAKE(AB_CODE_PUBLISH, AB_OP_SLOT(ops->ops[i]), count));
        while (*next_publish < lane->n_publishes && lane->publishes[*next_publish] == i)
            (*next_publish)++;
    }
    return ok;
}

/* ---- places of a lane: the ends of its iterations and threads ----
 *
 * Places are recorded with the number of the lane's next op, and get their positions when the lanes
 * are laid out. */

void ab_tape_each(struct ab_tape_builder *b, const char *name, uint64_t budget_ns)
{
    if (b->phase == NULL)
        return;
    AB_COPY(b->phase->iteration, name);
    b->phase->budget_ns = budget_ns;
    b->has_places[AB_PLACE_ITERATION] = true;
}

void ab_tape_renew(struct ab_tape_builder *b, uint32_t every)
{
    if (b->phase != NULL)
        b->phase->renew = every;
}

static const struct ab_lane_place *last_place(const struct ab_tape_builder *b,
                                              const struct ab_lane_ops *lane,
                                              enum ab_place_kind kind)
{
    const struct ab_lane_places *places = &lane->places[kind];
    bool is_here = places->n > 0 && places->items[places->n - 1].phase == b->tape.n_phases - 1;
    return is_here ? &places->items[places->n - 1] : NULL;
}

static void add_place(struct ab_tape_builder *b, enum ab_place_kind kind)
{
    struct ab_lane_places *places = &b->to->places[kind];
    AB_GROW(places->items, places->cap, places->n);
    places->items[places->n++] = (struct ab_lane_place){.phase = b->tape.n_phases - 1,
                                                        .op = (uint32_t)b->to->n};
}

enum ab_status ab_tape_iteration(struct ab_tape_builder *b, struct ab_err *err)
{
    if (b->phase == NULL)
        return ab_fail(err, AB_CONFIG, "an iteration before the first phase");
    add_place(b, AB_PLACE_ITERATION);
    return AB_OK;
}

/* Adds a turn without ops for the end of a recorded thread, because other lanes may have had turns
 * since the lane's last op. */
enum ab_status ab_tape_thread_end(struct ab_tape_builder *b, struct ab_err *err)
{
    if (b->phase == NULL)
        return ab_fail(err, AB_CONFIG, "the end of a thread before the first phase");
    const struct ab_lane_place *last = last_place(b, b->to, AB_PLACE_THREAD_END);
    if (last != NULL && last->op == b->to->n)
        return AB_OK; /* the fresh thread has done nothing yet */
    b->has_places[AB_PLACE_THREAD_END] = true;
    add_place(b, AB_PLACE_THREAD_END);
    if (b->phase->renew != 0)
        return AB_OK;
    AB_GROW(b->tape.turns, b->cap_turns, b->tape.n_turns);
    b->tape.turns[b->tape.n_turns++] = (struct ab_turn){b->lane, 0};
    b->phase->turns_end = b->tape.n_turns;
    return AB_OK;
}

/* True if the lane has ops since its last iteration ended, or since the phase began. */
static bool has_ops(const struct ab_tape_builder *b, uint32_t lane)
{
    const struct ab_lane_place *last = last_place(b, &b->lanes[lane], AB_PLACE_ITERATION);
    uint32_t phase = b->tape.n_phases - 1;
    return b->lanes[lane].n >
           (last != NULL ? last->op : b->starts[(size_t)phase * AB_LANES_MAX + lane]);
}

enum ab_status ab_tape_iteration_of_all(struct ab_tape_builder *b, struct ab_err *err)
{
    struct ab_lane_ops *current = b->to;
    enum ab_status status = AB_OK;
    for (uint32_t l = 0; l < b->n_lanes && status == AB_OK; l++) {
        b->to = &b->lanes[l];
        if (b->n_lanes == 1 || b->phase == NULL || has_ops(b, l))
            status = ab_tape_iteration(b, err);
    }
    b->to = current;
    return status;
}

static struct ab_tape_places *places_of(struct ab_tape *tape, enum ab_place_kind kind)
{
    return kind == AB_PLACE_ITERATION ? &tape->iterations : &tape->thread_ends;
}

static uint32_t *count_of(struct ab_phase *phase, enum ab_place_kind kind)
{
    return kind == AB_PLACE_ITERATION ? &phase->n_iterations : &phase->n_thread_ends;
}

/* Prepares laying out a lane's places in a phase. phase = n_phases, lane 0: all lanes are laid
 * out. */
static void begin_places(struct ab_tape_builder *b, uint32_t phase, uint32_t lane)
{
    struct ab_tape *tape = &b->tape;
    size_t at = (size_t)phase * b->n_lanes + lane;
    for (unsigned kind = 0; kind < AB_PLACE_KINDS; kind++) {
        struct ab_tape_places *places = places_of(tape, kind);
        if (!b->has_places[kind])
            continue;
        AB_GROW(places->begin, b->cap_places_begin[kind], at);
        if (at == 0) {
            places->n = 0;
            for (uint32_t l = 0; l < b->n_lanes; l++)
                b->lanes[l].places[kind].next = 0;
        }
        places->begin[at] = places->n;
        if (lane == 0 && phase < tape->n_phases)
            *count_of(&tape->phases[phase], kind) = 0;
    }
}

/* Lays out all places before op `op` of the lane's phase at `position` of the tape. At the end of
 * the phase (is_end) no thread is renewed. */
static void lay_places(struct ab_tape_builder *b, uint32_t lane, uint32_t phase, uint32_t op,
                       uint32_t position, bool is_end)
{
    struct ab_tape *tape = &b->tape;
    for (unsigned kind = 0; kind < AB_PLACE_KINDS; kind++) {
        struct ab_lane_places *from = &b->lanes[lane].places[kind];
        struct ab_tape_places *places = places_of(tape, kind);
        bool is_needless = is_end && kind == AB_PLACE_THREAD_END && tape->phases[phase].renew != 0;
        for (; from->next < from->n && from->items[from->next].phase == phase &&
               from->items[from->next].op <= op;
             from->next++) {
            if (is_needless)
                continue;
            AB_GROW(places->at, b->cap_places[kind], places->n);
            places->at[places->n++] = position;
            ++*count_of(&tape->phases[phase], kind);
        }
    }
}

/* ---- time: steps are recorded by the number of ops pushed before, and get their positions when
 * the lanes are laid out ---- */

static void add_step(struct ab_tape_builder *b, uint32_t at, uint64_t time_ns, unsigned flags)
{
    struct ab_tape *tape = &b->tape;
    struct ab_time_step *last = tape->n_steps > 0 ? &tape->steps[tape->n_steps - 1] : NULL;
    const struct ab_time_step step = {.position = at,
                                      .flags = (uint16_t)flags,
                                      .phase = (uint16_t)(tape->n_phases - 1),
                                      .time_ns = time_ns};
    bool goes_on = last != NULL && last->position == at && last->phase == step.phase &&
                   last->flags == step.flags;
    if ((flags & AB_STEP_IDLE) != 0) {
        tape->idle_ns += time_ns - b->kept_ns;
        tape->n_idle += !goes_on;
    }
    b->kept_ns = time_ns;
    if (flags != AB_STEP_RECORDED)
        b->is_time_work = true;
    if (goes_on) {
        last->time_ns = time_ns;
        return;
    }
    AB_GROW(tape->steps, b->cap_steps, tape->n_steps);
    tape->steps[tape->n_steps++] = step;
    b->n_kept++;
}

/* Adds a step here for the time that has passed since the last one. */
static void keep_time(struct ab_tape_builder *b)
{
    if (b->kept_ns < b->tape.duration_ns)
        add_step(b, ab_tape_pushed(b), b->tape.duration_ns, b->time_flags);
}

enum ab_status ab_tape_time_at(struct ab_tape_builder *b, uint32_t n, uint64_t time_ns,
                               unsigned flags, struct ab_err *err)
{
    const uint64_t grain = AB_TIME_GRAIN_NS << b->n_kept / AB_STEPS_FINE, now = b->tape.duration_ns;
    const double second = 1e9;
    if (b->phase == NULL)
        return ab_fail(err, AB_CONFIG, "a time before the first phase");
    if (time_ns < now)
        return ab_fail(err, AB_INPUT, "time runs backwards, from %.6f s to %.6f s",
                       (double)now / second, (double)time_ns / second);
    if (time_ns > AB_TIME_MAX_NS)
        return ab_fail(err, AB_INPUT, "it lasts more than %llu days",
                       (unsigned long long)(AB_TIME_MAX_NS / AB_DAY_NS));
    if (time_ns == now || (flags & AB_STEP_IDLE) != 0)
        keep_time(b);
    if (time_ns == now)
        return AB_OK;
    b->tape.duration_ns = time_ns;
    b->time_flags = (uint16_t)flags;
    if ((flags & AB_STEP_IDLE) != 0 || time_ns - b->kept_ns >= grain)
        add_step(b, n, time_ns, flags);
    return AB_OK;
}

uint32_t ab_tape_pushed(const struct ab_tape_builder *b)
{
    return (uint32_t)b->n_pushed;
}

/* Skips `n` ops of a turn, beginning at `*at` of the tape, together with their guards. Returns the
 * number of words skipped. */
static uint32_t pass_ops(const struct ab_tape *tape, uint32_t *at, uint32_t n)
{
    uint32_t begin = *at;
    while (n > 0)
        n -= !ab_op_is_guard(tape->ops[(*at)++]);
    while (*at < tape->n_ops && AB_OP_CODE(tape->ops[*at]) == AB_CODE_PUBLISH)
        (*at)++;
    return *at - begin;
}

static uint32_t *number_at(void *first, size_t stride, uint32_t i)
{
    return (uint32_t *)(void *)((char *)first + i * stride);
}

void ab_tape_place(const struct ab_tape *tape, void *items, size_t stride, uint32_t n_items)
{
    const uint32_t n_lanes = tape->facts.lanes;
    uint32_t i = 0, n_pushed = 0, position = 0, at[AB_LANES_MAX];
    if (n_lanes == 1) /* a single lane has no guards */
        return;
    for (uint32_t p = 0; p < tape->n_phases && i < n_items; p++) {
        const struct ab_phase *phase = &tape->phases[p];
        memcpy(at, &tape->lane_begin[(size_t)p * n_lanes], n_lanes * sizeof at[0]);
        for (uint32_t t = phase->turns_begin; t < phase->turns_end; t++) {
            const struct ab_turn *turn = &tape->turns[t];
            for (uint32_t left = turn->n; left > 0;) {
                for (; i < n_items && *number_at(items, stride, i) == n_pushed; i++)
                    *number_at(items, stride, i) = position;
                uint32_t until = i < n_items ? *number_at(items, stride, i) - n_pushed : left;
                uint32_t n = until < left ? until : left;
                position += pass_ops(tape, &at[turn->lane], n);
                n_pushed += n;
                left -= n;
            }
        }
    }
    for (; i < n_items; i++)
        *number_at(items, stride, i) = tape->n_ops;
}

struct op_marker {
    const struct ab_tape *tape;
    uint64_t *bits;
    uint32_t position;
    uint32_t done[AB_LANES_MAX]; /* position + 1 of the marked last op of each lane; 0 = none */
};

static void flip(uint64_t *bits, uint32_t position)
{
    bits[position / 64] ^= UINT64_C(1) << position % 64;
}

static void mark_words(struct op_marker *m, uint32_t lane, uint32_t begin, uint32_t end)
{
    for (uint32_t i = begin; i < end; i++, m->position++) {
        bool is_touch = ab_op_is_touch(m->tape->ops[i]) && m->done[lane] > 0;
        if (is_touch)
            flip(m->bits, m->done[lane] - 1);
        if (!is_touch && !ab_op_is_counted(m->tape->ops[i]))
            continue;
        flip(m->bits, m->position);
        m->done[lane] = m->position + 1;
    }
}

static void mark_turns(struct op_marker *m, const struct ab_phase *phase, uint32_t *at)
{
    for (uint32_t t = phase->turns_begin; t < phase->turns_end; t++) {
        const struct ab_turn *turn = &m->tape->turns[t];
        uint32_t begin = at[turn->lane];
        pass_ops(m->tape, &at[turn->lane], turn->n);
        mark_words(m, turn->lane, begin, at[turn->lane]);
    }
}

void ab_tape_mark_ops(const struct ab_tape *tape, bool as_it_lies, uint64_t *bits)
{
    struct op_marker m = {.tape = tape, .bits = bits};
    uint32_t n_lanes = tape->facts.lanes, at[AB_LANES_MAX];
    for (uint32_t p = 0; p < tape->n_phases; p++) {
        const uint32_t *begin = &tape->lane_begin[(size_t)p * n_lanes];
        memcpy(at, begin, n_lanes * sizeof at[0]);
        if (!as_it_lies)
            mark_turns(&m, &tape->phases[p], at);
        for (uint32_t lane = 0; lane < n_lanes; lane++)
            mark_words(&m, lane, at[lane], begin[lane + 1]);
    }
}

static bool put_lane(struct layout *l, uint32_t phase, uint32_t index)
{
    struct lane_plan *lane = &l->lanes[index];
    size_t next_frame = 0, next_publish = 0;
    bool ok = l->window.frame_ops == 0 || l->window.n_groups == 1 || lane->begin == lane->end ||
              put(l, AB_OP_MAKE(AB_CODE_WAIT, AB_SLOT_GROUP, l->window.group[index]));
    for (uint32_t i = lane->begin; i < lane->end && ok; i++) {
        lay_places(l->b, index, phase, i, l->b->tape.n_ops, false);
        ok = put_op(l, &l->b->lanes[index], lane, i, &next_frame, &next_publish);
    }
    lay_places(l->b, index, phase, lane->end, l->b->tape.n_ops, true);
    return ok;
}

static bool is_release(uint64_t op)
{
    return AB_OP_CODE(op) == AB_CODE_RESET &&
           (AB_OP_SLOT(op) & (AB_RESET_MARK | AB_RESET_RELEASE)) == AB_RESET_RELEASE;
}

/* Forbids bulk resets in phase `p` if other lanes are active, because a reset would free their
 * blocks. So would returning to a save point, except in a heap of the lane's own. */
static void forbid_resets(struct layout *l, uint32_t p)
{
    uint32_t n_busy = 0, n_releases = 0;
    for (uint32_t i = 0; i < l->b->n_lanes; i++)
        n_busy += l->lanes[i].end > l->lanes[i].begin;
    if (n_busy < 2 || l->b->tape.phases[p].n_ops[AB_OP_RESET] == 0)
        return;
    l->b->lost_resets = true;
    for (uint32_t i = 0; i < l->b->n_lanes; i++)
        for (uint32_t op = l->lanes[i].begin; op < l->lanes[i].end; op++) {
            uint64_t *word = &l->b->lanes[i].ops[op];
            if (AB_OP_CODE(*word) != AB_CODE_RESET)
                continue;
            bool is_scope = AB_RESET_DEPTH(AB_OP_SLOT(*word)) != 0;
            *word |= (uint64_t)(AB_RESET_OTHERS | (is_scope ? AB_RESET_CROWDED : 0)) << 4;
            n_releases += is_release(*word);
        }
    l->b->tape.phases[p].n_ops[AB_OP_RESET] = n_releases;
}

/* Makes releases with guards between their frees free one by one, because guards must not be
 * skipped. */
static void forbid_guarded_releases(struct ab_tape *tape, struct ab_phase *phase, uint32_t begin)
{
    uint64_t *marks[AB_SAVE_POINTS_MAX + 1] = {NULL}, *ops = tape->ops;
    for (uint32_t i = begin; i < tape->n_ops; i++) {
        uint32_t depth = AB_RESET_DEPTH(AB_OP_SLOT(ops[i])), n = 0;
        if (ab_op_is_mark(ops[i]))
            marks[depth] = &ops[i];
        if (!is_release(ops[i]))
            continue;
        while (n < AB_OP_SIZE(ops[i]) && AB_OP_CODE(ops[i + 1 + n]) == AB_CODE_FREE)
            n++;
        if (n == AB_OP_SIZE(ops[i]))
            continue;
        ops[i] &= ~((uint64_t)AB_RESET_RELEASE << 4);
        *marks[depth] &= ~((uint64_t)AB_RESET_RELEASE << 4);
        phase->n_ops[AB_OP_RESET]--;
    }
}

/* ---- choice of the window: which lanes it binds to each other, and the widest frame that keeps
 * the live bytes near the recorded ones ---- */

enum { FRAME_LEAST = AB_WINDOW_LEAST / 2, NO_RECORD = UINT32_MAX };

struct record { /* a lane in a frame in which it has ops */
    uint32_t frame;
    uint16_t lane;
    int64_t most, level; /* highest level in the frame, level at its end */
};

struct group {
    struct record *records; /* sorted by frame */
    size_t n, cap;
    uint64_t clock; /* number of ops of its lanes so far */
};

struct lane_walk {
    uint32_t at;   /* index of the lane's next op; those before it are walked */
    size_t crest;  /* index of the crest that contains op `at` */
    uint32_t last; /* index of the last record; NO_RECORD = none */
    int64_t begin; /* level of the lane before the phase */
    int64_t most;  /* highest level in the phase */
};

struct chooser {
    const struct ab_tape_builder *b;
    uint32_t p;
    const struct ab_tape_window *window; /* the groups are those of this window */
    struct group *groups;
    struct lane_walk lanes[AB_LANES_MAX];
};

/* Finds the lane's ops [*begin, *end) in phase `p`. */
static void tape_lane_span(const struct ab_tape_builder *b, uint32_t p, uint32_t lane,
                           uint32_t *begin, uint32_t *end)
{
    const uint32_t *starts = &b->starts[(size_t)p * AB_LANES_MAX + lane];
    *begin = starts[0];
    *end = p + 1 < b->tape.n_phases ? starts[AB_LANES_MAX] : (uint32_t)b->lanes[lane].n;
}

/* ---- levels ---- */

static size_t first_crest(const struct ab_lane_ops *lane, uint32_t begin)
{
    return AB_SEARCH(i, lane->n_crests, lane->crests[i].end <= begin);
}

static void begin_lane(struct chooser *c, uint32_t l)
{
    const struct ab_lane_ops *ops = &c->b->lanes[l];
    struct lane_walk *lane = &c->lanes[l];
    uint32_t end;
    tape_lane_span(c->b, c->p, l, &lane->at, &end);
    lane->crest = first_crest(ops, lane->at);
    lane->last = NO_RECORD;
    lane->begin = lane->crest == 0 ? ops->begin_level : ops->crests[lane->crest - 1].level;
    lane->most = lane->begin;
    for (size_t i = lane->crest; i < ops->n_crests && lane->at < end; i++) {
        lane->most = ops->crests[i].most > lane->most ? ops->crests[i].most : lane->most;
        if (ops->crests[i].end >= end)
            break;
    }
}

/* Adds the lane's next `n` ops to a record. */
static void walk_ops(struct chooser *c, uint32_t l, uint32_t n, struct record *r)
{
    const struct ab_lane_ops *ops = &c->b->lanes[l];
    struct lane_walk *lane = &c->lanes[l];
    uint32_t end = lane->at + n;
    for (;;) {
        const struct ab_crest *crest = &ops->crests[lane->crest];
        r->most = crest->most > r->most ? crest->most : r->most;
        /* within a crest the level is at most the crest's peak */
        r->level = crest->end <= end ? crest->level : crest->most;
        if (crest->end > end)
            break;
        lane->crest++;
        if (crest->end == end)
            break;
    }
    lane->at = end;
}

/* ---- records ---- */

static struct record *record_of(struct chooser *c, struct group *g, uint32_t l, uint32_t frame)
{
    struct lane_walk *lane = &c->lanes[l];
    if (lane->last != NO_RECORD && g->records[lane->last].frame == frame)
        return &g->records[lane->last];
    int64_t level = lane->last != NO_RECORD ? g->records[lane->last].level : lane->begin;
    AB_GROW(g->records, g->cap, g->n);
    lane->last = (uint32_t)g->n;
    g->records[g->n] = (struct record){frame, (uint16_t)l, level, level};
    return &g->records[g->n++];
}

/* Creates all records of the phase, in frames of FRAME_LEAST. */
static void make_records(struct chooser *c)
{
    const struct ab_phase *phase = &c->b->tape.phases[c->p];
    for (uint32_t l = 0; l < c->b->n_lanes; l++)
        begin_lane(c, l);
    for (uint32_t t = phase->turns_begin; t < phase->turns_end; t++) {
        uint32_t lane = c->b->tape.turns[t].lane, left = c->b->tape.turns[t].n;
        struct group *g = &c->groups[c->window->group[lane]];
        while (left > 0) {
            uint32_t room = FRAME_LEAST - (uint32_t)(g->clock % FRAME_LEAST);
            uint32_t n = left < room ? left : room;
            struct record *r = record_of(c, g, lane, (uint32_t)(g->clock / FRAME_LEAST));
            walk_ops(c, lane, n, r);
            g->clock += n;
            left -= n;
        }
    }
}

/* Merges each pair of frames into one. */
static void double_frames(struct chooser *c, struct group *g)
{
    size_t n = 0;
    for (uint32_t l = 0; l < c->b->n_lanes; l++)
        c->lanes[l].last = NO_RECORD;
    for (size_t i = 0; i < g->n; i++) {
        struct record r = g->records[i];
        uint32_t *last = &c->lanes[r.lane].last;
        r.frame /= 2;
        if (*last != NO_RECORD && g->records[*last].frame == r.frame) {
            struct record *into = &g->records[*last];
            into->most = r.most > into->most ? r.most : into->most;
            into->level = r.level;
        } else {
            *last = (uint32_t)n;
            g->records[n++] = r;
        }
    }
    g->n = n;
}

/* ---- the bound ---- */

/* Upper bound of the memory that each lane of the group holds while all lanes are in frames f − 1
 * and f. */
struct holding {
    int64_t sum;
    int64_t of[AB_LANES_MAX];
};

static void hold(struct holding *h, uint32_t lane, int64_t level)
{
    h->sum += level - h->of[lane];
    h->of[lane] = level;
}

/* Sets the holding of the lanes that had ops in [begin, end), to their level or their highest
 * level. */
static void settle(struct holding *h, const struct record *records, size_t begin, size_t end,
                   bool is_level)
{
    for (size_t i = begin; i < end; i++)
        hold(h, records[i].lane, is_level ? records[i].level : records[i].most);
}

static int64_t worst_of(const struct chooser *c, uint32_t group)
{
    const struct group *g = &c->groups[group];
    struct holding h = {0};
    size_t before = 0, last = 0; /* first record of frame f − 2, and of frame f − 1 */
    int64_t worst;
    for (uint32_t l = 0; l < c->b->n_lanes; l++)
        if (c->window->group[l] == group)
            hold(&h, l, c->lanes[l].begin);
    worst = h.sum;
    for (size_t i = 0; i < g->n;) {
        uint32_t frame = g->records[i].frame;
        size_t end = i;
        settle(&h, g->records, before, last, true);
        settle(&h, g->records, last, i, false);
        if (i > 0 && g->records[i - 1].frame + 1 < frame) { /* no lane had ops in frame f − 1 */
            settle(&h, g->records, last, i, true);
            last = i;
        }
        for (; end < g->n && g->records[end].frame == frame; end++) {
            const struct record *r = &g->records[end];
            if (h.of[r->lane] < r->most)
                hold(&h, r->lane, r->most);
        }
        worst = h.sum > worst ? h.sum : worst;
        before = last;
        last = i;
        i = end;
    }
    return worst;
}

/* ---- groups ---- */

/* Puts lanes that share a block, directly or through others, into one group. */
static void group_by_edges(const struct ab_tape_builder *b, const struct ab_edge *edges, size_t n,
                           struct ab_tape_window *w)
{
    for (uint32_t l = 0; l < b->n_lanes; l++)
        w->group[l] = (uint16_t)l;
    w->n_groups = b->n_lanes;
    for (size_t i = 0; i < n && w->n_groups > 1; i++) {
        uint16_t kept = w->group[edges[i].from_lane], gone = w->group[edges[i].to_lane];
        if (kept == gone)
            continue;
        for (uint32_t l = 0; l < b->n_lanes; l++)
            if (w->group[l] == gone)
                w->group[l] = kept;
        w->n_groups--;
    }
}

static bool is_alone(const struct chooser *c, uint32_t group)
{
    uint32_t n = 0;
    for (uint32_t l = 0; l < c->b->n_lanes; l++)
        n += c->window->group[l] == group;
    return n < 2;
}

/* Returns the sum over all groups, each of which is bound only within itself. A single lane runs
 * free. */
static int64_t worst_of_all(const struct chooser *c)
{
    int64_t sum = 0;
    for (uint32_t l = 0; l < c->b->n_lanes; l++)
        sum += is_alone(c, c->window->group[l]) ? c->lanes[l].most : 0;
    for (uint32_t g = 0; g < c->b->n_lanes; g++)
        sum += is_alone(c, g) ? 0 : worst_of(c, g);
    return sum;
}

/* Finds the widest frame that keeps the bound, or that is as good as the narrowest. */
static void fit_frame(const struct ab_tape_builder *b, uint32_t p, int64_t bound,
                      struct ab_tape_window *w)
{
    struct chooser *c = ab_alloc_zeroed(1, sizeof *c);
    struct group *groups = ab_alloc_zeroed(b->n_lanes, sizeof groups[0]);
    *c = (struct chooser){.b = b, .p = p, .window = w, .groups = groups};
    make_records(c);
    w->worst = worst_of_all(c);
    bound = w->worst > bound ? w->worst : bound;
    w->frame_ops = FRAME_LEAST;
    while (w->frame_ops < UINT32_MAX / 4) {
        for (uint32_t g = 0; g < b->n_lanes; g++)
            double_frames(c, &groups[g]);
        int64_t worst = worst_of_all(c);
        if (worst > bound)
            break;
        w->worst = worst;
        w->frame_ops *= 2;
    }
    for (uint32_t g = 0; g < b->n_lanes; g++)
        free(groups[g].records);
    free(groups);
    free(c);
}

static int64_t worst_without(const struct ab_tape_builder *b, uint32_t p)
{
    struct chooser *c = ab_alloc_zeroed(1, sizeof *c);
    int64_t sum = 0;
    c->b = b;
    c->p = p;
    for (uint32_t l = 0; l < b->n_lanes; l++) {
        begin_lane(c, l);
        sum += c->lanes[l].most;
    }
    free(c);
    return sum;
}

void ab_tape_choose_window(const struct ab_tape_builder *b, uint32_t p, const struct ab_edge *edges,
                           size_t n_edges, struct ab_tape_window *w)
{
    int64_t peak = (int64_t)b->peaks[p], spare = (int64_t)b->n_lanes * AB_WINDOW_SPARE;
    int64_t bound = peak + (peak / 10 > spare ? peak / 10 : spare);
    w->frame_ops = 0;
    group_by_edges(b, edges, n_edges, w);
    if ((w->worst = worst_without(b, p)) <= bound)
        return;
    if (w->n_groups < b->n_lanes)
        fit_frame(b, p, bound, w);
    if (w->frame_ops != 0 && w->worst <= bound)
        return;
    memset(w->group, 0, sizeof w->group);
    w->n_groups = 1;
    fit_frame(b, p, bound, w);
}

static void begin_phase(struct layout *l, uint32_t p)
{
    struct ab_tape_builder *b = l->b;
    for (uint32_t i = 0; i < b->n_lanes; i++) {
        struct lane_plan *lane = &l->lanes[i];
        tape_lane_span(b, p, i, &lane->begin, &lane->end);
        lane->n_frames = lane->n_publishes = 0;
        lane->next_edge = lane->end_edge = 0;
    }
    forbid_resets(l, p);
}

/* Chooses the window of a phase. A requested window binds all lanes; a chosen one only the
 * necessary lanes. */
static void plan_window(struct layout *l, uint32_t p, const struct ab_edge *edges, size_t n_edges)
{
    struct ab_tape_builder *b = l->b;
    struct ab_tape_window *w = &l->window;
    bool is_wanted = b->is_window_always || n_edges > 0;
    uint32_t n_lanes[AB_LANES_MAX] = {0};
    *w = (struct ab_tape_window){.n_groups = 1};
    if (b->window != AB_WINDOW_AUTO)
        w->frame_ops = is_wanted ? b->window / 2 : 0;
    else if (is_wanted)
        ab_tape_choose_window(b, p, edges, n_edges, w);
    for (uint32_t i = 0; i < b->n_lanes; i++)
        n_lanes[w->group[i]] += l->lanes[i].end > l->lanes[i].begin;
    for (uint32_t i = 0; i < b->n_lanes; i++)
        l->lanes[i].is_bound = n_lanes[w->group[i]] > 1;
    if (w->frame_ops != 0)
        plan_frames(l, &b->tape.phases[p]);
}

/* Records the narrowest window of all phases as that of the tape. */
static void note_window(struct layout *l)
{
    struct ab_tape *tape = &l->b->tape;
    bool has_frames = false;
    for (uint32_t i = 0; i < l->b->n_lanes; i++)
        has_frames = has_frames || l->lanes[i].n_frames > 0;
    if (l->b->window == AB_WINDOW_AUTO && has_frames &&
        (tape->window == 0 || l->window.frame_ops < tape->window / 2))
        tape->window = 2 * l->window.frame_ops;
}

/* Lays out a phase. `*edge` is the first of its edges, and afterwards the first of the next
 * phase's. */
static bool lay_phase(struct layout *l, uint32_t p, size_t *edge)
{
    struct ab_tape_builder *b = l->b;
    struct ab_phase *phase = &b->tape.phases[p];
    size_t first = *edge;
    while (*edge < b->n_edges && b->edges[*edge].phase == p)
        (*edge)++;
    begin_phase(l, p);
    struct ab_edge *edges = *edge == first ? NULL : b->edges + first;
    phase->begin = b->tape.n_ops;
    plan_window(l, p, edges, *edge - first);
    plan_edges(l, edges, *edge - first);
    note_window(l);
    for (uint32_t i = 0; i < b->n_lanes; i++) {
        b->tape.lane_begin[p * b->n_lanes + i] = b->tape.n_ops;
        begin_places(b, p, i);
        if (!put_lane(l, p, i))
            return false;
        if (phase->n_ops[AB_OP_RESET] > 0)
            forbid_guarded_releases(&b->tape, phase, b->tape.lane_begin[p * b->n_lanes + i]);
    }
    phase->end = b->tape.n_ops;
    return true;
}

/* Lays out the places of a single lane, whose ops stay where they were pushed. */
static void keep_places(struct ab_tape_builder *b)
{
    for (uint32_t p = 0; p < b->tape.n_phases; p++) {
        const struct ab_phase *phase = &b->tape.phases[p];
        begin_places(b, p, 0);
        for (unsigned kind = 0; kind < AB_PLACE_KINDS; kind++) {
            struct ab_lane_places *from = &b->lanes[0].places[kind];
            while (from->next < from->n && from->items[from->next].phase == p) {
                uint32_t op = from->items[from->next].op;
                lay_places(b, 0, p, op, op, op == phase->end);
            }
        }
    }
}

/* Uses the stream of a single lane as the tape, without copying. */
static void adopt_only_lane(struct ab_tape_builder *b)
{
    struct ab_tape *tape = &b->tape;
    tape->ops = b->lanes[0].ops;
    tape->n_ops = (uint32_t)b->lanes[0].n;
    b->cap_ops = b->lanes[0].cap;
    b->lanes[0].ops = NULL;
    b->lanes[0].n = b->lanes[0].cap = 0;
    for (uint32_t p = 0; p < tape->n_phases; p++) {
        struct ab_phase *phase = &tape->phases[p];
        phase->begin = tape->lane_begin[p] = b->starts[(size_t)p * AB_LANES_MAX];
        phase->end = p + 1 < tape->n_phases ? b->starts[((size_t)p + 1) * AB_LANES_MAX]
                                            : tape->n_ops;
        phase->turns_begin = phase->turns_end = 0;
    }
    tape->n_turns = 0;
}

static bool lay_lanes(struct ab_tape_builder *b)
{
    struct layout l = {.b = b, .lanes = ab_alloc_zeroed(b->n_lanes, sizeof *l.lanes)};
    size_t edge = 0;
    bool ok = true;
    b->tape.window = b->window != AB_WINDOW_AUTO ? b->window & ~1u : 0;
    for (uint32_t i = 0; i < b->n_lanes; i++)
        ab_tape_end_crest(&b->lanes[i]);
    for (uint32_t p = 0; p < b->tape.n_phases && ok; p++)
        ok = lay_phase(&l, p, &edge);
    for (uint32_t i = 0; i < b->n_lanes; i++) {
        free(l.lanes[i].frames);
        free(l.lanes[i].publishes);
    }
    free(l.lanes);
    return ok;
}

/* Sets only_code if all ops of the phase have it. The search ends at the first op of another
 * kind. */
static void note_only_code(const struct ab_tape *tape, struct ab_phase *phase)
{
    unsigned code = phase->begin < phase->end ? AB_OP_CODE(tape->ops[phase->begin]) : 0;
    if ((code & ~(unsigned)AB_CODE_TOUCHED) != AB_CODE_ALLOC)
        code = 0;
    for (uint32_t i = phase->begin; i < phase->end && code != 0; i++)
        if (AB_OP_CODE(tape->ops[i]) != code)
            code = 0;
    phase->only_code = (uint8_t)code;
}

enum ab_status ab_tape_lay_down(struct ab_tape_builder *b, struct ab_err *err)
{
    struct ab_tape *tape = &b->tape;
    size_t n_begins = (size_t)tape->n_phases * b->n_lanes + 1;
    AB_GROW(tape->lane_begin, b->cap_lane_begin, n_begins - 1);
    if (b->n_lanes == 1) {
        adopt_only_lane(b);
        keep_places(b);
    } else if (!lay_lanes(b)) {
        return ab_fail(err, AB_SYSTEM, "more than %u ops in one tape", AB_TAPE_MAX_OPS);
    }
    begin_places(b, tape->n_phases, 0);
    tape->lane_begin[tape->n_phases * b->n_lanes] = tape->n_ops;
    ab_tape_place(tape, tape->steps, sizeof tape->steps[0], tape->n_steps);
    for (uint32_t p = 0; p < tape->n_phases; p++)
        note_only_code(tape, &tape->phases[p]);
    for (unsigned i = 0; i < AB_TAPE_PAD; i++)
        tape->ops[tape->n_ops + i] = 0; /* pushing and putting reserved the space */
    return AB_OK;
}
