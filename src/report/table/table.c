/* SPDX-License-Identifier: MIT
 *
 * Lays out and prints tables and paragraphs within the width of a terminal.
 */
#include "report/table/table.h"

#include "answer/sparkline.h"
#include "core/alloc.h"
#include "core/units_show.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    INDENT = 2,
    GAP = 2,
    LABEL_WANTED = 20, /* longer labels are cut before any column is dropped */
    LABEL_LEAST = 8,   /* a shorter label would not be recognizable */
    LINE_BYTES = 2048,
    WIDTH_LEAST = 20,
    WIDTH_MOST = 400,
    PROSE_MOST = 100,
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

/* Adds a row for a back end. If the back end is not compared, the row is faint and its label ends
 * in "(partial)" or the like. */
static struct ab_table_row *add_backend(struct ab_table *t, const struct ab_backend_info *b)
{
    char label[sizeof b->name + 32];
    struct ab_table_row *row = ab_table_add(t, ab_format_backend(label, sizeof label, b), false);
    if (ab_backend_status_is_aside(b->status))
        row->emphasis = AB_FAINT;
    return row;
}

struct layout {
    /* widths of the labels and of each column; 0 = the column is dropped */
    unsigned label, columns[AB_TABLE_COLUMNS_MAX];
    bool utf8;
};

static unsigned larger(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

static unsigned label_width(const struct ab_table_row *row, const struct layout *l)
{
    char label[AB_TABLE_LABEL_BYTES];
    unsigned width = ab_format_width(
        ab_format_label(label, sizeof label, row->label, UINT_MAX, l->utf8));
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
    for (unsigned c = 0; c < t->n_columns; c++)
        l.columns[c] = ab_format_width(t->columns[c].title);
    for (size_t r = 0; r < t->n_rows; r++) {
        l.label = larger(l.label, label_width(&t->rows[r], &l));
        for (unsigned c = 0; c < t->n_columns; c++)
            l.columns[c] = larger(l.columns[c], ab_format_width(t->rows[r].cells[c]));
    }
    const unsigned wanted = l.label;
    shrink_label(t, &l, width, LABEL_WANTED);
    while (total_width(t, &l) > width && drop_column(t, &l)) {
    }
    unsigned total = total_width(t, &l); /* a dropped column may have left room */
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
    char label[AB_TABLE_LABEL_BYTES];
    struct ab_text line = {0};
    unsigned indent = row->is_heading ? 0 : INDENT, room = INDENT + l->label - indent;
    ab_format_name(label, sizeof label, row->label, room, l->utf8);
    add_blanks(&line, indent);
    ab_text_add(&line, label);
    /* blanks that are written only before further text, so that no line ends in blanks */
    unsigned pending = room - ab_format_width(label);
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
    for (size_t n = line.n; n > 0 && line.s[n - 1] == ' '; n--)
        line.s[n - 1] = 0; /* a picture may end in blanks */
    if (line.n > 0)
        ab_table_line(to, style, row->is_heading ? AB_STRONG : row->emphasis, line.s);
    ab_text_fini(&line);
}

/* Prints the text below a row, indented deeper than its label. */
static void print_below(FILE *to, const struct ab_table_row *row, struct ab_table_style style)
{
    struct ab_text text = {0};
    if (row->below.n == 0)
        return;
    add_blanks(&text, 2 * INDENT);
    ab_text_add(&text, row->below.s);
    ab_table_note(to, style, row->emphasis == AB_FAINT ? AB_FAINT : AB_PLAIN, &text);
}

/* Prints the names of dropped columns. Returns the shown columns, bit c for column c. */
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
    if (line.n > 0)
        ab_text_add(&line, ")");
    ab_table_note(to, style, AB_FAINT, &line);
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

/* Returns how many columns from `first` on fit beside the labels, at least one. */
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

/* Prints all columns. Columns that do not fit into the width follow below, with the same rows. */
static void table_print_stacked(FILE *to, const struct ab_table *t, struct ab_table_style style)
{
    unsigned width = width_of(style);
    struct layout all = lay_out(t, UINT_MAX, style.utf8);
    shrink_label(t, &all, width, LABEL_WANTED);
    for (unsigned first = 0, n; first < t->n_columns; first += n) {
        struct layout part = {.label = all.label, .utf8 = all.utf8};
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

void ab_table_note(FILE *to, struct ab_table_style style, enum ab_emphasis emphasis,
                   struct ab_text *text)
{
    if (text->n > 0)
        ab_table_prose(to, style, emphasis, text->s);
    ab_text_fini(text);
}

/* Returns the width of prose: at most PROSE_MOST, because longer lines are hard to read. */
static unsigned prose_width(struct ab_table_style style)
{
    unsigned width = width_of(style);
    return width < PROSE_MOST ? width : PROSE_MOST;
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
        bool fits = ab_format_width(line) + 1 + ab_format_width(word) <= prose_width(style) &&
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

/* Prints the command, broken between words only, because a backslash within quotes does not join
 * lines. */
void ab_table_command(FILE *to, struct ab_table_style style, const char *lead, const char *command)
{
    unsigned used = ab_format_width(lead), n_words = 0;
    fputs(lead, to);
    for (const char *s = command; *s != 0; n_words++) {
        size_t n = ab_text_shell_word(s);
        const char *next = s + n + strspn(s + n, " ");
        unsigned width = ab_format_width(s) - ab_format_width(s + n);
        unsigned end = *next != 0 ? 2 : 0; /* columns of " \\" */
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

/* Writes "-", and the number of the footnote with this reason; `why` "" = no reason is known. */
static void footnotes_dash(struct ab_footnotes *notes, char cell[AB_CELL_BYTES], const char *why,
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

/* Marks the footnote of a shown cell. After the first call, only marked footnotes are printed. */
static void footnotes_see(struct ab_footnotes *notes, const char *cell, bool utf8)
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
        AB_FIT(line, "%s %s", mark, ab_text_printable(shown, sizeof shown, notes->texts[i]));
        ab_table_prose(to, style, AB_FAINT, line);
    }
}

/* ---- the legend: one paragraph below the tables ---- */

enum { NAME_COLUMNS = 24 }; /* most columns of a label that is followed by a tail */

/* Remembers the signs of the cells in shown columns; bit c of `shown` is column c. */
static void see(struct ab_legend *legend, const struct ab_table *t, unsigned shown, bool utf8)
{
    for (size_t r = 0; r < t->n_rows; r++)
        for (unsigned c = 0; c < t->n_columns && !t->rows[r].is_heading; c++) {
            const char *cell = t->rows[r].cells[c];
            if ((shown >> c & 1) == 0)
                continue;
            legend->has_unclear = legend->has_unclear || cell[0] == '~';
            legend->has_interval = legend->has_interval || strchr(cell, '[') != NULL;
            legend->has_floor = legend->has_floor || strchr(cell, '<') != NULL;
            footnotes_see(&legend->notes, cell, utf8);
        }
}

/* ---- grids ---- */

static void format_cell(const struct ab_grid *g, unsigned column, const struct ab_grid_cell *from,
                        char cell[AB_CELL_BYTES], struct ab_footnotes *notes, bool utf8)
{
    const double floor_ns = g->session != NULL ? g->session->timer.floor_ns : (double)NAN;
    char number[AB_CELL_BYTES], second[AB_CELL_BYTES];
    if (from->kind != AB_GRID_BLANK && from->kind != AB_GRID_PAIR && !isfinite(from->value)) {
        footnotes_dash(notes, cell, from->why, utf8);
        return;
    }
    switch (from->kind) {
    case AB_GRID_TEXT:
    case AB_GRID_CODE:
    case AB_GRID_PROSE:
        if (g->columns[column].width > 0)
            ab_format_name(cell, AB_CELL_BYTES, from->text, g->columns[column].width, utf8);
        else if (!utf8 && strncmp(from->text, AB_GRID_AT_LEAST, strlen(AB_GRID_AT_LEAST)) == 0)
            snprintf(cell, AB_CELL_BYTES, ">=%s", from->text + strlen(AB_GRID_AT_LEAST));
        else
            snprintf(cell, AB_CELL_BYTES, "%s", from->text);
        break;
    case AB_GRID_CALL:
    case AB_GRID_TIME:
        if (from->kind == AB_GRID_TIME || !(from->value < floor_ns)) {
            ab_units_time(cell, AB_CELL_BYTES, from->value);
            break;
        }
        __attribute__((fallthrough));
    case AB_GRID_NS:
        ab_format_ns(cell, from->value, floor_ns);
        break;
    case AB_GRID_PAIR:
        snprintf(cell, AB_CELL_BYTES, "%.28s/%.28s", ab_format_ns(number, from->value, floor_ns),
                 ab_format_ns(second, from->second, floor_ns));
        break;
    case AB_GRID_BYTES:
        ab_units_bytes(cell, AB_CELL_BYTES, from->value);
        break;
    case AB_GRID_COUNT:
        ab_format_count(cell, from->value);
        break;
    case AB_GRID_AMOUNT:
        ab_units_count(cell, AB_CELL_BYTES, from->value);
        break;
    case AB_GRID_SHARE:
        ab_format_share(cell, from->value, "");
        break;
    case AB_GRID_PORTION:
        snprintf(cell, AB_CELL_BYTES, from->value > 0 ? "%.0f (%.3g%%)" : "%.0f", from->value,
                 100 * from->share);
        break;
    case AB_GRID_TIMES:
        snprintf(cell, AB_CELL_BYTES, "%.40sx", ab_format_ratio(number, from->value));
        break;
    case AB_GRID_SCALED:
        snprintf(cell, AB_CELL_BYTES, "%s", from->text);
        break;
    case AB_GRID_LINE:
        ab_sparkline_series(cell, from->line, AB_GRID_POINTS, from->value, utf8);
        break;
    case AB_GRID_HISTOGRAM:
        ab_sparkline_hdr(cell, from->hdr, &g->range, AB_GRID_POINTS, utf8);
        break;
    case AB_GRID_BLANK:
        break;
    }
}

static struct ab_table_row *add_row(struct ab_table *t, const struct ab_grid *g,
                                    const struct ab_grid_row *from, bool utf8)
{
    char name[AB_TABLE_LABEL_BYTES / 2], label[AB_TABLE_LABEL_BYTES];
    struct ab_table_row *row;
    if (from->backend != UINT32_MAX)
        return add_backend(t, &g->session->backends[from->backend]);
    if (from->tail[0] == 0)
        return ab_table_add(t, from->label, from->is_heading);
    ab_format_name(name, sizeof name, from->label, NAME_COLUMNS, utf8);
    AB_FIT(label, "%s%s", name, from->tail);
    row = ab_table_add(t, label, from->is_heading);
    return row;
}

void ab_legend_grid(FILE *to, const struct ab_grid *g, struct ab_table_style style,
                    struct ab_legend *legend)
{
    struct ab_table_column columns[AB_TABLE_COLUMNS_MAX];
    unsigned of_grid[AB_TABLE_COLUMNS_MAX], n = 0, shown = (1u << AB_TABLE_COLUMNS_MAX) - 1;
    bool is_noted = g->note_column == 0;
    char titles[AB_TABLE_COLUMNS_MAX][AB_CELL_BYTES];
    const char *names[AB_TABLE_COLUMNS_MAX];
    struct ab_table t;
    for (unsigned c = 0; c < g->n_columns; c++) {
        const struct ab_grid_column *from = &g->columns[c];
        if (from->title == NULL || n == AB_TABLE_COLUMNS_MAX)
            continue;
        bool is_spread = !style.utf8 && strcmp(from->title, "\u00b1") == 0;
        ab_format_name(titles[n], sizeof titles[n], is_spread ? "+-" : from->title,
                       from->width > 0 ? from->width : 60, style.utf8);
        columns[n] = (struct ab_table_column){titles[n], from->drop};
        names[n] = from->name != NULL ? from->name : from->title;
        of_grid[n++] = c;
    }
    if (g->title != NULL)
        ab_table_line(to, style, AB_STRONG, g->title);
    ab_table_init(&t, columns, n);
    t.names = names;
    for (size_t r = 0; r < g->n_rows; r++) {
        struct ab_table_row *row = add_row(&t, g, &g->rows[r], style.utf8);
        row->emphasis = g->rows[r].emphasis;
        for (unsigned c = 0; c < n; c++)
            format_cell(g, of_grid[c], &g->rows[r].cells[of_grid[c]], row->cells[c], &legend->notes,
                        style.utf8);
    }
    if (g->is_whole)
        table_print_stacked(to, &t, style);
    else
        shown = ab_table_print(to, &t, style);
    see(legend, &t, shown, style.utf8);
    ab_table_fini(&t);
    legend->signs |= g->signs;
    for (unsigned c = 0; c < n; c++) {
        if ((shown >> c & 1) == 0)
            continue;
        legend->signs |= g->columns[of_grid[c]].signs;
        is_noted = is_noted || g->note_column == of_grid[c] + 1;
    }
    if (g->note != NULL && is_noted)
        ab_table_prose(to, style, AB_FAINT, g->note);
    if (g->remark != NULL)
        ab_table_prose(to, style, AB_PLAIN, g->remark);
    for (size_t i = 0; i < g->sentences.n; i++)
        ab_table_prose(to, style, AB_PLAIN, g->sentences.items[i]);
}

/* Returns how many bytes of settings fit into `room`, cut after a separator if there is one. */
static size_t settings_that_fit(const char *text, size_t room)
{
    size_t n = strlen(text), cut = room;
    if (n <= room)
        return n;
    while (cut > 0 && strchr(",;:{ ", text[cut - 1]) == NULL)
        cut--;
    return cut > 0 ? cut : room;
}

void ab_table_names(FILE *to, const struct ab_session *s, struct ab_table_style style)
{
    struct ab_view_texts names = {0};
    ab_view_names(s, &names);
    for (size_t i = 0; i < names.n; i++) {
        char line[LINE_BYTES];
        size_t lead = 0, width = width_of(style);
        for (const char *text = names.items[i]; *text != 0; lead = INDENT) {
            size_t n = settings_that_fit(text, width - lead);
            AB_FIT(line, "%*s%.*s", (int)lead, "", (int)n, text);
            ab_table_line(to, style, AB_FAINT, line);
            text += n;
        }
    }
    ab_view_texts_fini(&names);
}
