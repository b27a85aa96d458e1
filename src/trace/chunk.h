/* SPDX-License-Identifier: MIT
 *
 * The columns of one chunk, between events in memory and raw bytes. Kinds, sizes, references,
 * alignments and times lie apart, because each column alone is far more regular than the calls;
 * within a column the events of one thread lie together, for the same reason.
 */
#ifndef AB_TRACE_CHUNK_H
#define AB_TRACE_CHUNK_H

#include "base/bits.h"
#include "trace/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AB_CHUNK_COLUMNS = 8 };

struct ab_stored_chunk { /* as it lies in a file, after its header */
    const uint8_t *bytes;
    size_t n_bytes, n_raw, n_events; /* events 0 = there is no chunk */
};

/* The four bits of an event's kind: enum ab_event_kind, bit 3 for a call that failed; 6 is a resize
 * to size 0 that released its block. */
enum { AB_KIND_RELEASED = 6, AB_KIND_FAILED = 8 };

/* By code: 1 = it is one. */
#define AB_KIND_CODES UINT32_C(0x0f7f)

static inline unsigned ab_kind_code(const struct ab_event *r)
{
    return r->released ? AB_KIND_RELEASED : (unsigned)r->kind | (r->failed ? AB_KIND_FAILED : 0);
}

/* An event as the columns know it. */
struct ab_chunk_event {
    uint64_t size;  /* of allocations and resizes */
    uint64_t block; /* of frees and resizes, and of allocations that gave one */
    uint32_t thread;
    uint8_t code; /* as above */
    uint8_t log2; /* of the alignment */
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

struct ab_chunk_run { /* of events of one thread */
    uint32_t thread, n;
};

struct ab_chunk_group {
    uint32_t thread, end; /* place after its last event */
};

struct ab_chunk_columns { /* the next value of each */
    const uint8_t *kinds, *sizes, *resize_sizes, *frees, *resizes, *aligns, *times;
    bool has_failed; /* a varint beyond 64 bits or not in its shortest form */
};

struct ab_chunk_codec { /* what goes on from chunk to chunk, and room to work; begins as {0} */
    bool has_time;
    uint64_t next_number; /* of the next allocation that gives a block */
    uint64_t time_us;     /* of the last event */
    bool has_begun;       /* an event has passed */
    size_t cap;           /* events that there is room for */
    struct ab_chunk_run *runs;
    size_t n_runs;
    uint32_t *order;               /* by place in the columns: which event of the chunk */
    struct ab_chunk_group *groups; /* of the events of one thread, in the order of the columns */
    size_t n_groups;
    uint32_t *group_of; /* by thread: its group in this chunk + 1; all 0 between chunks */
    size_t cap_group_of;
    uint32_t *numbers;               /* by event: how many of the chunk before it gave a block */
    struct ab_chunk_columns columns; /* of the chunk that is being decoded */
    size_t n_events, n_left;         /* of it; that were not taken yet */
    uint64_t base;                   /* of a chunk of one thread: the block of its last call */
};

void ab_chunk_codec_fini(struct ab_chunk_codec *c);
/* Makes room for chunks of n events; to be called before the first of them. */
void ab_chunk_codec_fit(struct ab_chunk_codec *c, size_t n);

/* Encodes n ≤ AB_TRACE_CHUNK_EVENTS_MAX events into raw, which has room for AB_TRACE_RAW_MAX bytes.
 * `times` is read only when the codec has times; they do not decrease. ends[] says where each column
 * ends. */
void ab_chunk_encode(struct ab_chunk_codec *c, const struct ab_chunk_event *events,
                     const uint64_t *times, size_t n, uint8_t *raw, size_t ends[AB_CHUNK_COLUMNS]);

/* Begins to decode a chunk of exactly n events, raw[0..bytes), which must stay; one byte after them
 * is read too and means nothing. NULL, or what is wrong as the end of a sentence. */
const char *ab_chunk_open(struct ab_chunk_codec *c, const uint8_t *raw, size_t bytes, size_t n);
/* How many events the next call gives: few at a time, while they are in the cache, but where threads
 * lie apart all of them; 0 = the chunk is through. */
size_t ab_chunk_next(const struct ab_chunk_codec *c);
const char *ab_chunk_take(struct ab_chunk_codec *c, struct ab_event *events);

#endif
