/* SPDX-License-Identifier: MIT
 *
 * Mapped rows: what each of their heaps served, how long that took and what lived in it, with bars for
 * the shares.
 */
#include "core/units_show.h"
#include "report/heaps/heaps_view.h"
#include "report/html/html.h"
#include "report/html/pages/pages.h"
#include "report/view/memory.h"
#include "result/result.h"

#include <math.h>
#include <stdlib.h>

enum { BAR_PX = 90 };

/* In the colour of the heap's back end where the report has it as a row of its own. */
static void put_bar(struct ab_html *h, struct ab_paint paint, double share, const char *text)
{
    const struct ab_colour_info *c = &ab_colours[paint.colour];
    ab_html_f(h, "<td class=\"n\">%s", text);
    if (share > 0)
        ab_html_f(h,
                  "<br><svg width=\"%d\" height=\"6\" aria-hidden=\"true\"><rect class=\"%s\" "
                  "fill=\"currentColor\" color=\"%s\" x=\"%.1f\" width=\"%.1f\" height=\"6\"/>"
                  "</svg>",
                  BAR_PX, c->class_name, c->light, BAR_PX * (1 - share), BAR_PX * share);
    ab_html_f(h, "</td>");
}

static void put_share(struct ab_html *h, struct ab_paint paint, double share)
{
    char text[32] = "n/a";
    if (isfinite(share))
        snprintf(text, sizeof text, share > 0 && share < 0.0005 ? "<0.1 %%" : "%.1f %%",
                 100 * share);
    put_bar(h, paint, share, text);
}

static void put_row(struct ab_html *h, const struct ab_report *report,
                    const struct ab_mapped_heap *heap, const struct ab_heap_row *row,
                    double all_bytes)
{
    struct ab_paint paint = ab_report_paint(report, heap->name);
    char bytes[48];
    ab_html_f(h, "<tr><th scope=\"row\">%s</th><td><code>%s</code></td>", heap->name, heap->keys);
    put_share(h, paint, row->call_share);
    put_share(h, paint, row->time_share);
    ab_page_time_number(h, report->session, row->p50);
    ab_page_time_number(h, report->session, row->p99);
    put_bar(h, paint, all_bytes > 0 ? (double)row->live_peak_bytes / all_bytes : 0,
            ab_units_bytes(bytes, sizeof bytes, (double)row->live_peak_bytes));
    ab_html_f(h, "<td class=\"n\">%llu</td></tr>\n", (unsigned long long)row->live_peak_blocks);
}

/* Bars of live bytes are shares of their sum: the peaks need not be at one moment. */
static void put_table(struct ab_html *h, const struct ab_report *report, uint32_t backend,
                      const char *phase, const struct ab_heap_row *rows, uint32_t n)
{
    static const char *const columns[] = {"heap", "serves",     "#calls",  "#time", "#p50",
                                          "#p99", "#live peak", "#blocks", NULL};
    const struct ab_backend_info *b = &report->session->backends[backend];
    char title[sizeof b->name + 80];
    double all_bytes = 0;
    for (uint32_t i = 0; i < n; i++)
        all_bytes += (double)rows[i].live_peak_bytes;
    snprintf(title, sizeof title, "%s: %.64s", b->name, phase);
    ab_page_table_begin(h, title, columns);
    for (uint32_t i = 0; i < n; i++)
        put_row(h, report, &b->heaps[rows[i].heap], &rows[i], all_bytes);
    ab_page_table_end(h);
}

/* Numbers of single heaps as on the terminal (report/heaps/), without footnotes. */

static void begin(struct ab_html *h, const char *what, const struct ab_backend_info *b,
                  const char *phase, const char *const *columns)
{
    char title[sizeof b->name + 100];
    snprintf(title, sizeof title, "%s %s: %.64s", b->name, what, phase);
    ab_page_table_begin(h, title, columns);
}

static void put_latencies(struct ab_html *h, const struct ab_session *s, uint32_t backend,
                          const char *phase, struct ab_hdr *hdr)
{
    static const char *const columns[] = {"heap", "op",     "#timed", "#p50", "#p90",
                                          "#p99", "#p99.9", "#max",   NULL};
    const struct ab_backend_info *b = &s->backends[backend];
    bool is_begun = false;
    for (uint32_t heap = 0; heap < b->n_heaps; heap++)
        for (unsigned op = 0; op < AB_OP_KIND_COUNT; op++) {
            ab_heaps_latency(s, backend, phase, heap, op, hdr);
            if (ab_hdr_total(hdr) == 0)
                continue;
            if (!is_begun)
                begin(h, "by heap and op", b, phase, columns);
            is_begun = true;
            ab_html_f(h, "<tr><th scope=\"row\">%s</th><td>%s</td><td class=\"n\">%llu</td>",
                      b->heaps[heap].name, ab_result_op_name(op),
                      (unsigned long long)ab_hdr_total(hdr));
            ab_page_time_number(h, s, ab_result_quantile(hdr, 0.5));
            ab_page_time_number(h, s, ab_result_quantile(hdr, 0.9));
            ab_page_time_number(h, s, ab_result_quantile(hdr, 0.99));
            ab_page_time_number(h, s, ab_result_quantile(hdr, 0.999));
            ab_page_time_number(h, s, (double)hdr->max);
            ab_html_f(h, "</tr>\n");
        }
    if (is_begun)
        ab_page_table_end(h);
}

static void put_memory(struct ab_html *h, const struct ab_session *s, uint32_t backend,
                       const char *phase)
{
    static const char *const columns[] = {"heap",        "#live", "#internal",  "#external",
                                          "#retained",   "#held", "#committed", "#held at the end",
                                          "#when freed", NULL};
    const struct ab_backend_info *b = &s->backends[backend];
    const struct ab_memory *peak = ab_view_memory_typical(s, backend, phase, AB_AT_FOOTPRINT_PEAK);
    const struct ab_memory *end = ab_view_memory_typical(s, backend, phase, AB_AT_END);
    if (peak == NULL)
        return;
    begin(h, "memory by heap", b, phase, columns);
    for (uint32_t heap = 0; heap < b->n_heaps; heap++) {
        const struct ab_heap_memory *m = &peak->heaps[heap];
        ab_html_f(h, "<tr><th scope=\"row\">%s</th>", b->heaps[heap].name);
        ab_page_number(h, AB_AXIS_BYTES, m->live_bytes);
        ab_page_number(h, AB_AXIS_BYTES, m->internal_bytes);
        ab_page_number(h, AB_AXIS_BYTES, m->external_bytes);
        ab_page_number(h, AB_AXIS_BYTES, m->retained_bytes);
        ab_page_number(h, AB_AXIS_BYTES, m->footprint_bytes);
        ab_page_number(h, AB_AXIS_BYTES, m->mapped_bytes);
        ab_page_number(h, AB_AXIS_BYTES,
                       end != NULL ? end->heaps[heap].footprint_bytes : (double)NAN);
        ab_page_number(h, AB_AXIS_BYTES,
                       end != NULL ? end->heaps[heap].drained_bytes[0] : (double)NAN);
        ab_html_f(h, "</tr>\n");
    }
    ab_page_table_end(h);
}

/* Of a mapped row in a phase: percentiles by heap and op, and what each heap holds; what was not
 * measured is left out. */
static void heap_tables(struct ab_html *h, const struct ab_session *s, uint32_t backend,
                        const char *phase, struct ab_hdr *scratch)
{
    put_latencies(h, s, backend, phase, scratch);
    put_memory(h, s, backend, phase);
}

void ab_page_heaps(struct ab_html *h, const struct ab_report *report)
{
    const struct ab_session *s = report->session;
    struct ab_heap_row rows[AB_PLACEMENT_HEAPS_MAX];
    struct ab_hdr *scratch = malloc(sizeof *scratch);
    bool is_begun = false;
    h->is_short_of_memory = h->is_short_of_memory || scratch == NULL;
    for (uint32_t i = 0; i < s->n_backends && scratch != NULL; i++)
        for (uint32_t b = ab_page_ranked(report, i), p = 0;
             p < s->n_phases && ab_session_has_numbers(s, b); p++) {
            uint32_t n = ab_heaps_view(s, b, s->phases[p], scratch, rows);
            if (n == 0)
                continue;
            if (!is_begun)
                ab_html_f(
                    h,
                    "<p>Rows of several heaps, heap by heap: the share of all calls, of "
                    "the time that they take without the clock's own (n/a where too "
                    "many take less than a step of the clock), percentiles of one call, "
                    "and the most that lived in the heap at the same time. Calls and live bytes "
                    "are those of the work, exact. Held: resident pages that hold a block of the "
                    "heap or held one last, at the peak of the row; committed: as the heap "
                    "reports it, written to or not.</p>\n");
            is_begun = true;
            put_table(h, report, b, s->phases[p], rows, n);
            heap_tables(h, s, b, s->phases[p], scratch);
        }
    free(scratch);
}
