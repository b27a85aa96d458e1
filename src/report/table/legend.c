/* SPDX-License-Identifier: MIT
 *
 * One paragraph below the tables.
 */
#include "report/table/legend.h"

#include "core/text.h"

#include "core/units_show.h"
#include "report/table/sparkline.h"

#include <math.h>
#include <string.h>

enum { NAME_COLUMNS = 24 }; /* of a name that something follows */

static void add(struct ab_text *t, const char *text)
{
    ab_text_addf(t, "%s%s.", t->n > 0 ? " " : "", text);
}

/* Notes the signs of the cells that are shown: bit c is column c. */
static void see(struct ab_legend *legend, const struct ab_table *t, unsigned shown, bool utf8)
{
    if (legend->label_head[0] == 0)
        ab_table_label_head(t, legend->label_head);
    for (size_t r = 0; r < t->n_rows; r++)
        for (unsigned c = 0; c < t->n_columns && !t->rows[r].is_heading; c++) {
            const char *cell = t->rows[r].cells[c];
            if ((shown >> c & 1) == 0)
                continue;
            legend->has_unclear = legend->has_unclear || cell[0] == '~';
            legend->has_interval = legend->has_interval || strchr(cell, '[') != NULL;
            legend->has_floor = legend->has_floor || strchr(cell, '<') != NULL;
            ab_footnotes_see(&legend->notes, cell, utf8);
        }
}

/* ---- grids ---- */

static void format_cell(const struct ab_grid *g, unsigned column, const struct ab_grid_cell *from,
                        char cell[AB_CELL_BYTES], struct ab_footnotes *notes, bool utf8)
{
    const double floor_ns = g->session->timer.floor_ns;
    char number[AB_CELL_BYTES];
    if (from->kind != AB_GRID_BLANK && !isfinite(from->value)) {
        ab_footnotes_dash(notes, cell, from->why, utf8);
        return;
    }
    switch (from->kind) {
    case AB_GRID_TEXT:
    case AB_GRID_CODE:
        if (g->columns[column].width > 0)
            ab_format_name(cell, AB_CELL_BYTES, from->text, g->columns[column].width, utf8);
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
        return ab_table_add_backend(t, &g->session->backends[from->backend]);
    if (from->tail[0] == 0)
        return ab_table_add(t, from->label, from->is_heading);
    ab_format_name(name, sizeof name, from->label, NAME_COLUMNS, utf8);
    snprintf(label, sizeof label, "%s%s", name, from->tail);
    row = ab_table_add(t, label, from->is_heading);
    return row;
}

unsigned ab_legend_grid(FILE *to, const struct ab_grid *g, struct ab_table_style style,
                        struct ab_legend *legend)
{
    struct ab_table_column columns[AB_GRID_COLUMNS_MAX];
    unsigned of_grid[AB_GRID_COLUMNS_MAX], n = 0, shown = (1u << AB_GRID_COLUMNS_MAX) - 1, bits = 0;
    char titles[AB_GRID_COLUMNS_MAX][AB_CELL_BYTES];
    const char *names[AB_GRID_COLUMNS_MAX];
    struct ab_table t;
    for (unsigned c = 0; c < g->n_columns; c++) {
        const struct ab_grid_column *from = &g->columns[c];
        if (from->title == NULL)
            continue;
        ab_format_name(titles[n], sizeof titles[n], from->title, from->width > 0 ? from->width : 60,
                       style.utf8);
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
        ab_table_print_stacked(to, &t, style);
    else
        shown = ab_table_print(to, &t, style);
    see(legend, &t, shown, style.utf8);
    ab_table_fini(&t);
    if (g->note != NULL)
        ab_table_prose(to, style, AB_FAINT, g->note);
    if (g->remark != NULL)
        ab_table_prose(to, style, AB_PLAIN, g->remark);
    for (unsigned c = 0; c < n; c++)
        bits |= (shown >> c & 1) << of_grid[c];
    return bits;
}

void ab_legend_print(FILE *to, const struct ab_view *v, const struct ab_legend *legend,
                     struct ab_table_style style)
{
    struct ab_text t = {0};
    char base[AB_CELL_BYTES * 4];
    if (legend->label_head[0] != 0)
        ab_text_addf(&t, "Rows with { begin with %s.", legend->label_head);
    if (legend->has_unclear)
        ab_text_addf(&t, "%s~: not clearly different from %s.", t.n > 0 ? " " : "",
                     ab_format_label(base, sizeof base, v->session->backends[v->ranking.base].name,
                                     24, style.utf8));
    if (legend->has_interval)
        add(&t, "[low, high]: 90 % interval");
    if (legend->has_tail)
        add(&t, "p99, p99.9: of calls that return a block, all phases");
    if (legend->has_floor)
        ab_text_addf(&t, "%s<%s: below the timer's floor.", t.n > 0 ? " " : "",
                     ab_format_ns((char[AB_CELL_BYTES]){0}, v->session->timer.floor_ns, NAN));
    if (legend->has_at_floor)
        ab_text_addf(&t, "%sp50 of %s: the timer's floor; the call may take less.",
                     t.n > 0 ? " " : "", AB_TIME(v->session->timer.floor_ns));
    if (legend->has_live)
        add(&t, "live: of the program, at the moment of that allocator's peak");
    if (legend->has_drain)
        ab_text_addf(&t, "%safter free: resident %s after all is freed.", t.n > 0 ? " " : "",
                     ab_drain_names[v->ranking.drain]);
    if (legend->has_multiple)
        add(&t, "x live: peak by the most live bytes");
    if (t.s != NULL)
        ab_table_prose(to, style, AB_FAINT, t.s);
    ab_text_fini(&t);
    ab_footnotes_print(to, &legend->notes, style);
}
