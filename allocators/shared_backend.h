/* SPDX-License-Identifier: MIT
 *
 * The parameters and hooks that back ends over a group of heaps share (common/shard.h): how threads
 * share it, and the guards between canaries (common/guard.h). A heap begins with an ab_shard.
 */
#ifndef AB_ALLOCATORS_SHARED_BACKEND_H
#define AB_ALLOCATORS_SHARED_BACKEND_H

#include "allocators/common/guard.h"
#include "allocators/common/shard.h"
#include "allocators/params.h"

#include <errno.h>

/* The choices of a parameter `threads`; auto: none where there is one lane, else a mutex. A back end
 * may have more after them. */
enum ab_threads {
    AB_THREADS_AUTO,
    AB_THREADS_MUTEX,
    AB_THREADS_NONE,
    AB_THREADS_LOCAL,
    AB_THREADS_SHARDED,
    AB_THREADS_COUNT
};
#define AB_THREADS_CHOICES "auto", "mutex", "none", "local", "sharded"

#define AB_DEBUG_PARAM \
    AB_BOOL_ROW("debug", 0, \
                "canaries and poison; freeing a corrupted, foreign or freed block aborts the " \
                "process")

/* 0, or EINVAL for no lock and several lanes; `several`: heaps with threads=sharded, 0 = one a
 * lane. */
static inline int ab_threads_options(uint64_t threads, uint64_t several, uint32_t lanes,
                                     struct ab_shards_options *out)
{
    bool is_single = threads == AB_THREADS_NONE || (threads == AB_THREADS_AUTO && lanes <= 1);
    if (is_single && lanes > 1)
        return EINVAL;
    *out = (struct ab_shards_options){.mode = is_single                       ? AB_SHARDS_ONE
                                              : threads == AB_THREADS_LOCAL   ? AB_SHARDS_LOCAL
                                              : threads == AB_THREADS_SHARDED ? AB_SHARDS_SHARDED
                                                                              : AB_SHARDS_MUTEX,
                                      .n = lanes > 0 ? lanes : 1};
    if (threads == AB_THREADS_SHARDED && several > 0)
        out->n = (uint32_t)several;
    return 0;
}

static inline bool ab_heap_is_guarded(const struct ab_heap *heap)
{
    return ((const struct ab_shard *)heap)->is_guarded;
}

/* Off the fast path, and out of line: guarded, or as the allocator below has it, whose free does
 * nothing with NULL. */
__attribute__((noinline, unused)) static ab_ref ab_guarded_alloc(const struct ab_guard_below *below,
                                                                 struct ab_heap *heap, size_t align,
                                                                 size_t size, bool is_zeroed)
{
    return (ab_ref)(ab_heap_is_guarded(heap) ? ab_guard_alloc(below, heap, align, size, is_zeroed)
                                             : below->alloc(heap, align, size, is_zeroed));
}

__attribute__((noinline, unused)) static void ab_guarded_free(const struct ab_guard_below *below,
                                                              struct ab_heap *heap, ab_ref ref)
{
    if (ab_heap_is_guarded(heap))
        ab_guard_free(below, heap, (void *)ref);
    else
        below->free(heap, (void *)ref);
}

#endif
