/* SPDX-License-Identifier: MIT
 *
 * The slab allocator as a library, and what its glue adds. What all back ends have in common is in
 * tests/contract.
 */
#include "allocators/slab/slab.h"

#include "allocators/builtin.h"
#include "base/rng.h"
#include "support/heap_model.h"
#include "support/small_pages.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#if defined(__SANITIZE_THREAD__)
enum { IS_TSAN = 1 };
#else
enum { IS_TSAN = 0 };
#endif

enum { KIB = 1024, MIB = 1024 * 1024, N_BULK = 20000 };

static void *bulk[N_BULK];

static void make(struct ab_slabs *s, size_t reserve, size_t keep)
{
    struct ab_slabs_options options = {.reserve_bytes = reserve,
                                       .keep_max = keep == 0 ? AB_SLAB_KEEP_NOTHING : keep};
    assert_int_equal(ab_slabs_init(s, &options), 0);
}

static void fill_bulk(struct ab_slabs *s, size_t size, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assert_non_null(bulk[i] = ab_slabs_alloc(s, size));
        memset(bulk[i], 0xff, size);
    }
}

static void shuffle_bulk(size_t n)
{
    struct ab_rng rng;
    ab_rng_init(&rng, n, 1);
    for (size_t i = n - 1; i > 0; i--) {
        size_t k = ab_rng_below(&rng, i + 1);
        void *swapped = bulk[i];
        bulk[i] = bulk[k];
        bulk[k] = swapped;
    }
}

static void free_bulk(struct ab_slabs *s, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        ab_slabs_free(s, bulk[i]);
}

static void make_fine(struct ab_slabs *s)
{
    struct ab_slabs_options options = {
        .reserve_bytes = 64 * MIB, .keep_max = 100, .spacing = AB_SLAB_FINE};
    assert_int_equal(ab_slabs_init(s, &options), 0);
}

/* Steps of 16, then an eighth of a power of two; the smallest class that holds it. */
static void fine_classes_waste_little_and_are_aligned(void **state)
{
    (void)state;
    struct ab_slabs s;
    make_fine(&s);
    size_t asked = 0, usable_sum = 0, last = 0;
    assert_int_equal(s.n_classes, AB_SLAB_CLASSES_MAX);
    for (size_t size = 1; size <= 4096; size++) {
        char *block = ab_slabs_alloc(&s, size);
        size_t usable = ab_slabs_usable(&s, block);
        assert_true(usable >= size && usable >= last);
        assert_true(usable - size < (size <= 256 ? 16 : size / 8 + 1));
        assert_int_equal((uintptr_t)block % (size <= 8 ? 8 : 16), 0);
        memset(block, 1, usable);
        last = usable;
        if (size >= 8 && size <= 256) {
            asked += size;
            usable_sum += usable;
        }
    }
    assert_int_equal(s.n_large, 0);
    assert_true((double)usable_sum / (double)asked < 1.08);
    for (size_t align = 1; align <= 4096; align *= 2)
        for (size_t size = 1; size <= 4096; size = size * 3 + 1)
            assert_int_equal((uintptr_t)ab_slabs_alloc_aligned(&s, align, size) % align, 0);
    assert_int_equal(s.n_large, 0);
    ab_slabs_fini(&s);
}

static void blocks_of_a_size_that_does_not_divide_a_slab_stay_in_it(void **state)
{
    (void)state;
    struct ab_slabs s;
    make_fine(&s);
    fill_bulk(&s, 3000, 500); /* classes of 3072 bytes: 21 a slab, 1 KiB left over */
    for (size_t i = 0; i < 500; i++) {
        uintptr_t offset = (uintptr_t)bulk[i] - (uintptr_t)s.base;
        assert_int_equal(offset / 65536, (offset + 3071) / 65536);
        assert_true(ab_slabs_owns(&s, bulk[i]));
    }
    assert_int_equal(s.n_fresh, (500 + 20) / 21);
    assert_int_equal(ab_slabs_live(&s), 500 * 3072);
    shuffle_bulk(500);
    free_bulk(&s, 0, 500);
    assert_int_equal(ab_slabs_live(&s), 0);
    assert_int_equal(s.n_kept, (500 + 20) / 21);
    ab_slabs_fini(&s);
}

static void a_pointer_that_no_block_can_have_is_not_owned(void **state)
{
    (void)state;
    struct ab_slabs s;
    make_fine(&s);
    char *small = ab_slabs_alloc(&s, 100), *large = ab_slabs_alloc(&s, 10000);
    assert_true(ab_slabs_owns(&s, small) && ab_slabs_owns(&s, large));
    const void *const none[] = {small + 1, small + 16, s.base + 65536, s.base + 65535,
                                NULL,      large + 16, s.base - 65536, &s};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        assert_false(ab_slabs_owns(&s, none[i]));
    ab_slabs_free(&s, large);
    assert_false(ab_slabs_owns(&s, large));
    ab_slabs_fini(&s);
}

static void fresh_blocks_are_carved_in_order_and_untouched(void **state)
{
    (void)state;
    struct ab_slabs s;
    make(&s, 64 * MIB, 0);
    char *first = ab_slabs_alloc(&s, 256);
    for (size_t i = 1; i < 1000; i++)
        assert_ptr_equal(ab_slabs_alloc(&s, 200), first + i * 256);
    assert_int_equal(heap_model_resident(first, 1000 * 256), 0);
    assert_int_equal(s.n_fresh, 4);
    ab_slabs_fini(&s);
}

static void the_block_freed_last_is_served_first_from_any_slab(void **state)
{
    (void)state;
    struct ab_slabs s;
    make(&s, 64 * MIB, 0);
    fill_bulk(&s, 100, 5000);
    static const size_t freed[] = {3, 4000, 17, 2222};
    for (int i = 0; i < 4; i++)
        ab_slabs_free(&s, bulk[freed[i]]);
    ab_slabs_free(&s, NULL);
    for (int i = 3; i >= 0; i--)
        assert_ptr_equal(ab_slabs_alloc(&s, 128), bulk[freed[i]]);
    ab_slabs_fini(&s);
}

static void a_class_that_ran_empty_carves_from_the_start_again(void **state)
{
    (void)state;
    struct ab_slabs s;
    make(&s, 64 * MIB, 1000);
    fill_bulk(&s, 64, N_BULK);
    uint64_t calls = s.n_os_calls;
    shuffle_bulk(N_BULK);
    free_bulk(&s, 0, N_BULK);
    assert_int_equal(ab_slabs_live(&s), 0);
    assert_int_equal(s.n_kept, (N_BULK * 64 + 65535) / 65536);
    for (size_t i = 0; i < N_BULK; i++)
        assert_int_equal((uintptr_t)ab_slabs_alloc(&s, 64) % 65536, i * 64 % 65536);
    assert_int_equal(s.n_os_calls, calls);
    ab_slabs_fini(&s);
}

static void an_empty_slab_serves_another_class(void **state)
{
    (void)state;
    struct ab_slabs s;
    make(&s, 64 * MIB, 1000);
    fill_bulk(&s, 32, N_BULK);
    free_bulk(&s, 0, N_BULK);
    size_t n_fresh = s.n_fresh;
    fill_bulk(&s, 2000, 9 * 32);
    assert_int_equal(s.n_fresh, n_fresh);
    ab_slabs_fini(&s);
}

static void slabs_become_empty_while_others_of_the_class_live(void **state)
{
    (void)state;
    struct ab_slabs s;
    make(&s, 64 * MIB, 5);
    fill_bulk(&s, 512, 40 * 128);
    char *base = s.base;
    free_bulk(&s, 128, 40 * 128); /* the first slab lives; 64 KiB / 512 = 128 blocks each */
    assert_int_equal(s.n_kept, 5);
    assert_in_range(s.n_returned, 32, 34); /* hot blocks hold one or two */
    assert_true(heap_model_resident(base, 40 * 65536) <= (1 + 5 + 2) * 65536);
    for (size_t i = 0; i < 128; i++)
        assert_int_equal(((unsigned char *)bulk[i])[511], 0xff);
    size_t n_fresh = s.n_fresh;
    fill_bulk(&s, 512, 39 * 128);
    assert_int_equal(s.n_fresh, n_fresh);
    ab_slabs_fini(&s);
}

static void the_only_block_of_a_class_comes_and_goes_without_a_system_call(void **state)
{
    (void)state;
    struct ab_slabs s;
    make(&s, 64 * MIB, 0);
    void *block = ab_slabs_alloc(&s, 4000);
    memset(block, 1, 4000);
    ab_slabs_free(&s, block);
    uint64_t calls = s.n_os_calls;
    for (int i = 0; i < 1000; i++) {
        assert_ptr_equal(ab_slabs_alloc(&s, 4000), block);
        ab_slabs_free(&s, block);
    }
    assert_int_equal(s.n_os_calls, calls);
    ab_slabs_fini(&s);
}

static void a_partial_slab_is_used_up_before_a_new_one_is_taken(void **state)
{
    (void)state;
    struct ab_slabs s;
    make(&s, 64 * MIB, 0);
    fill_bulk(&s, 64, N_BULK);
    size_t n_fresh = s.n_fresh;
    for (size_t i = 0; i < N_BULK; i += 2)
        ab_slabs_free(&s, bulk[i]);
    assert_int_equal(ab_slabs_live(&s), N_BULK / 2 * 64);
    for (size_t i = 0; i < N_BULK; i += 2)
        memset(ab_slabs_alloc(&s, 64), 1, 64);
    assert_int_equal(s.n_fresh, n_fresh);
    for (size_t i = 1; i < N_BULK; i += 2)
        assert_int_equal(*(unsigned char *)bulk[i], 0xff);
    assert_int_equal(ab_slabs_live(&s), N_BULK * 64);
    ab_slabs_fini(&s);
}

static void check_zeroed(struct ab_slabs *s, size_t size, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char *z = ab_slabs_alloc_zeroed(s, size);
        assert_non_null(z);
        for (size_t k = 0; k < size; k++)
            assert_int_equal(z[k], 0);
        memset(z, 0xee, size);
    }
}

/* Every way by which a block can come back, with slabs kept and with none. */
static void zeroed_blocks_are_zero_whatever_lay_there_before(void **state)
{
    (void)state;
    for (int way = 0; way < 12; way++) {
        struct ab_slabs s;
        make(&s, 64 * MIB, way % 2 == 0 ? 1000 : 3);
        fill_bulk(&s, 200, 3000);
        shuffle_bulk(3000);
        if (way < 2)
            ab_slabs_reset(&s);
        else
            free_bulk(&s, 0, way < 4 ? 3000 : way < 8 ? 2900 : 20);
        if (way == 6 || way == 7 || way > 9)
            ab_slabs_purge(&s);
        check_zeroed(&s, 256, 1000);
        check_zeroed(&s, 1000, 500);
        check_zeroed(&s, 200, 2500);
        check_zeroed(&s, 0, 1);
        check_zeroed(&s, 70000, 3);
        ab_slabs_fini(&s);
    }
}

static void resize_stays_in_its_class_and_moves_out_of_it(void **state)
{
    (void)state;
    struct ab_slabs s;
    make(&s, 64 * MIB, 0);
    char *p = ab_slabs_alloc(&s, 100);
    memset(p, 7, 100);
    assert_ptr_equal(ab_slabs_resize(&s, p, 100, 128), p);
    assert_ptr_equal(ab_slabs_resize(&s, p, 128, 65), p);
    char *smaller = ab_slabs_resize(&s, p, 65, 64);
    assert_int_equal(ab_slabs_usable(&s, smaller), 64);
    char *large = ab_slabs_resize(&s, smaller, 64, 100000);
    char *small = ab_slabs_resize(&s, large, 100000, 50);
    for (int i = 0; i < 50; i++)
        assert_int_equal(small[i], 7);
    assert_int_equal(ab_slabs_usable(&s, small), 64);
    assert_int_equal(s.n_large, 0);
    assert_int_equal(ab_slabs_live(&s), 64);
    assert_null(ab_slabs_resize(&s, small, 50, SIZE_MAX));
    assert_null(ab_slabs_resize(&s, small, 50, SIZE_MAX / 2));
    assert_int_equal(small[49], 7);
    ab_slabs_fini(&s);
}

/* Asked by large blocks alone; n_moves counts, and a system without such a call is played. */
static unsigned n_moves;
static bool has_no_moves;

void *mremap(void *p, size_t old_n, size_t n, int flags, ...)
{
    n_moves++;
    if (!has_no_moves)
        return (void *)syscall(SYS_mremap, p, old_n, n, flags);
    errno = ENOSYS;
    return MAP_FAILED;
}

static void grow_and_shrink_large_blocks(void)
{
    struct ab_slabs s;
    make(&s, MIB, 0);
    unsigned char *p = ab_slabs_alloc(&s, 5000), *fence = ab_slabs_alloc(&s, 5000);
    memset(fence, 9, 5000);
    size_t usable = ab_slabs_usable(&s, p);
    assert_in_range(usable, 5000, 5000 + 4096);
    memset(p, 3, usable);
    assert_ptr_equal(ab_slabs_resize(&s, p, 5000, usable), p);
    p = ab_slabs_resize(&s, p, usable, 10 * MIB);
    for (size_t i = 0; i < usable; i++)
        assert_int_equal(p[i], 3);
    memset(p, 4, 10 * MIB);
    assert_int_equal(s.large_bytes, ab_slabs_usable(&s, p) + ab_slabs_usable(&s, fence));
    assert_null(ab_slabs_resize(&s, p, 10 * MIB, (size_t)1 << 60));
    assert_null(ab_slabs_resize(&s, p, 10 * MIB, SIZE_MAX));
    p = ab_slabs_resize(&s, p, 10 * MIB, 6000);
    assert_in_range(ab_slabs_usable(&s, p), 6000, 6000 + 4096);
    for (size_t i = 0; i < 6000; i++)
        assert_int_equal(p[i], 4);
    ab_slabs_free(&s, p);
    assert_int_equal(fence[4999], 9);
    assert_int_equal(s.n_large, 1);
    assert_ptr_equal(s.large + 1, fence);
    ab_slabs_free(&s, fence);
    assert_int_equal(s.large_map_bytes, 0);
    ab_slabs_fini(&s);
}

/* ThreadSanitizer is not told of pages that move, and would report races of blocks that are gone. */
static void large_blocks_grow_and_shrink_with_their_pages(void **state)
{
    (void)state;
    n_moves = 0;
    grow_and_shrink_large_blocks();
    assert_true(IS_TSAN || AB_CHECKS ? n_moves == 0 : n_moves > 0);
}

static void large_blocks_are_copied_where_pages_do_not_move(void **state)
{
    (void)state;
    has_no_moves = true;
    grow_and_shrink_large_blocks();
    struct ab_slabs s;
    make(&s, MIB, 0);
    static const size_t aligns[] = {64, 4096, 65536};
    for (size_t i = 0; i < sizeof aligns / sizeof aligns[0]; i++) {
        char *p = ab_slabs_alloc_aligned(&s, aligns[i], 5000);
        memset(p, (int)i, 5000);
        p = ab_slabs_resize(&s, p, 5000, 3 * MIB);
        assert_non_null(p);
        p[3 * MIB - 1] = 7;
        for (size_t k = 0; k < 5000; k++)
            assert_int_equal(p[k], i);
        assert_non_null(p = ab_slabs_resize(&s, p, 3 * MIB, 4500));
        assert_true(p[0] == (char)i && p[4499] == (char)i);
    }
    has_no_moves = false;
    ab_slabs_fini(&s);
}

static void mappings_are_kept_for_reuse_up_to_the_bound(void **state)
{
    (void)state;
    struct ab_slabs s;
    struct ab_slabs_options options = {.reserve_bytes = MIB, .spare_max_bytes = 100 * KIB};
    assert_int_equal(ab_slabs_init(&s, &options), 0);
    char *a = ab_slabs_alloc(&s, 5000), *b = ab_slabs_alloc(&s, 60000), *c, *d;
    memset(a, 1, 5000);
    memset(b, 1, 60000);
    c = ab_slabs_alloc(&s, 60000);
    d = ab_slabs_alloc(&s, 2 * MIB);
    ab_slabs_free(&s, a);
    ab_slabs_free(&s, b);
    assert_int_equal(s.spare_bytes, 8192 + 61440);
    ab_slabs_free(&s, c); /* beyond the bound */
    ab_slabs_free(&s, d);
    assert_int_equal(s.spare_bytes, 8192 + 61440);
    uint64_t calls = s.n_os_calls;
    assert_ptr_equal(ab_slabs_alloc(&s, 40000), b); /* at most twice as large as needed */
    unsigned char *z = ab_slabs_alloc_zeroed(&s, 8000);
    assert_ptr_equal(z, a);
    for (size_t i = 0; i < 8000; i++)
        assert_int_equal(z[i], 0);
    assert_int_equal(s.n_os_calls, calls);
    assert_int_equal(s.spare_bytes + s.spare_mask, 0);
    ab_slabs_free(&s, b);
    c = ab_slabs_alloc(&s, 20000);
    assert_ptr_not_equal(c, b);
    d = ab_slabs_alloc_aligned(&s, 4096, 50000);
    assert_int_equal((uintptr_t)d % 4096, 0);
    assert_true(ab_slabs_usable(&s, d) >= 50000);
    memset(d, 2, ab_slabs_usable(&s, d));
    ab_slabs_reset(&s);
    ab_slabs_purge(&s);
    assert_int_equal(s.spare_bytes + s.spare_mask + s.large_map_bytes, 0);
    ab_slabs_fini(&s);
}

static void alignments_beyond_the_classes_get_a_mapping(void **state)
{
    (void)state;
    struct ab_slabs s;
    make(&s, 4 * MIB, 0);
    for (unsigned log2 = 0; log2 <= 30; log2++)
        for (size_t size = 0; size <= 70000; size = size * 7 + 1) {
            size_t align = (size_t)1 << log2;
            char *p = ab_slabs_alloc_aligned(&s, align, size);
            assert_non_null(p);
            assert_int_equal((uintptr_t)p & (align - 1), 0);
            memset(p, 1, size);
            assert_true(ab_slabs_usable(&s, p) >= size);
            assert_true(s.large_map_bytes <= 70000 + 2 * 4096 + 4096);
            p = ab_slabs_resize(&s, p, size, size + 5000);
            memset(p, 1, size + 5000);
            ab_slabs_free(&s, p);
        }
    static const size_t none[] = {0, 3, 48, SIZE_MAX, (size_t)1 << 63, (size_t)1 << 60};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        assert_null(ab_slabs_alloc_aligned(&s, none[i], 100));
    assert_null(ab_slabs_alloc_aligned(&s, 4096, SIZE_MAX));
    assert_null(ab_slabs_alloc_aligned(&s, 1 << 30, SIZE_MAX - 4096));
    assert_int_equal(s.n_large, 0);
    ab_slabs_fini(&s);
}

static void an_exhausted_reservation_says_so_until_a_slab_is_empty(void **state)
{
    (void)state;
    struct ab_slabs s;
    make(&s, 10 * 65536, 0);
    size_t n = 0;
    while ((bulk[n] = ab_slabs_alloc(&s, 1000)) != NULL)
        memset(bulk[n], 1, ab_slabs_usable(&s, bulk[n])), n++;
    assert_int_equal(n, 10 * 64);
    assert_null(ab_slabs_alloc(&s, 8));
    assert_null(ab_slabs_alloc_zeroed(&s, 8));
    assert_null(ab_slabs_alloc_aligned(&s, 64, 8));
    assert_null(ab_slabs_resize(&s, bulk[0], 1000, 3000));
    assert_ptr_equal(ab_slabs_resize(&s, bulk[0], 1000, 10), bulk[0]);
    void *large = ab_slabs_alloc(&s, 5000);
    assert_non_null(large);
    assert_ptr_equal(ab_slabs_resize(&s, large, 5000, 10), large);
    free_bulk(&s, 0, 128);
    assert_non_null(ab_slabs_alloc(&s, 8));
    ab_slabs_fini(&s);
}

static void reset_kills_all_and_keeps_slabs_up_to_the_bound(void **state)
{
    (void)state;
    struct ab_slabs s;
    make(&s, 64 * MIB, 7);
    for (int round = 0; round < 20; round++) {
        fill_bulk(&s, 40, 10000);
        fill_bulk(&s, 3000, 100);
        fill_bulk(&s, 9000, 10);
        ab_slabs_reset(&s);
        assert_int_equal(ab_slabs_live(&s), 0);
        assert_int_equal(s.n_kept, 7);
        assert_int_equal(s.large_map_bytes, 0);
    }
    assert_int_equal(s.n_fresh, 10000 / 1024 + 1 + 100 / 16 + 1);
    ab_slabs_fini(&s);
}

static void purge_returns_what_hot_blocks_held_and_keeps_live_ones(void **state)
{
    (void)state;
    struct ab_slabs s;
    make(&s, 64 * MIB, 1000);
    fill_bulk(&s, 256, 50 * 256);
    char *base = s.base;
    void *odd = ab_slabs_alloc(&s, 1000), *idle = ab_slabs_alloc(&s, 2000);
    memset(odd, 5, 1000);
    memset(idle, 5, 2000);
    ab_slabs_free(&s, idle);
    shuffle_bulk(50 * 256);
    free_bulk(&s, 0, 50 * 256 - 1);
    char *survivor = bulk[50 * 256 - 1];
    assert_true(heap_model_resident(base, 52 * 65536) >= 50 * 65536);
    ab_slabs_purge(&s);
    assert_true(heap_model_resident(base, 52 * 65536) <= 65536 + 4096);
    assert_int_equal(s.n_kept, 0);
    assert_int_equal((unsigned char)survivor[255], 0xff);
    assert_int_equal(((char *)odd)[999], 5);
    assert_int_equal(ab_slabs_live(&s), 256 + 1024);
    check_zeroed(&s, 256, 1000);
    ab_slabs_purge(&s);
    assert_int_equal((unsigned char)survivor[0], 0xff);
    ab_slabs_fini(&s);
}

static void purge_returns_a_slab_whose_list_was_taken_over(void **state)
{
    (void)state;
    struct ab_slabs s;
    make(&s, 64 * MIB, 1000);
    fill_bulk(&s, 256, 3 * 256);
    free_bulk(&s, 256, 2 * 256);
    for (size_t i = 0; i < 100; i++)
        bulk[256 + i] = ab_slabs_alloc(&s, 256);
    assert_non_null(s.classes[5].hot);
    free_bulk(&s, 256, 256 + 100);
    ab_slabs_purge(&s);
    assert_int_equal(s.n_returned, 1);
    assert_int_equal(heap_model_resident(s.base, 3 * 65536), 2 * 65536);
    ab_slabs_fini(&s);
}

static void fini_gives_the_addresses_back(void **state)
{
    (void)state;
    struct ab_slabs s;
    unsigned char resident;
    make(&s, MIB, 0);
    char *base = s.base, *large = ab_slabs_alloc(&s, MIB);
    void *records = s.slabs;
    char *page = (char *)((uintptr_t)large & ~(uintptr_t)4095);
    ab_slabs_fini(&s);
    assert_int_equal(mincore(base, 1, &resident), -1);
    assert_int_equal(errno, ENOMEM);
    assert_int_equal(mincore(page, 1, &resident), -1);
    assert_int_equal(mincore(records, 1, &resident), -1);
}

/* ---- the glue ---- */

static const struct ab_backend *backend;

static const struct ab_facts facts = {.largest_bytes = 20000,
                                      .largest_align = 8192,
                                      .live_peak_blocks = 500,
                                      .live_peak_bytes = 8 * MIB,
                                      .total_bytes = 1 << 30,
                                      .total_blocks = 100000,
                                      .lanes = 1};

static void facts_of_zero_are_served(void **state)
{
    (void)state;
    struct ab_facts none = {0};
    struct ab_heap *heap = heap_model_open(backend, "", &none);
    struct ab_heap_stats stats;
    ab_ref ref = backend->alloc(heap, 0), other = backend->alloc(heap, 100000);
    assert_true(ref != 0 && other != 0);
    assert_int_equal(backend->stats(heap, &stats), 0);
    assert_true(stats.live_bytes >= 100008 && stats.committed_bytes <= stats.reserved_bytes);
    backend->close(heap);
}

static void random_work_agrees_with_the_model(void **state)
{
    (void)state;
    static const char *const settings[] = {"", "keep=0:spare=0", "classes=fine:keep=1",
                                           "keep=2:spare=64KiB:threads=mutex"};
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        struct ab_heap *heap = heap_model_open(backend, settings[i], &facts);
        heap_model_run(backend, heap, &(struct heap_model_work){30000, 20000, 8192, false});
        heap_model_run(backend, heap, &(struct heap_model_work){30000, 64, 16, false});
        backend->close(heap);
    }
    struct ab_heap *heap = heap_model_open(backend, "reserve=1MiB", &facts);
    heap_model_run(backend, heap, &(struct heap_model_work){30000, 5000, 4096, true});
    backend->close(heap);
}

static void several_lanes_share_one_heap(void **state)
{
    (void)state;
    struct ab_facts lanes = facts;
    struct ab_heap_stats stats;
    lanes.lanes = 4;
    struct ab_heap *heap = heap_model_open(backend, "keep=3", &lanes);
    heap_model_run_threads(backend, heap, 10000, 8000);
    assert_int_equal(backend->stats(heap, &stats), 0);
    assert_int_equal(stats.live_bytes, 0);
    backend->close(heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fine_classes_waste_little_and_are_aligned),
        cmocka_unit_test(blocks_of_a_size_that_does_not_divide_a_slab_stay_in_it),
        cmocka_unit_test(a_pointer_that_no_block_can_have_is_not_owned),
        cmocka_unit_test(fresh_blocks_are_carved_in_order_and_untouched),
        cmocka_unit_test(the_block_freed_last_is_served_first_from_any_slab),
        cmocka_unit_test(a_class_that_ran_empty_carves_from_the_start_again),
        cmocka_unit_test(an_empty_slab_serves_another_class),
        cmocka_unit_test(slabs_become_empty_while_others_of_the_class_live),
        cmocka_unit_test(the_only_block_of_a_class_comes_and_goes_without_a_system_call),
        cmocka_unit_test(a_partial_slab_is_used_up_before_a_new_one_is_taken),
        cmocka_unit_test(zeroed_blocks_are_zero_whatever_lay_there_before),
        cmocka_unit_test(resize_stays_in_its_class_and_moves_out_of_it),
        cmocka_unit_test(large_blocks_grow_and_shrink_with_their_pages),
        cmocka_unit_test(large_blocks_are_copied_where_pages_do_not_move),
        cmocka_unit_test(mappings_are_kept_for_reuse_up_to_the_bound),
        cmocka_unit_test(alignments_beyond_the_classes_get_a_mapping),
        cmocka_unit_test(an_exhausted_reservation_says_so_until_a_slab_is_empty),
        cmocka_unit_test(reset_kills_all_and_keeps_slabs_up_to_the_bound),
        cmocka_unit_test(purge_returns_what_hot_blocks_held_and_keeps_live_ones),
        cmocka_unit_test(purge_returns_a_slab_whose_list_was_taken_over),
        cmocka_unit_test(fini_gives_the_addresses_back),
        cmocka_unit_test(facts_of_zero_are_served),
        cmocka_unit_test(random_work_agrees_with_the_model),
        cmocka_unit_test(several_lanes_share_one_heap),
    };
    backend = ab_builtin_find("slab");
    test_with_small_pages();
    return cmocka_run_group_tests_name("slab", tests, NULL, NULL);
}
