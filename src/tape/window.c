/* SPDX-License-Identifier: MIT
 *
 * Chooses the window of a phase: which lanes it binds to each other, and the widest frame that
 * keeps the live bytes near those that were recorded.
 */
#include "tape/window.h"

#include "base/search.h"
#include "core/grow.h"
#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

enum { FRAME_LEAST = AB_WINDOW_LEAST / 2, NO_RECORD = UINT32_MAX };

struct record { /* of a lane in a frame in which it has ops */
    uint32_t frame;
    uint16_t lane;
    int64_t most, level; /* highest in it, at its end */
};

struct group {
    struct record *records; /* by frame */
    size_t n, cap;
    uint64_t clock; /* ops of its lanes so far */
};

struct lane_walk {
    uint32_t at;   /* ops before it are behind */
    size_t crest;  /* that covers it */
    uint32_t last; /* record, NO_RECORD = none */
    int64_t begin; /* level before the phase */
    int64_t most;  /* highest in the phase */
};

struct chooser {
    const struct ab_tape_builder *b;
    uint32_t p;
    const struct ab_tape_window *window; /* its groups */
    struct group *groups;
    struct lane_walk lanes[AB_LANES_MAX];
};

void ab_tape_lane_span(const struct ab_tape_builder *b, uint32_t p, uint32_t lane, uint32_t *begin,
                       uint32_t *end)
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
    ab_tape_lane_span(c->b, c->p, l, &lane->at, &end);
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

/* The lane's next `n` ops as part of a record. */
static void walk_ops(struct chooser *c, uint32_t l, uint32_t n, struct record *r)
{
    const struct ab_lane_ops *ops = &c->b->lanes[l];
    struct lane_walk *lane = &c->lanes[l];
    uint32_t end = lane->at + n;
    for (;;) {
        const struct ab_crest *crest = &ops->crests[lane->crest];
        r->most = crest->most > r->most ? crest->most : r->most;
        r->level = crest->end <= end ? crest->level : crest->most; /* inside: at most that */
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

/* All records of the phase, in frames of FRAME_LEAST. */
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

/* Two frames become one. */
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

/* What each lane of the group holds at most while all are in frames f − 1 and f. */
struct holding {
    int64_t sum;
    int64_t of[AB_LANES_MAX];
};

static void hold(struct holding *h, uint32_t lane, int64_t level)
{
    h->sum += level - h->of[lane];
    h->of[lane] = level;
}

/* Lanes that had ops in [begin, end), but have none later, hold what they had then. */
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
    size_t before = 0, last = 0; /* records of frames f − 2 and f − 1 begin here */
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
        if (i > 0 && g->records[i - 1].frame + 1 < frame) { /* nobody had ops in frame f − 1 */
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

/* Lanes that share a block, directly or through others, are one group. */
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

/* Over all groups, each bound to nothing but itself. A lane alone runs free. */
static int64_t worst_of_all(const struct chooser *c)
{
    int64_t sum = 0;
    for (uint32_t l = 0; l < c->b->n_lanes; l++)
        sum += is_alone(c, c->window->group[l]) ? c->lanes[l].most : 0;
    for (uint32_t g = 0; g < c->b->n_lanes; g++)
        sum += is_alone(c, g) ? 0 : worst_of(c, g);
    return sum;
}

/* The widest frame that keeps the bound, or keeps it as well as the narrowest. */
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
