/* SPDX-License-Identifier: MIT
 *
 * The table of pages, and functions that pages share.
 */
#include "report/html/report_pages.h"

#include "base/bits.h"
#include "core/alloc.h"
#include "core/text.h"
#include "result/shown.h"
#include "stats/metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BAR_PX = 90 };

const struct ab_page ab_pages[] = {
#define AB_PAGE(id, title, function) {id, title, function},
#include "report/html/report_pages.def"
#undef AB_PAGE
};
const size_t ab_n_pages = AB_ARRAY_LEN(ab_pages);

struct ab_paint ab_report_paint(const struct ab_report *report, const char *name)
{
    for (size_t i = 0; i < report->n_series; i++) {
        const struct ab_report_series *s = &report->series[i];
        if (strcmp(s->name, name) == 0)
            return (struct ab_paint){.colour = s->style.colour,
                                     .dash = ab_dashes[s->style.dash],
                                     .series = s->number,
                                     .title = s->title};
    }
    return (struct ab_paint){.colour = AB_COLOUR_INK, .title = name};
}

static void put_swatch(struct ab_html *h, const struct ab_paint *paint)
{
    ab_html_f(h,
              "<svg class=\"swatch\" viewBox=\"0 0 34 10\" aria-hidden=\"true\">"
              "<path class=\"%s\" color=\"%s\" stroke=\"currentColor\" stroke-width=\"3\"",
              ab_colours[paint->colour].class_name, ab_colours[paint->colour].light);
    if (paint->dash != NULL && paint->dash[0] != 0)
        ab_html_f(h, " stroke-dasharray=\"%s\"", paint->dash);
    ab_html_f(h, " d=\"M1 5h32\"/></svg>");
}

static void put_name(struct ab_html *h, struct ab_paint paint, const char *label)
{
    ab_html_f(h, "<span class=\"name\">");
    put_swatch(h, &paint);
    ab_html_f(h, "%s</span>", label);
}

void ab_page_name(struct ab_html *h, const struct ab_report *report, const char *name)
{
    struct ab_paint paint = ab_report_paint(report, name);
    put_name(h, paint, paint.title);
}

void ab_page_names(struct ab_html *h, const struct ab_session *s)
{
    struct ab_view_texts names = {0};
    ab_view_names(s, &names);
    for (size_t i = 0; i < names.n; i++)
        ab_html_f(h, "%s<code>%s</code>%s", i == 0 ? "<p class=\"soft\">" : "<br>", names.items[i],
                  i + 1 == names.n ? "</p>\n" : "");
    ab_view_texts_fini(&names);
}

uint32_t ab_page_ranked(const struct ab_report *report, uint32_t place)
{
    return report->view->ranking.rows[place].backend;
}

/* Writes the legend. The script turns its items into switches. */
void ab_page_legend(struct ab_html *h, const struct ab_report *report)
{
    const struct ab_session *s = report->session;
    ab_html_f(h, "<ul class=\"legend\">");
    for (uint32_t i = 0; i < s->n_backends; i++) {
        uint32_t b = ab_page_ranked(report, i);
        if (!ab_view_shows(s, b))
            continue;
        struct ab_paint paint = ab_report_paint(report, s->backends[b].name);
        char label[sizeof s->backends->name + 32];
        ab_html_f(h, "<li data-switch=\"%u\">", paint.series);
        put_name(h, paint, ab_format_backend(label, sizeof label, &s->backends[b]));
        ab_html_f(h, "</li>");
    }
    ab_html_f(h, "</ul>\n");
}

struct ab_paint *ab_page_paints(const struct ab_report *report, size_t *n)
{
    const struct ab_session *s = report->session;
    struct ab_paint *list = ab_alloc_zeroed(s->n_backends + 1u, sizeof list[0]);
    *n = 0;
    for (uint32_t i = 0; i < s->n_backends; i++) {
        uint32_t b = ab_page_ranked(report, i);
        if (ab_view_shows(s, b))
            list[(*n)++] = ab_report_paint(report, s->backends[b].name);
    }
    return list;
}

void ab_page_key(struct ab_html *h, enum ab_colour colour, const char *text)
{
    ab_html_f(h,
              "<li><span class=\"name\"><svg class=\"swatch\" viewBox=\"0 0 34 10\" "
              "aria-hidden=\"true\"><rect class=\"%s\" color=\"%s\" fill=\"currentColor\" "
              "width=\"34\" height=\"10\"/></svg>%s</span></li>",
              ab_colours[colour].class_name, ab_colours[colour].light, text);
}

void ab_page_figures_begin(struct ab_html *h)
{
    ab_html_f(h, "<div class=\"figures\">\n");
}

void ab_page_figures_end(struct ab_html *h)
{
    ab_html_f(h, "</div>\n");
}

void ab_page_fold_begin(struct ab_html *h, const char *title, unsigned index)
{
    ab_html_f(h, "<details class=\"fold\"%s><summary>%s</summary>\n",
              index < AB_PAGE_OPEN ? " open" : "", title);
}

void ab_page_fold_end(struct ab_html *h)
{
    ab_html_f(h, "</details>\n");
}

void ab_page_phases_begin(struct ab_html *h, uint32_t n_phases, uint32_t phase)
{
    char title[80];
    uint32_t end = phase + AB_PAGE_PHASES < n_phases ? phase + AB_PAGE_PHASES : n_phases;
    if (phase % AB_PAGE_PHASES != 0)
        return;
    AB_FIT(title, "phases %u to %u of %u", phase + 1, end, n_phases);
    if (phase > 0)
        ab_page_fold_begin(h, title, AB_PAGE_OPEN);
    ab_page_figures_begin(h);
}

void ab_page_phases_end(struct ab_html *h, uint32_t n_phases, uint32_t phase)
{
    if ((phase + 1) % AB_PAGE_PHASES != 0 && phase + 1 < n_phases)
        return;
    ab_page_figures_end(h);
    if (phase >= AB_PAGE_PHASES)
        ab_page_fold_end(h);
}

const char *ab_page_cut(char *buf, size_t cap, const char *name, unsigned most)
{
    return ab_format_name(buf, cap, name, most, true);
}

void ab_page_table_begin(struct ab_html *h, const char *caption, const char *const *columns)
{
    ab_html_f(h, "<div class=\"scroll\"><table>\n<caption>%s</caption>\n<thead><tr>", caption);
    for (; *columns != NULL; columns++) {
        bool is_number = **columns == '#';
        ab_html_f(h,
                  is_number ? "<th scope=\"col\" class=\"n\">%s</th>" : "<th scope=\"col\">%s</th>",
                  *columns + is_number);
    }
    ab_html_f(h, "</tr></thead>\n<tbody>\n");
}

void ab_page_table_end(struct ab_html *h)
{
    ab_html_f(h, "</tbody></table></div>\n");
}

/* ---- grids ---- */

/* Writes a time in ns; "<25 ns" if below the clock's floor (NaN: no floor). */
static const char *axis_time_text(char *buf, size_t cap, double ns, double floor_ns)
{
    bool is_below = ns < floor_ns && cap > 1;
    if (is_below)
        buf[0] = '<';
    ab_axis_text(buf + is_below, cap - is_below, AB_AXIS_TIME, is_below ? floor_ns : ns);
    return buf;
}

static const char *cell_text(const struct ab_grid *g, const struct ab_grid_cell *cell, char *buf,
                             size_t cap)
{
    double x = cell->value, floor_ns = g->session->timer.floor_ns;
    char second[AB_CELL_BYTES];
    if (cell->in_html != NULL)
        return cell->in_html;
    if (cell->kind == AB_GRID_PAIR) {
        axis_time_text(buf, cap, x, floor_ns);
        ab_text_join(buf, cap, " / ",
                     axis_time_text(second, sizeof second, cell->second, floor_ns));
        return buf;
    }
    if (cell->kind != AB_GRID_BLANK && !isfinite(x))
        return cell->text != NULL ? cell->text : "n/a";
    switch (cell->kind) {
    case AB_GRID_TEXT:
    case AB_GRID_CODE:
    case AB_GRID_PROSE:
        return cell->text;
    case AB_GRID_NS:
    case AB_GRID_CALL:
        return axis_time_text(buf, cap, x, floor_ns);
    case AB_GRID_TIME:
        return ab_axis_text(buf, cap, AB_AXIS_TIME, x);
    case AB_GRID_BYTES:
        return ab_axis_text(buf, cap, AB_AXIS_BYTES, x);
    case AB_GRID_TIMES:
        return ab_axis_text(buf, cap, AB_AXIS_FACTOR, x);
    case AB_GRID_AMOUNT:
        return ab_axis_text(buf, cap, AB_AXIS_COUNT, x);
    case AB_GRID_SHARE:
        return ab_format_share(buf, x, " ");
    case AB_GRID_COUNT:
        snprintf(buf, cap, nearbyint(x) == x ? "%.0f" : "%.4g", x);
        return buf;
    case AB_GRID_PORTION:
        snprintf(buf, cap, "%.0f (%.3g %%)", x, 100 * cell->share);
        return buf;
    case AB_GRID_SCALED:
        snprintf(buf, cap, "%s %s", cell->text, g->unit);
        return buf;
    case AB_GRID_BLANK:
    case AB_GRID_PAIR:
    case AB_GRID_LINE:
    case AB_GRID_HISTOGRAM:
        break;
    }
    return "";
}

/* Draws a bar in the colour of the back end of this name, if the report has one. */
static void put_bar(struct ab_html *h, const struct ab_report *report, const char *name,
                    double share)
{
    const struct ab_colour_info *c = &ab_colours[ab_report_paint(report, name).colour];
    ab_html_f(h,
              "<br><svg width=\"%d\" height=\"6\" aria-hidden=\"true\"><rect class=\"%s\" "
              "fill=\"currentColor\" color=\"%s\" x=\"%.1f\" width=\"%.1f\" height=\"6\"/>"
              "</svg>",
              BAR_PX, c->class_name, c->light, BAR_PX * (1 - share), BAR_PX * share);
}

static void put_cell(struct ab_html *h, const struct ab_report *report, const struct ab_grid *g,
                     const struct ab_grid_row *row, unsigned column)
{
    const struct ab_grid_cell *cell = &row->cells[column];
    char buf[AB_CELL_BYTES];
    const char *text = cell_text(g, cell, buf, sizeof buf);
    bool is_known = cell->kind == AB_GRID_BLANK || isfinite(cell->value);
    const char *interval = cell->kind == AB_GRID_TEXT ? strstr(text, " [") : NULL;
    const char *classes = g->columns[column].in_html[0] == '#' ? (cell->is_soft ? "n few" : "n")
                          : interval != NULL                   ? "w"
                          : cell->is_long                      ? "site"
                                                               : NULL;
    ab_html_f(h,
              classes == NULL   ? "<td"
              : cell->shade > 0 ? "<td class=\"%s h%u\""
                                : "<td class=\"%s\"",
              classes, cell->shade);
    if (!is_known && cell->text == NULL && cell->why != NULL && cell->why[0] != 0)
        ab_html_f(h, " title=\"%s\"", cell->why);
    if (interval != NULL) {
        char value[AB_CELL_BYTES];
        AB_FIT(value, "%.*s", (int)(interval - text), text);
        ab_html_f(h, ">%s <span class=\"soft\">%s</span>", value, interval + 1);
    } else {
        ab_html_f(h, cell->kind == AB_GRID_CODE ? "><code>%s</code>" : ">%s", text);
    }
    if (cell->below != NULL)
        ab_html_f(h, "<br>%s<br><span class=\"soft\">%s</span>", cell->below, cell->interval);
    if (is_known && cell->share > 0 && cell->kind != AB_GRID_PORTION)
        put_bar(h, report, row->label, cell->share);
    ab_html_f(h, "</td>");
}

static void put_row(struct ab_html *h, const struct ab_report *report, const struct ab_grid *g,
                    const struct ab_grid_row *row)
{
    ab_html_f(h, row->emphasis == AB_FAINT ? "<tr class=\"few\"><th scope=\"row\">"
                                           : "<tr><th scope=\"row\">");
    if (row->backend != UINT32_MAX)
        put_name(h, ab_report_paint(report, g->session->backends[row->backend].name), row->label);
    else
        ab_html_f(h, "%s%s", row->label, row->tail);
    ab_html_f(h, "</th>");
    for (unsigned c = 0; c < g->n_columns; c++)
        if (g->columns[c].in_html != NULL)
            put_cell(h, report, g, row, c);
    ab_html_f(h, "</tr>\n");
}

/* Writes the lines of the note, unless the note belongs to a column that is not shown. */
static void put_note(struct ab_html *h, const struct ab_grid *g)
{
    if (g->note == NULL || (g->note_column > 0 && g->columns[g->note_column - 1].in_html == NULL))
        return;
    char *lines = ab_strdup(g->note), *rest = lines;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;)
        ab_html_f(h, "<p class=\"soft\">%s</p>\n", line + strspn(line, " "));
    free(lines);
}

void ab_page_grid(struct ab_html *h, const struct ab_report *report, const char *caption,
                  const struct ab_grid *g)
{
    const char *columns[AB_GRID_COLUMNS_MAX + 2] = {g->rows_are != NULL ? g->rows_are : ""};
    const struct ab_session *s = g->session;
    const uint32_t n_backends = report != NULL ? s->n_backends : 0;
    unsigned n = 1;
    for (unsigned c = 0; c < g->n_columns; c++)
        if (g->columns[c].in_html != NULL)
            columns[n++] = g->columns[c].in_html;
    ab_page_table_begin(h, caption, columns);
    for (size_t r = 0; r < g->n_rows && g->is_list; r++)
        put_row(h, report, g, &g->rows[r]);
    for (uint32_t i = 0; i <= n_backends && !g->is_list; i++) {
        uint32_t b = i < n_backends ? ab_page_ranked(report, i) : UINT32_MAX;
        for (size_t r = 0; r < g->n_rows; r++)
            if (g->rows[r].backend == b && !g->rows[r].is_heading && !g->rows[r].is_terminal_only &&
                (b == UINT32_MAX || ab_view_shows(s, b)))
                put_row(h, report, g, &g->rows[r]);
    }
    ab_page_table_end(h);
    put_note(h, g);
}

/* ---- topics ---- */

static void put_topic(struct ab_html *h, const struct ab_report *report, const struct ab_grid *g)
{
    ab_page_grid(h, report, g->caption, g);
    for (size_t i = 0; i < g->sentences.n; i++)
        ab_html_f(h, "<p>%s</p>\n", g->sentences.items[i]);
    for (size_t i = 0; i < g->closing.n; i++)
        ab_html_f(h, "<p class=\"soft\">%s</p>\n", g->closing.items[i]);
}

static void end_fold(struct ab_html *h)
{
    ab_html_f(h, "</div>\n");
    ab_page_fold_end(h);
}

void ab_page_topics(struct ab_html *h, const struct ab_report *report, enum ab_page_place place,
                    const char *phase,
                    void (*intro)(struct ab_html *h, const struct ab_report *report))
{
    struct ab_topic_walk walk = {
        .at = {.view = report->view, .surface = AB_PAGE}, .place = place, .phase = phase};
    struct ab_grid g;
    bool is_begun = false, is_folded = false;
    for (; ab_topics_next(&walk, &g) != NULL; is_begun = true) {
        if (!is_begun && intro != NULL)
            intro(h, report);
        if (g.fold != NULL && walk.is_new_turn) {
            if (is_folded)
                end_fold(h);
            ab_page_fold_begin(h, g.fold, walk.at.phase_index);
            ab_html_f(h, "<div class=\"tables\">\n");
            is_folded = true;
        }
        put_topic(h, report, &g);
        ab_grid_fini(&g);
    }
    if (is_folded)
        end_fold(h);
}
