/* SPDX-License-Identifier: MIT
 *
 * Prints the result of `verify`: one row per check, one column per back end. After the tables it
 * prints each failure, call by call, with the command that reproduces it.
 */
#include "report/table/verify_table.h"
#include "base/bits.h"
#include "core/text.h"
#include "report/table/table.h"
#include "result/shown.h"

#include <string.h>

enum { COLUMNS = 6 };

static bool is_verified(const struct ab_verify_backend *b)
{
    return b->info->status == AB_BACKEND_OK;
}

static const struct ab_verify_line *line_of(const struct ab_verify_session *v, uint32_t line)
{
    for (uint32_t i = 0; i < v->n_backends; i++)
        if (is_verified(&v->backends[i]))
            return &v->backends[i].lines[line];
    return NULL;
}

static void format_cell(char cell[AB_CELL_BYTES], const struct ab_verify_line *line)
{
    if (line->verdict == AB_VERIFY_INFO)
        ab_format_label(cell, AB_CELL_BYTES, line->text, 16, true);
    else if (line->verdict == AB_VERIFY_SKIPPED)
        snprintf(cell, AB_CELL_BYTES, "-");
    else if (line->verdict == AB_VERIFY_OK)
        snprintf(cell, AB_CELL_BYTES, "ok");
    else
        snprintf(cell, AB_CELL_BYTES, "%s",
                 line->verdict == AB_VERIFY_FAILED       ? "FAILED"
                 : line->verdict == AB_VERIFY_NOT_PROVEN ? "NOT PROVEN"
                 : line->verdict == AB_VERIFY_CRASHED    ? "CRASHED"
                                                         : "TIMEOUT");
}

/* Adds the rows of either the required checks or the others, for the back ends in `columns`. */
static void add_rows(struct ab_table *t, const struct ab_verify_session *v, bool is_info,
                     const uint32_t *columns)
{
    for (uint32_t k = 0; k < v->n_lines; k++) {
        const struct ab_verify_line *any = line_of(v, k);
        if (any->is_info != is_info)
            continue;
        struct ab_table_row *row = ab_table_add(t, any->check, false);
        for (unsigned i = 0; i < t->n_columns; i++) {
            const struct ab_verify_line *line = &v->backends[columns[i]].lines[k];
            format_cell(row->cells[i], line);
            if (ab_verify_verdict_fails(line->verdict))
                row->emphasis = AB_BAD;
        }
    }
}

static void print_part(FILE *to, const struct ab_verify_session *v, const uint32_t *which,
                       unsigned n, struct ab_table_style style)
{
    struct ab_table_column columns[COLUMNS];
    char names[COLUMNS][AB_CELL_BYTES];
    for (unsigned i = 0; i < n; i++) {
        ab_format_name(names[i], AB_CELL_BYTES, v->backends[which[i]].info->name, 16, style.utf8);
        columns[i] = (struct ab_table_column){names[i], 0};
    }
    for (int is_info = 0; is_info < 2; is_info++) {
        struct ab_table t;
        ab_table_init(&t, columns, n);
        ab_table_add(&t, is_info ? "implementation-defined" : "required", true);
        add_rows(&t, v, is_info, which);
        if (t.n_rows > 1)
            ab_table_print(to, &t, style);
        ab_table_fini(&t);
    }
}

static bool has_skipped(const struct ab_verify_session *v)
{
    for (uint32_t b = 0; b < v->n_backends; b++)
        for (uint32_t k = 0; is_verified(&v->backends[b]) && k < v->n_lines; k++)
            if (v->backends[b].lines[k].verdict == AB_VERIFY_SKIPPED)
                return true;
    return false;
}

/* True if any answer is an alignment, such as "to 16". */
static bool has_alignment(const struct ab_verify_session *v)
{
    for (uint32_t b = 0; b < v->n_backends; b++)
        for (uint32_t k = 0; is_verified(&v->backends[b]) && k < v->n_lines; k++)
            if (v->backends[b].lines[k].verdict == AB_VERIFY_INFO &&
                strncmp(v->backends[b].lines[k].text, "to ", 3) == 0)
                return true;
    return false;
}

/* Explains the words in the tables that ab_alloc(3) does not explain. */
static void print_words(FILE *to, const struct ab_verify_session *v, struct ab_table_style style)
{
    static const struct {
        const char *word, *means;
    } words[] = {{"detected", "the process ended itself"},
                 {"corrupts", "later blocks overlap or are NULL"},
                 {"silent", "nothing was noticed"},
                 {"harmless", "nothing changed, as the back end promises"},
                 {"aborts", "ended the process instead of returning NULL"}};
    struct ab_text text = {0};
    for (size_t i = 0; i < AB_ARRAY_LEN(words); i++) {
        bool is_shown = false;
        for (uint32_t b = 0; b < v->n_backends; b++)
            for (uint32_t k = 0; is_verified(&v->backends[b]) && k < v->n_lines; k++)
                is_shown = is_shown || (v->backends[b].lines[k].verdict == AB_VERIFY_INFO &&
                                        strcmp(v->backends[b].lines[k].text, words[i].word) == 0);
        if (is_shown)
            ab_text_addf(&text, "%s%s: %s", text.n > 0 ? "; " : "", words[i].word, words[i].means);
    }
    if (has_alignment(v))
        ab_text_addf(&text, "%sto 8, to 16: alignment in bytes", text.n > 0 ? "; " : "");
    if (has_skipped(v))
        ab_text_addf(&text, "%s-: skipped, nothing to check (--json says why)",
                     text.n > 0 ? "; " : "");
    ab_table_note(to, style, AB_FAINT, &text);
}

static void print_detail(FILE *to, const char *what, const char *text, struct ab_table_style style)
{
    struct ab_text t = {0};
    if (text == NULL || text[0] == 0)
        return;
    ab_text_addf(&t, "  %s: %s", what, text);
    ab_table_note(to, style, AB_PLAIN, &t);
}

/* Prints a crash. The command stays on one line whatever the width, so that it can be copied. */
static void print_crash(FILE *to, const struct ab_crash_text *c, bool is_call_printed,
                        const char *repeat, struct ab_table_style style)
{
    char shown[4400];
    print_detail(to, "last call", is_call_printed ? NULL : c->call, style);
    print_detail(to, "memory", c->memory, style);
    print_detail(to, "function", c->function, style);
    if (repeat != NULL)
        fprintf(to, "  repeat: %s\n", ab_text_printable(shown, sizeof shown, repeat));
}

/* Returns the first check that failed in the same function in the same way; `k` if there is
 * none. */
static uint32_t first_alike(const struct ab_verify_backend *b, uint32_t k)
{
    const struct ab_verify_line *line = &b->lines[k];
    for (uint32_t i = 0; i < k; i++)
        if (ab_verify_verdict_fails(b->lines[i].verdict) && line->crash.function[0] != 0 &&
            b->lines[i].verdict == line->verdict &&
            strcmp(b->lines[i].crash.function, line->crash.function) == 0)
            return i;
    return k;
}

/* Names the other checks that failed in the same function, so that one cause is reported once. */
static void print_alike(FILE *to, const struct ab_verify_session *v,
                        const struct ab_verify_backend *b, uint32_t k, struct ab_table_style style)
{
    struct ab_text text = {0};
    for (uint32_t i = k + 1; i < v->n_lines; i++)
        if (ab_verify_verdict_fails(b->lines[i].verdict) && first_alike(b, i) == k)
            ab_text_addf(&text, "%s%s", text.n == 0 ? "" : ", ", b->lines[i].check);
    print_detail(to, "the same place", text.s, style);
    ab_text_fini(&text);
}

/* Prints failures, and passed checks with a reservation. */
static void print_remarks(FILE *to, const struct ab_verify_session *v,
                          const struct ab_verify_backend *b, struct ab_table_style style)
{
    char name[300];
    ab_text_printable(name, sizeof name, b->info->name);
    for (uint32_t k = 0; k < v->n_lines; k++) {
        const struct ab_verify_line *line = &b->lines[k];
        struct ab_text text = {0};
        bool is_bad = ab_verify_verdict_fails(line->verdict);
        if ((!is_bad && (line->verdict != AB_VERIFY_OK || line->text[0] == 0)) ||
            (is_bad && first_alike(b, k) != k))
            continue;
        ab_text_addf(&text, "%s: %s: %s", name, line->check, line->text);
        ab_table_note(to, style, is_bad ? AB_BAD : AB_FAINT, &text);
        bool is_in_text = line->verdict != AB_VERIFY_FAILED;
        if (is_bad && line->verdict != AB_VERIFY_NOT_PROVEN)
            print_crash(to, &line->crash, is_in_text, line->repeat, style);
        if (is_bad)
            print_alike(to, v, b, k, style);
    }
}

/* Returns the verdict as a word; those with exit code 4 are in capitals. */
static const char *verdict_word(const struct ab_verify_backend *b)
{
    return b->n_failed == 0                 ? ab_verify_status_name(b)
           : b->n_failed == b->n_not_proven ? "UNPROVEN"
                                            : "NONCONFORMING";
}

static void print_verdict(FILE *to, const struct ab_verify_session *v,
                          const struct ab_verify_backend *b, struct ab_table_style style)
{
    char name[300], line[1600];
    uint32_t n_held = 0, n_skipped = 0;
    ab_text_printable(name, sizeof name, b->info->name);
    if (!is_verified(b)) {
        char reason[1100];
        AB_FIT(line, "%s: not verified: %s: %s", name, ab_backend_status_name(b->info->status),
               ab_text_printable(reason, sizeof reason, b->info->reason));
        ab_table_prose(to, style, AB_BAD, line);
        print_crash(to, &b->crash, true, b->repeat, style);
        return;
    }
    for (uint32_t k = 0; k < v->n_lines; k++) {
        n_held += b->lines[k].verdict == AB_VERIFY_OK;
        n_skipped += !b->lines[k].is_info && b->lines[k].verdict == AB_VERIFY_SKIPPED;
    }
    char not_proven[48] = "";
    if (b->n_not_proven > 0)
        AB_FIT(not_proven, "%u not proven, ", b->n_not_proven);
    AB_FIT(line, "%s: %s: %u ok, %u failed, %s%u skipped", name, verdict_word(b), n_held,
           b->n_failed - b->n_not_proven, not_proven, n_skipped);
    ab_table_prose(to, style, b->n_failed == 0 ? AB_GOOD : AB_BAD, line);
}

static void explain(FILE *to, const struct ab_verify_session *v, struct ab_table_style style)
{
    char text[400];
    fputc('\n', to);
    for (uint32_t k = 0; k < v->n_lines && line_of(v, k) != NULL; k++) {
        AB_FIT(text, "%s: %s", line_of(v, k)->check, line_of(v, k)->rule);
        ab_table_prose(to, style, AB_FAINT, text);
    }
}

/* Returns the width that a column needs, so that no check name has to be cut to fit one more
 * column. */
static unsigned column_width(const struct ab_verify_session *v, uint32_t i, bool utf8)
{
    char cell[AB_CELL_BYTES];
    size_t widest = strlen(ab_format_name(cell, sizeof cell, v->backends[i].info->name, 16, utf8));
    for (uint32_t k = 0; k < v->n_lines; k++) {
        format_cell(cell, &v->backends[i].lines[k]);
        widest = strlen(cell) > widest ? strlen(cell) : widest;
    }
    return (unsigned)widest + 2;
}

static unsigned label_width(const struct ab_verify_session *v)
{
    size_t widest = 0;
    for (uint32_t k = 0; k < v->n_lines && line_of(v, k) != NULL; k++)
        widest = strlen(line_of(v, k)->check) > widest ? strlen(line_of(v, k)->check) : widest;
    return (unsigned)widest + 2;
}

static void print_tables(FILE *to, const struct ab_verify_session *v, struct ab_table_style style)
{
    uint32_t which[COLUMNS];
    unsigned n = 0, label = label_width(v), used = label;
    for (uint32_t i = 0; i < v->n_backends; i++) {
        if (!is_verified(&v->backends[i]))
            continue;
        unsigned width = column_width(v, i, style.utf8);
        if (n == COLUMNS || (n > 0 && used + width > style.width)) {
            print_part(to, v, which, n, style);
            fputc('\n', to);
            n = 0;
            used = label;
        }
        which[n++] = i;
        used += width;
    }
    if (n > 0) {
        print_part(to, v, which, n, style);
        print_words(to, v, style);
        fputc('\n', to);
    }
}

void ab_verify_table(FILE *to, const struct ab_verify_session *v, struct ab_table_style style)
{
    struct ab_format_guard guard;
    ab_format_begin(&guard);
    print_tables(to, v, style);
    for (uint32_t i = 0; i < v->n_backends; i++)
        if (is_verified(&v->backends[i]))
            print_remarks(to, v, &v->backends[i], style);
    for (uint32_t i = 0; i < v->n_backends; i++)
        print_verdict(to, v, &v->backends[i], style);
    if (style.is_verbose)
        explain(to, v, style);
    ab_format_end(&guard);
}
