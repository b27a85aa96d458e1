/* SPDX-License-Identifier: MIT
 *
 * Converts the events of one chunk to columns of raw bytes and back. Kinds, sizes, references to
 * blocks, alignments and times are separate columns, because each column alone is far more regular
 * than the calls. Within a column, the events of one thread are together, for the same reason.
 */
#ifndef AB_TRACE_CHUNK_H
#define AB_TRACE_CHUNK_H

#include "base/bits.h"
#include "trace/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AB_CHUNK_COLUMNS = 8 };

struct ab_stored_chunk { /* chunk as stored in a file, without its header */
    const uint8_t *bytes;
    size_t n_bytes, n_raw, n_events; /* n_events: 0 = no chunk */
};

/* Codes of four bits in the column of kinds: enum ab_event_kind, with bit 3 set for a failed call.
 * Code 6 is a resize to size 0 that released its block. */
enum { AB_KIND_RELEASED = 6, AB_KIND_FAILED = 8 };

/* Valid codes, as a bit mask. */
#define AB_KIND_CODES UINT32_C(0x0f7f)

static inline unsigned ab_kind_code(const struct ab_event *r)
{
    return r->released ? AB_KIND_RELEASED : (unsigned)r->kind | (r->failed ? AB_KIND_FAILED : 0);
}

/* Event in the form that the columns need. */
struct ab_chunk_event {
    uint64_t size;  /* allocations and resizes only */
    uint64_t block; /* frees, resizes, and allocations that gave a block */
    uint32_t thread;
    uint8_t code; /* see AB_KIND_CODES */
    uint8_t log2; /* log2 of the alignment */
};

static inline struct ab_chunk_event ab_chunk_event_of(const struct ab_event *r)
{
    bool is_aligned = r->kind == AB_EVENT_ALLOC_ALIGNED;
    return (struct ab_chunk_event){
        .size = r->size,
        .block = r->block,
        .thread = r->thread,
        .code = (uint8_t)ab_kind_code(r),
        .log2 = AB_UNLIKELY(is_aligned) ? (uint8_t)ab_log2(r->align) : 0,
    };
}

struct ab_chunk_run { /* successive events of one thread */
    uint32_t thread, n;
};

struct ab_chunk_group {
    uint32_t thread, end; /* end: index in the columns, one past the last event of the thread */
};

struct ab_chunk_columns { /* next unread value of each column */
    const uint8_t *kinds, *sizes, *resize_sizes, *frees, *resizes, *aligns, *times;
    bool has_failed; /* True after a varint that exceeds 64 bits or is not in its shortest form */
};

/* state that continues from chunk to chunk, and buffers; zero-initialize the codec */
struct ab_chunk_codec {
    bool has_time;
    uint64_t next_number; /* number of the next allocation that succeeds */
    uint64_t time_us;     /* time of the last event */
    bool has_begun;       /* True after the first event */
    size_t cap;           /* capacity of the arrays, in events */
    struct ab_chunk_run *runs;
    size_t n_runs;
    uint32_t *order; /* index of an event in the chunk, by its place in the columns */
    /* one for each thread of the chunk, in the order of the columns */
    struct ab_chunk_group *groups;
    size_t n_groups;
    /* number of a thread's group in this chunk + 1, by thread; all 0 between chunks */
    uint32_t *group_of;
    size_t cap_group_of;
    /* number of earlier events in the chunk that gave a block, by event */
    uint32_t *numbers;
    struct ab_chunk_columns columns; /* columns of the chunk being decoded */
    /* n_events: events in the chunk being decoded; n_left: events of it not yet taken */
    size_t n_events, n_left;
    /* block number of the last call; used if the chunk has one thread */
    uint64_t base;
};

void ab_chunk_codec_fini(struct ab_chunk_codec *c);
/* Makes room for chunks of n events. Call it before the first such chunk. */
void ab_chunk_codec_fit(struct ab_chunk_codec *c, size_t n);

/* Encodes n ≤ AB_TRACE_CHUNK_EVENTS_MAX events to `raw`, which has room for AB_TRACE_RAW_MAX bytes.
 * Reads `times`, which must not decrease, only if the codec has times. Sets ends[] to the ends of
 * the columns in `raw`. */
void ab_chunk_encode(struct ab_chunk_codec *c, const struct ab_chunk_event *events,
                     const uint64_t *times, size_t n, uint8_t *raw, size_t ends[AB_CHUNK_COLUMNS]);

/* Begins to decode a chunk of exactly n events from raw[0..bytes), which must stay valid; the
 * byte after them must be readable. Returns NULL, or what is wrong as the end of a sentence. */
const char *ab_chunk_open(struct ab_chunk_codec *c, const uint8_t *raw, size_t bytes, size_t n);
/* Returns the number of events that the next ab_chunk_take returns; 0 = end of chunk. Small batches
 * keep events in the cache, but a chunk of several threads is decoded at once. */
size_t ab_chunk_next(const struct ab_chunk_codec *c);
const char *ab_chunk_take(struct ab_chunk_codec *c, struct ab_event *events);

#endif
