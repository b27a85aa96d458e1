/* SPDX-License-Identifier: MIT
 *
 * The spool: what the recorder inside the program writes and the converter reads. A private folder
 * with one `control` file, made by the launcher, and one `image.N` file for each program image (an
 * exec keeps the process and begins the next image). All of it is written through shared mappings,
 * so that what was recorded survives every kind of death. Lives for one recording on one machine:
 * native layout, no promise.
 *
 * Order. An image is one array of events; a call takes its place in it with one atomic increment,
 * releases before the real free or realloc is called, acquires after the real call has returned.
 * The array is then a true order of all threads, signal handlers included. A place that was taken
 * but never filled (the process was killed in between) stays zero: a hole.
 */
#ifndef AB_RECORD_SPOOL_H
#define AB_RECORD_SPOOL_H

#include <stdint.h>

#define AB_SPOOL_ENV "ALLOCBENCH_SPOOL" /* the folder */
#define AB_SPOOL_CONTROL_NAME "control"
#define AB_SPOOL_IMAGE_FORMAT "%s/image.%u"

enum {
    AB_SPOOL_MAGIC = 0x53544241, /* "ABTS" */
    AB_SPOOL_VERSION = 1,
    AB_SPOOL_HEADER_BYTES = 4096,
    AB_SPOOL_SEGMENT_BYTES = 4 << 20, /* reserved on disk at a time, before it is written */
    AB_SPOOL_PROGRAM_MAX = 255,
    AB_SPOOL_IMAGES_MAX = 1000,
};

struct ab_spool_control {
    uint32_t magic, version;
    uint32_t pid;        /* the one process that is recorded; others stay passive */
    uint32_t n_images;   /* names given out, by atomic increment */
    uint32_t stop_errno; /* an image could not even begin; 0 = none */
};

struct ab_spool_header { /* of an image; its events begin at AB_SPOOL_HEADER_BYTES */
    uint32_t magic, version;
    uint64_t n_taken;    /* places taken; may exceed what the file has room for */
    uint32_t n_threads;  /* that allocated or freed */
    uint32_t stop_errno; /* recording ended here while the program went on; 0 = it did not */
    char program[AB_SPOOL_PROGRAM_MAX + 1]; /* base name */
};

enum ab_spool_kind {
    AB_SPOOL_HOLE,
    AB_SPOOL_ALLOC,
    AB_SPOOL_ALLOC_ZEROED,
    AB_SPOOL_ALLOC_ALIGNED,
    AB_SPOOL_FREE,
    AB_SPOOL_RESIZE_BEGIN, /* old address; the block is in nobody's hands until the end */
    AB_SPOOL_RESIZE_END,   /* new address, or 0: released when size is 0, else failed */
    AB_SPOOL_KIND_COUNT
};

struct ab_spool_event {
    uint64_t what;    /* kind in bits 0–7, log2 of alignment in 8–15, thread from 32; stored last */
    uint64_t address; /* 0: the program got NULL */
    uint64_t size;
};

#define AB_SPOOL_KIND(what) ((unsigned)(what)&255u)
#define AB_SPOOL_LOG2(what) ((unsigned)((what) >> 8) & 255u)
#define AB_SPOOL_THREAD(what) ((uint32_t)((what) >> 32))

#endif
