/* SPDX-License-Identifier: MIT
 *
 * The words of the commands of --program, and the names of rows.
 */
#include "app/exec_programs.h"
#include "core/text.h"
#include "support/cmocka.h"

#include <stdlib.h>
#include <string.h>

static struct ab_err err;

/* Reads "a=true" and "b=" with the command. */
static enum ab_status read_programs(const char *command, struct ab_exec_programs *out)
{
    char text[200];
    const char *programs[] = {"a=true", text};
    struct ab_exec_request asked = {.program = {.programs = programs, .n_programs = 2}};
    snprintf(text, sizeof text, "b=%s", command);
    return ab_exec_programs_read(&asked, out, &err);
}

static void expect_words(const char *text, const char *joined)
{
    struct ab_text t = {0};
    struct ab_exec_programs programs;
    assert_int_equal(read_programs(text, &programs), AB_OK);
    for (const char *const *word = programs.items[1].command.argv; *word != NULL; word++)
        ab_text_addf(&t, "[%s]", *word);
    assert_string_equal(t.s, joined);
    ab_exec_programs_fini(&programs);
    ab_text_fini(&t);
}

static void words_are_split_as_by_a_shell(void **state)
{
    (void)state;
    expect_words("true", "[true]");
    expect_words("true   a\tb\n c ", "[true][a][b][c]");
    expect_words("true 'a b'\"c d\"e", "[true][a bc de]");
    expect_words("true '' \"\"", "[true][][]");
    expect_words("true a\\ b \\' \\\\", "[true][a b]['][\\]");
    expect_words("true \"\\\" \\$ \\a\"", "[true][\" $ \\a]");
    expect_words("true '$x|y' \"*;\" a\\|b x=y~", "[true][$x|y][*;][a|b][x=y~]");
    expect_words("true a\\", "[true][a\\]");
}

static void what_asks_for_a_shell_is_refused(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"a|b", "'|' is for a shell"},
        {"a >b", "'>'"},
        {"a $x", "'$'"},
        {"a \"$x\"", "'$'"},
        {"\"`x`\"", "'`'"},
        {"a *.c", "'*'"},
        {"(a)", "'('"},
        {"a; b", "';'"},
        {"a 'b", "(') has no end"},
        {"\"a", "(\") has no end"},
        {"", "no command"},
        {" \t", "no command"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ab_exec_programs programs;
        assert_int_equal(read_programs(rows[i][0], &programs), AB_USAGE);
        ab_exec_programs_fini(&programs);
        assert_non_null(strstr(err.text, rows[i][1]));
    }
}

static void rows_are_programs_times_allocators(void **state)
{
    (void)state;
    struct ab_exec_programs programs;
    struct ab_selection_list list;
    const char *two[] = {"glibc", "short=glibc{A=b}"};
    assert_int_equal(read_programs("true", &programs), AB_OK);
    assert_int_equal(ab_selection_parse(two, 2, NULL, &list, &err), AB_OK);
    assert_int_equal(ab_exec_programs_make_rows(&programs, false, &list, &err), AB_OK);
    static const char *const names[] = {"a@glibc", "a@short", "b@glibc", "b@short"};
    static const char *const full[] = {"glibc", "glibc{A=b}", "glibc", "glibc{A=b}"};
    assert_int_equal(list.n, 4);
    for (size_t i = 0; i < list.n; i++) {
        assert_string_equal(list.items[i].name, names[i]);
        assert_string_equal(list.items[i].full_name, full[i]);
        assert_int_equal(programs.rows[i].program, i / 2);
        assert_false(programs.rows[i].is_own);
    }
    ab_selection_list_fini(&list);
    ab_exec_programs_fini(&programs);
}

static void more_rows_than_fit_are_refused(void **state)
{
    (void)state;
    struct ab_exec_programs programs;
    struct ab_selection_list list = {.n = AB_SELECTION_MAX / 2 + 1};
    list.items = calloc(list.n, sizeof list.items[0]);
    assert_int_equal(read_programs("true", &programs), AB_OK);
    assert_int_equal(ab_exec_programs_make_rows(&programs, false, &list, &err), AB_USAGE);
    assert_non_null(strstr(err.text, "are 66 rows; at most 64"));
    ab_selection_list_fini(&list);
    ab_exec_programs_fini(&programs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_split_as_by_a_shell),
        cmocka_unit_test(what_asks_for_a_shell_is_refused),
        cmocka_unit_test(rows_are_programs_times_allocators),
        cmocka_unit_test(more_rows_than_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
