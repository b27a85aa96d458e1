/* SPDX-License-Identifier: MIT
 *
 * The HTML report: one self-contained file that needs neither a network nor a script. Its script
 * only adds to it. A content security policy in the file allows this script and style, by their
 * digests, and nothing else.
 */
#ifndef AB_REPORT_HTML_REPORT_H
#define AB_REPORT_HTML_REPORT_H

#include "core/status.h"
#include "report/html/html.h"
#include "result/result.h"
#include "stats/compare.h"

#include <stdio.h>

/* Returns the pages of a report one by one, ab_n_pages of them (report_pages.h). Pictures go into
 * `pictures`; NULL = they stand in the pages. The caller frees every text and the list. */
struct ab_html_text *ab_report_pages(const struct ab_session *session,
                                     const struct ab_picture_files *pictures);

/* Writes the report of a session, with comparisons of a base with this session and with earlier
 * results. */
void ab_report_write(FILE *to, const struct ab_session *session,
                     const struct ab_comparison *const *comparisons, size_t n_comparisons);

/* Writes the data block with the result, so that the report also archives it
 * (document/read_result.c reads it). Writes nothing if `embed` does not ask for it. */
void ab_html_embed(FILE *to, const struct ab_session *session, enum ab_embed embed);

/* ---- pictures as files ----
 * Files of pictures are called PAGE-TITLE.svg, or PAGE-TITLE-2.svg if a page has several
 * with one title. Each is self-contained, in its light colours on white. */

/* Creates the folder if needed. Fails if no file can be created in it. */
enum ab_status ab_figures_prepare(const char *folder, struct ab_err *err);

#endif
