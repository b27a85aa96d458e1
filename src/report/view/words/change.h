/* SPDX-License-Identifier: MIT
 *
 * How much larger a new number is than that of the base, in per cent whatever its size, so that the
 * direction has one spelling: "+7.4 %", "-72.7 %", "+220 %". More is worse in a comparison.
 */
#ifndef AB_REPORT_VIEW_WORDS_CHANGE_H
#define AB_REPORT_VIEW_WORDS_CHANGE_H

#include "stats/effect.h"

/* Of a ratio new by base; "-" for NaN. Returns buf. */
const char *ab_view_change(char *buf, size_t cap, double ratio);
/* Its 90 % interval in per cent: "[+5.9, +8.8]"; "exact" where all rounds of a side are equal; ""
 * where there is none. */
const char *ab_view_change_interval(char *buf, size_t cap, const struct ab_effect *effect);
/* "7.4 % more", "72.7 % less", "as much". */
const char *ab_view_change_words(char *buf, size_t cap, double ratio);

#endif
