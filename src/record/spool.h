/* SPDX-License-Identifier: MIT
 *
 * The spool: what the recorder leaves behind, one file a process image, and what convert reads.
 * Only these two know it, both are of one build, and it never outlives `allocbench record`.
 *
 *   page 0                    struct ab_spool_header
 *   from AB_SPOOL_DATA on     events in the order of their stamps, AB_SPOOL_CHUNK a mapped window
 *
 * The file is mapped MAP_SHARED and its space is reserved before it is mapped: whatever kills the
 * recorded program, what it had written is in the file; a full disk stops the recording, never
 * the program.
 */
#ifndef AB_RECORD_SPOOL_H
#define AB_RECORD_SPOOL_H

#include <stdint.h>

#define AB_SPOOL_ENV_FOLDER "ALLOCBENCH_RECORD_FOLDER"
#define AB_SPOOL_ENV_PID "ALLOCBENCH_RECORD_PID"
#define AB_SPOOL_MAGIC UINT64_C(0x316c6f6f70536241) /* "AbSpool1" */

enum {
    AB_SPOOL_DATA = 4096,
    AB_SPOOL_CHUNK = 1 << 20,
};

enum ab_spool_stop { /* why recording stopped before the program did */
    AB_SPOOL_RUNNING,
    AB_SPOOL_NO_SPACE,
    AB_SPOOL_FILE_LIMIT,
    AB_SPOOL_NO_MEMORY,
    AB_SPOOL_NO_FILE, /* it cannot be opened again: chroot, other user, no descriptor left */
};

struct ab_spool_header {
    uint64_t magic;
    uint64_t n_events; /* reserved so far; the last few may be unwritten (kind 0) after a kill */
    uint64_t n_other;  /* calls of threads other than the first: not recorded */
    uint32_t stop, stop_errno;
};

enum ab_spool_kind {
    AB_SPOOL_NOTHING, /* reserved, never written */
    AB_SPOOL_ALLOC,
    AB_SPOOL_ZEROED,
    AB_SPOOL_ALIGNED,
    AB_SPOOL_FREE,         /* stamped before the real free */
    AB_SPOOL_RESIZE_BEGIN, /* stamped before the real realloc: address = the old block */
    AB_SPOOL_RESIZE_END,   /* stamped after it: address = the new one, 0 = failed or freed */
};

struct ab_spool_event {
    uint64_t address; /* of allocs: 0 = failed */
    uint64_t size;
    uint64_t align;
    uint32_t kind; /* written last */
    uint32_t thread;
};
_Static_assert(sizeof(struct ab_spool_event) == 32, "a chunk holds a whole number of events");
#define AB_SPOOL_CHUNK_EVENTS (AB_SPOOL_CHUNK / (uint64_t)sizeof(struct ab_spool_event))

#endif
