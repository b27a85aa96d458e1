/* SPDX-License-Identifier: MIT
 *
 * The call sites of a stream, as a spool has them, on their way into the table of a trace.
 */
#ifndef AB_RECORD_CONVERTER_CONVERTER_SITES_H
#define AB_RECORD_CONVERTER_CONVERTER_SITES_H

#include "core/status.h"
#include "record/preload/spool.h"
#include "trace/sites/site_table.h"

struct ab_stream_sites; /* of one stream; NULL until there are any */

/* What an event of kind SITE, FRAME or MODULE says. *s is made if need be. AB_INPUT: what no
 * recorder writes. */
enum ab_status ab_stream_sites_take(struct ab_stream_sites **s, const struct ab_spool_event *e,
                                    struct ab_site_table *table, struct ab_err *err);

/* The stack of the call that comes now; 0 = none was noted. s may be NULL. */
uint32_t ab_stream_sites_of_call(struct ab_stream_sites *s);
/* Another thread has taken over: of the one before nothing is pending. */
void ab_stream_sites_end_thread(struct ab_stream_sites *s);
void ab_stream_sites_free(struct ab_stream_sites *s);

#endif
