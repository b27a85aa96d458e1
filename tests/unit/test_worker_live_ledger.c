/* SPDX-License-Identifier: MIT
 *
 * Blocks come, change and go: the sums follow.
 */
#include "support/cmocka.h"
#include "worker/page_walk.h"

#include <string.h>

static struct ab_block_entry entries[8];
static struct ab_block_book book;

static int reset(void **state)
{
    (void)state;
    memset(entries, 0, sizeof entries);
    book = (struct ab_block_book){.entries = entries, .n_slots = 8};
    return 0;
}

static void put(uint32_t slot, uintptr_t at, uint64_t size)
{
    struct ab_given given = {.at = at, .size = size, .usable = size + 8, .lane = 3};
    ab_book_put(&book, slot, &given);
}

static void expect(uint64_t requested, uint64_t usable)
{
    assert_int_equal(book.requested_bytes, requested);
    assert_int_equal(book.usable_bytes, usable);
}

static void blocks_add_up_and_go(void **state)
{
    (void)state;
    put(0, 4096, 100);
    put(1, 4208, 50);
    expect(150, 166);
    assert_true(entries[1].is_live && entries[1].at == 4208 && entries[1].lane == 3);
    ab_book_drop(&book, 0);
    expect(50, 58);
    ab_book_drop(&book, 1);
    ab_book_drop(&book, 1);
    expect(0, 0);
    assert_false(entries[1].is_live);
}

static void a_resize_replaces_the_block(void **state)
{
    (void)state;
    put(0, 4096, 100);
    put(0, 8192, 300);
    expect(300, 308);
    assert_int_equal(entries[0].at, 8192);
    put(0, 8192, 0);
    expect(0, 8);
    assert_true(entries[0].is_live);
}

static void less_usable_than_asked_for_is_noticed(void **state)
{
    (void)state;
    struct ab_given given = {.at = 4096, .size = 100, .usable = 99};
    assert_false(book.is_usable_less);
    ab_book_put(&book, 0, &given);
    assert_true(book.is_usable_less);
    ab_book_put(&book, 99, &given); /* no such slot */
    expect(100, 99);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(blocks_add_up_and_go, reset),
        cmocka_unit_test_setup(a_resize_replaces_the_block, reset),
        cmocka_unit_test_setup(less_usable_than_asked_for_is_noticed, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
