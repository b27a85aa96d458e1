/* SPDX-License-Identifier: MIT */
#include "workload/diag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static void expect_excerpt(const char *text, struct ab_place at, const char *expected)
{
    struct ab_source_text source = {"f", text, strlen(text)};
    struct ab_text out = {0};
    ab_diag_excerpt(&out, &source, at);
    assert_string_equal(out.s, expected);
    ab_text_fini(&out);
}

static void the_caret_stands_under_the_place_whatever_is_before_it(void **state)
{
    (void)state;
    expect_excerpt("a: 1\nbc: 22\n", (struct ab_place){2, 5, 2},
                   "    2 | bc: 22\n"
                   "      |     ^~\n");
    expect_excerpt("a\r\nb: x\r\n", (struct ab_place){2, 4, 1},
                   "    2 | b: x\n"
                   "      |    ^\n");
    expect_excerpt("a\rb: x", (struct ab_place){2, 4, 1},
                   "    2 | b: x\n"
                   "      |    ^\n");
    expect_excerpt("\xc3\xa4\xc3\xb6: x", (struct ab_place){1, 5, 1},
                   "    1 | \xc3\xa4\xc3\xb6: x\n      |     ^\n");
    expect_excerpt("\t\x1bx", (struct ab_place){1, 3, 1},
                   "    1 |  \\x1bx\n"
                   "      |      ^\n");
    expect_excerpt("a", (struct ab_place){1, 2, 1}, "    1 | a\n      |  ^\n");
    expect_excerpt("a", (struct ab_place){9, 1, 1}, "    9 | \n      | ^\n");
}

static void a_long_line_is_cut_around_the_place(void **state)
{
    (void)state;
    char text[3001];
    memset(text, 'x', 3000);
    text[3000] = 0;
    struct ab_source_text source = {"f", text, 3000};
    struct ab_text out = {0};
    ab_diag_excerpt(&out, &source, (struct ab_place){1, 1500, 3});
    assert_true(out.n < 250);
    const char *caret = strchr(out.s, '^'), *second = strchr(out.s, '\n') + 1;
    assert_int_equal(caret - second, 8 + 3 + 64);
    ab_text_fini(&out);
}

static void errors_are_sorted_by_place_and_counted(void **state)
{
    (void)state;
    struct ab_diag d = {.source = {"f", "ab\ncd\n", 6}};
    ab_diag_add(&d, (struct ab_place){2, 1, 1}, "third");
    ab_diag_add(&d, (struct ab_place){1, 2, 1}, "second");
    ab_diag_add(&d, (struct ab_place){0}, "first %d", 1);
    char *text = ab_diag_render(&d);
    assert_string_equal(text, "f: error: first 1\n"
                              "f:1:2: error: second\n    1 | ab\n      |  ^\n"
                              "f:2:1: error: third\n    2 | cd\n      | ^\n"
                              "3 errors in f\n");
    free(text);
    ab_diag_fini(&d);
}

static void twenty_errors_are_shown_and_all_are_counted(void **state)
{
    (void)state;
    struct ab_diag d = {.source = {"f", "", 0}};
    for (uint32_t i = 0; i < 1000; i++)
        ab_diag_add(&d, (struct ab_place){1000 - i, 1, 1}, "x");
    char *text = ab_diag_render(&d);
    assert_non_null(strstr(text, "1000 errors in f; the first 20 are shown\n"));
    size_t n = 0;
    for (const char *s = text; (s = strstr(s, ": error: ")) != NULL; s++)
        n++;
    assert_int_equal(n, 20);
    free(text);
    ab_diag_fini(&d);
}

static void a_hostile_file_name_is_escaped(void **state)
{
    (void)state;
    struct ab_diag d = {.source = {"a\x1b[2J.yaml", "", 0}};
    ab_diag_add(&d, (struct ab_place){1, 1, 1}, "x");
    char *text = ab_diag_render(&d);
    assert_null(strchr(text, '\x1b'));
    free(text);
    ab_diag_fini(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_caret_stands_under_the_place_whatever_is_before_it),
        cmocka_unit_test(a_long_line_is_cut_around_the_place),
        cmocka_unit_test(errors_are_sorted_by_place_and_counted),
        cmocka_unit_test(twenty_errors_are_shown_and_all_are_counted),
        cmocka_unit_test(a_hostile_file_name_is_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
