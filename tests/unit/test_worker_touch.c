/* SPDX-License-Identifier: MIT */
#include "support/cmocka.h"
#include "worker/touch.h"

#include <string.h>

static unsigned char block[20000];

static size_t changed(void)
{
    size_t n = 0;
    for (size_t i = 0; i < sizeof block; i++)
        n += block[i] != 0xee;
    return n;
}

static void touch(enum ab_touch mode, uint32_t n, size_t size)
{
    memset(block, 0xee, sizeof block);
    ab_touch_block(block, size, AB_TOUCH_MAKE(mode, n));
}

static void each_mode_writes_just_its_bytes(void **state)
{
    (void)state;
    static const struct {
        enum ab_touch mode;
        uint32_t n;
        size_t size, expected;
    } cases[] = {
        {AB_TOUCH_NONE, 0, 100, 0},    {AB_TOUCH_FIRST, 8, 100, 8},  {AB_TOUCH_FIRST, 8, 3, 3},
        {AB_TOUCH_ENDS, 0, 1, 1},      {AB_TOUCH_ENDS, 0, 100, 2},   {AB_TOUCH_PAGE, 0, 1, 1},
        {AB_TOUCH_PAGE, 0, 4096, 1},   {AB_TOUCH_PAGE, 0, 4097, 2},  {AB_TOUCH_PAGE, 0, 12288, 4},
        {AB_TOUCH_LINE, 0, 64, 1},     {AB_TOUCH_LINE, 0, 65, 2},    {AB_TOUCH_LINE, 0, 640, 10},
        {AB_TOUCH_ALL, 0, 300, 300},   {AB_TOUCH_ALL, 0, 7, 7},      {AB_TOUCH_ALL, 0, 8, 8},
        {AB_TOUCH_FIRST, 13, 100, 13}, {AB_TOUCH_APART, 0, 9000, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        touch(cases[i].mode, cases[i].n, cases[i].size);
        assert_int_equal(changed(), cases[i].expected);
        for (size_t j = cases[i].size; j < sizeof block; j++)
            assert_int_equal(block[j], 0xee);
    }
}

static void the_first_pages_alone_are_written(void **state)
{
    (void)state;
    const uint32_t two = AB_LEADING_MAKE(2 | AB_LEADING_APART);
    memset(block, 0xee, sizeof block);
    ab_touch_block(block, 12288, AB_LEADING_MAKE(2));
    assert_int_equal(changed(), 2);
    assert_int_not_equal(block[4096], 0xee);
    ab_touch_block(block, 8192, AB_LEADING_MAKE(3)); /* it has not so many */
    assert_int_equal(changed(), 3);                  /* with its last byte */
    assert_int_equal(ab_touch_reach(two, 12288), 8192);
    assert_true(ab_touch_is_apart(two));
    assert_false(ab_touch_is_apart(AB_TOUCH_MAKE(AB_TOUCH_FIRST, AB_LEADING_APART << 2)));
    assert_int_equal(ab_touch_reach(AB_TOUCH_APART, 12288), 12288);
}

static void a_grown_block_is_touched_from_its_old_size_on(void **state)
{
    (void)state;
    memset(block, 0xee, sizeof block);
    ab_touch_pages(block, 5000, 15000);
    assert_int_equal(block[0], 0xee);
    assert_int_not_equal(block[5000], 0xee);
    assert_int_not_equal(block[5000 + 4096], 0xee);
    assert_int_not_equal(block[14999], 0xee);
    assert_int_equal(changed(), 4);
}

/* A block of two pages that begins within a page lies on three. */
static void each_page_that_a_block_lies_on_is_written_to(void **state)
{
    (void)state;
    static _Alignas(4096) unsigned char pages[8 * 4096];
    for (size_t begin = 0; begin < 4096; begin += 16)
        for (size_t size = 4112; size < 6 * 4096; size += 1360) {
            memset(pages, 0xee, sizeof pages);
            ab_touch_block(pages + begin, size, AB_TOUCH_MAKE(AB_TOUCH_PAGE, 0));
            for (size_t page = 0; page < 8; page++)
                assert_int_equal(memchr(pages + page * 4096, 0xee, 4096) != pages + page * 4096 ||
                                     memcmp(pages + page * 4096, pages + page * 4096 + 1, 4095) !=
                                         0,
                                 page * 4096 < begin + size);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mode_writes_just_its_bytes),
        cmocka_unit_test(the_first_pages_alone_are_written),
        cmocka_unit_test(a_grown_block_is_touched_from_its_old_size_on),
        cmocka_unit_test(each_page_that_a_block_lies_on_is_written_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
