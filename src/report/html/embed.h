/* SPDX-License-Identifier: MIT
 *
 * The result of a report inside the report, so that the report is its archive
 * (report/read/read_result.c reads it).
 */
#ifndef AB_REPORT_HTML_EMBED_H
#define AB_REPORT_HTML_EMBED_H

#include "result/result.h"

#include <stdbool.h>
#include <stdio.h>

/* Writes the block of data; nothing where none is asked for. False: out of memory. */
bool ab_html_embed(FILE *to, const struct ab_session *session, enum ab_embed embed);

#endif
