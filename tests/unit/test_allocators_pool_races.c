/* SPDX-License-Identifier: MIT
 *
 * The lock-free pool when a pop stalls at the worst place: it has read the head and its link, and
 * others work before it goes on. The pool is compiled here with a hook at that place, so the order
 * is forced and no chance decides. Its number has as many bits as a test says; with none it is the
 * pool that forgot about ABA, which the same scenes must catch. Under ThreadSanitizer
 * too (tests/tsan-tests).
 * tests: pool_lockfree.c
 */
#include "allocators/pool/pool_lockfree.h"

#include "support/cmocka.h"

#include <pthread.h>
#include <semaphore.h>

static unsigned number_bits;
static __thread void (*meanwhile)(struct ab_pool_lockfree *); /* once, in this thread's next pop */

static void stall(struct ab_pool_lockfree *pool)
{
    void (*work)(struct ab_pool_lockfree *) = meanwhile;
    meanwhile = NULL;
    if (work != NULL)
        work(pool);
}

#define AB_POOL_LOCKFREE_STALL(pool) stall(pool)
#define AB_POOL_LOCKFREE_NUMBER_BITS number_bits
#include "allocators/pool/pool_lockfree.c"

enum { BITS = 24, A = 0, B, C, D, N_SLOTS };

static unsigned n_held[N_SLOTS]; /* how often each slot is given out now; 1 at most, if right */
static unsigned long n_pops;     /* by others during the stall */

struct outcome {
    unsigned n_twice, n_lost;
};

static bool take(struct ab_pool_lockfree *pool)
{
    const char *slot = ab_pool_lockfree_alloc(pool, 16);
    if (slot != NULL)
        n_held[(size_t)(slot - pool->base) / pool->stride]++;
    return slot != NULL;
}

static void give(struct ab_pool_lockfree *pool, unsigned slot)
{
    n_held[slot]--;
    ab_pool_lockfree_free(pool, pool->base + slot * pool->stride);
}

/* n_free slots lie in the stack, A on top, then B and C; the others are held. A pop stalls while
 * others work. Then all that can be had is taken: each slot must have been given once. */
static struct outcome play(unsigned bits, unsigned n_free,
                           void (*others)(struct ab_pool_lockfree *))
{
    struct ab_pool_lockfree pool;
    struct ab_pool_lockfree_options options = {.slot_bytes = 16, .n_slots = N_SLOTS};
    struct outcome outcome = {0, 0};
    number_bits = bits;
    memset(n_held, 0, sizeof n_held);
    assert_int_equal(ab_pool_lockfree_init(&pool, &options), 0);
    for (unsigned i = 0; i < N_SLOTS; i++)
        assert_true(take(&pool));
    for (unsigned i = n_free; i-- > 0;)
        give(&pool, i);
    meanwhile = others;
    assert_true(take(&pool));
    assert_null(meanwhile);
    for (unsigned i = 0; i < 2 * N_SLOTS && take(&pool); i++)
        ;
    for (unsigned i = 0; i < N_SLOTS; i++) {
        outcome.n_twice += n_held[i] > 1;
        outcome.n_lost += n_held[i] == 0;
    }
    ab_pool_lockfree_fini(&pool);
    return outcome;
}

/* A, B and A again, and B is not free: who takes B for the next of A gives it twice. */
static void take_two_and_give_the_first(struct ab_pool_lockfree *pool)
{
    take(pool);
    take(pool);
    give(pool, A);
}

/* Below A there was nothing, and now there is D: who takes A for the last loses D. */
static void put_another_under_it(struct ab_pool_lockfree *pool)
{
    take(pool);
    give(pool, D);
    give(pool, A);
}

static void take_two_and_turn_the_first(struct ab_pool_lockfree *pool)
{
    take_two_and_give_the_first(pool);
    for (unsigned long i = 2; i < n_pops; i++) {
        void *slot = ab_pool_lockfree_alloc(pool, 16);
        ab_pool_lockfree_free(pool, slot);
    }
}

static void check(struct outcome outcome, unsigned n_twice, unsigned n_lost)
{
    assert_int_equal(outcome.n_twice, n_twice);
    assert_int_equal(outcome.n_lost, n_lost);
}

static void a_slot_that_came_back_on_top_is_not_the_same(void **state)
{
    (void)state;
    check(play(BITS, 3, take_two_and_give_the_first), 0, 0);
    check(play(BITS, 1, put_another_under_it), 0, 0);
}

static void without_the_number_a_slot_is_given_twice(void **state)
{
    (void)state;
    check(play(0, 3, take_two_and_give_the_first), 1, 0);
}

static void without_the_number_a_slot_is_lost(void **state)
{
    (void)state;
    check(play(0, 1, put_another_under_it), 0, 1);
}

/* ---- the same by another thread ---- */

static sem_t stalled, resumed;

static struct ab_pool_lockfree *shared;
static void (*work_of_other)(struct ab_pool_lockfree *);

static void *other(void *arg)
{
    sem_wait(&stalled);
    work_of_other(shared);
    sem_post(&resumed);
    return arg;
}

static void stall_for_the_other(struct ab_pool_lockfree *pool)
{
    shared = pool;
    sem_post(&stalled);
    sem_wait(&resumed);
}

static struct outcome play_with_a_thread(unsigned bits, unsigned n_free,
                                         void (*others)(struct ab_pool_lockfree *))
{
    pthread_t thread;
    work_of_other = others;
    sem_init(&stalled, 0, 0);
    sem_init(&resumed, 0, 0);
    assert_int_equal(pthread_create(&thread, NULL, other, NULL), 0);
    struct outcome outcome = play(bits, n_free, stall_for_the_other);
    assert_int_equal(pthread_join(thread, NULL), 0);
    sem_destroy(&stalled);
    sem_destroy(&resumed);
    return outcome;
}

static void another_thread_makes_no_difference(void **state)
{
    (void)state;
    check(play_with_a_thread(BITS, 3, take_two_and_give_the_first), 0, 0);
    check(play_with_a_thread(BITS, 1, put_another_under_it), 0, 0);
    check(play_with_a_thread(0, 3, take_two_and_give_the_first), 1, 0);
    check(play_with_a_thread(0, 1, put_another_under_it), 0, 1);
}

/* ---- what is left ---- */

static bool is_fooled(unsigned bits, unsigned long pops)
{
    n_pops = pops;
    return play(bits, 3, take_two_and_turn_the_first).n_twice > 0;
}

static void only_a_full_turn_of_the_number_fools_it(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits <= 6; bits++)
        for (unsigned long pops = 2; pops <= 200; pops++)
            assert_int_equal(is_fooled(bits, pops), pops % (1ul << bits) == 0);
}

#ifndef __SANITIZE_THREAD__ /* eight seconds there, and nothing that the others do not have */
static void a_full_turn_of_the_real_number_takes_2_to_the_24_pops(void **state)
{
    (void)state;
    assert_true(is_fooled(BITS, 1ul << BITS));
    assert_false(is_fooled(BITS, (1ul << BITS) - 1));
    assert_false(is_fooled(BITS, 1ul << (BITS - 1)));
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slot_that_came_back_on_top_is_not_the_same),
        cmocka_unit_test(without_the_number_a_slot_is_given_twice),
        cmocka_unit_test(without_the_number_a_slot_is_lost),
        cmocka_unit_test(another_thread_makes_no_difference),
        cmocka_unit_test(only_a_full_turn_of_the_number_fools_it),
#ifndef __SANITIZE_THREAD__
        cmocka_unit_test(a_full_turn_of_the_real_number_takes_2_to_the_24_pops),
#endif
    };
    return cmocka_run_group_tests_name("pool_races", tests, NULL, NULL);
}
