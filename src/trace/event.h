/* SPDX-License-Identifier: MIT
 *
 * One event of a trace, as readers hand it out and writers take it, and the totals of a trace.
 */
#ifndef AB_TRACE_EVENT_H
#define AB_TRACE_EVENT_H

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

/* One call of the recorded program; of the end of a thread only `thread` and time say something. */
struct ab_event {
    uint8_t kind;
    bool failed;   /* the program got NULL: alloc kinds: no block; resize: the old one lives */
    bool released; /* resize to size 0 that freed the block and gave none */
    uint32_t slot; /* dense, recycled; given by the reader, 0 when an alloc failed */
    uint32_t thread;
    uint32_t site;    /* the stack that an allocation or resize was called from: its number in the
                         file's table (trace/site_table.h); 0 = not known */
    uint64_t size;    /* requested; of free: 0 */
    uint64_t align;   /* ALLOC_ALIGNED only */
    uint64_t block;   /* number of the allocation that gave the block, counted from 0 over the
                         file; AB_NO_BLOCK when there is none. The writer numbers new blocks
                         itself and reads this of frees and resizes only */
    uint64_t time_us; /* since the first event, never less than the one before; 0 in a trace
                         without times */
    uint32_t known_pages;   /* whole pages of the block that was given of which it is known whether
                               the program wrote them after the call; 0 = nothing is */
    uint32_t written_pages; /* of them that it wrote */
};
#define AB_NO_BLOCK UINT64_MAX
enum { AB_TRACE_BYPASS_NAMES_MAX = 512 };

static inline bool ab_event_gives_block(const struct ab_event *e)
{
    return e->kind <= AB_EVENT_ALLOC_ALIGNED && !e->failed;
}

/* Blocks of fewer bytes are touched as their sizes say, whatever the program wrote of them. */
#define AB_TRACE_LARGE 65536

/* Is it a call that has a site: one that may give a block? */
static inline bool ab_event_has_site(const struct ab_event *e)
{
    return e->kind <= AB_EVENT_RESIZE;
}

/* Calls that the program made past the recorder. */
struct ab_trace_bypass {
    bool is_there;        /* there were some: the rest is of them */
    uint64_t least_calls; /* their blocks came to light */
    uint64_t most_bytes;  /* that they can have had at the end; AB_BYPASS_UNKNOWN */
    uint32_t n_modules;   /* that called another malloc, as far as known */
    uint32_t n_names;     /* bytes of names */
    char names[AB_TRACE_BYPASS_NAMES_MAX]; /* of the modules, each with its NUL; not all, maybe */
};
#define AB_BYPASS_UNKNOWN UINT64_MAX

/* The recorded program as a whole, whichever of its calls the trace has. What is not known is
 * AB_WHOLE_UNKNOWN. */
#define AB_WHOLE_UNKNOWN UINT64_MAX
struct ab_trace_whole {
    bool is_there;
    uint64_t cpu_ns;          /* CPU time of the process, without recorder_ns */
    uint64_t recorder_ns;     /* that recording took of it, estimated */
    uint64_t calls;           /* that it made of the malloc family */
    uint64_t anonymous_bytes; /* resident at the moment that was looked at: no file stands behind */
    uint64_t unasked_bytes;   /* of these in places where no block of the program ever was */
};
#define AB_WHOLE_NONE \
    ((struct ab_trace_whole){false, AB_WHOLE_UNKNOWN, AB_WHOLE_UNKNOWN, AB_WHOLE_UNKNOWN, \
                             AB_WHOLE_UNKNOWN, AB_WHOLE_UNKNOWN})

/* Is so much memory not asked of malloc that a replay says little of the program's memory? */
static inline bool ab_whole_is_unasked(const struct ab_trace_whole *w)
{
    return w->unasked_bytes != AB_WHOLE_UNKNOWN && w->unasked_bytes >= UINT64_C(8) << 20 &&
           w->unasked_bytes >= w->anonymous_bytes / 10;
}

struct ab_trace_info {
    uint64_t events, threads;                   /* calls: ends of threads are not counted */
    uint64_t live_peak_bytes, live_peak_blocks; /* of requested bytes */
    uint64_t ops[AB_EVENT_KIND_COUNT];
    uint64_t failed, live_end_blocks, live_end_bytes, total_bytes, slots;
    uint64_t file_bytes;
    char program[256]; /* base name of the recorded command; "" = unknown */
    bool is_partial;   /* end mark missing: the recorded program was killed, or a cut file */
    bool has_time;
    uint64_t thread_ends, time_us; /* of the last event */
    uint64_t optional_chunks;      /* of kinds that this reader does not know, skipped */
    bool has_sites;                /* there are chunks of call sites, read or not */
    bool has_marks;                /* there are chunks of marks, read or not */
    bool has_written;              /* of some large blocks it is known what was written */
    bool is_written_unread;        /* … and this file is a pipe, which says it too late */
    uint64_t written_known_bytes;  /* of pages whose writing is known; … */
    uint64_t written_bytes;        /* … of those that were written */
    bool has_requests;             /* there are chunks of requests beside blocks, read or not */
    uint64_t inherited; /* so many first events allocate what lived when the process was forked */
    struct ab_trace_bypass bypass;
    struct ab_trace_whole whole;
};

/* Closes the gaps that ends of threads leave; how many are left. */
static inline size_t ab_events_without_thread_ends(struct ab_event *events, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        events[kept] = events[i];
        kept += events[i].kind != AB_EVENT_THREAD_END;
    }
    return kept;
}

#endif
