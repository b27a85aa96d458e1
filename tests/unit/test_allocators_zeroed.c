/* SPDX-License-Identifier: MIT
 *
 * Every allocator opened with options of zero, as the examples open it, beside the row of that name that
 * allocbench measures: neither asks the system for anything once it is warm, and the one is not slower
 * than the other. What a page says of a row then holds for who copies an example.
 * tests: arena.c arena_shared.c handle.c paged_arena.c paged_pool.c pool.c pool_lockfree.c
 * tests: pool_shared.c slab.c slab_shared.c
 */
#include "allocators/arena/arena_shared.h"
#include "allocators/builtin.h"
#include "allocators/handle/handle.h"
#include "allocators/paged/paged_arena.h"
#include "allocators/pool/pool_lockfree.h"
#include "allocators/pool/pool_shared.h"
#include "allocators/slab/slab_shared.h"
#include "base/clock.h"
#include "support/heap_model.h"

#include "support/cmocka.h"

/* A frame allocates so many blocks and frees them in another order; 512 bytes are the largest, where
 * larger ones would need slots of that size. */
enum { BLOCKS = 2000, STEP = 7, FRAMES = 10, ROUNDS_MAX = 60, SLOT = 512, LARGE = 20000 };
static const double slower_at_most = 1.2;

/* One way of opening and using an allocator. What frees nothing has no `free`, and resets. */
struct way {
    void *heap;
    ab_ref (*alloc)(void *heap, size_t size);
    void (*free)(void *heap, ab_ref ref);
    void (*reset)(void *heap);
    void *(*resolve)(void *heap, ab_ref ref); /* NULL: a ref is the address */
    uint64_t (*os_calls)(void *heap);
    void (*close)(void *heap);
};

/* ---- options of zero ---- */

/* TYPE is opened by OPEN, a statement that sets `heap`; the others are expressions of `heap`. */
#define DEFINE_ZEROED(name, type, open_, alloc_, free_, reset_, os_calls_, close_) \
    static ab_ref name##_alloc(void *p, size_t size) \
    { \
        type *heap = p; \
        return (ab_ref)alloc_; \
    } \
    static void name##_free(void *p, ab_ref ref) \
    { \
        type *heap = p; \
        void *block = (void *)ref; \
        (void)block, (void)heap; \
        free_; \
    } \
    static void name##_reset(void *p) \
    { \
        type *heap = p; \
        reset_; \
    } \
    static uint64_t name##_os_calls(void *p) \
    { \
        const type *heap = p; \
        return os_calls_; \
    } \
    static void name##_close(void *p) \
    { \
        type *heap = p; \
        close_; \
    } \
    static void *name##_open(void) \
    { \
        type *heap = NULL; \
        open_; \
        return heap; \
    } \
    static struct way name##_way(void) \
    { \
        return (struct way){name##_open(), name##_alloc,    name##_free, name##_reset, \
                            NULL,          name##_os_calls, name##_close}; \
    }

#define GIVEN(kind, ...) \
    static struct kind made; \
    assert_int_equal(__VA_ARGS__, 0); \
    heap = &made

DEFINE_ZEROED(arena, struct ab_arena,
              GIVEN(ab_arena, ab_arena_init(&made, &(struct ab_arena_options){0})),
              ab_arena_alloc(heap, size), (void)0, ab_arena_reset(heap), heap->n_os_calls,
              ab_arena_fini(heap))
DEFINE_ZEROED(pool, struct ab_pool,
              GIVEN(ab_pool, ab_pool_init(&made, &(struct ab_pool_options){.slot_bytes = SLOT})),
              ab_pool_alloc(heap, size), ab_pool_free(heap, block), ab_pool_reset(heap),
              heap->n_os_calls, ab_pool_fini(heap))
DEFINE_ZEROED(lockfree, struct ab_pool_lockfree,
              GIVEN(ab_pool_lockfree,
                    ab_pool_lockfree_init(&made,
                                          &(struct ab_pool_lockfree_options){.slot_bytes = SLOT})),
              ab_pool_lockfree_alloc(heap, size), ab_pool_lockfree_free(heap, block),
              ab_pool_lockfree_reset(heap), heap != NULL, ab_pool_lockfree_fini(heap))
DEFINE_ZEROED(slab, struct ab_slabs,
              GIVEN(ab_slabs, ab_slabs_init(&made, &(struct ab_slabs_options){0})),
              ab_slabs_alloc(heap, size), ab_slabs_free(heap, block), ab_slabs_reset(heap),
              heap->n_os_calls, ab_slabs_fini(heap))

static struct ab_paged_pool below_arena;
DEFINE_ZEROED(paged, struct ab_paged_arena,
              assert_int_equal(ab_paged_pool_init(&below_arena, "below", 1 << 28), 0);
              GIVEN(ab_paged_arena, ab_paged_arena_init(&made, &below_arena, 0, 0)),
              ab_paged_arena_alloc(heap, size), (void)0, ab_paged_arena_clear(heap),
              heap->pool->n_os_calls, (ab_paged_arena_fini(heap), ab_paged_pool_fini(&below_arena)))
DEFINE_ZEROED(paged_pool, struct ab_paged_pool,
              GIVEN(ab_paged_pool, ab_paged_pool_init(&made, "pool", 1 << 28)),
              ab_paged_pool_alloc(heap, size, 0), (void)ab_paged_pool_free(heap, block),
              ab_paged_pool_reset(heap), heap->n_os_calls, ab_paged_pool_fini(heap))

/* Of a group: the thread's own heap, by `own`. */
#define DEFINE_GROUP(name, group, mode_, alloc_, free_, options_) \
    static struct group *name##_group; \
    DEFINE_ZEROED(name, struct group, struct group##_options options = options_; \
                  options.threads.mode = mode_; name##_group = group##_open(&options); \
                  assert_non_null(name##_group); \
                  heap = group##_own(name##_group), alloc_, free_, group##_reset(heap), \
                  ((void)heap, group##_sum(name##_group).n_os_calls), \
                  ((void)heap, group##_close(name##_group)))
#define ARENA_OPTIONS \
    { \
        .arena = { 0 } \
    }
#define SLAB_OPTIONS \
    { \
        .slabs = { 0 } \
    }
#define POOL_OPTIONS \
    { \
        .pool = {.slot_bytes = SLOT } \
    }
DEFINE_GROUP(arena_mutex, ab_arena_shared, 0, ab_arena_shared_alloc(heap, size), (void)0,
             ARENA_OPTIONS)
DEFINE_GROUP(arena_local, ab_arena_shared, AB_SHARDS_LOCAL, ab_arena_shared_alloc(heap, size),
             (void)0, ARENA_OPTIONS)
DEFINE_GROUP(pool_mutex, ab_pool_shared, 0, ab_pool_shared_alloc(heap, size),
             ab_pool_shared_free(heap, block), POOL_OPTIONS)
DEFINE_GROUP(pool_local, ab_pool_shared, AB_SHARDS_LOCAL, ab_pool_shared_alloc(heap, size),
             ab_pool_shared_free(heap, block), POOL_OPTIONS)
DEFINE_GROUP(slab_mutex, ab_slab_shared, 0, ab_slab_shared_alloc(heap, size),
             ab_slab_shared_free(heap, block), SLAB_OPTIONS)
DEFINE_GROUP(slab_local, ab_slab_shared, AB_SHARDS_LOCAL, ab_slab_shared_alloc(heap, size),
             ab_slab_shared_free(heap, block), SLAB_OPTIONS)
DEFINE_GROUP(slab_sharded, ab_slab_shared, AB_SHARDS_SHARDED, ab_slab_shared_alloc(heap, size),
             ab_slab_shared_free(heap, block), SLAB_OPTIONS)

static ab_ref handle_insert(struct ab_handle_arena *arena)
{
    struct ab_handle handle = {0, 0};
    assert_int_equal(ab_handle_insert(arena, &handle), 0);
    return (ab_ref)handle.version << 32 | handle.index;
}

static struct ab_handle handle_of(ab_ref ref)
{
    return (struct ab_handle){(uint32_t)ref, (uint32_t)(ref >> 32)};
}

static void *handle_resolve(void *heap, ab_ref ref)
{
    return ab_handle_get_mut(heap, handle_of(ref));
}

DEFINE_ZEROED(handle, struct ab_handle_arena,
              GIVEN(ab_handle_arena,
                    ab_handle_arena_init(&made, &(struct ab_handle_options){.value_bytes = SLOT})),
              ((void)size, handle_insert(heap)), ab_handle_remove(heap, handle_of(ref)),
              ab_handle_flush(heap), heap->n_os_calls, ab_handle_arena_fini(heap))

/* ---- rows ---- */

struct row {
    const struct ab_backend *backend;
    struct ab_heap *whole, *own;
};

static ab_ref row_alloc(void *heap, size_t size)
{
    const struct row *row = heap;
    return row->backend->alloc(row->own, size);
}

static void row_free(void *heap, ab_ref ref)
{
    const struct row *row = heap;
    row->backend->free(row->own, ref, 1);
}

static void row_reset(void *heap)
{
    const struct row *row = heap;
    row->backend->reset(row->whole);
}

static void *row_resolve(void *heap, ab_ref ref)
{
    const struct row *row = heap;
    return row->backend->resolve(row->own, ref);
}

static uint64_t row_os_calls(void *heap)
{
    const struct row *row = heap;
    struct ab_heap_stats stats;
    assert_int_equal(row->backend->stats(row->whole, &stats), 0);
    return stats.os_calls;
}

static void row_close(void *heap)
{
    const struct row *row = heap;
    if (row->backend->thread_leave != NULL)
        row->backend->thread_leave(row->own);
    row->backend->close(row->whole);
}

static struct way row_way(struct row *row, const char *name, const char *params, size_t largest)
{
    struct ab_facts facts = {.largest_bytes = largest,
                             .live_peak_blocks = BLOCKS + 8,
                             .live_peak_bytes = BLOCKS * SLOT,
                             .total_blocks = BLOCKS * FRAMES * ROUNDS_MAX,
                             .total_bytes = (uint64_t)SLOT * BLOCKS * FRAMES * ROUNDS_MAX,
                             .lanes = 1};
    row->backend = heap_model_variant(ab_builtin_find(name), params);
    row->whole = row->own = heap_model_open(row->backend, params, &facts);
    if (row->backend->thread_enter != NULL)
        assert_int_equal(row->backend->thread_enter(row->whole, 0, &row->own), 0);
    return (struct way){row,
                        row_alloc,
                        row_free,
                        row_reset,
                        row->backend->resolve != NULL ? row_resolve : NULL,
                        row_os_calls,
                        row_close};
}

/* ---- side by side ---- */

static const size_t large_sizes[] = {5000, 9000, LARGE, 7000};

static void frame(const struct way *way, bool has_large, bool frees)
{
    static ab_ref refs[BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++) {
        bool is_large = has_large && i % 500 == 0;
        refs[i] = way->alloc(way->heap, is_large ? large_sizes[i / 500] : 1 + i * 37 % SLOT);
        assert_true(refs[i] != 0);
        *(char *)(way->resolve != NULL ? way->resolve(way->heap, refs[i]) : (void *)refs[i]) = 1;
    }
    for (size_t i = 0; frees && i < BLOCKS; i++)
        way->free(way->heap, refs[i * STEP % BLOCKS]);
    if (!frees)
        way->reset(way->heap);
}

/* CPU time of the round, and the least of all so far: what else the machine does only adds to it. */
static void time_round(const struct way *way, bool has_large, bool frees, uint64_t *least)
{
    uint64_t begin = ab_clock_thread_cpu_ns();
    for (int i = 0; i < FRAMES; i++)
        frame(way, has_large, frees);
    uint64_t ns = ab_clock_thread_cpu_ns() - begin;
    *least = ns < *least ? ns : *least;
}

struct pair {
    const char *name, *params; /* of the row */
    struct way (*zeroed)(void);
    bool has_large, frees;
    void *(*resolve)(void *heap, ab_ref ref);
};

static const struct pair pairs[] = {
    {"arena", "threads=none", arena_way, true, false, NULL},
    {"arena", "threads=mutex", arena_mutex_way, true, false, NULL},
    {"arena", "threads=local", arena_local_way, true, false, NULL},
    {"paged", "", paged_way, true, false, NULL},
    {"paged", "form=pool", paged_pool_way, true, true, NULL},
    {"pool", "threads=none", pool_way, false, true, NULL},
    {"pool", "threads=mutex", pool_mutex_way, false, true, NULL},
    {"pool", "threads=local", pool_local_way, false, true, NULL},
    {"pool", "threads=lockfree", lockfree_way, false, true, NULL},
    {"slab", "threads=none", slab_way, true, true, NULL},
    {"slab", "threads=mutex", slab_mutex_way, true, true, NULL},
    {"slab", "threads=local", slab_local_way, true, true, NULL},
    {"slab", "threads=sharded", slab_sharded_way, true, true, NULL},
    {"handle", "", handle_way, false, true, handle_resolve},
};

static void compare(const struct pair *pair)
{
    struct row row;
    struct way zeroed = pair->zeroed();
    struct way measured = row_way(&row, pair->name, pair->params, pair->has_large ? LARGE : SLOT);
    uint64_t least[2] = {UINT64_MAX, UINT64_MAX};
    zeroed.resolve = pair->resolve;
    for (int i = 0; i < 3; i++) {
        frame(&zeroed, pair->has_large, pair->frees);
        frame(&measured, pair->has_large, pair->frees);
    }
    uint64_t calls[2] = {zeroed.os_calls(zeroed.heap), measured.os_calls(measured.heap)};
    for (int i = 0;
         i < 3 || (i < ROUNDS_MAX && (double)least[0] > slower_at_most * (double)least[1]); i++) {
        time_round(&zeroed, pair->has_large, pair->frees, &least[0]);
        time_round(&measured, pair->has_large, pair->frees, &least[1]);
    }
    double ratio = (double)least[0] / (double)least[1];
    print_message("%-7s %-18s zeroed options take %.2f of the row's time\n", pair->name,
                  pair->params, ratio);
    assert_int_equal(zeroed.os_calls(zeroed.heap), calls[0]);
    assert_int_equal(measured.os_calls(measured.heap), calls[1]);
    assert_true(ratio <= slower_at_most);
    zeroed.close(zeroed.heap);
    measured.close(measured.heap);
}

static void options_of_zero_are_as_fast_as_the_measured_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        compare(&pairs[i]);
}

/* ---- what zero is ---- */

static void nothing_is_kept_where_that_is_said(void **state)
{
    (void)state;
    struct ab_slabs s;
    struct ab_slabs_options o = {.keep_max = AB_SLAB_KEEP_NOTHING,
                                 .spare_max_bytes = AB_SLAB_KEEP_NOTHING};
    assert_int_equal(ab_slabs_init(&s, &o), 0);
    void *small[40], *large = ab_slabs_alloc(&s, LARGE);
    for (size_t i = 0; i < 40; i++)
        small[i] = ab_slabs_alloc(&s, 4096);
    for (size_t i = 0; i < 40; i++)
        ab_slabs_free(&s, small[i]);
    ab_slabs_free(&s, large);
    assert_true(s.n_kept == 0 && s.n_returned > 0 && s.spare_bytes == 0);
    ab_slabs_fini(&s);
}

/* Allocates and frees as much as all may keep, and says what is kept. */
static size_t kept_of(struct ab_slab_shared *heap, size_t *spare_bytes)
{
    enum { N = 32 * 16 };
    static void *blocks[N], *large[16];
    for (size_t i = 0; i < N; i++)
        assert_non_null(blocks[i] = ab_slab_shared_alloc(heap, 4096));
    for (size_t i = 0; i < 16; i++)
        assert_non_null(large[i] = ab_slab_shared_alloc(heap, LARGE));
    for (size_t i = 0; i < N; i++)
        ab_slab_shared_free(heap, blocks[i]);
    for (size_t i = 0; i < 16; i++)
        ab_slab_shared_free(heap, large[i]);
    *spare_bytes = heap->slabs.spare_bytes;
    return heap->slabs.n_kept;
}

/* Of 16 slabs and 128 KiB two heaps have the half each, however many there may become; four a quarter. */
static void what_is_kept_is_divided_by_the_heaps_that_are_open(void **state)
{
    (void)state;
    struct ab_slab_shared_options o = {.slabs = {.keep_max = 16, .spare_max_bytes = 128 << 10},
                                       .threads = {.mode = AB_SHARDS_LOCAL}};
    struct ab_slab_shared *group = ab_slab_shared_open(&o), *heaps[3];
    size_t spare;
    assert_non_null(group);
    assert_non_null(heaps[0] = ab_slab_shared_enter(group, 0));
    assert_int_equal(kept_of(heaps[0], &spare), 8);
    assert_in_range(spare, (64 << 10) - LARGE - 8192, 64 << 10);
    for (uint32_t i = 1; i < 3; i++)
        assert_non_null(heaps[i] = ab_slab_shared_enter(group, i));
    assert_int_equal(kept_of(heaps[2], &spare), 4);
    assert_in_range(spare, 0, 32 << 10);
    assert_int_equal(kept_of(heaps[0], &spare), 4); /* what was too much goes back */
    assert_in_range(spare, 0, 32 << 10);
    ab_slab_shared_close(group);
}

/* Slots that are placed as in an array only where an alignment says so. */
static void slots_of_a_pool_are_spread_over_the_cache(void **state)
{
    (void)state;
    struct ab_pool spread, dense;
    struct ab_pool_lockfree shared;
    assert_int_equal(ab_pool_init(&spread, &(struct ab_pool_options){.slot_bytes = 1024}), 0);
    assert_int_equal(
        ab_pool_init(&dense, &(struct ab_pool_options){.slot_bytes = 1024, .align = 16}), 0);
    assert_int_equal(
        ab_pool_lockfree_init(&shared, &(struct ab_pool_lockfree_options){.slot_bytes = 1024}), 0);
    assert_true(spread.stride % 256 != 0 && shared.stride % 256 != 0);
    assert_int_equal(spread.slot_bytes, 1024);
    assert_true(AB_MARKS || dense.stride == 1024);
    assert_null(ab_pool_alloc(&spread, 1025));
    ab_pool_fini(&spread);
    ab_pool_fini(&dense);
    ab_pool_lockfree_fini(&shared);
}

static void a_pool_without_a_number_of_slots_grows(void **state)
{
    (void)state;
    struct ab_pool p;
    assert_int_equal(ab_pool_init(&p, &(struct ab_pool_options){.slot_bytes = SLOT}), 0);
    for (size_t i = 0; i < 10000; i++)
        assert_non_null(ab_pool_alloc(&p, SLOT));
    ab_pool_fini(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_of_zero_are_as_fast_as_the_measured_row),
        cmocka_unit_test(nothing_is_kept_where_that_is_said),
        cmocka_unit_test(what_is_kept_is_divided_by_the_heaps_that_are_open),
        cmocka_unit_test(slots_of_a_pool_are_spread_over_the_cache),
        cmocka_unit_test(a_pool_without_a_number_of_slots_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
