/* SPDX-License-Identifier: MIT
 *
 * Private to read_result.c: the overview of a trace, and the ops of a window by
 * their latency.
 */
#ifndef AB_REPORT_READ_READ_OVERVIEW_H
#define AB_REPORT_READ_READ_OVERVIEW_H

#include "report/read/read_records.h"

/* malloc'ed; NULL where there is none, or after an error. */
struct ab_overview *ab_stored_overview(struct ab_stored_reader *r,
                                       const struct ab_json_node *document);
/* o.counts, where it is there; they have to add up to window->n, unless rounds are merged. */
void ab_stored_window_counts(struct ab_stored_reader *r, const struct ab_json_node *o,
                             struct ab_window *window);

#endif
