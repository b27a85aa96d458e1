/* SPDX-License-Identifier: MIT
 *
 * The loops, included once a call boundary (pass_malloc.c, pass_heap.c) with these macros set:
 *   FACE                       struct of function pointers        FN(name)   name of an instance
 *   CALL_ALLOC(f, n) CALL_FREE(f, ref, n) CALL_RESIZE(f, ref, old, n)
 *   CALL_ZEROED(f, n) CALL_ALIGNED(f, align, n)                   the calls that are timed
 *   HAS_RESIZE(f) HAS_ZEROED(f) HAS_ALIGNED(f)                    false: skipped, run is partial
 *   ADDRESS(f, ref)                                               where a block's bytes are
 * (handles are an instance of their own, so that addresses need not ask whether they are one)
 * A macro template, because a shared loop would have to call through one boundary to reach the
 * other. Everything is always_inline with a constant `timing`, so each pass is a loop of its own.
 */
#include "core/bits.h"
#include "core/clock.h"
#include "worker/meter.h"
#include "worker/touch.h"
#include "worker/worker.h"

#define INLINE static inline __attribute__((always_inline))

enum timing { UNTIMED, FENCED, CHAINED };

INLINE uint64_t FN(begin)(enum timing timing)
{
    return timing == FENCED ? ab_tick_begin() : 0;
}

INLINE void FN(end)(struct ab_worker *w, enum timing timing, uint64_t begun)
{
    if (timing == FENCED)
        w->delta = ab_tick_end() - begun;
    if (timing == CHAINED) {
        uint64_t now = ab_tick_end();
        w->delta = now - w->chain;
        w->chain = now;
    }
}

/* Stores what an allocation gave. False when it gave nothing. */
INLINE bool FN(accept)(struct ab_worker *w, struct ab_slot *slot, uintptr_t ref, size_t size)
{
    slot->ref = ref;
    slot->size_seq = size; /* one lane: no sequence number */
    if (AB_UNLIKELY(ref == 0))
        ab_worker_note_null(w, size);
    return ref != 0;
}

INLINE void FN(resize)(struct ab_worker *w, FACE *f, struct ab_slot *slot, uint64_t size,
                       unsigned flags, enum timing timing)
{
    if (!HAS_RESIZE(f) || slot->ref == 0)
        return;
    size_t old_size = slot->size_seq;
    uint64_t begun = FN(begin)(timing);
    uintptr_t ref = CALL_RESIZE(f, slot->ref, old_size, size);
    FN(end)(w, timing, begun);
    if (AB_UNLIKELY(ref == 0)) {
        if ((flags & AB_WIDE_MAY_FAIL) == 0) /* else as in the program: the old block lives on */
            ab_worker_note_null(w, size);
        return;
    }
    slot->ref = ref;
    slot->size_seq = size;
    if ((flags & AB_CODE_TOUCHED) != 0 && old_size < size)
        ab_touch_pages(ADDRESS(f, ref), old_size, size);
}

INLINE void FN(alloc)(struct ab_worker *w, FACE *f, struct ab_slot *slot, size_t size,
                      unsigned touched, enum timing timing)
{
    uint64_t begun = FN(begin)(timing);
    uintptr_t ref = CALL_ALLOC(f, size);
    FN(end)(w, timing, begun);
    if (AB_LIKELY(FN(accept)(w, slot, ref, size)) && touched != 0)
        ab_touch_first(ADDRESS(f, ref)); /* no larger than a page: the builder sees to that */
}

INLINE void FN(alloc_zeroed)(struct ab_worker *w, FACE *f, struct ab_slot *slot, size_t size,
                             unsigned touched, enum timing timing)
{
    if (!HAS_ZEROED(f)) {
        slot->ref = 0;
        return;
    }
    uint64_t begun = FN(begin)(timing);
    uintptr_t ref = CALL_ZEROED(f, size);
    FN(end)(w, timing, begun);
    if (AB_LIKELY(FN(accept)(w, slot, ref, size)) && touched != 0)
        ab_touch_first(ADDRESS(f, ref));
}

INLINE void FN(alloc_aligned)(struct ab_worker *w, FACE *f, struct ab_slot *slot,
                              const struct ab_wide *wide, enum timing timing)
{
    if (!HAS_ALIGNED(f)) {
        slot->ref = 0;
        return;
    }
    size_t size = wide->size;
    uint64_t begun = FN(begin)(timing);
    uintptr_t ref = CALL_ALIGNED(f, wide->align, size);
    FN(end)(w, timing, begun);
    if (FN(accept)(w, slot, ref, size) && (wide->code & AB_CODE_TOUCHED) != 0)
        ab_touch_first(ADDRESS(f, ref));
}

/* The program got NULL here. A back end that can serve it does so, and the block goes at once. */
INLINE void FN(alloc_failing)(struct ab_worker *w, FACE *f, const struct ab_wide *wide,
                              enum timing timing)
{
    unsigned code = wide->code & 7;
    uintptr_t ref = 0;
    if ((code == AB_CODE_ALLOC_ZEROED && !HAS_ZEROED(f)) ||
        (code == AB_CODE_ALLOC_ALIGNED && !HAS_ALIGNED(f)))
        return;
    uint64_t begun = FN(begin)(timing);
    ref = code == AB_CODE_ALLOC_ZEROED    ? CALL_ZEROED(f, wide->size)
          : code == AB_CODE_ALLOC_ALIGNED ? CALL_ALIGNED(f, wide->align, wide->size)
                                          : CALL_ALLOC(f, wide->size);
    FN(end)(w, timing, begun);
    if (ref != 0)
        CALL_FREE(f, ref, wide->size);
}

INLINE void FN(wide)(struct ab_worker *w, FACE *f, struct ab_slot *slot,
                     const struct ab_wide *wide, enum timing timing)
{
    unsigned code = wide->code & 7, touched = wide->code & AB_CODE_TOUCHED;
    if (code == AB_CODE_RESIZE)
        FN(resize)(w, f, slot, wide->size, wide->flags | touched, timing);
    else if ((wide->flags & AB_WIDE_MAY_FAIL) != 0)
        FN(alloc_failing)(w, f, wide, timing);
    else if (code == AB_CODE_ALLOC)
        FN(alloc)(w, f, slot, wide->size, touched, timing);
    else if (code == AB_CODE_ALLOC_ZEROED)
        FN(alloc_zeroed)(w, f, slot, wide->size, touched, timing);
    else
        FN(alloc_aligned)(w, f, slot, wide, timing);
}

/* Aligned requests and what goes through the side table: too rare to be in the loop. */
INLINE void FN(rare)(struct ab_worker *w, FACE *f, uint64_t op, struct ab_slot *slot,
                     enum timing timing)
{
    unsigned code = AB_OP_CODE(op);
    uint32_t operand = AB_OP_SIZE(op);
    if (code == AB_CODE_WIDE) {
        FN(wide)(w, f, slot, &w->wide[operand], timing);
        return;
    }
    struct ab_wide aligned = {.size = AB_ALIGNED_SIZE(operand),
                              .align = UINT64_C(1) << AB_ALIGNED_LOG2(operand),
                              .code = (uint16_t)code};
    FN(alloc_aligned)(w, f, slot, &aligned, timing);
}

static __attribute__((noinline)) void FN(rare_untimed)(struct ab_worker *w, FACE *f, uint64_t op,
                                                       struct ab_slot *slot)
{
    FN(rare)(w, f, op, slot, UNTIMED);
}

static __attribute__((noinline)) void FN(rare_fenced)(struct ab_worker *w, FACE *f, uint64_t op,
                                                      struct ab_slot *slot)
{
    FN(rare)(w, f, op, slot, FENCED);
}

static __attribute__((noinline)) void FN(rare_chained)(struct ab_worker *w, FACE *f, uint64_t op,
                                                       struct ab_slot *slot)
{
    FN(rare)(w, f, op, slot, CHAINED);
}

/* The entry that `op` names, whose code is known: the low 32 bits of the word are the entry's byte
 * offset plus the code, so a constant displacement takes the place of a mask. */
INLINE struct ab_slot *FN(slot)(char *at, unsigned code)
{
    return (struct ab_slot *)(at - code);
}

INLINE void FN(run_op)(struct ab_worker *w, FACE *f, uint64_t op, struct ab_slot *slots,
                       enum timing timing)
{
    unsigned code = AB_OP_CODE(op);
    char *at = (char *)slots + (uint32_t)op;
    if (code == AB_CODE_FREE) {
        struct ab_slot *slot = FN(slot)(at, AB_CODE_FREE);
        uintptr_t ref = slot->ref;
        uint64_t begun = FN(begin)(timing);
        CALL_FREE(f, ref, slot->size_seq);
        FN(end)(w, timing, begun);
        return;
    }
    if (AB_LIKELY(code == (AB_CODE_ALLOC | AB_CODE_TOUCHED))) {
        FN(alloc)(w, f, FN(slot)(at, AB_CODE_ALLOC | AB_CODE_TOUCHED), AB_OP_SIZE(op), 1, timing);
        return;
    }
    struct ab_slot *slot = FN(slot)(at, code);
    switch (code) {
    case AB_CODE_ALLOC:
        FN(alloc)(w, f, slot, AB_OP_SIZE(op), 0, timing);
        break;
    case AB_CODE_ALLOC_ZEROED:
    case AB_CODE_ALLOC_ZEROED | AB_CODE_TOUCHED:
        FN(alloc_zeroed)(w, f, slot, AB_OP_SIZE(op), code & AB_CODE_TOUCHED, timing);
        break;
    case AB_CODE_RESIZE:
    case AB_CODE_RESIZE | AB_CODE_TOUCHED:
        FN(resize)(w, f, slot, AB_OP_SIZE(op), code & AB_CODE_TOUCHED, timing);
        break;
    case AB_CODE_TOUCH:
        if (slot->ref != 0 && slot->size_seq > 0)
            ab_touch_block(ADDRESS(f, slot->ref), slot->size_seq, AB_OP_SIZE(op));
        break;
    default:
        if (timing == UNTIMED)
            FN(rare_untimed)(w, f, op, slot);
        else if (timing == FENCED)
            FN(rare_fenced)(w, f, op, slot);
        else
            FN(rare_chained)(w, f, op, slot);
    }
}

#define PREFETCH_DISTANCE 8 /* ≤ AB_TAPE_PAD */

static __attribute__((noinline)) void FN(untimed)(struct ab_worker *w, FACE *f, const uint64_t *op,
                                                  const uint64_t *end)
{
    struct ab_slot *slots = w->slots;
    for (ptrdiff_t i = op - end; i != 0; i++) { /* up to 0: one instruction less */
        __builtin_prefetch((char *)slots + (uint32_t)end[i + PREFETCH_DISTANCE], 1); /* same line */
        FN(run_op)(w, f, end[i], slots, UNTIMED);
    }
}

/* In chunks, so that the parent knows about where a crash happened. */
static void FN(untimed_range)(struct ab_worker *w, FACE *f, uint32_t begin, uint32_t end)
{
    volatile uint32_t *progress = &w->block->report.op;
    for (uint32_t i = begin; i < end;) {
        uint32_t stop = end - i > AB_PROGRESS_OPS ? i + AB_PROGRESS_OPS : end;
        *progress = i;
        w->op = i;
        FN(untimed)(w, f, w->ops + i, w->ops + stop);
        i = stop;
    }
}

static void FN(latency_range)(struct ab_worker *w, FACE *f, uint32_t begin, uint32_t end,
                              uint32_t *sample)
{
    volatile uint32_t *progress = &w->block->report.op;
    uint32_t n = w->block->request.n_samples, i = begin;
    for (; *sample < n && w->positions[*sample] < end; (*sample)++) {
        uint32_t at = w->positions[*sample];
        FN(untimed)(w, f, w->ops + i, w->ops + at);
        *progress = at;
        w->op = at;
        w->delta = UINT64_MAX; /* + 1 = 0: an op that was skipped for want of a hook */
        FN(run_op)(w, f, w->ops[at], w->slots, FENCED);
        uint64_t stored = w->delta + 1;
        w->ticks[*sample] = stored < AB_TICKS_OVERFLOW ? (uint32_t)stored : AB_TICKS_OVERFLOW;
        i = at + 1;
    }
    FN(untimed)(w, f, w->ops + i, w->ops + end);
}

static void FN(tail_range)(struct ab_worker *w, FACE *f, uint32_t begin, uint32_t end,
                           struct ab_tail *tails)
{
    volatile uint32_t *progress = &w->block->report.op;
    uint64_t slow = w->block->request.tail_ticks;
    w->chain = ab_tick_end();
    for (uint32_t i = begin; i < end; i++) {
        uint64_t op = w->ops[i];
        *progress = i;
        w->op = i;
        w->delta = 0;
        FN(run_op)(w, f, op, w->slots, CHAINED);
        int kind = ab_worker_op_kind(w, op);
        if (kind >= 0) {
            tails[kind].n++;
            if (AB_UNLIKELY(w->delta >= slow))
                ab_worker_note_slow(w, &tails[kind]);
        }
        if (AB_OP_CODE(op) != AB_CODE_FREE && AB_OP_CODE(op) != AB_CODE_ALLOC)
            w->chain = ab_tick_end(); /* touches are nobody's latency */
    }
}

static void FN(phase)(struct ab_worker *w, FACE *f, uint32_t index, uint32_t *sample)
{
    const struct ab_phase *phase = &w->phases[index];
    struct ab_phase_report *report = &w->block->report.phases[index];
    unsigned pass = w->block->request.pass;
    struct ab_phase_meter meter;
    ab_phase_meter_begin(&meter);
    if (pass == AB_PASS_TAIL && phase->is_measured)
        FN(tail_range)(w, f, phase->begin, phase->end, report->tail);
    else if (pass == AB_PASS_LATENCY && phase->is_measured)
        FN(latency_range)(w, f, phase->begin, phase->end, sample);
    else
        FN(untimed_range)(w, f, phase->begin, phase->end);
    ab_phase_meter_end(&meter, report);
}

void FN(ab_pass)(struct ab_worker *w, FACE *f)
{
    volatile uint32_t *current = &w->block->report.phase;
    uint32_t sample = 0;
    w->block->report.op_granularity =
        w->block->request.pass == AB_PASS_TAIL ? 1 : AB_PROGRESS_OPS;
    for (uint32_t i = 0; i < w->image->n_phases && w->first_null_op == UINT32_MAX; i++) {
        *current = i;
        FN(phase)(w, f, i, &sample);
    }
    w->block->report.n_samples_done = sample;
}
