/* SPDX-License-Identifier: MIT
 *
 * The event of a trace, which readers return and writers take, and the totals of a trace.
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
    AB_EVENT_KIND_COUNT, /* number of kinds of calls */
    /* Not a call: the thread has ended, and its number is not reused. Returned on request only. */
    AB_EVENT_THREAD_END = AB_EVENT_KIND_COUNT
};

/* One call of the recorded program, or the end of a thread, of which only `thread` and `time_us`
 * are valid. */
struct ab_event {
    uint8_t kind;
    bool failed;   /* True if the program got NULL; a failed resize leaves the old block live */
    bool released; /* True for a resize to size 0 that freed the block and gave none */
    /* dense number of a live block, reused after its free; set by the reader; 0 for a failed
     * allocation */
    uint32_t slot;
    uint32_t thread;
    /* number of the call stack that made the allocation or resize, in the trace's table
     * (trace/site_table.h); 0 = not known */
    uint32_t site;
    uint64_t size;  /* requested bytes; 0 for a free */
    uint64_t align; /* ALLOC_ALIGNED only */
    /* number of the allocation that gave the block, from 0 in the file; AB_NO_BLOCK = none. The
     * writer numbers new blocks itself, and reads this number for frees and resizes only */
    uint64_t block;
    uint64_t time_us; /* since the first event, not decreasing; 0 in a trace without times */
    /* number of whole pages of the new block for which it is known whether the program wrote to
     * them; 0 = none */
    uint32_t known_pages;
    uint32_t written_pages; /* number of these known pages that the program wrote to */
};
#define AB_NO_BLOCK UINT64_MAX
enum { AB_TRACE_BYPASS_NAMES_MAX = 512 };

static inline bool ab_event_gives_block(const struct ab_event *e)
{
    return e->kind <= AB_EVENT_ALLOC_ALIGNED && !e->failed;
}

/* Size in bytes of a large block. A replay touches smaller blocks as their sizes say, even if their
 * written pages are known. */
#define AB_TRACE_LARGE 65536

/* True for an allocation or resize: only these calls have a call site. */
static inline bool ab_event_has_site(const struct ab_event *e)
{
    return e->kind <= AB_EVENT_RESIZE;
}

/* Calls that bypassed the recorder. */
struct ab_trace_bypass {
    bool is_there; /* True if there were such calls */
    /* lower bound of the number of these calls: frees and resizes of blocks that no recorded call
     * gave out, and reused addresses whose free was not seen */
    uint64_t least_calls;
    /* upper bound of the bytes held at the end by blocks of these calls; AB_BYPASS_UNKNOWN = not
     * known */
    uint64_t most_bytes;
    uint32_t n_modules; /* number of known modules (loaded files) that called another malloc */
    uint32_t n_names;   /* bytes used in `names` */
    /* names of the modules, each with its NUL; names for which there was no room are missing */
    char names[AB_TRACE_BYPASS_NAMES_MAX];
};
#define AB_BYPASS_UNKNOWN UINT64_MAX

/* Totals of the whole recorded program, even if the trace has only some of its calls. Unknown
 * values are AB_WHOLE_UNKNOWN. */
#define AB_WHOLE_UNKNOWN UINT64_MAX
struct ab_trace_whole {
    bool is_there;
    uint64_t cpu_ns;          /* CPU time of the process, without recorder_ns */
    uint64_t recorder_ns;     /* estimated CPU time of recording */
    uint64_t calls;           /* calls of the malloc family */
    uint64_t anonymous_bytes; /* largest sampled amount of resident anonymous memory */
    /* part of anonymous_bytes that is in places where no block ever was */
    uint64_t unasked_bytes;
};
#define AB_WHOLE_NONE \
    ((struct ab_trace_whole){false, AB_WHOLE_UNKNOWN, AB_WHOLE_UNKNOWN, AB_WHOLE_UNKNOWN, \
                             AB_WHOLE_UNKNOWN, AB_WHOLE_UNKNOWN})

/* True if at least 8 MiB and a tenth of the program's anonymous memory did not come from malloc. A
 * replay then says little about the memory of the program. */
static inline bool ab_whole_is_unasked(const struct ab_trace_whole *w)
{
    return w->unasked_bytes != AB_WHOLE_UNKNOWN && w->unasked_bytes >= UINT64_C(8) << 20 &&
           w->unasked_bytes >= w->anonymous_bytes / 10;
}

struct ab_trace_info {
    /* events: number of calls; ends of threads do not count */
    uint64_t events, threads;
    /* largest sums over the live blocks: their requested bytes, and their number */
    uint64_t live_peak_bytes, live_peak_blocks;
    uint64_t ops[AB_EVENT_KIND_COUNT];
    uint64_t failed, live_end_blocks, live_end_bytes, total_bytes, slots;
    uint64_t file_bytes;
    char program[256]; /* base name of the recorded command; "" = unknown */
    /* True if the end mark is missing: the program was killed, or the file was cut */
    bool is_partial;
    bool has_time;
    uint64_t thread_ends, time_us; /* time_us: time of the last event */
    uint64_t optional_chunks;      /* chunks of unknown kinds, skipped */
    /* True if the file has chunks of call sites, even if they were skipped */
    bool has_sites;
    /* True if the file has chunks of marks, even if they were skipped */
    bool has_marks;
    bool has_written; /* True if the written pages of some large blocks are known */
    /* True if the file has written pages that were not read ahead, because it is a pipe */
    bool is_written_unread;
    /* total size of the pages for which it is known whether they were written */
    uint64_t written_known_bytes;
    uint64_t written_bytes; /* total size of the pages that were written */
    /* True if the file has chunks of requests such as malloc_trim, even if they were skipped */
    bool has_requests;
    uint64_t inherited; /* number of first events that allocate the blocks inherited at a fork */
    struct ab_trace_bypass bypass;
    struct ab_trace_whole whole;
};

/* Removes the ends of threads from events[0..n). Returns the number of events that are left. */
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
