/* SPDX-License-Identifier: MIT
 *
 * Which back ends are drawn how, and the pages in their frame.
 */
#include "report/html/report.h"

#include "report/format.h"
#include "report/html/embed.h"
#include "report/html/frame.h"
#include "report/html/pages/latency_curve.h"
#include "report/html/pages/pages.h"
#include "report/sinks/sinks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is drawn how ---- */

static size_t count_names(const struct ab_session *s, const struct ab_comparison *const *c,
                          size_t n)
{
    size_t count = s->n_backends;
    for (size_t i = 0; i < n; i++)
        count += c[i]->base->n_backends + c[i]->now->n_backends;
    return count;
}

static void add_names(const struct ab_session *s, const char **names, size_t *n)
{
    for (uint32_t b = 0; b < s->n_backends; b++) {
        size_t i = 0;
        while (i < *n && strcmp(names[i], s->backends[b].name) != 0)
            i++;
        if (i == *n)
            names[(*n)++] = s->backends[b].name;
    }
}

/* The names of all results, each once; what is returned belongs to the caller, NULL: no memory. */
static struct ab_report_series *make_series(const struct ab_session *s,
                                            const struct ab_comparison *const *c, size_t n_c,
                                            size_t *n_out)
{
    size_t most = count_names(s, c, n_c) + 1, n = 0;
    const char **names = calloc(most, sizeof names[0]);
    struct ab_series_style *styles = calloc(most, sizeof styles[0]);
    struct ab_report_series *series = calloc(most, sizeof series[0]);
    if (names != NULL && styles != NULL && series != NULL) {
        add_names(s, names, &n);
        for (size_t i = 0; i < n_c; i++) {
            add_names(c[i]->base, names, &n);
            add_names(c[i]->now, names, &n);
        }
        ab_palette_assign(names, n, styles);
        for (size_t i = 0; i < n; i++)
            series[i] = (struct ab_report_series){names[i], styles[i], (uint32_t)i + 1};
        *n_out = n;
    } else {
        free(series);
        series = NULL;
    }
    free(names);
    free(styles);
    return series;
}

/* ---- pages ---- */

struct page_of { /* a report */
    const struct ab_page *page;
    const struct ab_report *report;
};

static void write_page(struct ab_html *h, const void *user)
{
    const struct page_of *p = user;
    p->page->write(h, p->report);
}

static void free_pages(struct ab_html_text *pages)
{
    for (size_t i = 0; i < ab_n_pages && pages != NULL; i++)
        free(pages[i].text);
    free(pages);
}

/* NULL: out of memory. */
static struct ab_html_text *make_pages(const struct ab_report *report, struct ab_html *like)
{
    struct ab_html_text *pages = calloc(ab_n_pages, sizeof pages[0]);
    bool ok = pages != NULL;
    for (size_t i = 0; i < ab_n_pages && ok; i++)
        ok = ab_frame_write(like, write_page, &(struct page_of){&ab_pages[i], report}, &pages[i]);
    if (ok)
        return pages;
    free_pages(pages);
    return NULL;
}

/* The comparison of two results that the report is about; NULL = it is about one. */
static const struct ab_comparison *find_subject(const struct ab_report *report)
{
    for (size_t i = 0; i < report->n_comparisons; i++)
        if (report->comparisons[i]->base != report->comparisons[i]->now)
            return report->comparisons[i];
    return NULL;
}

/* What the report is about comes first. */
static bool put_sections(struct ab_html *h, const struct ab_report *report,
                         const struct ab_html_text *pages)
{
    struct ab_frame_section *sections = calloc(ab_n_pages, sizeof sections[0]);
    size_t n = 0;
    for (unsigned is_rest = 0; is_rest < 2 && sections != NULL; is_rest++)
        for (size_t i = 0; i < ab_n_pages; i++) {
            bool is_first = ab_pages[i].write == ab_page_compare && find_subject(report) != NULL;
            if (is_first != (is_rest == 1))
                sections[n++] = (struct ab_frame_section){ab_pages[i].id, ab_pages[i].title,
                                                          pages[i]};
        }
    if (sections != NULL)
        ab_frame_sections(h, sections, ab_n_pages);
    free(sections);
    return sections != NULL;
}

static void begin_document(struct ab_html *h, const struct ab_report *report)
{
    const struct ab_comparison *c = find_subject(report);
    const struct ab_session *s = report->session;
    char title[1024];
    snprintf(title, sizeof title, "%.300s", s->name);
    if (c != NULL && c->base_label != NULL && c->now_label != NULL)
        snprintf(title, sizeof title, "%.300s: %.300s against %.300s", s->name, c->now_label,
                 c->base_label);
    ab_frame_begin(h, title, s->about);
}

static bool put_document(struct ab_html *h, const struct ab_report *report,
                         const struct ab_html_text *pages)
{
    const struct ab_session *s = report->session;
    begin_document(h, report);
    bool ok = put_sections(h, report, pages);
    ab_frame_footer(h, s->tool.version);
    ok = ok && ab_html_embed(h->to, s, s->embed);
    ab_frame_end(h);
    return ok;
}

static bool write_document(FILE *to, const struct ab_report *report)
{
    struct ab_html h = {.to = to};
    struct ab_html_text *pages = make_pages(report, &h);
    bool ok = pages != NULL && put_document(&h, report, pages);
    free_pages(pages);
    return ok && !h.is_short_of_memory;
}

/* Hands the report to `use`, with all that it needs. False: out of memory. */
static bool with_report(const struct ab_session *session,
                        const struct ab_comparison *const *comparisons, size_t n_comparisons,
                        bool (*use)(void *user, const struct ab_report *report), void *user)
{
    struct ab_format_guard guard;
    struct ab_view view;
    struct ab_report report = {.session = session,
                               .view = &view,
                               .comparisons = comparisons,
                               .n_comparisons = n_comparisons,
                               .n_curve_points = ab_latency_points(session)};
    struct ab_report_series *series = make_series(session, comparisons, n_comparisons,
                                                  &report.n_series);
    bool ok = series != NULL;
    if (ok) {
        ab_view_make(session, &view);
        report.series = series;
        ab_format_begin(&guard);
        ok = use(user, &report);
        ab_format_end(&guard);
        ab_view_fini(&view);
    }
    free(series);
    return ok;
}

static bool use_document(void *user, const struct ab_report *report)
{
    return write_document(user, report);
}

static bool use_pages(void *user, const struct ab_report *report)
{
    struct ab_html like = {.is_alone = true};
    struct ab_html_text **pages = user;
    return (*pages = make_pages(report, &like)) != NULL;
}

bool ab_report_write(FILE *to, const struct ab_session *session,
                     const struct ab_comparison *const *comparisons, size_t n_comparisons)
{
    return with_report(session, comparisons, n_comparisons, use_document, to);
}

struct ab_html_text *ab_report_pages(const struct ab_session *session)
{
    struct ab_html_text *pages = NULL;
    const struct ab_comparison *one = session->comparison;
    return with_report(session, &one, one != NULL ? 1 : 0, use_pages, &pages) ? pages : NULL;
}

bool ab_sink_html(FILE *to, const struct ab_session *session)
{
    const struct ab_comparison *one = session->comparison;
    return ab_report_write(to, session, &one, one != NULL ? 1 : 0);
}
