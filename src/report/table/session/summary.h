/* SPDX-License-Identifier: MIT
 *
 * The sentence at the end: who was fastest over all measured phases, and at what price. Claims
 * only what the rounds carry: a difference that not all rounds agree on is called none.
 */
#ifndef AB_REPORT_TABLE_SESSION_SUMMARY_H
#define AB_REPORT_TABLE_SESSION_SUMMARY_H

#include "core/text.h"
#include "result/result.h"

/* Adds it to `out`, without a newline. */
void ab_summary_add(struct ab_text *out, const struct ab_session *session);

#endif
