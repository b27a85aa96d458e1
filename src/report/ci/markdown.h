/* SPDX-License-Identifier: MIT
 *
 * Pieces of GitHub's Markdown: text that stays text, and the answer of a session as a table, for a
 * wiki or a ticket.
 */
#ifndef AB_REPORT_CI_MARKDOWN_H
#define AB_REPORT_CI_MARKDOWN_H

#include "core/text.h"
#include "result/result.h"

#include <stdbool.h>

/* Text as it is, in a table as well: no markup, no HTML, no cell's end. */
void ab_markdown_text(struct ab_text *to, const char *s);

/* The verdict in sentences, the ranking by the time of the whole run, and warnings; nothing of a
 * session in which no back end has numbers. False: out of memory. */
bool ab_markdown_answer(struct ab_text *to, const struct ab_session *session);

#endif
