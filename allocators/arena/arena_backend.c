/* SPDX-License-Identifier: MIT
 *
 * The arena as a back end. The reservation is sized from the facts: all that will ever be asked
 * for, since nothing is given back before a reset; addresses cost nothing. With threads=local each
 * lane has an arena of its own, made when its thread first enters and kept until the heap closes,
 * because its blocks outlive the thread.
 */
#include "allocators/arena/arena_backend.h"
#include "allocators/ab_backend.h"
#include "allocators/arena/arena.h"
#include "allocators/common/pages.h"
#include "allocators/lane_lock.h"
#include "allocators/params.h"

#include <errno.h>

/* The root, or the arena of one lane. Lanes share no cache line. */
struct ab_heap {
    _Alignas(64) struct ab_arena arena;
    struct ab_lane_lock lock;
    struct ab_arena_options options;
    struct ab_heap *first_lane, *next_lane; /* of the root, of a lane: those that were entered */
    uint32_t n_lanes; /* of the root with threads=local, else 0; lane i is at this + 1 + i */
    size_t mapped_bytes;
};

/* A loop with the arena inlined may take the heap of one lane for its arena. */
_Static_assert(offsetof(struct ab_heap, arena) == 0, "the heap begins with its arena");

enum {
    PARAM_RESERVE,
    PARAM_COMMIT,
    PARAM_KEEP,
    PARAM_HUGE,
    PARAM_POPULATE,
    PARAM_THREADS,
    PARAM_COUNT
};
enum { THREADS_AUTO, THREADS_MUTEX, THREADS_NONE, THREADS_LOCAL };

#define LARGEST_RESERVE ((uint64_t)1 << 46) /* half of what a process can address on x86-64 */
#define SLACK_BYTES ((uint64_t)1 << 20)

static const char *const thread_choices[] = {"auto", "mutex", "none", "local", NULL};

static const struct ab_param params[PARAM_COUNT] = {
    [PARAM_RESERVE] = AB_BYTES_ROW("reserve", 0, LARGEST_RESERVE,
                                   "address space to reserve; 0 = all that the workload requests "
                                   "in total"),
    [PARAM_COMMIT] = AB_BYTES_ROW("commit", 0, (uint64_t)1 << 40,
                                  "commit in steps of this size; 0 = growing steps from 64 KiB"),
    [PARAM_KEEP] = AB_BYTES_ROW("keep", 0, (uint64_t)1 << 40,
                                "keep at most this much committed at a reset; 0 = all of it"),
    [PARAM_HUGE] = AB_BOOL_ROW("huge", 0,
                               "request huge pages, committed 2 MiB at a time or in larger steps"),
    [PARAM_POPULATE] = AB_BOOL_ROW("populate", 0,
                                   "populate pages when they are committed, not at the first "
                                   "touch"),
    [PARAM_THREADS] = AB_CHOICE_ROW("threads", thread_choices,
                                    "auto = a mutex with more than one lane, mutex = always, "
                                    "local = one arena per lane, none = no locking, one lane only"),
};

/* Every block is rounded up to 16 bytes, an aligned one may in addition lose align − 1. */
static uint64_t reserve_for(const struct ab_facts *f, uint64_t n_arenas)
{
    uint64_t each = AB_ARENA_ALIGN, bytes, largest = LARGEST_RESERVE / n_arenas;
    if (f->largest_align > AB_ARENA_ALIGN)
        each += f->largest_align;
    if (__builtin_mul_overflow(f->total_blocks, each, &bytes) ||
        __builtin_add_overflow(bytes, f->total_bytes, &bytes) ||
        __builtin_add_overflow(bytes, SLACK_BYTES, &bytes) || bytes > largest)
        return largest;
    return bytes;
}

static struct ab_arena_options options_for(const struct ab_open_args *args, uint64_t n_arenas)
{
    const uint64_t *values = args->values;
    uint64_t reserve = values[PARAM_RESERVE];
    return (struct ab_arena_options){
        .reserve_bytes = reserve != 0 ? reserve : reserve_for(args->facts, n_arenas),
        .step_bytes = values[PARAM_COMMIT],
        .keep_bytes = values[PARAM_KEEP],
        .huge = values[PARAM_HUGE] != 0,
        .populate = values[PARAM_POPULATE] != 0,
    };
}

static int arena_open(const struct ab_open_args *args, struct ab_heap **out)
{
    uint64_t threads = args->values[PARAM_THREADS];
    uint32_t lanes = args->facts->lanes, n_own = threads == THREADS_LOCAL ? lanes : 0;
    if (threads == THREADS_NONE && lanes > 1)
        return ENOTSUP;
    size_t page = ab_page_size();
    size_t bytes = ab_round_up(((size_t)n_own + 1) * sizeof(struct ab_heap), page);
    struct ab_heap *heap = ab_pages_map(bytes, page);
    if (heap == NULL)
        return errno;
    heap->options = options_for(args, (uint64_t)n_own + 1);
    int error = ab_arena_init(&heap->arena, &heap->options);
    if (error != 0) {
        ab_pages_release(heap, bytes);
        return error;
    }
    ab_lane_lock_init(&heap->lock, threads == THREADS_MUTEX ? AB_THREADS_MUTEX : AB_THREADS_AUTO,
                      lanes);
    heap->n_lanes = n_own;
    heap->mapped_bytes = bytes;
    *out = heap;
    return 0;
}

/* The heap itself, then its lanes'; a lane's has none. */
static struct ab_heap *after(const struct ab_heap *heap, const struct ab_heap *h)
{
    return h == heap ? heap->first_lane : h->next_lane;
}

static void arena_close(struct ab_heap *heap)
{
    for (struct ab_heap *h = heap; h != NULL; h = after(heap, h))
        ab_arena_fini(&h->arena);
    ab_pages_release(heap, heap->mapped_bytes);
}

static int enter_first(struct ab_heap *heap, struct ab_heap *own)
{
    int error = ab_arena_init(&own->arena, &heap->options);
    if (error != 0)
        return error;
    AB_LANE_GUARD(heap);
    own->next_lane = heap->first_lane;
    heap->first_lane = own;
    return 0;
}

/* The successor of a thread that ended goes on in its arena. */
static int arena_thread_enter(struct ab_heap *heap, uint32_t lane, struct ab_heap **out)
{
    if (lane >= heap->n_lanes)
        return EINVAL;
    struct ab_heap *own = heap + 1 + lane;
    int error = own->arena.base == NULL ? enter_first(heap, own) : 0;
    if (error == 0)
        *out = own;
    return error;
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

/* A small alignment is no wish for close blocks here: malloc's natural one holds as well. */
static ab_ref arena_alloc_aligned(struct ab_heap *heap, size_t align, size_t size)
{
    bool is_small = align == 1 || align == 2 || align == 4 || align == 8;
    AB_LANE_GUARD(heap);
    return (ab_ref)ab_arena_alloc_aligned(&heap->arena, is_small ? AB_ARENA_ALIGN : align, size);
}

static ab_ref arena_alloc_zeroed(struct ab_heap *heap, size_t size)
{
    AB_LANE_GUARD(heap);
    return (ab_ref)ab_arena_alloc_zeroed(&heap->arena, size);
}

static void arena_free(struct ab_heap *heap, ab_ref ref, size_t size)
{
    (void)heap;
    (void)ref;
    (void)size;
}

static ab_ref arena_resize(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t new_size)
{
    AB_LANE_GUARD(heap);
    return (ab_ref)ab_arena_resize(&heap->arena, (void *)ref, old_size, new_size);
}

static void arena_reset(struct ab_heap *heap)
{
    AB_LANE_GUARD(heap);
    ab_arena_reset(&heap->arena);
}

static uint64_t arena_mark(struct ab_heap *heap)
{
    AB_LANE_GUARD(heap);
    return ab_arena_save(&heap->arena).position;
}

static void arena_release(struct ab_heap *heap, uint64_t mark)
{
    AB_LANE_GUARD(heap);
    ab_arena_restore_position(&heap->arena, mark);
}

/* Of the root: its lanes too, which are at rest then. */
static void arena_purge(struct ab_heap *heap)
{
    AB_LANE_GUARD(heap);
    for (struct ab_heap *h = heap; h != NULL; h = after(heap, h))
        ab_arena_purge(&h->arena);
}

/* What is live is unknown: a free leaves nothing in the arena. Of the root: the sum with
 * its lanes, which are at rest then. */
static int arena_stats(struct ab_heap *heap, struct ab_heap_stats *out)
{
    struct ab_heap_stats sum = {.live_bytes = AB_UNKNOWN};
    AB_LANE_GUARD(heap);
    for (const struct ab_heap *h = heap; h != NULL; h = after(heap, h)) {
        const struct ab_arena *a = &h->arena;
        sum.reserved_bytes += (uint64_t)(a->end - a->base);
        sum.committed_bytes += ab_arena_committed(a);
        sum.os_calls += a->n_os_calls;
        sum.metadata_bytes += sizeof *h;
    }
    *out = sum;
    return 0;
}

static const struct ab_backend *arena_variant(const uint64_t *values);

#define TABLE(more_traits, thread_enter_) \
    { \
        .abi = AB_BACKEND_ABI, .size = sizeof(struct ab_backend), .name = "arena", \
        .summary = "virtual-memory arena: reserve, commit by page, bump; free is a no-op", \
        .traits = AB_TRAIT_NO_FREE | AB_TRAIT_REMOTE_FREE | (more_traits), .params = params, \
        .n_params = PARAM_COUNT, .open = arena_open, .close = arena_close, .alloc = arena_alloc, \
        .alloc_aligned = arena_alloc_aligned, .alloc_zeroed = arena_alloc_zeroed, \
        .free = arena_free, .resize = arena_resize, .reset = arena_reset, .mark = arena_mark, \
        .release = arena_release, .purge = arena_purge, .stats = arena_stats, \
        .thread_enter = (thread_enter_), .variant = arena_variant, \
    }

struct ab_arena *ab_arena_of_heap(struct ab_heap *heap)
{
    return heap->lock.is_shared ? NULL : &heap->arena;
}

extern const struct ab_backend ab_arena_backend;

const struct ab_backend ab_arena_backend = TABLE(AB_TRAIT_THREAD_SAFE, NULL);
static const struct ab_backend for_one_lane = TABLE(0, NULL);
static const struct ab_backend for_each_lane = TABLE(AB_TRAIT_THREAD_SAFE, arena_thread_enter);

static const struct ab_backend *arena_variant(const uint64_t *values)
{
    return values[PARAM_THREADS] == THREADS_LOCAL  ? &for_each_lane
           : values[PARAM_THREADS] == THREADS_NONE ? &for_one_lane
                                                   : &ab_arena_backend;
}
