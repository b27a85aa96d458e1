/* SPDX-License-Identifier: MIT
 *
 * The loops, included once for each call boundary (pass_malloc.c, pass_heap.c) with these macros
 * set:
 *
 *   FACE                  struct of function pointers
 *   FN(name)              name of a function of this instance
 *   CALL_ALLOC(f, n) CALL_FREE(f, ref, n) CALL_RESIZE(f, ref, old, n) CALL_ZEROED(f, n)
 *   CALL_ALIGNED(f, align, n)
 *                         the calls that are timed
 *   CALL_FREE_SIZED(f, ref, n, log2)
 *                         optional: free by size
 *   HAS_RESIZE(f) HAS_ZEROED(f) HAS_ALIGNED(f)
 *                         false: such ops are skipped, and the run is partial
 *   HAS_RESET(f) CALL_RESET(f)
 *                         false: blocks are freed singly
 *   MAY_RESET(f, lane, op)
 *                         optional: may this op be a bulk reset?
 *   MAY_RELEASE(f, lane, op) CALL_MARK(f, lane, op) CALL_RELEASE(f, lane, op)
 *                         save points
 *   ADDRESS(f, ref) HAS_USABLE(f) CALL_USABLE(f, ref)
 *                         address and usable size of a block. Handles have an instance of their
 *                         own, so that addresses are not tested for being handles
 *   CURSOR CURSOR_OF(f) CURSOR_ALLOC(c, n) CURSOR_END(f, c)
 *                         optional, for a compiled-in allocator: see allocs
 *
 * This is a macro template, because a shared loop would have to call through one boundary to reach
 * the other. Everything is always_inline with a constant `timing`, so each pass is a loop of its
 * own.
 */
#include "base/bits.h"
#include "base/clock.h"
#include "worker/aged_heap.h"
#include "worker/between.h"
#include "worker/block_walk.h"
#include "worker/lanes.h"
#include "worker/memory.h"
#include "worker/meters.h"
#include "worker/preemption.h"
#include "worker/slices.h"
#include "worker/touch.h"
#include "worker/wait.h"

#include "worker/pass_ops.h"

#define PREFETCH_DISTANCE 8 /* ≤ AB_TAPE_PAD */

INLINE void FN(prefetch)(const struct ab_slot *slots, const uint64_t *op)
{
    /* adding the code bits to the address does not leave the slot's cache line */
    __builtin_prefetch((const char *)slots + (uint32_t)op[PREFETCH_DISTANCE], 1);
}

#ifdef CURSOR
#define ALLOC_NEXT(f, cursor, size) FN(alloc_next)((f), &(cursor), (size))
/* Allocates through the cursor, which stays in registers from one allocation to the next, as it
 * does in a program's own loop. The allocator itself is called only when the cursor is used up. */
INLINE uintptr_t FN(alloc_next)(FACE *f, CURSOR *cursor, size_t size)
{
    uintptr_t ref = CURSOR_ALLOC(cursor, size);
    if (AB_LIKELY(ref != 0))
        return ref;
    CURSOR_END(f, cursor);
    ref = CALL_ALLOC(f, size);
    *cursor = CURSOR_OF(f);
    return ref;
}
#else
#define ALLOC_NEXT(f, cursor, size) CALL_ALLOC((f), (size))
#endif

#ifdef OBJECT
/* not for a compiled-in back end: a prefetch would take as long as the op itself */
#define PREFETCH_NEXT(slots, op) ((void)0)
#else
#define PREFETCH_NEXT(slots, op) FN(prefetch)((slots), (op))
#endif

/* Runs a row: plain allocations with the same code, one after the other. There is no dispatch
 * between them, so that the allocator is timed rather than the loop. Returns the index of the first
 * other op, as end[i] with i <= 0. */
INLINE ptrdiff_t FN(allocs)(struct ab_lane *lane, FACE *f, const uint64_t *end, ptrdiff_t i,
                            const unsigned code)
{
    char *slots = (char *)lane->slots;
#ifdef CURSOR
    CURSOR cursor = CURSOR_OF(f);
#endif
    do {
        PREFETCH_NEXT(lane->slots, &end[i]);
        /* Loads an op as two halves of 32 bits, because a load costs less than a shift. The low
         * half comes first, because both supported processors are little-endian. */
        const uint32_t *halves = (const uint32_t *)&end[i];
        uint64_t offset = (uint64_t)halves[0] - code;
        if (offset % sizeof(struct ab_slot) != 0)
            break;
        size_t size = halves[1];
        uintptr_t ref = ALLOC_NEXT(f, cursor, size);
        if (AB_LIKELY(FN(accept)(lane, (struct ab_slot *)(slots + offset), ref, size)) &&
            (code & AB_CODE_TOUCHED) != 0)
            ab_touch_first(ADDRESS(f, ref));
    } while (++i < 0);
#ifdef CURSOR
    CURSOR_END(f, &cursor);
#endif
    return i;
}

#ifdef OBJECT
#ifdef CURSOR
#define ROW_CURSOR CURSOR
#else
#define ROW_CURSOR char /* no cursor */
#endif

INLINE void FN(alloc_at)(struct ab_lane *lane, FACE *f, char *slots, const uint64_t *op,
                         ROW_CURSOR *cursor, const unsigned code)
{
    const uint32_t *halves = (const uint32_t *)op; /* the op as two halves, as in allocs() */
    struct ab_slot *slot = FN(slot)(slots + halves[0], code);
    size_t size = halves[1];
    uintptr_t ref = ALLOC_NEXT(f, *cursor, size);
    (void)cursor;
    if (AB_LIKELY(FN(accept)(lane, slot, ref, size)) && (code & AB_CODE_TOUCHED) != 0)
        ab_touch_first(ADDRESS(f, ref));
}

/* Runs a range of ops that are all plain allocations with the same code. No op has to be decoded,
 * and one loop count serves four ops, as in a loop that a compiler unrolls. */
INLINE void FN(allocs_alike)(struct ab_lane *lane, FACE *f, const uint64_t *op, const uint64_t *end,
                             const unsigned code)
{
    char *slots = (char *)lane->slots;
#ifdef CURSOR
    CURSOR cursor = CURSOR_OF(f);
#else
    char cursor = 0;
#endif
    const uint64_t *fours = end - (end - op) % 4;
    for (; op < fours; op += 4) {
        FN(alloc_at)(lane, f, slots, op, &cursor, code);
        FN(alloc_at)(lane, f, slots, op + 1, &cursor, code);
        FN(alloc_at)(lane, f, slots, op + 2, &cursor, code);
        FN(alloc_at)(lane, f, slots, op + 3, &cursor, code);
    }
    for (; op < end; op++)
        FN(alloc_at)(lane, f, slots, op, &cursor, code);
#ifdef CURSOR
    CURSOR_END(f, &cursor);
#endif
}

static __attribute__((noinline)) void FN(untimed_alike)(struct ab_lane *lane, FACE *f,
                                                        uint32_t begin, uint32_t stop)
{
    const uint64_t *op = lane->ops + begin, *end = lane->ops + stop;
    if (lane->only_code == AB_CODE_ALLOC)
        FN(allocs_alike)(lane, f, op, end, AB_CODE_ALLOC);
    else
        FN(allocs_alike)(lane, f, op, end, AB_CODE_ALLOC | AB_CODE_TOUCHED);
}
#endif

/* Runs a range of a phase that is full of rows of allocations. In other phases this loop costs more
 * than it saves. */
static __attribute__((noinline)) uint32_t FN(untimed_rows)(struct ab_lane *lane, FACE *f,
                                                           uint32_t begin, uint32_t stop)
{
    const uint64_t *end = lane->ops + stop;
    ptrdiff_t i = (ptrdiff_t)begin - (ptrdiff_t)stop;
    while (i < 0) {
        unsigned code = AB_OP_CODE(end[i]);
        FN(prefetch)(lane->slots, &end[i]);
        if (code == AB_CODE_ALLOC) {
            i = FN(allocs)(lane, f, end, i, AB_CODE_ALLOC);
        } else if (code == (AB_CODE_ALLOC | AB_CODE_TOUCHED)) {
            i = FN(allocs)(lane, f, end, i, AB_CODE_ALLOC | AB_CODE_TOUCHED);
        } else {
            if (FN(run_op)(lane, f, &end[i], lane->slots, UNTIMED))
                i += (ptrdiff_t)lane->n_spared;
            i++;
        }
    }
    return stop + (uint32_t)i;
}

static __attribute__((noinline)) uint32_t FN(untimed_mixed)(struct ab_lane *lane, FACE *f,
                                                            uint32_t begin, uint32_t stop)
{
    struct ab_slot *slots = lane->slots;
    const uint64_t *end = lane->ops + stop;
    __asm__("" : "+r"(end)); /* keeps `end` in a register, so that it is not computed for each op */
    /* the index counts up to 0, which saves one instruction */
    ptrdiff_t i = (ptrdiff_t)begin - (ptrdiff_t)stop;
    while (i < 0) {
        FN(prefetch)(slots, &end[i]);
        if (FN(run_op)(lane, f, &end[i], slots, UNTIMED))
            i += (ptrdiff_t)lane->n_spared;
        i++;
    }
    return stop + (uint32_t)i;
}

/* Runs the ops [begin, end) without timing each op. Returns the position after the last op; it is
 * after `end` if a reset skipped the ops there. */
INLINE uint32_t FN(untimed)(struct ab_lane *lane, FACE *f, uint32_t begin, uint32_t end)
{
#ifdef OBJECT
    if (lane->only_code != 0) {
        FN(untimed_alike)(lane, f, begin, end);
        return end;
    }
#endif
    return lane->is_in_rows ? FN(untimed_rows)(lane, f, begin, end)
                            : FN(untimed_mixed)(lane, f, begin, end);
}

/* Runs a range in chunks, and notes where each chunk begins, so that the parent knows roughly at
 * which op a crash happened. */
static uint32_t FN(untimed_range)(struct ab_lane *lane, FACE *f, uint32_t begin, uint32_t end)
{
    uint32_t i = begin;
    while (i < end) {
        uint32_t stop = end - i > lane->chunk_ops ? i + lane->chunk_ops : end;
        *lane->progress = i;
        lane->op = i;
        i = FN(untimed)(lane, f, i, stop);
    }
    return i;
}

/* Warms up the loop before a phase. The system calls before a phase evict the loop from the caches,
 * and a phase of one reset would measure how it is fetched. Runs two ops that do nothing, on a slot
 * of their own, and prefetches the first op of the phase. Touches nothing of the allocator's. */
static void FN(rehearse)(struct ab_lane *lane, FACE *f, uint32_t phase, uint32_t begin)
{
    static const uint64_t nothing[2 + PREFETCH_DISTANCE] = {
        AB_OP_MAKE(AB_CODE_TOUCH, 0, AB_TOUCH_NONE),
        AB_OP_MAKE(AB_CODE_RESET, 1, 0), /* 1: free singly, not in bulk; 0 blocks */
    };
    struct ab_slot none = {0}, *slots = lane->slots;
    const uint64_t *ops = lane->ops;
    lane->ops = nothing;
    lane->slots = &none;
    FN(untimed_range)(lane, f, 0, 2);
    lane->ops = ops;
    lane->slots = slots;
    (void)*(const volatile uint64_t *)&ops[begin];
    (void)*(const volatile bool *)&lane->w->phases[phase].is_measured;
    (void)*(const volatile unsigned *)&lane->w->page->request.pass;
}

/* Calls functions that disturb the caches, as a program does between two allocator calls
 * (AB_BETWEEN in wire/run_page.h). Then reads the block that the op frees or resizes. */
static __attribute__((noinline)) void FN(between)(const struct ab_lane *lane, FACE *f, uint64_t op,
                                                  uint32_t between)
{
    const struct ab_slot *slot = &lane->slots[AB_OP_SLOT(op)];
    int kind = ab_op_decode(op, lane->wide).kind;
    ab_between(between - AB_BETWEEN(0));
    if ((kind == AB_OP_FREE || kind == AB_OP_RESIZE) && slot->ref != 0 && AB_SLOT_SIZE(slot) > 0)
        (void)*(const volatile char *)ADDRESS(f, slot->ref);
}

/* Times the op at `at` and stores its sample. Returns the number of ops after it to skip. */
INLINE uint32_t FN(sample)(struct ab_lane *lane, FACE *f, uint32_t phase, uint32_t at)
{
    const struct ab_worker *w = lane->w;
    const uint64_t *words = &lane->ops[at], op = *words;
    uint32_t sample = lane->sample, between = w->page->request.between;
    *lane->progress = at;
    lane->op = at;
    /* delta keeps this value, and the sample 0 is stored, if the op is skipped because a hook is
     * missing */
    lane->delta = UINT64_MAX;
    ab_preemption_pass(lane);
    if (AB_UNLIKELY(between != 0))
        FN(between)(lane, f, op, between);
    uint32_t n_spared = FN(run_op)(lane, f, words, lane->slots, FENCED) ? lane->n_spared : 0;
    uint64_t stored = lane->delta + 1;
    w->ticks[sample] = stored < AB_TICKS_SCHEDULER ? (uint32_t)stored : AB_TICKS_OVERFLOW;
    w->classes[sample] = (uint8_t)ab_size_class_log2(ab_worker_op_size(w, op));
    if (AB_UNLIKELY(stored > lane->look_ticks))
        ab_preemption_judge(lane, phase);
    return n_spared;
}

/* Runs a range in which only the sampled ops are timed. Returns the end position, as untimed_range
 * does. */
static uint32_t FN(latency_range)(struct ab_lane *lane, FACE *f, uint32_t phase, uint32_t begin,
                                  uint32_t end)
{
    const struct ab_worker *w = lane->w;
    uint32_t n = w->page->request.n_samples, i = begin, first = w->first;
    for (; lane->sample < n && w->positions[lane->sample] < first + end; lane->sample++) {
        uint32_t at = w->positions[lane->sample] - first;
        if (i <= at)
            i = FN(untimed)(lane, f, i, at);
        if (i > at)
            continue; /* skipped by a reset: not timed */
        i = at + 1 + FN(sample)(lane, f, phase, at);
    }
    if (i < end)
        i = FN(untimed)(lane, f, i, end);
    ab_preemption_pass(lane);
    return i;
}

/* Counts an op that was timed, if it is slow or preempted. Returns true if the thread was preempted
 * during the op. */
INLINE bool FN(note_slow)(struct ab_lane *lane, struct ab_tail *tail)
{
    bool is_scheduler = ab_preemption_count(lane, tail);
    if (!is_scheduler)
        ab_worker_note_slow(lane, tail);
    /* restarts the tick chain, so that the counting is not part of the next op's latency */
    lane->chain = ab_tick_end();
    return is_scheduler;
}

/* Runs a range of a phase with iterations, timing each call. The time between two calls is in no
 * iteration. */
static void FN(iteration_range)(struct ab_lane *lane, FACE *f, uint32_t begin, uint32_t end,
                                struct ab_tail *tails)
{
    uint64_t slow = lane->w->page->request.tail_ticks;
    for (uint32_t i = begin; i < end;) {
        uint64_t op = lane->ops[i];
        *lane->progress = i;
        lane->op = i;
        ab_iterations_pass(lane, i);
        lane->delta = UINT64_MAX; /* delta keeps this value if the op is not carried out */
        ab_preemption_pass(lane);
        uint32_t n_spared = FN(run_op)(lane, f, &lane->ops[i], lane->slots, FENCED) ? lane->n_spared
                                                                                    : 0;
        i += 1 + n_spared;
        int kind = ab_worker_op_kind(lane->w, op);
        bool is_timed = lane->delta + 1 != 0;
        if (kind >= 0) {
            tails[kind].n++;
            bool is_scheduler = is_timed && AB_UNLIKELY(lane->delta >= slow) &&
                                FN(note_slow)(lane, &tails[kind]);
            if (is_timed && kind != AB_OP_ACCESS)
                ab_iterations_add(lane, is_scheduler);
        } else if (is_timed) { /* a save point is part of the iteration, but has no kind of op */
            ab_iterations_add(lane, false);
        }
        if (lane->is_counting)
            ab_lane_count_live(ab_worker_is_refused(lane->w, op) ? -1 : kind, n_spared);
    }
    ab_iterations_pass(lane, end);
    ab_preemption_pass(lane);
}

static void FN(tail_range)(struct ab_lane *lane, FACE *f, uint32_t begin, uint32_t end,
                           struct ab_tail *tails)
{
    uint64_t slow = lane->w->page->request.tail_ticks;
    for (uint32_t i = begin; i < end;) {
        uint64_t op = lane->ops[i];
        *lane->progress = i;
        lane->op = i;
        lane->delta = 0;
        uint32_t n_spared = FN(run_op)(lane, f, &lane->ops[i], lane->slots, CHAINED)
                                ? lane->n_spared
                                : 0;
        i += 1 + n_spared;
        int kind = ab_worker_op_kind(lane->w, op);
        if (kind >= 0) {
            tails[kind].n++;
            if (AB_UNLIKELY(lane->delta >= slow))
                FN(note_slow)(lane, &tails[kind]);
        }
        if (lane->is_counting)
            ab_lane_count_live(ab_worker_is_refused(lane->w, op) ? -1 : kind, n_spared);
        if (lane->is_counting ||
            (AB_OP_CODE(op) != AB_CODE_FREE && AB_OP_CODE(op) != AB_CODE_ALLOC))
            /* restarts the tick chain: touches, waits and this counting are in no latency */
            ab_preemption_pass(lane);
    }
}

/* Fills `given` with the block that an op allocated; given->at stays 0 for every other op. */
INLINE void FN(look_at)(struct ab_lane *lane, FACE *f, uint64_t op, struct ab_given *given)
{
    int kind = ab_worker_op_kind(lane->w, op);
    const struct ab_slot *slot = &lane->slots[AB_OP_SLOT(op)];
    if (kind < 0 || kind > AB_OP_RESIZE || slot->ref == 0 || ab_worker_is_refused(lane->w, op))
        return;
    given->at = (uintptr_t)ADDRESS(f, slot->ref);
    given->size = AB_SLOT_SIZE(slot);
    given->usable = HAS_USABLE(f) ? CALL_USABLE(f, slot->ref) : AB_UNKNOWN;
}

static void FN(memory_range)(struct ab_lane *lane, FACE *f, uint32_t begin, uint32_t end)
{
    for (uint32_t i = begin; i < end;) {
        const uint64_t *op = &lane->ops[i];
        *lane->progress = i;
        lane->op = i;
        uint32_t n_skipped = FN(run_op)(lane, f, op, lane->slots, UNTIMED) ? lane->n_spared : 0;
        struct ab_given given = {.lane = lane->index};
        FN(look_at)(lane, f, *op, &given);
        ab_memory_after(lane->w, op, &given, n_skipped);
        i += 1 + n_skipped;
    }
}

/* Runs a range as the pass requires. Returns the position after the last op, as untimed_range
 * does. */
static uint32_t FN(piece)(struct ab_lane *lane, FACE *f, uint32_t phase, uint32_t begin,
                          uint32_t end)
{
    bool is_measured = lane->w->phases[phase].is_measured;
    unsigned pass = lane->w->page->request.pass;
    if (pass == AB_PASS_LATENCY && is_measured)
        return FN(latency_range)(lane, f, phase, begin, end);
    if (ab_iterations_are_on(lane->w, phase))
        FN(iteration_range)(lane, f, begin, end, lane->reports[phase].tail);
    else if (pass == AB_PASS_TAIL && (is_measured || lane->is_counting))
        FN(tail_range)(lane, f, begin, end, lane->reports[phase].tail);
    else if (pass == AB_PASS_MEMORY)
        FN(memory_range)(lane, f, begin, end);
    else
        return FN(untimed_range)(lane, f, begin, end);
    return end;
}

/* Runs a range and the periodic purges that are due in it. A purge is called between two ops: its
 * time is in the time of the pass, but in no op. */
static uint32_t FN(with_purges)(struct ab_lane *lane, FACE *f, uint32_t phase, uint32_t begin,
                                uint32_t end)
{
    uint32_t i = begin;
    while (AB_UNLIKELY(lane->w->purges != NULL) && lane->purge_at < end) {
        if (i < lane->purge_at)
            i = FN(piece)(lane, f, phase, i, lane->purge_at);
        ab_purges_call(lane);
    }
    return i < end || i == begin ? FN(piece)(lane, f, phase, i, end) : i;
}

/* Runs a range in slices, each timed by itself. The tape fixes where slices begin, so a slice that
 * a reset skips is empty. */
static void FN(sliced_range)(struct ab_lane *lane, FACE *f, uint32_t phase, uint32_t begin,
                             uint32_t end)
{
    uint32_t ops = lane->w->page->request.slices.ops, i = begin;
    for (uint32_t from = begin; from < end;) {
        uint32_t stop = end - from > ops ? from + ops : end;
        uint64_t tick = ab_slice_begin(lane);
        bool is_empty = i >= stop;
        i = FN(with_purges)(lane, f, phase, i, stop);
        ab_slice_end(lane, phase, is_empty, tick);
        from = stop;
    }
}

static void FN(range)(struct ab_lane *lane, FACE *f, uint32_t phase, uint32_t begin, uint32_t end)
{
    unsigned pass = lane->w->page->request.pass;
    if (pass == AB_PASS_LATENCY || pass == AB_PASS_TAIL)
        ab_preemption_begin(lane, begin);
    if (ab_slices_are_on(lane->w, phase))
        FN(sliced_range)(lane, f, phase, begin, end);
    else
        FN(with_purges)(lane, f, phase, begin, end);
}

/* Runs the lane's ops [begin, end). Returns false if the lane's thread ends before one of these ops
 * or after the last one. In strict order, the end of a thread has an empty stretch of its own. */
INLINE bool FN(stretch)(struct ab_lane *lane, FACE *f, uint32_t phase, uint32_t begin, uint32_t end)
{
    struct ab_handover *h = lane->handover;
    const struct ab_worker *w = lane->w;
    bool is_in_turns = lane->is_strict && w->image->n_lanes > 1;
    bool is_due = h != NULL && h->next < h->last &&
                  w->thread_ends[h->next] < end + (!is_in_turns || begin == end);
    uint32_t stop = is_due ? w->thread_ends[h->next] : end;
    if (begin < stop || !is_due)
        FN(range)(lane, f, phase, begin, stop);
    if (!is_due)
        return true;
    h->at = stop;
    h->end = end;
    h->is_due = true;
    return false;
}

/* Runs the lane's stretches of the global order, each in its turn. Returns false if the lane's
 * thread ends before all of them are done. */
static bool FN(strict_phase)(struct ab_lane *lane, FACE *f, uint32_t phase, bool goes_on)
{
    struct ab_order own, *order = lane->handover != NULL ? &lane->handover->order : &own;
    uint32_t begin = 0, end = 0;
    if (!goes_on)
        ab_order_begin(order, lane->w, phase);
    while (goes_on || ab_order_next(order, &begin, &end)) {
        if (goes_on) { /* continues the turn of the previous thread */
            begin = lane->handover->at;
            end = lane->handover->end;
        } else if (order->lane == lane->index) {
            ab_lane_take_turn(lane, order->turn);
        } else {
            continue;
        }
        goes_on = false;
        if (!FN(stretch)(lane, f, phase, begin, end))
            return false;
        ab_lane_end_turn(lane, phase, order->turn);
    }
    return true;
}

INLINE void FN(begin_phase)(struct ab_lane *lane, FACE *f, uint32_t phase,
                            struct ab_phase_meter *meter)
{
    const uint32_t *begin = &lane->w->lane_begin[phase * lane->w->image->n_lanes + lane->index];
    lane->is_in_rows = ab_lane_is_in_rows(lane, begin[0], begin[1]);
    /* must come before the phase begins: another lane may hand over to this one at once */
    ab_apart_begin(lane);
    ab_lane_begin_phase(lane, phase);
    ab_iterations_begin(lane, phase);
    ab_phase_meter_begin(meter);
    lane->only_code = 0;
    FN(rehearse)(lane, f, phase, begin[0]);
    lane->only_code = lane->w->phases[phase].only_code;
    ab_phase_meter_start(meter);
    if (ab_slices_are_on(lane->w, phase))
        ab_slices_begin(meter->ticks);
}

/* Runs the lane's part of a phase. Returns false if the lane's thread ends in the middle of the
 * phase. */
static bool FN(phase)(struct ab_lane *lane, FACE *f, uint32_t phase)
{
    const uint32_t *begin = &lane->w->lane_begin[phase * lane->w->image->n_lanes + lane->index];
    struct ab_phase_meter own, *meter = lane->handover != NULL ? &lane->handover->meter : &own;
    bool goes_on = lane->handover != NULL && lane->handover->is_due;
    if (goes_on)
        lane->handover->is_due = false;
    else
        FN(begin_phase)(lane, f, phase, meter);
    bool is_done = lane->is_strict ? FN(strict_phase)(lane, f, phase, goes_on)
                                   : FN(stretch)(lane, f, phase,
                                                 goes_on ? lane->handover->at : begin[0], begin[1]);
    if (!is_done)
        return false;
    ab_phase_meter_end(meter, &lane->reports[phase]);
    ab_apart_end(lane, &lane->reports[phase]);
    if (ab_slices_are_on(lane->w, phase))
        ab_slices_end(&lane->reports[phase]);
    ab_lane_end_phase(lane, phase);
    ab_phase_meter_end_process(meter, &lane->reports[phase]);
    return true;
}

void FN(ab_pass)(struct ab_lane *lane)
{
    struct ab_worker *w = lane->w;
    bool goes_on = lane->handover != NULL && lane->handover->is_due;
    uint32_t phase = goes_on ? lane->handover->phase : 0;
    /* the first phase begins for all lanes only after lane 0 has aged the heap and begun the memory
     * pass */
    if (lane->index == 0 && !goes_on) {
        ab_memory_take_base(w);
        ab_aged_heap_make(lane);
        ab_memory_begin(w);
    }
    do {
        if (lane->index == 0 && !goes_on)
            ab_purges_enter_burst(w);
        goes_on = false;
        for (; phase < w->image->n_phases && !ab_lanes_have_failed(w); phase++)
            if (!ab_lane_passes_over(w, phase) && !FN(phase)(lane, lane->face, phase))
                return;
        phase = 0;
    } while (ab_lanes_next_burst(lane));
}

#ifdef OBJECT
/* Carries out one op of the pre-flight through the compiled-in loops that are timed. */
void FN(ab_step)(struct ab_lane *lane, uint32_t at)
{
    unsigned code = AB_OP_CODE(lane->ops[at]);
    bool is_plain = code == AB_CODE_ALLOC || code == (AB_CODE_ALLOC | AB_CODE_TOUCHED);
    lane->n_steps++; /* takes another one of the loops that can run this op each time */
    lane->only_code = is_plain && lane->n_steps % 3 == 0 ? (uint8_t)code : 0;
    lane->is_in_rows = lane->n_steps % 3 == 1;
    FN(untimed)(lane, lane->face, at, at + 1);
}
#endif
