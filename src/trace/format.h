/* SPDX-License-Identifier: MIT
 *
 * Constants of the trace file (traces/FORMAT.md), and its parts of fixed layout.
 */
#ifndef AB_TRACE_FORMAT_H
#define AB_TRACE_FORMAT_H

#include "trace/event.h"

/* The magic number of a trace file. It begins with a byte above 127 and has both kinds of line
 * ends, so that damage by a text filter is noticed. */
#define AB_TRACE_MAGIC \
    "\x89" \
    "ABT\r\n\x1a\n"
enum {
    AB_TRACE_MAGIC_BYTES = 8,
    AB_TRACE_VERSION = 1,

    /* file header: magic, u32 version, u32 header bytes, u64 flags, u32 program bytes, u32 0,
     * program, u64 checksum of everything before */
    AB_TRACE_HEADER_FIXED = 32,
    AB_TRACE_PROGRAM_MAX = 255,
    AB_TRACE_HEADER_MAX = AB_TRACE_HEADER_FIXED + AB_TRACE_PROGRAM_MAX + 8,
    AB_TRACE_HAS_TIME = 1, /* flag */

    /* chunk header: u32 magic, u32 kind, u32 sequence, u32 events, u32 raw bytes, u32 stored bytes,
     * u64 number of the first event, u64 checksum of the 32 bytes before and of the stored bytes */
    AB_TRACE_CHUNK_MAGIC = 0x4b4c4241, /* "ABLK" */
    AB_TRACE_CHUNK_HEADER = 40,
    AB_TRACE_CHUNK_CHECKED = 32,
    AB_TRACE_CHUNK_EVENTS = 1,
    AB_TRACE_CHUNK_END = 2,
    AB_TRACE_CHUNK_EVENTS_MAX = 65536,
    /* An event needs at most 37.5 bytes: kind 1/2, size 10, reference 10, alignment 1, run of a
     * thread 3 + 3, time 10. The number of runs needs 3 more. */
    AB_TRACE_RAW_MAX = AB_TRACE_CHUNK_EVENTS_MAX * 40,
    AB_TRACE_STORED_MAX = AB_TRACE_RAW_MAX + 65536,
    AB_TRACE_WINDOW_LOG = 21,

    AB_TRACE_THREADS_MAX = 1 << 20,
    AB_TRACE_SUMMARY_BYTES = 8 * 15,
    AB_TRACE_INHERITED_BYTES = 8,
    AB_TRACE_WHOLE_BYTES = 8 * 5,
};

/* Bit in the kind of an optional chunk. Readers skip an optional chunk if they do not know its
 * kind. */
#define AB_TRACE_CHUNK_OPTIONAL UINT32_C(0x80000000)
#define AB_TRACE_CHUNK_INHERITED UINT32_C(0x80000001)
#define AB_TRACE_CHUNK_SITES UINT32_C(0x80000002) /* definitions of call sites */
/* call sites of the events in the next chunk of events */
#define AB_TRACE_CHUNK_SITE_COLUMN UINT32_C(0x80000003)
#define AB_TRACE_CHUNK_BYPASS UINT32_C(0x80000004)
#define AB_TRACE_CHUNK_MARKS UINT32_C(0x80000005)
#define AB_TRACE_CHUNK_WRITTEN UINT32_C(0x80000007)
#define AB_TRACE_CHUNK_REQUESTS UINT32_C(0x80000006) /* requests such as malloc_trim */
#define AB_TRACE_CHUNK_WHOLE UINT32_C(0x80000008)

/* Returns the XXH64 of the checked part of a chunk's header and its stored bytes. */
uint64_t ab_trace_chunk_checksum(const uint8_t *head, const uint8_t *stored, size_t n);

/* ---- digest ----
 *
 * SHA-256 over the events as fixed records. Two files with the same digest have the same calls,
 * however they are stored. */

enum { AB_DIGEST_RECORD_MAX = 32 };

/* Writes the canonical record of an event (traces/FORMAT.md, "Digest"). Returns its size, 24 or
 * 32 bytes. */
size_t ab_event_canonical(const struct ab_event *e, bool has_time,
                          uint8_t out[AB_DIGEST_RECORD_MAX]);

/* ---- totals in the end mark: AB_TRACE_SUMMARY_BYTES of little-endian u64 ---- */

/* X(field of struct ab_trace_info, name in messages), in the order of the file. In the file, the
 * time of the last event follows these totals. */
#define AB_TRACE_TOTALS(X) \
    X(events, "events") \
    X(threads, "threads") \
    X(live_peak_bytes, "live peak in bytes") \
    X(live_peak_blocks, "live peak in blocks") \
    X(ops[AB_EVENT_ALLOC], "allocations") \
    X(ops[AB_EVENT_ALLOC_ZEROED], "zeroed allocations") \
    X(ops[AB_EVENT_ALLOC_ALIGNED], "aligned allocations") \
    X(ops[AB_EVENT_RESIZE], "resizes") \
    X(ops[AB_EVENT_FREE], "frees") \
    X(failed, "failed calls") \
    X(live_end_blocks, "blocks live at the end") \
    X(live_end_bytes, "bytes live at the end") \
    X(total_bytes, "requested bytes") \
    X(thread_ends, "ends of threads")

void ab_trace_summary_encode(const struct ab_trace_info *info, uint8_t *out);

/* ---- the chunk about calls that bypassed the recorder ---- */
enum { AB_TRACE_BYPASS_FIXED = 24, AB_TRACE_BYPASS_MAX = 24 + AB_TRACE_BYPASS_NAMES_MAX };

/* Counts a module that called another malloc, and stores its base name if there is room for it. */
void ab_bypass_add_module(struct ab_trace_bypass *b, const char *name);

/* Encodes the chunk and returns its size. */
size_t ab_bypass_encode(const struct ab_trace_bypass *b, uint8_t out[AB_TRACE_BYPASS_MAX]);

/* Decodes the chunk to *out. Returns NULL, or what is wrong. */
const char *ab_bypass_decode(const uint8_t *bytes, size_t n, struct ab_trace_bypass *out);

#endif
