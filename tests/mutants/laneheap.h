/* SPDX-License-Identifier: MIT
 *
 * A heap for several lanes that makes no access it should not, small enough to be spoiled in one
 * place at a time; its parameter `mutant` chooses where. Cells of one size; each lane has a list of
 * free ones under a lock and a queue of what other lanes freed, without one. What each mutant gets
 * wrong is often right by chance, so tests/mutants/expected says which sanitizer must report it:
 * this is compiled into a test program, because a sanitizer cannot be preloaded with a malloc.
 */
#ifndef AB_TESTS_MUTANTS_LANEHEAP_H
#define AB_TESTS_MUTANTS_LANEHEAP_H

#include "allocators/ab_backend.h"
#include "allocators/common/marks.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum lane_mutant {
    TSAN_FIRST = 60,
    NO_LOCK = TSAN_FIRST,
    PLAIN_COUNTER,
    PLAIN_QUEUE,
    QUEUE_WITHOUT_RELEASE,
    QUEUE_WITHOUT_ACQUIRE,
    RESET_WITHOUT_LOCK,
    SLAB_WITHOUT_RELEASE,
    SHARDS_WITHOUT_RELEASE, /* these are real allocators, compiled with weaker atomics */
    SHARDS_WITHOUT_ACQUIRE,
    LOCKFREE_WITHOUT_RELEASE,
    TSAN_END,
    ASAN_FIRST = 80,
    WRITE_AFTER_RESET = ASAN_FIRST,
    HEADER_BEHIND_CELL,
    WRITE_AFTER_FREE,
    RESIZE_READS_ON,
    STALE_SLAB,
    LANE_TOO_MANY,
    ASAN_END,
};

enum { LANES = 2, CELL_BYTES = 64, SLAB_CELLS = 32, SLABS = 512 };
#define STRIDE (CELL_BYTES + AB_MARK_GAP)
#define SLAB_BYTES (SLAB_CELLS * STRIDE)

struct cell { /* in a free one; the list, or on the way to it */
    struct cell *next;
};

struct slab {
    uint32_t lane, n_cells; /* never changed once it is in the table */
};

struct lane_group {
    int mutant;
    char *region;
    struct ab_heap *lanes;
    struct slab *slabs[SLABS]; /* published with release, read by all without a lock */
    uint32_t n_slabs;          /* atomic */
    uint64_t n_live;           /* atomic */
};

struct ab_heap { /* a lane; the first is what open gives */
    struct lane_group *shards;
    uint32_t index;
    pthread_mutex_t lock; /* of free and last */
    struct cell *free, *last;
    struct cell *remote; /* atomic: what other lanes freed */
};

static void lock_lane(struct ab_heap *lane)
{
    if (lane->shards->mutant != NO_LOCK)
        pthread_mutex_lock(&lane->lock);
}

static void unlock_lane(struct ab_heap *lane)
{
    if (lane->shards->mutant != NO_LOCK)
        pthread_mutex_unlock(&lane->lock);
}

static void count_live(struct lane_group *shards, uint64_t n)
{
    if (shards->mutant == PLAIN_COUNTER)
        shards->n_live += n;
    else
        __atomic_fetch_add(&shards->n_live, n, __ATOMIC_RELAXED);
}

/* ---- what other lanes freed ---- */

static bool swap_head(struct ab_heap *owner, struct cell **head, struct cell *cell)
{
    if (owner->shards->mutant == QUEUE_WITHOUT_RELEASE)
        return __atomic_compare_exchange_n(&owner->remote, head, cell, true, __ATOMIC_RELAXED,
                                           __ATOMIC_RELAXED);
    return __atomic_compare_exchange_n(&owner->remote, head, cell, true, __ATOMIC_RELEASE,
                                       __ATOMIC_RELAXED);
}

static void push_remote(struct ab_heap *owner, struct cell *cell)
{
    if (owner->shards->mutant == PLAIN_QUEUE) {
        cell->next = owner->remote;
        owner->remote = cell;
        return;
    }
    struct cell *head = __atomic_load_n(&owner->remote, __ATOMIC_RELAXED);
    do
        cell->next = head;
    while (!swap_head(owner, &head, cell));
}

static struct cell *take_remote(struct ab_heap *lane)
{
    if (lane->shards->mutant == QUEUE_WITHOUT_ACQUIRE)
        return __atomic_exchange_n(&lane->remote, NULL, __ATOMIC_RELAXED);
    return __atomic_exchange_n(&lane->remote, NULL, __ATOMIC_ACQUIRE);
}

/* ---- slabs ---- */

static void cut_slab(struct ab_heap *lane, char *begin)
{
    AB_MARK_UNUSED(begin, SLAB_BYTES);
    for (size_t i = SLAB_CELLS; i-- > 0;) {
        struct cell *cell = (struct cell *)(begin + i * STRIDE);
        AB_MARK_DEFINED(cell, sizeof *cell);
        cell->next = lane->free;
        lane->free = cell;
    }
}

static void add_slab(struct ab_heap *lane)
{
    struct lane_group *shards = lane->shards;
    uint32_t at = __atomic_fetch_add(&shards->n_slabs, 1, __ATOMIC_RELAXED);
    struct slab *slab = at < SLABS ? malloc(sizeof *slab) : NULL;
    if (slab == NULL)
        return;
    *slab = (struct slab){lane->index, SLAB_CELLS};
    cut_slab(lane, shards->region + at * SLAB_BYTES);
    if (shards->mutant == SLAB_WITHOUT_RELEASE)
        __atomic_store_n(&shards->slabs[at], slab, __ATOMIC_RELAXED);
    else
        __atomic_store_n(&shards->slabs[at], slab, __ATOMIC_RELEASE);
}

static struct slab *slab_at(struct lane_group *shards, size_t i)
{
    return __atomic_load_n(&shards->slabs[i], __ATOMIC_ACQUIRE);
}

static struct ab_heap *owner_of(struct lane_group *shards, const void *block)
{
    size_t i = (size_t)((const char *)block - shards->region) / SLAB_BYTES;
    return &shards->lanes[slab_at(shards, i)->lane];
}

/* ---- hooks ---- */

static void lane_close(struct ab_heap *heap)
{
    struct lane_group *shards = heap->shards;
    for (size_t i = 0; i < SLABS; i++)
        free(shards->slabs[i]);
    AB_MARK_DEFINED(shards->region, SLABS * SLAB_BYTES);
    munmap(shards->region, SLABS * SLAB_BYTES);
    free(shards->lanes);
    free(shards);
}

static int lane_open(const struct ab_open_args *args, struct ab_heap **out)
{
    struct lane_group *shards = calloc(1, sizeof *shards);
    struct ab_heap *lanes = calloc(LANES, sizeof *lanes);
    char *region = mmap(NULL, SLABS * SLAB_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (shards == NULL || lanes == NULL || region == MAP_FAILED) {
        free(shards);
        free(lanes);
        return ENOMEM;
    }
    shards->mutant = (int)args->values[0];
    shards->region = region;
    shards->lanes = lanes;
    for (uint32_t i = 0; i < LANES; i++) {
        lanes[i] = (struct ab_heap){.shards = shards, .index = i};
        pthread_mutex_init(&lanes[i].lock, NULL);
    }
    *out = lanes;
    return 0;
}

static int lane_enter(struct ab_heap *heap, uint32_t lane, struct ab_heap **out)
{
    *out = &heap->shards->lanes[lane % LANES];
    return 0;
}

static struct cell *take_cell(struct ab_heap *lane)
{
    if (lane->free == NULL)
        lane->free = take_remote(lane);
    if (lane->free == NULL)
        add_slab(lane);
    struct cell *cell = lane->free;
    if (cell != NULL)
        lane->free = cell->next;
    return lane->last = cell;
}

static ab_ref lane_alloc(struct ab_heap *lane, size_t size)
{
    if (size > CELL_BYTES)
        return 0;
    lock_lane(lane);
    struct cell *cell = take_cell(lane);
    unlock_lane(lane);
    if (cell == NULL)
        return 0;
    count_live(lane->shards, 1);
    if (lane->shards->mutant == HEADER_BEHIND_CELL)
        memcpy((char *)cell + CELL_BYTES, &size, sizeof size);
    AB_MARK_ALLOC(lane, cell, size);
    return (ab_ref)cell;
}

static void give_cell(struct ab_heap *lane, struct cell *cell)
{
    lock_lane(lane);
    cell->next = lane->free;
    lane->free = cell;
    lane->last = lane->last == cell ? NULL : lane->last;
    unlock_lane(lane);
}

static void lane_free(struct ab_heap *lane, ab_ref ref, size_t size)
{
    struct cell *cell = (struct cell *)ref;
    if (cell == NULL)
        return;
    struct ab_heap *owner = owner_of(lane->shards, cell);
    AB_MARK_FREE(lane, cell, CELL_BYTES);
    AB_MARK_DEFINED(cell, sizeof *cell);
    if (lane->shards->mutant == WRITE_AFTER_FREE)
        memset(cell, 0xDD, size);
    count_live(lane->shards, (uint64_t)-1);
    if (owner == lane)
        give_cell(lane, cell);
    else
        push_remote(owner, cell);
}

static ab_ref lane_resize(struct ab_heap *lane, ab_ref ref, size_t old_size, size_t new_size)
{
    size_t kept = old_size < new_size ? old_size : new_size;
    ab_ref moved = lane_alloc(lane, new_size);
    if (moved == 0)
        return 0;
    if (lane->shards->mutant == RESIZE_READS_ON)
        kept = new_size;
    memcpy((void *)moved, (const void *)ref, kept);
    lane_free(lane, ref, old_size);
    return moved;
}

static void reset_lane(struct ab_heap *lane)
{
    struct lane_group *shards = lane->shards;
    bool is_locked = shards->mutant != RESET_WITHOUT_LOCK;
    if (is_locked)
        lock_lane(lane);
    lane->free = NULL;
    __atomic_store_n(&lane->remote, NULL, __ATOMIC_RELAXED);
    for (size_t i = 0; i < SLABS; i++) {
        struct slab *slab = slab_at(shards, i);
        if (slab == NULL || slab->lane != lane->index)
            continue;
        cut_slab(lane, shards->region + i * SLAB_BYTES);
        if (shards->mutant == STALE_SLAB)
            free(slab);
    }
    if (shards->mutant == WRITE_AFTER_RESET && lane->last != NULL)
        memset(lane->last, 0, CELL_BYTES);
    lane->last = NULL;
    if (is_locked)
        unlock_lane(lane);
}

/* Others may allocate meanwhile, nothing else. */
static void lane_reset(struct ab_heap *heap)
{
    struct lane_group *shards = heap->shards;
    uint32_t n_lanes = shards->mutant == LANE_TOO_MANY ? LANES + 1 : LANES;
    for (uint32_t i = 0; i < n_lanes; i++)
        reset_lane(&shards->lanes[i]);
    __atomic_store_n(&shards->n_live, 0, __ATOMIC_RELAXED);
}

static int lane_stats(struct ab_heap *heap, struct ab_heap_stats *out)
{
    struct lane_group *shards = heap->shards;
    uint64_t n_cells = 0, n_live = __atomic_load_n(&shards->n_live, __ATOMIC_RELAXED);
    for (size_t i = 0; i < SLABS; i++) {
        const struct slab *slab = slab_at(shards, i);
        n_cells += slab != NULL ? slab->n_cells : 0;
    }
    *out = (struct ab_heap_stats){n_cells * STRIDE, AB_UNKNOWN, n_live * CELL_BYTES, AB_UNKNOWN,
                                  AB_UNKNOWN};
    return 0;
}

static const struct ab_param lane_params[] = {
    {.name = "mutant", .help = "what is wrong; 0 = nothing", .type = AB_PARAM_COUNT, .max = 99},
};

static const struct ab_backend lane_backend = {
    .abi = AB_BACKEND_ABI,
    .size = sizeof(struct ab_backend),
    .name = "laneheap",
    .summary = "a heap for several lanes that is wrong in a way that can be chosen",
    .traits = AB_TRAIT_THREAD_SAFE | AB_TRAIT_REMOTE_FREE,
    .params = lane_params,
    .n_params = 1,
    .open = lane_open,
    .close = lane_close,
    .alloc = lane_alloc,
    .free = lane_free,
    .resize = lane_resize,
    .reset = lane_reset,
    .stats = lane_stats,
    .thread_enter = lane_enter,
};

#endif
