/* SPDX-License-Identifier: MIT
 *
 * Implements `allocbench --man [PAGE]`, with which the Makefile makes the manual pages that `make
 * install` installs.
 */
#include "cli/manual.h"

#include "base/nearest.h"
#include "cli/option_table.h"
#include "cli/options_help.h"
#include "core/text.h"
#include "explain/explain.h"

#include <ctype.h>
#include <string.h>

/* ---- troff ---- */

/* Writes text with troff's special characters escaped, so that no line becomes a request and no
 * minus becomes a hyphen. Keeps blanks at the beginning of a line. */
static void put_text(FILE *to, const char *text)
{
    bool is_line_begin = true;
    for (; *text != 0; text++) {
        if (is_line_begin && (*text == '.' || *text == '\''))
            fputs("\\&", to);
        is_line_begin = *text == '\n';
        if (*text == '\\')
            fputs("\\e", to);
        else if (*text == '-')
            fputs("\\-", to);
        else if (*text == '~')
            fputs("\\(ti", to);
        else if (*text == '^')
            fputs("\\(ha", to);
        else if (*text == '`')
            fputs("\\(ga", to);
        else if (*text == '\'')
            fputs("\\(aq", to);
        /* some output devices of troff lack this character */
        else if (strncmp(text, "…", strlen("…")) == 0) {
            fputs("...", to);
            text += strlen("…") - 1;
        } else
            fputc(*text, to);
    }
}

/* Writes one line. */
static void put_line(FILE *to, const char *text)
{
    put_text(to, text);
    if (text[0] == 0 || text[strlen(text) - 1] != '\n')
        fputc('\n', to);
}

/* Writes a paragraph, in source lines short enough for checkers of manual pages. */
static void put_paragraph(FILE *to, const char *text)
{
    enum { WORDS_BYTES = 60 };
    char line[400] = "";
    while (*text != 0) {
        size_t n = strcspn(text, " \n");
        char word[256];
        snprintf(word, sizeof word, "%.*s", (int)n, text);
        if (line[0] != 0 && strlen(line) + 1 + n > WORDS_BYTES) {
            put_line(to, line);
            line[0] = 0;
        }
        if (n > 0)
            ab_text_join(line, sizeof line, " ", word);
        text += n + (text[n] != 0);
    }
    if (line[0] != 0)
        put_line(to, line);
}

/* Writes lines unchanged; empty lines become vertical space. */
static void put_kept(FILE *to, const char *text)
{
    fputs(".nf\n", to);
    while (*text != 0) {
        size_t n = strcspn(text, "\n");
        char line[256];
        snprintf(line, sizeof line, "%.*s", (int)n, text);
        if (n == 0)
            fputs(".sp\n", to);
        else
            put_line(to, line);
        text += n + (text[n] == '\n');
    }
    fputs(".fi\n", to);
}

static void put_title(FILE *to, const char *name, int section, const char *kind)
{
    fputs(".TH ", to);
    for (const char *s = name; *s != 0; s++)
        fputc(toupper((unsigned char)*s), to);
    fprintf(to, " %d \"" AB_RELEASED "\" \"allocbench " AB_VERSION "\" \"%s\"\n.SH NAME\n", section,
            kind);
}

/* ---- options ---- */

static void put_option(FILE *to, const struct ab_option_info *o)
{
    fputs(".TP\n", to);
    if (o->letter != 0)
        fprintf(to, "\\fB\\-%c\\fR, ", o->letter);
    fputs("\\fB\\-\\-", to);
    put_text(to, o->name);
    fputs("\\fR", to);
    if (o->arg != NULL) {
        fputs(" \\fI", to);
        put_text(to, o->arg);
        fputs("\\fR", to);
    }
    fputc('\n', to);
    put_paragraph(to, o->help);
    if (o->more != NULL) {
        size_t n = strcspn(o->more, "\n");
        char first[160];
        snprintf(first, sizeof first, "%.*s", (int)n, o->more);
        fputs(".br\n", to);
        put_line(to, first);
        put_kept(to, o->more[n] == '\n' ? o->more + n + 1 : o->more + n);
    }
}

static void put_options(FILE *to, enum ab_command_id id)
{
    const struct ab_option_info *o;
    fputs(".SH OPTIONS\n", to);
    for (size_t g = 0; ab_option_groups[g] != NULL; g++) {
        bool is_first = true;
        for (size_t i = 0; (o = ab_options_info(i)) != NULL; i++) {
            if (!ab_options_has(o, id) || strcmp(o->group, ab_option_groups[g]) != 0)
                continue;
            if (is_first)
                fprintf(to, ".SS %s\n", o->group);
            is_first = false;
            put_option(to, o);
        }
    }
}

/* ---- pages ---- */

static const char other_pages[] = ".BR allocbench\\-workload (5),\n.BR allocbench\\-trace (5),\n"
                                  ".BR allocbench\\-allocators (7),\n"
                                  ".BR allocbench\\-glossary (7)\n";

static void put_exit_status(FILE *to)
{
    fputs(".SH EXIT STATUS\n", to);
    put_kept(to, ab_options_exit_codes);
}

/* Writes the section of examples. In the table, text after an empty line describes the command
 * further. This text is written before the examples. */
static void put_examples(FILE *to, const char *examples)
{
    char text[4096];
    const char *more = strstr(examples, "\n\n");
    size_t n = more != NULL ? (size_t)(more - examples) + 1 : strlen(examples);
    if (more != NULL) {
        fputs(".PP\n", to);
        put_kept(to, more + 2);
    }
    snprintf(text, sizeof text, "%.*s", (int)n, examples);
    fputs(".SH EXAMPLES\n", to);
    put_kept(to, text);
}

static void put_command(FILE *to, enum ab_command_id id)
{
    const struct ab_command *c = &ab_commands[id];
    char name[64];
    snprintf(name, sizeof name, "allocbench-%s", c->name);
    put_title(to, name, 1, "User Commands");
    fprintf(to, "allocbench\\-%s \\- ", c->name);
    put_paragraph(to, c->summary);
    fprintf(to, ".SH SYNOPSIS\n\\fBallocbench %s\\fR ", c->name);
    put_line(to, c->synopsis);
    fputs(".SH DESCRIPTION\n", to);
    put_paragraph(to, c->summary);
    put_examples(to, c->examples);
    put_options(to, id);
    put_exit_status(to);
    fprintf(to, ".SH SEE ALSO\n.BR allocbench (1),\n%s", other_pages);
}

static void put_see_also(FILE *to)
{
    fputs(".SH SEE ALSO\n", to);
    for (unsigned i = 0; i < AB_COMMAND_COUNT; i++)
        fprintf(to, ".BR allocbench\\-%s (1),\n", ab_commands[i].name);
    fputs(other_pages, to);
}

static void put_overview(FILE *to)
{
    put_title(to, "allocbench", 1, "User Commands");
    fputs("allocbench \\- record, replay and measure memory allocators\n.SH SYNOPSIS\n", to);
    for (unsigned i = 0; i < AB_COMMAND_COUNT; i++) {
        fprintf(to, "%s\\fBallocbench %s\\fR ", i > 0 ? ".br\n" : "", ab_commands[i].name);
        put_line(to, ab_commands[i].synopsis);
    }
    fputs(".SH DESCRIPTION\n"
          "Which memory allocator, and which allocation strategy, is right for a program?\n"
          "Each command has a page of its own; \\fBallocbench explain\\fR explains a word.\n"
          ".SH COMMANDS\n",
          to);
    for (unsigned i = 0; i < AB_COMMAND_COUNT; i++) {
        fprintf(to, ".TP\n\\fB%s\\fR\n", ab_commands[i].name);
        put_line(to, ab_commands[i].summary);
    }
    put_exit_status(to);
    fputs(".SH ENVIRONMENT\n"
          ".TP\n"
          "\\fBALLOCBENCH_RESULTS\\fR\n"
          "folder in which results are stored; if it is empty, nothing is stored\n"
          ".TP\n"
          "\\fBNO_COLOR\\fR\n"
          "if it is set, output has no colors\n",
          to);
    put_see_also(to);
}

/* ---- words ---- */

static void put_word(FILE *to, const struct ab_explanation *e)
{
    fputs(".TP\n\\fB", to);
    put_text(to, e->word);
    fputs("\\fR", to);
    if (e->synonyms[0] != 0) {
        fputs(" (", to);
        put_text(to, e->synonyms);
        fputs(")", to);
    }
    fputc('\n', to);
    put_paragraph(to, e->what);
    if (e->formula[0] != 0) {
        fputs(".br\nFormula: ", to);
        put_paragraph(to, e->formula);
    }
    if (e->todo[0] != 0) {
        fputs(".br\n", to);
        put_paragraph(to, e->todo);
    }
}

static void put_glossary(FILE *to)
{
    struct ab_explanation e;
    put_title(to, "allocbench-glossary", 7, "Miscellaneous");
    fputs("allocbench\\-glossary \\- the words of allocbench\n.SH DESCRIPTION\n"
          "\\fBallocbench explain\\fR \\fIWORD\\fR shows one of them.\n",
          to);
    for (int group = 0; group < AB_EXPLAIN_GROUP_COUNT; group++) {
        fprintf(to, ".SS %s\n", ab_explain_group_titles[group]);
        for (size_t i = 0; ab_explain_at(i, &e); i++)
            if (e.group == (enum ab_explain_group)group)
                put_word(to, &e);
    }
    fputs(".SH SEE ALSO\n.BR allocbench (1)\n", to);
}

enum ab_status ab_manual_print(FILE *to, const char *page, struct ab_err *err)
{
    const char *names[AB_COMMAND_COUNT + 1] = {[AB_COMMAND_COUNT] = "glossary"};
    if (page == NULL) {
        put_overview(to);
        return AB_OK;
    }
    for (int i = 0; i < AB_COMMAND_COUNT; i++)
        if (strcmp(names[i] = ab_commands[i].name, page) == 0) {
            put_command(to, (enum ab_command_id)i);
            return AB_OK;
        }
    if (strcmp(page, "glossary") == 0) {
        put_glossary(to);
        return AB_OK;
    }
    const char *near = ab_text_nearest(page, names, AB_COMMAND_COUNT + 1);
    return ab_fail(err, AB_USAGE, "--man: no page \"%s\"; %s%s", AB_SHOWN(128, page),
                   near != NULL ? "did you mean "
                                : "there are pages for the commands and for the "
                                  "glossary",
                   near != NULL ? near : "");
}
