/* SPDX-License-Identifier: MIT
 *
 * Reads a trace file as a stream of events: memory O(live blocks), never O(events). The file is
 * untrusted: every length is checked before it is believed, the input is never mapped.
 */
#ifndef AB_TRACE_READER_H
#define AB_TRACE_READER_H

#include "core/status.h"
#include "tape/tape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ab_event_kind {
    AB_EVENT_ALLOC,
    AB_EVENT_ALLOC_ZEROED,
    AB_EVENT_ALLOC_ALIGNED,
    AB_EVENT_RESIZE,
    AB_EVENT_FREE,
    AB_EVENT_KIND_COUNT, /* of calls */
    /* No call: a thread is gone, its number does not come again. Handed out on request only. */
    AB_EVENT_THREAD_END = AB_EVENT_KIND_COUNT
};

struct ab_event { /* one call of the recorded program */
    uint8_t kind;
    bool failed;        /* the program got NULL: alloc kinds: no block; resize: the old one lives */
    bool released;      /* resize to size 0 that freed the block and gave none */
    uint32_t slot;      /* dense, recycled; unset when an alloc failed */
    uint32_t thread;
    uint64_t size;      /* requested; of free: 0 */
    uint64_t align;     /* ALLOC_ALIGNED only */
    uint64_t block;     /* number of the allocation that gave the block, counted from 0 over the
                           file; AB_NO_BLOCK when there is none */
    uint64_t time_us;   /* since the first event; 0 in a trace without times */
};
#define AB_NO_BLOCK UINT64_MAX

struct ab_trace_info {
    uint64_t events, threads; /* calls: ends of threads are not counted */
    uint64_t live_peak_bytes, live_peak_blocks; /* of requested bytes */
    uint64_t ops[AB_EVENT_KIND_COUNT];
    uint64_t failed, live_end_blocks, live_end_bytes, total_bytes, slots;
    uint64_t file_bytes;
    char program[256];  /* base name of the recorded command; "" = unknown */
    bool is_partial;    /* end mark missing: the recorded program was killed, or a cut file */
    bool has_time;
    uint64_t thread_ends, time_us; /* of the last event */
    uint64_t optional_blocks; /* of kinds that this reader does not know, skipped */
    uint64_t inherited; /* so many first events allocate what lived when the process was forked */
};

struct ab_trace_reader;

struct ab_trace_options {
    bool is_partial;       /* a file that was cut ends with its last whole block, without error;
                              one that is damaged, or cut within its header, is refused still */
    bool has_thread_ends;  /* hand out AB_EVENT_THREAD_END too */
    bool has_digest;       /* keep the digest of the events */
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
/* Is there anything behind what was handed out? */
enum ab_status ab_trace_has_more(struct ab_trace_reader *r, bool *has_more, struct ab_err *err);
/* The file, as errors show it. */
const char *ab_trace_reader_name(const struct ab_trace_reader *r);
/* Where in the file the block begins that the last events came from. */
uint64_t ab_trace_reader_offset(const struct ab_trace_reader *r);
/* Valid once ab_trace_next has returned *n = 0; `program` and `has_time` from the start. */
const struct ab_trace_info *ab_trace_reader_info(const struct ab_trace_reader *r);
/* SHA-256 of the events, in hexadecimal (traces/FORMAT.md, "Digest"); once, with has_digest, when
 * ab_trace_next has returned *n = 0. */
void ab_trace_reader_digest(struct ab_trace_reader *r, char hex[65]);

#endif
