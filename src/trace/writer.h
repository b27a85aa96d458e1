/* SPDX-License-Identifier: MIT
 *
 * Writes a trace file. The caller gives events in order, with allocations numbered by the writer
 * itself (the first successful allocation or move is 0) and frees and resizes naming the number of
 * the block's last allocation: addresses never reach the file.
 */
#ifndef AB_TRACE_WRITER_H
#define AB_TRACE_WRITER_H

#include "core/status.h"
#include "trace/event.h"
#include "trace/mark_table.h"
#include "trace/site_table.h"

#include <stdio.h>

struct ab_trace_writer;

/* `to` stays the caller's; program is the base name of the recorded command ("" = unknown). */
enum ab_status ab_trace_writer_open(FILE *to, const char *program, struct ab_trace_writer **out,
                                    struct ab_err *err);

struct ab_trace_writer_options {
    const char *program;
    bool has_time;                     /* events carry time_us */
    bool has_thread;                   /* a thread of its own packs them (encoder.h) */
    const struct ab_site_table *sites; /* of events: may grow until the writer is closed; as long as
                                          it is empty nothing is written of them. NULL = none */
    const struct ab_mark_table *marks; /* the same: one of a call is in it when that call is
                                          written. NULL = none */
    const struct ab_mark_table *requests; /* the same of requests beside blocks */
    const struct ab_trace_whole *whole;   /* of the program: as it is when the writer is closed.
                                             NULL = not known */
    uint32_t chunk_events;                /* in a chunk; 0 = AB_TRACE_CHUNK_EVENTS_MAX */
};
enum ab_status ab_trace_writer_open_with(FILE *to, const struct ab_trace_writer_options *options,
                                         struct ab_trace_writer **out, struct ab_err *err);

/* Says that the first n events allocate the blocks that the process had from the one that forked
 * it. Before any chunk of events is full. */
enum ab_status ab_trace_writer_inherit(struct ab_trace_writer *w, uint64_t n, struct ab_err *err);

/* So many calls have been written. */
uint64_t ab_trace_writer_calls(const struct ab_trace_writer *w);

/* Says what the program wrote of the block that a call gave (trace/written_table.h). Once for a call,
 * which has been written; of an event that is written by ab_trace_write the event says it. */
void ab_trace_writer_written(struct ab_trace_writer *w, uint64_t call, uint32_t known_pages,
                             uint32_t written_pages);

/* Says what is not in the trace. At any time before close. */
void ab_trace_writer_bypass(struct ab_trace_writer *w, const struct ab_trace_bypass *bypass);

/* *number is the new block's number where the call made one (alloc kinds, and a resize keeps the
 * number of its block); untouched else. Fails with AB_INPUT when `block` is not live. */
enum ab_status ab_trace_write(struct ab_trace_writer *w, const struct ab_event *event,
                              uint64_t *number, struct ab_err *err);

/* The same for a caller who keeps the live blocks, and the threads in order: `old_size` is that of
 * the block before a free or resize. One writer is used in one of the two ways. */
enum ab_status ab_trace_write_known(struct ab_trace_writer *w, const struct ab_event *event,
                                    uint64_t old_size, uint64_t *number, struct ab_err *err);

/* The most frequent of these, without times: a free, and an allocation that gave a block. */
enum ab_status ab_trace_write_free(struct ab_trace_writer *w, uint32_t thread, uint64_t block,
                                   uint64_t old_size, struct ab_err *err);
struct ab_trace_alloc {
    uint32_t thread;
    uint8_t kind; /* AB_EVENT_ALLOC … AB_EVENT_ALLOC_ALIGNED */
    uint8_t log2; /* of the alignment, when it has one, else 0 */
    uint32_t site;
};
enum ab_status ab_trace_write_alloc(struct ab_trace_writer *w, struct ab_trace_alloc alloc,
                                    uint64_t size, uint64_t *number, struct ab_err *err);

/* Writes the rest and the end mark; frees the writer, also on failure. */
enum ab_status ab_trace_writer_close(struct ab_trace_writer *w, struct ab_trace_info *info,
                                     struct ab_err *err);
void ab_trace_writer_abandon(struct ab_trace_writer *w);

#endif
