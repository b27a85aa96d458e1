/* SPDX-License-Identifier: MIT
 *
 * Several heaps of one lane behind one face, some of them compiled in: no call between the op and such
 * an allocator, as in a program that includes its header. Each has an arm of its own for its null too, so
 * that a processor guesses the next arm as well there.
 */
#ifndef AB_WORKER_TARGET_ROUTED_INLINE_H
#define AB_WORKER_TARGET_ROUTED_INLINE_H

#include "allocators/arena/arena.h"
#include "allocators/pool/pool.h"
#include "allocators/slab/slab.h"
#include "worker/target/routed.h"

/* Keeps two arms that do the same apart. */
#define AB_ROUTED_ARM(name) __asm__ volatile("# " name)

static inline __attribute__((always_inline)) ab_ref ab_routed_inline_alloc(struct ab_routed *r,
                                                                           size_t size)
{
    unsigned heap = *r->choice++;
    const struct ab_routed_heap *h = &r->heaps[heap];
    ab_ref ref;
    switch (h->kind) {
    case AB_ROUTED_ARENA:
        ref = (ab_ref)ab_arena_alloc(h->face.object, size);
        break;
    case AB_ROUTED_POOL:
        ref = (ab_ref)ab_pool_alloc(h->face.object, size);
        break;
    case AB_ROUTED_SLAB:
        ref = (ab_ref)ab_slabs_alloc(h->face.object, size);
        break;
    case AB_ROUTED_NULL_ARENA:
        AB_ROUTED_ARM("arena");
        ref = (ab_ref)h->face.object;
        break;
    case AB_ROUTED_NULL_POOL:
        AB_ROUTED_ARM("pool");
        ref = (ab_ref)h->face.object;
        break;
    case AB_ROUTED_NULL_SLAB:
        AB_ROUTED_ARM("slab");
        ref = (ab_ref)h->face.object;
        break;
    default:
        ref = h->face.alloc(h->face.heap, size);
    }
    return ab_routed_tag(r, ref, heap);
}

/* A program does not free what is in an arena: what is left is the count, for the null as well. NULL is
 * of no heap: it may be what another one gives for 0 bytes. */
static inline void ab_routed_count(const struct ab_routed_heap *h, ab_ref ref)
{
    struct ab_routed_renewal *r = (struct ab_routed_renewal *)(void *)h->freed_in;
    if (AB_LIKELY(ref != 0) && AB_UNLIKELY(--r->left == 0))
        ab_routed_renew(r);
}

static inline __attribute__((always_inline)) void ab_routed_inline_free(struct ab_routed *r,
                                                                        ab_ref ref, size_t size)
{
    const struct ab_routed_heap *h = &r->heaps[ref >> AB_ROUTED_SHIFT];
    ab_ref address = ref & AB_ROUTED_ADDRESS;
    switch (h->kind) {
    case AB_ROUTED_ARENA:
    case AB_ROUTED_NULL_ARENA:
        ab_routed_count(h, ref);
        break;
    case AB_ROUTED_POOL:
        ab_pool_free(h->face.object, (void *)address);
        break;
    case AB_ROUTED_SLAB:
        ab_slabs_free(h->face.object, (void *)address);
        break;
    case AB_ROUTED_NULL_POOL:
        AB_ROUTED_ARM("pool");
        break;
    case AB_ROUTED_NULL_SLAB:
        AB_ROUTED_ARM("slab");
        break;
    default:
        h->face.free(h->freed_in, address, size);
    }
}

#endif
