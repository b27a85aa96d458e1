/* SPDX-License-Identifier: MIT
 *
 * -v with and without topics, and the word behind it that is none.
 * tests: topic_words.c
 */
#include "answer/topic_words.h"
#include "cli/commands.h"
#include "cli/options_parse.h"

#include "support/cmocka.h"

#include <string.h>

static enum ab_status parse(struct ab_options *o, struct ab_err *err, char *first, char *second,
                            char *third)
{
    char command[] = "report", *argv[] = {command, first, second, third, NULL};
    int argc = 1 + (first != NULL) + (second != NULL) + (third != NULL);
    return ab_options_parse(AB_COMMAND_REPORT, argc, argv, o, err);
}

static void expect(char *first, char *second, unsigned topics, const char *phase, size_t n_args)
{
    struct ab_options o;
    struct ab_err err;
    char file[] = "r.json";
    assert_int_equal(parse(&o, &err, first, second, second != NULL ? file : NULL), AB_OK);
    assert_int_equal(o.passes.topics, topics);
    assert_true((o.outputs.phase == NULL) == (phase == NULL));
    if (phase != NULL)
        assert_string_equal(o.outputs.phase, phase);
    assert_int_equal(o.n_args, n_args);
    ab_options_fini(&o);
}

static void topics_are_taken_and_files_are_not(void **state)
{
    (void)state;
    char v[] = "-v", size[] = "size", two[] = "size,worst", phase[] = "phase=a,b",
         other[] = "x.json", mixed[] = "time,phase=a", attached[] = "-vmemory",
         equals[] = "--verbose=all";
    expect(v, NULL, ab_topic_words_up_to(AB_LEVEL_USUAL), NULL, 0);
    expect(v, size, AB_TOPIC_SIZE, NULL, 1);
    expect(v, two, AB_TOPIC_SIZE | AB_TOPIC_WORST, NULL, 1);
    expect(v, phase, ab_topic_words_up_to(AB_LEVEL_RARE), "a,b", 1);
    expect(v, mixed, AB_TOPIC_TIME, "a", 1);
    expect(v, other, ab_topic_words_up_to(AB_LEVEL_USUAL), NULL, 2);
    expect(attached, NULL, AB_TOPIC_MEMORY, NULL, 0);
    expect(equals, NULL, ab_topic_words_up_to(AB_LEVEL_RARE), NULL, 0);
}

static void what_is_none_is_named(void **state)
{
    (void)state;
    struct ab_options o;
    struct ab_err err;
    char sizes[] = "--verbose=sizes", empty[] = "--verbose=phase=", listed[] = "-vtime,wurst";
    assert_int_equal(parse(&o, &err, sizes, NULL, NULL), AB_USAGE);
    assert_non_null(strstr(err.text, "did you mean size?"));
    assert_int_equal(parse(&o, &err, empty, NULL, NULL), AB_USAGE);
    assert_int_equal(parse(&o, &err, listed, NULL, NULL), AB_USAGE);
    assert_non_null(strstr(err.text, "wurst: one of time, size, worst"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(topics_are_taken_and_files_are_not),
        cmocka_unit_test(what_is_none_is_named),
    };
    return cmocka_run_group_tests_name("option_topic", tests, NULL, NULL);
}
