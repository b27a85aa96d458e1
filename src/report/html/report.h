/* SPDX-License-Identifier: MIT
 *
 * The report: one HTML file that needs nothing else, neither a network nor a script. Its script
 * only adds to it, and a policy in the file allows that script and style, by their digests, and
 * nothing else.
 */
#ifndef AB_REPORT_HTML_REPORT_H
#define AB_REPORT_HTML_REPORT_H

#include "core/status.h"
#include "report/html/html.h"
#include "result/result.h"
#include "stats/compare.h"

#include <stdbool.h>
#include <stdio.h>

/* Each page of a report of the session by itself, ab_n_pages of them (pages.h), for those who
 * take the pictures out of them: each says who is who. Free every text, and the list. */
struct ab_html_text *ab_report_pages(const struct ab_session *session);

/* The session, and comparisons of a base with it and with what was measured before it. */
void ab_report_write(FILE *to, const struct ab_session *session,
                     const struct ab_comparison *const *comparisons, size_t n_comparisons);

/* The result of a report inside the report, so that the report is its archive
 * (report/read_result.c reads it). */

/* Writes the block of data; nothing where none is asked for. */
void ab_html_embed(FILE *to, const struct ab_session *session, enum ab_embed embed);

/* The pictures of a report as files of their own: PAGE-TITLE.svg, or PAGE-TITLE-2.svg where a page
 * has several of one title. Each stands alone, in its light colours on white. */

/* Makes the folder where it is not there; fails where no file can be made in it. */
enum ab_status ab_figures_prepare(const char *folder, struct ab_err *err);

#endif
