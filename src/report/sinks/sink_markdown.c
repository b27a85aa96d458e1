/* SPDX-License-Identifier: MIT
 *
 * Writes a summary in GitHub's Markdown: the verdict, the ranking, failures, and the rest folded
 * away, with all tables of the answer at the end. GitHub does not show a step summary above 1 MiB,
 * so the document stays below 900,000 bytes. Rows that do not fit are counted.
 */
#include "answer/findings.h"
#include "answer/topics.h"
#include "base/bits.h"
#include "core/alloc.h"
#include "core/text.h"
#include "core/units_show.h"
#include "report/ci/series.h"
#include "report/sinks/sinks.h"
#include "result/result.h"
#include "result/shown.h"
#include "stats/compare.h"
#include "stats/metric.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* RESERVE: bytes that are kept for the end of the document */
enum { MOST_BYTES = 900000, RESERVE = 10000 };

struct page {
    struct ab_text text;
    size_t n_left_out; /* number of rows that did not fit */
};

/* Adds a row, or counts it if it does not fit, and frees it. */
static void add_row(struct page *page, struct ab_text *row)
{
    if (row->s != NULL && page->text.n + row->n < MOST_BYTES - RESERVE)
        ab_text_add(&page->text, row->s);
    else
        page->n_left_out++;
    ab_text_fini(row);
}

static const char *sign_of(const struct ab_finding *f)
{
    static const char *const signs[AB_OUTCOME_COUNT] = {"\u274c", "\u274c", "\u26a0\ufe0f",
                                                        "\u2754", "\u2705"};
    return signs[f->outcome];
}

/* ---- the answer ---- */

/* True if the character would begin a list, a rule or a heading at the start of `text`, or a link
 * without brackets. */
static bool begins_markup(const char *text, const char *c)
{
    static const char digits[] = "0123456789";
    size_t n = strspn(text, digits);
    bool is_marker = strchr("-+=", text[0]) != NULL &&
                     (text[1] == ' ' || text[strspn(text, "-+= ")] == 0);
    return (c == text && is_marker) ||
           (n > 0 && c == text + n && (*c == '.' || *c == ')') && c[1] == ' ') ||
           strncmp(c, "://", 3) == 0 ||
           (*c == '.' && c - text >= 3 && strncasecmp(c - 3, "www", 3) == 0);
}

void ab_sinks_markdown_text(struct ab_text *to, const char *s)
{
    struct ab_text printable = {0};
    ab_finding_text(&printable, s);
    for (const char *c = printable.s; c != NULL && *c != 0; c++) {
        char one[3] = {*c, 0, 0};
        if (*c == '<')
            ab_text_add(to, "&lt;");
        else if (*c == '>')
            ab_text_add(to, "&gt;");
        else if (*c == '&')
            ab_text_add(to, "&amp;");
        else if (strchr("\\`*_[]|~#!", *c) != NULL || begins_markup(printable.s, c))
            ab_text_add(to, (one[1] = *c, one[0] = '\\', one));
        else
            ab_text_add(to, one);
    }
    ab_text_fini(&printable);
}

/* True if Markdown shows the columns of terminals instead of those of pages. */
static bool has_terminal_columns(const struct ab_grid *g)
{
    bool has_page_columns = false;
    for (unsigned c = 0; c < g->n_columns; c++)
        has_page_columns = has_page_columns || g->columns[c].in_html != NULL;
    return g->is_brief_in_markdown || !has_page_columns;
}

static const char *title_of(const struct ab_grid *g, unsigned column, bool is_terminal)
{
    const struct ab_grid_column *c = &g->columns[column];
    bool has_name = c->name != NULL && c->name[0] != 0;
    return !is_terminal ? c->in_html : c->title != NULL && has_name ? c->name : c->title;
}

/* Writes a time, or "<20 ns" below the clock's floor. */
static const char *time_text(char buf[AB_CELL_BYTES], double ns, double floor_ns)
{
    bool is_below = ns < floor_ns;
    buf[0] = '<';
    ab_units_time(buf + is_below, AB_CELL_BYTES - is_below, is_below ? floor_ns : ns);
    return buf;
}

/* Adds the text of a cell whose number is known. */
static void add_value(struct ab_text *t, const struct ab_grid *g, const struct ab_grid_cell *cell)
{
    const double x = cell->value, floor_ns = g->session->timer.floor_ns;
    char text[AB_CELL_BYTES] = "", second[AB_CELL_BYTES];
    if (cell->kind == AB_GRID_SHARE)
        ab_format_share(text, x, " ");
    else if (cell->kind == AB_GRID_AMOUNT)
        ab_units_count(text, sizeof text, x);
    else if (cell->kind == AB_GRID_BYTES)
        ab_units_bytes(text, sizeof text, x);
    else if (cell->kind == AB_GRID_COUNT)
        ab_format_count(text, x);
    else if (cell->kind == AB_GRID_PORTION)
        AB_FIT(text, "%.0f (%.3g %%)", x, 100 * cell->share);
    else if (cell->kind == AB_GRID_TIMES)
        AB_FIT(text, "%sx", ab_format_ratio(second, x));
    else if (cell->kind == AB_GRID_SCALED)
        AB_FIT(text, g->unit != NULL ? "%s %s" : "%s", cell->text, g->unit);
    else if (cell->kind == AB_GRID_LINE)
        ab_sparkline_series(text, cell->line, AB_GRID_POINTS, x, true);
    else if (cell->kind == AB_GRID_HISTOGRAM)
        ab_sparkline_hdr(text, cell->hdr, &g->range, AB_GRID_POINTS, true);
    else if (cell->kind == AB_GRID_NS || cell->kind == AB_GRID_CALL)
        time_text(text, x, floor_ns);
    else if (cell->kind != AB_GRID_BLANK)
        ab_units_time(text, sizeof text, x);
    ab_sinks_markdown_text(t, text);
}

static void add_cell(struct ab_text *t, const struct ab_grid *g, const struct ab_grid_cell *cell,
                     bool is_terminal)
{
    char first[AB_CELL_BYTES], second[AB_CELL_BYTES];
    bool is_text = cell->kind == AB_GRID_TEXT || cell->kind == AB_GRID_CODE ||
                   cell->kind == AB_GRID_PROSE;
    ab_text_add(t, " ");
    if (!is_terminal && cell->in_html != NULL) {
        ab_sinks_markdown_text(t, cell->in_html);
    } else if (is_text && cell->text != NULL) {
        ab_sinks_markdown_text(t, cell->text);
    } else if (cell->kind == AB_GRID_PAIR) {
        double floor_ns = g->session->timer.floor_ns;
        ab_sinks_markdown_text(t, isfinite(cell->value) ? time_text(first, cell->value, floor_ns)
                                                        : "n/a");
        ab_text_add(t, " / ");
        ab_sinks_markdown_text(t, isfinite(cell->second) ? time_text(second, cell->second, floor_ns)
                                                         : "n/a");
    } else if (!isfinite(cell->value)) {
        ab_text_add(t, is_text ? "-" : "n/a");
    } else {
        add_value(t, g, cell);
    }
    ab_text_add(t, " |");
}

/* Returns the title of the column of labels, or the first heading if the grid has no such title. */
static const char *title_of_labels(const struct ab_grid *g)
{
    bool has_heading = g->n_rows > 0 && g->rows[0].is_heading;
    return g->rows_are != NULL ? g->rows_are : has_heading ? g->rows[0].label : "";
}

static void add_head(struct ab_text *t, const struct ab_grid *g, bool is_terminal)
{
    struct ab_text rule = {0};
    ab_text_add(t, "| ");
    ab_sinks_markdown_text(t, title_of_labels(g));
    ab_text_add(t, " |");
    for (unsigned c = 0; c < g->n_columns; c++) {
        const char *title = title_of(g, c, is_terminal);
        if (title == NULL)
            continue;
        bool is_number = is_terminal || title[0] == '#';
        ab_text_add(t, " ");
        ab_sinks_markdown_text(t, title[0] == '#' ? title + 1 : title);
        ab_text_add(t, " |");
        ab_text_add(&rule, is_number ? "---:|" : "---|");
    }
    ab_text_addf(t, "\n|---|%s\n", rule.s != NULL ? rule.s : "");
    ab_text_fini(&rule);
}

/* True if the table has this row. Headings are rows only in tables with the columns of terminals,
 * because pages have a column for them. The first heading is the title of the labels instead. */
static bool has_row(const struct ab_grid *g, size_t row, bool is_terminal)
{
    const struct ab_grid_row *r = &g->rows[row];
    if (r->is_heading)
        return is_terminal && row > 0 && r->label[0] != 0;
    return is_terminal || !r->is_terminal_only;
}

static void add_paragraph(struct ab_text *t, const char *text)
{
    ab_sinks_markdown_text(t, text);
    ab_text_add(t, "\n\n");
}

/* Adds the lines of the note, unless the note belongs to a column that is not shown. */
static void add_note(struct ab_text *t, const struct ab_grid *g, bool is_terminal)
{
    if (g->note == NULL ||
        (g->note_column > 0 && title_of(g, g->note_column - 1, is_terminal) == NULL))
        return;
    char *lines = ab_strdup(g->note), *rest = lines;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;)
        add_paragraph(t, line + strspn(line, " "));
    free(lines);
}

void ab_sinks_markdown_grid(struct ab_text *t, const struct ab_grid *g)
{
    bool is_terminal = has_terminal_columns(g);
    add_head(t, g, is_terminal);
    for (size_t i = 0; i < g->n_rows; i++) {
        const struct ab_grid_row *row = &g->rows[i];
        const char *mark = row->is_heading ? "**" : "";
        if (!has_row(g, i, is_terminal))
            continue;
        ab_text_addf(t, "| %s", mark);
        ab_sinks_markdown_text(t, row->label);
        if (row->tail != NULL && !row->is_heading)
            ab_sinks_markdown_text(t, row->tail);
        ab_text_addf(t, "%s |", mark);
        for (unsigned c = 0; c < g->n_columns; c++)
            if (title_of(g, c, is_terminal) != NULL)
                add_cell(t, g, &row->cells[c], is_terminal);
        ab_text_add(t, "\n");
    }
    ab_text_add(t, "\n");
    add_note(t, g, is_terminal);
}

static void add_list(struct ab_text *t, const struct ab_view_texts *items)
{
    for (size_t i = 0; i < items->n; i++) {
        ab_text_add(t, "- ");
        ab_sinks_markdown_text(t, items->items[i]);
        ab_text_add(t, i + 1 < items->n ? "\n" : "\n\n");
    }
}

static void add_topic(struct ab_text *t, const struct ab_grid *g, bool has_titles)
{
    if (has_titles && g->caption != NULL)
        add_paragraph(t, g->caption);
    if (g->remark != NULL)
        add_paragraph(t, g->remark);
    ab_sinks_markdown_grid(t, g);
    add_list(t, &g->sentences);
    for (size_t i = 0; i < g->closing.n && has_titles; i++)
        add_paragraph(t, g->closing.items[i]);
}

/* Returns the number of rows that the table has, without headings. */
static size_t count_rows(const struct ab_grid *g)
{
    bool is_terminal = has_terminal_columns(g);
    size_t n = 0;
    for (size_t i = 0; i < g->n_rows; i++)
        n += !g->rows[i].is_heading && has_row(g, i, is_terminal);
    return n;
}

/* Adds the tables of a place. If a table does not fit, its rows are only counted. */
static void add_topics(struct page *page, const struct ab_view *v, enum ab_markdown_place place)
{
    struct ab_topic_walk walk = {.at = {.view = v, .surface = AB_MARKDOWN}, .place = place};
    struct ab_grid g;
    while (ab_topics_next(&walk, &g) != NULL) {
        struct ab_text table = {0};
        const size_t n_rows = count_rows(&g);
        if (n_rows > 0)
            add_topic(&table, &g, place >= AB_MARKDOWN_PINS);
        if (page->text.n + table.n >= MOST_BYTES - RESERVE)
            page->n_left_out += n_rows;
        else if (n_rows > 0)
            ab_text_add(&page->text, table.s);
        ab_text_fini(&table);
        ab_grid_fini(&g);
    }
}

static void add_warnings(struct ab_text *t, const struct ab_view_warnings *warnings)
{
    for (size_t i = 0; i < warnings->n; i++) {
        const struct ab_view_warning *w = &warnings->items[i];
        if (w->severity == AB_VIEW_NOTE)
            continue;
        ab_text_add(t, "- ");
        ab_sinks_markdown_text(t, w->text);
        if (w->remedy[0] != 0) {
            ab_text_add(t, "; what helps: ");
            ab_sinks_markdown_text(t, w->remedy);
        }
        ab_text_add(t, "\n");
    }
    ab_text_add(t, "\n");
}

/* Writes the verdict in sentences, the ranking and the warnings. Writes nothing if no back end has
 * numbers. */
static void add_answer(struct page *page, const struct ab_view *v)
{
    const struct ab_view_sentences *said = ab_view_sentences(v);
    struct ab_text *to = &page->text;
    struct ab_view_texts names = {0};
    if (v->ranking.n_ranked == 0)
        return;
    for (unsigned i = 0; i < said->headline.n_sentences; i++) {
        ab_sinks_markdown_text(to, said->headline.sentences[i]);
        ab_text_add(to, "\n");
    }
    ab_text_add(to, "\n");
    add_topics(page, v, AB_MARKDOWN_RANKING);
    ab_view_names(v->session, &names);
    add_list(to, &names);
    ab_view_texts_fini(&names);
    add_topics(page, v, AB_MARKDOWN_ANSWER);
    add_topics(page, v, AB_MARKDOWN_IDLE);
    add_topics(page, v, AB_MARKDOWN_PINS);
    add_warnings(to, &said->warnings);
}

static void add_finding(struct page *page, const struct ab_finding *f)
{
    struct ab_text row = {0};
    ab_text_addf(&row, "| %s ", f->is_shown_only ? "" : sign_of(f));
    ab_sinks_markdown_text(&row, f->verdict);
    ab_text_add(&row, " | ");
    ab_sinks_markdown_text(&row, f->title.s);
    ab_text_add(&row, " | ");
    ab_sinks_markdown_text(&row, f->sentence.s);
    ab_text_add(&row, " |\n");
    add_row(page, &row);
}

/* Adds the findings with an outcome from `first` to before `end`: those without a limit if
 * is_shown_only, otherwise those with one. */
static void add_findings(struct page *page, const struct ab_findings *all,
                         enum ab_finding_outcome first, enum ab_finding_outcome end,
                         bool is_shown_only)
{
    ab_text_add(&page->text, "| verdict | what | in words |\n|---|---|---|\n");
    for (size_t i = 0; i < all->n; i++) {
        const struct ab_finding *f = &all->items[i];
        if (f->outcome >= first && f->outcome < end && f->is_shown_only == is_shown_only)
            add_finding(page, f);
    }
    ab_text_add(&page->text, "\n");
}

static void begin_details(struct page *page, const char *summary)
{
    ab_text_addf(&page->text, "<details>\n<summary>%s</summary>\n\n", summary);
}

static void end_details(struct page *page)
{
    ab_text_add(&page->text, "</details>\n\n");
}

static void add_headline(struct page *page, const struct ab_session *s,
                         const struct ab_findings *all)
{
    bool is_bad = all->counts[AB_OUTCOME_FAILED] + all->counts[AB_OUTCOME_ERROR] > 0;
    struct ab_text counts = {0};
    ab_findings_count(all, &counts);
    ab_text_addf(&page->text, "## %s allocbench: ", is_bad ? "\u274c" : "\u2705");
    ab_sinks_markdown_text(&page->text, s->name);
    ab_text_addf(&page->text, " %s\n\n%s.\n\n", is_bad ? "failed" : "passed",
                 counts.s != NULL ? counts.s : "");
    ab_text_fini(&counts);
}

static void add_number(const struct ab_session *s, const struct ab_series *x, void *user)
{
    struct page *page = user;
    struct ab_text row = {0};
    char value[AB_CELL_BYTES], low[AB_CELL_BYTES], high[AB_CELL_BYTES];
    const char *unit = ab_metric_unit(&x->metric);
    ab_text_add(&row, "| ");
    ab_sinks_markdown_text(&row, ab_backend_label(&s->backends[x->backend]));
    ab_text_add(&row, " | ");
    ab_sinks_markdown_text(&row, x->metric.phase);
    ab_text_add(&row, " | ");
    ab_sinks_markdown_text(&row, x->place);
    ab_text_add(&row, " | ");
    ab_sinks_markdown_text(&row, x->name);
    ab_text_addf(&row, " | %s%s | ", x->is_floor ? "&lt; " : "",
                 ab_format_value(value, x->value, unit));
    if (x->n_rounds > 0)
        ab_text_addf(&row, "%s to %s", ab_format_value(low, x->low, unit),
                     ab_format_value(high, x->high, unit));
    ab_text_addf(&row, " | %u |\n", x->n_rounds);
    add_row(page, &row);
}

static void add_numbers(struct page *page, const struct ab_session *s)
{
    begin_details(page, "All numbers");
    ab_text_add(&page->text,
                "| back end | phase | op | metric | value | over the rounds | rounds |\n"
                "|---|---|---|---|---:|---:|---:|\n");
    ab_series_each(s, add_number, page);
    ab_text_add(&page->text, "\n");
    end_details(page);
}

static void add_fact(struct page *page, const char *what, const char *text)
{
    struct ab_text row = {0};
    if (text == NULL || text[0] == 0)
        return;
    ab_text_addf(&row, "| %s | ", what);
    ab_sinks_markdown_text(&row, text);
    ab_text_add(&row, " |\n");
    add_row(page, &row);
}

static void add_conditions(struct page *page, const struct ab_view *v)
{
    const struct ab_comparison *comparison = v->session->comparison;
    begin_details(page, "Machine and command");
    if (comparison != NULL) {
        ab_text_add(&page->text, "| | |\n|---|---|\n");
        add_fact(page, "base", comparison->base_label);
        for (uint32_t i = 0; i < comparison->n_notes; i++)
            add_fact(page, "note", comparison->notes[i]);
        ab_text_add(&page->text, "\n");
    }
    add_topics(page, v, AB_MARKDOWN_CONDITIONS);
    end_details(page);
}

static void add_document(struct page *page, const struct ab_view *v, const struct ab_findings *all)
{
    const struct ab_session *s = v->session;
    size_t n_bad = 0;
    for (unsigned i = AB_OUTCOME_FAILED; i <= AB_OUTCOME_WARNED; i++)
        n_bad += all->counts[i];
    add_headline(page, s, all);
    add_answer(page, v);
    if (n_bad > 0)
        add_findings(page, all, AB_OUTCOME_FAILED, AB_OUTCOME_SKIPPED, false);
    if (all->counts[AB_OUTCOME_SKIPPED] > 0) {
        begin_details(page, "Skipped or inconclusive");
        add_findings(page, all, AB_OUTCOME_SKIPPED, AB_OUTCOME_PASSED, false);
        end_details(page);
    }
    begin_details(page, "Passed");
    add_findings(page, all, AB_OUTCOME_PASSED, AB_OUTCOME_COUNT, false);
    end_details(page);
    if (s->comparison != NULL) {
        begin_details(page, "Compared without a limit");
        add_findings(page, all, AB_OUTCOME_FAILED, AB_OUTCOME_COUNT, true);
        end_details(page);
    }
    add_numbers(page, s);
    add_conditions(page, v);
    begin_details(page, "All tables");
    add_topics(page, v, AB_MARKDOWN_MORE);
    end_details(page);
    if (page->n_left_out > 0)
        ab_text_addf(&page->text, "%zu rows are left out: a summary may have 1 MiB.\n",
                     page->n_left_out);
}

void ab_sink_markdown(FILE *to, const struct ab_session *session)
{
    struct ab_findings all;
    struct ab_format_guard guard;
    struct page page = {0};
    struct ab_view view;
    ab_format_begin(&guard);
    ab_view_make(session, &view);
    ab_findings_make(session, &all);
    add_document(&page, &view, &all);
    fputs(page.text.s, to);
    ab_view_fini(&view);
    ab_text_fini(&page.text);
    ab_findings_fini(&all);
    ab_format_end(&guard);
}
