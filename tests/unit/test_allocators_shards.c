/* SPDX-License-Identifier: MIT
 *
 * Pool and slab for several threads, in every mode: with locks, sharded, local with queues, and
 * lock-free. Under ThreadSanitizer too (tests/tsan-tests).
 */
#include "allocators/common/marks.h"
#include "allocators/common/shards.h"

#include "allocators/builtin.h"
#include "allocators/pool/pool_lockfree.h"
#include "support/heap_model.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

enum { N_BLOCKS = 3000, N_LANES = 4 };

static const struct ab_backend *pool, *slab;

static const struct ab_facts facts = {.largest_bytes = 6000,
                                      .largest_align = 64,
                                      .live_peak_blocks = 2000,
                                      .live_peak_bytes = 4 << 20,
                                      .total_bytes = 1 << 28,
                                      .total_blocks = 100000,
                                      .lanes = N_LANES};

static const struct setting {
    const struct ab_backend *const *backend;
    const char *params;
} settings[] = {
    {&pool, "threads=mutex"},
    {&pool, "threads=local"},
    {&pool, "threads=sharded"},
    {&pool, "threads=sharded:shards=3"},
    {&pool, "threads=lockfree"},
    {&pool, "threads=local:debug=on"},
    {&pool, "threads=lockfree:debug=on"},
    {&slab, "threads=mutex:keep=2:spare=64KiB"},
    {&slab, "threads=local"},
    {&slab, "threads=local:classes=fine:keep=1:spare=0"},
    {&slab, "threads=sharded"},
    {&slab, "threads=sharded:shards=2:keep=0"},
    {&slab, "threads=local:debug=on"},
    {&slab, "threads=sharded:debug=on"},
};
enum { N_SETTINGS = sizeof settings / sizeof settings[0] };

static uint64_t live_bytes(const struct ab_backend *b, struct ab_heap *heap)
{
    struct ab_heap_stats stats;
    assert_int_equal(b->stats(heap, &stats), 0);
    return stats.live_bytes;
}

static uint64_t committed_bytes(const struct ab_backend *b, struct ab_heap *heap)
{
    struct ab_heap_stats stats;
    assert_int_equal(b->stats(heap, &stats), 0);
    return stats.committed_bytes;
}

static struct ab_heap *enter(const struct ab_backend *b, struct ab_heap *heap, uint32_t lane)
{
    struct ab_heap *own = NULL;
    if (b->thread_enter == NULL)
        return heap;
    assert_int_equal(b->thread_enter(heap, lane, &own), 0);
    assert_non_null(own);
    return own;
}

static void threads_free_each_others_blocks_in_every_mode(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SETTINGS; i++) {
        const struct ab_backend *b = heap_model_variant(*settings[i].backend, settings[i].params);
        struct ab_heap *heap = heap_model_open(b, settings[i].params, &facts);
        for (int round = 0; round < 3; round++) {
            heap_model_run_threads(b, heap, 4000, 6000);
            assert_int_equal(live_bytes(b, heap), 0);
        }
        b->purge(heap);
        assert_int_equal(live_bytes(b, heap), 0);
        b->close(heap);
    }
}

static void one_lane_works_in_every_mode(void **state)
{
    (void)state;
    struct ab_facts one = facts;
    one.lanes = 1;
    for (size_t i = 0; i < N_SETTINGS; i++) {
        const struct ab_backend *b = heap_model_variant(*settings[i].backend, settings[i].params);
        struct ab_heap *heap = heap_model_open(b, settings[i].params, &one);
        heap_model_run(b, heap, &(struct heap_model_work){6000, 5000, 64, false});
        heap_model_run(b, enter(b, heap, 0), &(struct heap_model_work){6000, 5000, 64, false});
        assert_int_equal(live_bytes(b, heap), 0);
        b->close(heap);
    }
}

static void no_lock_and_several_lanes_do_not_go_together(void **state)
{
    (void)state;
    uint64_t values[16] = {0};
    const struct ab_backend *const backends[] = {pool, slab};
    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; k < backends[i]->n_params; k++)
            values[k] = strcmp(backends[i]->params[k].name, "threads") == 0 ? 2 : 0;
        struct ab_open_args args = {.size = sizeof args, .facts = &facts, .values = values};
        struct ab_heap *heap = (struct ab_heap *)&args;
        assert_int_equal(backends[i]->open(&args, &heap), EINVAL);
        assert_ptr_equal(heap, &args);
    }
}

static void a_lane_too_many_is_refused(void **state)
{
    (void)state;
    struct ab_heap *heap = heap_model_open(slab, "threads=local", &facts), *own = NULL;
    assert_int_equal(slab->thread_enter(heap, N_LANES, &own), EINVAL);
    assert_int_equal(slab->thread_enter(heap, UINT32_MAX, &own), EINVAL);
    assert_null(own);
    slab->close(heap);
}

/* One makes blocks, another frees them, many times over: they must come home. */
static void blocks_freed_elsewhere_are_used_again(void **state)
{
    (void)state;
    static ab_ref refs[N_BLOCKS];
    static const size_t sizes[] = {8, 100, 4096, 9000};
    for (size_t i = 0; i < N_SETTINGS; i++) {
        const struct ab_backend *b = heap_model_variant(*settings[i].backend, settings[i].params);
        for (size_t k = 0; k < (settings[i].backend == &pool ? 2 : 4); k++) {
            struct ab_heap *heap = heap_model_open(b, settings[i].params, &facts);
            struct ab_heap *maker = enter(b, heap, 0), *eater = enter(b, heap, 1);
            uint64_t first = 0;
            for (int round = 0; round < 12; round++) {
                for (size_t n = 0; n < N_BLOCKS / 4; n++)
                    assert_true((refs[n] = b->alloc(maker, sizes[k])) != 0);
                for (size_t n = 0; n < N_BLOCKS / 4; n++)
                    b->free(eater, refs[n], sizes[k]);
                if (round == 1)
                    first = committed_bytes(b, heap);
            }
            assert_int_equal(live_bytes(b, heap), 0);
            assert_true(committed_bytes(b, heap) <= first + first / 4 + (1 << 20));
            b->close(heap);
        }
    }
}

static void few_blocks_wait_to_be_sent_and_leaving_sends_them(void **state)
{
    (void)state;
    struct ab_heap *heap = heap_model_open(slab, "threads=local", &facts);
    struct ab_heap *maker = enter(slab, heap, 0), *eater = enter(slab, heap, 1);
    struct ab_shard *owner = (struct ab_shard *)maker;
    ab_ref refs[AB_SHARD_BATCH];
    for (int i = 0; i < AB_SHARD_BATCH; i++)
        refs[i] = slab->alloc(maker, 64);
    for (int i = 0; i < AB_SHARD_BATCH - 1; i++)
        slab->free(eater, refs[i], 64);
    assert_null(owner->remote);
    slab->thread_leave(eater);
    assert_non_null(owner->remote);
    slab->free(eater, refs[AB_SHARD_BATCH - 1], 64);
    assert_int_equal(live_bytes(slab, heap), 0);
    ab_ref large = slab->alloc(maker, 100000);
    struct ab_shards_link *before = owner->remote;
    slab->free(eater, large, 100000); /* at once: it is large */
    assert_ptr_equal(owner->remote, large);
    AB_MARK_DEFINED(owner->remote, sizeof *before); /* it is dead, and marked so */
    assert_ptr_equal(owner->remote->next, before);
    AB_MARK_UNUSED(owner->remote, sizeof *before);
    slab->close(heap);
}

static void a_resize_takes_over_a_block_of_another_lane(void **state)
{
    (void)state;
    struct ab_heap *heap = heap_model_open(slab, "threads=local", &facts);
    struct ab_heap *a = enter(slab, heap, 0), *b = enter(slab, heap, 1);
    static const size_t table[][2] = {
        {100, 110}, {100, 20}, {100, 5000}, {9000, 50}, {9000, 20000}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        ab_ref ref = slab->alloc(a, table[i][0]);
        memset((void *)ref, 7, table[i][0]);
        ab_ref moved = slab->resize(b, ref, table[i][0], table[i][1]);
        for (size_t k = 0; k < table[i][0] && k < table[i][1]; k++)
            assert_int_equal(((char *)moved)[k], 7);
        assert_true(slab->usable_size(a, moved) >= table[i][1]);
        slab->free(a, moved, table[i][1]);
    }
    assert_int_equal(live_bytes(slab, heap), 0);
    slab->close(heap);
}

static void shards_are_dealt_out_over_the_lanes(void **state)
{
    (void)state;
    struct ab_heap *heap = heap_model_open(slab, "threads=sharded:shards=2", &facts);
    assert_ptr_equal(enter(slab, heap, 0), enter(slab, heap, 2));
    assert_ptr_not_equal(enter(slab, heap, 0), enter(slab, heap, 1));
    ab_ref here = slab->alloc(enter(slab, heap, 0), 64);
    ab_ref there = slab->alloc(enter(slab, heap, 1), 64);
    assert_true((here ^ there) >> 20 != 0);
    slab->close(heap);
}

static void a_reset_of_all_forgets_what_is_under_way(void **state)
{
    (void)state;
    const struct ab_backend *const backends[] = {pool, slab};
    for (int i = 0; i < 2; i++) {
        const struct ab_backend *b = backends[i];
        struct ab_heap *heap = heap_model_open(b, "threads=local", &facts);
        struct ab_heap *one = enter(b, heap, 0), *two = enter(b, heap, 1);
        ab_ref refs[AB_SHARD_BATCH + 5];
        for (int k = 0; k < AB_SHARD_BATCH + 5; k++)
            refs[k] = b->alloc(one, 64);
        for (int k = 0; k < AB_SHARD_BATCH + 5; k++)
            b->free(two, refs[k], 64);
        b->reset(heap);
        assert_int_equal(live_bytes(b, heap), 0);
        b->thread_leave(two);
        heap_model_run(b, one, &(struct heap_model_work){3000, 5000, 64, false});
        heap_model_run(b, two, &(struct heap_model_work){3000, 5000, 64, false});
        b->close(heap);
    }
}

/* ---- lock-free, as a library ---- */

static void a_lockfree_pool_is_exhausted_exactly(void **state)
{
    (void)state;
    struct ab_pool_lockfree p;
    struct ab_pool_lockfree_options options = {.slot_bytes = 40, .n_slots = 100};
    assert_int_equal(ab_pool_lockfree_init(&p, &options), 0);
    char *first = ab_pool_lockfree_alloc(&p, 48), *last = NULL;
    for (int i = 1; i < 100; i++)
        assert_ptr_equal(last = ab_pool_lockfree_alloc(&p, 48), first + (size_t)i * p.stride);
    assert_null(ab_pool_lockfree_alloc(&p, 1));
    assert_null(ab_pool_lockfree_alloc(&p, 49));
    assert_true(ab_pool_lockfree_owns(&p, last));
    assert_false(ab_pool_lockfree_owns(&p, last + 1));
    assert_false(ab_pool_lockfree_owns(&p, last + p.stride));
    ab_pool_lockfree_free(&p, first);
    ab_pool_lockfree_free(&p, last);
    ab_pool_lockfree_free(&p, NULL);
    assert_int_equal(ab_pool_lockfree_live(&p), 98);
    assert_ptr_equal(ab_pool_lockfree_alloc(&p, 1), last);
    assert_ptr_equal(ab_pool_lockfree_alloc(&p, 1), first);
    assert_null(ab_pool_lockfree_alloc(&p, 1));
    ab_pool_lockfree_fini(&p);
}

static void lockfree_pools_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const struct ab_pool_lockfree_options table[] = {
        {.slot_bytes = SIZE_MAX, .n_slots = 1},
        {.slot_bytes = 16, .align = 48, .n_slots = 1},
        {.slot_bytes = 64, .n_slots = SIZE_MAX},
        {.slot_bytes = 64, .n_slots = (size_t)1 << 39},
        {.slot_bytes = (size_t)1 << 62, .n_slots = 1}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct ab_pool_lockfree p = {.slot_bytes = 77};
        assert_in_range(ab_pool_lockfree_init(&p, &table[i]), 1, 133);
        assert_int_equal(p.slot_bytes, 77);
    }
}

/* What a thread that stalls in a pop sees: the head was A, then B, then A again. */
static void a_head_that_came_back_is_not_the_same(void **state)
{
    (void)state;
    struct ab_pool_lockfree p;
    struct ab_pool_lockfree_options options = {.slot_bytes = 16, .n_slots = 8};
    assert_int_equal(ab_pool_lockfree_init(&p, &options), 0);
    void *b = ab_pool_lockfree_alloc(&p, 16), *a = ab_pool_lockfree_alloc(&p, 16);
    ab_pool_lockfree_free(&p, b);
    ab_pool_lockfree_free(&p, a);
    uint64_t stalled = p.head;
    assert_ptr_equal(ab_pool_lockfree_alloc(&p, 16), a);
    assert_ptr_equal(ab_pool_lockfree_alloc(&p, 16), b);
    ab_pool_lockfree_free(&p, a);
    assert_int_equal(p.head << 24, stalled << 24); /* the same slot on top */
    assert_int_not_equal(p.head, stalled);
    ab_pool_lockfree_fini(&p);
}

/* ---- no lock is held across a call to the system ---- */

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

static pthread_mutex_t *watched;
static unsigned n_calls, n_held;

static void look(void)
{
    if (watched == NULL)
        return;
    n_calls++;
    if (pthread_mutex_trylock(watched) != 0)
        n_held++;
    else
        pthread_mutex_unlock(watched);
}

void *mmap(void *p, size_t n, int prot, int flags, int fd, off_t offset)
{
    look();
    return (void *)syscall(SYS_mmap, p, n, prot, flags, fd, offset);
}

int munmap(void *p, size_t n)
{
    look();
    return (int)syscall(SYS_munmap, p, n);
}

int mprotect(void *p, size_t n, int prot)
{
    look();
    return (int)syscall(SYS_mprotect, p, n, prot);
}

int madvise(void *p, size_t n, int advice)
{
    look();
    return (int)syscall(SYS_madvise, p, n, advice);
}

void *mremap(void *p, size_t old_n, size_t n, int flags, ...)
{
    look();
    return (void *)syscall(SYS_mremap, p, old_n, n, flags);
}

static void work_the_system(const struct ab_backend *b, struct ab_heap *heap)
{
    static ab_ref refs[N_BLOCKS];
    static const size_t sizes[] = {200, 3000, 5900, 400, 100000};
    size_t n_sizes = b == pool ? 3 : 5;
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < N_BLOCKS; i++)
            assert_true((refs[i] = b->alloc(heap, sizes[i % n_sizes])) != 0);
        for (size_t i = 4; b == slab && i < N_BLOCKS; i += 5)
            refs[i] = b->resize(heap, refs[i], 100000, 300000);
        for (size_t i = 0; i < N_BLOCKS; i++)
            b->free(heap, refs[i], sizes[i % n_sizes]);
    }
}

static void no_lock_is_held_across_a_call_to_the_system(void **state)
{
    (void)state;
    static const struct setting locked[] = {{&pool, "threads=mutex"},
                                            {&pool, "threads=sharded"},
                                            {&slab, "threads=mutex:keep=0:spare=0"},
                                            {&slab, "threads=sharded:keep=1:spare=64KiB"}};
    for (size_t i = 0; i < sizeof locked / sizeof locked[0]; i++) {
        const struct ab_backend *b = *locked[i].backend;
        struct ab_heap *heap = heap_model_open(b, locked[i].params, &facts);
        watched = &((struct ab_shard *)heap)->mutex;
        n_calls = n_held = 0;
        work_the_system(b, heap);
        watched = NULL;
        assert_true(n_calls > 5);
        assert_int_equal(n_held, 0);
        b->close(heap);
    }
}

#else

static void no_lock_is_held_across_a_call_to_the_system(void **state)
{
    (void)state;
    skip(); /* the calls belong to the sanitizer */
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_free_each_others_blocks_in_every_mode),
        cmocka_unit_test(one_lane_works_in_every_mode),
        cmocka_unit_test(no_lock_and_several_lanes_do_not_go_together),
        cmocka_unit_test(a_lane_too_many_is_refused),
        cmocka_unit_test(blocks_freed_elsewhere_are_used_again),
        cmocka_unit_test(few_blocks_wait_to_be_sent_and_leaving_sends_them),
        cmocka_unit_test(a_resize_takes_over_a_block_of_another_lane),
        cmocka_unit_test(shards_are_dealt_out_over_the_lanes),
        cmocka_unit_test(a_reset_of_all_forgets_what_is_under_way),
        cmocka_unit_test(a_lockfree_pool_is_exhausted_exactly),
        cmocka_unit_test(lockfree_pools_that_cannot_be_are_refused),
        cmocka_unit_test(a_head_that_came_back_is_not_the_same),
        cmocka_unit_test(no_lock_is_held_across_a_call_to_the_system),
    };
    pool = ab_builtin_find("pool");
    slab = ab_builtin_find("slab");
    return cmocka_run_group_tests_name("shards", tests, NULL, NULL);
}
