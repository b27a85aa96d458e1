/* SPDX-License-Identifier: MIT
 *
 * Several heaps of one lane behind one interface, some of them compiled in. There is no call
 * between the op and a compiled-in allocator, as in a program that includes the allocator's header.
 * Each compiled-in allocator has a null with a switch case of its own, so that branch prediction
 * works as well with the nulls.
 */
#ifndef AB_WORKER_PLACED_INLINE_H
#define AB_WORKER_PLACED_INLINE_H

#include "allocators/arena/arena.h"
#include "allocators/pool/pool.h"
#include "allocators/slab/slab.h"
#include "worker/placed.h"

/* Keeps the compiler from merging two switch cases with the same code. */
#define AB_PLACED_ARM(name) __asm__ volatile("# " name)

static inline __attribute__((always_inline)) ab_ref ab_placed_inline_alloc(struct ab_placed *r,
                                                                           size_t size)
{
    unsigned heap = *r->choice++;
    const struct ab_placed_heap *h = &r->heaps[heap];
    ab_ref ref;
    switch (h->kind) {
    case AB_PLACED_ARENA:
        ref = (ab_ref)ab_arena_alloc(h->face.object, size);
        break;
    case AB_PLACED_POOL:
        ref = (ab_ref)ab_pool_alloc(h->face.object, size);
        break;
    case AB_PLACED_SLAB:
        ref = (ab_ref)ab_slabs_alloc(h->face.object, size);
        break;
    case AB_PLACED_NULL_ARENA:
        AB_PLACED_ARM("arena");
        ref = (ab_ref)h->face.object;
        break;
    case AB_PLACED_NULL_POOL:
        AB_PLACED_ARM("pool");
        ref = (ab_ref)h->face.object;
        break;
    case AB_PLACED_NULL_SLAB:
        AB_PLACED_ARM("slab");
        ref = (ab_ref)h->face.object;
        break;
    default:
        ref = h->face.alloc(h->face.heap, size);
    }
    return ab_placed_tag(r, ref, heap);
}

/* Counts a free in an arena. A program would not call it, so only the count remains, also for the
 * null. NULL is not counted, because it belongs to no heap: another heap may return NULL for 0
 * bytes. */
static inline void ab_placed_count(const struct ab_placed_heap *h, ab_ref ref)
{
    struct ab_placed_renewal *r = (struct ab_placed_renewal *)(void *)h->freed_in;
    if (AB_LIKELY(ref != 0) && AB_UNLIKELY(--r->left == 0))
        ab_placed_renew(r);
}

static inline __attribute__((always_inline)) void ab_placed_inline_free(struct ab_placed *r,
                                                                        ab_ref ref, size_t size)
{
    const struct ab_placed_heap *h = &r->heaps[ref >> AB_PLACED_SHIFT];
    ab_ref address = ref & AB_PLACED_ADDRESS;
    switch (h->kind) {
    case AB_PLACED_ARENA:
    case AB_PLACED_NULL_ARENA:
        ab_placed_count(h, ref);
        break;
    case AB_PLACED_POOL:
        ab_pool_free(h->face.object, (void *)address);
        break;
    case AB_PLACED_SLAB:
        ab_slabs_free(h->face.object, (void *)address);
        break;
    case AB_PLACED_NULL_POOL:
        AB_PLACED_ARM("pool");
        break;
    case AB_PLACED_NULL_SLAB:
        AB_PLACED_ARM("slab");
        break;
    default:
        h->face.free(h->freed_in, address, size);
    }
}

static inline void ab_placed_inline_free_sized(struct ab_placed *r, ab_ref ref, size_t size,
                                               unsigned align_log2)
{
    if (r->heaps[ref >> AB_PLACED_SHIFT].kind == AB_PLACED_CALLED)
        ab_placed_free_sized(r, ref, size, align_log2);
    else
        ab_placed_inline_free(r, ref, size);
}

#endif
