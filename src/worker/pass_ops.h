/* SPDX-License-Identifier: MIT
 *
 * Runs one op, timed in one of three ways. This is the first part of pass_body.h, which sets the
 * macros used here.
 */
#define INLINE static inline __attribute__((always_inline))

#ifndef MAY_RESET
#define MAY_RESET(f, lane, op) ((lane)->may_reset && (AB_OP_SLOT(op) & AB_RESET_OTHERS) == 0)
#endif

#ifndef CALL_FREE_SIZED /* the free of a heap always takes the size */
#define CALL_FREE_SIZED(f, ref, n, log2) CALL_FREE(f, ref, n)
#endif

#ifndef MAY_RELEASE /* a save point is taken only if some release needs it */
#define MAY_RELEASE(f, lane, op) may_release((lane), (op))
static inline bool may_release(const struct ab_lane *lane, uint64_t op)
{
    uint32_t how = AB_OP_SLOT(op);
    return lane->has_marks && (how & AB_RESET_RELEASE) != 0 &&
           ((how & AB_RESET_CROWDED) == 0 || lane->has_own_heap);
}
#endif

enum timing { UNTIMED, FENCED, CHAINED };

INLINE uint64_t FN(begin)(enum timing timing)
{
    return timing == FENCED ? ab_tick_begin() : 0;
}

INLINE void FN(end)(struct ab_lane *lane, enum timing timing, uint64_t begun)
{
    if (timing == FENCED) {
        uint64_t now = ab_tick_end();
        lane->delta = now - begun;
        lane->chain = now;
    }
    if (timing == CHAINED) {
        uint64_t now = ab_tick_end();
        lane->delta = now - lane->chain;
        lane->chain = now;
    }
}

INLINE void FN(free_sized)(struct ab_lane *lane, FACE *f, const struct ab_slot *slot,
                           unsigned align_log2, enum timing timing)
{
    uintptr_t ref = slot->ref;
    uint64_t begun = FN(begin)(timing);
    (void)align_log2;
    CALL_FREE_SIZED(f, ref, slot->size_seq, align_log2);
    FN(end)(lane, timing, begun);
}

/* Stores the result of an allocation in the slot. Returns false if it is NULL. */
INLINE bool FN(accept)(struct ab_lane *lane, struct ab_slot *slot, uintptr_t ref, size_t size)
{
    slot->ref = ref;
    slot->size_seq = size;
    if (AB_UNLIKELY(ref == 0))
        ab_worker_note_null(lane, size);
    return ref != 0;
}

INLINE void FN(resize)(struct ab_lane *lane, FACE *f, struct ab_slot *slot, uint64_t size,
                       unsigned flags, enum timing timing)
{
    if (!HAS_RESIZE(f) || slot->ref == 0)
        return;
    size_t old_size = slot->size_seq;
    uint64_t begun = FN(begin)(timing);
    uintptr_t ref = CALL_RESIZE(f, slot->ref, old_size, size);
    FN(end)(lane, timing, begun);
    if (AB_UNLIKELY(ref == 0)) {
        /* if the resize may fail, the old block stays, as in the program */
        if ((flags & AB_WIDE_MAY_FAIL) == 0)
            ab_worker_note_null(lane, size);
        return;
    }
    slot->ref = ref;
    slot->size_seq = size;
    if ((flags & AB_CODE_TOUCHED) != 0 && old_size < size)
        ab_touch_pages(ADDRESS(f, ref), old_size, size);
}

INLINE void FN(alloc)(struct ab_lane *lane, FACE *f, struct ab_slot *slot, size_t size,
                      unsigned touched, enum timing timing)
{
    uint64_t begun = FN(begin)(timing);
    uintptr_t ref = CALL_ALLOC(f, size);
    FN(end)(lane, timing, begun);
    if (AB_LIKELY(FN(accept)(lane, slot, ref, size)) && touched != 0)
        /* one written byte makes the block resident, because blocks here are at most a page */
        ab_touch_first(ADDRESS(f, ref));
}

INLINE void FN(alloc_zeroed)(struct ab_lane *lane, FACE *f, struct ab_slot *slot, size_t size,
                             unsigned touched, enum timing timing)
{
    if (!HAS_ZEROED(f)) {
        slot->ref = 0;
        return;
    }
    uint64_t begun = FN(begin)(timing);
    uintptr_t ref = CALL_ZEROED(f, size);
    FN(end)(lane, timing, begun);
    if (AB_LIKELY(FN(accept)(lane, slot, ref, size)) && touched != 0)
        ab_touch_first(ADDRESS(f, ref));
}

INLINE void FN(alloc_aligned)(struct ab_lane *lane, FACE *f, struct ab_slot *slot,
                              const struct ab_wide *wide, enum timing timing)
{
    if (!HAS_ALIGNED(f)) {
        slot->ref = 0;
        return;
    }
    size_t size = wide->size;
    uint64_t begun = FN(begin)(timing);
    uintptr_t ref = CALL_ALIGNED(f, wide->align, size);
    FN(end)(lane, timing, begun);
    if (FN(accept)(lane, slot, ref, size) && (wide->code & AB_CODE_TOUCHED) != 0)
        ab_touch_first(ADDRESS(f, ref));
}

/* Carries out a request that failed in the recorded program. If the back end serves it all the
 * same, the block is freed at once. */
INLINE void FN(alloc_failing)(struct ab_lane *lane, FACE *f, const struct ab_wide *wide,
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
    FN(end)(lane, timing, begun);
    if (ref != 0)
        CALL_FREE(f, ref, wide->size);
}

INLINE void FN(wide)(struct ab_lane *lane, FACE *f, struct ab_slot *slot,
                     const struct ab_wide *wide, enum timing timing)
{
    unsigned code = wide->code & 7, touched = wide->code & AB_CODE_TOUCHED;
    if (code == AB_CODE_RESIZE)
        FN(resize)(lane, f, slot, wide->size, wide->flags | touched, timing);
    else if ((wide->flags & AB_WIDE_MAY_FAIL) != 0)
        FN(alloc_failing)(lane, f, wide, timing);
    else if (code == AB_CODE_ALLOC)
        FN(alloc)(lane, f, slot, wide->size, touched, timing);
    else if (code == AB_CODE_ALLOC_ZEROED)
        FN(alloc_zeroed)(lane, f, slot, wide->size, touched, timing);
    else
        FN(alloc_aligned)(lane, f, slot, wide, timing);
}

/* Accesses a block. The time includes resolving the handle, because resolving is part of the cost
 * of an access. */
INLINE void FN(access)(struct ab_lane *lane, FACE *f, struct ab_slot *slot, enum ab_access how,
                       enum timing timing)
{
    if (slot->ref == 0)
        return;
    uint64_t begun = FN(begin)(timing);
    ab_access_line(ADDRESS(f, slot->ref), how);
    FN(end)(lane, timing, begun);
}

/* Carries out aligned requests and ops of the side table, which are too rare to be in the loop. */
INLINE void FN(rare)(struct ab_lane *lane, FACE *f, uint64_t op, struct ab_slot *slot,
                     enum timing timing)
{
    unsigned code = AB_OP_CODE(op);
    uint32_t operand = AB_OP_SIZE(op);
    if (code == AB_CODE_WIDE) {
        FN(wide)(lane, f, slot, &lane->wide[operand], timing);
        return;
    }
    struct ab_wide aligned = {.size = AB_ALIGNED_SIZE(operand),
                              .align = UINT64_C(1) << AB_ALIGNED_LOG2(operand),
                              .code = (uint16_t)code};
    FN(alloc_aligned)(lane, f, slot, &aligned, timing);
}

static __attribute__((noinline)) void FN(rare_untimed)(struct ab_lane *lane, FACE *f, uint64_t op,
                                                       struct ab_slot *slot)
{
    FN(rare)(lane, f, op, slot, UNTIMED);
}

static __attribute__((noinline)) void FN(rare_fenced)(struct ab_lane *lane, FACE *f, uint64_t op,
                                                      struct ab_slot *slot)
{
    FN(rare)(lane, f, op, slot, FENCED);
}

static __attribute__((noinline)) void FN(rare_chained)(struct ab_lane *lane, FACE *f, uint64_t op,
                                                       struct ab_slot *slot)
{
    FN(rare)(lane, f, op, slot, CHAINED);
}

/* Calls malloc_trim. The call has no kind of op: its time is in the phase and in the iteration, but
 * in no latency. */
static __attribute__((noinline)) void FN(trim)(struct ab_lane *lane, uint64_t op,
                                               enum timing timing)
{
    lane->n_trims++;
    if (lane->w->trim == NULL)
        return;
    uint64_t begun = FN(begin)(timing);
    lane->w->trim((size_t)AB_TRIM_PAGES(AB_OP_SIZE(op)) * 4096);
    FN(end)(lane, timing, begun);
}

/* Returns the slot that `op` names. The low 32 bits of an op are the byte offset of its slot plus
 * its code. If the code is known, subtracting it is a constant displacement, which saves a mask. */
INLINE struct ab_slot *FN(slot)(char *at, unsigned code)
{
    return (struct ab_slot *)(at - code);
}

/* Carries out a PUBLISH or a WAIT. Only tapes with several lanes have these ops, so they are not in
 * the loop. */
INLINE void FN(meet)(struct ab_lane *lane, uint64_t op)
{
    if (AB_OP_CODE(op) == AB_CODE_PUBLISH)
        ab_gauge_set(lane, &lane->published, AB_OP_SIZE(op));
    else
        ab_lane_await(lane, AB_OP_SLOT(op), AB_OP_SIZE(op));
}

/* Begins or ends a scope. One call may then end all its blocks, even while other blocks live.
 * Returns false if the blocks are freed singly. Not inlined, because most work has no scopes. */
static __attribute__((noinline)) bool FN(scope)(struct ab_lane *lane, FACE *f, uint64_t op,
                                                enum timing timing)
{
    bool is_mark = ab_op_is_mark(op);
    bool empties = !is_mark && HAS_RESET(f) && MAY_RESET(f, lane, op);
    if (!empties && !MAY_RELEASE(f, lane, op))
        return false;
    uint64_t begun = FN(begin)(timing);
    if (is_mark)
        CALL_MARK(f, lane, op);
    else if (empties)
        CALL_RESET(f);
    else
        CALL_RELEASE(f, lane, op);
    FN(end)(lane, timing, begun);
    lane->n_spared = AB_OP_SIZE(op);
    return !is_mark;
}

/* Carries out a RESET. Returns true if one call has freed its blocks, so that the lane->n_spared
 * frees after it must be skipped. */
INLINE bool FN(reset)(struct ab_lane *lane, FACE *f, uint64_t op, enum timing timing)
{
    if (AB_UNLIKELY(AB_RESET_DEPTH(AB_OP_SLOT(op)) != 0))
        return FN(scope)(lane, f, op, timing);
    if (!HAS_RESET(f) || !MAY_RESET(f, lane, op))
        return false;
    uint64_t begun = FN(begin)(timing);
    CALL_RESET(f);
    FN(end)(lane, timing, begun);
    lane->n_spared = AB_OP_SIZE(op);
    return true;
}

/* Carries out the accesses that follow `words` as one walk (block_walk.h). Finds the blocks while
 * the clock is stopped. PUBLISHes among the accesses are carried out after the walk; the tape has
 * WAITs only before it. */
static __attribute__((noinline)) bool FN(walk)(struct ab_lane *lane, FACE *f, const uint64_t *words)
{
    uint32_t operand = AB_OP_SIZE(*words), n = 0, n_words = 0;
    enum ab_walk_order order = AB_WALK_ORDER(operand);
    struct ab_apart since;
    if (lane->walk == NULL || lane->w->memory != NULL)
        return false;
    ab_apart_stop(lane, &since);
    for (uint32_t left = AB_WALK_COUNT(operand); left > 0;) {
        uint64_t word = words[++n_words];
        if (ab_op_is_guard(word))
            continue;
        const struct ab_slot *slot = &lane->slots[AB_OP_SLOT(word)];
        if (slot->ref != 0)
            lane->walk[n++] = ab_walk_entry((uintptr_t)ADDRESS(f, slot->ref), slot->size_seq);
        left--;
    }
    ab_walk_take(lane, n, order, &since);
    for (uint32_t i = 1; i <= n_words; i++)
        if (ab_op_is_guard(words[i]))
            FN(meet)(lane, words[i]);
    lane->n_spared = n_words;
    return true;
}

/* Carries out the op at `words`. Returns true if the lane->n_spared ops after it must be skipped.
 * The result is constant except for a reset or a walk, so that it costs other ops nothing. */
INLINE bool FN(run_op)(struct ab_lane *lane, FACE *f, const uint64_t *words, struct ab_slot *slots,
                       enum timing timing)
{
    uint64_t op = *words;
    unsigned code = AB_OP_CODE(op);
    char *at = (char *)slots + (uint32_t)op;
    if (code == AB_CODE_FREE) {
        struct ab_slot *slot = FN(slot)(at, AB_CODE_FREE);
        uintptr_t ref = slot->ref;
        uint64_t begun = FN(begin)(timing);
        CALL_FREE(f, ref, slot->size_seq);
        FN(end)(lane, timing, begun);
        return false;
    }
    if (AB_LIKELY(code == (AB_CODE_ALLOC | AB_CODE_TOUCHED))) {
        FN(alloc)
        (lane, f, FN(slot)(at, AB_CODE_ALLOC | AB_CODE_TOUCHED), AB_OP_SIZE(op), 1, timing);
        return false;
    }
    struct ab_slot *slot = FN(slot)(at, code);
    switch (code) {
    case AB_CODE_ALLOC:
        FN(alloc)(lane, f, slot, AB_OP_SIZE(op), 0, timing);
        break;
    case AB_CODE_ALLOC_ZEROED:
    case AB_CODE_ALLOC_ZEROED | AB_CODE_TOUCHED:
        FN(alloc_zeroed)(lane, f, slot, AB_OP_SIZE(op), code & AB_CODE_TOUCHED, timing);
        break;
    case AB_CODE_RESIZE:
    case AB_CODE_RESIZE | AB_CODE_TOUCHED:
        FN(resize)(lane, f, slot, AB_OP_SIZE(op), code & AB_CODE_TOUCHED, timing);
        break;
    case AB_CODE_TOUCH:
        if (AB_UNLIKELY(ab_op_is_trim(op))) {
            FN(trim)(lane, op, timing);
            break;
        }
        if (slot->ref == 0 || slot->size_seq == 0)
            break;
        if (AB_TOUCH_MODE(AB_OP_SIZE(op)) == AB_TOUCH_WALK)
            return timing == UNTIMED && FN(walk)(lane, f, words);
        if (AB_UNLIKELY(ab_touch_is_apart(AB_OP_SIZE(op))))
            ab_touch_apart(lane, ADDRESS(f, slot->ref), slot->size_seq, AB_OP_SIZE(op));
        else
            ab_touch_block(ADDRESS(f, slot->ref), slot->size_seq, AB_OP_SIZE(op));
        break;
    case AB_CODE_FREE_SIZED:
        FN(free_sized)(lane, f, slot, AB_OP_SIZE(op), timing);
        break;
    case AB_CODE_ACCESS:
        FN(access)(lane, f, slot, AB_OP_SIZE(op), timing);
        break;
    case AB_CODE_WAIT:
    case AB_CODE_PUBLISH:
        FN(meet)(lane, op);
        break;
    case AB_CODE_RESET:
        return FN(reset)(lane, f, op, timing);
    default:
        if (timing == UNTIMED)
            FN(rare_untimed)(lane, f, op, slot);
        else if (timing == FENCED)
            FN(rare_fenced)(lane, f, op, slot);
        else
            FN(rare_chained)(lane, f, op, slot);
    }
    return false;
}
