/* SPDX-License-Identifier: MIT
 *
 * Requests that are filled from the options of a command line.
 */
#include "cli/commands.h"
#include "cli/options_parse.h"
#include "cli/requests.h"
#include "cli/show.h"
#include "support/cmocka.h"

#include <string.h>

static struct ab_options parse(enum ab_command_id command, int argc, const char *const *words)
{
    struct ab_options o;
    struct ab_err err;
    if (ab_options_parse(command, argc, (char **)(uintptr_t)words, &o, &err) != AB_OK)
        fail_msg("%s", err.text);
    return o;
}

static void each_part_reaches_the_request(void **state)
{
    (void)state;
    const char *words[] = {"run",        "-b",       "glibc",  "--rounds", "7",      "--seed", "9",
                           "--gate",     "x < 1",    "--json", "r.json",   "--cpus", "1",      "-q",
                           "--no-store", "--resume", "p.json", "--set",    "n=1",    "w.yaml"};
    struct ab_options o = parse(AB_COMMAND_RUN, sizeof words / sizeof words[0], words);
    const struct ab_measure_request r = ab_measure_request_of(&o);
    assert_int_equal(r.n_args, 1);
    assert_string_equal(r.args[0], "w.yaml");
    assert_string_equal(r.backends.names[0], "glibc");
    assert_int_equal(r.rules.rounds, 7);
    assert_true(r.rules.has_rounds);
    assert_int_equal(r.settings.seed, 9);
    assert_string_equal(r.settings.sets[0], "n=1");
    assert_string_equal(r.verdicts.gates[0], "x < 1");
    assert_string_equal(r.outputs.sinks[AB_SINK_JSON], "r.json");
    assert_int_equal(r.conditions.n_cpus, 1);
    assert_true(r.talk.is_quiet);
    assert_true(r.store.is_off);
    assert_string_equal(r.resume.path, "p.json");
    assert_null(r.take);
    assert_ptr_equal(r.show, ab_show_measured);
    assert_ptr_equal(r.user, &o);
    ab_options_fini(&o);
}

static void defaults_reach_the_request(void **state)
{
    (void)state;
    const char *words[] = {"replay", "app.abt"};
    struct ab_options o = parse(AB_COMMAND_REPLAY, 2, words);
    const struct ab_measure_request r = ab_measure_request_of(&o);
    assert_int_equal(r.rules.rounds, AB_ROUNDS_DEFAULT);
    assert_false(r.rules.has_rounds);
    assert_int_equal(r.replay.touch, AB_TOUCH_PAGE);
    assert_int_equal(r.replay.recorded, AB_RECORDED_AUTO);
    assert_int_equal(r.conditions.drain_ns, 100000000);
    assert_false(r.is_trial);
    assert_int_equal(r.most_events, 0);
    ab_options_fini(&o);
}

static void the_arguments_are_what_is_read(void **state)
{
    (void)state;
    const char *words[] = {"merge", "a.json", "b.json"};
    struct ab_options o = parse(AB_COMMAND_MERGE, 3, words);
    const struct ab_inputs inputs = ab_inputs_of(&o);
    assert_int_equal(inputs.n, 2);
    assert_string_equal(inputs.files[1], "b.json");
    assert_int_equal(inputs.n_rules, 0);
    ab_options_fini(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_reaches_the_request),
        cmocka_unit_test(defaults_reach_the_request),
        cmocka_unit_test(the_arguments_are_what_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
