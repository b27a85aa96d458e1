/* SPDX-License-Identifier: MIT
 *
 * What the words on screens and in reports mean, as `allocbench explain` says it: explain.def is the
 * one place that defines them, legends and the "?" of figures take their sentences from there.
 */
#ifndef AB_REPORT_VIEW_WORDS_TERMS_H
#define AB_REPORT_VIEW_WORDS_TERMS_H

#include "core/text.h"

#include <stdbool.h>

/* What it is, and its formula; adds to `to`. False, with nothing added, for a word that explain does
 * not know. */
bool ab_view_term_add(struct ab_text *to, const char *word);
/* "live: Bytes that the program …. internal: …": the first sentence of each; `words` ends with
 * NULL. */
void ab_view_terms_legend(struct ab_text *to, const char *const *words);

#endif
