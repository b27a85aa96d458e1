/* SPDX-License-Identifier: MIT
 *
 * Implements `explain`: prints a word of the glossary, or the list of all words.
 */
#include "cli/commands.h"
#include "cli/document.h"
#include "cli/options_help.h"
#include "core/text.h"
#include "explain/explain.h"

#include <string.h>

enum { LABEL_COLUMNS = 15 };

static const char *const directions[] = {
    [AB_FIELD_LOWER] = "lower is better",
    [AB_FIELD_HIGHER] = "higher is better",
    [AB_FIELD_NEITHER] = "",
};

/* ---- output as text ---- */

static void print_part(const char *label, const char *text)
{
    if (text[0] == 0)
        return;
    printf("  %s", label);
    ab_paragraph_print(stdout, text, LABEL_COLUMNS, 2 + ab_paragraph_columns(label));
}

static void print_number(const struct ab_explanation *e)
{
    char text[400];
    if (e->number[0] == 0)
        return;
    snprintf(text, sizeof text, "%s, in %s%s%s%s%s", e->number, e->unit,
             directions[e->better][0] != 0 ? ", " : "", directions[e->better],
             e->number_is[0] != 0 ? ": " : "", e->number_is);
    print_part("number", text);
}

static void print_explanation(const struct ab_explanation *e)
{
    printf("%s\n  ", e->word);
    ab_paragraph_print(stdout, e->what, 2, 2);
    putchar('\n');
    print_part("formula", e->formula);
    print_number(e);
    print_part("what to do", e->todo);
    print_part("see", e->see);
    print_part("also called", e->synonyms);
}

static void print_list(void)
{
    struct ab_explanation e;
    for (int group = 0; group < AB_EXPLAIN_GROUP_COUNT; group++) {
        struct ab_text words = {0};
        for (size_t i = 0; ab_explain_at(i, &e); i++)
            if (e.group == (enum ab_explain_group)group)
                ab_text_addf(&words, "%s%s", words.n > 0 ? ", " : "", e.word);
        printf("%s\n  ", ab_explain_group_titles[group]);
        ab_paragraph_print(stdout, words.s, 2, 2);
        ab_text_fini(&words);
    }
    puts("\nallocbench explain WORD explains one of them.");
}

/* ---- output as JSON ---- */

#define TEXT(member) AB_TEXT(#member, struct ab_explanation, member)

static const struct ab_member word_members[] = {
    TEXT(word),
    AB_NAME("group", struct ab_explanation, group, AB_EXPLAIN_GROUP_COUNT,
            .names = ab_explain_group_titles),
    AB_EACH(TEXT, synonyms, what, formula, todo, see, number, unit, number_is),
};
AB_TABLE(word, struct ab_explanation);

/* Creates the document of one word, or of all words if `one` is NULL. */
static json_t *document_of(const struct ab_explanation *one)
{
    struct ab_explanation e;
    json_t *words = json_array();
    for (size_t i = 0; one == NULL && ab_explain_at(i, &e); i++)
        ab_json_append(words, ab_record_json(&word_record, &e, NULL));
    if (one != NULL)
        ab_json_append(words, ab_record_json(&word_record, one, NULL));
    return ab_document_list("allocbench-explain/1", "words", words);
}

/* ---- the command ---- */

static enum ab_status find_word(const struct ab_options *o, struct ab_explanation *out,
                                struct ab_err *err)
{
    char near[80];
    struct ab_text word = {0};
    for (size_t i = 0; i < o->n_args; i++)
        ab_text_addf(&word, "%s%s", i > 0 ? " " : "", o->args[i]);
    enum ab_status status = AB_OK;
    const char *given = word.s != NULL ? word.s : "";
    if (!ab_explain_find(given, out))
        status = ab_explain_nearest(given, near, sizeof near) != NULL
                     ? ab_fail(err, AB_USAGE, "explain: unknown word \"%s\"; did you mean \"%s\"?",
                               AB_SHOWN(128, given), near)
                     : ab_fail(err, AB_USAGE,
                               "explain: unknown word \"%s\"; allocbench explain lists all words",
                               AB_SHOWN(128, given));
    ab_text_fini(&word);
    return status;
}

enum ab_status ab_cmd_explain(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_explanation e;
    bool is_one = o->n_args > 0;
    (void)exit_code;
    if (is_one)
        AB_TRY(find_word(o, &e, err));
    AB_TRY(ab_document_write(o, document_of(is_one ? &e : NULL), 0, err));
    if (!ab_document_leaves_stdout(o))
        return AB_OK;
    if (is_one)
        print_explanation(&e);
    else
        print_list();
    return AB_OK;
}
