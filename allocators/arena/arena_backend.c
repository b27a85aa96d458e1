/* SPDX-License-Identifier: MIT
 *
 * The arena as a back end: the modes of arena_shared.h that make sense for an arena. The
 * reservation is sized from the facts: the bytes of all requests, because nothing is given back
 * before a reset, and addresses cost nothing. With threads=local, the arena of a lane is created
 * when its thread first enters. It is kept until the heap closes, because its blocks outlive the
 * thread; the successor of a thread that ended continues in it.
 */
#include "allocators/arena/arena_shared.h"
#include "allocators/glue.h"

struct ab_heap {
    struct ab_arena_shared own;
};

enum {
    PARAM_RESERVE,
    PARAM_COMMIT,
    PARAM_KEEP,
    PARAM_HUGE,
    PARAM_POPULATE,
    PARAM_THREADS,
    PARAM_COUNT
};
#define LARGEST_RESERVE ((uint64_t)1 << 46) /* half of what a process can address on x86-64 */
#define SLACK_BYTES ((uint64_t)1 << 20)

/* The choices of AB_THREADS_CHOICES without the last one, "sharded". */
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

/* Every block is rounded up to 16 bytes; an aligned one may additionally lose align − 1 bytes. */
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
    uint32_t lanes = args->facts->lanes, n_own = threads == AB_THREADS_LOCAL ? lanes : 0;
    struct ab_arena_shared_options options = {.arena = options_for(args, (uint64_t)n_own + 1)};
    if (ab_threads_options(threads, 0, lanes, &options.threads) != 0)
        return ENOTSUP;
    return ab_heap_given(ab_arena_shared_open(&options), out);
}

AB_GROUP_HOOKS(ab_arena_shared)

static ab_ref arena_alloc(struct ab_heap *heap, size_t size)
{
    return (ab_ref)ab_arena_shared_alloc(&heap->own, size);
}

/* Raises the alignments 1, 2, 4 and 8 to 16. ab_arena_alloc_aligned() would pack such blocks, but
 * the caller of a back end asks for an alignment, not for packing. */
static ab_ref arena_alloc_aligned(struct ab_heap *heap, size_t align, size_t size)
{
    bool is_small = align == 1 || align == 2 || align == 4 || align == 8;
    size_t wanted = is_small ? AB_ARENA_ALIGN : align;
    return (ab_ref)ab_arena_shared_alloc_aligned(&heap->own, wanted, size);
}

static ab_ref arena_alloc_zeroed(struct ab_heap *heap, size_t size)
{
    return (ab_ref)ab_arena_shared_alloc_zeroed(&heap->own, size);
}

static void arena_free(struct ab_heap *heap, ab_ref ref, size_t size)
{
    (void)heap, (void)ref, (void)size;
}

static ab_ref arena_resize(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t new_size)
{
    return (ab_ref)ab_arena_shared_resize(&heap->own, (void *)ref, old_size, new_size);
}

static uint64_t arena_mark(struct ab_heap *heap)
{
    return ab_arena_shared_save(&heap->own).position;
}

static void arena_release(struct ab_heap *heap, uint64_t mark)
{
    ab_shard_lock(&heap->own.shard);
    ab_arena_restore_position(&heap->own.arena, mark);
    ab_shard_unlock(&heap->own.shard);
}

/* Reports the figures. The live bytes are unknown, because a free leaves no trace in the arena. */
static int arena_stats(struct ab_heap *heap, struct ab_heap_stats *out)
{
    struct ab_arena_shared_sums sums = ab_arena_shared_sum(&heap->own);
    *out = (struct ab_heap_stats){
        .reserved_bytes = sums.reserved,
        .committed_bytes = sums.committed,
        .live_bytes = AB_UNKNOWN,
        .metadata_bytes = sums.n_arenas * sizeof(struct ab_arena_shared),
        .os_calls = sums.n_os_calls,
    };
    return 0;
}

static const struct ab_backend *arena_variant(const uint64_t *values);

#define TABLE(more_traits, thread_enter_, thread_leave_) \
    { \
        .abi = AB_BACKEND_ABI, .size = sizeof(struct ab_backend), .name = "arena", \
        .summary = "virtual-memory arena: reserve, commit by page, bump; free is a no-op", \
        .traits = AB_TRAIT_NO_FREE | AB_TRAIT_REMOTE_FREE | (more_traits), .params = params, \
        .n_params = PARAM_COUNT, .open = arena_open, .close = in_group_close, \
        .alloc = arena_alloc, .alloc_aligned = arena_alloc_aligned, \
        .alloc_zeroed = arena_alloc_zeroed, .free = arena_free, .resize = arena_resize, \
        .reset = in_group_reset, .mark = arena_mark, .release = arena_release, \
        .purge = in_group_purge, .stats = arena_stats, .thread_enter = (thread_enter_), \
        .thread_leave = (thread_leave_), .variant = arena_variant, \
    }

extern const struct ab_backend ab_arena_backend;

const struct ab_backend ab_arena_backend = TABLE(AB_TRAIT_THREAD_SAFE, NULL, NULL);
static const struct ab_backend for_one_lane = TABLE(0, NULL, NULL);
static const struct ab_backend for_each_lane = TABLE(AB_TRAIT_THREAD_SAFE, in_group_thread_enter,
                                                     in_group_thread_leave);

static const struct ab_backend *arena_variant(const uint64_t *values)
{
    return values[PARAM_THREADS] == AB_THREADS_LOCAL  ? &for_each_lane
           : values[PARAM_THREADS] == AB_THREADS_NONE ? &for_one_lane
                                                      : &ab_arena_backend;
}
