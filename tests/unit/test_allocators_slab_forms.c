/* SPDX-License-Identifier: MIT
 *
 * How a slab allocator can be opened, and the classes of its plain form.
 */
#include "allocators/slab/slab.h"

#include "support/heap_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void sizes_that_cannot_be_reserved_are_refused(void **state)
{
    (void)state;
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 65535, PTRDIFF_MAX, (size_t)1 << 60};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct ab_slabs s = {.n_os_calls = 77};
        struct ab_slabs_options options = {.reserve_bytes = sizes[i]};
        assert_in_range(ab_slabs_init(&s, &options), 1, 133);
        assert_int_equal(s.n_os_calls, 77);
    }
}

static void huge_slabs_are_committed_a_huge_page_at_a_time(void **state)
{
    (void)state;
    struct ab_slabs s;
    assert_int_equal(ab_slabs_init(&s, &(struct ab_slabs_options){.reserve_bytes = 64 << 20,
                                                                  .keep_max = 100,
                                                                  .huge = true}),
                     0);
    assert_int_equal((uintptr_t)s.base % (2 << 20), 0);
    for (size_t i = 0; i < 3 * (2 << 20) / 4096; i++) {
        assert_non_null(ab_slabs_alloc(&s, 4096));
        assert_int_equal(s.n_committed % 32, 0);
    }
    assert_true(heap_model_asks_huge(s.base));
    for (size_t i = 0; i < s.n_committed; i++) /* a huge page comes whole */
        s.base[i << AB_SLAB_LOG2] = 1;
    ab_slabs_reset(&s);
    ab_slabs_purge(&s);
    assert_int_equal(heap_model_resident(s.base, s.n_committed << AB_SLAB_LOG2), 0);
    ab_slabs_fini(&s);
}

static void every_small_size_gets_the_next_power_of_two(void **state)
{
    (void)state;
    struct ab_slabs s;
    struct ab_slabs_options options = {.reserve_bytes = 64 << 20};
    assert_int_equal(ab_slabs_init(&s, &options), 0);
    for (size_t size = 0; size <= 4096; size++) {
        size_t want = 8;
        while (want < size)
            want *= 2;
        char *block = ab_slabs_alloc(&s, size);
        assert_int_equal(ab_slabs_usable(&s, block), want);
        assert_int_equal((uintptr_t)block % want, 0);
        memset(block, 1, want);
    }
    assert_int_equal(s.n_large, 0);
    char *block = ab_slabs_alloc(&s, 4097);
    assert_int_equal(s.n_large, 1);
    memset(block, 1, ab_slabs_usable(&s, block));
    ab_slabs_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_that_cannot_be_reserved_are_refused),
        cmocka_unit_test(huge_slabs_are_committed_a_huge_page_at_a_time),
        cmocka_unit_test(every_small_size_gets_the_next_power_of_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
