/* SPDX-License-Identifier: MIT
 *
 * Words for numbers: changes in per cent, factors, names of harnesses, and the terms that
 * `allocbench explain` defines.
 * A change says how much larger a new number is than the base's, always in per cent: "+7.4 %",
 * "-72.7 %", "+220 %". In a comparison, more is worse.
 */
#ifndef AB_ANSWER_WORDS_H
#define AB_ANSWER_WORDS_H

#include "core/text.h"
#include "result/session.h"
#include "result/shown.h"
#include "stats/effect.h"

#include <stdbool.h>
#include <stddef.h>

/* Writes the ratio of a new number to the base as a change; "-" for NaN. Returns buf. */
const char *ab_view_change(char *buf, size_t cap, double ratio);
/* Writes the 90 % interval of a change in per cent: "[+5.9, +8.8]"; "exact" if all rounds of each
 * side are equal; "" if there is no interval. */
const char *ab_view_change_interval(char *buf, size_t cap, const struct ab_effect *effect);
/* Writes "7.4 % more", "72.7 % less" or "as much". */
const char *ab_view_change_words(char *buf, size_t cap, double ratio);

/* ---- ratios in words ----
 * A ratio in words, whose number is never below 1: "1.78x faster", "1.20x slower", never 0.56x. */

struct ab_view_factor {
    double times;     /* the factor, 1 or more; NaN = nothing to compare */
    double low, high; /* 90 % interval of `times`; low below 1: the opposite direction is possible.
                         NaN = too few rounds */
    bool is_less;     /* True if the speed or size is below that of the base */
    bool is_clear;    /* if false, "~" stands before the factor */
};

/* Converts a ratio to the base, in which 1.78 means 1.78 times more (for a speed: faster). */
struct ab_view_factor ab_view_factor_of(const struct ab_effect *ratio);

/* Writes "1.78x faster" or "~1.29x slower"; "-" for NaN. `more` and `less` are the words for the
 * two directions. Returns buf. */
const char *ab_view_factor_words(char *buf, size_t cap, const struct ab_view_factor *factor,
                                 const char *more, const char *less);
/* Writes the factor with its interval: "1.78x faster [1.69, 1.80]"; with one digit more if the
 * interval begins just above 1. */
const char *ab_view_factor_text(char buf[AB_CELL_BYTES], const struct ab_view_factor *factor,
                                const char *more, const char *less);

enum { AB_HARNESS_NAME_BYTES = 160 };

/* True if `backend` represents a harness (ab_session_harness) of any back end with numbers. */
bool ab_harness_is_used(const struct ab_session *session, uint32_t backend);
/* Writes the name of the harness that `backend` represents. That is its boundary ("heap", "routed")
 * or, if back ends at this boundary have several harnesses, the back ends that share this one:
 * "@map, @map3" (if many, the first and "..."). Names of back ends are not escaped, and may be
 * hostile. */
void ab_harness_name(const struct ab_session *session, uint32_t backend,
                     char buf[AB_HARNESS_NAME_BYTES]);

/* ---- terms of `allocbench explain` ----
 * Terms that screens and reports use. explain.def alone defines them; `allocbench explain`, legends
 * and the "?" of figures take their sentences from there. */

/* Adds the definition of a term and its formula to `to`. Returns false and adds nothing for an
 * unknown word. */
bool ab_view_term_add(struct ab_text *to, const char *word);
/* Adds the first sentence about each word: "live: Bytes that the program …. internal: …". `words`
 * ends with NULL. */
void ab_view_terms_legend(struct ab_text *to, const char *const *words);

#endif
