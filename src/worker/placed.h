/* SPDX-License-Identifier: MIT
 *
 * Several heaps behind one face: which of them serves a request is the next byte of the lane's stream
 * (wire/placement.h). A block's heap goes into the upper bits of its reference, above all addresses that a
 * process has, so that a free or an access finds it there.
 */
#ifndef AB_WORKER_PLACED_H
#define AB_WORKER_PLACED_H

#include "base/bits.h"
#include "wire/placement.h"
#include "worker/worker.h"

struct ab_malloc_calls;

#define AB_PLACED_SHIFT 57
#define AB_PLACED_ADDRESS ((UINT64_C(1) << AB_PLACED_SHIFT) - 1)

/* What a request or a free of a heap is in the loop that has allocators compiled in: enum
 * ab_placement_inlined, and for each of them the null. */
enum ab_placed_kind {
    AB_PLACED_CALLED,
    AB_PLACED_ARENA,
    AB_PLACED_POOL,
    AB_PLACED_SLAB,
    AB_PLACED_NULLS, /* AB_PLACEMENTD_NULLS + enum ab_placement_inlined */
    AB_PLACED_NULL_ARENA,
    AB_PLACED_NULL_POOL,
    AB_PLACED_NULL_SLAB,
};

struct ab_placed_heap {
    _Alignas(128) struct ab_heap_face face;
    struct ab_heap *freed_in; /* what `free` takes: the heap, or what counts its frees */
    enum ab_placed_kind kind;
};

/* A heap that keeps what is freed until its bulk reset: that comes with the free of its last block. */
struct ab_placed_renewal {
    _Alignas(128) const uint32_t *next; /* frees of its next life; a lane's own cache lines */
    uint32_t left;                      /* of this one */
    bool is_on, is_off;                 /* it is counted; its count is off, for good */
    struct ab_heap *heap;
    void (*free)(struct ab_heap *, ab_ref, size_t);
    void (*reset)(struct ab_heap *); /* NULL: of the null back end */
};
/* Its count is used up: the next life, after a bulk reset. */
void ab_placed_renew(struct ab_placed_renewal *r);

struct ab_placed {              /* of one lane */
    const uint8_t *choice;      /* of the next request */
    const uint16_t *empties;    /* of the next RESET or MARK */
    uint16_t resettable;        /* heaps whose reset takes no block of another lane along */
    bool has_usable;            /* all of them say how large a block is */
    uint16_t markable;          /* heaps with save points */
    uint16_t emptied, released; /* by the RESET or MARK at hand, which is of this depth */
    uint32_t depth;
    struct ab_worker *w;
    struct ab_placed_heap heaps[AB_PLACEMENT_HEAPS_MAX];
    uint64_t marks[AB_PLACEMENT_HEAPS_MAX][AB_SAVE_POINTS_MAX + 1]; /* by depth */
};

/* Maps the placement. */
void ab_placed_map(struct ab_worker *w);
/* Between two bursts, while no lane is in one: all views go on with the next. */
void ab_placed_enter_burst(struct ab_worker *w, uint32_t last, uint32_t next);
/* Opens all heaps of it; `face` looks like that of one heap, for whatever is not timed. */
void ab_placed_open(struct ab_worker *w, struct ab_heap_face *face);
/* For one thread that carries out the ops of all lanes: what it passes as heap for those of `lane`,
 * once it has entered as lane 0. */
struct ab_heap *ab_placed_view(const struct ab_worker *w, uint32_t lane);

/* Of such a view: the next request is not made, because its block is NULL. */
void ab_placed_skip(struct ab_heap *view);

/* The second one has the arena, the pool and the slab compiled in. */
ab_lane_pass ab_pass_placed, ab_pass_placed_inline;
ab_lane_pass *ab_placed_pass(const struct ab_worker *w);

/* What is no address: 0, and from then on its heap is not renewed, for frees that it counts on do not
 * come; or one that leaves no room for the heap, which ends the run. */
ab_ref ab_placed_odd(const struct ab_placed *r, ab_ref ref, unsigned heap);

static inline const struct ab_heap_face *ab_placed_next(struct ab_placed *r, unsigned *heap)
{
    *heap = *r->choice++;
    return &r->heaps[*heap].face;
}

static inline const struct ab_heap_face *ab_placed_of(const struct ab_placed *r, ab_ref ref)
{
    return &r->heaps[ref >> AB_PLACED_SHIFT].face;
}

static inline ab_ref ab_placed_tag(const struct ab_placed *r, ab_ref ref, unsigned heap)
{
    if (AB_UNLIKELY(ref - 1 >= AB_PLACED_ADDRESS)) /* 0 as well */
        return ab_placed_odd(r, ref, heap);
    return ref | (ab_ref)heap << AB_PLACED_SHIFT;
}

static inline ab_ref ab_placed_alloc(struct ab_placed *r, size_t size)
{
    unsigned heap;
    const struct ab_heap_face *f = ab_placed_next(r, &heap);
    return ab_placed_tag(r, f->alloc(f->heap, size), heap);
}

static inline void ab_placed_free(struct ab_placed *r, ab_ref ref, size_t size)
{
    const struct ab_heap_face *f = ab_placed_of(r, ref);
    f->free(r->heaps[ref >> AB_PLACED_SHIFT].freed_in, ref & AB_PLACED_ADDRESS, size);
}

/* A malloc among the heaps has a function for it; all others take the size anyway. */
static inline void ab_placed_free_sized(struct ab_placed *r, ab_ref ref, size_t size,
                                        unsigned align_log2)
{
    const struct ab_heap_face *f = ab_placed_of(r, ref);
    struct ab_heap *heap = r->heaps[ref >> AB_PLACED_SHIFT].freed_in;
    if (f->free_sized != NULL)
        f->free_sized(heap, ref & AB_PLACED_ADDRESS, size, align_log2);
    else
        f->free(heap, ref & AB_PLACED_ADDRESS, size);
}

ab_ref ab_placed_zeroed(struct ab_placed *r, size_t size);
ab_ref ab_placed_aligned(struct ab_placed *r, size_t align, size_t size);
/* By the choice before the next one. From heap to heap: an allocation, a copy of what both hold, a
 * free; on failure the block is as it was. */
ab_ref ab_placed_resize(struct ab_placed *r, ab_ref ref, size_t old_size, size_t size);

#endif
