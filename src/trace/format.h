/* SPDX-License-Identifier: MIT
 *
 * Constants of the trace file; the meaning of each is in traces/FORMAT.md.
 */
#ifndef AB_TRACE_FORMAT_H
#define AB_TRACE_FORMAT_H

#include <stdint.h>

/* First byte above 127 and both line ends: a file that went through a text filter is noticed. */
#define AB_TRACE_MAGIC \
    "\x89" \
    "ABT\r\n\x1a\n"
enum {
    AB_TRACE_MAGIC_BYTES = 8,
    AB_TRACE_VERSION = 1,

    /* file header: magic, u32 version, u32 header bytes, u64 flags, u32 program bytes, u32 0,
     * program, u64 checksum of all before */
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
    /* An event needs 37.5 bytes at most: kind 1/2, size 10, reference 10, alignment 1, run of a
     * thread 3 + 3, time 10; the number of runs 3 more. */
    AB_TRACE_RAW_MAX = AB_TRACE_CHUNK_EVENTS_MAX * 40,
    AB_TRACE_STORED_MAX = AB_TRACE_RAW_MAX + 65536,
    AB_TRACE_WINDOW_LOG = 21,

    AB_TRACE_THREADS_MAX = 1 << 20,
    AB_TRACE_SUMMARY_BYTES = 8 * 15,
    AB_TRACE_INHERITED_BYTES = 8,
};

/* Kinds of chunks with this bit are skipped by readers that do not know them. */
#define AB_TRACE_CHUNK_OPTIONAL UINT32_C(0x80000000)
#define AB_TRACE_CHUNK_INHERITED UINT32_C(0x80000001)
#define AB_TRACE_CHUNK_SITES UINT32_C(0x80000002)       /* definitions */
#define AB_TRACE_CHUNK_SITE_COLUMN UINT32_C(0x80000003) /* of the next chunk of events */
#define AB_TRACE_CHUNK_BYPASS UINT32_C(0x80000004)
#define AB_TRACE_CHUNK_MARKS UINT32_C(0x80000005)

#endif
