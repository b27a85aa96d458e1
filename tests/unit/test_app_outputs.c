/* SPDX-License-Identifier: MIT
 *
 * Names of outputs of several traces or workloads.
 * tests: outputs.c
 */
#include "app/outputs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const char *name_of(const char *output, const char *trace)
{
    static char name[256];
    struct ab_named_outputs named = {0};
    const struct ab_outputs_wanted wanted = {.sinks[AB_SINK_JSON] = output};
    ab_named_outputs_make(&wanted, &trace, 1, &named);
    strcpy(name, named.wanted.sinks[AB_SINK_JSON]);
    ab_named_outputs_fini(&named);
    return name;
}

static void the_place_of_the_trace_gets_its_file_name(void **state)
{
    (void)state;
    assert_string_equal(name_of("out/{trace}.json", "a/b.c/app.abt"), "out/app.json");
    assert_string_equal(name_of("{trace}/{trace}", "app"), "app/app");
    assert_string_equal(name_of("plain.json", "app.abt"), "plain.json");
    assert_string_equal(name_of("{trace}.json", ".abt"), ".abt.json");
    assert_string_equal(name_of("{trace}.json", "-"), "stdin.json");
    assert_string_equal(name_of("{workload}-{trace}.csv", "configs/churn.yaml"), "churn-churn.csv");
    assert_string_equal(name_of("{trac}{trace}%s", "a%d.abt"), "{trac}a%d%s");
}

static void several_traces_need_names_of_their_own(void **state)
{
    (void)state;
    const char *traces[] = {"a/app.abt", "b.abt", "c/app"};
    struct ab_outputs_wanted wanted = {.embed = AB_EMBED_MERGED};
    struct ab_err err;
    assert_int_equal(ab_named_outputs_check(&wanted, traces, 2, &err), AB_OK);
    wanted.sinks[AB_SINK_CSV] = "x.csv"; /* one of all together */
    assert_int_equal(ab_named_outputs_check(&wanted, traces, 2, &err), AB_OK);
    wanted.sinks[AB_SINK_CSV] = "{trace}.csv";
    assert_int_equal(ab_named_outputs_check(&wanted, traces, 2, &err), AB_OK);
    assert_int_equal(ab_named_outputs_check(&wanted, traces, 3, &err), AB_USAGE); /* app twice */
    assert_non_null(strstr(err.text, "{trace} is the same for a/app.abt and c/app"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_place_of_the_trace_gets_its_file_name),
        cmocka_unit_test(several_traces_need_names_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
