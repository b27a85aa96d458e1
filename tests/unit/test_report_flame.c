/* SPDX-License-Identifier: MIT
 *
 * Three stacks, whose shares can be computed on paper; names that would break a picture or a line.
 */
#include "report/flame.h"

#include "support/cmocka.h"

#include <stdlib.h>
#include <string.h>

static char *text;
static size_t n_text;

static struct ab_flame *make(void)
{
    static const char *const one[] = {"main", "parse", "strdup"};
    static const char *const two[] = {"main", "parse"};
    static const char *const three[] = {"main", "a<b>&\"c\";\n"};
    struct ab_flame *f = ab_flame_open();
    ab_flame_add(f, one, 3, 10);
    ab_flame_add(f, two, 2, 20);
    ab_flame_add(f, three, 2, 70);
    ab_flame_add(f, one, 3, 100);
    return f;
}

static void folded_lines(void **state)
{
    struct ab_flame *f = make();
    FILE *to = open_memstream(&text, &n_text);
    (void)state;
    ab_flame_write_folded(f, to);
    fclose(to);
    assert_string_equal(text, "main;parse 20\nmain;parse;strdup 110\nmain;a<b>&\"c\":\\x0a 70\n");
    free(text);
    ab_flame_close(f);
}

/* Functions with many callees: no search through all of them for each. */
static void many_children(void **state)
{
    enum { MANY = 300000 };
    struct ab_flame *f = ab_flame_open();
    char name[16];
    const char *const stack[] = {name};
    (void)state;
    for (unsigned turn = 0; turn < 2; turn++)
        for (unsigned i = 0; i < MANY; i++) {
            snprintf(name, sizeof name, "f%u", i);
            ab_flame_add(f, stack, 1, 1);
        }
    FILE *to = open_memstream(&text, &n_text);
    ab_flame_write_folded(f, to);
    fclose(to);
    unsigned lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    assert_int_equal(lines, MANY);
    assert_non_null(strstr(text, "f0 2\nf1 2\n"));
    free(text);
    ab_flame_close(f);
}

static void a_box_for_each_function(void **state)
{
    struct ab_flame *f = make();
    FILE *to = open_memstream(&text, &n_text);
    (void)state;
    ab_flame_write_svg(f, to, "a & b", "calls");
    fclose(to);
    unsigned boxes = 0;
    for (const char *at = text; (at = strstr(at, "<g>")) != NULL; at++)
        boxes++;
    assert_int_equal(boxes, 5); /* all, main, parse, strdup, the odd one */
    assert_non_null(strstr(text, "a &amp; b"));
    assert_non_null(strstr(text, "<title>parse: 130 calls, 65.00 %</title>"
                                 "<rect x=\"10.00\" y=\"54\" width=\"767.00\""));
    assert_non_null(strstr(text, "<title>strdup: 110 calls, 55.00 %</title>"));
    assert_non_null(strstr(text,
                           "<title>a&lt;b&gt;&amp;&quot;c&quot;;\\x0a: 70 calls, 35.00 %</title>"
                           "<rect x=\"777.00\""));
    assert_null(strstr(text, "a<b"));
    assert_string_equal(text + strlen(text) - 7, "</svg>\n");
    free(text);
    ab_flame_close(f);
}

static void nothing_is_a_picture_too(void **state)
{
    struct ab_flame *f = ab_flame_open();
    FILE *to = open_memstream(&text, &n_text);
    (void)state;
    ab_flame_write_svg(f, to, "empty", "bytes");
    ab_flame_write_folded(f, to);
    fclose(to);
    assert_null(strstr(text, "<g>"));
    assert_non_null(strstr(text, "</svg>"));
    free(text);
    ab_flame_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folded_lines),
        cmocka_unit_test(many_children),
        cmocka_unit_test(a_box_for_each_function),
        cmocka_unit_test(nothing_is_a_picture_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
