/* SPDX-License-Identifier: MIT
 *
 * Prints the table of options as --help, for a command and for the whole tool.
 */
#include "cli/options_help.h"

#include "cli/option_table.h"
#include "cli/trace.h"

#include <string.h>

enum { HELP_COLUMN = 25 };

const char ab_options_exit_codes[] =
    "  0  ok\n"
    "  1  a gate failed or was not evaluated, or a comparison found a regression\n"
    "  2  bad command line or workload, or the results are of different work\n"
    "  3  the input is unreadable, altered or incomplete\n"
    "  4  a back end that was named is missing, crashed, timed out or failed a check,\n"
    "     or a system error occurred\n"
    "  5  a verdict is inconclusive, with --inconclusive=fail\n"
    "  130, 143  interrupted\n"
    "record exits with the status of the command; its own failures are 125 to 127.\n";

/* Prints one option. If the option's name is too long for its column, its text begins on the next
 * line. `word` is the label of a help text that applies only to this subcommand of `trace`; the
 * label is not printed. */
static void print_option(FILE *to, const struct ab_option_info *o, const char *word, bool is_all)
{
    char left[64];
    int n = o->letter != 0 ? snprintf(left, sizeof left, "  -%c, --%s", o->letter, o->name)
                           : snprintf(left, sizeof left, "      --%s", o->name);
    if (o->arg != NULL)
        snprintf(left + n, sizeof left - (size_t)n, " %s", o->arg);
    bool is_long = ab_paragraph_columns(left) >= HELP_COLUMN;
    fprintf(to, "%s%s", left, is_long ? "\n" : "");
    size_t n_label = word != NULL ? strlen(word) : 0;
    bool has_label = word != NULL && strncmp(o->help, word, n_label) == 0 &&
                     strncmp(o->help + n_label, ": ", 2) == 0;
    ab_paragraph_print(to, has_label ? o->help + n_label + 2 : o->help, HELP_COLUMN,
                       is_long ? 0 : ab_paragraph_columns(left));
    if (is_all && o->more != NULL)
        ab_paragraph_print(to, o->more, HELP_COLUMN, 0);
}

/* Prints the group `group` of the options of a command. If `word` is not NULL, prints only the
 * options of this subcommand of `trace`. */
static void print_group(FILE *to, enum ab_command_id command, const char *word, const char *group,
                        bool is_all)
{
    const struct ab_option_info *o;
    bool is_first = true;
    for (size_t i = 0; (o = ab_options_info(i)) != NULL; i++) {
        if (!ab_options_has(o, command) || strcmp(o->group, group) != 0 ||
            (!is_all && ab_options_is_rare(o, command)) ||
            (word != NULL && !ab_trace_command_takes(word, o->name)))
            continue;
        if (is_first)
            fprintf(to, "\n%s:\n", group);
        is_first = false;
        print_option(to, o, word, is_all);
    }
}

static size_t count_rare(enum ab_command_id command, const char *word)
{
    const struct ab_option_info *o;
    size_t n = 0;
    for (size_t i = 0; (o = ab_options_info(i)) != NULL; i++)
        n += ab_options_has(o, command) && ab_options_is_rare(o, command) &&
             (word == NULL || ab_trace_command_takes(word, o->name));
    return n;
}

static const char *next_line(const char *s)
{
    s += strcspn(s, "\n");
    return *s != 0 ? s + 1 : s;
}

/* Prints the parts of `text` (examples and subcommands of `trace`) about one subcommand: its
 * synopsis, its description up to the next synopsis, and its examples. */
static void print_trace_command(FILE *to, const char *text, const char *word)
{
    enum { INDENT = 2 };
    char own[64], example[64];
    size_t n = (size_t)snprintf(own, sizeof own, "  %s ", word);
    size_t n_example = (size_t)snprintf(example, sizeof example, "  allocbench trace %s ", word);
    const char *s = text, *rest;
    while (*s != 0) {
        if (strncmp(s, own, n) != 0) {
            s = next_line(s);
            continue;
        }
        for (rest = s + INDENT; *rest != '\n' && strncmp(rest, "  ", 2) != 0;)
            rest++;
        fprintf(to, "usage: allocbench trace %.*s [OPTIONS]\n\n", (int)(rest - s - INDENT),
                s + INDENT);
        for (s = *rest == '\n' ? rest + 1 : rest; strspn(s, " ") > INDENT; s = next_line(s)) {
            size_t blanks = strspn(s, " ");
            fprintf(to, "%.*s\n", (int)strcspn(s + blanks, "\n"), s + blanks);
        }
        fputc('\n', to);
    }
    fputs("Examples:\n", to);
    for (s = text; *s != 0; s = next_line(s))
        if (strncmp(s, example, n_example) == 0)
            fprintf(to, "%.*s\n", (int)strcspn(s, "\n"), s);
}

void ab_options_print_help(FILE *to, enum ab_command_id command, const char *word, bool is_all)
{
    const struct ab_command *c = &ab_commands[command];
    bool is_trace = command == AB_COMMAND_TRACE;
    word = is_trace && word != NULL && ab_trace_command_takes(word, "help") ? word : NULL;
    size_t n_rare = count_rare(command, word);
    if (word != NULL)
        print_trace_command(to, c->examples, word);
    else
        fprintf(to, "usage: allocbench %s %s\n\n%s\n\nExamples:\n%s", c->name, c->synopsis,
                c->summary, c->examples);
    if (is_trace && word == NULL && !is_all) {
        fputs("\nTo see the options of one command: allocbench trace COMMAND --help\n"
              "To see all options: allocbench trace --help-all\n",
              to);
        return;
    }
    for (size_t i = 0; ab_option_groups[i] != NULL; i++)
        print_group(to, command, word, ab_option_groups[i], is_all);
    if (!is_all && n_rare > 0)
        fprintf(to, "\n%zu more option%s: allocbench %s%s%s --help-all\n", n_rare,
                n_rare == 1 ? "" : "s", c->name, word != NULL ? " " : "", word != NULL ? word : "");
}

void ab_options_print_overview(FILE *to)
{
    fputs("usage: allocbench COMMAND …\n\n"
          "Which memory allocator, and which allocation strategy, is right for this\n"
          "program?\n\n"
          "Examples:\n"
          "  allocbench run @quickstart\n"
          "  allocbench record -o app.abt -- ./app --its-options\n"
          "  allocbench replay app.abt -b glibc,jemalloc,arena\n\n"
          "Commands:\n",
          to);
    int widest = 0;
    for (size_t i = 0; i < AB_COMMAND_COUNT; i++)
        if (ab_paragraph_columns(ab_commands[i].name) > widest)
            widest = ab_paragraph_columns(ab_commands[i].name);
    for (size_t i = 0; i < AB_COMMAND_COUNT; i++)
        fprintf(to, "  %-*s  %s\n", widest, ab_commands[i].name, ab_commands[i].summary);
    fputs("\n"
          "allocbench help COMMAND shows the usual options of a command, and allocbench\n"
          "COMMAND --help-all shows all of them. allocbench explain WORD explains a word,\n"
          "allocbench version describes this build. Manual pages: allocbench --man\n"
          "allocbench-run | man -l - (make install installs them). Documentation:\n"
          "share/doc/allocbench, or docs/ in the source tree.\n"
          "\n"
          "Exit codes:\n",
          to);
    fputs(ab_options_exit_codes, to);
}

/* Returns the number of columns that the first n bytes of UTF-8 text take. */

static int columns_of(const char *text, size_t n)
{
    int columns = 0;
    for (size_t i = 0; i < n; i++)
        columns += (text[i] & 0xc0) != 0x80; /* counts bytes that begin a character */
    return columns;
}

int ab_paragraph_columns(const char *text)
{
    return columns_of(text, strlen(text));
}

/* Returns the length of the next word in bytes. Text in single quotes is one word, including its
 * blanks, because users copy it. */
static size_t word_length(const char *text)
{
    enum { QUOTED_MAX = 50 };
    const char *end = text[0] == '\'' ? strchr(text + 1, '\'') : NULL;
    size_t quoted = end != NULL ? (size_t)(end - text) + 1 : 0;
    if (quoted > QUOTED_MAX || memchr(text, '\n', quoted) != NULL)
        quoted = 0;
    return quoted + strcspn(text + quoted, " \n");
}

/* Begins a line in column `indent`. */
static void begin_line(FILE *to, int indent)
{
    fprintf(to, "\n%*s", indent, "");
}

void ab_paragraph_print(FILE *to, const char *text, int indent, int at)
{
    fprintf(to, "%*s", at < indent ? indent - at : 0, "");
    for (int column = at < indent ? indent : at; *text != 0;) {
        if (*text == '\n' && text[1] == ' ') { /* this line is printed unchanged */
            size_t n = strcspn(++text, "\n");
            begin_line(to, indent);
            fprintf(to, "%.*s", (int)n, text);
            text += n;
            column = AB_HELP_WIDTH; /* the following text begins a new line */
            continue;
        }
        text += *text == '\n' || *text == ' ';
        size_t n = word_length(text);
        int wide = columns_of(text, n);
        if (wide == 0)
            continue;
        if (column > indent && column + 1 + wide > AB_HELP_WIDTH) {
            begin_line(to, indent);
            column = indent;
        } else if (column > indent) {
            fputc(' ', to);
            column++;
        }
        fprintf(to, "%.*s", (int)n, text);
        column += wide;
        text += n;
    }
    fputc('\n', to);
}
