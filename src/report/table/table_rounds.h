/* SPDX-License-Identifier: MIT
 *
 * Which rounds there are, in words: which passes ran in fewer of them, and why they ended.
 */
#ifndef AB_REPORT_TABLE_TABLE_ROUNDS_H
#define AB_REPORT_TABLE_TABLE_ROUNDS_H

#include "core/text.h"
#include "report/table/style.h"
#include "result/result.h"

#include <stdio.h>

/* "tail and memory in 6 of 10 rounds; not run: latency (--passes)"; nothing where every pass ran in
 * every round. */
void ab_rounds_note_passes(const struct ab_session *s, struct ab_text *out);
/* "stopped after 14 rounds: every interval is within 2 %"; nothing where the number was fixed. */
void ab_rounds_note_end(const struct ab_session *s, struct ab_text *out);

/* "not run: tail (--passes)": what a reader must know of passes. */
void ab_rounds_print(FILE *to, const struct ab_session *s, struct ab_table_style style);

#endif
