/* SPDX-License-Identifier: MIT
 *
 * The checksum of a chunk: XXH64 over the checked part of its header and its stored bytes.
 */
#ifndef AB_TRACE_CHECKSUM_H
#define AB_TRACE_CHECKSUM_H

#include "trace/event.h"

#include <stddef.h>
#include <stdint.h>

uint64_t ab_trace_chunk_checksum(const uint8_t *head, const uint8_t *stored, size_t n);

/* The digest of a trace: SHA-256 over its events as fixed records, so that two files, or two
 * readers, can be said to hold the same calls, however they are stored. */

enum { AB_DIGEST_RECORD_MAX = 32 };

/* The canonical record of an event (traces/FORMAT.md, "Digest"); returns its 24 or 32 bytes. */
size_t ab_event_canonical(const struct ab_event *e, bool has_time,
                          uint8_t out[AB_DIGEST_RECORD_MAX]);

#endif
