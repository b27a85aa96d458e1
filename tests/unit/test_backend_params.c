/* SPDX-License-Identifier: MIT */
/* tests: param_read.c */
#include "backend/settings.h"

#include "allocators/builtin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *const threads[] = {"mutex", "sharded", "local", NULL};
static const struct ab_param params[] = {
    {"reserve", "", AB_PARAM_BYTES, 4096, 16, (1 << 30) + 4096, NULL},
    {"slots", "", AB_PARAM_COUNT, 10, 1, 1025, NULL},
    {"poison", "", AB_PARAM_BOOL, 1, 0, 1, NULL},
    {"threads", "", AB_PARAM_CHOICE, 1, 0, 2, threads},
};
static const struct ab_backend backend = {.name = "slab", .params = params, .n_params = 4};
static const struct ab_backend bare = {.name = "bare"};

static void without_text_every_value_is_its_default(void **state)
{
    (void)state;
    uint64_t v[AB_PARAMS_MAX];
    assert_int_equal(ab_params_parse(&backend, "", v, NULL), AB_OK);
    assert_int_equal(v[0], 4096);
    assert_int_equal(v[1], 10);
    assert_int_equal(v[2], 1);
    assert_int_equal(v[3], 1);
    assert_int_equal(ab_params_parse(&bare, "", v, NULL), AB_OK);
}

static void values_are_read_by_their_type(void **state)
{
    (void)state;
    uint64_t v[AB_PARAMS_MAX];
    struct ab_err err;
    assert_int_equal(
        ab_params_parse(&backend, "threads=local:reserve=64KiB:poison=off:slots=1e3", v, &err),
        AB_OK);
    assert_int_equal(v[0], 65536);
    assert_int_equal(v[1], 1000);
    assert_int_equal(v[2], 0);
    assert_int_equal(v[3], 2);
}

static void what_is_wrong_is_said_with_what_is_allowed(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part, *also;
    } table[] = {
        {"reserv=1", "has no parameter \"reserv\"; did you mean \"reserve\"?", "slots, poison"},
        {"zzz=1", "has no parameter \"zzz\"; parameters: reserve", "threads"},
        {"reserve", "\"reserve\" is not of the form NAME=VALUE", ""},
        {"=3", "\"=3\" is not of the form", ""},
        {"reserve=64:", "\"\" is not of the form", ""},
        {":", "\"\" is not of the form", ""},
        {"reserve=8", "slab:reserve: \"8\": must be from 16 to 1048580KiB", ""},
        {"reserve=2GiB", "must be from 16 to 1048580KiB", ""},
        {"reserve=-1", "slab:reserve: \"-1\"", ""},
        {"reserve=", "slab:reserve: \"\"", ""},
        {"reserve=5 parsecs", "expected a size", ""},
        {"slots=0", "must be from 1 to 1025", ""},
        {"slots=99999999999999999999999999", "slots", ""},
        {"poison=maybe", "must be on or off", ""},
        {"threads=shared", "did you mean \"sharded\"? allowed: mutex, sharded, local", ""},
        {"slots=1:slots=2", "slots is given twice", ""},
        {"threads=\033[31m", "\\x1b", ""},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        uint64_t v[AB_PARAMS_MAX] = {77};
        struct ab_err err;
        assert_int_equal(ab_params_parse(&backend, table[i].text, v, &err), AB_USAGE);
        if (strstr(err.text, table[i].part) == NULL || strstr(err.text, table[i].also) == NULL)
            fail_msg("%s: \"%s\" does not say \"%s\"", table[i].text, err.text, table[i].part);
        assert_int_equal(v[0], 77);
    }
}

static void a_setting_that_counts_only_beside_another_is_refused_alone(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *says; /* NULL = fine */
    } table[] = {
        {"slab", "shards=4",
         "slab:shards: has no effect with threads=auto, only with "
         "threads=sharded"},
        {"slab", "threads=mutex:shards=4", "with threads=mutex"},
        {"slab", "shards=4:threads=sharded", NULL},
        {"slab", "threads=mutex:shards=0", NULL},
        {"pool", "shards=2", "pool:shards: has no effect"},
        {"paged", "form=pool:block=64KiB", "paged:block: has no effect with form=pool"},
        {"paged", "block=64KiB", NULL},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        uint64_t v[AB_PARAMS_MAX] = {77};
        struct ab_err err = {0};
        enum ab_status status = ab_params_parse(ab_builtin_find(table[i].name), table[i].text, v,
                                                &err);
        assert_int_equal(status, table[i].says == NULL ? AB_OK : AB_USAGE);
        if (table[i].says != NULL && strstr(err.text, table[i].says) == NULL)
            fail_msg("\"%s\" lacks \"%s\"", err.text, table[i].says);
    }
}

static void a_back_end_without_parameters_says_so(void **state)
{
    (void)state;
    uint64_t v[AB_PARAMS_MAX];
    struct ab_err err;
    assert_int_equal(ab_params_parse(&bare, "x=1", v, &err), AB_USAGE);
    assert_string_equal(err.text, "bare takes no parameters, but got \"x\"");
}

static void overlong_text_is_refused(void **state)
{
    (void)state;
    static char text[100000];
    uint64_t v[AB_PARAMS_MAX];
    memset(text, 'x', sizeof text - 1);
    assert_int_equal(ab_params_parse(&backend, text, v, NULL), AB_USAGE);
    text[1000] = 0;
    assert_int_equal(ab_params_parse(&backend, text, v, NULL), AB_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_text_every_value_is_its_default),
        cmocka_unit_test(values_are_read_by_their_type),
        cmocka_unit_test(what_is_wrong_is_said_with_what_is_allowed),
        cmocka_unit_test(a_setting_that_counts_only_beside_another_is_refused_alone),
        cmocka_unit_test(a_back_end_without_parameters_says_so),
        cmocka_unit_test(overlong_text_is_refused),
    };
    return cmocka_run_group_tests_name("params", tests, NULL, NULL);
}
