/* SPDX-License-Identifier: MIT
 *
 * Scratch arenas: each thread its own two, never the one that a caller named.
 */
#include "allocators/arena/arena_scratch.h"

#include "base/clock.h"
#include "support/small_pages.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void what_is_allocated_dies_at_the_end(void **state)
{
    (void)state;
    struct ab_scratch first = ab_scratch_begin(NULL, 0);
    assert_non_null(first.arena);
    void *block = ab_arena_alloc(first.arena, 1000);
    struct ab_scratch inner = ab_scratch_begin(NULL, 0); /* nested: the same arena, further up */
    assert_ptr_equal(inner.arena, first.arena);
    assert_true((char *)ab_arena_alloc(inner.arena, 10) > (char *)block);
    ab_scratch_end(inner);
    assert_true(ab_arena_used(first.arena) >= 1000);
    ab_scratch_end(first);
    assert_int_equal(ab_arena_used(first.arena), 0);
}

static void a_conflict_gets_the_other_one(void **state)
{
    (void)state;
    struct ab_scratch a = ab_scratch_begin(NULL, 0);
    struct ab_scratch b = ab_scratch_begin(&a.arena, 1);
    assert_non_null(b.arena);
    assert_ptr_not_equal(a.arena, b.arena);
    struct ab_arena *conflicts[] = {b.arena, NULL};
    struct ab_scratch c = ab_scratch_begin(conflicts, 2);
    assert_ptr_equal(c.arena, a.arena);
    struct ab_arena *both[] = {a.arena, b.arena};
    struct ab_scratch none = ab_scratch_begin(both, 2);
    assert_null(none.arena);
    ab_scratch_end(none);
    ab_scratch_end(c);
    ab_scratch_end(b);
    ab_scratch_end(a);
}

/* Returns in `out` what it makes with the help of another function that does the same. */
static char *deep(struct ab_arena *out, int depth)
{
    AB_SCRATCH(scratch, &out, 1);
    assert_ptr_not_equal(scratch.arena, out);
    char *mine = memset(ab_arena_alloc(scratch.arena, 100), 'a' + depth, 100);
    if (depth > 0) {
        const char *other = deep(scratch.arena, depth - 1);
        assert_int_equal(other[0], 'a' + depth - 1);
    }
    assert_int_equal(mine[0] + mine[99], 2 * ('a' + depth));
    return memcpy(ab_arena_alloc(out, 100), mine, 100);
}

static void functions_that_call_each_other_keep_their_results_apart(void **state)
{
    (void)state;
    AB_SCRATCH(scratch, NULL, 0);
    const char *result = deep(scratch.arena, 20);
    for (int i = 0; i < 100; i++)
        assert_int_equal(result[i], 'a' + 20);
}

static void *use_in_a_thread(void *out)
{
    struct ab_scratch scratch = ab_scratch_begin(NULL, 0);
    memset(ab_arena_alloc(scratch.arena, 100000), 1, 100000);
    *(struct ab_arena **)out = scratch.arena;
    ab_scratch_end(scratch);
    return NULL;
}

static void each_thread_has_its_own_and_takes_them_along(void **state)
{
    (void)state;
    struct ab_arena *of_thread = NULL;
    AB_SCRATCH(mine, NULL, 0);
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, use_in_a_thread, &of_thread), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_ptr_not_equal(of_thread, mine.arena);
        unsigned char resident;
        void *page = (void *)((uintptr_t)of_thread & ~(uintptr_t)4095);
        assert_int_equal(mincore(page, 1, &resident), -1);
    }
}

static void closed_ones_are_opened_again(void **state)
{
    (void)state;
    ab_scratch_close();
    ab_scratch_close();
    AB_SCRATCH(scratch, NULL, 0);
    assert_non_null(ab_arena_alloc(scratch.arena, 10));
}

/* In a child, whose addresses are bounded. */
static int use_within(size_t bytes)
{
    struct rlimit addresses = {bytes, bytes};
    if (setrlimit(RLIMIT_AS, &addresses) != 0)
        return 1;
    AB_SCRATCH(one, NULL, 0);
    AB_SCRATCH(other, &one.arena, 1);
    return one.arena == NULL || other.arena == NULL || ab_arena_alloc(one.arena, 1 << 20) == NULL ||
           ab_arena_alloc(other.arena, 1 << 20) == NULL;
}

static void where_addresses_are_bounded_fewer_are_reserved(void **state)
{
    (void)state;
#if AB_MARKS || defined(__SANITIZE_THREAD__)
    skip(); /* a sanitizer has reserved more already */
#endif
    ab_scratch_close();
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(use_within((size_t)1 << 30));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* ---- what a scope costs ---- */

struct bump {
    char *next, *end;
};

enum { N_SCOPES = 200000, ROUNDS_MAX = 100 };
static void *volatile sink;

/* CPU time of so many, and the least so far: what else the machine does only adds to it. */
#define TIME(least, ...) \
    do { \
        uint64_t begin_ = ab_clock_thread_cpu_ns(); \
        for (int i_ = 0; i_ < N_SCOPES; i_++) { \
            __VA_ARGS__; \
            __asm__ volatile("" : : : "memory"); \
        } \
        double ns_ = (double)(ab_clock_thread_cpu_ns() - begin_) / N_SCOPES; \
        *(least) = ns_ < *(least) ? ns_ : *(least); \
    } while (0)

static void time_by_hand(double *least)
{
    static char buffer[1 << 16];
    struct bump h = {buffer, buffer + sizeof buffer};
    TIME(
        least, char *saved = h.next; if (h.end - h.next > 112) {
            sink = h.next;
            h.next += 112;
        } h.next = saved);
}

static void time_scope(double *least)
{
    struct ab_arena a;
    assert_int_equal(ab_arena_init(&a, &(struct ab_arena_options){0}), 0);
    sink = ab_arena_alloc(&a, 50000);
    TIME(least, AB_ARENA_SCOPED(&a); sink = ab_arena_alloc(&a, 100));
    ab_arena_fini(&a);
}

static void time_scratch(double *least)
{
    TIME(least, AB_SCRATCH(s, NULL, 0); sink = ab_arena_alloc(s.arena, 100));
}

/* The one by hand is in registers and writes one word where an arena in memory writes three, so that 3
 * times is what those take and no more. The rest is for clocks. */
static void a_scope_costs_little_more_than_one_by_hand(void **state)
{
    (void)state;
#if AB_MARKS || AB_CHECKS || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
    skip(); /* other code */
#endif
    double hand = 1e9, scope = 1e9, scratch = 1e9;
    for (int i = 0; i < 3 || (i < ROUNDS_MAX && (scope > 3 * hand || scratch > 8 * hand)); i++) {
        time_by_hand(&hand);
        time_scope(&scope);
        time_scratch(&scratch);
    }
    print_message("by hand 1, scope %.2f, scratch %.2f\n", scope / hand, scratch / hand);
    assert_true(scope <= 3.3 * hand);
    assert_true(scratch <= 8 * hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_allocated_dies_at_the_end),
        cmocka_unit_test(a_conflict_gets_the_other_one),
        cmocka_unit_test(functions_that_call_each_other_keep_their_results_apart),
        cmocka_unit_test(each_thread_has_its_own_and_takes_them_along),
        cmocka_unit_test(closed_ones_are_opened_again),
        cmocka_unit_test(where_addresses_are_bounded_fewer_are_reserved),
        cmocka_unit_test(a_scope_costs_little_more_than_one_by_hand),
    };
    test_with_small_pages();
    return cmocka_run_group_tests_name("arena scratch", tests, NULL, NULL);
}
