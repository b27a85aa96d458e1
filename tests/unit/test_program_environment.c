/* SPDX-License-Identifier: MIT
 *
 * tests: program_environment.c
 *
 * What a measured program finds in its environment.
 */
#include "program/program.h"

#include "support/cmocka.h"

#include <stdlib.h>
#include <string.h>

/* How many variables of this name; *value is the last. */
static int find(char **list, const char *name, const char **value)
{
    int n = 0;
    size_t length = strlen(name);
    for (; *list != NULL; list++)
        if (strncmp(*list, name, length) == 0 && (*list)[length] == '=') {
            *value = *list + length + 1;
            n++;
        }
    return n;
}

static void the_users_environment_stays(void **state)
{
    const char *value = NULL;
    (void)state;
    setenv("AB_TEST_WORD", "as it was", 1);
    unsetenv("LD_PRELOAD");
    char **list = ab_environment_build(NULL, NULL);
    assert_int_equal(find(list, "AB_TEST_WORD", &value), 1);
    assert_string_equal(value, "as it was");
    assert_int_equal(find(list, "LD_PRELOAD", &value), 0);
    ab_environment_free(list);
}

static void the_allocator_stands_before_what_else_is_preloaded(void **state)
{
    const char *value = NULL;
    (void)state;
    unsetenv("LD_PRELOAD");
    char **list = ab_environment_build("/lib/a.so", NULL);
    assert_int_equal(find(list, "LD_PRELOAD", &value), 1);
    assert_string_equal(value, "/lib/a.so");
    ab_environment_free(list);
    setenv("LD_PRELOAD", "", 1);
    list = ab_environment_build("/lib/a.so", NULL);
    assert_int_equal(find(list, "LD_PRELOAD", &value), 1);
    assert_string_equal(value, "/lib/a.so");
    ab_environment_free(list);
    setenv("LD_PRELOAD", "/lib/b.so", 1);
    list = ab_environment_build("/lib/a.so", NULL);
    assert_int_equal(find(list, "LD_PRELOAD", &value), 1);
    assert_string_equal(value, "/lib/a.so:/lib/b.so");
    ab_environment_free(list);
    unsetenv("LD_PRELOAD");
}

static void settings_replace_variables_of_their_name_alone(void **state)
{
    const char *value = NULL;
    const char *const settings[] = {"AB_TEST=new", "AB_TESTER=2", NULL};
    (void)state;
    setenv("AB_TEST", "old", 1);
    setenv("AB_TESTED", "stays", 1);
    char **list = ab_environment_build(NULL, settings);
    assert_int_equal(find(list, "AB_TEST", &value), 1);
    assert_string_equal(value, "new");
    assert_int_equal(find(list, "AB_TESTED", &value), 1);
    assert_string_equal(value, "stays");
    assert_int_equal(find(list, "AB_TESTER", &value), 1);
    ab_environment_free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_users_environment_stays),
        cmocka_unit_test(the_allocator_stands_before_what_else_is_preloaded),
        cmocka_unit_test(settings_replace_variables_of_their_name_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
