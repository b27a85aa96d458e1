/* SPDX-License-Identifier: MIT
 *
 * Reads a trace file as a stream of events: memory O(live blocks), never O(events). The file is
 * untrusted: every length is checked before it is believed, the input is never mapped.
 */
#ifndef AB_TRACE_READER_H
#define AB_TRACE_READER_H

#include "core/status.h"
#include "trace/tape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ab_event_kind {
    AB_EVENT_ALLOC,
    AB_EVENT_ALLOC_ZEROED,
    AB_EVENT_ALLOC_ALIGNED,
    AB_EVENT_RESIZE,
    AB_EVENT_FREE,
    AB_EVENT_KIND_COUNT
};

struct ab_event { /* one call of the recorded program */
    uint8_t kind;
    bool failed;        /* the program got NULL: alloc kinds: no block; resize: the old one lives */
    bool released;      /* resize to size 0 that freed the block and gave none */
    uint32_t slot;      /* dense, recycled; unset when an alloc failed */
    uint32_t thread;
    uint64_t size;      /* requested; of free: 0 */
    uint64_t align;     /* ALLOC_ALIGNED only */
};

struct ab_trace_info {
    uint64_t events, threads;
    uint64_t live_peak_bytes, live_peak_blocks; /* of requested bytes */
    uint64_t ops[AB_EVENT_KIND_COUNT];
    uint64_t failed, live_end_blocks, live_end_bytes, total_bytes, slots;
    uint64_t file_bytes;
    char program[256];  /* base name of the recorded command; "" = unknown */
    bool is_partial;    /* end mark missing: the recorded program was killed, or a cut file */
};

struct ab_trace_reader;

enum ab_status ab_trace_open(const char *path, struct ab_trace_reader **out, struct ab_err *err);
void ab_trace_close(struct ab_trace_reader *r);
/* Fills events[0..cap); *n = 0 at the end. Errors carry "file: byte offset: …". */
enum ab_status ab_trace_next(struct ab_trace_reader *r, struct ab_event *events, size_t cap,
                             size_t *n, struct ab_err *err);
/* Where in the file the block begins that the last events came from. */
uint64_t ab_trace_reader_offset(const struct ab_trace_reader *r);
/* Valid once ab_trace_next has returned *n = 0; `program` from the start. */
const struct ab_trace_info *ab_trace_reader_info(const struct ab_trace_reader *r);

/* The whole file as one tape with the one measured phase "replay". */
struct ab_trace_tape_options {
    enum ab_touch touch; /* default AB_TOUCH_PAGE */
    uint32_t touch_bytes;
};
enum ab_status ab_trace_to_tape(const char *path, const struct ab_trace_tape_options *options,
                                struct ab_tape *out, struct ab_trace_info *info,
                                struct ab_err *err);

#endif
