/* SPDX-License-Identifier: MIT
 *
 * The lines of `trace dump` are an interface: here they stand literally.
 */
#include "trace_tools/event_text.h"

#include "support/cmocka.h"

#include <inttypes.h>
#include <stdio.h>

static void expect(const char *line, uint64_t number, struct ab_event e, struct ab_live_block block)
{
    char text[AB_EVENT_TEXT_MAX + 1];
    *ab_event_text(text, false, number, &e, &block) = 0;
    assert_string_equal(text, line);
}

static void each_kind_has_its_line(void **state)
{
    (void)state;
    struct ab_live_block block = {.number = 3, .is_live = true}, none = {0};
    expect("0 0 alloc 64 - 3 ok\n", 0, (struct ab_event){.kind = AB_EVENT_ALLOC, .size = 64},
           block);
    expect("1 2 alloc_zeroed 0 - 3 ok\n", 1,
           (struct ab_event){.kind = AB_EVENT_ALLOC_ZEROED, .thread = 2}, block);
    expect("2 0 alloc_aligned 9 4096 3 ok\n", 2,
           (struct ab_event){.kind = AB_EVENT_ALLOC_ALIGNED, .size = 9, .align = 4096}, block);
    expect("10 0 alloc 64 - - failed\n", 10,
           (struct ab_event){.kind = AB_EVENT_ALLOC, .size = 64, .failed = true}, none);
    expect("11 0 resize 0 - 3 released\n", 11,
           (struct ab_event){.kind = AB_EVENT_RESIZE, .released = true}, block);
    expect("12 0 resize 7 - 3 failed\n", 12,
           (struct ab_event){.kind = AB_EVENT_RESIZE, .size = 7, .failed = true}, block);
    expect("13 1 free - - 3 ok\n", 13, (struct ab_event){.kind = AB_EVENT_FREE, .thread = 1},
           block);
}

static void a_trace_with_times_has_one_more_field(void **state)
{
    (void)state;
    char text[AB_EVENT_TEXT_MAX + 1];
    struct ab_event e = {.kind = AB_EVENT_ALLOC, .size = 64, .time_us = 1234};
    struct ab_live_block block = {.number = 3, .is_live = true};
    *ab_event_text(text, true, 0, &e, &block) = 0;
    assert_string_equal(text, "0 0 alloc 64 - 3 ok 1234\n");
}

static void the_longest_line_fits(void **state)
{
    (void)state;
    char text[AB_EVENT_TEXT_MAX];
    struct ab_event e = {.kind = AB_EVENT_ALLOC_ALIGNED,
                         .size = UINT64_MAX,
                         .align = UINT64_MAX,
                         .thread = UINT32_MAX,
                         .released = true,
                         .time_us = UINT64_MAX};
    struct ab_live_block block = {.number = UINT64_MAX, .is_live = true};
    char *end = ab_event_text(text, true, UINT64_MAX, &e, &block);
    assert_true(end - text <= AB_EVENT_TEXT_MAX);
}

static void numbers_are_spelt_as_printf_spells_them(void **state)
{
    (void)state;
    char line[AB_EVENT_TEXT_MAX];
    for (uint64_t v = 0, i = 0; i < 200; i++, v = v * 3 + i) {
        snprintf(line, sizeof line, "%" PRIu64 " 0 alloc %" PRIu64 " - - ok\n", v, v);
        expect(line, v, (struct ab_event){.kind = AB_EVENT_ALLOC, .size = v},
               (struct ab_live_block){0});
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_has_its_line),
        cmocka_unit_test(a_trace_with_times_has_one_more_field),
        cmocka_unit_test(the_longest_line_fits),
        cmocka_unit_test(numbers_are_spelt_as_printf_spells_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
