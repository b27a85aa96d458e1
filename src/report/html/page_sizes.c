/* SPDX-License-Identifier: MIT
 *
 * The page about latency by requested size: a table for each phase and kind of call.
 */
#include "report/html/report_pages.h"

#include <stdio.h>

/* PHASES_MOST: with more phases, one table covers all, so that the page stays small. BACKENDS_MOST:
 * per table. */
enum { PHASES_MOST = 8, BACKENDS_MOST = AB_GRID_COLUMNS_MAX - 1 };

static void put_tables(struct ab_html *h, const struct ab_report *report, const char *phase,
                       unsigned op, const char *fold, unsigned index, bool *is_begun)
{
    const struct ab_session *s = report->session;
    for (uint32_t next = 0; next < s->n_backends;) {
        uint32_t list[BACKENDS_MOST], n = 0;
        char caption[80];
        struct ab_grid g;
        for (; next < s->n_backends && n < BACKENDS_MOST; next++)
            if (ab_view_shows(s, ab_page_ranked(report, next)))
                list[n++] = ab_page_ranked(report, next);
        if (ab_sizes_grid(s, phase, op, list, n, false, &g)) {
            if (!*is_begun) {
                ab_page_fold_begin(h, fold, index);
                ab_html_f(h, "<div class=\"tables\">\n");
            }
            *is_begun = true;
            snprintf(caption, sizeof caption, "%s: p50 / p99 of a call", ab_result_op_name(op));
            ab_page_grid(h, report, caption, &g);
        }
        ab_grid_fini(&g);
    }
}

static void put_phase(struct ab_html *h, const struct ab_report *report, const char *phase,
                      unsigned index)
{
    bool is_begun = false;
    for (unsigned op = 0; op < AB_OP_KIND_COUNT; op++)
        put_tables(h, report, phase, op, phase != NULL ? phase : "all phases", index, &is_begun);
    if (is_begun) {
        ab_html_f(h, "</div>\n");
        ab_page_fold_end(h);
    }
}

void ab_page_sizes(struct ab_html *h, const struct ab_report *report)
{
    const struct ab_session *s = report->session;
    if (s->n_size_classes == 0)
        return;
    ab_html_f(h,
              "<p>Time of one call by the size that was asked for, all rounds together. Shaded: "
              "p99 more than 1.25, 2, 4 and 8 times that of the fastest in the row. n/a: fewer "
              "than %d calls were slower, or it took more than a minute. Sizes with fewer than %d "
              "calls are left out.</p>\n",
              AB_QUANTILE_MIN_SAMPLES_BEHIND, AB_SIZES_FEW);
    for (uint32_t p = 0; s->n_phases <= PHASES_MOST && p < s->n_phases; p++)
        put_phase(h, report, s->phases[p], p);
    if (s->n_phases > PHASES_MOST)
        put_phase(h, report, NULL, 0);
}
