/* SPDX-License-Identifier: MIT
 *
 * Every allocator through the interface of ab_allocator.h: what a data structure may rely on
 * whatever is behind it. What each does beyond that is in its own test.
 */
#include "allocators/ab_allocator_libc.h"
#include "allocators/arena/arena_allocator.h"
#include "allocators/paged/paged_allocator.h"
#include "allocators/paged/paged_arena.h"
#include "allocators/pool/pool_allocator.h"
#include "allocators/slab/slab_allocator.h"
#include "base/bits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { MIB = 1024 * 1024, LINE = 64, N = 40 };

struct line { /* over-aligned */
    _Alignas(LINE) char bytes[3];
};

struct triple {
    double x, y, z;
};

static struct all {
    struct ab_arena arena;
    struct ab_arena_client client;
    struct ab_pool pool;
    struct ab_pool_lockfree lockfree;
    struct ab_slabs slabs, fine;
    struct ab_paged_pool paged_pool, arena_pool;
    struct ab_paged_arena paged;
    struct ab_allocator allocators[8];
} all;

static int open_all(void **state)
{
    (void)state;
    int errors =
        ab_arena_init(&all.arena, &(struct ab_arena_options){.reserve_bytes = 16 * MIB}) |
        ab_pool_init(&all.pool, &(struct ab_pool_options){.slot_bytes = 4096, .grows = true}) |
        ab_pool_lockfree_init(&all.lockfree, &(struct ab_pool_lockfree_options){.slot_bytes = 4096,
                                                                                .n_slots = 1000}) |
        ab_slabs_init(&all.slabs, &(struct ab_slabs_options){.reserve_bytes = 16 * MIB}) |
        ab_slabs_init(&all.fine, &(struct ab_slabs_options){.reserve_bytes = 16 * MIB,
                                                            .spacing = AB_SLAB_FINE}) |
        ab_paged_pool_init(&all.paged_pool, "blocks", 16 * MIB) |
        ab_paged_pool_init(&all.arena_pool, "pages", 16 * MIB);
    errors |= ab_paged_arena_init(&all.paged, &all.arena_pool, 0, 0);
    all.client.arena = &all.arena;
    all.allocators[0] = ab_libc_allocator();
    all.allocators[1] = ab_arena_allocator(&all.client);
    all.allocators[2] = ab_pool_allocator(&all.pool);
    all.allocators[3] = ab_pool_lockfree_allocator(&all.lockfree);
    all.allocators[4] = ab_slab_allocator(&all.slabs);
    all.allocators[5] = ab_slab_allocator(&all.fine);
    all.allocators[6] = ab_paged_pool_allocator(&all.paged_pool);
    all.allocators[7] = ab_paged_allocator(&all.paged);
    return errors;
}

static int close_all(void **state)
{
    (void)state;
    ab_arena_fini(&all.arena);
    ab_pool_fini(&all.pool);
    ab_pool_lockfree_fini(&all.lockfree);
    ab_slabs_fini(&all.slabs);
    ab_slabs_fini(&all.fine);
    ab_paged_arena_fini(&all.paged);
    ab_paged_pool_fini(&all.paged_pool);
    ab_paged_pool_fini(&all.arena_pool);
    return 0;
}

#define FOR_EACH_ALLOCATOR(a) \
    for (const struct ab_allocator *a = all.allocators; \
         a < all.allocators + AB_ARRAY_LEN(all.allocators); a++)

static void nothing_is_NULL_and_NULL_is_nothing(void **state)
{
    (void)state;
    FOR_EACH_ALLOCATOR(a)
    {
        assert_null(a->alloc(0, a->context));
        a->free(100, NULL, a->context);
        assert_null(AB_NEW_ARRAY(struct triple, 0, a));
        AB_DELETE(struct triple, NULL, a);
        AB_DELETE(struct line, NULL, a);
    }
}

static void every_size_is_aligned_to_two_pointers(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 7, 8, 9, 16, 17, 24, 31, 100, 1000, 4000};
    FOR_EACH_ALLOCATOR(a)
    for (size_t i = 0; i < AB_ARRAY_LEN(sizes); i++) {
        char *first = a->alloc(sizes[i], a->context), *second = a->alloc(sizes[i], a->context);
        assert_non_null(first);
        assert_non_null(second);
        assert_int_equal(((uintptr_t)first | (uintptr_t)second) % AB_ALLOCATOR_ALIGN, 0);
        memset(first, 1, sizes[i]);
        memset(second, 2, sizes[i]);
        assert_int_equal(first[sizes[i] - 1], 1);
        a->free(sizes[i], second, a->context);
        a->free(sizes[i], first, a->context);
    }
}

static void a_typed_block_is_aligned_as_its_type(void **state)
{
    (void)state;
    FOR_EACH_ALLOCATOR(a)
    {
        struct line *lines[N];
        for (unsigned i = 0; i < N; i++) {
            lines[i] = AB_NEW(struct line, a);
            assert_non_null(lines[i]);
            assert_int_equal((uintptr_t)lines[i] % LINE, 0);
            memset(lines[i], (int)i, sizeof *lines[i]);
        }
        struct line *array = AB_NEW_ARRAY(struct line, 20, a);
        assert_non_null(array);
        assert_int_equal((uintptr_t)array % LINE, 0);
        memset(array, 77, 20 * sizeof *array);
        for (unsigned i = N; i-- > 0;) {
            for (size_t k = 0; k < sizeof *lines[i]; k++)
                assert_int_equal(((const char *)lines[i])[k], i);
            AB_DELETE(struct line, lines[i], a);
        }
        AB_DELETE_ARRAY(struct line, 20, array, a);
    }
}

static void too_many_are_NULL(void **state)
{
    (void)state;
    FOR_EACH_ALLOCATOR(a)
    {
        volatile size_t most = SIZE_MAX; /* or the compiler warns about it */
        assert_null(AB_NEW_ARRAY(struct triple, most / 2, a));
        assert_null(AB_NEW_ARRAY(struct line, most / LINE + 1, a));
        assert_null(AB_NEW_ARRAY(struct line, most / LINE, a)); /* no room to align it */
        if (a->alloc != ab_libc_client_alloc)
            assert_null(AB_NEW_ARRAY(char, most / 4, a));
    }
}

/* What goes back is served again, but in the arenas. */
static void blocks_go_back(void **state)
{
    (void)state;
    FOR_EACH_ALLOCATOR(a)
    {
        struct triple *first = AB_NEW(struct triple, a);
        AB_DELETE(struct triple, first, a);
        struct triple *again = AB_NEW(struct triple, a);
        if (a->alloc != ab_libc_client_alloc && a->alloc != ab_arena_client_alloc)
            assert_ptr_equal(first, again);
        AB_DELETE(struct triple, again, a);
    }
    assert_int_equal(ab_pool_live(&all.pool), 0);
    assert_int_equal(ab_pool_lockfree_live(&all.lockfree), 0);
    assert_int_equal(ab_slabs_live(&all.slabs), 0);
    assert_int_equal(ab_slabs_live(&all.fine), 0);
    assert_int_equal(all.paged_pool.live_blocks, 0);
}

static void a_pool_with_smaller_alignment_serves_none(void **state)
{
    (void)state;
    struct ab_pool pool;
    assert_int_equal(AB_POOL_INIT(&pool, char[24], 10, false), 0);
    struct ab_allocator a = ab_pool_allocator(&pool);
    assert_true(AB_MARKS || a.alloc(8, a.context) == NULL);
    ab_pool_fini(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_NULL_and_NULL_is_nothing),
        cmocka_unit_test(every_size_is_aligned_to_two_pointers),
        cmocka_unit_test(a_typed_block_is_aligned_as_its_type),
        cmocka_unit_test(too_many_are_NULL),
        cmocka_unit_test(blocks_go_back),
        cmocka_unit_test(a_pool_with_smaller_alignment_serves_none),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
