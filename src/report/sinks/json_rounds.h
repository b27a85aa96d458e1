/* SPDX-License-Identifier: MIT
 *
 * What the JSON document says of the rounds as a whole: which passes they have, and why there are so
 * many of them.
 */
#ifndef AB_REPORT_SINKS_JSON_ROUNDS_H
#define AB_REPORT_SINKS_JSON_ROUNDS_H

#include "report/json.h"
#include "result/result.h"

/* Null where it is not known; each pass but throughput is "all" or in how many rounds it runs. */
json_t *ab_json_passes(const struct ab_pass_plan *plan);
/* Null where the number of rounds was fixed. */
json_t *ab_json_stopping(const struct ab_stopping *stopping);

#endif
