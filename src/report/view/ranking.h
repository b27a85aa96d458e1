/* SPDX-License-Identifier: MIT
 *
 * The ranking of back ends by one number (view.h).
 */
#ifndef AB_REPORT_VIEW_RANKING_H
#define AB_REPORT_VIEW_RANKING_H

#include "report/view/view.h"

/* `memory` is that of the same session; `subject` says which number ranks. */
void ab_view_ranking_make(const struct ab_session *s, const struct ab_view_memory *memory,
                          const struct ab_view_subject *subject, struct ab_view_ranking *out);
void ab_view_ranking_fini(struct ab_view_ranking *r);

/* Peak memory of `row` by that of `base`, with the interval of the pairs of rounds; of results of
 * several hosts the ratio of the rounds. Ratio NaN: not known. */
struct ab_effect ab_view_peak_ratio(const struct ab_session *s, const struct ab_view_rank *row,
                                    const struct ab_view_rank *base);
/* The interval of a speed as one of the time of what is as fast as its base: the higher the speed, the
 * shorter the time. */
struct ab_view_span ab_view_time_range(double base_ns, const struct ab_effect *speed);

#endif
