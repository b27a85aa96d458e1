/* SPDX-License-Identifier: MIT
 *
 * Several heaps behind one face: which of them serves a request is the next byte of the lane's stream
 * (wire/route.h). A block's heap goes into the upper bits of its reference, above all addresses that a
 * process has, so that a free or an access finds it there.
 */
#ifndef AB_WORKER_TARGET_ROUTED_H
#define AB_WORKER_TARGET_ROUTED_H

#include "base/bits.h"
#include "wire/route.h"
#include "worker/worker.h"

struct ab_malloc_calls;

#define AB_ROUTED_SHIFT 57
#define AB_ROUTED_ADDRESS ((UINT64_C(1) << AB_ROUTED_SHIFT) - 1)

/* What a request or a free of a heap is in the loop that has allocators compiled in: enum
 * ab_route_inlined, and for each of them the null. */
enum ab_routed_kind {
    AB_ROUTED_CALLED,
    AB_ROUTED_ARENA,
    AB_ROUTED_POOL,
    AB_ROUTED_SLAB,
    AB_ROUTED_NULLS, /* AB_ROUTED_NULLS + enum ab_route_inlined */
    AB_ROUTED_NULL_ARENA,
    AB_ROUTED_NULL_POOL,
    AB_ROUTED_NULL_SLAB,
};

struct ab_routed_heap {
    _Alignas(128) struct ab_heap_face face;
    struct ab_heap *freed_in; /* what `free` takes: the heap, or what counts its frees */
    enum ab_routed_kind kind;
};

/* A heap that keeps what is freed until its bulk reset: that comes with the free of its last block. */
struct ab_routed_renewal {
    _Alignas(128) const uint32_t *next; /* frees of its next life; a lane's own cache lines */
    uint32_t left;                      /* of this one */
    bool is_on, is_off;                 /* it is counted; its count is off, for good */
    struct ab_heap *heap;
    void (*free)(struct ab_heap *, ab_ref, size_t);
    void (*reset)(struct ab_heap *); /* NULL: of the null back end */
};
/* Its count is used up: the next life, after a bulk reset. */
void ab_routed_renew(struct ab_routed_renewal *r);

struct ab_routed {              /* of one lane */
    const uint8_t *choice;      /* of the next request */
    const uint16_t *empties;    /* of the next RESET or MARK */
    uint16_t resettable;        /* heaps whose reset takes no block of another lane along */
    bool has_usable;            /* all of them say how large a block is */
    uint16_t markable;          /* heaps with save points */
    uint16_t emptied, released; /* by the RESET or MARK at hand, which is of this depth */
    uint32_t depth;
    struct ab_worker *w;
    struct ab_routed_heap heaps[AB_ROUTE_HEAPS_MAX];
    uint64_t marks[AB_ROUTE_HEAPS_MAX][AB_SAVE_POINTS_MAX + 1]; /* by depth */
};

/* Maps the placement. */
void ab_routed_map(struct ab_worker *w);
/* routed_map.c: its file alone, and the part of a burst in place of the last one's. */
void ab_routed_map_file(struct ab_worker *w);
void ab_routed_bring_in(struct ab_worker *w, uint32_t last, uint32_t next);
/* Between two bursts, while no lane is in one: all views go on with the next. */
void ab_routed_enter_burst(struct ab_worker *w, uint32_t last, uint32_t next);
/* Opens all heaps of it; `face` looks like that of one heap, for whatever is not timed. */
void ab_routed_open(struct ab_worker *w, struct ab_heap_face *face);
/* For one thread that carries out the ops of all lanes: what it passes as heap for those of `lane`,
 * once it has entered as lane 0. */
struct ab_heap *ab_routed_view(const struct ab_worker *w, uint32_t lane);

/* Of such a view: the next request is not made, because its block is NULL. */
void ab_routed_skip(struct ab_heap *view);

/* The second one has the arena, the pool and the slab compiled in. */
ab_lane_pass ab_pass_routed, ab_pass_routed_inline;
ab_lane_pass *ab_routed_pass(const struct ab_worker *w);

/* routed_malloc.c: `calls`, which the caller keeps, as the hooks of a heap that is `calls` itself. */
void ab_routed_malloc_hooks(const struct ab_malloc_calls *calls, struct ab_backend *hooks);

/* What is no address: 0, and from then on its heap is not renewed, for frees that it counts on do not
 * come; or one that leaves no room for the heap, which ends the run. */
ab_ref ab_routed_odd(const struct ab_routed *r, ab_ref ref, unsigned heap);

static inline const struct ab_heap_face *ab_routed_next(struct ab_routed *r, unsigned *heap)
{
    *heap = *r->choice++;
    return &r->heaps[*heap].face;
}

static inline const struct ab_heap_face *ab_routed_of(const struct ab_routed *r, ab_ref ref)
{
    return &r->heaps[ref >> AB_ROUTED_SHIFT].face;
}

static inline ab_ref ab_routed_tag(const struct ab_routed *r, ab_ref ref, unsigned heap)
{
    if (AB_UNLIKELY(ref - 1 >= AB_ROUTED_ADDRESS)) /* 0 as well */
        return ab_routed_odd(r, ref, heap);
    return ref | (ab_ref)heap << AB_ROUTED_SHIFT;
}

static inline ab_ref ab_routed_alloc(struct ab_routed *r, size_t size)
{
    unsigned heap;
    const struct ab_heap_face *f = ab_routed_next(r, &heap);
    return ab_routed_tag(r, f->alloc(f->heap, size), heap);
}

static inline void ab_routed_free(struct ab_routed *r, ab_ref ref, size_t size)
{
    const struct ab_heap_face *f = ab_routed_of(r, ref);
    f->free(r->heaps[ref >> AB_ROUTED_SHIFT].freed_in, ref & AB_ROUTED_ADDRESS, size);
}

ab_ref ab_routed_zeroed(struct ab_routed *r, size_t size);
ab_ref ab_routed_aligned(struct ab_routed *r, size_t align, size_t size);
/* By the choice before the next one. From heap to heap: an allocation, a copy of what both hold, a
 * free; on failure the block is as it was. */
ab_ref ab_routed_resize(struct ab_routed *r, ab_ref ref, size_t old_size, size_t size);

#endif
