/* SPDX-License-Identifier: MIT */
#include "cli/commands.h"
#include "cli/option_table.h"
#include "cli/options_parse.h"
#include "support/cmocka.h"

#include <stdlib.h>
#include <string.h>

static enum ab_status parse(enum ab_command_id command, const char *const *words,
                            struct ab_options *o, struct ab_err *err)
{
    char *argv[16] = {(char *)"x"};
    int argc = 1;
    for (; words[argc - 1] != NULL; argc++)
        argv[argc] = (char *)words[argc - 1];
    return ab_options_parse(command, argc, argv, o, err);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void values_come_in_all_the_usual_ways(void **state)
{
    (void)state;
    struct ab_options o;
    struct ab_err err;
    assert_int_equal(
        parse(AB_COMMAND_RUN,
              WORDS("-b", "glibc", "-bjemalloc", "--backend=arena", "--rounds", "7", "--seed=9",
                    "w.yaml", "--mem-limit=2GiB", "--timeout", "1500ms", "-q"),
              &o, &err),
        AB_OK);
    assert_int_equal(o.backends.n, 3);
    assert_string_equal(o.backends.names[1], "jemalloc");
    assert_string_equal(o.backends.names[2], "arena");
    assert_int_equal(o.rules.rounds, 7);
    assert_true(o.settings.has_seed && o.settings.seed == 9);
    assert_int_equal(o.n_args, 1);
    assert_string_equal(o.args[0], "w.yaml");
    assert_int_equal(o.conditions.mem_limit_bytes, UINT64_C(2) << 30);
    assert_int_equal(o.conditions.timeout_ns, 1500000000);
    assert_true(o.talk.is_quiet);
    ab_options_fini(&o);
}

static void defaults_are_those_of_the_help(void **state)
{
    (void)state;
    struct ab_options o;
    struct ab_err err;
    assert_int_equal(parse(AB_COMMAND_REPLAY, WORDS("t.abt"), &o, &err), AB_OK);
    assert_int_equal(o.rules.rounds, 10);
    assert_int_equal(o.replay.touch, AB_TOUCH_PAGE);
    assert_int_equal(o.color, AB_COLOR_AUTO);
    assert_null(o.outputs.sinks[AB_SINK_JSON]);
    ab_options_fini(&o);
    assert_int_equal(parse(AB_COMMAND_EXEC, WORDS("./app"), &o, &err), AB_OK);
    assert_int_equal(o.server.rest_ns, UINT64_C(10000000000));
    assert_int_equal(o.server.ready_timeout_ns, UINT64_C(30000000000));
    ab_options_fini(&o);
}

static void an_option_needs_those_it_depends_on(void **state)
{
    (void)state;
    static const struct {
        enum ab_command_id command;
        const char *words[5], *why; /* NULL = accepted */
    } rows[] = {
        {AB_COMMAND_EXEC, {"--rest", "0", "x"}, "--rest requires --server"},
        {AB_COMMAND_EXEC, {"--rest=0", "--server", "x"}, NULL},
        {AB_COMMAND_EXEC, {"--rest", "0", "--help"}, NULL},
        {AB_COMMAND_EXEC,
         {"--sites", "x", "--inside"},
         "--sites requires --inside or --trace: it shows where the timed calls come from"},
        {AB_COMMAND_EXEC, {"--trace", "t.abt", "--sites", "x"}, NULL},
        {AB_COMMAND_RUN, {"--strict", "--limit", "5%"}, "--strict requires --baseline NAME|FILE"},
        {AB_COMMAND_RUN, {"--jointly"}, "--jointly requires --limit or --baseline NAME|FILE"},
        {AB_COMMAND_RUN, {"--jointly", "--limit", "5%"}, NULL},
        {AB_COMMAND_COMPARE, {"--strict", "--jointly", "a", "b"}, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ab_options o;
        struct ab_err err = {.text = ""};
        enum ab_status status = parse(rows[i].command, rows[i].words, &o, &err);
        assert_int_equal(status, rows[i].why == NULL ? AB_OK : AB_USAGE);
        if (rows[i].why != NULL)
            assert_string_equal(err.text, rows[i].why);
        else
            ab_options_fini(&o);
    }
}

static void the_words_of_a_recorded_command_are_its_own(void **state)
{
    (void)state;
    struct ab_options o;
    struct ab_err err;
    assert_int_equal(
        parse(AB_COMMAND_RECORD, WORDS("-o", "t.abt", "--", "ls", "-o", "--help"), &o, &err),
        AB_OK);
    assert_string_equal(o.output, "t.abt");
    assert_int_equal(o.n_args, 3);
    assert_string_equal(o.args[2], "--help");
    assert_false(o.wants_help);
    ab_options_fini(&o);
    assert_int_equal(parse(AB_COMMAND_RECORD, WORDS("ls", "-o", "x"), &o, &err), AB_OK);
    assert_int_equal(o.n_args, 3);
    ab_options_fini(&o);
}

static void mistakes_name_what_is_right(void **state)
{
    (void)state;
    static const struct {
        enum ab_command_id command;
        const char *words[4];
        const char *says;
    } cases[] = {
        {AB_COMMAND_RUN, {"--round=3"}, "did you mean --rounds?"},
        {AB_COMMAND_RUN, {"--output=3"}, "unknown option --output"},
        {AB_COMMAND_RUN, {"-x"}, "unknown option -x"},
        {AB_COMMAND_RUN, {"--rounds"}, "--rounds needs a value"},
        {AB_COMMAND_RUN, {"--rounds=0"}, "must be at least 1"},
        {AB_COMMAND_RUN, {"--rounds=1001"}, "must be from 1 to 1000"},
        {AB_COMMAND_RUN, {"--rounds=1e1x"}, "unknown unit"},
        {AB_COMMAND_RUN, {"--rounds=-1"}, "must not be negative"},
        {AB_COMMAND_RUN, {"--timeout=5"}, "needs a unit"},
        {AB_COMMAND_VERIFY, {"--timeout=1ns"}, "at least 10ms"},
        {AB_COMMAND_RUN, {"--window=1048577"}, "must be at most 1048576"},
        {AB_COMMAND_RUN, {"--drain=11s"}, "must be at most 10s"},
        {AB_COMMAND_REPLAY, {"--threads=0"}, "must be at least 1"},
        {AB_COMMAND_REPLAY, {"--threads=257"}, "must be from 1 to 256, or 'recorded'"},
        {AB_COMMAND_REPLAY, {"--burst=255"}, "must be 0, or from 256 to 2^30"},
        {AB_COMMAND_REPLAY, {"--tape-mem=1B"}, "must be at least 64KiB"},
        {AB_COMMAND_RUN, {"--mem-limit=1XB"}, "unknown unit"},
        {AB_COMMAND_RUN, {"--cpus=a"}, "a list of CPUs"},
        {AB_COMMAND_RUN, {"--cpus=3-1"}, "a list of CPUs"},
        {AB_COMMAND_RUN, {"--cpus=1,"}, "a list of CPUs"},
        {AB_COMMAND_RUN, {"--pace=0x"}, "a speed from 1x (real time) to 1000x"},
        {AB_COMMAND_RUN, {"--pace=10"}, "a speed from 1x (real time) to 1000x"},
        {AB_COMMAND_RUN, {"--pace=1.5x"}, "a speed from 1x (real time) to 1000x"},
        {AB_COMMAND_RUN, {"--color=alwys"}, "did you mean always?"},
        {AB_COMMAND_RUN, {"--quiet=1"}, "takes no value"},
        {AB_COMMAND_REPLAY, {"--touch=pages"}, "did you mean page?"},
        {AB_COMMAND_REPLAY, {"--touch=first"}, "give the number of bytes"},
        {AB_COMMAND_REPLAY, {"--touch=0%"}, "more than 0%"},
        {AB_COMMAND_REPLAY, {"--touch=100.1%"}, "at most 100%"},
        {AB_COMMAND_REPLAY, {"--touch=N%"}, "as in 5%"},
        {AB_COMMAND_REPLAY, {"--touch=record"}, "did you mean recorded?"},
        {AB_COMMAND_REPLAY, {"--touch=first(0)"}, "must be from 1 to"},
        {AB_COMMAND_REPLAY, {"--touch=first(x)"}, "not a number"},
        {AB_COMMAND_TRACE, {"--events=5"}, "expected a range of events"},
        {AB_COMMAND_TRACE, {"--events=.."}, "expected a range of events"},
        {AB_COMMAND_TRACE, {"--events=7..7"}, "must be greater"},
        {AB_COMMAND_TRACE, {"--events=1..x"}, "not a number"},
        {AB_COMMAND_TRACE, {"--live=dorp"}, "did you mean drop?"},
        {AB_COMMAND_REPLAY, {"--set=a=1"}, "unknown option --set"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ab_options o;
        struct ab_err err = {0};
        assert_int_equal(parse(cases[i].command, cases[i].words, &o, &err), AB_USAGE);
        if (strstr(err.text, cases[i].says) == NULL)
            fail_msg("%s: \"%s\" lacks \"%s\"", cases[i].words[0], err.text, cases[i].says);
    }
}

static void words_and_numbers_go_where_their_rows_say(void **state)
{
    (void)state;
    struct ab_options o;
    struct ab_err err;
    assert_int_equal(parse(AB_COMMAND_REPLAY,
                           WORDS("--order=strict", "--thp=never", "--color=never", "--burst=0",
                                 "--threads=recorded", "--reps=5", "--window=9", "--drain=0",
                                 "--csv-hist=h.csv"),
                           &o, &err),
                     AB_OK);
    assert_true(o.conditions.is_strict && o.conditions.is_thp_off);
    assert_int_equal(o.color, AB_COLOR_NEVER);
    assert_true(o.replay.has_burst && o.conditions.has_window && o.rules.has_rounds &&
                !o.settings.has_seed);
    assert_int_equal(o.replay.burst_events, 0);
    assert_int_equal(o.replay.n_lanes, 0);
    assert_int_equal(o.rules.rounds, 5);
    assert_int_equal(o.conditions.window, 9);
    assert_int_equal(o.conditions.drain_ns, 0);
    assert_string_equal(o.outputs.sinks[AB_SINK_CSV_HIST], "h.csv");
    ab_options_fini(&o);
}

static void touches_and_cpus_are_read(void **state)
{
    (void)state;
    struct ab_options o;
    struct ab_err err;
    assert_int_equal(
        parse(AB_COMMAND_REPLAY, WORDS("--touch", "first(4KiB)", "--cpus=0,2-4"), &o, &err), AB_OK);
    assert_int_equal(o.replay.touch, AB_TOUCH_FIRST);
    assert_int_equal(o.replay.touch_bytes, 4096);
    assert_int_equal(o.conditions.n_cpus, 4);
    assert_int_equal(o.conditions.cpus[3], 4);
    ab_options_fini(&o);
}

static void a_range_of_events_may_be_open(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t first, end;
    } cases[] = {{"5..9", 5, 9}, {"..2k", 0, 2000}, {"1M..", 1000000, UINT64_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ab_options o;
        struct ab_err err;
        assert_int_equal(
            parse(AB_COMMAND_TRACE, WORDS("dump", "--events", cases[i].text), &o, &err), AB_OK);
        assert_true(o.filter.has_events);
        assert_int_equal(o.filter.first_event, cases[i].first);
        assert_int_equal(o.filter.end_event, cases[i].end);
        ab_options_fini(&o);
    }
}

/* What the help of a command says must be true of it. */
static void help_speaks_of_its_own_command_only(void **state)
{
    (void)state;
    static const struct {
        enum ab_command_id command;
        const char *never;
    } cases[] = {
        {AB_COMMAND_RUN, "verify:"},         {AB_COMMAND_RUN, "list:"},
        {AB_COMMAND_REPLAY, "verify:"},      {AB_COMMAND_REPLAY, "'run/"},
        {AB_COMMAND_REPLAY, "workload's"},   {AB_COMMAND_TRACE, "record:"},
        {AB_COMMAND_LIST, "latency"},        {AB_COMMAND_VERIFY, "list:"},
        {AB_COMMAND_RECORD, "progress, no"},
    };
    const struct ab_option_info *info;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (size_t k = 0; (info = ab_options_info(k)) != NULL; k++)
            if ((info->commands >> cases[i].command & 1) != 0 &&
                strstr(info->help, cases[i].never) != NULL)
                fail_msg("--%s of %s: \"%s\"", info->name, ab_commands[cases[i].command].name,
                         info->help);
}

static void the_table_is_sound(void **state)
{
    (void)state;
    const struct ab_option_info *a, *b;
    for (size_t i = 0; (a = ab_options_info(i)) != NULL; i++) {
        assert_non_null(a->name);
        assert_non_null(a->help);
        assert_non_null(a->group);
        assert_true(a->commands != 0);
        assert_true(strlen(a->help) > 5);
        for (size_t j = 0; j < i; j++) {
            b = ab_options_info(j);
            if ((a->commands & b->commands) == 0) { /* one row for each command, no two for one */
                assert_true(strcmp(a->name, b->name) != 0 || a->letter == b->letter);
                continue;
            }
            assert_string_not_equal(a->name, b->name);
            assert_true(a->letter == 0 || a->letter != b->letter);
        }
    }
    for (size_t i = 0; i < AB_COMMAND_COUNT; i++)
        assert_true(ab_commands[i].run != NULL && ab_commands[i].examples != NULL);
}

/* A value has a place in struct ab_options that it fits, and an error has words. */
static void each_row_says_where_its_value_goes(void **state)
{
    (void)state;
    const struct ab_option_info *a;
    for (size_t i = 0; (a = ab_options_info(i)) != NULL; i++) {
        assert_true((a->type == AB_OPTION_FLAG) == (a->arg == NULL));
        assert_true((a->type == AB_OPTION_SPECIAL) == (a->read != NULL));
        assert_true(a->at + a->size <= sizeof(struct ab_options));
        if (a->type == AB_OPTION_TEXT || a->type == AB_OPTION_LIST)
            assert_int_equal(a->size, sizeof(const char *));
        if (a->type == AB_OPTION_FLAG)
            assert_int_equal(a->size, sizeof(bool));
        if (a->type == AB_OPTION_WORD)
            assert_non_null(a->words);
        if (a->type != AB_OPTION_NUMBER)
            continue;
        assert_true(a->size == sizeof(uint64_t) || a->max <= UINT32_MAX);
        assert_true(a->range != NULL || (a->min <= 1 && a->max == UINT64_MAX));
    }
}

static void each_form_of_a_result_has_an_option(void **state)
{
    (void)state;
    static const enum ab_command_id writers[] = {AB_COMMAND_RUN, AB_COMMAND_REPLAY,
                                                 AB_COMMAND_REPORT};
    for (unsigned i = 0; i < AB_SINK_COUNT; i++)
        for (size_t k = 0; k < sizeof writers / sizeof writers[0]; k++) {
            const struct ab_option_info *info = ab_options_find(writers[k], ab_sinks[i].option);
            assert_non_null(info);
            assert_int_equal(info->at, ab_sinks[i].is_of_lines
                                           ? offsetof(struct ab_options, outputs.wants_lines[i])
                                           : offsetof(struct ab_options, outputs.sinks[i]));
            assert_int_equal((ab_sinks[i].write != NULL) + (ab_sinks[i].write_histogram != NULL) +
                                 (ab_sinks[i].write_figures != NULL),
                             1);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_in_all_the_usual_ways),
        cmocka_unit_test(an_option_needs_those_it_depends_on),
        cmocka_unit_test(defaults_are_those_of_the_help),
        cmocka_unit_test(the_words_of_a_recorded_command_are_its_own),
        cmocka_unit_test(mistakes_name_what_is_right),
        cmocka_unit_test(words_and_numbers_go_where_their_rows_say),
        cmocka_unit_test(touches_and_cpus_are_read),
        cmocka_unit_test(a_range_of_events_may_be_open),
        cmocka_unit_test(help_speaks_of_its_own_command_only),
        cmocka_unit_test(the_table_is_sound),
        cmocka_unit_test(each_row_says_where_its_value_goes),
        cmocka_unit_test(each_form_of_a_result_has_an_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
