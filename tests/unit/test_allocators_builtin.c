/* SPDX-License-Identifier: MIT
 *
 * The list of built-ins, and the null of the malloc boundary (the heap-shaped one is a built-in
 * and in the contract suite).
 * tests: null.c
 */
#include "allocators/builtin.h"

#include "allocators/null/null.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void built_ins_are_found_by_their_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < ab_builtin_count(); i++)
        assert_ptr_equal(ab_builtin_find(ab_builtin_at(i)->name), ab_builtin_at(i));
    assert_non_null(ab_builtin_find("null"));
    assert_non_null(ab_builtin_find("arena"));
    assert_null(ab_builtin_find(""));
    assert_null(ab_builtin_find("aren"));
}

static void the_null_hands_out_one_writable_block(void **state)
{
    (void)state;
    assert_int_equal(null_malloc_init(100000), 0);
    char *p = null_malloc(1);
    assert_non_null(p);
    memset(p, 1, 100000);
    assert_ptr_equal(null_malloc(100000), p);
    assert_ptr_equal(null_calloc(10, 10), p);
    assert_ptr_equal(null_aligned_alloc(4096, 10), p);
    assert_ptr_equal(null_realloc(p, 10), p);
    assert_int_equal((uintptr_t)p % 4096, 0);
    assert_true(null_malloc_usable_size(p) >= 100000);
    null_free(p);
    null_free(NULL);
}

static void the_heap_shaped_null_has_room_for_the_largest_request(void **state)
{
    (void)state;
    const struct ab_backend *b = ab_builtin_find("null");
    struct ab_facts facts = {.largest_bytes = 300000, .largest_align = 1 << 16};
    struct ab_open_args args = {.size = sizeof args, .facts = &facts};
    struct ab_heap *heap;
    assert_int_equal(b->open(&args, &heap), 0);
    ab_ref ref = b->alloc_aligned(heap, 1 << 16, 300000);
    assert_int_equal(ref % (1 << 16), 0);
    memset((void *)ref, 1, 300000);
    assert_int_equal(b->alloc(heap, 1), ref);
    assert_int_equal(b->resize(heap, ref, 1, 2), ref);
    assert_int_equal(b->usable_size(heap, ref), 300000);
    b->close(heap);
}

static void a_null_larger_than_memory_costs_nothing_and_beyond_addresses_is_refused(void **state)
{
    (void)state;
    assert_int_equal(null_malloc_init(UINT64_C(1) << 40), 0);
    *(volatile char *)null_malloc(1) = 1;
    assert_int_equal(null_malloc_init(UINT64_MAX), ENOMEM);
    assert_int_equal(null_malloc_init(UINT64_MAX / 2), ENOMEM);
    assert_int_equal(null_malloc_init(1),
                     0); /* LeakSanitizer reads all that is mapped at the end */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_ins_are_found_by_their_names),
        cmocka_unit_test(the_null_hands_out_one_writable_block),
        cmocka_unit_test(the_heap_shaped_null_has_room_for_the_largest_request),
        cmocka_unit_test(a_null_larger_than_memory_costs_nothing_and_beyond_addresses_is_refused),
    };
    return cmocka_run_group_tests_name("builtin", tests, NULL, NULL);
}
