/* SPDX-License-Identifier: MIT
 *
 * Names that are longer than their column: cut in the middle, by columns and not by bytes.
 */
#include "result/shown.h"

#include "support/cmocka.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

static const char *name(const char *s, unsigned width, bool utf8)
{
    static char buf[512];
    return ab_format_name(buf, sizeof buf, s, width, utf8);
}

static void names_that_fit_stay_as_they_are(void **state)
{
    (void)state;
    assert_string_equal(name("glibc", 5, true), "glibc");
    assert_string_equal(name("glibc", 60, false), "glibc");
    assert_string_equal(name("", 5, true), "");
}

static void long_names_keep_both_ends(void **state)
{
    (void)state;
    assert_string_equal(name("jemalloc{MALLOC_CONF=dirty_decay_ms:0}", 11, true),
                        "jemal\u2026ms:0}");
    assert_string_equal(name("0123456789", 7, true), "012\u2026789");
    assert_string_equal(name("0123456789", 8, true), "0123\u2026789");
    assert_string_equal(name("0123456789", 8, false), "012..789");
    assert_string_equal(name("0123456789", 3, false), "0..");
    assert_string_equal(name("0123456789", 1, true), "0");
}

static void hostile_names_are_cut_by_columns(void **state)
{
    (void)state;
    char text[5000];
    assert_string_equal(name("\u00e4\u00f6\u00fc456789\u00e4\u00f6\u00fc", 7, true),
                        "\u00e4\u00f6\u00fc\u2026\u00e4\u00f6\u00fc");
    assert_string_equal(name("\u00e4\u00f6\u00fc456789\u00e4\u00f6\u00fc", 8, false), "???..???");
    for (unsigned width = 0; width < 40; width++)
        for (int utf8 = 0; utf8 < 2; utf8++) {
            memset(text, 'x', sizeof text);
            text[sizeof text - 1] = 0;
            assert_true(ab_format_width(name(text, width, utf8 != 0)) <= width);
            for (size_t i = 0; i + 4 < sizeof text; i += 3)
                memcpy(text + i, "\u6f22", 3); /* two columns each */
            assert_true(ab_format_width(name(text, width, utf8 != 0)) <= width);
            memset(text, '\xff', sizeof text - 1);
            assert_true(ab_format_width(name(text, width, utf8 != 0)) <= width);
        }
}

static void an_interval_beside_one_does_not_read_as_if_it_held_one(void **state)
{
    (void)state;
    char buf[AB_CELL_BYTES];
    assert_string_equal(ab_format_effect(buf, 1.012, 1.004, 1.018), "1.012x [1.004, 1.018]");
    assert_string_equal(ab_format_effect(buf, 0.99, 0.981, 0.9961), "0.990x [0.981, 0.996]");
    assert_string_equal(ab_format_effect(buf, 1.012, 0.998, 1.018), "1.01x [1.00, 1.02]");
    assert_string_equal(ab_format_effect(buf, 1.55, 1.52, 1.58), "1.55x [1.52, 1.58]");
}

static void a_size_is_in_one_class_only(void **state)
{
    (void)state;
    char buf[AB_CELL_BYTES];
    assert_string_equal(ab_format_size_class(buf, 0), "0 - 1 B");
    assert_string_equal(ab_format_size_class(buf, 9), "257 - 512 B");
    assert_string_equal(ab_format_size_class(buf, 10), ">512 B - 1 KiB");
    assert_string_equal(ab_format_size_class(buf, 11), ">1 - 2 KiB");
    assert_string_equal(ab_format_size_class(buf, 63), ">4 - 8 EiB");
}

int main(void)
{
    if (setlocale(LC_CTYPE, "C.UTF-8") == NULL)
        return 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interval_beside_one_does_not_read_as_if_it_held_one),
        cmocka_unit_test(a_size_is_in_one_class_only),
        cmocka_unit_test(names_that_fit_stay_as_they_are),
        cmocka_unit_test(long_names_keep_both_ends),
        cmocka_unit_test(hostile_names_are_cut_by_columns),
    };
    return cmocka_run_group_tests_name("format", tests, NULL, NULL);
}
