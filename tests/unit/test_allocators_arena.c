/* SPDX-License-Identifier: MIT
 *
 * The arena as a library. What all back ends have in common is in tests/contract.
 */
#include "allocators/arena/arena.h"

#include "allocators/builtin.h"
#include "support/heap_model.h"
#include "support/small_pages.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { KIB = 1024, MIB = 1024 * 1024 };

static size_t page;

static struct ab_arena make(size_t reserve, size_t step)
{
    struct ab_arena a;
    page = (size_t)sysconf(_SC_PAGESIZE);
    assert_int_equal(
        ab_arena_init(&a, &(struct ab_arena_options){.reserve_bytes = reserve, .step_bytes = step}),
        0);
    return a;
}

static void reserving_commits_nothing(void **state)
{
    (void)state;
    struct ab_arena a = make(100 * KIB + 1, 0);
    assert_int_equal(ab_arena_committed(&a), 0);
    assert_int_equal(ab_arena_used(&a), 0);
    assert_int_equal(ab_arena_available(&a) % page, 0);
    assert_true(ab_arena_available(&a) >= 100 * KIB + 1);
    ab_arena_fini(&a);
}

static void sizes_that_cannot_be_reserved_are_refused(void **state)
{
    (void)state;
    struct ab_arena a = {.n_os_calls = 77};
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX / 2};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct ab_arena_options options = {.reserve_bytes = sizes[i]};
        assert_int_equal(ab_arena_init(&a, &options), ENOMEM);
    }
    assert_int_equal(a.n_os_calls, 77);
}

static void a_fixed_step_commits_page_by_page_and_stops_at_the_reservation(void **state)
{
    (void)state;
    struct ab_arena a = make(10 * 4096, 1);
    for (size_t i = 0; i < 10; i++) {
        char *p = ab_arena_alloc(&a, page);
        assert_non_null(p);
        memset(p, 1, page);
        assert_int_equal(ab_arena_committed(&a), (i + 1) * page);
    }
    assert_int_equal(ab_arena_available(&a), 10 * 4096 - 10 * page);
    assert_null(ab_arena_alloc(&a, 1));
    assert_null(ab_arena_alloc(&a, 0));
    ab_arena_fini(&a);
}

static void a_last_step_that_is_too_large_is_clamped(void **state)
{
    (void)state;
    struct ab_arena a = make(5 * (size_t)sysconf(_SC_PAGESIZE), 2 * 4096);
    for (int i = 0; i < 5; i++)
        memset(ab_arena_alloc(&a, page), 1, page);
    assert_int_equal(ab_arena_committed(&a), 5 * page);
    assert_ptr_equal(a.limit, a.end);
    ab_arena_fini(&a);
}

static void large_steps_begin_where_a_huge_page_can(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct ab_arena a = make(7 * MIB + 1, 2 * MIB), b = make(4096, 0);
        assert_int_equal((uintptr_t)a.base % (2 * MIB), 0);
        char *p = ab_arena_alloc(&a, 7 * MIB);
        p[7 * MIB - 1] = 1;
        ab_arena_fini(&b);
        ab_arena_fini(&a);
    }
}

static void size_zero_gives_a_block_of_its_own(void **state)
{
    (void)state;
    struct ab_arena a = make(MIB, 0);
    char *p = ab_arena_alloc(&a, 0), *q = ab_arena_alloc(&a, 0), *r = ab_arena_alloc(&a, 1);
    assert_true(p != NULL && q > p && r > q);
    ab_arena_fini(&a);
}

static void growing_steps_need_few_system_calls(void **state)
{
    (void)state;
    struct ab_arena a = make(64 * MIB, 0);
    for (int i = 0; i < 64 * 1024; i++)
        assert_non_null(ab_arena_alloc(&a, 1000));
    assert_true(a.n_os_calls <= 12);
    assert_true(ab_arena_committed(&a) <= 64 * MIB);
    ab_arena_fini(&a);
}

static void pages_beyond_what_was_committed_are_inaccessible(void **state)
{
    (void)state;
    struct ab_arena a = make(MIB, 4096);
    assert_non_null(ab_arena_alloc(&a, 1));
    int pipe_fds[2];
    assert_int_equal(pipe(pipe_fds), 0);
    assert_int_equal(write(pipe_fds[1], a.base, 1), 1);
    assert_int_equal(write(pipe_fds[1], a.limit, 1), -1);
    assert_int_equal(errno, EFAULT);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
    ab_arena_fini(&a);
}

static void a_request_larger_than_the_reservation_fails_and_changes_nothing(void **state)
{
    (void)state;
    struct ab_arena a = make(MIB, 0);
    assert_non_null(ab_arena_alloc(&a, 100));
    size_t used = ab_arena_used(&a);
    static const size_t sizes[] = {MIB,           MIB - 64,      SIZE_MAX,    SIZE_MAX - 1,
                                   SIZE_MAX - 15, SIZE_MAX - 16, SIZE_MAX / 2};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_null(ab_arena_alloc(&a, sizes[i]));
        assert_null(ab_arena_alloc_zeroed(&a, sizes[i]));
        assert_null(ab_arena_alloc_aligned(&a, 4096, sizes[i]));
    }
    for (unsigned bit = 21; bit < 64; bit++)
        assert_true(ab_arena_alloc_aligned(&a, (size_t)1 << bit, MIB) == NULL);
    assert_int_equal(ab_arena_used(&a), used);
    assert_non_null(ab_arena_alloc(&a, MIB - 128));
    ab_arena_fini(&a);
}

static void the_reservation_can_be_used_to_its_last_byte(void **state)
{
    (void)state;
    struct ab_arena a = make(16 * 4096, 0);
    size_t all = ab_arena_available(&a);
    char *p = ab_arena_alloc(&a, all);
    assert_non_null(p);
    p[all - 1] = 1;
    assert_int_equal(ab_arena_available(&a), 0);
    ab_arena_reset(&a);
    assert_ptr_equal(ab_arena_alloc(&a, all - 15), p);
    assert_null(ab_arena_alloc(&a, 1));
    ab_arena_fini(&a);
}

static void alignments_that_are_no_power_of_two_give_nothing(void **state)
{
    (void)state;
    struct ab_arena a = make(MIB, 0);
    assert_null(ab_arena_alloc_aligned(&a, 0, 1));
    assert_null(ab_arena_alloc_aligned(&a, 3, 1));
    assert_null(ab_arena_alloc_aligned(&a, 48, 1));
    assert_non_null(ab_arena_alloc_aligned(&a, 1, 1));
    assert_int_equal((uintptr_t)ab_arena_alloc_aligned(&a, 64 * KIB, 1) % (64 * KIB), 0);
    ab_arena_fini(&a);
}

static void reset_keeps_the_pages_and_starts_over(void **state)
{
    (void)state;
    struct ab_arena a = make(MIB, 0);
    char *first = ab_arena_alloc(&a, 500 * KIB);
    size_t committed = ab_arena_committed(&a);
    uint64_t calls = a.n_os_calls;
    ab_arena_reset(&a);
    assert_int_equal(ab_arena_used(&a), 0);
    assert_int_equal(ab_arena_committed(&a), committed);
    assert_ptr_equal(ab_arena_alloc(&a, 500 * KIB), first);
    assert_int_equal(a.n_os_calls, calls);
    ab_arena_fini(&a);
}

static void save_points_nest_and_stale_ones_are_ignored(void **state)
{
    (void)state;
    struct ab_arena a = make(MIB, 0);
    char *outside = ab_arena_alloc(&a, 10);
    struct ab_arena_mark outer = ab_arena_save(&a);
    ab_arena_alloc(&a, 1000);
    struct ab_arena_mark inner = ab_arena_save(&a);
    ab_arena_alloc(&a, 2000);
    ab_arena_restore(&a, inner);
    assert_int_equal(ab_arena_used(&a), inner.position);
    ab_arena_restore(&a, outer);
    assert_int_equal(ab_arena_used(&a), outer.position);
    ab_arena_restore(&a, inner);
    assert_int_equal(ab_arena_used(&a), outer.position);
    assert_ptr_equal(ab_arena_alloc(&a, 1), outside + 16);
    ab_arena_fini(&a);
}

static void the_top_block_grows_and_shrinks_in_place(void **state)
{
    (void)state;
    struct ab_arena a = make(MIB, 0);
    char *low = ab_arena_alloc(&a, 64), *top = ab_arena_alloc(&a, 100);
    memset(top, 7, 100);
    assert_ptr_equal(ab_arena_resize(&a, top, 100, 300 * KIB), top);
    top[300 * KIB - 1] = 1;
    assert_ptr_equal(ab_arena_resize(&a, top, 300 * KIB, 10), top);
    assert_int_equal(ab_arena_used(&a), 64 + 16);
    assert_ptr_equal(ab_arena_resize(&a, low, 64, 20), low);
    char *moved = ab_arena_resize(&a, low, 20, 200);
    assert_ptr_not_equal(moved, low);
    assert_null(ab_arena_resize(&a, moved, 200, 2 * MIB));
    assert_null(ab_arena_resize(&a, low, 20, SIZE_MAX));
    assert_int_equal(ab_arena_used(&a), 64 + 16 + 208);
    ab_arena_fini(&a);
}

/* Every way the pointer can go down must leave zeroed blocks zero. */
static void zeroed_blocks_are_zero_whatever_lay_there_before(void **state)
{
    (void)state;
    struct ab_arena a = make(4 * MIB, 0);
    for (int way = 0; way < 4; way++) {
        struct ab_arena_mark mark = ab_arena_save(&a);
        char *p = ab_arena_alloc(&a, 100 * KIB);
        memset(p, 0xff, 100 * KIB);
        if (way == 0)
            ab_arena_reset(&a);
        else if (way == 1)
            ab_arena_restore(&a, mark);
        else if (way == 2)
            ab_arena_resize(&a, p, 100 * KIB, 1);
        else
            ab_arena_reset(&a), ab_arena_alloc(&a, 10), ab_arena_purge(&a);
        unsigned char *z = ab_arena_alloc_zeroed(&a, 150 * KIB);
        for (size_t i = 0; i < 150 * KIB; i++)
            assert_int_equal(z[i], 0);
        memset(z, 0xee, 150 * KIB);
        ab_arena_reset(&a);
    }
    ab_arena_fini(&a);
}

static void purge_returns_pages_and_keeps_live_blocks(void **state)
{
    (void)state;
    struct ab_arena a = make(4 * MIB, 0);
    char *kept = ab_arena_alloc(&a, 100);
    memset(kept, 5, 100);
    struct ab_arena_mark mark = ab_arena_save(&a);
    memset(ab_arena_alloc(&a, MIB), 6, MIB);
    ab_arena_restore(&a, mark);
    ab_arena_purge(&a);
    unsigned char resident[MIB / 4096];
    assert_int_equal(mincore(a.base, MIB, resident), 0);
    assert_int_equal(resident[0] & 1, 1);
    for (size_t i = 1; i < MIB / page; i++)
        assert_int_equal(resident[i] & 1, 0);
    for (int i = 0; i < 100; i++)
        assert_int_equal(kept[i], 5);
    ab_arena_fini(&a);
}

static void fini_gives_the_addresses_back(void **state)
{
    (void)state;
    struct ab_arena a = make(MIB, 0);
    char *base = a.base;
    unsigned char resident[MIB / 4096];
    ab_arena_fini(&a);
    assert_int_equal(mincore(base, page, resident), -1);
    assert_int_equal(errno, ENOMEM);
}

static void several_lanes_share_one_arena(void **state)
{
    (void)state;
    struct ab_facts facts = {.total_bytes = 64 * MIB, .total_blocks = 100000, .lanes = 4};
    const struct ab_backend *backend = ab_builtin_find("arena");
    struct ab_heap *heap = heap_model_open(backend, "", &facts);
    heap_model_run_threads(backend, heap, 5000, 500);
    backend->close(heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reserving_commits_nothing),
        cmocka_unit_test(sizes_that_cannot_be_reserved_are_refused),
        cmocka_unit_test(a_fixed_step_commits_page_by_page_and_stops_at_the_reservation),
        cmocka_unit_test(a_last_step_that_is_too_large_is_clamped),
        cmocka_unit_test(large_steps_begin_where_a_huge_page_can),
        cmocka_unit_test(size_zero_gives_a_block_of_its_own),
        cmocka_unit_test(growing_steps_need_few_system_calls),
        cmocka_unit_test(pages_beyond_what_was_committed_are_inaccessible),
        cmocka_unit_test(a_request_larger_than_the_reservation_fails_and_changes_nothing),
        cmocka_unit_test(the_reservation_can_be_used_to_its_last_byte),
        cmocka_unit_test(alignments_that_are_no_power_of_two_give_nothing),
        cmocka_unit_test(reset_keeps_the_pages_and_starts_over),
        cmocka_unit_test(save_points_nest_and_stale_ones_are_ignored),
        cmocka_unit_test(the_top_block_grows_and_shrinks_in_place),
        cmocka_unit_test(zeroed_blocks_are_zero_whatever_lay_there_before),
        cmocka_unit_test(purge_returns_pages_and_keeps_live_blocks),
        cmocka_unit_test(fini_gives_the_addresses_back),
        cmocka_unit_test(several_lanes_share_one_arena),
    };
    test_with_small_pages();
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
