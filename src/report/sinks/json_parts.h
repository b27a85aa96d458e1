/* SPDX-License-Identifier: MIT
 *
 * What the JSON document says of machines and of parts.
 */
#ifndef AB_REPORT_SINKS_JSON_PARTS_H
#define AB_REPORT_SINKS_JSON_PARTS_H

#include "report/json.h"
#include "result/result.h"

/* "shard" of the configuration `o`, and "parts" of what was merged. */
void ab_json_put_parts(struct ab_json *w, json_t *o, const struct ab_session *s);
/* "host", and "hosts" where there are several. */
void ab_json_put_hosts(struct ab_json *w, json_t *o, const struct ab_session *s);

#endif
