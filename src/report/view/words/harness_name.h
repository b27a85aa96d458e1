/* SPDX-License-Identifier: MIT
 *
 * What a harness is called beside others: by its boundary, or where back ends at one boundary have
 * different ones, by theirs.
 */
#ifndef AB_REPORT_VIEW_HARNESS_NAME_H
#define AB_REPORT_VIEW_HARNESS_NAME_H

#include "result/session.h"

#include <stddef.h>

enum { AB_HARNESS_NAME_BYTES = 160 };

/* Does `backend` stand for a harness (ab_session_harness) of one that has numbers? */
bool ab_harness_is_used(const struct ab_session *session, uint32_t backend);
/* Of such a one: "heap", "routed"; or the back ends that have it, "@map, @map3": of many the first and
 * "...". Names of back ends may be hostile. */
void ab_harness_name(const struct ab_session *session, uint32_t backend,
                     char buf[AB_HARNESS_NAME_BYTES]);

#endif
