/* SPDX-License-Identifier: MIT
 *
 * The arena as a back end. The reservation is sized from the facts: all that will ever be asked
 * for, since nothing is given back before a reset; addresses cost nothing.
 */
#include "allocators/ab_backend.h"
#include "allocators/arena/arena.h"
#include "allocators/lane_lock.h"

#include <errno.h>
#include <sys/mman.h>

struct ab_heap {
    struct ab_arena arena;
    struct ab_lane_lock lock;
};

enum { PARAM_RESERVE, PARAM_COMMIT, PARAM_HUGE, PARAM_THREADS, PARAM_COUNT };

#define LARGEST_RESERVE ((uint64_t)1 << 46) /* half of what a process can address on x86-64 */
#define HUGE_PAGE_BYTES ((uint64_t)2 << 20)
#define SLACK_BYTES ((uint64_t)1 << 20)

static const struct ab_param params[PARAM_COUNT] = {
    [PARAM_RESERVE] = {.name = "reserve",
                       .help = "addresses to reserve; 0 = all that the work asks for in total",
                       .type = AB_PARAM_BYTES,
                       .max = LARGEST_RESERVE},
    [PARAM_COMMIT] = {.name = "commit",
                      .help = "commit in steps of this size; 0 = growing steps from 64 KiB",
                      .type = AB_PARAM_BYTES,
                      .max = (uint64_t)1 << 40},
    [PARAM_HUGE] = {.name = "huge",
                    .help = "ask for huge pages, committed 2 MiB at a time or in larger steps",
                    .type = AB_PARAM_BOOL,
                    .max = 1},
    [PARAM_THREADS] = AB_LANE_LOCK_PARAM,
};

/* Every block is rounded up to 16 bytes, an aligned one may in addition lose align − 1. */
static uint64_t reserve_for(const struct ab_facts *f)
{
    uint64_t each = AB_ARENA_ALIGN, bytes;
    if (f->largest_align > AB_ARENA_ALIGN)
        each += f->largest_align;
    if (__builtin_mul_overflow(f->total_blocks, each, &bytes) ||
        __builtin_add_overflow(bytes, f->total_bytes, &bytes) ||
        __builtin_add_overflow(bytes, SLACK_BYTES, &bytes) || bytes > LARGEST_RESERVE)
        return LARGEST_RESERVE;
    return bytes;
}

static int init_arena(struct ab_arena *arena, uint64_t reserve, const uint64_t *values)
{
    uint64_t step = values[PARAM_COMMIT];
    if (values[PARAM_HUGE] && step < HUGE_PAGE_BYTES)
        step = HUGE_PAGE_BYTES;
    int error = ab_arena_init(arena, reserve, step);
    if (error == 0 && values[PARAM_HUGE] &&
        madvise(arena->base, (size_t)(arena->end - arena->base), MADV_HUGEPAGE) != 0) {
        error = errno;
        ab_arena_fini(arena);
    }
    return error;
}

static int arena_open(const struct ab_open_args *args, struct ab_heap **out)
{
    uint64_t reserve = args->values[PARAM_RESERVE];
    if (reserve == 0)
        reserve = reserve_for(args->facts);
    struct ab_heap *heap = mmap(NULL, sizeof *heap, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (heap == MAP_FAILED)
        return errno;
    int error = init_arena(&heap->arena, reserve, args->values);
    if (error != 0) {
        munmap(heap, sizeof *heap);
        return error;
    }
    ab_lane_lock_init(&heap->lock, args->values[PARAM_THREADS], args->facts->lanes);
    *out = heap;
    return 0;
}

static void arena_close(struct ab_heap *heap)
{
    ab_arena_fini(&heap->arena);
    munmap(heap, sizeof *heap);
}

static __attribute__((noinline)) ab_ref alloc_locked(struct ab_heap *heap, size_t size)
{
    pthread_mutex_lock(&heap->lock.mutex);
    void *block = ab_arena_alloc(&heap->arena, size);
    pthread_mutex_unlock(&heap->lock.mutex);
    return (ab_ref)block;
}

static ab_ref arena_alloc(struct ab_heap *heap, size_t size)
{
    if (__builtin_expect(heap->lock.is_shared, 0))
        return alloc_locked(heap, size);
    return (ab_ref)ab_arena_alloc(&heap->arena, size);
}

static ab_ref arena_alloc_aligned(struct ab_heap *heap, size_t align, size_t size)
{
    ab_lane_lock(&heap->lock);
    void *block = ab_arena_alloc_aligned(&heap->arena, align, size);
    ab_lane_unlock(&heap->lock);
    return (ab_ref)block;
}

static ab_ref arena_alloc_zeroed(struct ab_heap *heap, size_t size)
{
    ab_lane_lock(&heap->lock);
    void *block = ab_arena_alloc_zeroed(&heap->arena, size);
    ab_lane_unlock(&heap->lock);
    return (ab_ref)block;
}

static void arena_free(struct ab_heap *heap, ab_ref ref, size_t size)
{
    (void)heap;
    (void)ref;
    (void)size;
}

static ab_ref arena_resize(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t new_size)
{
    ab_lane_lock(&heap->lock);
    void *block = ab_arena_resize(&heap->arena, (void *)ref, old_size, new_size);
    ab_lane_unlock(&heap->lock);
    return (ab_ref)block;
}

static void arena_reset(struct ab_heap *heap)
{
    ab_lane_lock(&heap->lock);
    ab_arena_reset(&heap->arena);
    ab_lane_unlock(&heap->lock);
}

static uint64_t arena_mark(struct ab_heap *heap)
{
    ab_lane_lock(&heap->lock);
    uint64_t mark = ab_arena_save(&heap->arena);
    ab_lane_unlock(&heap->lock);
    return mark;
}

static void arena_release(struct ab_heap *heap, uint64_t mark)
{
    ab_lane_lock(&heap->lock);
    ab_arena_restore(&heap->arena, mark);
    ab_lane_unlock(&heap->lock);
}

static void arena_purge(struct ab_heap *heap)
{
    ab_lane_lock(&heap->lock);
    ab_arena_purge(&heap->arena);
    ab_lane_unlock(&heap->lock);
}

/* What is live is unknown: the arena is never told anything by a free. */
static int arena_stats(struct ab_heap *heap, struct ab_heap_stats *out)
{
    ab_lane_lock(&heap->lock);
    const struct ab_arena *a = &heap->arena;
    *out = (struct ab_heap_stats){
        .reserved_bytes = (uint64_t)(a->end - a->base),
        .committed_bytes = ab_arena_committed(a),
        .live_bytes = AB_UNKNOWN,
        .metadata_bytes = sizeof *heap,
        .os_calls = a->n_os_calls,
    };
    ab_lane_unlock(&heap->lock);
    return 0;
}

extern const struct ab_backend ab_arena_backend;

const struct ab_backend ab_arena_backend = {
    .abi = AB_BACKEND_ABI,
    .size = sizeof(struct ab_backend),
    .name = "arena",
    .summary = "virtual-memory arena: reserve, commit by page, bump; free is a no-op",
    .traits = AB_TRAIT_NO_FREE | AB_TRAIT_THREAD_SAFE | AB_TRAIT_REMOTE_FREE,
    .params = params,
    .n_params = PARAM_COUNT,
    .open = arena_open,
    .close = arena_close,
    .alloc = arena_alloc,
    .alloc_aligned = arena_alloc_aligned,
    .alloc_zeroed = arena_alloc_zeroed,
    .free = arena_free,
    .resize = arena_resize,
    .reset = arena_reset,
    .mark = arena_mark,
    .release = arena_release,
    .purge = arena_purge,
    .stats = arena_stats,
};
