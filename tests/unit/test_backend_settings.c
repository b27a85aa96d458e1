/* SPDX-License-Identifier: MIT
 *
 * What -b says, taken apart.
 */
#include "backend/settings.h"

#include "backend/presets.h"
#include "support/cmocka.h"

#include <stdio.h>
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

static void only_variables_that_cannot_name_a_file_are_harmless(void **state)
{
    (void)state;
    static const char *const harmless[] = {
        "MALLOC_CONF=dirty_decay_ms:0,narenas:1",
        "MALLOC_CONF=",
        "MALLOC_CONF=slab_sizes:1-4096:17|100-200:1,stats_print:true,stats_print_opts:gm",
        "MALLOC_ARENA_MAX=1",
        "GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.pthread.rseq=0",
        "MIMALLOC_LARGE_OS_PAGES=1",
        "TCMALLOC_RELEASE_RATE=10",
        "SCUDO_OPTIONS=zero_contents=1:release_to_os_interval_ms=-1",
        "TBB_MALLOC_USE_HUGE_PAGES=1",
    };
    static const char *const others[] = {
        "HEAPPROFILE=x",
        "HEAPPROFILE",
        "MALLOC_TRACE=x",
        "MALLOC_CONF=narenas:1,prof_prefix:x",
        "MALLOC_CONF=prof:true",
        "MALLOC_CONF=log:x",
        "MALLOC_CONF=narenas",
        "MALLOC_CONF=narenasprof:1",
        "MALLOC_CONFX=narenas:1",
        "MALLOC_ARENA_MAX_=1",
        "malloc_conf=narenas:1",
        "GLIBC_TUNABLES=glibc.malloc.tcache_count=0:other=/x",
        "GLIBC_TUNABLES=glibc.rtld.nns=1",
        "MIMALLOC_VERBOSE=/x",
        "MIMALLO=1",
        "TCMALLOC_MEMFS_MALLOC_PATH=x",
        "TCMALLOC_DEVMEM_START=0",
        "SCUDO_OPTIONS=log_path=x",
        "SCUDO_OPTIONS='zero_contents=1 log_path=x'",
        "TMPDIR=.",
        "PATH=.",
        "",
        "=",
    };
    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
        if (!ab_settings_is_harmless(harmless[i]))
            fail_msg("%s", harmless[i]);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (ab_settings_is_harmless(others[i]))
            fail_msg("%s", others[i]);
}

/* The settings of --sweep are what people try: a workload can have them without an option. */
static void the_settings_of_every_sweep_are_harmless(void **state)
{
    (void)state;
    for (size_t i = 0; ab_sweep_name(i) != NULL; i++) {
        size_t n;
        const struct ab_sweep_row *rows = ab_sweep_rows(ab_sweep_name(i), &n);
        for (size_t k = 0; k < n; k++) {
            const char *brace = strchr(rows[k].settings, '{');
            char setting[256];
            if (brace == NULL)
                continue;
            snprintf(setting, sizeof setting, "%.*s", (int)strlen(brace) - 2, brace + 1);
            if (!ab_settings_is_harmless(setting))
                fail_msg("%s", setting);
        }
    }
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
    assert_int_equal(ab_settings_library("prefix=mm_:init=mem_init+mm_init", &s, &err), AB_OK);
    assert_string_equal(s.prefix, "mm_");
    assert_string_equal(s.params, "mem_init+mm_init");
    assert_int_equal(ab_settings_library("init=a:prefix=b", &s, &err), AB_OK);
    assert_string_equal(s.params, "a");
    assert_int_equal(ab_settings_library("init=a", &s, &err), AB_USAGE);
    assert_int_equal(ab_settings_library("prefix=b:init=a+", &s, &err), AB_USAGE);
    assert_int_equal(ab_settings_library("prefix=b:init=a:init=b", &s, &err), AB_USAGE);
    assert_int_equal(ab_settings_library("prefix=b:size=4", &s, &err), AB_USAGE);
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
        cmocka_unit_test(only_variables_that_cannot_name_a_file_are_harmless),
        cmocka_unit_test(the_settings_of_every_sweep_are_harmless),
        cmocka_unit_test(a_library_has_a_prefix_or_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
