/* SPDX-License-Identifier: MIT
 *
 * The page about latency by requested size: a table for each phase and kind of call.
 */
#include "report/html/report_pages.h"

void ab_page_sizes(struct ab_html *h, const struct ab_report *report)
{
    const struct ab_session *s = report->session;
    if (s->n_size_classes == 0)
        return;
    ab_html_f(h,
              "<p>Time of one call by requested size, all rounds together. Shaded: p99 more than "
              "1.25, 2, 4 and 8 times that of the fastest in the row. n/a: fewer than %d calls "
              "were slower, or it took more than a minute. Sizes with fewer than %d calls are "
              "left out.</p>\n",
              AB_QUANTILE_MIN_SAMPLES_BEHIND, AB_SIZES_FEW);
    ab_page_topics(h, report, AB_PAGE_SIZES, NULL, NULL);
}
