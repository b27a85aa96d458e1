/* SPDX-License-Identifier: MIT
 *
 * Reads a trace file as a stream of events; memory O(live blocks), never O(events). The file is
 * untrusted: all lengths are checked before use, and the file is never mapped.
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
    /* True to accept a truncated file up to its last complete chunk; damaged files, or files
     * truncated in the header, are still refused */
    bool is_partial;
    bool has_thread_ends; /* True to return AB_EVENT_THREAD_END too */
    bool has_digest;      /* True to compute the digest of the events */
    /* owned by the caller, zeroed; receives call sites before their events. NULL = sites are
     * skipped, and events have none */
    struct ab_site_table *sites;
    /* owned by the caller, zeroed; the reader adds each mark before its call. NULL = marks are
     * skipped */
    struct ab_mark_table *marks;
    /* requests such as malloc_trim, filled like `marks` */
    struct ab_mark_table *requests;
    uint64_t live_blocks_max, live_bytes_max; /* limits; 0 = the limit of the format */
};

/* Opens a file; "-" = standard input. */
enum ab_status ab_trace_open(const char *path, struct ab_trace_reader **out, struct ab_err *err);
enum ab_status ab_trace_open_with(const char *path, const struct ab_trace_options *options,
                                  struct ab_trace_reader **out, struct ab_err *err);
void ab_trace_close(struct ab_trace_reader *r);
/* Fills events[0..cap) and sets *n to the number of events; 0 = end of the trace. Errors begin with
 * "file: byte offset: ". */
enum ab_status ab_trace_next(struct ab_trace_reader *r, struct ab_event *events, size_t cap,
                             size_t *n, struct ab_err *err);
/* Finds out whether there are more events. */
enum ab_status ab_trace_has_more(struct ab_trace_reader *r, bool *has_more, struct ab_err *err);
/* Returns the name of the file as errors show it. */
const char *ab_trace_reader_name(const struct ab_trace_reader *r);
/* Returns the position in the file of the chunk from which the last events came. */
uint64_t ab_trace_reader_offset(const struct ab_trace_reader *r);
/* Returns the totals. Valid after ab_trace_next has returned *n = 0; `program` and `has_time`
 * from the start. */
const struct ab_trace_info *ab_trace_reader_info(const struct ab_trace_reader *r);
/* Writes the SHA-256 of the events in hexadecimal (traces/FORMAT.md, "Digest"). The reader must
 * have been opened with has_digest. Call this once, after ab_trace_next has returned *n = 0. */
void ab_trace_reader_digest(struct ab_trace_reader *r, char hex[65]);

/* ---- the end mark, read without the events before it: only a hint until a reader has reached
 * it ---- */

/* Sets events, threads and the live peaks of *info, and everything else to 0. Returns false if the
 * file does not end with an end mark, or is a pipe. */
bool ab_trace_read_end(const char *path, struct ab_trace_info *info);

#endif
