/* SPDX-License-Identifier: MIT
 *
 * How much larger a new number is than that of the base, in per cent whatever its size, so that the
 * direction has one spelling: "+7.4 %", "-72.7 %", "+220 %". More is worse in a comparison.
 */
#ifndef AB_REPORT_VIEW_WORDS_H
#define AB_REPORT_VIEW_WORDS_H

#include "core/text.h"
#include "report/format.h"
#include "result/session.h"
#include "stats/effect.h"

#include <stdbool.h>
#include <stddef.h>

/* Of a ratio new by base; "-" for NaN. Returns buf. */
const char *ab_view_change(char *buf, size_t cap, double ratio);
/* Its 90 % interval in per cent: "[+5.9, +8.8]"; "exact" where all rounds of a side are equal; ""
 * where there is none. */
const char *ab_view_change_interval(char *buf, size_t cap, const struct ab_effect *effect);
/* "7.4 % more", "72.7 % less", "as much". */
const char *ab_view_change_words(char *buf, size_t cap, double ratio);

/* A ratio said in one direction only: "1.78x faster", "1.20x slower", never 0.56x. */

struct ab_view_factor {
    double times;     /* 1 or more; NaN = nothing to compare */
    double low, high; /* 90 % interval of times; low below 1: the other direction is possible. NaN =
                         too few rounds */
    bool is_less;     /* slower, or less: of a speed or a size below that of the base */
    bool is_clear;    /* else "~" stands before it */
};

/* Of a ratio to the base, of which 1.78 reads as 1.78 times more (a speed: faster). */
struct ab_view_factor ab_view_factor_of(const struct ab_effect *ratio);

/* "1.78x faster", "~1.29x slower"; "-" for NaN. `more` and `less`: what is said of either
 * direction. Returns buf. */
const char *ab_view_factor_words(char *buf, size_t cap, const struct ab_view_factor *factor,
                                 const char *more, const char *less);
/* With the interval: "1.78x faster [1.69, 1.80]"; a digit more where it begins just above 1. */
const char *ab_view_factor_text(char buf[AB_CELL_BYTES], const struct ab_view_factor *factor,
                                const char *more, const char *less);
/* What a harness is called beside others: by its boundary, or where back ends at one boundary have
 * different ones, by theirs. */

enum { AB_HARNESS_NAME_BYTES = 160 };

/* Does `backend` stand for a harness (ab_session_harness) of one that has numbers? */
bool ab_harness_is_used(const struct ab_session *session, uint32_t backend);
/* Of such a one: "heap", "routed"; or the back ends that have it, "@map, @map3": of many the first and
 * "...". Names of back ends may be hostile. */
void ab_harness_name(const struct ab_session *session, uint32_t backend,
                     char buf[AB_HARNESS_NAME_BYTES]);

/* What the words on screens and in reports mean, as `allocbench explain` says it: explain.def is the
 * one place that defines them, legends and the "?" of figures take their sentences from there. */

/* What it is, and its formula; adds to `to`. False, with nothing added, for a word that explain does
 * not know. */
bool ab_view_term_add(struct ab_text *to, const char *word);
/* "live: Bytes that the program …. internal: …": the first sentence of each; `words` ends with
 * NULL. */
void ab_view_terms_legend(struct ab_text *to, const char *const *words);

#endif
