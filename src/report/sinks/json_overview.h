/* SPDX-License-Identifier: MIT
 *
 * The overview of a trace as JSON, and the ops of a window by their latency.
 */
#ifndef AB_REPORT_SINKS_JSON_OVERVIEW_H
#define AB_REPORT_SINKS_JSON_OVERVIEW_H

#include "report/json.h"
#include "result/result.h"

/* null where there is none. */
json_t *ab_json_overview(struct ab_json *w, const struct ab_overview *overview);
/* "BIN:COUNT,COUNT …" from the first bin that is not empty to the last; null where none is known. */
json_t *ab_json_window_counts(const struct ab_window *window);

#endif
