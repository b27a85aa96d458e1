/* SPDX-License-Identifier: MIT
 *
 * The table of options as text: --help of a command and of the whole tool.
 */
#include "cli/options/options_help.h"

#include "cli/options/option_table.h"

#include <string.h>

enum { HELP_COLUMN = 27 };

const char ab_options_exit_codes[] =
    "  0  ok                        3  unreadable or corrupt input\n"
    "  1  a gate failed, or was     4  a back end asked for by name is missing, crashed,\n"
    "     not evaluated                timed out or failed a check; or a system error\n"
    "  2  bad command line or     130, 143  interrupted\n"
    "     workload\n"
    "record passes on the exit status of the command; its own failures are 125 to 127.\n";

/* Columns on the screen: bytes that begin a character. */
static int columns(const char *text)
{
    int n = 0;
    for (; *text != 0; text++)
        n += (*text & 0xc0) != 0x80;
    return n;
}

/* What is too long for its column has a line of its own. */
static void print_option(FILE *to, const struct ab_option_info *o)
{
    char left[64];
    int n = o->letter != 0 ? snprintf(left, sizeof left, "  -%c, --%s", o->letter, o->name)
                           : snprintf(left, sizeof left, "      --%s", o->name);
    if (o->arg != NULL)
        snprintf(left + n, sizeof left - (size_t)n, " %s", o->arg);
    bool is_long = columns(left) >= HELP_COLUMN;
    fprintf(to, "%s%s%*s", left, is_long ? "\n" : "",
            is_long ? HELP_COLUMN : HELP_COLUMN - columns(left), "");
    for (const char *s = o->help; *s != 0; s++) {
        fputc(*s, to);
        if (*s == '\n')
            fprintf(to, "%*s", HELP_COLUMN, "");
    }
    fputc('\n', to);
}

void ab_options_print_help(FILE *to, enum ab_command_id command)
{
    const struct ab_command *c = &ab_commands[command];
    const char *group = NULL;
    fprintf(to, "usage: allocbench %s %s\n\n%s\n\nExamples:\n%s", c->name, c->synopsis, c->summary,
            c->examples);
    const struct ab_option_info *o;
    for (size_t i = 0; (o = ab_options_info(i)) != NULL; i++) {
        if (!ab_options_has(o, command))
            continue;
        if (group == NULL || strcmp(group, o->group) != 0)
            fprintf(to, "\n%s:\n", group = o->group);
        print_option(to, o);
    }
}

void ab_options_print_overview(FILE *to)
{
    fputs("usage: allocbench COMMAND …\n\n"
          "Which memory allocator, and which allocation strategy, is right for this program?\n\n"
          "Examples:\n"
          "  allocbench run configs/quickstart.yaml\n"
          "  allocbench record -o app.abt -- ./app --its-options\n"
          "  allocbench replay app.abt -b glibc,jemalloc,arena\n\n"
          "Commands:\n",
          to);
    int widest = 0, name = 0;
    for (size_t i = 0; i < AB_COMMAND_COUNT; i++)
        name = columns(ab_commands[i].name) > name ? columns(ab_commands[i].name) : name;
    for (size_t i = 0; i < AB_COMMAND_COUNT; i++)
        if (columns(ab_commands[i].synopsis) > widest)
            widest = columns(ab_commands[i].synopsis);
    for (size_t i = 0; i < AB_COMMAND_COUNT; i++)
        fprintf(to, "  %-*s %s%*s  %s\n", name, ab_commands[i].name, ab_commands[i].synopsis,
                widest - columns(ab_commands[i].synopsis), "", ab_commands[i].summary);
    fputs("\n"
          "Run allocbench COMMAND --help for its options, allocbench --version for this build.\n"
          "\n"
          "Exit codes:\n",
          to);
    fputs(ab_options_exit_codes, to);
}
