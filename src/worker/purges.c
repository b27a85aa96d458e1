/* SPDX-License-Identifier: MIT
 *
 * Periodic purges: the library gives memory back after each period of the work's time, as services
 * do. A purge is called before the first op that begins after a period has passed, in the thread of
 * that op. This is the same op in each pass. If several periods pass without an op, one call is
 * made. In the memory pass, where time passes, memory_time.c makes the call at each period.
 */
#include "worker/lanes.h"
#include "worker/memory.h"
#include "worker/worker.h"

#include "base/clock.h"

struct ab_purges {
    struct ab_introspect library;
    uint32_t n;      /* purges in the whole tape */
    uint32_t n_here; /* purges in the current burst */
    struct due {
        /* op: index in the burst of the op before which the purge is due; next: index of the lane's
         * next entry, 0 = none */
        uint32_t op, next;
    } due[]; /* indices begin at 1 */
};

/* Returns the position of the next time step, from index *at on, at which another period has
 * passed; UINT32_MAX = none. *n_passed counts the periods so far. */
static uint32_t next_due(const struct ab_worker *w, uint32_t *at, uint64_t *n_passed)
{
    const struct ab_time_step *steps = ab_tape_steps(w->image);
    for (; *at < w->image->n_steps; ++*at) {
        uint64_t n = steps[*at].time_ns / w->page->request.purge_ns;
        if (n == *n_passed)
            continue;
        *n_passed = n;
        return steps[(*at)++].position;
    }
    return UINT32_MAX;
}

void ab_purges_open(struct ab_worker *w, const void *malloc_function)
{
    struct ab_introspect library;
    uint32_t n = 0, at = 0;
    uint64_t n_passed = 0;
    unsigned pass = w->page->request.pass;
    if (w->page->request.purge_ns == 0 || pass == AB_PASS_VERIFY || pass == AB_PASS_CHECK)
        return;
    ab_introspect_malloc(&library, malloc_function);
    if (library.purge == NULL)
        ab_worker_fail(w, AB_FAILURE_LIBRARY,
                       "has no function that gives memory back, so purge= cannot be asked of it",
                       NULL);
    if (pass == AB_PASS_MEMORY)
        return;
    while (next_due(w, &at, &n_passed) != UINT32_MAX)
        n++;
    struct ab_purges *r = ab_worker_map(w, sizeof *r + (n + 1) * sizeof r->due[0], "purges");
    r->library = library;
    r->n = n;
    w->purges = r;
}

struct walk { /* state of a walk over a burst in the common order of the lanes */
    /* at: next time step; due: position of the next purge; position: position of the walk */
    uint32_t at, due, position;
    uint64_t n_passed;
    uint32_t last[AB_LANES_MAX]; /* last entry of due[] for each lane; 0 = none */
};

/* Moves the walk over a lane's ops [begin, end), and notes the purges that are due before one of
 * them. */
static void note_stretch(struct ab_worker *w, struct walk *x, uint32_t lane, uint32_t begin,
                         uint32_t end)
{
    struct ab_purges *r = w->purges;
    uint32_t length = end - begin;
    for (; x->due < x->position + length && r->n_here < r->n;
         x->due = next_due(w, &x->at, &x->n_passed)) {
        uint32_t i = ++r->n_here, op = begin + (x->due - x->position);
        r->due[i].op = op;
        r->due[i].next = 0;
        if (x->last[lane] != 0) {
            r->due[x->last[lane]].next = i;
        } else {
            w->lanes[lane].purge = i;
            w->lanes[lane].purge_at = op;
        }
        x->last[lane] = i;
    }
    x->position += length;
}

void ab_purges_enter_burst(struct ab_worker *w)
{
    struct ab_order order;
    struct walk x = {.position = w->first};
    uint32_t begin, end;
    if (w->purges == NULL)
        return;
    w->purges->n_here = 0;
    for (uint32_t l = 0; l < w->image->n_lanes; l++)
        w->lanes[l].purge_at = UINT32_MAX;
    do
        x.due = next_due(w, &x.at, &x.n_passed);
    while (x.due < w->first);
    for (uint32_t p = 0; p < w->image->n_phases; p++) {
        ab_order_begin(&order, w, p);
        while (ab_order_next(&order, &begin, &end))
            note_stretch(w, &x, order.lane, begin, end);
    }
}

void ab_purges_call(struct ab_lane *lane)
{
    const struct ab_purges *r = lane->w->purges;
    ab_introspect_purge(&r->library);
    lane->purge = r->due[lane->purge].next;
    lane->purge_at = lane->purge != 0 ? r->due[lane->purge].op : UINT32_MAX;
    lane->chain = ab_tick_end();
}
