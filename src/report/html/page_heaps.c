/* SPDX-License-Identifier: MIT
 *
 * The page about back ends that map calls to several heaps: what each heap served, how long its
 * calls took, and its live blocks.
 */
#include "report/html/report_pages.h"

static void put_intro(struct ab_html *h, const struct ab_report *report)
{
    (void)report;
    ab_html_f(h, "<p>Rows of several heaps, heap by heap: the share of all calls, of the time that "
                 "they take without the clock's own (n/a where too many take less than a step of "
                 "the clock), percentiles of one call, and the most that lived in the heap at the "
                 "same time. Calls and live bytes are those of the work, exact. Held: resident "
                 "pages that hold a block of the heap or held one last, at the peak of the row; "
                 "committed: as the heap reports it, written to or not.</p>\n");
}

void ab_page_heaps(struct ab_html *h, const struct ab_report *report)
{
    ab_page_topics(h, report, AB_PAGE_HEAPS, NULL, put_intro);
}
