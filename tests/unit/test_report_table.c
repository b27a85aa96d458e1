/* SPDX-License-Identifier: MIT
 *
 * Commands to copy: what is printed is the same command, in lines that a shell joins.
 */
#include "report/table/table.h"

#include "support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_prints(unsigned width, const char *command, const char *wanted)
{
    char *text = NULL;
    size_t n;
    FILE *to = open_memstream(&text, &n);
    assert_non_null(to);
    ab_table_command(to, (struct ab_table_style){.width = width, .utf8 = true}, "next: ", command);
    fclose(to);
    assert_string_equal(text, wanted);
    free(text);
}

static void a_command_is_broken_between_its_words(void **state)
{
    (void)state;
    assert_prints(80, "allocbench run a.yaml", "next: allocbench run a.yaml\n");
    assert_prints(40, "allocbench run configs/a-name.yaml --rounds 20",
                  "next: allocbench run \\\n    configs/a-name.yaml --rounds 20\n");
}

/* What is quoted stays in one line, also after a quote that is escaped. */
static void quoted_words_are_not_broken(void **state)
{
    (void)state;
    assert_prints(40, "allocbench run 'a b c d e f g h i j.yaml' --quick",
                  "next: allocbench run \\\n    'a b c d e f g h i j.yaml' --quick\n");
    assert_prints(40, "allocbench run 'it'\\''s a b c d e f.yaml' --quick",
                  "next: allocbench run \\\n    'it'\\''s a b c d e f.yaml' --quick\n");
    assert_prints(40, "allocbench run i\\'s.yaml --quick --rounds 5",
                  "next: allocbench run i\\'s.yaml --quick \\\n    --rounds 5\n");
}

static void a_long_word_is_whole(void **state)
{
    enum { LONG = 5000 };
    char *command = malloc(LONG + 32), *wanted = malloc(LONG + 64);
    (void)state;
    assert_true(command != NULL && wanted != NULL);
    memset(command, 'x', LONG);
    strcpy(command + LONG, " --quick");
    snprintf(wanted, LONG + 64, "next: %.*s \\\n    --quick\n", LONG, command);
    assert_prints(80, command, wanted);
    free(command);
    free(wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_is_broken_between_its_words),
        cmocka_unit_test(quoted_words_are_not_broken),
        cmocka_unit_test(a_long_word_is_whole),
    };
    return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
