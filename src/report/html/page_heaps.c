/* SPDX-License-Identifier: MIT
 *
 * The page about mapped rows: what each of their heaps served, how long that took, and its live
 * blocks.
 */
#include "report/html/report_pages.h"

#include "core/alloc.h"

#include <stdlib.h>

static void put_rest(struct ab_html *h, const struct ab_report *report, uint32_t backend,
                     const char *phase, struct ab_hdr *scratch)
{
    const struct ab_session *s = report->session;
    char title[sizeof s->backends->name + 100];
    struct ab_grid g;
    snprintf(title, sizeof title, "%s by heap and op: %.64s",
             ab_backend_label(&s->backends[backend]), phase);
    if (ab_heaps_latency_grid(s, backend, phase, scratch, &g))
        ab_page_grid(h, report, title, &g);
    ab_grid_fini(&g);
    snprintf(title, sizeof title, "%s memory by heap: %.64s",
             ab_backend_label(&s->backends[backend]), phase);
    if (ab_heaps_memory_grid(s, backend, phase, &g))
        ab_page_grid(h, report, title, &g);
    ab_grid_fini(&g);
}

void ab_page_heaps(struct ab_html *h, const struct ab_report *report)
{
    const struct ab_session *s = report->session;
    struct ab_hdr *scratch = ab_alloc(sizeof *scratch);
    bool is_begun = false, is_timed;
    for (uint32_t i = 0; i < s->n_backends; i++)
        for (uint32_t b = ab_page_ranked(report, i), p = 0;
             p < s->n_phases && ab_session_has_numbers(s, b); p++) {
            char title[sizeof s->backends->name + 80];
            struct ab_grid g;
            if (!ab_heaps_grid(s, b, s->phases[p], scratch, &g, &is_timed))
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
            snprintf(title, sizeof title, "%s: %.64s", ab_backend_label(&s->backends[b]),
                     s->phases[p]);
            ab_page_grid(h, report, title, &g);
            ab_grid_fini(&g);
            put_rest(h, report, b, s->phases[p], scratch);
        }
    free(scratch);
}
