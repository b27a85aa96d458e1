/* SPDX-License-Identifier: MIT
 *
 * The footprint against memory that this test takes and gives back itself.
 */
#include "support/cmocka.h"
#include "support/small_pages.h"
#include "worker/residency.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGES = 1000 };

static struct ab_footprint f;

static char *map(int kind)
{
    char *p = mmap(NULL, PAGES * f.page_bytes, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(p, MAP_FAILED);
    madvise(p, PAGES * f.page_bytes, MADV_NOHUGEPAGE);
    return p;
}

static uint64_t read_now(void)
{
    uint64_t bytes = 0;
    assert_true(ab_footprint_read(&f, &bytes));
    return bytes;
}

static void private_pages_count_one_by_one_and_shared_ones_never(void **state)
{
    (void)state;
    if (ab_footprint_granularity(&f) != 0)
        skip(); /* a kernel that counts in batches */
    char *own = map(MAP_PRIVATE), *shared = map(MAP_SHARED);
    struct ab_footprint_detail before, after;
    assert_true(ab_footprint_read_detail(&f, &before));
    uint64_t base = read_now();
    for (unsigned i = 0; i < PAGES; i++) {
        own[i * f.page_bytes] = 1;
        shared[i * f.page_bytes] = 1;
        assert_int_equal(read_now() - base, (i + 1) * f.page_bytes);
    }
    assert_true(ab_footprint_read_detail(&f, &after));
    assert_int_equal(after.private_bytes - before.private_bytes, PAGES * f.page_bytes);
    assert_int_equal(after.shmem_bytes - before.shmem_bytes, PAGES * f.page_bytes);
    madvise(own, PAGES / 2 * f.page_bytes, MADV_DONTNEED);
    assert_int_equal(read_now() - base, PAGES / 2 * f.page_bytes);
    munmap(own, PAGES * f.page_bytes);
    munmap(shared, PAGES * f.page_bytes);
}

static void the_mark_holds_what_was_given_back_and_the_excess_bounds_it(void **state)
{
    (void)state;
    const uint64_t excess = ab_high_water_excess(&f), own_bytes = PAGES * f.page_bytes;
    struct ab_high_water mark;
    if (excess == UINT64_MAX)
        skip(); /* no mark that can be reset */
    for (unsigned i = 0; i < 20; i++) {
        const uint64_t before = read_now();
        char *own = map(MAP_PRIVATE), *shared = map(MAP_SHARED);
        assert_true(ab_high_water_reset(&f));
        memset(own, 1, own_bytes);
        munmap(own, own_bytes);
        memset(shared, 1, own_bytes); /* in the mark as well, and to be taken off */
        assert_true(ab_high_water_read(&f, &mark));
        assert_in_range(mark.now_bytes, before > excess ? before - excess : 0, before + excess);
        assert_true(mark.private_bytes <= before + own_bytes + excess);
        munmap(shared, own_bytes);
        /* Without shared memory that came since, it is all there. */
        own = map(MAP_PRIVATE);
        assert_true(ab_high_water_reset(&f));
        memset(own, 1, own_bytes);
        munmap(own, own_bytes);
        assert_true(ab_high_water_read(&f, &mark));
        assert_true(before + own_bytes > 4 * excess + 65536);
        assert_in_range(mark.private_bytes, before + own_bytes - 4 * excess - 65536,
                        before + own_bytes + excess);
    }
}

static void without_a_mark_nothing_is_said(void **state)
{
    (void)state;
    struct ab_footprint blind = f;
    blind.clear_fd = -1;
    assert_false(ab_high_water_reset(&blind));
    assert_true(ab_high_water_excess(&blind) == UINT64_MAX);
}

static void another_file_under_its_descriptor_is_no_statm(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "", "1 2 3\n", "9 8 7 6 5 4 3 2\n", "9 1 7 0 0 0 0\n", "x y z\n", "9 8 7 6 5 4 3"};
    uint64_t bytes = 7;
    struct ab_footprint_detail detail;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct ab_footprint other = {.page_bytes = 4096};
        other.statm_fd = memfd_create("statm", 0);
        other.rollup_fd = other.status_fd = other.statm_fd;
        assert_int_equal(write(other.statm_fd, texts[i], strlen(texts[i])), strlen(texts[i]));
        assert_false(ab_footprint_read(&other, &bytes));
        assert_false(ab_footprint_read_detail(&other, &detail));
        close(other.statm_fd);
    }
    struct ab_footprint closed = {.statm_fd = -1, .rollup_fd = -1, .status_fd = -1};
    assert_false(ab_footprint_read(&closed, &bytes));
    assert_false(ab_footprint_read_detail(&closed, &detail));
    assert_int_equal(ab_footprint_granularity(&closed), UINT32_MAX);
    assert_int_equal(bytes, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(private_pages_count_one_by_one_and_shared_ones_never),
        cmocka_unit_test(the_mark_holds_what_was_given_back_and_the_excess_bounds_it),
        cmocka_unit_test(without_a_mark_nothing_is_said),
        cmocka_unit_test(another_file_under_its_descriptor_is_no_statm),
    };
    test_with_small_pages();
    ab_footprint_open(&f);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ab_footprint_close(&f);
    return failed;
}
