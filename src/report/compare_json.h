/* SPDX-License-Identifier: MIT
 *
 * A comparison as JSON: the key "comparison" of a result, and the document of `compare`.
 */
#ifndef AB_REPORT_COMPARE_JSON_H
#define AB_REPORT_COMPARE_JSON_H

#include "report/json.h"
#include "stats/compare.h"

/* null for NULL. */
json_t *ab_comparison_json(const struct ab_comparison *c);
/* The gates of a session, as its result has them. */
json_t *ab_gates_json(const struct ab_session *s);

/* The document allocbench-compare/1: n comparisons with one base. False when out of memory. */
bool ab_comparisons_write(FILE *to, const struct ab_comparison *comparisons, size_t n,
                          int exit_code);

#endif
