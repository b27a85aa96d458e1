/* SPDX-License-Identifier: MIT
 *
 * What the allocator took in each iteration, in the JSON document of a result.
 */
#ifndef AB_REPORT_ITERATIONS_ITERATIONS_JSON_H
#define AB_REPORT_ITERATIONS_ITERATIONS_JSON_H

#include "report/json.h"
#include "result/result.h"

/* o.iterations; of work without iterations there is none. */
void ab_iterations_json(struct ab_json *w, json_t *o, const struct ab_session *s);

#endif
