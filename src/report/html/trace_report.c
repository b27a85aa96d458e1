/* SPDX-License-Identifier: MIT
 *
 * The sections of the page of a trace.
 */
#include "report/html/trace_report.h"

#include "base/bits.h"
#include "core/units_show.h"
#include "report/format.h"
#include "report/html/flame_figure.h"
#include "report/html/frame.h"
#include "report/html/pages/pages.h"

#include <math.h>
#include <stdlib.h>

/* ---- overview ---- */

static void put_facts(struct ab_html *h, const char *caption,
                      const struct ab_trace_report_fact *facts, size_t n)
{
    static const char *const columns[] = {"", "", NULL};
    ab_page_table_begin(h, caption, columns);
    for (size_t i = 0; i < n; i++)
        if (facts[i].text[0] != 0)
            ab_html_f(h, "<tr><th scope=\"row\">%s</th><td>%s</td></tr>\n", facts[i].name,
                      facts[i].text);
    ab_page_table_end(h);
}

static void put_overview(struct ab_html *h, const void *user)
{
    const struct ab_trace_report *r = user;
    put_facts(h, "The trace", r->facts, r->n_facts);
    ab_page_overview(h, r->overview);
}

/* ---- call sites ---- */

/* The script sorts by data-v. */
static void put_bytes(struct ab_html *h, uint64_t bytes)
{
    ab_html_f(h, "<td class=\"n\" data-v=\"%llu\">%s</td>", (unsigned long long)bytes,
              AB_BYTES(bytes));
}

static void put_numbers(struct ab_html *h, const struct ab_trace_report_site *s)
{
    char temporary[32];
    ab_html_f(h, "<td class=\"n\" data-v=\"%llu\">%llu</td>", (unsigned long long)s->calls,
              (unsigned long long)s->calls);
    put_bytes(h, s->bytes);
    put_bytes(h, s->peak_bytes);
    put_bytes(h, s->live_bytes);
    snprintf(temporary, sizeof temporary, s->calls > 0 ? "%llu (%.1f %%)" : "n/a",
             (unsigned long long)s->temporary, 100 * (double)s->temporary / (double)s->calls);
    ab_html_f(h, "<td class=\"n\" data-v=\"%llu\">%s</td>", (unsigned long long)s->temporary,
              temporary);
    if (s->median_life != UINT64_MAX)
        ab_html_f(h, "<td class=\"n\" data-v=\"%llu\">≤ %llu</td></tr>\n",
                  (unsigned long long)s->median_life, (unsigned long long)s->median_life);
    else
        ab_html_f(h, "<td class=\"n\" data-v=\"-1\">n/a</td></tr>\n");
}

static void put_site(struct ab_html *h, const struct ab_trace_report_site *s)
{
    ab_html_f(h, "<tr><th scope=\"row\" class=\"site\">");
    for (unsigned i = 0; i < AB_TRACE_REPORT_FRAMES && s->frames[i][0] != 0; i++)
        ab_html_f(h, i == 0 ? "<code>%s</code>" : "<br><code class=\"few\">&lt; %s</code>",
                  s->frames[i]);
    ab_html_f(h, "</th>");
    put_numbers(h, s);
}

static void put_rest(struct ab_html *h, const struct ab_trace_report *r)
{
    if (r->n_rest == 0)
        return;
    ab_html_f(h, "</tbody>\n<tbody><tr><th scope=\"row\">%zu more together</th>", r->n_rest);
    put_numbers(h, &r->rest);
}

static void put_sites(struct ab_html *h, const void *user)
{
    static const char *const columns[] = {
        "call site",    "#calls",     "#bytes",       "#live at peak",
        "#never freed", "#temporary", "#median life", NULL};
    const struct ab_trace_report *r = user;
    if (r->why_no_sites != NULL) {
        ab_html_f(h, "<p>%s</p>\n", r->why_no_sites);
        return;
    }
    ab_html_f(
        h, "<p>Calls that give a block, and the bytes that they ask for. <i>Live at peak</i>: of "
           "its blocks, when most bytes of the whole trace were live. <i>Temporary</i>: freed "
           "before the next allocation of the same thread. <i>Median life</i>: calls between "
           "allocation and free.</p>\n");
    ab_page_table_begin(h, "The call sites that are first in one of the columns", columns);
    for (size_t i = 0; i < r->n_sites; i++)
        put_site(h, &r->sites[i]);
    put_rest(h, r);
    ab_page_table_end(h);
}

static void put_flames(struct ab_html *h, const void *user)
{
    const struct ab_trace_report *r = user;
    if (r->why_no_sites == NULL)
        ab_flame_figures(h, r->stacks);
}

/* ---- scopes ---- */

static void put_curve(struct ab_html *h, const struct ab_trace_report *r, bool is_bytes)
{
    static struct ab_point low[AB_TRACE_REPORT_STEPS], high[AB_TRACE_REPORT_STEPS];
    double most = 0;
    for (size_t i = 0; i < r->n_steps; i++) {
        const struct ab_trace_report_step *s = &r->steps[i];
        double x = fmin(((double)i + .5) * (double)r->step_scopes, (double)r->n_scopes);
        low[i] = (struct ab_point){x, (double)(is_bytes ? s->bytes_low : s->allocs_low)};
        high[i] = (struct ab_point){x, (double)(is_bytes ? s->bytes_high : s->allocs_high)};
        most = fmax(most, high[i].y);
    }
    struct ab_plot plot = {
        .x = {AB_SCALE_LINEAR, 0, (double)r->n_scopes, "scopes", AB_AXIS_COUNT},
        .y = {AB_SCALE_LINEAR, 0, most, is_bytes ? "bytes" : "allocations",
              is_bytes ? AB_AXIS_BYTES : AB_AXIS_COUNT},
        .is_x_exact = true,
    };
    struct ab_paint paint = {.colour = AB_COLOUR_S0,
                             .title = is_bytes ? "bytes of a scope" : "allocations of a scope"};
    ab_plot_begin(
        &plot, h,
        &(struct ab_figure){
            .title = is_bytes ? "Bytes asked for, scope by scope" : "Allocations, scope by scope",
            .description = is_bytes ? "Bytes that the allocations and resizes of each "
                                      "scope ask for"
                                    : "Calls of each scope that allocate",
            .why = "The line is the most and the area goes down to the least of scopes "
                   "that follow each other. A high one is where the program would miss a "
                   "frame or a request takes long."});
    ab_plot_area(&plot, paint, low, high, r->n_steps);
    ab_plot_line(&plot, paint, high, r->n_steps);
    ab_plot_end(&plot);
}

static void put_scopes(struct ab_html *h, const void *user)
{
    const struct ab_trace_report *r = user;
    ab_html_f(h,
              "<p>A scope is a stretch of calls, a frame or a request: it ends where the program "
              "set a mark, or is found where its short-lived blocks are gone.</p>\n");
    put_facts(h, "Scopes of the program", r->scope_facts, r->n_scope_facts);
    if (r->n_steps == 0)
        return;
    ab_page_figures_begin(h);
    put_curve(h, r, false);
    put_curve(h, r, true);
    ab_page_figures_end(h);
}

/* ---- all ---- */

static const struct ab_frame_part parts[] = {
    {"overview", "Overview", put_overview},
    {"sites", "Call sites", put_sites},
    {"flame", "Flame graphs", put_flames},
    {"scopes", "Scopes", put_scopes},
};

bool ab_trace_report_write(FILE *to, const struct ab_trace_report *report)
{
    struct ab_html h = {.to = to};
    struct ab_format_guard guard;
    ab_format_begin(&guard);
    bool ok = ab_frame_document(&h, report->title, report->about, parts, AB_ARRAY_LEN(parts),
                                report);
    ab_format_end(&guard);
    return ok;
}
