/* SPDX-License-Identifier: MIT
 *
 * Writes a trace file. The caller passes events in order. The writer numbers allocations itself,
 * from 0; frees and resizes refer to the number of their block, so that no address reaches the
 * file.
 */
#ifndef AB_TRACE_WRITER_H
#define AB_TRACE_WRITER_H

#include "core/status.h"
#include "trace/event.h"
#include "trace/mark_table.h"
#include "trace/site_table.h"

#include <stdio.h>

struct ab_trace_writer;

/* Opens a writer. `to` is borrowed; `program` is the base name of the recorded command ("" =
 * unknown). */
enum ab_status ab_trace_writer_open(FILE *to, const char *program, struct ab_trace_writer **out,
                                    struct ab_err *err);

struct ab_trace_writer_options {
    const char *program;
    bool has_time;   /* True if events have time_us */
    bool has_thread; /* True to encode on a separate thread (encoder.h) */
    /* sites of events; may grow until the writer is closed, and is not written while empty. NULL
     * = none */
    const struct ab_site_table *sites;
    /* marks; a mark must be in the table before the call that follows it is written. NULL = none */
    const struct ab_mark_table *marks;
    const struct ab_mark_table *requests; /* requests such as malloc_trim, used like `marks` */
    /* totals of the program, read when the writer is closed. NULL = not known */
    const struct ab_trace_whole *whole;
    uint32_t chunk_events; /* events per chunk; 0 = AB_TRACE_CHUNK_EVENTS_MAX */
};
enum ab_status ab_trace_writer_open_with(FILE *to, const struct ab_trace_writer_options *options,
                                         struct ab_trace_writer **out, struct ab_err *err);

/* Declares that the first n events allocate blocks inherited at a fork. Call it before any chunk
 * of events is full. */
enum ab_status ab_trace_writer_inherit(struct ab_trace_writer *w, uint64_t n, struct ab_err *err);

/* Returns the number of calls written so far. */
uint64_t ab_trace_writer_calls(const struct ab_trace_writer *w);

/* Notes the written pages of the block that a call gave (trace/written_table.h). Call this once per
 * call, after that call was written. Not needed with ab_trace_write, which takes the pages from the
 * event. */
void ab_trace_writer_written(struct ab_trace_writer *w, uint64_t call, uint32_t known_pages,
                             uint32_t written_pages);

/* Notes the calls that bypassed the recorder. Call it at any time before close. */
void ab_trace_writer_bypass(struct ab_trace_writer *w, const struct ab_trace_bypass *bypass);

/* Writes an event. Sets *number to the number of the new block, for allocations only; a resize
 * keeps the number of its block. Returns AB_INPUT if `block` is not live. */
enum ab_status ab_trace_write(struct ab_trace_writer *w, const struct ab_event *event,
                              uint64_t *number, struct ab_err *err);

/* Writes an event for a caller that tracks live blocks and numbers threads in the right order.
 * `old_size` is the size of the block before a free or resize. Use either this function or
 * ab_trace_write with a writer, not both. */
enum ab_status ab_trace_write_known(struct ab_trace_writer *w, const struct ab_event *event,
                                    uint64_t old_size, uint64_t *number, struct ab_err *err);

/* Write the most frequent events of ab_trace_write_known, without times: a free, and an allocation
 * that gave a block. */
enum ab_status ab_trace_write_free(struct ab_trace_writer *w, uint32_t thread, uint64_t block,
                                   uint64_t old_size, struct ab_err *err);
struct ab_trace_alloc {
    uint32_t thread;
    uint8_t kind; /* AB_EVENT_ALLOC … AB_EVENT_ALLOC_ALIGNED */
    uint8_t log2; /* log2 of the alignment; 0 unless the kind is AB_EVENT_ALLOC_ALIGNED */
    uint32_t site;
};
enum ab_status ab_trace_write_alloc(struct ab_trace_writer *w, struct ab_trace_alloc alloc,
                                    uint64_t size, uint64_t *number, struct ab_err *err);

/* Writes the remaining events and the end mark, and sets *info to the totals. Frees the writer,
 * also on failure. */
enum ab_status ab_trace_writer_close(struct ab_trace_writer *w, struct ab_trace_info *info,
                                     struct ab_err *err);
void ab_trace_writer_abandon(struct ab_trace_writer *w);

#endif
