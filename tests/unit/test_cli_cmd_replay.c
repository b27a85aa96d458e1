/* SPDX-License-Identifier: MIT
 *
 * What of a replay of several traces needs no replay: the worst exit code, and names of outputs.
 * tests: cmd_replay.c outputs.c
 */
#include "app/outputs.h"
#include "cli/cmd_replay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void the_worst_is_not_the_largest(void **state)
{
    (void)state;
    static const int from_best[] = {0, 5, 1, 2, 3, 4};
    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < 6; k++)
            assert_int_equal(ab_replay_worse(from_best[i], from_best[k]), from_best[i > k ? i : k]);
}

static const char *name_of(const char *output, const char *trace)
{
    static char name[256];
    struct ab_trace_outputs named = {.options = {0}};
    struct ab_options o = {.args = &trace, .n_args = 1};
    o.sinks[AB_SINK_JSON] = output;
    ab_trace_outputs_name(&o, &named);
    strcpy(name, named.options.sinks[AB_SINK_JSON]);
    ab_trace_outputs_fini(&named);
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
    assert_string_equal(name_of("{trac}{trace}%s", "a%d.abt"), "{trac}a%d%s");
}

static void several_traces_need_names_of_their_own(void **state)
{
    (void)state;
    const char *traces[] = {"a/app.abt", "b.abt", "c/app"};
    struct ab_options o = {.args = traces, .n_args = 2};
    struct ab_err err;
    assert_int_equal(ab_trace_outputs_check(&o, &err), AB_OK);
    o.sinks[AB_SINK_CSV] = "x.csv";
    assert_int_equal(ab_trace_outputs_check(&o, &err), AB_USAGE);
    assert_non_null(strstr(err.text, "--csv x.csv: 2 traces, and one name"));
    o.sinks[AB_SINK_CSV] = "{trace}.csv";
    assert_int_equal(ab_trace_outputs_check(&o, &err), AB_OK);
    o.n_args = 3; /* app twice */
    assert_int_equal(ab_trace_outputs_check(&o, &err), AB_USAGE);
    assert_non_null(strstr(err.text, "{trace} is the same for a/app.abt and c/app"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worst_is_not_the_largest),
        cmocka_unit_test(the_place_of_the_trace_gets_its_file_name),
        cmocka_unit_test(several_traces_need_names_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
