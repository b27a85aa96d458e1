/* SPDX-License-Identifier: MIT
 *
 * The list `ratios` of a result: every back end beside the one that it is compared with.
 */
#ifndef AB_REPORT_SINKS_JSON_RATIOS_H
#define AB_REPORT_SINKS_JSON_RATIOS_H

#include "report/json.h"
#include "result/result.h"

/* An array, empty where there is nothing to compare with. */
json_t *ab_json_ratios(struct ab_json *w, const struct ab_session *session);

#endif
