/* SPDX-License-Identifier: MIT
 *
 * The page about back ends that map calls to several heaps: what each heap served, how long its
 * calls took, and its live blocks.
 */
#include "report/html/report_pages.h"

static void put_intro(struct ab_html *h, const struct ab_report *report)
{
    (void)report;
    ab_html_f(h,
              "<p>For each back end with several heaps a table with a row for each heap. Calls: "
              "the heap's share of all calls. Time: its share of the time of the timed calls, "
              "less the time of reading the clock; n/a if too many calls are shorter than one "
              "step of the clock. p50, p99: of single calls. Live peak: the most bytes that were "
              "live in this heap at one time. Calls and live peak follow from the work and are "
              "exact. Held: resident pages with a block of this heap, or whose last block was "
              "one of this heap, at the peak of the back end. Committed: memory that the heap "
              "may write to, as it reports.</p>\n");
}

void ab_page_heaps(struct ab_html *h, const struct ab_report *report)
{
    ab_page_topics(h, report, AB_PAGE_HEAPS, NULL, put_intro);
}
