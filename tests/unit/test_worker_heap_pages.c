/* SPDX-License-Identifier: MIT
 *
 * Whose each page is, of blocks at places that this test chooses in memory that it writes itself.
 */
#include "support/cmocka.h"
#include "support/small_pages.h"
#include "worker/heap_memory.h"
#include "worker/page_walk.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, RUNS = 4096 };
#define STRETCH (UINT64_C(1) << AB_STRETCH_LOG2)

static struct ab_residency residency;
static struct ab_page_run room[RUNS];
static struct ab_page_runs baseline;
static struct ab_heap_pages pages;
static void *table;
static char *memory;

static int reset(void **state)
{
    (void)state;
    const size_t bytes = ab_heap_pages_bytes(0);
    memset(table, 0, bytes);
    baseline = (struct ab_page_runs){room, 0, RUNS};
    ab_heap_pages_init(&pages, table, bytes, &residency, &baseline);
    madvise(memory, 3 * STRETCH, MADV_DONTNEED);
    return 0;
}

static void put(uint64_t offset, uint64_t bytes, unsigned heap)
{
    ab_heap_pages_put(&pages, (uintptr_t)memory + offset, bytes, heap);
}

static void write_pages(uint64_t offset, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        memory[offset + (uint64_t)i * PAGE] = 1;
}

static void expect(uint64_t pages_of_0, uint64_t pages_of_1)
{
    uint64_t bytes[AB_PLACEMENT_HEAPS_MAX];
    assert_true(ab_heap_pages_count(&pages, bytes));
    assert_int_equal(bytes[0], pages_of_0 * PAGE);
    assert_int_equal(bytes[1], pages_of_1 * PAGE);
    assert_int_equal(bytes[2], 0);
}

static void a_page_is_of_the_heap_that_had_a_block_there_last(void **state)
{
    (void)state;
    write_pages(0, 4);
    put(100, 200, 0);
    put(PAGE - 10, 20, 1); /* on pages 0 and 1 */
    put(2 * PAGE, 2 * PAGE, 0);
    expect(2, 2);
    put(PAGE, 1, 0);
    expect(3, 1);
    put(3 * PAGE, 0, 1); /* has no byte, so it lies nowhere */
    expect(3, 1);
}

static void what_is_not_resident_or_was_before_is_in_no_footprint(void **state)
{
    (void)state;
    write_pages(0, 1);
    assert_true(ab_residency_snapshot(&residency, &baseline));
    write_pages(PAGE, 2);
    put(0, 10 * PAGE, 0);
    expect(2, 0);
    madvise(memory + PAGE, PAGE, MADV_DONTNEED);
    expect(1, 0);
}

static void other_pages_of_a_stretch_are_of_its_only_heap(void **state)
{
    (void)state;
    write_pages(0, 3);
    write_pages(STRETCH, 3);
    put(PAGE, 16, 0);
    put(STRETCH, 16, 0);
    expect(6, 0);
    put(STRETCH + PAGE, 16, 1);
    expect(4, 1); /* the third page there is of none alone */
}

static void a_block_over_stretches_has_all_their_pages(void **state)
{
    (void)state;
    write_pages(0, 2 * STRETCH / PAGE + 5);
    put(PAGE, 2 * STRETCH + PAGE, 1);
    put(0, 16, 0);
    put(2 * STRETCH + 4 * PAGE, 16, 0);
    expect(2, 2 * STRETCH / PAGE + 1);
}

static void what_cannot_be_followed_is_not_known(void **state)
{
    (void)state;
    uint64_t bytes[AB_PLACEMENT_HEAPS_MAX];
    put(UINT64_C(1) << 60, 16, 0);
    assert_false(ab_heap_pages_count(&pages, bytes));
    reset(state);
    for (uint64_t i = 0; i < pages.cap; i++)
        put(i * STRETCH, 16, 0);
    assert_false(ab_heap_pages_count(&pages, bytes));
    assert_true(ab_heap_pages_bytes(UINT64_C(1) << 34) > ab_heap_pages_bytes(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_page_is_of_the_heap_that_had_a_block_there_last, reset),
        cmocka_unit_test_setup(what_is_not_resident_or_was_before_is_in_no_footprint, reset),
        cmocka_unit_test_setup(other_pages_of_a_stretch_are_of_its_only_heap, reset),
        cmocka_unit_test_setup(a_block_over_stretches_has_all_their_pages, reset),
        cmocka_unit_test_setup(what_cannot_be_followed_is_not_known, reset),
    };
    test_with_small_pages();
    ab_residency_open(&residency);
    if (residency.page_log2 != 12)
        return 0; /* the figures are those of pages of 4096 bytes */
    table = malloc(ab_heap_pages_bytes(0));
    char *p = mmap(NULL, 4 * STRETCH, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    memory = (char *)(((uintptr_t)p + STRETCH - 1) & ~(STRETCH - 1));
    int failed = table == NULL || p == MAP_FAILED || cmocka_run_group_tests(tests, NULL, NULL) != 0;
    free(table);
    return failed;
}
