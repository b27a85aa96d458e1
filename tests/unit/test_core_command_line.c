/* SPDX-License-Identifier: MIT
 *
 * Command lines without some of their options.
 */
#include "core/command_line.h"
#include "support/cmocka.h"

#include <stdlib.h>

static void options_go_with_their_values(void **state)
{
    (void)state;
    static const char *const names[] = {"--rounds", "--resume"};
    static const struct {
        const char *line, *left;
    } rows[] = {
        {"allocbench run a.yaml --rounds 3 -b glibc", "allocbench run a.yaml -b glibc"},
        {"allocbench run --resume='a b.json' a.yaml", "allocbench run a.yaml"},
        {"allocbench run --resume 'a b.json' a.yaml", "allocbench run a.yaml"},
        {"allocbench run a.yaml --resume old.json", "allocbench run a.yaml"},
        {"allocbench run --rounds-x 3", "allocbench run --rounds-x 3"},
        {"allocbench run 'x --rounds 3'", "allocbench run 'x --rounds 3'"},
        {"allocbench exec --rounds 3 -- ./app --rounds 4", "allocbench exec -- ./app --rounds 4"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ab_text t = {0};
        ab_text_add(&t, "");
        ab_command_line_add_without(&t, rows[i].line, names, 2);
        assert_string_equal(t.s, rows[i].left);
        ab_text_fini(&t);
    }
}

static void arguments_follow_the_command(void **state)
{
    (void)state;
    assert_string_equal(ab_command_line_arguments("allocbench run -b 'a b' x"), "-b 'a b' x");
    assert_string_equal(ab_command_line_arguments("allocbench run"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_go_with_their_values),
        cmocka_unit_test(arguments_follow_the_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
