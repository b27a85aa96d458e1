/* SPDX-License-Identifier: MIT
 *
 * The digest of a trace: SHA-256 over its events as fixed records, so that two files, or two
 * readers, can be said to hold the same calls, however they are stored.
 */
#ifndef AB_TRACE_DIGEST_H
#define AB_TRACE_DIGEST_H

#include "trace/event.h"

#include <stddef.h>

enum { AB_DIGEST_RECORD_MAX = 32 };

/* The canonical record of an event (traces/FORMAT.md, "Digest"); returns its 24 or 32 bytes. */
size_t ab_event_canonical(const struct ab_event *e, bool has_time,
                          uint8_t out[AB_DIGEST_RECORD_MAX]);

#endif
