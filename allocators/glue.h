/* SPDX-License-Identifier: MIT
 *
 * Code that the back ends share: rows of their parameter tables, and a lock for allocators that are
 * written for one thread. Also the parameters and hooks for back ends over a group of heaps
 * (common/shard.h) and for guards, which put canaries around blocks (common/checked.h).
 */
#ifndef AB_ALLOCATORS_GLUE_H
#define AB_ALLOCATORS_GLUE_H

#include "allocators/ab_backend.h"
#include "allocators/common/checked.h"
#include "allocators/common/lock.h"
#include "allocators/common/pages.h"
#include "allocators/common/shard.h"

#include <errno.h>

/* ---- rows of a parameter table; `def` is the default ---- */

#define AB_PARAM_ROW(type_, name_, def_, max_, help_) \
    { \
        .name = name_, .help = help_, .type = type_, .def = def_, .max = max_ \
    }

/* Rows of numbers from 0 to max, and of booleans. */
#define AB_BYTES_ROW(name, def, max, help) AB_PARAM_ROW(AB_PARAM_BYTES, name, def, max, help)
#define AB_COUNT_ROW(name, def, max, help) AB_PARAM_ROW(AB_PARAM_COUNT, name, def, max, help)
#define AB_BOOL_ROW(name, def, help) AB_PARAM_ROW(AB_PARAM_BOOL, name, def, 1, help)
/* A row with the choices of a list that ends with NULL; the default is the first. */
#define AB_CHOICE_ROW(name_, choices_, help_) \
    { \
        .name = name_, .help = help_, .type = AB_PARAM_CHOICE, \
        .max = sizeof choices_ / sizeof choices_[0] - 2, .choices = choices_ \
    }

/* ---- the heap itself ---- */

/* Returns a zeroed heap in pages of its own. Returns NULL and sets errno on failure. */
static inline void *ab_heap_map(size_t heap_bytes)
{
    return ab_pages_map(ab_round_up(heap_bytes, ab_page_size()), 0);
}

static inline void ab_heap_unmap(void *heap, size_t heap_bytes)
{
    ab_pages_release(heap, ab_round_up(heap_bytes, ab_page_size()));
}

/* Returns the result of `open` or `thread_enter` for a new heap: 0, with the heap in *out. If the
 * heap is NULL, returns errno. */
static inline int ab_heap_given(void *heap, struct ab_heap **out)
{
    if (heap == NULL)
        return errno;
    *out = (struct ab_heap *)heap;
    return 0;
}

/* ---- a lock around every call, taken only if the workload has more than one lane ----
 *
 * Hot hooks test `is_shared` themselves and keep the locked form out of line; the others use
 * AB_LOCK_GUARD. */

enum ab_lane_lock_choice { AB_LANE_LOCK_AUTO, AB_LANE_LOCK_MUTEX };

static const char *const ab_lane_lock_choices[] = {"auto", "mutex", NULL};

#define AB_LANE_LOCK_PARAM \
    AB_CHOICE_ROW("threads", ab_lane_lock_choices, \
                  "auto = a mutex with more than one lane, mutex = always")

static inline void ab_lane_lock_init(struct ab_lock *lock, uint64_t choice, uint32_t lanes)
{
    ab_lock_init(lock, choice == AB_LANE_LOCK_MUTEX || lanes > 1);
}

/* ---- a group of heaps, each of which begins with an ab_shard ---- */

/* The choices of the parameter `threads`. AUTO means no lock for one lane, otherwise a mutex. A
 * back end may add choices after these. */
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

/* Sets the options of a group. `several` is the number of heaps with threads=sharded; 0 = one per
 * lane. Returns 0, or EINVAL for several lanes without a lock. */
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

/* Defines the hooks over a group: in_group_close and so on. struct ab_heap must have a struct GROUP
 * `own`. With threads=local, no other thread may be in a call during close, reset and purge. */
#define AB_GROUP_HOOKS(group) \
    static void in_group_close(struct ab_heap *heap) \
    { \
        group##_close(&heap->own); \
    } \
    static void in_group_reset(struct ab_heap *heap) \
    { \
        group##_reset(&heap->own); \
    } \
    static void in_group_purge(struct ab_heap *heap) \
    { \
        group##_purge(&heap->own); \
    } \
    static int in_group_thread_enter(struct ab_heap *heap, uint32_t lane, struct ab_heap **out) \
    { \
        return ab_heap_given(group##_enter(&heap->own, lane), out); \
    } \
    static void in_group_thread_leave(struct ab_heap *heap) \
    { \
        group##_leave(&heap->own); \
    }

/* Defines the hooks outside of the fast path: kind_alloc_guarded and so on. They are out of line.
 * With guards they put canaries around the blocks; otherwise they call the allocator below. `below`
 * is a struct ab_guard_below that describes that allocator, whose free must accept NULL. */
#define AB_GUARDED_HOOKS(kind, below) \
    __attribute__((noinline)) static ab_ref kind##_alloc_guarded( \
        struct ab_heap *heap, size_t align, size_t size, bool is_zeroed) \
    { \
        return (ab_ref)(ab_heap_is_guarded(heap) \
                            ? ab_guard_alloc(&below, heap, align, size, is_zeroed) \
                            : below.alloc(heap, align, size, is_zeroed)); \
    } \
    static ab_ref kind##_alloc_aligned(struct ab_heap *heap, size_t align, size_t size) \
    { \
        return kind##_alloc_guarded(heap, align, size, false); \
    } \
    static ab_ref kind##_alloc_zeroed(struct ab_heap *heap, size_t size) \
    { \
        return kind##_alloc_guarded(heap, 0, size, true); \
    } \
    __attribute__((noinline)) static void kind##_free_guarded(struct ab_heap *heap, ab_ref ref) \
    { \
        if (ab_heap_is_guarded(heap)) \
            ab_guard_free(&below, heap, (void *)ref); \
        else \
            below.free(heap, (void *)ref); \
    }

#endif
