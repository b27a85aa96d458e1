/* SPDX-License-Identifier: MIT
 *
 * Parts of the JSON document of a result: the price of the harness, and what --instr could count.
 */
#ifndef AB_REPORT_COUNTS_COUNTING_JSON_H
#define AB_REPORT_COUNTS_COUNTING_JSON_H

#include "report/json.h"
#include "result/result.h"

/* null where it was not asked for */
json_t *ab_counting_json(struct ab_json *w, const struct ab_counting *c);
json_t *ab_null_cost_json(struct ab_json *w, const struct ab_null_cost *n);

#endif
