/* SPDX-License-Identifier: MIT
 *
 * The forms and helpers of the arena beside its plain use (test_allocators_arena.c): over a buffer,
 * with a threshold, populated, in scopes, behind the allocator interface, one for each lane.
 */
#include "allocators/arena/arena_allocator.h"

#include "allocators/builtin.h"
#include "backend/settings.h"
#include "support/heap_model.h"
#include "support/small_pages.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { KIB = 1024, MIB = 1024 * 1024 };

static struct ab_arena make_with(struct ab_arena_options options)
{
    struct ab_arena a;
    assert_int_equal(ab_arena_init(&a, &options), 0);
    return a;
}

static void a_buffer_is_used_to_its_last_whole_unit_and_stays_the_callers(void **state)
{
    (void)state;
    static char buffer[1000];
    memset(buffer, 0x55, sizeof buffer);
    struct ab_arena a;
    ab_arena_init_buffer(&a, buffer + 1, sizeof buffer - 1);
    size_t room = ab_arena_available(&a);
    assert_in_range(room, 999 - 15 - 15, 999);
    assert_int_equal(ab_arena_committed(&a), room);
    unsigned char *p = ab_arena_alloc_zeroed(&a, room);
    assert_non_null(p);
    assert_int_equal((uintptr_t)p % AB_ARENA_ALIGN, 0);
    for (size_t i = 0; i < room; i++)
        assert_int_equal(p[i], 0);
    assert_null(ab_arena_alloc(&a, 1));
    ab_arena_purge(&a);
    ab_arena_trim(&a, 0);
    ab_arena_release(&a);
    assert_non_null(ab_arena_alloc(&a, room));
    assert_int_equal(a.n_os_calls, 0);
    ab_arena_fini(&a);
    buffer[500] = 1;
}

static void a_buffer_too_small_for_a_block_serves_none(void **state)
{
    (void)state;
    _Alignas(16) char buffer[64];
    for (size_t bytes = 0; bytes < 31; bytes++) {
        struct ab_arena a;
        ab_arena_init_buffer(&a, buffer + 1, bytes);
        assert_null(ab_arena_alloc(&a, 16));
        assert_null(ab_arena_alloc(&a, 0));
        ab_arena_restore_position(&a, 0);
        assert_null(ab_arena_alloc(&a, 1));
        assert_null(ab_arena_alloc_packed(&a, 1, 1));
        ab_arena_fini(&a);
    }
    struct ab_arena none;
    ab_arena_init_buffer(&none, NULL, 0);
    assert_null(ab_arena_alloc(&none, 1));
    ab_arena_reset(&none);
    ab_arena_fini(&none);
}

static void arrays_are_aligned_and_absurd_counts_give_nothing(void **state)
{
    (void)state;
    struct wide {
        _Alignas(64) char bytes[64];
    };
    struct ab_arena a = make_with((struct ab_arena_options){.reserve_bytes = MIB});
    ab_arena_alloc(&a, 1);
    struct wide *w = AB_ARENA_ARRAY(&a, struct wide, 3), *one = AB_ARENA_NEW(&a, struct wide);
    assert_int_equal((uintptr_t)w % 64, 0);
    assert_ptr_equal(one, w + 3);
    size_t used = ab_arena_used(&a);
    assert_null(AB_ARENA_ARRAY(&a, struct wide, SIZE_MAX / 64 + 2));
    assert_null(AB_ARENA_ARRAY(&a, struct wide, SIZE_MAX / 64));
    assert_null(AB_ARENA_ARRAY(&a, int, SIZE_MAX / 2));
    assert_int_equal(ab_arena_used(&a), used);
    ab_arena_fini(&a);
}

static void a_threshold_returns_what_is_beyond_it_and_only_that(void **state)
{
    (void)state;
    struct ab_arena a = make_with(
        (struct ab_arena_options){.reserve_bytes = 16 * MIB, .keep_bytes = 256 * KIB});
    char *kept = ab_arena_alloc(&a, 100);
    struct ab_arena_mark mark = ab_arena_save(&a);
    memset(ab_arena_alloc(&a, 4 * MIB), 7, 4 * MIB);
    ab_arena_restore(&a, mark);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    assert_in_range(ab_arena_committed(&a), 256 * KIB, 256 * KIB + 2 * page);
    assert_true(heap_model_resident(a.base, 5 * MIB) <= ab_arena_committed(&a));
    kept[99] = 1;
    ab_arena_reset(&a);
    uint64_t calls = a.n_os_calls;
    ab_arena_alloc(&a, 200 * KIB);
    ab_arena_reset(&a);
    assert_int_equal(a.n_os_calls, calls);
    unsigned char *z = ab_arena_alloc_zeroed(&a, 4 * MIB); /* what came back is zero */
    for (size_t i = 0; i < 4 * MIB; i++)
        assert_int_equal(z[i], 0);
    ab_arena_fini(&a);
}

static void release_returns_all_memory_and_the_addresses_serve_again(void **state)
{
    (void)state;
    struct ab_arena a = make_with((struct ab_arena_options){.reserve_bytes = 8 * MIB});
    char *first = ab_arena_alloc(&a, 3 * MIB);
    memset(first, 9, 3 * MIB);
    ab_arena_release(&a);
    assert_int_equal(ab_arena_committed(&a), 0);
    assert_int_equal(ab_arena_used(&a), 0);
    assert_int_equal(heap_model_resident(a.base, 8 * MIB), 0);
    assert_ptr_equal(ab_arena_alloc_zeroed(&a, 3 * MIB), first);
    for (size_t i = 0; i < 3 * MIB; i++)
        assert_int_equal(first[i], 0);
    ab_arena_fini(&a);
}

static void populated_pages_are_there_before_they_are_touched(void **state)
{
    (void)state;
    struct ab_arena lazy = make_with((struct ab_arena_options){.reserve_bytes = 4 * MIB});
    struct ab_arena eager = make_with(
        (struct ab_arena_options){.reserve_bytes = 4 * MIB, .populate = true});
    char *a = ab_arena_alloc(&lazy, MIB), *b = ab_arena_alloc(&eager, MIB);
    assert_int_equal(heap_model_resident(b, MIB), heap_model_resident(b, 0) + MIB);
    assert_true(heap_model_resident(a, MIB) < MIB);
    ab_arena_fini(&lazy);
    ab_arena_fini(&eager);
}

static void a_block_of_another_arena_that_ends_where_this_one_begins_is_not_its_top(void **state)
{
    (void)state;
    static _Alignas(16) char buffer[4096];
    struct ab_arena low, high;
    ab_arena_init_buffer(&low, buffer, 2048);
    ab_arena_init_buffer(&high, buffer + 2048, 2048);
    char *all = ab_arena_alloc(&low, 2048);
    memset(all, 3, 2048);
    assert_null(ab_arena_resize(&high, all, 2048, 2064));
    char *moved = ab_arena_resize(&high, all, 2048, 2000);
    assert_ptr_equal(moved, all);
    assert_int_equal(ab_arena_used(&high), 0);
    ab_arena_fini(&low);
    ab_arena_fini(&high);
}

static void the_interface_counts_requests_and_refuses_what_it_must(void **state)
{
    (void)state;
    struct ab_arena a = make_with((struct ab_arena_options){.reserve_bytes = MIB});
    struct ab_arena_client client = {.arena = &a};
    struct ab_allocator allocator = ab_arena_allocator(&client);
    int *one = AB_NEW(int, &allocator), *five = AB_NEW_ARRAY(int, 5, &allocator);
    assert_true(one != NULL && five != NULL);
    assert_int_equal((uintptr_t)five % (2 * sizeof(void *)), 0);
    assert_int_equal(client.requested_bytes, 24);
    assert_null(allocator.alloc(0, allocator.context));
    assert_null(AB_NEW_ARRAY(int, SIZE_MAX / 2, &allocator));
    assert_null(AB_NEW_ARRAY(char, 2 * MIB, &allocator));
    assert_int_equal(client.requested_bytes, 24);
    AB_DELETE(int, one, &allocator);
    AB_DELETE_ARRAY(int, 5, five, &allocator);
    assert_int_equal(client.requested_bytes, 24);
    ab_arena_client_free_all(&client);
    assert_int_equal(client.requested_bytes, 0);
    assert_ptr_equal(AB_NEW(int, &allocator), one);
    ab_arena_fini(&a);
}

struct line {
    _Alignas(64) char bytes[64];
};

struct page {
    _Alignas(4096) char bytes[100];
};

static void the_interface_aligns_as_the_type_asks(void **state)
{
    (void)state;
    struct ab_arena a = make_with((struct ab_arena_options){.reserve_bytes = MIB});
    struct ab_arena_client client = {.arena = &a};
    struct ab_allocator allocator = ab_arena_allocator(&client);
    for (size_t i = 0; i < 10; i++) { /* from begins that differ by 16 */
        struct line *one = AB_NEW(struct line, &allocator);
        struct line *three = AB_NEW_ARRAY(struct line, 3, &allocator);
        struct page *page = AB_NEW(struct page, &allocator);
        assert_int_equal((uintptr_t)one % 64 + (uintptr_t)three % 64 + (uintptr_t)page % 4096, 0);
        memset(one, 1, sizeof *one);
        memset(three, 3, 3 * sizeof *three);
        memset(page, 5, sizeof *page);
        assert_true(one->bytes[63] == 1 && three[2].bytes[63] == 3);
        assert_non_null(AB_NEW(char, &allocator));
    }
    assert_null(AB_NEW_ARRAY(struct line, 0, &allocator));
    assert_null(AB_NEW_ARRAY(struct line, SIZE_MAX / 64, &allocator)); /* no room for the lead */
    ab_arena_fini(&a);
}

/* What malloc and free see: blocks and sizes that belong together. */
struct ledger {
    void *block;
    size_t bytes;
};

static void *ledger_alloc(size_t size, void *context)
{
    struct ledger *ledger = context;
    *ledger = (struct ledger){malloc(size), size};
    return ledger->block;
}

static void ledger_free(size_t size, void *block, void *context)
{
    const struct ledger *ledger = context;
    assert_ptr_equal(block, ledger->block);
    if (block != NULL)
        assert_int_equal(size, ledger->bytes);
    free(block);
}

static void the_interface_gives_back_the_very_block_that_it_got(void **state)
{
    (void)state;
    struct ledger ledger = {0};
    struct ab_allocator allocator = {ledger_alloc, ledger_free, &ledger, NULL};
    AB_DELETE(struct page, NULL, &allocator);
    AB_DELETE(struct page, AB_NEW(struct page, &allocator), &allocator);
    AB_DELETE_ARRAY(struct line, 7, AB_NEW_ARRAY(struct line, 7, &allocator), &allocator);
    AB_DELETE_ARRAY(int, 7, AB_NEW_ARRAY(int, 7, &allocator), &allocator);
    assert_int_equal(ledger.bytes, 7 * sizeof(int)); /* nothing more for a type of the usual kind */
}

static const struct ab_backend *variant(const char *params)
{
    uint64_t values[AB_PARAMS_MAX];
    const struct ab_backend *b = ab_builtin_find("arena");
    assert_int_equal(ab_params_parse(b, params, values, NULL), AB_OK);
    return ab_backend_variant(b, values);
}

static void the_threads_setting_says_what_it_can_do(void **state)
{
    (void)state;
    assert_true((variant("")->traits & AB_TRAIT_THREAD_SAFE) != 0);
    assert_null(variant("threads=mutex")->thread_enter);
    assert_int_equal(variant("threads=none")->traits & AB_TRAIT_THREAD_SAFE, 0);
    assert_non_null(variant("threads=local")->thread_enter);
    uint64_t values[AB_PARAMS_MAX];
    struct ab_facts facts = {.total_bytes = MIB, .lanes = 2};
    struct ab_open_args args = {.size = sizeof args, .facts = &facts, .values = values};
    assert_int_equal(ab_params_parse(variant(""), "threads=none", values, NULL), AB_OK);
    struct ab_heap *heap = NULL;
    assert_int_equal(variant("")->open(&args, &heap), ENOTSUP);
    assert_null(heap);
}

struct lane_work {
    const struct ab_backend *b;
    struct ab_heap *heap, *own;
    uint32_t lane;
    bool is_bad;
};

static void *work_in_a_lane(void *arg)
{
    struct lane_work *w = arg;
    if (w->b->thread_enter(w->heap, w->lane, &w->own) != 0) {
        w->is_bad = true;
        return NULL;
    }
    for (unsigned i = 0; i < 20000; i++) {
        unsigned char *p = (unsigned char *)w->b->alloc(w->own, 24);
        memset(p, (int)w->lane, 24);
        w->is_bad = w->is_bad || p[23] != w->lane;
    }
    return NULL;
}

static void each_lane_has_an_arena_of_its_own_and_the_heap_counts_them_all(void **state)
{
    (void)state;
    enum { N = 4 };
    const struct ab_backend *b = variant("threads=local");
    struct ab_facts facts = {.total_bytes = 64 * MIB, .total_blocks = 100000, .lanes = N};
    struct ab_heap *heap = heap_model_open(b, "threads=local", &facts), *again = NULL;
    struct lane_work work[N];
    pthread_t threads[N];
    for (uint32_t i = 0; i < N; i++) {
        work[i] = (struct lane_work){.b = b, .heap = heap, .lane = i};
        assert_int_equal(pthread_create(&threads[i], NULL, work_in_a_lane, &work[i]), 0);
    }
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (uint32_t i = 0; i < N; i++) {
        assert_false(work[i].is_bad);
        assert_ptr_not_equal(work[i].own, work[(i + 1) % N].own);
    }
    struct ab_heap_stats all, one;
    assert_int_equal(b->stats(heap, &all), 0);
    assert_int_equal(b->stats(work[2].own, &one), 0);
    assert_true(one.committed_bytes >= 20000 * 32);
    assert_true(all.committed_bytes >= 4 * 20000 * 32);
    assert_true(one.committed_bytes <= all.committed_bytes / 4);
    assert_int_equal(b->thread_enter(heap, 2, &again), 0); /* the next thread of that lane */
    assert_ptr_equal(again, work[2].own);
    assert_int_equal(b->thread_enter(heap, N, &again), EINVAL);
    b->close(heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_buffer_is_used_to_its_last_whole_unit_and_stays_the_callers),
        cmocka_unit_test(a_buffer_too_small_for_a_block_serves_none),
        cmocka_unit_test(arrays_are_aligned_and_absurd_counts_give_nothing),
        cmocka_unit_test(a_threshold_returns_what_is_beyond_it_and_only_that),
        cmocka_unit_test(release_returns_all_memory_and_the_addresses_serve_again),
        cmocka_unit_test(populated_pages_are_there_before_they_are_touched),
        cmocka_unit_test(a_block_of_another_arena_that_ends_where_this_one_begins_is_not_its_top),
        cmocka_unit_test(the_interface_counts_requests_and_refuses_what_it_must),
        cmocka_unit_test(the_interface_aligns_as_the_type_asks),
        cmocka_unit_test(the_interface_gives_back_the_very_block_that_it_got),
        cmocka_unit_test(the_threads_setting_says_what_it_can_do),
        cmocka_unit_test(each_lane_has_an_arena_of_its_own_and_the_heap_counts_them_all),
    };
    test_with_small_pages();
    return cmocka_run_group_tests_name("arena_forms", tests, NULL, NULL);
}
