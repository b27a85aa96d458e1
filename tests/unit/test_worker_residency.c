/* SPDX-License-Identifier: MIT
 *
 * Residency against memory that this test takes, writes, reads and gives back itself.
 */
#include "support/cmocka.h"
#include "support/small_pages.h"
#include "worker/residency.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGES = 1500, RUNS = 4096 };

static struct ab_residency r;
static size_t page_bytes;
static struct ab_page_run room[RUNS];

static char *map(int kind)
{
    char *p = mmap(NULL, PAGES * page_bytes, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(p, MAP_FAILED);
    madvise(p, PAGES * page_bytes, MADV_NOHUGEPAGE);
    return p;
}

static bool is_resident(const char *p)
{
    bool is_there = false;
    assert_true(ab_residency_read(&r, (uintptr_t)p >> r.page_log2, 1, &is_there));
    return is_there;
}

static void only_private_pages_that_were_written_are_resident(void **state)
{
    (void)state;
    char *own = map(MAP_PRIVATE), *shared = map(MAP_SHARED);
    volatile char seen = own[2 * page_bytes]; /* read only: the zero page, in no footprint */
    own[page_bytes] = (char)(seen + 1);
    shared[page_bytes] = 1;
    assert_false(is_resident(own));
    assert_true(is_resident(own + page_bytes));
    assert_false(is_resident(own + 2 * page_bytes));
    assert_false(is_resident(shared + page_bytes));
    madvise(own + page_bytes, page_bytes, MADV_DONTNEED);
    assert_false(is_resident(own + page_bytes));
    munmap(own, PAGES * page_bytes);
    assert_false(is_resident(own + page_bytes));
    munmap(shared, PAGES * page_bytes);
}

static void a_file_is_not_resident_until_it_is_copied(void **state)
{
    (void)state;
    int fd = open("/proc/self/exe", O_RDONLY);
    char *p = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    assert_ptr_not_equal(p, MAP_FAILED);
    volatile char first = *p;
    assert_false(is_resident(p));
    *p = first;
    assert_true(is_resident(p));
    munmap(p, page_bytes);
    close(fd);
}

static void a_snapshot_has_as_many_pages_as_statm_counts(void **state)
{
    (void)state;
    struct ab_page_runs runs = {room, 0, RUNS};
    struct ab_footprint f;
    uint64_t bytes;
    char *p = map(MAP_PRIVATE);
    for (unsigned i = 0; i < PAGES; i += 3)
        p[i * page_bytes] = 1;
    ab_footprint_open(&f);
    if (ab_footprint_granularity(&f) != 0)
        skip();
    assert_true(ab_residency_snapshot(&r, &runs)); /* what it needs itself is resident by now */
    assert_true(ab_residency_snapshot(&r, &runs));
    assert_true(ab_footprint_read(&f, &bytes));
#ifndef __SANITIZE_ADDRESS__ /* its shadow is left out */
    uint64_t n_pages = 0;
    for (size_t i = 0; i < runs.n; i++)
        n_pages += runs.runs[i].end - runs.runs[i].begin;
    assert_int_equal(n_pages, bytes / page_bytes);
#endif
    for (size_t i = 1; i < runs.n; i++)
        assert_true(runs.runs[i].begin > runs.runs[i - 1].end);
    for (unsigned i = 0; i < PAGES; i++)
        assert_int_equal(ab_page_runs_have(&runs, ((uintptr_t)p >> r.page_log2) + i), i % 3 == 0);
    ab_footprint_close(&f);
    munmap(p, PAGES * page_bytes);
}

static void pages_that_go_are_counted(void **state)
{
    (void)state;
    struct ab_page_runs runs = {room, 0, RUNS};
    char *p = map(MAP_PRIVATE);
    memset(p, 1, PAGES * page_bytes);
    assert_true(ab_residency_snapshot(&r, &runs));
    assert_int_equal(ab_residency_lost(&r, &runs), 0);
    madvise(p + page_bytes, 700 * page_bytes, MADV_DONTNEED);
    assert_int_equal(ab_residency_lost(&r, &runs), 700);
    p[page_bytes] = 1; /* and come back */
    assert_int_equal(ab_residency_lost(&r, &runs), 699);
    munmap(p, PAGES * page_bytes);
    assert_int_equal(ab_residency_lost(&r, &runs), PAGES);
}

static void what_cannot_be_known_is_said(void **state)
{
    (void)state;
    struct ab_page_runs runs = {room, 0, 2};
    struct ab_residency closed = {.pagemap_fd = -1, .smaps_fd = -1, .page_log2 = r.page_log2};
    bool is_there;
    assert_false(ab_residency_snapshot(&r, &runs)); /* more runs than there is room for */
    runs.cap = RUNS;
    assert_false(ab_residency_snapshot(&closed, &runs));
    assert_false(ab_residency_read(&closed, 1, 1, &is_there));
    closed.smaps_fd = r.smaps_fd;
    assert_false(ab_residency_snapshot(&closed, &runs));
    runs = (struct ab_page_runs){room, 1, RUNS};
    room[0] = (struct ab_page_run){1, 2};
    assert_true(ab_residency_lost(&closed, &runs) == UINT64_MAX);
    closed.smaps_fd = open("/dev/null", O_RDONLY);
    assert_false(ab_residency_snapshot(&closed, &runs)); /* another file under its number */
    close(closed.smaps_fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_private_pages_that_were_written_are_resident),
        cmocka_unit_test(a_file_is_not_resident_until_it_is_copied),
        cmocka_unit_test(a_snapshot_has_as_many_pages_as_statm_counts),
        cmocka_unit_test(pages_that_go_are_counted),
        cmocka_unit_test(what_cannot_be_known_is_said),
    };
    test_with_small_pages();
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    memset(room, 0xff, sizeof room);
    ab_residency_open(&r);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed;
}
