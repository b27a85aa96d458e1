/* SPDX-License-Identifier: MIT
 *
 * What every page of a report is given, and what pages have in common.
 */
#ifndef AB_REPORT_HTML_PAGES_H
#define AB_REPORT_HTML_PAGES_H

#include "report/html/html.h"
#include "report/html/plot.h"
#include "report/view/grid.h"
#include "report/view/view.h"
#include "result/result.h"
#include "stats/compare.h"

struct ab_report_series {     /* a back end's name; of all results of the report */
    const char *name, *title; /* identity, and the short name that is shown */
    struct ab_series_style style;
    uint32_t number; /* from 1 on, for ab_paint.series */
};

struct ab_report {
    const struct ab_session *session; /* what the pages are about; of several results the last */
    const struct ab_view *view;       /* the answer of it */
    const struct ab_comparison *const *comparisons; /* each of a result with the base */
    size_t n_comparisons;
    const struct ab_report_series *series;
    size_t n_series;
    size_t n_curve_points; /* of a curve of latency, so that those of a whole report stay small */
};

struct ab_page {
    const char *id, *title;
    void (*write)(struct ab_html *h, const struct ab_report *report);
};
extern const struct ab_page ab_pages[];
extern const size_t ab_n_pages;

/* How a back end of this name is drawn; title is its name. */
struct ab_paint ab_report_paint(const struct ab_report *report, const char *name);

/* The settings that short names stand for, below a table. */
void ab_page_names(struct ab_html *h, const struct ab_session *s);

/* A swatch and a name, of any result of the report. */
void ab_page_name(struct ab_html *h, const struct ab_report *report, const char *name);
/* The back end of the session at a place of the ranking, of session->n_backends: pictures, tables and
 * legends have them in this order. */
uint32_t ab_page_ranked(const struct ab_report *report, uint32_t place);
/* The back ends of the session that have numbers, null not among them. */
void ab_page_legend(struct ab_html *h, const struct ab_report *report);
/* The same for ab_figure.legend; to be freed. */
struct ab_paint *ab_page_paints(const struct ab_report *report, size_t *n);

/* An entry of a legend of areas (<ul class="legend">). */
void ab_page_key(struct ab_html *h, enum ab_colour colour, const char *text);

/* Resident memory over time, a line for each back end; nothing where it is not known. */
void ab_page_courses(struct ab_html *h, const struct ab_report *report);

/* Figures side by side, as far as the window is wide. */
void ab_page_figures_begin(struct ab_html *h);
void ab_page_figures_end(struct ab_html *h);

/* A part of a page with a heading that can be folded; only those before AB_PAGE_OPEN are open. */
enum { AB_PAGE_OPEN = 6 };
void ab_page_fold_begin(struct ab_html *h, const char *title, unsigned index);
void ab_page_fold_end(struct ab_html *h);

/* Around the figures of each phase: AB_PAGE_PHASES phases share a group, all groups but the first
 * are folded. */
enum { AB_PAGE_PHASES = 8 };
void ab_page_phases_begin(struct ab_html *h, uint32_t n_phases, uint32_t phase);
void ab_page_phases_end(struct ab_html *h, uint32_t n_phases, uint32_t phase);

/* The name, cut in the middle where it has more than `most` characters; printable. */
const char *ab_page_cut(char *buf, size_t cap, const char *name, unsigned most);

/* A table that scrolls by itself where it is wide. columns: names, ends with NULL; those that begin
 * with '#' have numbers (aligned right, the '#' is not shown). Rows: <tr> and cells by the page;
 * cells of numbers are <td class="n">. */
void ab_page_table_begin(struct ab_html *h, const char *caption, const char *const *columns);
void ab_page_table_end(struct ab_html *h);
/* A grid as such a table, its rows of back ends in the order of the ranking, if it is no list. */
void ab_page_grid(struct ab_html *h, const struct ab_report *report, const char *caption,
                  const struct ab_grid *g);

#define AB_PAGE(id, title, function) \
    void function(struct ab_html *h, const struct ab_report *report);
#include "report/html/pages.def"
#undef AB_PAGE

#endif
