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

struct number { /* of results or of memory records */
    const char *name, *unit, *doc;
    enum ab_field_better better;
    enum ab_explain_group group;
};

static enum ab_explain_group group_of(const struct ab_field *field)
{
    return field->group == AB_FIELD_ALL       ? AB_EXPLAIN_TIME
           : field->group == AB_FIELD_PROGRAM ? AB_EXPLAIN_PROGRAM
           : field->group == AB_FIELD_INSIDE  ? AB_EXPLAIN_PROGRAM
                                              : AB_EXPLAIN_LATENCY;
}

/* Walks the numbers of both tables, those of results first; false past the end. */
static bool number_at(size_t i, struct number *out)
{
    if (i < ab_field_count) {
        const struct ab_field *f = &ab_fields[i];
        *out = (struct number){f->name, f->unit, f->doc, f->better, group_of(f)};
    } else if (i < ab_field_count + ab_memory_field_count) {
        const struct ab_number_field *m = &ab_memory_fields[i - ab_field_count];
        *out = (struct number){m->name, m->unit, m->doc, m->better, AB_EXPLAIN_MEMORY};
    }
    return i < ab_field_count + ab_memory_field_count;
}

/* A row with what the tables of numbers say of it. */
static void complete(struct ab_explanation *e)
{
    struct number n;
    size_t i = 0;
    while (number_at(i, &n) && !is_spelled(e, n.name))
        i++;
    if (i == ab_field_count + ab_memory_field_count)
        return;
    e->number = n.name;
    e->unit = n.unit;
    e->better = n.better;
    *(e->what[0] == 0 ? &e->what : &e->number_is) = n.doc;
}

/* Is the i-th number explained by a row, or by a number of results that has the same name? */
static bool is_explained(size_t i, const char *name)
{
    for (size_t k = 0; k < AB_ARRAY_LEN(rows); k++)
        if (is_spelled(&rows[k], name))
            return true;
    for (size_t k = 0; i >= ab_field_count && k < ab_field_count; k++)
        if (strcmp(ab_fields[k].name, name) == 0)
            return true;
    return false;
}

bool ab_explain_at(size_t i, struct ab_explanation *out)
{
    struct number n;
    if (i < AB_ARRAY_LEN(rows)) {
        *out = rows[i];
        complete(out);
        return true;
    }
    i -= AB_ARRAY_LEN(rows);
    for (size_t k = 0; number_at(k, &n); k++)
        if (!is_explained(k, n.name) && i-- == 0) {
            *out = (struct ab_explanation){.group = n.group,
                                           .word = n.name,
                                           .synonyms = "",
                                           .what = "",
                                           .formula = "",
                                           .todo = "",
                                           .see = "results/README.md",
                                           .number_is = ""};
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
    char own[SPELLING_BYTES];
    size_t n = 0, length;
    for (size_t i = 0; ab_explain_at(i, &e); i++)
        for (size_t k = 0; (s = spelling(&e, k, &length)) != NULL && n < SPELLINGS_MAX; k++) {
            snprintf(spelled[n], SPELLING_BYTES, "%.*s", (int)length, s);
            names[n] = spelled[n];
            n++;
        }
    snprintf(own, sizeof own, "%s", word);
    const char *near = ab_text_nearest(own, names, n);
    if (near != NULL)
        snprintf(buf, cap, "%s", near);
    return near != NULL ? buf : NULL;
}
