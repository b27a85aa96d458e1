/* SPDX-License-Identifier: MIT
 *
 * `allocbench --man` and `allocbench --bash-completion`, which the Makefile asks for.
 */
#include "cli/options/manual.h"

#include "cli/options/option_table.h"
#include "cli/options/options_help.h"

#include <ctype.h>
#include <string.h>

/* ---- manual page ---- */

/* Text that means itself: no line of it is a request of troff, no minus a hyphen. */
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
        else
            fputc(*text, to);
    }
}

/* Between requests, as lines of their own. */
static void put_block(FILE *to, const char *begin, const char *text, const char *end)
{
    fprintf(to, "%s\n", begin);
    put_text(to, text);
    fprintf(to, "%s%s\n", text[0] != 0 && text[strlen(text) - 1] == '\n' ? "" : "\n", end);
}

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
    put_text(to, o->help);
    fputs(".\n", to);
}

static void put_command(FILE *to, enum ab_command_id id)
{
    const struct ab_command *c = &ab_commands[id];
    const struct ab_option_info *o;
    const char *group = "";
    fputs(".SH ", to);
    for (const char *s = c->name; *s != 0; s++)
        fputc(toupper((unsigned char)*s), to);
    fprintf(to, "\n\\fBallocbench %s\\fR ", c->name);
    put_text(to, c->synopsis);
    put_block(to, "\n.PP", c->summary, "");
    put_block(to, ".nf", c->examples, ".fi");
    for (size_t i = 0; (o = ab_options_info(i)) != NULL; i++) {
        if (!ab_options_has(o, id))
            continue;
        if (strcmp(group, o->group) != 0)
            fprintf(to, ".SS %s\n", group = o->group);
        put_option(to, o);
    }
}

void ab_manual_print(FILE *to)
{
    fputs(".TH ALLOCBENCH 1 \"\" \"allocbench " AB_VERSION "\" \"User Commands\"\n"
          ".SH NAME\n"
          "allocbench \\- records, replays and measures memory allocators\n"
          ".SH SYNOPSIS\n",
          to);
    for (unsigned i = 0; i < AB_COMMAND_COUNT; i++) {
        fprintf(to, "%s\\fBallocbench %s\\fR ", i > 0 ? ".br\n" : "", ab_commands[i].name);
        put_text(to, ab_commands[i].synopsis);
        fputc('\n', to);
    }
    for (unsigned i = 0; i < AB_COMMAND_COUNT; i++)
        put_command(to, (enum ab_command_id)i);
    put_block(to, ".SH EXIT STATUS\n.nf", ab_options_exit_codes, ".fi");
}

/* ---- completion ---- */

/* Words that an option takes, after it. */
static void put_values(FILE *to, enum ab_command_id id)
{
    const struct ab_option_info *o;
    for (size_t i = 0; (o = ab_options_info(i)) != NULL; i++) {
        if (!ab_options_has(o, id) || o->words == NULL)
            continue;
        fprintf(to, "    '%s --%s') words='", ab_commands[id].name, o->name);
        for (size_t w = 0; o->words[w] != NULL; w++)
            fprintf(to, "%s%s", w > 0 ? " " : "", o->words[w]);
        fputs("' ;;\n", to);
    }
}

static void put_options(FILE *to, enum ab_command_id id)
{
    const struct ab_option_info *o;
    fprintf(to, "    '%s -'*) words='", ab_commands[id].name);
    for (size_t i = 0, n = 0; (o = ab_options_info(i)) != NULL; i++)
        if (ab_options_has(o, id))
            fprintf(to, "%s--%s", n++ > 0 ? " " : "", o->name);
    fputs("' ;;\n", to);
}

/* What is no option is a file, as far as bash is concerned. */
void ab_manual_print_completion(FILE *to)
{
    fputs("# bash completion for allocbench\n"
          "_allocbench()\n"
          "{\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
          "    case \"${COMP_WORDS[1]} $before\" in\n",
          to);
    for (unsigned i = 0; i < AB_COMMAND_COUNT; i++)
        put_values(to, (enum ab_command_id)i);
    fputs("    esac\n"
          "    [ -n \"$words\" ] || case \"${COMP_WORDS[1]} $word\" in\n",
          to);
    for (unsigned i = 0; i < AB_COMMAND_COUNT; i++)
        put_options(to, (enum ab_command_id)i);
    fputs("    esac\n"
          "    [ \"$COMP_CWORD\" -gt 1 ] || words='",
          to);
    for (unsigned i = 0; i < AB_COMMAND_COUNT; i++)
        fprintf(to, "%s ", ab_commands[i].name);
    fputs("--help --version'\n"
          "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
          "}\n"
          "complete -o default -F _allocbench allocbench\n",
          to);
}
