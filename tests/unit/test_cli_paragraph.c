/* SPDX-License-Identifier: MIT */
#include "cli/options_help.h"
#include "support/cmocka.h"

#include <stdlib.h>
#include <string.h>

static void prints(const char *text, int indent, int at, const char *expected)
{
    char *out = NULL;
    size_t size;
    FILE *to = open_memstream(&out, &size);
    assert_non_null(to);
    ab_paragraph_print(to, text, indent, at);
    fclose(to);
    assert_string_equal(out, expected);
    free(out);
}

static void text_is_broken_at_blanks(void **state)
{
    (void)state;
    prints("one two", 4, 2, "  one two\n");
    prints("one\ntwo", 4, 4, "one two\n"); /* a line break is a blank */
    prints("", 2, 0, "  \n");
    prints("1234567890 1234567890", 60, 60,
           "1234567890\n"
           "                                                            1234567890\n");
}

static void the_last_column_is_used_and_no_more(void **state)
{
    (void)state;
    prints("123456789 1234567890", 60, 60, "123456789 1234567890\n");
}

static void characters_count_not_bytes(void **state)
{
    (void)state;
    assert_int_equal(ab_paragraph_columns("a…é"), 3);
    prints("ééééééééé …………………………", 60, 60, "ééééééééé …………………………\n");
}

static void lines_that_begin_with_a_blank_stay(void **state)
{
    (void)state;
    prints("see:\n  a    b\n  c    d\nand more", 1, 1, "see:\n   a    b\n   c    d\n and more\n");
}

static void what_is_quoted_stays_together(void **state)
{
    (void)state;
    prints("or 'a < b c d e', f", 64, 64,
           "or\n"
           "                                                                'a < b c d e', f\n");
    prints("it's in ' no quote", 64, 64,
           "it's in ' no\n"
           "                                                                quote\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_broken_at_blanks),
        cmocka_unit_test(the_last_column_is_used_and_no_more),
        cmocka_unit_test(characters_count_not_bytes),
        cmocka_unit_test(what_is_quoted_stays_together),
        cmocka_unit_test(lines_that_begin_with_a_blank_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
