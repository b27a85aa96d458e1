/* SPDX-License-Identifier: MIT
 *
 * Several heaps behind one interface (struct ab_heap_face). For each request, the next byte of the
 * lane's stream says which heap serves it (wire/placement_file.h). The upper bits of a reference
 * hold the number of the block's heap, so that a free or an access finds the heap. These bits are
 * above all addresses that a process has.
 */
#ifndef AB_WORKER_PLACED_H
#define AB_WORKER_PLACED_H

#include "base/bits.h"
#include "wire/placement_file.h"
#include "worker/worker.h"

struct ab_malloc_calls;

#define AB_PLACED_SHIFT 57
#define AB_PLACED_ADDRESS ((UINT64_C(1) << AB_PLACED_SHIFT) - 1)

/* Kind of a heap in the loop that has allocators compiled in. The first kinds are those of enum
 * ab_placement_inlined; then comes a null for each of them. */
enum ab_placed_kind {
    AB_PLACED_CALLED,
    AB_PLACED_ARENA,
    AB_PLACED_POOL,
    AB_PLACED_SLAB,
    AB_PLACED_NULLS, /* AB_PLACED_NULLS + i is the null of kind i */
    AB_PLACED_NULL_ARENA,
    AB_PLACED_NULL_POOL,
    AB_PLACED_NULL_SLAB,
};

struct ab_placed_heap {
    _Alignas(128) struct ab_heap_face face;
    /* heap argument of `free`: the heap itself, or the struct ab_placed_renewal that counts its
     * frees */
    struct ab_heap *freed_in;
    enum ab_placed_kind kind;
};

/* Renewal of a heap that keeps freed blocks until its bulk reset. The reset comes with the free of
 * the heap's last block. */
struct ab_placed_renewal {
    /* number of frees until the heap is empty again, for each of its next lives; on cache lines of
     * its own */
    _Alignas(128) const uint32_t *next;
    uint32_t left; /* number of frees left in this life */
    /* is_on: the heap is renewed; is_off: no longer, because its count is wrong */
    bool is_on, is_off;
    struct ab_heap *heap;
    void (*free)(struct ab_heap *, ab_ref, size_t);
    void (*reset)(struct ab_heap *); /* NULL for the null back end */
};
/* Begins the next life with a bulk reset, after the last counted free. */
void ab_placed_renew(struct ab_placed_renewal *r);

struct ab_placed {              /* the heaps as one lane sees them */
    const uint8_t *choice;      /* heap of the next request */
    const uint16_t *empties;    /* masks for the next RESET or MARK */
    uint16_t resettable;        /* mask of the heaps whose reset frees no block of another lane */
    bool has_usable;            /* True if all heaps have usable_size. */
    uint16_t markable;          /* mask of the heaps with save points */
    uint16_t emptied, released; /* masks for the current RESET or MARK */
    uint32_t depth;
    struct ab_worker *w;
    struct ab_placed_heap heaps[AB_PLACEMENT_HEAPS_MAX];
    /* save points of each heap, by depth */
    uint64_t marks[AB_PLACEMENT_HEAPS_MAX][AB_SAVE_POINTS_MAX + 1];
};

/* Maps the placement file. Called before anything else of this file. */
void ab_placed_map(struct ab_worker *w);
/* Moves the views of all lanes to the next burst. Called between two bursts, while no lane runs. */
void ab_placed_enter_burst(struct ab_worker *w, uint32_t last, uint32_t next);
/* Opens all heaps of the placement. Fills `face`, which looks like the face of one heap, for passes
 * that are not timed. */
void ab_placed_open(struct ab_worker *w, struct ab_heap_face *face);
/* Returns the heap argument for ops of `lane`. For a thread that carries out the ops of all lanes,
 * and has entered as lane 0. */
struct ab_heap *ab_placed_view(const struct ab_worker *w, uint32_t lane);

/* Skips the next request of the view without a call, because its block is NULL. */
void ab_placed_skip(struct ab_heap *view);

/* The loops over several heaps. ab_pass_placed_inline has the arena, the pool and the slab compiled
 * in. */
ab_lane_pass ab_pass_placed, ab_pass_placed_inline;
ab_lane_pass *ab_placed_pass(const struct ab_worker *w);

/* Handles a reference that cannot carry a heap number. For 0, stops the renewals of the heap,
 * because a free that was counted on will not come. Any other such reference has bits where the
 * heap number belongs, and ends the run. */
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
    if (AB_UNLIKELY(ref - 1 >= AB_PLACED_ADDRESS)) /* the test is also true for 0 */
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

/* Frees with the size, if the heap is a malloc library with a sized free. The free of any other
 * heap always takes the size. */
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
/* Resizes a block in the heap that the last byte of the stream names. If the block is in another
 * heap, allocates, copies and frees. On failure the block stays as it was. */
ab_ref ab_placed_resize(struct ab_placed *r, ab_ref ref, size_t old_size, size_t size);

#endif
