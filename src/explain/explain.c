/* SPDX-License-Identifier: MIT
 *
 * The table of explain.def joined with those of the numbers: a number that no row spells is an
 * explanation of its own.
 */
#include "explain/explain.h"

#include "base/bits.h"
#include "base/nearest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const char *const ab_explain_group_titles[AB_EXPLAIN_GROUP_COUNT] = {
#define AB_EXPLAIN_GROUP(id, title) [AB_EXPLAIN_##id] = title,
    AB_EXPLAIN_GROUPS(AB_EXPLAIN_GROUP)
#undef AB_EXPLAIN_GROUP
};

static const struct ab_explanation rows[] = {
#define AB_EXPLAIN(group_id, word_text, synonym_text, what_text, formula_text, todo_text, \
                   see_text) \
    {.group = AB_EXPLAIN_##group_id, \
     .word = word_text, \
     .synonyms = synonym_text, \
     .what = what_text, \
     .formula = formula_text, \
     .todo = todo_text, \
     .see = see_text, \
     .number = "", \
     .unit = "", \
     .number_is = ""},
#include "explain/explain.def"
#undef AB_EXPLAIN
};

enum { SPELLING_BYTES = 64, SPELLINGS_MAX = 1024 };

/* ---- spelling ---- */

static char folded(char c)
{
    return c == '_' || c == '-' ? ' ' : (char)tolower((unsigned char)c);
}

static bool is_same(const char *a, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++)
        if (word[i] == 0 || folded(a[i]) != folded(word[i]))
            return false;
    return word[n] == 0;
}

/* The i-th spelling of a row: its word, then its synonyms. NULL past the last. */
static const char *spelling(const struct ab_explanation *e, size_t i, size_t *n)
{
    const char *s = i == 0 ? e->word : e->synonyms;
    for (size_t k = 1; k < i && s != NULL; k++)
        s = (s = strstr(s, ", ")) != NULL ? s + 2 : NULL;
    if (s == NULL || s[0] == 0)
        return NULL;
    const char *end = i == 0 ? NULL : strstr(s, ", ");
    *n = end != NULL ? (size_t)(end - s) : strlen(s);
    return s;
}

static bool is_spelled(const struct ab_explanation *e, const char *word)
{
    const char *s;
    size_t n;
    for (size_t i = 0; (s = spelling(e, i, &n)) != NULL; i++)
        if (is_same(s, n, word))
            return true;
    return false;
}

/* ---- numbers ---- */

static enum ab_explain_group group_of(const struct ab_field *field)
{
    switch (field->group) {
    case AB_FIELD_ALL:
        return AB_EXPLAIN_TIME;
    case AB_FIELD_PROGRAM:
        return AB_EXPLAIN_PROGRAM;
    default:
        return AB_EXPLAIN_LATENCY;
    }
}

/* The number that has no meaning here yet. */
static void set_number(struct ab_explanation *e, const char *name, const char *unit,
                       const char *doc, enum ab_field_better better)
{
    e->number = name;
    e->unit = unit;
    e->better = better;
    if (e->what[0] == 0)
        e->what = doc;
    else
        e->number_is = doc;
}

/* A row with what the tables of numbers say of it. */
static void complete(struct ab_explanation *e)
{
    for (size_t i = 0; i < ab_field_count; i++)
        if (is_spelled(e, ab_fields[i].name)) {
            set_number(e, ab_fields[i].name, ab_fields[i].unit, ab_fields[i].doc,
                       ab_fields[i].better);
            return;
        }
    for (size_t i = 0; i < ab_memory_field_count; i++)
        if (is_spelled(e, ab_memory_fields[i].name)) {
            set_number(e, ab_memory_fields[i].name, ab_memory_fields[i].unit,
                       ab_memory_fields[i].doc, ab_memory_fields[i].better);
            return;
        }
}

/* Does a row spell it? Of two numbers with one name that of results is meant. */
static bool has_row(const char *number)
{
    for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++)
        if (is_spelled(&rows[i], number))
            return true;
    return false;
}

static bool is_field(const char *number)
{
    for (size_t i = 0; i < ab_field_count; i++)
        if (strcmp(ab_fields[i].name, number) == 0)
            return true;
    return false;
}

static struct ab_explanation bare(enum ab_explain_group group, const char *number)
{
    return (struct ab_explanation){.group = group,
                                   .word = number,
                                   .synonyms = "",
                                   .what = "",
                                   .formula = "",
                                   .todo = "",
                                   .see = "results/README.md",
                                   .number_is = ""};
}

bool ab_explain_at(size_t i, struct ab_explanation *out)
{
    if (i < AB_ARRAY_LEN(rows)) {
        *out = rows[i];
        complete(out);
        return true;
    }
    i -= AB_ARRAY_LEN(rows);
    for (size_t k = 0; k < ab_field_count; k++)
        if (!has_row(ab_fields[k].name) && i-- == 0) {
            *out = bare(group_of(&ab_fields[k]), ab_fields[k].name);
            complete(out);
            return true;
        }
    for (size_t k = 0; k < ab_memory_field_count; k++)
        if (!has_row(ab_memory_fields[k].name) && !is_field(ab_memory_fields[k].name) && i-- == 0) {
            *out = bare(AB_EXPLAIN_MEMORY, ab_memory_fields[k].name);
            complete(out);
            return true;
        }
    return false;
}

bool ab_explain_find(const char *word, struct ab_explanation *out)
{
    word += word[0] == '@'; /* as it is typed: @last */
    for (size_t i = 0; ab_explain_at(i, out); i++)
        if (is_spelled(out, word))
            return true;
    return false;
}

const char *ab_explain_nearest(const char *word, char *buf, size_t cap)
{
    static char spelled[SPELLINGS_MAX][SPELLING_BYTES];
    const char *names[SPELLINGS_MAX], *s;
    struct ab_explanation e;
    char low[SPELLING_BYTES];
    size_t n = 0, length;
    for (size_t i = 0; ab_explain_at(i, &e); i++)
        for (size_t k = 0; (s = spelling(&e, k, &length)) != NULL && n < SPELLINGS_MAX; k++) {
            snprintf(spelled[n], SPELLING_BYTES, "%.*s", (int)length, s);
            names[n] = spelled[n];
            n++;
        }
    snprintf(low, sizeof low, "%s", word);
    const char *near = ab_text_nearest(low, names, n);
    if (near != NULL)
        snprintf(buf, cap, "%s", near);
    return near != NULL ? buf : NULL;
}
