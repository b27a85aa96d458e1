/* SPDX-License-Identifier: MIT */
#include "cli/spool_summary.h"

#include "support/cmocka.h"

#include <stdlib.h>
#include <string.h>

static void expect(struct ab_name_counts *c, const char *text)
{
    char *printed = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&printed, &n);
    ab_name_counts_print(to, c);
    fclose(to);
    assert_string_equal(printed, text);
    free(printed);
    ab_name_counts_fini(c);
}

static void names_come_by_their_number_and_then_by_name(void **state)
{
    static const char *const names[] = {"sh", "true", "sed", "sh", "sed", "sh"};
    struct ab_name_counts c = {.n = 0};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        ab_name_counts_add(&c, names[i]);
    assert_int_equal(c.total, 6);
    expect(&c, "sh (3), sed (2), true");
}

static void beyond_ten_names_the_rest_is_a_number(void **state)
{
    struct ab_name_counts c = {.n = 0};
    char name[] = "a";
    (void)state;
    for (; name[0] <= 'l'; name[0]++) /* twelve */
        ab_name_counts_add(&c, name);
    ab_name_counts_add(&c, "l");
    expect(&c, "l (2), a, b, c, d, e, f, g, h, i and 2 others");
}

static void control_characters_are_shown_as_text(void **state)
{
    struct ab_name_counts c = {.n = 0};
    (void)state;
    ab_name_counts_add(&c, "a\033[2J");
    expect(&c, "a\\x1b[2J");
}

static void nothing_is_nothing(void **state)
{
    struct ab_name_counts c = {.n = 0};
    (void)state;
    expect(&c, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_come_by_their_number_and_then_by_name),
        cmocka_unit_test(beyond_ten_names_the_rest_is_a_number),
        cmocka_unit_test(control_characters_are_shown_as_text),
        cmocka_unit_test(nothing_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
