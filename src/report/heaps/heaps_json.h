/* SPDX-License-Identifier: MIT
 *
 * Mapped rows in a result: which heaps they have, and what each served.
 */
#ifndef AB_REPORT_HEAPS_HEAPS_JSON_H
#define AB_REPORT_HEAPS_HEAPS_JSON_H

#include "report/json.h"
#include "result/result.h"

/* null: one heap, so nothing is mapped. */
json_t *ab_json_mapping(const struct ab_backend_info *b);
/* What each holds: `heaps` of a memory record of a mapped row. */
json_t *ab_json_heap_memory(const struct ab_session *s, const struct ab_memory *m);
json_t *ab_json_heaps(const struct ab_session *s);

#endif
