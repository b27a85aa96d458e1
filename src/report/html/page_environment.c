/* SPDX-License-Identifier: MIT
 *
 * The page about the conditions of the measurement: host, clock, order, command, libraries,
 * workload.
 */
#include "report/html/report_pages.h"

static void put_order(struct ab_html *h, const struct ab_session *s)
{
    ab_page_fold_begin(h, "Order of the runs", AB_PAGE_OPEN);
    ab_html_f(h, "<ol>\n");
    for (uint32_t r = 0; r < s->n_rounds; r++) {
        ab_html_f(h, "<li>");
        for (uint32_t i = 0; i < s->rounds[r].n_order; i++)
            if (s->rounds[r].order[i] < s->n_backends)
                ab_html_f(h, "%s%s", i > 0 ? ", " : "",
                          ab_backend_label(&s->backends[s->rounds[r].order[i]]));
        ab_html_f(h, "</li>\n");
    }
    ab_html_f(h, "</ol>\n");
    ab_page_fold_end(h);
}

void ab_page_environment(struct ab_html *h, const struct ab_report *report)
{
    const struct ab_session *s = report->session;
    ab_page_topics(h, report, AB_PAGE_ENVIRONMENT, NULL, NULL);
    if (s->rounds != NULL)
        put_order(h, s);
    if (s->config_text != NULL && s->config_text[0] != 0) {
        ab_page_fold_begin(h, s->config_path != NULL ? s->config_path : "workload", AB_PAGE_OPEN);
        ab_html_f(h, "<pre>");
        ab_html_lines(h, s->config_text);
        ab_html_f(h, "</pre>\n");
        ab_page_fold_end(h);
    }
}
