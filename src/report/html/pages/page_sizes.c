/* SPDX-License-Identifier: MIT
 *
 * Latency by the size that was asked for: a table for each phase and kind of call, shaded where a
 * back end is much slower than the fastest.
 */
#include "report/html/pages/pages.h"

#include "core/units_show.h"
#include "report/format.h"
#include "stats/aggregate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Beyond that phases are taken together, so that the page stays small. */
enum { PHASES_MOST = 8, FEW = 20 };

struct cell {
    uint64_t n; /* calls, those that overflowed included */
    double p50, p99;
};

struct sizes { /* a table: [size class · n_backends + back end] */
    const struct ab_report *report;
    const char *phase; /* NULL = all */
    unsigned op;
    struct cell *cells;
    struct ab_hdr *hdr;
};

static bool belongs(const struct sizes *t, const struct ab_size_class *c)
{
    return c->op == t->op && (t->phase == NULL || strcmp(c->phase, t->phase) == 0) &&
           ab_page_shows(t->report->session, c->backend);
}

static void fill_cell(const struct sizes *t, unsigned log2, uint32_t backend)
{
    const struct ab_session *s = t->report->session;
    struct cell *cell = &t->cells[log2 * s->n_backends + backend];
    ab_hdr_init(t->hdr);
    for (uint32_t i = 0; i < s->n_size_classes; i++) {
        const struct ab_size_class *c = &s->size_classes[i];
        if (c->log2 == log2 && c->backend == backend && belongs(t, c))
            ab_hdr_merge(t->hdr, c->hdr);
    }
    *cell = (struct cell){ab_hdr_total(t->hdr) + t->hdr->overflow, ab_result_quantile(t->hdr, .5),
                          ab_result_quantile(t->hdr, .99)};
}

/* Some back end has enough calls to say something. */
static bool is_shown(const struct sizes *t, unsigned log2)
{
    bool is_any = false;
    for (uint32_t b = 0; b < t->report->session->n_backends; b++)
        is_any = is_any || t->cells[log2 * t->report->session->n_backends + b].n >= FEW;
    return is_any;
}

/* False: there are too few such calls of every size. */
static bool fill(const struct sizes *t)
{
    const struct ab_session *s = t->report->session;
    bool is_any = false;
    memset(t->cells, 0, AB_SIZE_CLASS_COUNT * (size_t)s->n_backends * sizeof t->cells[0]);
    for (uint32_t i = 0; i < s->n_size_classes; i++) {
        const struct ab_size_class *c = &s->size_classes[i];
        if (belongs(t, c) && t->cells[c->log2 * s->n_backends + c->backend].n == 0)
            fill_cell(t, c->log2, c->backend);
    }
    for (unsigned k = 0; k < AB_SIZE_CLASS_COUNT; k++)
        is_any = is_any || is_shown(t, k);
    return is_any;
}

/* All back ends do the same calls: the share is that of what was timed. */
static uint64_t count(const struct sizes *t, unsigned log2)
{
    uint64_t n = 0;
    for (uint32_t b = 0; b < t->report->session->n_backends; b++)
        n += t->cells[log2 * t->report->session->n_backends + b].n;
    return n;
}

static void put_size(struct ab_html *h, unsigned log2, uint64_t n, uint64_t all)
{
    char label[AB_CELL_BYTES], share[32];
    double percent = 100 * (double)n / (double)all;
    snprintf(share, sizeof share, percent < 0.005 ? "<0.01 %%" : "%.2f %%", percent);
    ab_html_f(h, "<tr><th scope=\"row\">%s</th><td class=\"n\">%s</td>",
              ab_format_size_class(label, log2), share);
}

/* Shades begin where a p99 is a quarter above the least of the row. */
static unsigned shade(double p99, double least)
{
    static const double steps[] = {1.25, 2, 4, 8};
    unsigned n = 0;
    while (n < 4 && isfinite(least) && p99 > steps[n] * least)
        n++;
    return n;
}

static void put_row(struct ab_html *h, const struct sizes *t, unsigned log2, uint64_t all)
{
    const struct ab_session *s = t->report->session;
    const struct cell *row = &t->cells[log2 * s->n_backends];
    double least = NAN;
    for (uint32_t b = 0; b < s->n_backends; b++)
        if (row[b].n >= FEW && isfinite(row[b].p99) && ab_backend_is_comparable(&s->backends[b]))
            least = fmin(least, fmax(row[b].p99, s->timer.floor_ns));
    put_size(h, log2, count(t, log2), all);
    for (uint32_t i = 0; i < s->n_backends; i++) {
        uint32_t b = ab_page_ranked(t->report, i);
        char p50[48], p99[48];
        if (!ab_page_shows(s, b))
            continue;
        if (row[b].n < FEW) {
            ab_html_f(h, "<td class=\"n few\">%s</td>", row[b].n == 0 ? "" : "too few");
            continue;
        }
        ab_html_f(h, "<td class=\"n %s%u\">%s / %s</td>", isnan(row[b].p99) ? "few h" : "h",
                  shade(row[b].p99, least),
                  ab_axis_time_text(p50, sizeof p50, row[b].p50, s->timer.floor_ns),
                  ab_axis_time_text(p99, sizeof p99, row[b].p99, s->timer.floor_ns));
    }
    ab_html_f(h, "</tr>\n");
}

static void put_head(struct ab_html *h, const struct sizes *t)
{
    const struct ab_session *s = t->report->session;
    char label[sizeof s->backends->name + 32];
    ab_html_f(h,
              "<div class=\"scroll\"><table>\n<caption>%s: p50 / p99 of a call</caption>\n"
              "<thead><tr><th scope=\"col\">size</th><th scope=\"col\" class=\"n\">calls</th>",
              ab_result_op_name(t->op));
    for (uint32_t i = 0; i < s->n_backends; i++)
        if (ab_page_shows(s, ab_page_ranked(t->report, i)))
            ab_html_f(
                h, "<th scope=\"col\" class=\"n\">%s</th>",
                ab_format_backend(label, sizeof label, &s->backends[ab_page_ranked(t->report, i)]));
    ab_html_f(h, "</tr></thead>\n<tbody>\n");
}

static void put_table(struct ab_html *h, const struct sizes *t)
{
    uint64_t all = 0;
    put_head(h, t);
    for (unsigned k = 0; k < AB_SIZE_CLASS_COUNT; k++)
        all += count(t, k);
    for (unsigned k = 0; k < AB_SIZE_CLASS_COUNT; k++)
        if (is_shown(t, k))
            put_row(h, t, k, all);
    ab_page_table_end(h);
}

static void put_phase(struct ab_html *h, struct sizes *t, const char *phase, unsigned index)
{
    bool is_begun = false;
    t->phase = phase;
    for (t->op = 0; t->op < AB_OP_KIND_COUNT; t->op++) {
        if (!fill(t))
            continue;
        if (!is_begun) {
            ab_page_fold_begin(h, phase != NULL ? phase : "all phases", index);
            ab_html_f(h, "<div class=\"tables\">\n");
        }
        is_begun = true;
        put_table(h, t);
    }
    if (is_begun) {
        ab_html_f(h, "</div>\n");
        ab_page_fold_end(h);
    }
}

void ab_page_sizes(struct ab_html *h, const struct ab_report *report)
{
    const struct ab_session *s = report->session;
    struct sizes t = {
        .report = report,
        .cells = calloc(AB_SIZE_CLASS_COUNT * ((size_t)s->n_backends + 1), sizeof t.cells[0]),
        .hdr = malloc(sizeof *t.hdr)};
    if (t.cells == NULL || t.hdr == NULL)
        h->is_short_of_memory = true;
    else if (s->n_size_classes > 0) {
        ab_html_f(
            h,
            "<p>Time of one call by the size that was asked for, all rounds together. Shaded: "
            "p99 more than 1.25, 2, 4 and 8 times that of the fastest in the row. n/a: fewer "
            "than %d calls were slower, or it took more than a minute. Sizes with fewer than %d "
            "calls are left out.</p>\n",
            AB_QUANTILE_MIN_SAMPLES_BEHIND, FEW);
        for (uint32_t p = 0; s->n_phases <= PHASES_MOST && p < s->n_phases; p++)
            put_phase(h, &t, s->phases[p], p);
        if (s->n_phases > PHASES_MOST)
            put_phase(h, &t, NULL, 0);
    }
    free(t.cells);
    free(t.hdr);
}
