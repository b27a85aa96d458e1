/* SPDX-License-Identifier: MIT
 *
 * Numbers of single heaps as on the terminal (report/heaps/), without footnotes.
 */
#include "report/html/pages/heap_tables.h"

#include "core/units_show.h"
#include "report/heaps/heaps_view.h"
#include "report/html/pages/pages.h"
#include "report/view/memory.h"

#include <math.h>

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

void ab_heap_tables(struct ab_html *h, const struct ab_session *s, uint32_t backend,
                    const char *phase, struct ab_hdr *scratch)
{
    put_latencies(h, s, backend, phase, scratch);
    put_memory(h, s, backend, phase);
}
