/* SPDX-License-Identifier: MIT
 *
 * Lanes on threads. They start before the heap opens, and meet at the beginning and the end of each
 * phase. Within a phase, only the WAITs of the tape bind them to each other; tape/layout.c says why
 * these cannot hang. Lane 0 is the worker's first thread.
 */
#ifndef AB_WORKER_LANES_H
#define AB_WORKER_LANES_H

#include "worker/memory.h"
#include "worker/meters.h"
#include "worker/worker.h"

#include <pthread.h>

/* Maps the lanes and starts the threads of lanes 1 …, which wait for ab_lanes_run. With one lane,
 * no thread is started and no barrier ever waits. The pre-flight starts none either, because lane 0
 * runs all ops there. */
void ab_lanes_open(struct ab_worker *w);
/* Runs `pass` in all lanes and adds up their reports in the run page. With is_heap, `face` is a
 * struct ab_heap_face, and each lane enters the heap and gets its own copy of the face. */
void ab_lanes_run(struct ab_worker *w, ab_lane_pass *pass, void *face, bool is_heap);

/* ---- called from a pass ---- */
void ab_lane_begin_phase(struct ab_lane *lane, uint32_t phase);
void ab_lane_end_phase(struct ab_lane *lane, uint32_t phase);
/* Carries out a WAIT of the tape, given the slot (tape/op.h) and the operand of the op. */
void ab_lane_await(struct ab_lane *lane, uint32_t slot, uint32_t operand);
/* Updates the number of live blocks of all lanes, after an op of `kind` (-1: none), or after a
 * reset that spared n_spared frees. */
void ab_lane_count_live(int kind, uint32_t n_spared);
void ab_lane_take_turn(struct ab_lane *lane, uint32_t turn);
void ab_lane_end_turn(struct ab_lane *lane, uint32_t phase, uint32_t turn);
/* True if all ops of the phase are in other bursts. Then the cost of beginning and ending the phase
 * in this burst is not counted. */
static inline bool ab_lane_passes_over(const struct ab_worker *w, uint32_t phase)
{
    return w->image->n_bursts > 1 && w->phases[phase].begin == w->phases[phase].end;
}
/* Begins the next burst, which replaces the current one in memory. Called in every lane after the
 * last phase of a burst. Returns false after the last burst. */
bool ab_lanes_next_burst(struct ab_lane *lane);
/* True if an allocation returned NULL in some lane. Called between two phases, where all lanes get
 * the same answer. */
bool ab_lanes_have_failed(const struct ab_worker *w);
/* True if most of the ops [begin, end) are plain allocations in a row; looks only at the first
 * 4096. Depends only on the work, so all back ends get the same answer. */
bool ab_lane_is_in_rows(const struct ab_lane *lane, uint32_t begin, uint32_t end);

/* Iterator over the global order of one phase, one stretch of a lane's ops after the other. */
struct ab_order {
    const struct ab_worker *w;
    uint32_t phase, lane, turn; /* `lane` and `turn` are those of the stretch returned last */
    uint32_t next;
    uint32_t at[AB_LANES_MAX];
};

/* State that a thread of a lane hands to the thread that takes the lane over in the middle of a
 * phase. The loops stop before the op at thread_ends[next] and note the position; lanes.c does the
 * rest. */
struct ab_handover {
    /* True if the current thread must end, or if the next one has taken over and must go on. */
    bool is_due;
    bool has_before; /* True if `before` is a thread that has ended and must be joined. */
    pthread_t before;
    uint32_t phase; /* the running phase */
    /* indices in w->thread_ends: [next, last) are the lane's ends that are still to come */
    uint32_t next, last;
    uint32_t at, end;             /* the ops [at, end) that remain of the stretch */
    struct ab_thread_stack stack; /* stack of the previous thread; memory pass only */
    uint64_t ended_tick;          /* tick at which the previous thread ended */
    struct ab_phase_meter meter;
    struct ab_order order; /* place in the global order; only in strict order */
};

void ab_order_begin(struct ab_order *order, const struct ab_worker *w, uint32_t phase);

/* Sets *begin and *end to the next ops of order->lane, including the WAITs and PUBLISHes that guard
 * them. Returns false after the last stretch. */
bool ab_order_next(struct ab_order *order, uint32_t *begin, uint32_t *end);

#endif
