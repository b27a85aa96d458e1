/* SPDX-License-Identifier: MIT
 *
 * Lanes on threads: started before the heap opens, together at the beginning and the end of each
 * phase, and within a phase bound to each other only by the WAITs of the tape (tape/layout.c says
 * why these cannot hang). Lane 0 is the worker's first thread.
 */
#ifndef AB_WORKER_LANES_H
#define AB_WORKER_LANES_H

#include "worker/memory.h"
#include "worker/meters.h"
#include "worker/worker.h"

#include <pthread.h>

/* Maps the lanes and starts the threads of lanes 1 …, which wait for ab_lanes_run. With one lane
 * there is no thread and no barrier ever waits; nor in the pre-flight, where lane 0 does it all. */
void ab_lanes_open(struct ab_worker *w);
/* Runs `pass` in all lanes and puts their reports together in the run block. The face is copied to
 * each lane; with is_heap, lanes enter it as their own first. */
void ab_lanes_run(struct ab_worker *w, ab_lane_pass *pass, void *face, bool is_heap);

/* In a pass. */
void ab_lane_begin_phase(struct ab_lane *lane, uint32_t phase);
void ab_lane_end_phase(struct ab_lane *lane, uint32_t phase);
/* What a WAIT of the tape says: its slot (tape/op.h) and its operand. */
void ab_lane_await(struct ab_lane *lane, uint32_t slot, uint32_t operand);
/* After an op of the kind (-1: none), or a reset that spared frees. */
void ab_lane_count_live(int kind, uint32_t n_spared);
void ab_lane_take_turn(struct ab_lane *lane, uint32_t turn);
void ab_lane_end_turn(struct ab_lane *lane, uint32_t phase, uint32_t turn);
/* The phase has all its ops in other bursts: what beginning and ending it takes is in none of them. */
static inline bool ab_lane_passes_over(const struct ab_worker *w, uint32_t phase)
{
    return w->image->n_bursts > 1 && w->phases[phase].begin == w->phases[phase].end;
}
/* After the last phase of a burst, in every lane: false after the last burst. Else another one
 * lies in the place of this one. */
bool ab_lanes_next_burst(struct ab_lane *lane);
/* An allocation gave NULL in some lane. The same answer for all lanes between two phases. */
bool ab_lanes_have_failed(const struct ab_worker *w);
/* Are most of the ops [begin, end), going by the first of them, plain allocations after each other?
 * A question about the work, so all back ends get the same answer. */
bool ab_lane_is_in_rows(const struct ab_lane *lane, uint32_t begin, uint32_t end);
/* The first sample at or after a position in the burst. */
uint32_t ab_lane_first_sample(const struct ab_worker *w, uint32_t position);

/* The global order of one phase, stretch by stretch. */
struct ab_order {
    const struct ab_worker *w;
    uint32_t phase, lane, turn; /* of the stretch that was given last */
    uint32_t next;
    uint32_t at[AB_LANES_MAX];
};

/* What one thread of a lane leaves to the next one, in the middle of a phase. The loops stop before
 * the op at thread_ends[next] and say where; lanes.c does the rest. */
struct ab_handover {
    bool is_due;     /* the thread is to end, or another one has taken over and is to go on */
    bool has_before; /* a thread that has ended and is waited for */
    pthread_t before;
    uint32_t phase;               /* that runs */
    uint32_t next, last;          /* ends of the lane's threads to come: of w->thread_ends */
    uint32_t at, end;             /* ops of its stretch that are to be done */
    struct ab_thread_stack stack; /* of the last thread, in the memory pass */
    uint64_t ended_tick;          /* of the last thread */
    struct ab_phase_meter meter;
    struct ab_order order; /* in strict order */
};

void ab_order_begin(struct ab_order *order, const struct ab_worker *w, uint32_t phase);

/* Ops [begin, end) of order->lane, what guards them included. False after the last. */
bool ab_order_next(struct ab_order *order, uint32_t *begin, uint32_t *end);

#endif
