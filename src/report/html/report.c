/* SPDX-License-Identifier: MIT
 *
 * The frame around the pages: head, policy, navigation. Pages are written first, into memory, so
 * that the navigation lists those that have something to show.
 */
#include "report/html/report.h"

#include "core/text.h"
#include "report/format.h"
#include "report/html/assets.h"
#include "report/html/embed.h"
#include "report/html/pages/latency_curve.h"
#include "report/html/pages/pages.h"
#include "report/sinks/sinks.h"

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

/* ---- head ---- */

static void add_colours(struct ab_text *t)
{
    ab_text_add(t, ":root{color-scheme:light dark");
    for (unsigned i = 0; i < AB_COLOUR_COUNT; i++)
        ab_text_addf(t, ";--%s:light-dark(%s,%s)", ab_colours[i].class_name, ab_colours[i].light,
                     ab_colours[i].dark);
    ab_text_add(t, "}\n");
    for (unsigned i = 0; i < AB_COLOUR_COUNT; i++)
        ab_text_addf(t, ".%s{color:var(--%s)}\n", ab_colours[i].class_name,
                     ab_colours[i].class_name);
}

static void put_head(struct ab_html *h, const struct ab_session *s)
{
    struct ab_text colours = {0};
    char style_digest[AB_ASSET_DIGEST_BYTES], script_digest[AB_ASSET_DIGEST_BYTES];
    struct ab_asset style = ab_asset_style(), script = ab_asset_script();
    add_colours(&colours);
    if (colours.s == NULL) {
        h->is_short_of_memory = true;
        return;
    }
    ab_asset_digest((const struct ab_asset[]){{colours.s, colours.n}, style}, 2, style_digest);
    ab_asset_digest(&script, 1, script_digest);
    ab_html_f(h,
              "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
              "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
              "style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'\">\n"
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
              "<meta name=\"referrer\" content=\"no-referrer\">\n"
              "<meta name=\"generator\" content=\"allocbench\">\n"
              "<title>%s - allocbench</title>\n<style>",
              style_digest, script_digest, s->name);
    fwrite(colours.s, 1, colours.n, h->to);
    fwrite(style.text, 1, style.n, h->to);
    ab_html_f(h, "</style>\n</head>\n");
    ab_text_fini(&colours);
}

static void put_navigation(struct ab_html *h, const struct ab_html_text *pages)
{
    ab_html_f(h, "<nav aria-label=\"Pages\">\n<ul>");
    for (size_t i = 0; i < ab_n_pages; i++)
        if (pages[i].n > 0)
            ab_html_f(h, "<li><a href=\"#%s\">%s</a></li>", ab_pages[i].id, ab_pages[i].title);
    ab_html_f(h, "</ul>\n</nav>\n");
}

static void put_pages(struct ab_html *h, const struct ab_html_text *pages)
{
    ab_html_f(h, "<main>\n");
    for (size_t i = 0; i < ab_n_pages; i++) {
        if (pages[i].n == 0)
            continue;
        ab_html_f(h, "<section id=\"%s\">\n<h2>%s</h2>\n", ab_pages[i].id, ab_pages[i].title);
        fwrite(pages[i].text, 1, pages[i].n, h->to);
        ab_html_f(h, "</section>\n");
    }
    ab_html_f(h, "</main>\n");
}

static void put_script(struct ab_html *h)
{
    struct ab_asset script = ab_asset_script();
    ab_html_f(h, "<script>");
    fwrite(script.text, 1, script.n, h->to);
    ab_html_f(h, "</script>\n");
}

static void put_document(struct ab_html *h, const struct ab_session *s,
                         const struct ab_html_text *pages)
{
    put_head(h, s);
    ab_html_f(h, "<body>\n<header>\n<h1>%s</h1>\n", s->name);
    if (s->about != NULL && s->about[0] != 0)
        ab_html_f(h, "<p class=\"soft\">%s</p>\n", s->about);
    ab_html_f(h, "</header>\n");
    put_navigation(h, pages);
    put_pages(h, pages);
    ab_html_f(h, "<footer class=\"soft\">allocbench %s</footer>\n",
              s->tool.version != NULL ? s->tool.version : AB_VERSION);
    if (!ab_html_embed(h->to, s, s->embed))
        h->is_short_of_memory = true;
    put_script(h);
    ab_html_f(h, "</body>\n</html>\n");
}

/* ---- pages ---- */

/* Goes on where *like is. */
static bool write_page(const struct ab_page *page, const struct ab_report *report,
                       struct ab_html *like, struct ab_html_text *out)
{
    struct ab_html h = *like;
    h.to = open_memstream(&out->text, &out->n);
    if (h.to == NULL)
        return false;
    page->write(&h, report);
    like->n_ids = h.n_ids;
    bool ok = ferror(h.to) == 0 && !h.is_short_of_memory;
    return fclose(h.to) == 0 && ok;
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
        ok = write_page(&ab_pages[i], report, like, &pages[i]);
    if (ok)
        return pages;
    free_pages(pages);
    return NULL;
}

static bool write_document(FILE *to, const struct ab_report *report)
{
    struct ab_html h = {.to = to};
    struct ab_html_text *pages = make_pages(report, &h);
    if (pages != NULL)
        put_document(&h, report->session, pages);
    free_pages(pages);
    return pages != NULL && !h.is_short_of_memory;
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
    bool ok = series != NULL && ab_view_make(session, &view);
    if (ok) {
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
