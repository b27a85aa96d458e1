/* SPDX-License-Identifier: MIT
 *
 * Macros of pass_body.h that both loops over several heaps share. Each allocation and resize takes
 * one byte of the lane's stream, whatever its result. Each MARK, and each RESET with blocks or of a
 * scope, takes its masks. When a heap is opened, it is checked that it can serve its requests.
 */
#define CALL_ZEROED(f, n) ab_placed_zeroed((f), (n))
#define CALL_ALIGNED(f, align, n) ab_placed_aligned((f), (align), (n))
#define CALL_RESIZE(f, ref, old, n) ab_placed_resize((f), (ref), (old), (n))
#define HAS_RESIZE(f) \
    ((f)->choice++, true) /* evaluated once for each resize, also of a missing block */
#define HAS_ZEROED(f) true
#define HAS_ALIGNED(f) true
#define HAS_USABLE(f) ((f)->has_usable)
#define CALL_USABLE(f, ref) (usable((f), (ref)))
#define ADDRESS(f, ref) ((void)(f), (void *)((ref)&AB_PLACED_ADDRESS))

static inline size_t usable(const struct ab_placed *r, ab_ref ref)
{
    const struct ab_heap_face *f = ab_placed_of(r, ref);
    return f->usable_size(f->heap, ref & AB_PLACED_ADDRESS);
}

/* True if this RESET may be done in bulk. It then frees all blocks of the heaps in its masks, or
 * all blocks since their save points. */
static inline bool may_reset(struct ab_placed *r, uint64_t op)
{
    r->depth = AB_RESET_DEPTH(AB_OP_SLOT(op));
    if (AB_OP_SIZE(op) == 0 && r->depth == 0)
        return false;
    r->emptied = *r->empties++;
    r->released = r->depth != 0 ? *r->empties++ : 0;
    /* a RESET that spares no frees: each heap with save points goes back to its save point */
    if (AB_OP_SIZE(op) == 0)
        r->released &= r->markable;
    return (r->emptied | r->released) != 0 && (r->emptied & ~r->resettable) == 0 &&
           (r->released & ~r->markable) == 0;
}

static inline void reset(struct ab_placed *r)
{
    for (unsigned heaps = r->emptied; heaps != 0; heaps &= heaps - 1) {
        const struct ab_heap_face *f = &r->heaps[__builtin_ctz(heaps)].face;
        f->reset(f->heap);
    }
    for (unsigned heaps = r->released; heaps != 0; heaps &= heaps - 1) {
        unsigned h = (unsigned)__builtin_ctz(heaps);
        const struct ab_heap_face *f = &r->heaps[h].face;
        f->backend->release(f->heap, r->marks[h][r->depth]);
    }
}

/* True if some heap that the end of the scope releases has save points. */
static inline bool may_mark(struct ab_placed *r, uint64_t op)
{
    if (!ab_op_is_mark(op))
        return false;
    r->depth = AB_RESET_DEPTH(AB_OP_SLOT(op));
    r->released = *r->empties++ & r->markable;
    return r->released != 0;
}

static inline void mark(struct ab_placed *r)
{
    for (unsigned heaps = r->released; heaps != 0; heaps &= heaps - 1) {
        unsigned h = (unsigned)__builtin_ctz(heaps);
        const struct ab_heap_face *f = &r->heaps[h].face;
        r->marks[h][r->depth] = f->backend->mark(f->heap);
    }
}

#define MAY_RESET(f, lane, op) may_reset((f), (op))
#define HAS_RESET(f) true
#define CALL_RESET(f) reset(f)
#define MAY_RELEASE(f, lane, op) may_mark((f), (op))
#define CALL_MARK(f, lane, op) mark(f)
#define CALL_RELEASE(f, lane, op) ((void)(f))
