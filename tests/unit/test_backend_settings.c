/* SPDX-License-Identifier: MIT
 *
 * What -b says, taken apart.
 */
#include "backend/settings.h"
#include "support/cmocka.h"

#include <stdlib.h>
#include <string.h>

static struct ab_err err;

static void expect_split(const char *text, const char *name, const char *params, const char *env)
{
    char *copy = strdup(text);
    struct ab_spelling s;
    assert_int_equal(ab_settings_split(copy, &s, &err), AB_OK);
    assert_string_equal(s.name, name);
    assert_string_equal(s.params, params);
    assert_string_equal(s.env, env);
    free(copy);
}

static void names_params_and_braces_come_apart(void **state)
{
    (void)state;
    expect_split("glibc", "glibc", "", "");
    expect_split("slab:keep=8:spare=0", "slab", "keep=8:spare=0", "");
    expect_split("jemalloc{MALLOC_CONF=dirty_decay_ms:0,narenas:1}", "jemalloc", "",
                 "MALLOC_CONF=dirty_decay_ms:0,narenas:1");
    expect_split("slab:keep=8{A=b;C=d}", "slab", "keep=8", "A=b;C=d");
    expect_split("./a:b/libx.so", "./a:b/libx.so", "", "");
    expect_split("./a:b/libx.so:file=/tmp/x", "./a:b/libx.so", "file=/tmp/x", "");
}

static void expect_own(const char *text, const char *own, const char *name, const char *params)
{
    char *copy = strdup(text);
    struct ab_spelling s;
    assert_int_equal(ab_settings_split(copy, &s, &err), AB_OK);
    assert_string_equal(s.own, own);
    assert_string_equal(s.name, name);
    assert_string_equal(s.params, params);
    free(copy);
}

static void a_path_can_be_given_a_name(void **state)
{
    (void)state;
    expect_own("my lib=./x.so", "my lib", "./x.so", ""); /* no name, and it says so */
    expect_own("old=./old/libmine.so", "old", "./old/libmine.so", "");
    expect_own("checked+v1.2=./x.so:keep=8", "checked+v1.2", "./x.so", "keep=8");
    expect_own("new=./a:b/libx.so:file=/tmp/x", "new", "./a:b/libx.so", "file=/tmp/x");
    expect_own("./a=b.so", "", "./a=b.so", "");
    expect_own("a\\=b.so", "", "a=b.so", "");
    expect_own("slab:keep=8", "", "slab", "keep=8");
    expect_own("glibc{A=b}", "", "glibc", "");
}

static void a_backslash_takes_a_character_as_it_is(void **state)
{
    (void)state;
    expect_split("./lib\\,x.so", "./lib,x.so", "", "");
    expect_split("./a\\:b\\{c\\}.so:keep=8{A=b}", "./a:b{c}.so", "keep=8", "A=b");
    expect_split("./a\\\\b.so", "./a\\b.so", "", "");
    expect_split("./a.so{A=\\x}", "./a.so", "", "A=\\x"); /* values are as they stand */
    expect_split("end\\", "end\\", "", "");
    char text[] = "./a\\,b.so,c";
    assert_ptr_equal(ab_settings_comma(text), text + 9);
    char braces[] = "a{X=\\},b";
    assert_ptr_equal(ab_settings_comma(braces), braces + 6);
}

static void commas_in_braces_end_nothing(void **state)
{
    (void)state;
    char text[] = "a{X=1,2},b";
    assert_ptr_equal(ab_settings_comma(text), text + 8);
    assert_null(ab_settings_comma(text + 9));
    char open[] = "a{X=1,b"; /* never closed: one entry, refused as such */
    assert_null(ab_settings_comma(open));
}

static enum ab_status env(const char *text, struct ab_selection *s)
{
    *s = (struct ab_selection){.name = "x"};
    return ab_settings_env(text, s, &err);
}

static void variables_are_taken_one_by_one(void **state)
{
    (void)state;
    struct ab_selection s;
    assert_int_equal(env("A=1;B_2=x=y;C=", &s), AB_OK);
    assert_int_equal(s.n_env, 3);
    assert_string_equal(s.env[0], "A=1");
    assert_string_equal(s.env[1], "B_2=x=y");
    assert_string_equal(s.env[2], "C=");
    assert_int_equal(env("A=1;A=2", &s), AB_USAGE);
    assert_int_equal(env("A", &s), AB_USAGE);
    assert_int_equal(env("=1", &s), AB_USAGE);
    assert_int_equal(env("A B=1", &s), AB_USAGE);
    assert_int_equal(env("LD_AUDIT=x", &s), AB_USAGE);
    assert_int_equal(env("LDFLAGS=x", &s), AB_OK);
    assert_int_equal(env("A=1;B=1;C=1;D=1;E=1;F=1;G=1;H=1;I=1", &s), AB_USAGE);
    char longest[400] = "A=";
    memset(longest + 2, 'x', 300);
    assert_int_equal(env(longest, &s), AB_USAGE);
}

static void a_library_has_a_prefix_or_parameters(void **state)
{
    (void)state;
    struct ab_selection s = {.name = "x"};
    assert_int_equal(ab_settings_library("prefix=mi_", &s, &err), AB_OK);
    assert_string_equal(s.prefix, "mi_");
    assert_int_equal(ab_settings_library("prefix=", &s, &err), AB_USAGE);
    assert_int_equal(ab_settings_library("prefix=a-b", &s, &err), AB_USAGE);
    s = (struct ab_selection){.name = "x"};
    assert_int_equal(ab_settings_library("size=4:mode=fast", &s, &err), AB_OK);
    assert_string_equal(s.params, "size=4:mode=fast");
    assert_string_equal(s.prefix, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_params_and_braces_come_apart),
        cmocka_unit_test(a_path_can_be_given_a_name),
        cmocka_unit_test(a_backslash_takes_a_character_as_it_is),
        cmocka_unit_test(commas_in_braces_end_nothing),
        cmocka_unit_test(variables_are_taken_one_by_one),
        cmocka_unit_test(a_library_has_a_prefix_or_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
