/* SPDX-License-Identifier: MIT
 *
 * The data that every page of a report gets, and functions that pages share.
 */
#ifndef AB_REPORT_HTML_REPORT_PAGES_H
#define AB_REPORT_HTML_REPORT_PAGES_H

#include "answer/answer.h"
#include "answer/grid.h"
#include "answer/topics.h"
#include "report/html/html.h"
#include "report/html/plot.h"
#include "result/result.h"
#include "stats/compare.h"

struct ab_report_series { /* a back end, known by its name, in all results of the report */
    /* name: identifies the back end; title: the short name that is shown */
    const char *name, *title;
    struct ab_series_style style;
    uint32_t number; /* number of the series, from 1 on; used as ab_paint.series */
};

struct ab_report {
    const struct ab_session *session; /* the session that the pages are about; with several results,
                                         the last */
    const struct ab_view *view;       /* the answer about that session */
    const struct ab_comparison *const *comparisons; /* comparisons of results with the base */
    size_t n_comparisons;
    const struct ab_report_series *series;
    size_t n_series;
    size_t n_curve_points; /* points per latency curve, so that the curves of a report stay small */
};

struct ab_page {
    const char *id, *title;
    void (*write)(struct ab_html *h, const struct ab_report *report);
};
extern const struct ab_page ab_pages[];
extern const size_t ab_n_pages;

/* Returns the colour and dashes of the back end of this name. The title of the paint is its short
 * name. */
struct ab_paint ab_report_paint(const struct ab_report *report, const char *name);

/* Writes the settings that short names stand for, below a table. */
void ab_page_names(struct ab_html *h, const struct ab_session *s);

/* Writes a swatch and a name, which may be of any result of the report. */
void ab_page_name(struct ab_html *h, const struct ab_report *report, const char *name);
/* Returns the back end at a place of the ranking, from 0 to session->n_backends - 1. Pictures,
 * tables and legends use this order. */
uint32_t ab_page_ranked(const struct ab_report *report, uint32_t place);
/* Writes a legend of the back ends that have numbers, without the null back end. */
void ab_page_legend(struct ab_html *h, const struct ab_report *report);
/* Returns the back ends of ab_page_legend as entries for ab_figure.legend. The caller frees the
 * list. */
struct ab_paint *ab_page_paints(const struct ab_report *report, size_t *n);

/* Writes an entry of a legend of areas (<ul class="legend">). */
void ab_page_key(struct ab_html *h, enum ab_colour colour, const char *text);

/* Draws resident memory over time, a line per back end. Draws nothing if it is not known. */
void ab_page_courses(struct ab_html *h, const struct ab_report *report);

/* Wrap figures side by side as far as the window allows. */
void ab_page_figures_begin(struct ab_html *h);
void ab_page_figures_end(struct ab_html *h);

/* Wrap a part of a page with a heading that folds; parts with an index below AB_PAGE_OPEN are
 * open. */
enum { AB_PAGE_OPEN = 6 };
void ab_page_fold_begin(struct ab_html *h, const char *title, unsigned index);
void ab_page_fold_end(struct ab_html *h);

/* Wrap the figures of each phase. AB_PAGE_PHASES (answer/topics.h) phases share a group; all groups
 * except the first are folded. */
void ab_page_phases_begin(struct ab_html *h, uint32_t n_phases, uint32_t phase);
void ab_page_phases_end(struct ab_html *h, uint32_t n_phases, uint32_t phase);

/* Writes the printable name, cut in the middle if it is longer than `most` characters. */
const char *ab_page_cut(char *buf, size_t cap, const char *name, unsigned most);

/* Wrap a table that scrolls by itself if it is wide. `columns` ends with NULL. A leading '#' marks
 * a column of numbers, aligned right, and is not shown. The page writes <tr> and cells itself;
 * cells with numbers are <td class="n">. */
void ab_page_table_begin(struct ab_html *h, const char *caption, const char *const *columns);
void ab_page_table_end(struct ab_html *h);
/* Writes the tables of the topics of a place (answer/topics.def), with their sentences below; phase
 * NULL = of all phases. If there are any tables, calls `intro` before the first; NULL = no
 * introduction. */
void ab_page_topics(struct ab_html *h, const struct ab_report *report, enum ab_page_place place,
                    const char *phase,
                    void (*intro)(struct ab_html *h, const struct ab_report *report));
/* Writes a grid as a table. Rows of back ends are in the order of the ranking, unless the grid is a
 * list. `report` NULL = the grid has no rows of back ends. */
void ab_page_grid(struct ab_html *h, const struct ab_report *report, const char *caption,
                  const struct ab_grid *g);

#define AB_PAGE(id, title, function) \
    void function(struct ab_html *h, const struct ab_report *report);
#include "report/html/report_pages.def"
#undef AB_PAGE

#endif
