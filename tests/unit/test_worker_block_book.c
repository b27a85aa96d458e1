/* SPDX-License-Identifier: MIT
 *
 * L, U and P of blocks at made-up addresses: every figure can be counted on paper.
 */
#include "support/cmocka.h"
#include "worker/block_book.h"

#include <string.h>

static struct ab_block_entry entries[8];
static uint64_t pages[1024], regions[1024];
static struct ab_block_book book;
static const uintptr_t base = 0x7f0000000000;

static int reset(void **state)
{
    (void)state;
    memset(entries, 0, sizeof entries);
    memset(pages, 0, sizeof pages);
    memset(regions, 0, sizeof regions);
    book = (struct ab_block_book){.entries = entries, .n_slots = 8, .page_log2 = 12};
    ab_page_set_init(&book.pages, pages, 1024);
    ab_page_set_init(&book.regions, regions, 1024);
    return 0;
}

static uint64_t put(uint32_t slot, uintptr_t offset, uint64_t size)
{
    struct ab_given given = {.at = base + offset, .size = size, .usable = size + 8};
    return ab_book_put(&book, slot, &given);
}

static void expect(uint64_t n_pages, uint64_t n_soft)
{
    assert_int_equal(book.pages.n, n_pages);
    assert_int_equal(book.pages.n - book.pages.n_firm, n_soft);
}

static void blocks_add_up_and_go(void **state)
{
    (void)state;
    put(0, 0, 100);
    put(1, 112, 50);
    assert_int_equal(book.live_bytes, 150);
    assert_int_equal(book.usable_bytes, 166);
    assert_int_equal(book.untouched_bytes, 150);
    expect(0, 0);
    ab_book_touch(&book, 0, AB_TOUCH_PAGE, 0);
    ab_book_touch(&book, 1, AB_TOUCH_PAGE, 0);
    assert_int_equal(book.untouched_bytes, 0);
    expect(1, 0); /* both on one page */
    ab_book_drop(&book, 0);
    expect(1, 0);
    ab_book_drop(&book, 1);
    ab_book_drop(&book, 1);
    expect(0, 0);
    assert_int_equal(book.live_bytes + book.usable_bytes + book.untouched_bytes, 0);
    assert_int_equal(book.regions.n, 0);
}

static void each_touch_counts_the_pages_it_stands_for(void **state)
{
    (void)state;
    static const struct {
        enum ab_touch how;
        uint64_t bytes, n_pages, n_soft;
    } cases[] = {
        /* 10,000 bytes from 4000 of a page on: pages 0 to 3, the strides hit 0, 1, 2 */
        {AB_TOUCH_NONE, 0, 0, 0},  {AB_TOUCH_FIRST, 1, 1, 0}, {AB_TOUCH_FIRST, 96, 1, 0},
        {AB_TOUCH_FIRST, 97, 2, 0}, {AB_TOUCH_ENDS, 0, 2, 0},  {AB_TOUCH_PAGE, 0, 4, 1},
        {AB_TOUCH_LINE, 0, 4, 0},  {AB_TOUCH_ALL, 0, 4, 0},   {AB_TOUCH_FIRST, 1 << 20, 4, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        reset(NULL);
        put(3, 4000, 10000);
        ab_book_touch(&book, 3, cases[i].how, cases[i].bytes);
        expect(cases[i].n_pages, cases[i].n_soft);
        ab_book_touch(&book, 3, cases[i].how, cases[i].bytes);
        expect(cases[i].n_pages, cases[i].n_soft);
        ab_book_drop(&book, 3);
        expect(0, 0);
    }
}

static void a_soft_page_becomes_firm_by_a_neighbour(void **state)
{
    (void)state;
    put(0, 4000, 200);
    ab_book_touch(&book, 0, AB_TOUCH_PAGE, 0);
    expect(2, 1);
    put(1, 4208, 16);
    ab_book_touch(&book, 1, AB_TOUCH_PAGE, 0);
    expect(2, 0);
    ab_book_drop(&book, 1);
    expect(2, 0); /* it was written to, and a live block lies on it */
}

static void a_resize_takes_its_touched_pages_along(void **state)
{
    (void)state;
    put(0, 0, 4096);
    ab_book_touch(&book, 0, AB_TOUCH_ALL, 0);
    assert_int_equal(put(0, 1 << 21, 3 * 4096), 4096); /* moved and grown */
    expect(1, 0);
    ab_book_touch_grown(&book, 0, 4096);
    expect(3, 0);
    assert_int_equal(book.live_bytes, 3 * 4096);
    assert_int_equal(book.regions.n, 1);
    put(0, 1 << 21, 5000);
    expect(2, 0);
    put(0, 1 << 21, 5000); /* as it was: no change */
    assert_int_equal(book.usable_bytes, 5008);
    put(0, (1 << 21) + 4096 * 600, 5000);
    expect(2, 0);
    ab_book_drop(&book, 0);
    expect(0, 0);
}

static void stretches_of_2_mib_are_counted_once(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        put(i, (uintptr_t)i << 20, 16); /* two in each stretch */
        ab_book_touch(&book, i, AB_TOUCH_PAGE, 0);
    }
    expect(8, 0);
    assert_int_equal(book.regions.n, 4);
    for (uint32_t i = 0; i < 8; i += 2)
        ab_book_drop(&book, i);
    assert_int_equal(book.regions.n, 4);
    for (uint32_t i = 1; i < 8; i += 2)
        ab_book_drop(&book, i);
    assert_int_equal(book.regions.n, 0);
}

static void less_usable_than_asked_for_is_noticed(void **state)
{
    (void)state;
    struct ab_given given = {.at = base, .size = 100, .usable = 99};
    assert_false(book.is_usable_less);
    ab_book_put(&book, 0, &given);
    assert_true(book.is_usable_less);
    ab_book_put(&book, 99, &given); /* no such slot */
    assert_int_equal(book.live_bytes, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(blocks_add_up_and_go, reset),
        cmocka_unit_test_setup(each_touch_counts_the_pages_it_stands_for, reset),
        cmocka_unit_test_setup(a_soft_page_becomes_firm_by_a_neighbour, reset),
        cmocka_unit_test_setup(a_resize_takes_its_touched_pages_along, reset),
        cmocka_unit_test_setup(stretches_of_2_mib_are_counted_once, reset),
        cmocka_unit_test_setup(less_usable_than_asked_for_is_noticed, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
