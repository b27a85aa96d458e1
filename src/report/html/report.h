/* SPDX-License-Identifier: MIT
 *
 * The report: one HTML file that needs nothing else, neither a network nor a script. Its script
 * only adds to it, and a policy in the file allows that script and style, by their digests, and
 * nothing else.
 */
#ifndef AB_REPORT_HTML_REPORT_H
#define AB_REPORT_HTML_REPORT_H

#include "report/html/html.h"
#include "result/result.h"
#include "stats/compare.h"

/* Each page of a report of the session by itself, ab_n_pages of them (pages/pages.h), for those who
 * take the pictures out of them: each says who is who. Free every text, and the list. NULL: out of
 * memory. */
struct ab_html_text *ab_report_pages(const struct ab_session *session);

/* The session, and comparisons of a base with it and with what was measured before it; false: out of
 * memory. */
bool ab_report_write(FILE *to, const struct ab_session *session,
                     const struct ab_comparison *const *comparisons, size_t n_comparisons);

#endif
