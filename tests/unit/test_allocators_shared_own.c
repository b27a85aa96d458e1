/* SPDX-License-Identifier: MIT
 *
 * Heaps for several threads, mode local: what is asked of one heap of a group while others have
 * blocks of it, whose a heap is, and what the child of a fork leaves alone.
 */
#include "allocators/arena/arena_shared.h"
#include "allocators/pool/pool_shared.h"
#include "allocators/slab/slab_shared.h"
#include "support/cmocka.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOT = 200, FEW = 5 };
#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

static struct ab_pool_shared *open_pool(size_t slot_bytes, size_t align)
{
    struct ab_pool_shared_options options = {
        .pool = {.slot_bytes = slot_bytes, .align = align, .grows = true, .range_bytes = 64 * MIB},
        .threads = {.mode = AB_SHARDS_LOCAL, .n = 4}};
    struct ab_pool_shared *pool = ab_pool_shared_open(&options);
    assert_non_null(pool);
    return pool;
}

static struct ab_slab_shared *open_slab(size_t reserve_bytes)
{
    struct ab_slab_shared_options options = {.slabs = {.reserve_bytes = reserve_bytes},
                                             .threads = {.mode = AB_SHARDS_LOCAL, .n = 4}};
    struct ab_slab_shared *slab = ab_slab_shared_open(&options);
    assert_non_null(slab);
    return slab;
}

/* The first FEW blocks that `maker` makes wait in `eater`, not sent. */
static void leave_few_waiting(struct ab_pool_shared *maker, struct ab_pool_shared *eater)
{
    for (int i = 0; i < FEW; i++)
        ab_pool_shared_free(eater, ab_pool_shared_alloc(maker, SLOT));
    assert_int_equal(eater->shard.n_waiting, FEW);
}

static void what_waits_for_others_is_not_taken_from_the_sum_of_one_heap(void **state)
{
    (void)state;
    struct ab_pool_shared *pool = open_pool(SLOT, 0);
    struct ab_pool_shared *a = ab_pool_shared_enter(pool, 0), *b = ab_pool_shared_enter(pool, 1);
    leave_few_waiting(a, b);
    assert_int_equal(ab_pool_shared_sum(b).live, 0);
    assert_int_equal(ab_pool_shared_sum(a).live, FEW); /* not sent */
    assert_int_equal(ab_pool_shared_sum(pool).live, 0);
    ab_pool_shared_leave(b);
    assert_int_equal(ab_pool_shared_sum(a).live, 0);
    ab_pool_shared_close(pool);
    struct ab_slab_shared *slab = open_slab(16 * MIB);
    struct ab_slab_shared *c = ab_slab_shared_enter(slab, 0), *d = ab_slab_shared_enter(slab, 1);
    ab_slab_shared_free(d, ab_slab_shared_alloc(c, 64));
    assert_int_equal(ab_slab_shared_sum(d).live, 0);
    assert_int_equal(ab_slab_shared_sum(slab).live, 0);
    ab_slab_shared_close(slab);
}

static void a_reset_of_one_heap_sends_what_is_of_others(void **state)
{
    (void)state;
    struct ab_pool_shared *pool = open_pool(SLOT, 0);
    struct ab_pool_shared *a = ab_pool_shared_enter(pool, 0), *b = ab_pool_shared_enter(pool, 1);
    assert_non_null(ab_pool_shared_alloc(b, SLOT));
    leave_few_waiting(a, b);
    ab_pool_shared_reset(b);
    assert_int_equal(ab_pool_shared_sum(pool).live, 0);
    ab_pool_shared_purge(a);
    assert_int_equal(ab_pool_live(&a->pool), 0);
    ab_pool_shared_close(pool);
}

static void a_block_of_another_that_shrinks_stays_where_there_is_no_room(void **state)
{
    (void)state;
    struct ab_slab_shared *slab = open_slab(64 * KIB); /* each has one slab */
    struct ab_slab_shared *a = ab_slab_shared_enter(slab, 0), *b = ab_slab_shared_enter(slab, 1);
    char *block = ab_slab_shared_alloc(a, 4096);
    assert_non_null(block);
    assert_non_null(ab_slab_shared_alloc(b, 4096));
    assert_null(ab_slab_shared_alloc(b, 100));
    memset(block, 7, 4096);
    assert_ptr_equal(ab_slab_shared_resize(b, block, 4096, 100), block);
    assert_int_equal(block[99], 7);
    ab_slab_shared_close(slab);
}

static void the_least_of_addresses_is_a_slab(void **state)
{
    (void)state;
    static const struct ab_shards_options modes[] = {
        {.mode = AB_SHARDS_MUTEX}, {.mode = AB_SHARDS_SHARDED}, {.mode = AB_SHARDS_LOCAL}};
    for (int i = 0; i < 3; i++) {
        struct ab_slab_shared_options options = {.slabs = {.reserve_bytes = 1},
                                                 .threads = modes[i]};
        struct ab_slab_shared *slab = ab_slab_shared_open(&options);
        assert_non_null(slab);
        assert_non_null(ab_slab_shared_alloc(ab_slab_shared_own(slab), 100));
        ab_slab_shared_close(slab);
    }
}

/* Slots as in an array of a type that is aligned to 4 bytes. */
static void slots_aligned_to_less_than_a_pointer_come_home(void **state)
{
    (void)state;
    struct ab_pool_shared *pool = open_pool(12, 4);
    struct ab_pool_shared *a = ab_pool_shared_enter(pool, 0), *b = ab_pool_shared_enter(pool, 1);
    void *slots[100];
    for (int i = 0; i < 100; i++)
        assert_non_null(slots[i] = ab_pool_shared_alloc_aligned(a, 4, 12));
    for (int i = 0; i < 100; i++)
        ab_pool_shared_free(b, slots[i]);
    assert_int_equal(ab_pool_shared_sum(pool).live, 0);
    ab_pool_shared_purge(pool);
    assert_int_equal(ab_pool_live(&a->pool), 0);
    ab_pool_shared_close(pool);
}

static void a_block_of_another_arena_does_not_grow_over_its_neighbour(void **state)
{
    (void)state;
    struct ab_arena_shared_options options = {.arena = {.reserve_bytes = 16 * MIB},
                                              .threads = {.mode = AB_SHARDS_LOCAL}};
    struct ab_arena_shared *arena = ab_arena_shared_open(&options);
    assert_non_null(arena);
    struct ab_arena_shared *a = ab_arena_shared_enter(arena, 0);
    struct ab_arena_shared *b = ab_arena_shared_enter(arena, 1);
    char *block = ab_arena_shared_alloc_aligned(a, 1, 5);
    char *neighbour = ab_arena_shared_alloc_aligned(a, 1, 5);
    assert_true(AB_MARKS || neighbour == block + 5); /* close, unless a sanitizer watches */
    memset(block, 1, 5);
    memset(neighbour, 2, 5);
    char *grown = ab_arena_shared_resize(b, block, 5, 10);
    assert_ptr_not_equal(grown, block);
    memset(grown + 5, 3, 5);
    assert_true(grown[0] == 1 && grown[4] == 1 && neighbour[0] == 2);
    assert_ptr_equal(ab_arena_shared_resize(arena, grown, 10, 3), grown);
    assert_non_null(ab_arena_shared_resize(b, NULL, 0, 8));
    ab_arena_shared_close(arena);
}

/* The second one too finds the block in a queue, or where it came from. */
static void a_second_free_from_elsewhere_is_reported(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__)
    for (int is_home = 0; is_home < 2; is_home++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            struct ab_pool_shared *pool = open_pool(SLOT, 0);
            struct ab_pool_shared *a = ab_pool_shared_enter(pool, 0);
            struct ab_pool_shared *b = ab_pool_shared_enter(pool, 1);
            void *block = ab_pool_shared_alloc(a, SLOT);
            assert_non_null(ab_pool_shared_alloc(a, SLOT));
            ab_pool_shared_free(b, block);
            if (is_home)
                ab_pool_shared_purge(pool);
            close(STDERR_FILENO);
            ab_pool_shared_free(b, block);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_not_equal(status, 0);
    }
#else
    skip(); /* it is believed */
#endif
}

/* ---- whose ---- */

static void *enter_and_work(void *pool)
{
    struct ab_pool_shared *own = ab_pool_shared_enter(pool, 1);
    void *block = own != NULL ? ab_pool_shared_alloc(own, SLOT) : NULL;
    ab_pool_shared_free(own, ab_pool_shared_alloc(pool, SLOT));
    return block;
}

static void *try_to_enter(void *pool)
{
    errno = 0;
    void *found = ab_pool_shared_enter(pool, 0);
    return found != NULL ? found : (void *)(intptr_t)errno;
}

static void *in_a_thread(void *(*act)(void *), void *arg)
{
    pthread_t thread;
    void *result = NULL;
    assert_int_equal(pthread_create(&thread, NULL, act, arg), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    return result;
}

static void a_heap_that_a_thread_found_has_no_number(void **state)
{
    (void)state;
    struct ab_pool_shared *pool = open_pool(SLOT, 0), *own = ab_pool_shared_own(pool);
    assert_ptr_not_equal(own, pool);
    assert_int_equal((intptr_t)in_a_thread(try_to_enter, pool), EBUSY);
    assert_ptr_equal(ab_pool_shared_own(pool), own);
    ab_pool_shared_close(pool);
}

/* ---- as in the child of a fork ---- */

static void the_child_leaves_the_heaps_of_others_alone(void **state)
{
    (void)state;
    struct ab_pool_shared *pool = open_pool(SLOT, 0), *own = ab_pool_shared_enter(pool, 0);
    void *theirs = in_a_thread(enter_and_work, pool);
    assert_non_null(theirs);
    assert_int_equal(ab_pool_shared_sum(pool).live, 1);
    ab_pool_shared_before_fork(pool);
    ab_pool_shared_after_fork(pool, true);
    errno = 0;
    assert_null(ab_pool_shared_enter(pool, 1));
    assert_int_equal(errno, EOWNERDEAD);
    assert_int_equal(ab_pool_shared_sum(pool).n_heaps, 2);
    memset(theirs, 9, SLOT);
    ab_pool_shared_reset(pool);
    ab_pool_shared_purge(pool);
    assert_int_equal(((unsigned char *)theirs)[SLOT - 1], 9);
    ab_pool_shared_free(own, theirs);
    ab_pool_shared_purge(pool);
    ab_pool_shared_close(pool);
}

static void a_heap_entered_by_number_is_the_childs_as_any(void **state)
{
    (void)state;
    struct ab_pool_shared *pool = open_pool(SLOT, 0), *own = ab_pool_shared_enter(pool, 2);
    assert_non_null(ab_pool_shared_alloc(own, SLOT));
    ab_pool_shared_before_fork(pool);
    ab_pool_shared_after_fork(pool, true);
    assert_ptr_equal(ab_pool_shared_enter(pool, 2), own);
    assert_int_equal(ab_pool_shared_sum(pool).live, 1);
    ab_pool_shared_reset(pool);
    assert_int_equal(ab_pool_shared_sum(pool).live, 0);
    ab_pool_shared_close(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_waits_for_others_is_not_taken_from_the_sum_of_one_heap),
        cmocka_unit_test(a_reset_of_one_heap_sends_what_is_of_others),
        cmocka_unit_test(a_block_of_another_that_shrinks_stays_where_there_is_no_room),
        cmocka_unit_test(the_least_of_addresses_is_a_slab),
        cmocka_unit_test(slots_aligned_to_less_than_a_pointer_come_home),
        cmocka_unit_test(a_block_of_another_arena_does_not_grow_over_its_neighbour),
        cmocka_unit_test(a_second_free_from_elsewhere_is_reported),
        cmocka_unit_test(a_heap_that_a_thread_found_has_no_number),
        cmocka_unit_test(the_child_leaves_the_heaps_of_others_alone),
        cmocka_unit_test(a_heap_entered_by_number_is_the_childs_as_any),
    };
    return cmocka_run_group_tests_name("shared_own", tests, NULL, NULL);
}
