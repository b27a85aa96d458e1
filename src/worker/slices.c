/* SPDX-License-Identifier: MIT
 *
 * Times slices of the tape (struct ab_slice), reads the canary between them, and waits until the
 * machine is quiet.
 */
#include "worker/slices.h"

#include "base/clock.h"
#include "worker/preemption.h"

/* time between two readings of the CPU time, as a multiple of look_ticks: about a millisecond */
enum { LOOK_TIMES = 200 };

static struct {
    uint64_t left;      /* tick at which the last slice ended, or the phase began */
    uint64_t outside;   /* ticks of the phase that are in no slice */
    uint64_t canary;    /* part of `outside` in which the canary used the CPU */
    uint64_t in_slices; /* ticks of all slices in the run */
    uint64_t apart;     /* lane->apart_ticks when the slice began */
    /* canary reading of a quiet machine: that of the request, else the lowest so far */
    uint16_t quiet;
    uint16_t last;        /* canary reading since the last slice; 0 = none */
    uint64_t n_gaps;      /* report.slices.n_gaps when the CPU time was last read */
    uint32_t n_preempted; /* the lane's n_preempted when the slice began */
} state;

bool ab_slices_are_on(const struct ab_worker *w, uint32_t phase)
{
    return w->page->request.slices.cap > 0 && w->phases[phase].is_measured;
}

static uint16_t read_canary(struct ab_worker *w)
{
    uint16_t reading = ab_canary_read();
    const struct ab_slice_request *request = &w->page->request.slices;
    if (request->quiet != 0)
        state.quiet = request->quiet;
    else if (state.quiet == 0 || reading < state.quiet)
        state.quiet = reading;
    bool is_gap = reading >= ab_canary_gap(state.quiet);
    w->page->report.slices.n_gaps += is_gap;
    state.canary += is_gap ? state.quiet : reading;
    return reading;
}

/* True if there is time left to wait for a quiet machine. */
static bool may_wait(const struct ab_worker *w)
{
    const struct ab_slice_request *r = &w->page->request.slices;
    uint64_t waited = w->page->report.slices.waited_ticks;
    return waited < r->wait_max_ticks &&
           waited < state.in_slices * r->wait_times + r->wait_max_ticks / 1024;
}

static uint16_t wait_for_quiet(struct ab_worker *w, uint16_t reading)
{
    while (reading > ab_canary_limit(state.quiet) && may_wait(w)) {
        uint64_t begin = ab_tick_begin();
        reading = read_canary(w);
        w->page->report.slices.waited_ticks += ab_tick_end() - begin;
    }
    return reading;
}

void ab_slices_begin(uint64_t tick)
{
    state.left = tick;
    state.outside = state.canary = 0;
    state.last = 0;
}

/* In the latency pass, reads the CPU time anew. Otherwise preemption between slices would count for
 * an op, and the kernel's CPU time would drift against the clock. Does so not at every slice,
 * because a system call disturbs the caches. */
static void look_anew(struct ab_lane *lane, uint64_t tick)
{
    uint64_t n_gaps = lane->w->page->report.slices.n_gaps;
    if (lane->w->page->request.pass == AB_PASS_LATENCY &&
        (n_gaps != state.n_gaps || tick - lane->looked_tick >= LOOK_TIMES * lane->look_ticks))
        ab_preemption_look(lane);
    state.n_gaps = n_gaps;
    state.n_preempted = lane->n_preempted;
}

uint64_t ab_slice_begin(struct ab_lane *lane)
{
    struct ab_worker *w = lane->w;
    state.last = wait_for_quiet(w, state.last != 0 ? state.last : read_canary(w));
    look_anew(lane, ab_tick_end());
    uint64_t begin = ab_tick_begin();
    lane->chain = begin;
    state.apart = lane->apart_ticks;
    state.outside += begin - state.left;
    return begin;
}

void ab_slice_end(struct ab_lane *lane, uint32_t phase, bool is_empty, uint64_t begin)
{
    struct ab_worker *w = lane->w;
    struct ab_slice_report *report = &w->page->report.slices;
    const struct ab_slice_request *request = &w->page->request.slices;
    struct ab_slice *slices = (struct ab_slice *)(void *)((char *)w->page + request->offset);
    state.left = ab_tick_end();
    uint64_t took = state.left - begin - (lane->apart_ticks - state.apart);
    struct ab_slice slice = {.ticks = is_empty ? 0 : took,
                             .before = state.last,
                             .phase = phase,
                             .samples_end = lane->sample,
                             .n_preempted = lane->n_preempted - state.n_preempted};
    state.in_slices += took;
    slice.after = state.last = read_canary(w);
    if (report->n < request->cap)
        slices[report->n++] = slice;
}

void ab_slices_end(struct ab_phase_report *report)
{
    uint64_t outside = state.outside + (report->end_tick - state.left);
    report->outside_ticks += outside;
    report->path_ticks += outside;
    report->canary_ticks += state.canary;
}
