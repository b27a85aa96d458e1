/* SPDX-License-Identifier: MIT
 *
 * The ranking of back ends by one number (answer.h).
 */
#ifndef AB_ANSWER_RANKING_H
#define AB_ANSWER_RANKING_H

#include "answer/answer.h"

/* Ranks the back ends of a session. `memory` must be of the same session. */
void ab_view_ranking_make(const struct ab_session *s, const struct ab_view_memory *memory,
                          struct ab_view_ranking *out);
void ab_view_ranking_fini(struct ab_view_ranking *r);

/* Returns "faster" or "slower"; for a metric that the user named, "lower" or "higher". With
 * `is_less`, returns the word for the worse of two. */
const char *ab_view_subject_word(const struct ab_view_subject *subject, bool is_less);

/* Returns the peak memory of `row` divided by that of `base`, with the interval from pairs of
 * rounds. With several hosts, it is the ratio of paired rounds instead of the shown peaks. Ratio
 * NaN: not known. */
struct ab_effect ab_view_peak_ratio(const struct ab_session *s, const struct ab_view_rank *row,
                                    const struct ab_view_rank *base);
/* Converts the interval of a speed into one of time: base_ns divided by the speed, so that the
 * highest speed gives the shortest time. */
struct ab_view_span ab_view_time_range(double base_ns, const struct ab_effect *speed);

#endif
