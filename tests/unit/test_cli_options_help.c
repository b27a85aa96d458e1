/* SPDX-License-Identifier: MIT */
#include "cli/option_table.h"
#include "cli/options_help.h"
#include "cli/trace.h"
#include "support/cmocka.h"

#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 50, TEXT_COLUMN = 25 };

static char *help_about(unsigned command, const char *word, bool is_all)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    if (command == AB_COMMAND_COUNT)
        ab_options_print_overview(to);
    else
        ab_options_print_help(to, (enum ab_command_id)command, word, is_all);
    fclose(to);
    return text;
}

static char *help_of(unsigned command, bool is_all)
{
    return help_about(command, NULL, is_all);
}

static void no_line_is_wider_than_a_terminal(void **state)
{
    (void)state;
    for (unsigned command = 0; command <= AB_COMMAND_COUNT; command++)
        for (int is_all = 0; is_all < 2; is_all++) {
            char *text = help_of(command, is_all != 0), *rest = NULL;
            for (char *line = strtok_r(text, "\n", &rest); line != NULL;
                 line = strtok_r(NULL, "\n", &rest))
                if (ab_paragraph_columns(line) > AB_HELP_WIDTH)
                    fail_msg("%d columns: %s", ab_paragraph_columns(line), line);
            free(text);
        }
}

/* Has the help a line that begins with this option? */
static bool has_option(const char *text, const char *name)
{
    char with_letter[80], without[80];
    snprintf(without, sizeof without, "\n      --%s", name);
    snprintf(with_letter, sizeof with_letter, ", --%s", name);
    size_t n = strlen(without), k = strlen(with_letter);
    for (const char *s = text; (s = strstr(s, without)) != NULL; s++)
        if (s[n] == ' ' || s[n] == '\n')
            return true;
    for (const char *s = text; (s = strstr(s, with_letter)) != NULL; s++)
        if (s[k] == ' ' || s[k] == '\n')
            return true;
    return false;
}

static void all_options_are_in_the_long_help_and_the_usual_ones_in_the_short_one(void **state)
{
    (void)state;
    const struct ab_option_info *o;
    for (unsigned command = 0; command < AB_COMMAND_COUNT; command++) {
        char *all = help_of(command, true), *usual = help_of(command, false);
        size_t n_rare = 0;
        for (size_t i = 0; (o = ab_options_info(i)) != NULL; i++) {
            if (!ab_options_has(o, (enum ab_command_id)command))
                continue;
            bool is_rare = command == AB_COMMAND_TRACE || /* has them by its own commands */
                           ab_options_is_rare(o, (enum ab_command_id)command);
            if (!has_option(all, o->name) || has_option(usual, o->name) == is_rare)
                fail_msg("%s --%s", ab_commands[command].name, o->name);
            n_rare += is_rare;
        }
        assert_true((strstr(usual, " --help-all\n") == NULL) == (n_rare == 0));
        free(all);
        free(usual);
    }
}

static size_t count_lines(const char *text)
{
    size_t n = 0;
    for (; *text != 0; text++)
        n += *text == '\n';
    return n;
}

static void the_usual_help_is_one_screen(void **state)
{
    (void)state;
    for (unsigned command = 0; command < AB_COMMAND_COUNT; command++) {
        char *text = help_of(command, false);
        if (count_lines(text) > LINES_MAX)
            fail_msg("%s: %zu lines", ab_commands[command].name, count_lines(text));
        free(text);
    }
}

static void a_command_of_trace_has_its_own_lines_alone(void **state)
{
    (void)state;
    const char *name;
    for (size_t i = 0; (name = ab_trace_command_name(i)) != NULL; i++) {
        char usage[64], *text = help_about(AB_COMMAND_TRACE, name, false);
        snprintf(usage, sizeof usage, "usage: allocbench trace %s ", name);
        assert_memory_equal(text, usage, strlen(usage));
        assert_true(count_lines(text) < LINES_MAX);
        assert_int_equal(has_option(text, "site"), strcmp(name, "filter") == 0);
        assert_int_equal(has_option(text, "sites"), strcmp(name, "info") == 0);
        assert_true(has_option(text, "quiet"));
        assert_int_equal(strstr(text, "recording that stopped early") != NULL,
                         strcmp(name, "recover") == 0);
        free(text);
    }
    char *whole = help_of(AB_COMMAND_TRACE, false);
    char *unknown = help_about(AB_COMMAND_TRACE, "inof", false);
    assert_string_equal(unknown, whole);
    free(unknown);
    free(whole);
}

static size_t place_of(const char *group)
{
    for (size_t i = 0; ab_option_groups[i] != NULL; i++)
        if (strcmp(ab_option_groups[i], group) == 0)
            return i;
    fail_msg("\"%s\" is no group", group);
    return 0;
}

/* What to measure, how long, …, output; and each heading once. */
static void groups_are_in_order(void **state)
{
    (void)state;
    const struct ab_option_info *o;
    for (size_t i = 0; (o = ab_options_info(i)) != NULL; i++)
        place_of(o->group);
    for (unsigned command = 0; command < AB_COMMAND_COUNT; command++) {
        char *text = help_of(command, true);
        const char *last = text;
        for (size_t i = 0; ab_option_groups[i] != NULL; i++) {
            char heading[64];
            snprintf(heading, sizeof heading, "\n\n%s:\n", ab_option_groups[i]);
            const char *at = strstr(text, heading);
            if (at == NULL)
                continue;
            assert_true(at >= last);
            assert_null(strstr(at + 1, heading));
            last = at;
        }
        assert_ptr_not_equal(last, text);
        free(text);
    }
}

/* What an option does stands in one column, also where its name is too long for its own. */
static void texts_stand_in_their_column(void **state)
{
    (void)state;
    size_t n_options = 0;
    for (unsigned command = 0; command < AB_COMMAND_COUNT; command++) {
        char *text = help_of(command, true), *rest = NULL;
        for (char *line = strtok_r(text, "\n", &rest); line != NULL;
             line = strtok_r(NULL, "\n", &rest)) {
            if (strncmp(line, "      --", 8) != 0 && strncmp(line, "  -", 3) != 0)
                continue;
            n_options++;
            if (strlen(line) > TEXT_COLUMN + 6) /* else a name on a line of its own */
                assert_true(line[TEXT_COLUMN - 1] == ' ' && line[TEXT_COLUMN] != ' ');
        }
        free(text);
    }
    assert_true(n_options > 100);
}

/* "verify: …" in the help of run: a text that was meant for another command. */
static void no_text_is_that_of_another_command(void **state)
{
    (void)state;
    const struct ab_option_info *o;
    for (size_t i = 0; (o = ab_options_info(i)) != NULL; i++)
        for (unsigned command = 0; command < AB_COMMAND_COUNT; command++) {
            char label[40];
            snprintf(label, sizeof label, "%s:", ab_commands[command].name);
            bool is_its_own = ab_options_has(o, AB_COMMAND_TRACE) &&
                              (command == AB_COMMAND_CHECK || command == AB_COMMAND_RECORD ||
                               command == AB_COMMAND_MERGE);
            if (!is_its_own && strncmp(o->help, label, strlen(label)) == 0)
                fail_msg("--%s: %s", o->name, o->help);
        }
}

static void each_command_has_examples(void **state)
{
    (void)state;
    for (unsigned command = 0; command < AB_COMMAND_COUNT; command++) {
        char begin[64];
        const char *text = ab_commands[command].examples;
        size_t n = 0;
        snprintf(begin, sizeof begin, "  allocbench %s", ab_commands[command].name);
        for (const char *s = text; (s = strstr(s, begin)) != NULL; s++)
            n += s == text || s[-1] == '\n';
        if (n < 2)
            fail_msg("%s has %zu examples", ab_commands[command].name, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_line_is_wider_than_a_terminal),
        cmocka_unit_test(all_options_are_in_the_long_help_and_the_usual_ones_in_the_short_one),
        cmocka_unit_test(the_usual_help_is_one_screen),
        cmocka_unit_test(a_command_of_trace_has_its_own_lines_alone),
        cmocka_unit_test(groups_are_in_order),
        cmocka_unit_test(texts_stand_in_their_column),
        cmocka_unit_test(no_text_is_that_of_another_command),
        cmocka_unit_test(each_command_has_examples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
