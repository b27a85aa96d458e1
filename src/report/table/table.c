/* SPDX-License-Identifier: MIT
 *
 * Lays out and prints tables and paragraphs in the width of a terminal.
 */
#include "report/table/table.h"

#include "core/grow.h"
#include "core/memory.h"
#include "core/text.h"
#include "report/table/table_labels.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    INDENT = 2,
    GAP = 2,
    LABEL_WANTED = 24,   /* longer labels are cut before any column goes */
    BACKEND_WANTED = 20, /* the same of back ends, whose settings are the longest of labels */
    LABEL_LEAST = 8,     /* shorter is no name any more */
    LINE_BYTES = 2048,
    WIDTH_LEAST = 20,
    WIDTH_MOST = 400,
};

static unsigned width_of(struct ab_table_style style)
{
    unsigned width = style.width == 0 ? 80 : style.width;
    return width < WIDTH_LEAST ? WIDTH_LEAST : width > WIDTH_MOST ? WIDTH_MOST : width;
}

void ab_table_init(struct ab_table *t, const struct ab_table_column *columns, unsigned n_columns)
{
    *t = (struct ab_table){.columns = columns, .n_columns = n_columns};
}

void ab_table_fini(struct ab_table *t)
{
    for (size_t r = 0; r < t->n_rows; r++)
        ab_text_fini(&t->rows[r].below);
    free(t->rows);
    *t = (struct ab_table){0};
}

struct ab_table_row *ab_table_add(struct ab_table *t, const char *label, bool is_heading)
{
    AB_GROW(t->rows, t->cap_rows, t->n_rows);
    struct ab_table_row *row = &t->rows[t->n_rows++];
    memset(row, 0, sizeof *row);
    row->is_heading = is_heading;
    ab_text_printable(row->label, sizeof row->label, label);
    return row;
}

struct ab_table_row *ab_table_add_backend(struct ab_table *t, const struct ab_backend_info *b)
{
    char label[sizeof b->name + 32];
    struct ab_table_row *row = ab_table_add(t, ab_format_backend(label, sizeof label, b), false);
    if (row == NULL)
        return NULL;
    row->is_backend = true;
    if (ab_backend_status_is_aside(b->status))
        row->emphasis = AB_FAINT;
    return row;
}

struct layout {
    unsigned label, columns[AB_TABLE_COLUMNS_MAX]; /* widths; 0 = dropped */
    bool utf8;
    char head[AB_LABEL_HEAD_BYTES]; /* of labels: left out of each, see table_labels.h */
};

static unsigned larger(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

static const char *label_of(char dst[AB_TABLE_LABEL_BYTES], const struct layout *l,
                            const struct ab_table_row *row)
{
    return row->is_backend ? ab_table_label_short(dst, AB_TABLE_LABEL_BYTES, l->head, row->label)
                           : row->label;
}

static unsigned label_width(const struct ab_table_row *row, const struct layout *l)
{
    char label[AB_TABLE_LABEL_BYTES], shorter[AB_TABLE_LABEL_BYTES];
    unsigned width = ab_format_width(
        ab_format_label(label, sizeof label, label_of(shorter, l, row), UINT_MAX, l->utf8));
    return row->is_heading && width > INDENT ? width - INDENT : width;
}

static unsigned total_width(const struct ab_table *t, const struct layout *l)
{
    unsigned total = INDENT + l->label;
    for (unsigned c = 0; c < t->n_columns; c++)
        total += l->columns[c] > 0 ? GAP + l->columns[c] : 0;
    return total;
}

static bool drop_column(const struct ab_table *t, struct layout *l)
{
    unsigned worst = 0;
    for (unsigned c = 0; c < t->n_columns; c++)
        if (l->columns[c] > 0)
            worst = larger(worst, t->columns[c].drop);
    for (unsigned c = 0; c < t->n_columns && worst > 0; c++)
        if (t->columns[c].drop == worst)
            l->columns[c] = 0;
    return worst > 0;
}

static unsigned label_wanted(const struct ab_table *t)
{
    for (size_t r = 0; r < t->n_rows; r++)
        if (t->rows[r].is_backend)
            return BACKEND_WANTED;
    return LABEL_WANTED;
}

static void shrink_label(const struct ab_table *t, struct layout *l, unsigned width, unsigned least)
{
    unsigned total = total_width(t, l);
    if (total <= width || l->label <= least)
        return;
    unsigned excess = total - width, spare = l->label - least;
    l->label -= excess < spare ? excess : spare;
}

static struct layout lay_out(const struct ab_table *t, unsigned width, bool utf8)
{
    struct layout l = {.utf8 = utf8};
    ab_table_label_head(t, l.head);
    for (unsigned c = 0; c < t->n_columns; c++)
        l.columns[c] = ab_format_width(t->columns[c].title);
    for (size_t r = 0; r < t->n_rows; r++) {
        l.label = larger(l.label, label_width(&t->rows[r], &l));
        for (unsigned c = 0; c < t->n_columns; c++)
            l.columns[c] = larger(l.columns[c], ab_format_width(t->rows[r].cells[c]));
    }
    const unsigned wanted = l.label;
    shrink_label(t, &l, width, label_wanted(t));
    while (total_width(t, &l) > width && drop_column(t, &l)) {
    }
    unsigned total = total_width(t, &l); /* a column that went may have left room */
    if (total < width)
        l.label = wanted - l.label < width - total ? wanted : l.label + width - total;
    shrink_label(t, &l, width, LABEL_LEAST);
    return l;
}

static void add_blanks(struct ab_text *line, unsigned n)
{
    for (; n > 0; n--)
        ab_text_add(line, " ");
}

static void print_row(FILE *to, const struct ab_table *t, const struct layout *l, size_t index,
                      struct ab_table_style style)
{
    const struct ab_table_row *row = &t->rows[index];
    char label[AB_TABLE_LABEL_BYTES], shorter[AB_TABLE_LABEL_BYTES];
    struct ab_text line = {0};
    unsigned indent = row->is_heading ? 0 : INDENT, room = INDENT + l->label - indent;
    ab_format_name(label, sizeof label, label_of(shorter, l, row), room, l->utf8);
    add_blanks(&line, indent);
    ab_text_add(&line, label);
    unsigned pending = room - ab_format_width(label); /* no blanks at the end of a line */
    for (unsigned c = 0; c < t->n_columns; c++) {
        const char *cell = index == 0 && row->is_heading ? t->columns[c].title : row->cells[c];
        if (l->columns[c] == 0)
            continue;
        pending += GAP + l->columns[c] - ab_format_width(cell);
        if (*cell == 0)
            continue;
        add_blanks(&line, pending);
        ab_text_add(&line, cell);
        pending = 0;
    }
    for (size_t n = line.s == NULL ? 0 : strlen(line.s); n > 0 && line.s[n - 1] == ' '; n--)
        line.s[n - 1] = 0; /* a picture may end in blanks */
    if (line.s != NULL)
        ab_table_line(to, style, row->is_heading ? AB_STRONG : row->emphasis, line.s);
    ab_text_fini(&line);
}

/* Under the label of its row, deeper than it. */
static void print_below(FILE *to, const struct ab_table_row *row, struct ab_table_style style)
{
    struct ab_text text = {0};
    if (row->below.n == 0)
        return;
    add_blanks(&text, 2 * INDENT);
    ab_text_add(&text, row->below.s);
    if (text.s != NULL)
        ab_table_prose(to, style, row->emphasis == AB_FAINT ? AB_FAINT : AB_PLAIN, text.s);
    ab_text_fini(&text);
}

/* What the width left out, by name; returns the columns that are shown. */
static unsigned print_dropped(FILE *to, const struct ab_table *t, const struct layout *l,
                              struct ab_table_style style)
{
    struct ab_text line = {0};
    unsigned shown = 0;
    for (unsigned c = 0; c < t->n_columns; c++)
        if (l->columns[c] > 0)
            shown |= 1u << c;
        else if (t->columns[c].title[0] != 0 && (t->names == NULL || t->names[c][0] != 0))
            ab_text_addf(&line, "%s%s", line.s == NULL ? "  (not shown: " : ", ",
                         t->names != NULL ? t->names[c] : t->columns[c].title);
    if (line.s != NULL) {
        ab_text_add(&line, ")");
        ab_table_prose(to, style, AB_FAINT, line.s);
    }
    ab_text_fini(&line);
    return shown;
}

unsigned ab_table_shown(const struct ab_table *t, struct ab_table_style style)
{
    struct layout l = lay_out(t, width_of(style), style.utf8);
    unsigned shown = 0;
    for (unsigned c = 0; c < t->n_columns; c++)
        shown |= l.columns[c] > 0 ? 1u << c : 0;
    return shown;
}

unsigned ab_table_print(FILE *to, const struct ab_table *t, struct ab_table_style style)
{
    struct layout l = lay_out(t, width_of(style), style.utf8);
    for (size_t r = 0; r < t->n_rows; r++) {
        print_row(to, t, &l, r, style);
        print_below(to, &t->rows[r], style);
    }
    unsigned shown = print_dropped(to, t, &l, style);
    return shown;
}

/* How many columns from `first` on fit beside the labels, one at least. */
static unsigned columns_that_fit(const struct ab_table *t, const struct layout *l, unsigned first,
                                 unsigned width)
{
    unsigned total = INDENT + l->label, n = 0;
    for (unsigned c = first; c < t->n_columns; c++, n++) {
        total += GAP + l->columns[c];
        if (total > width && n > 0)
            break;
    }
    return n;
}

void ab_table_print_stacked(FILE *to, const struct ab_table *t, struct ab_table_style style)
{
    unsigned width = width_of(style);
    struct layout all = lay_out(t, UINT_MAX, style.utf8);
    shrink_label(t, &all, width, label_wanted(t));
    for (unsigned first = 0, n; first < t->n_columns; first += n) {
        struct layout part = {.label = all.label, .utf8 = all.utf8};
        memcpy(part.head, all.head, sizeof part.head);
        n = columns_that_fit(t, &all, first, width);
        memcpy(&part.columns[first], &all.columns[first], n * sizeof part.columns[0]);
        shrink_label(t, &part, width, LABEL_LEAST);
        for (size_t r = 0; r < t->n_rows; r++)
            print_row(to, t, &part, r, style);
    }
}

void ab_table_line(FILE *to, struct ab_table_style style, enum ab_emphasis emphasis,
                   const char *text)
{
    static const char *const codes[] = {[AB_PLAIN] = "",
                                        [AB_STRONG] = "\033[1m",
                                        [AB_FAINT] = "\033[2m",
                                        [AB_GOOD] = "\033[32m",
                                        [AB_BAD] = "\033[31m"};
    char line[LINE_BYTES];
    bool is_colored = style.color && emphasis != AB_PLAIN;
    ab_format_label(line, sizeof line, text, width_of(style), style.utf8);
    fprintf(to, "%s%s%s\n", is_colored ? codes[emphasis] : "", line, is_colored ? "\033[0m" : "");
}

void ab_table_linef(FILE *to, struct ab_table_style style, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *text = ab_vstrdupf(fmt, args);
    va_end(args);
    ab_table_line(to, style, AB_STRONG, text);
    free(text);
}

void ab_table_note(FILE *to, struct ab_table_style style, enum ab_emphasis emphasis,
                   struct ab_text *text)
{
    if (text->n > 0)
        ab_table_prose(to, style, emphasis, text->s);
    ab_text_fini(text);
}

void ab_table_prose(FILE *to, struct ab_table_style style, enum ab_emphasis emphasis,
                    const char *text)
{
    char line[LINE_BYTES] = "", word[LINE_BYTES];
    const size_t lead = strspn(text, " ") % LABEL_WANTED, hang = lead + INDENT;
    size_t used = (size_t)snprintf(line, sizeof line, "%*s", (int)lead, "");
    bool is_empty = true;
    for (const char *s = text + lead; *s != 0;) {
        size_t n = strcspn(s, " ");
        size_t kept = n < sizeof word - 1 ? n : sizeof word - 1;
        memcpy(word, s, kept);
        word[kept] = 0;
        s += n;
        bool fits = ab_format_width(line) + 1 + ab_format_width(word) <= width_of(style) &&
                    used + kept + 2 <= sizeof line;
        if (!is_empty && !fits) {
            ab_table_line(to, style, emphasis, line);
            used = (size_t)snprintf(line, sizeof line, "%*s", (int)hang, "");
            kept = kept < sizeof line - hang - 1 ? kept : sizeof line - hang - 1;
        } else if (!is_empty) {
            line[used++] = ' ';
        }
        memcpy(line + used, word, kept);
        used += kept;
        line[used] = 0;
        is_empty = is_empty && kept == 0;
        for (; *s == ' ' && s[1] == ' '; s++) {
        }
        s += *s == ' ';
    }
    if (!is_empty)
        ab_table_line(to, style, emphasis, line);
}

/* Broken between words only: a backslash within quotes joins no lines. */
void ab_table_command(FILE *to, struct ab_table_style style, const char *lead, const char *command)
{
    unsigned used = ab_format_width(lead), n_words = 0;
    fputs(lead, to);
    for (const char *s = command; *s != 0; n_words++) {
        size_t n = ab_text_shell_word(s);
        const char *next = s + n + strspn(s + n, " ");
        unsigned width = ab_format_width(s) - ab_format_width(s + n);
        unsigned end = *next != 0 ? 2 : 0; /* of " \\" */
        if (n_words > 0 && used + 1 + width + end > width_of(style)) {
            fprintf(to, " \\\n%*s", 2 * INDENT, "");
            used = 2 * INDENT;
        } else if (n_words > 0) {
            fputc(' ', to);
            used++;
        }
        fwrite(s, 1, n, to);
        used += width;
        s = next;
    }
    fputc('\n', to);
}

/* ---- footnotes ---- */

static void format_mark(char *buf, size_t cap, unsigned number, bool utf8)
{
    static const char *const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    if (!utf8)
        snprintf(buf, cap, "(%u)", number);
    else
        snprintf(buf, cap, "%s%s", number < 10 ? "" : digits[number / 10 % 10],
                 digits[number % 10]);
}

void ab_footnotes_dash(struct ab_footnotes *notes, char cell[AB_CELL_BYTES], const char *why,
                       bool utf8)
{
    char mark[16];
    unsigned i = 0;
    snprintf(cell, AB_CELL_BYTES, "-");
    if (why[0] == 0)
        return;
    while (i < notes->n && strncmp(notes->texts[i], why, AB_FOOTNOTE_BYTES - 1) != 0)
        i++;
    if (i == AB_FOOTNOTES_MAX)
        return;
    if (i == notes->n)
        snprintf(notes->texts[notes->n++], AB_FOOTNOTE_BYTES, "%s", why);
    format_mark(mark, sizeof mark, i + 1, utf8);
    snprintf(cell, AB_CELL_BYTES, "-%s", mark);
}

void ab_footnotes_see(struct ab_footnotes *notes, const char *cell, bool utf8)
{
    char mark[16];
    notes->is_watched = true;
    for (unsigned i = 0; i < notes->n && cell[0] == '-'; i++) {
        format_mark(mark, sizeof mark, i + 1, utf8);
        notes->is_seen[i] = notes->is_seen[i] || strcmp(cell + 1, mark) == 0;
    }
}

void ab_footnotes_print(FILE *to, const struct ab_footnotes *notes, struct ab_table_style style)
{
    for (unsigned i = 0; i < notes->n; i++) {
        if (notes->is_watched && !notes->is_seen[i])
            continue;
        char line[AB_FOOTNOTE_BYTES * 4 + 32], shown[AB_FOOTNOTE_BYTES * 4], mark[16];
        format_mark(mark, sizeof mark, i + 1, style.utf8);
        snprintf(line, sizeof line, "%s %s", mark,
                 ab_text_printable(shown, sizeof shown, notes->texts[i]));
        ab_table_prose(to, style, AB_FAINT, line);
    }
}
