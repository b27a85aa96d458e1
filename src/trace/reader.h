/* SPDX-License-Identifier: MIT
 *
 * Reads a trace file as a stream of events: memory O(live blocks), never O(events). The file is
 * untrusted: every length is checked before it is believed, the input is never mapped.
 */
#ifndef AB_TRACE_READER_H
#define AB_TRACE_READER_H

#include "core/status.h"
#include "trace/event.h"
#include "trace/mark_table.h"
#include "trace/site_table.h"

#include <stddef.h>
#include <stdint.h>

struct ab_trace_reader;

struct ab_trace_options {
    bool is_partial;      /* a file that was cut ends with its last whole chunk, without error;
                              one that is damaged, or cut within its header, is refused still */
    bool has_thread_ends; /* hand out AB_EVENT_THREAD_END too */
    bool has_digest;      /* keep the digest of the events */
    struct ab_site_table *sites;    /* of the caller, {0}: the call sites are read into it, ahead of
                                    their events. NULL: they are passed over, and events have none */
    struct ab_mark_table *marks;    /* of the caller, {0}: the marks are read into it, each ahead of
                                    the call that it is before. NULL: they are passed over */
    struct ab_mark_table *requests; /* the same of requests beside blocks */
    uint64_t live_blocks_max, live_bytes_max; /* refuse beyond; 0 = what the format allows */
};

/* "-" = standard input. */
enum ab_status ab_trace_open(const char *path, struct ab_trace_reader **out, struct ab_err *err);
enum ab_status ab_trace_open_with(const char *path, const struct ab_trace_options *options,
                                  struct ab_trace_reader **out, struct ab_err *err);
void ab_trace_close(struct ab_trace_reader *r);
/* Fills events[0..cap); *n = 0 at the end. Errors carry "file: byte offset: …". */
enum ab_status ab_trace_next(struct ab_trace_reader *r, struct ab_event *events, size_t cap,
                             size_t *n, struct ab_err *err);
/* Is there anything after what was handed out? */
enum ab_status ab_trace_has_more(struct ab_trace_reader *r, bool *has_more, struct ab_err *err);
/* The file, as errors show it. */
const char *ab_trace_reader_name(const struct ab_trace_reader *r);
/* Returns where in the file the chunk begins that the last events came from. */
uint64_t ab_trace_reader_offset(const struct ab_trace_reader *r);
/* Valid once ab_trace_next has returned *n = 0; `program` and `has_time` from the start. */
const struct ab_trace_info *ab_trace_reader_info(const struct ab_trace_reader *r);
/* SHA-256 of the events, in hexadecimal (traces/FORMAT.md, "Digest"); once, with has_digest, when
 * ab_trace_next has returned *n = 0. */
void ab_trace_reader_digest(struct ab_trace_reader *r, char hex[65]);

/* The end mark of a trace can be read without what comes before it: a hint, to be believed once a
 * reader has come to it. */

/* Sets events, threads and the live peaks of *info, all else to 0. False where the file does not end
 * with an end mark, or is none that can be read from any place. */
bool ab_trace_read_end(const char *path, struct ab_trace_info *info);

#endif
