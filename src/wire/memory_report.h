/* SPDX-License-Identifier: MIT
 *
 * What the memory pass says, in a region of its own of the run memfd: plain integers of fixed
 * layout, UINT64_MAX where something is not known. The worker counts, the parent judges
 * (runner/fold_memory.c): it trusts none of this beyond bounds it checks itself.
 *
 * Positions are on the op clock: how many ops of the tape are done.
 */
#ifndef AB_WIRE_MEMORY_REPORT_H
#define AB_WIRE_MEMORY_REPORT_H

#include "wire/kinds.h"
#include "wire/placement.h"
#include "wire/run.h"

#define AB_MEMORY_UNKNOWN UINT64_MAX
#define AB_MEMORY_NEVER UINT32_MAX /* no position */

/* Of one heap of a placement, at a checkpoint. */
struct ab_heap_reading {
    uint64_t requested_bytes; /* of its live blocks */
    uint64_t footprint_bytes; /* by page (worker/heap_memory.h) */
    uint64_t live_bytes, internal_bytes, external_bytes;
    uint64_t allocated_bytes, mapped_bytes, reserved_bytes, metadata_bytes; /* what it says */
};

/* What is known at each reading, and what was looked up besides at a checkpoint. */
struct ab_memory_state {
    uint32_t position;   /* AB_MEMORY_NEVER: there is no such state */
    uint32_t is_checked; /* a checkpoint: all that stands below footprint_bytes was looked up */
    uint64_t requested_bytes, usable_bytes; /* of live blocks */
    uint64_t footprint_bytes;               /* from statm */
    uint64_t exact_bytes;                   /* the same from smaps_rollup */
    /* by page (worker/page_walk.h) */
    uint64_t live_bytes, internal_bytes, external_bytes;
    uint64_t untouched_bytes, baseline_bytes, n_stretches;
    uint64_t allocated_bytes, mapped_bytes; /* what the allocator says */
    struct ab_heap_reading heaps[AB_PLACEMENT_HEAPS_MAX];
};

/* The peaks of a phase, for a run that comes later with the same tape. */
struct ab_memory_marks {
    uint32_t live_peak[AB_PHASES_MAX], footprint_peak[AB_PHASES_MAX]; /* positions */
    uint64_t footprint_bytes[AB_PHASES_MAX];
    /* Where the pages had the most external bytes, and these; only with pins (wire/pins.h). */
    uint32_t worst, reserved;
    uint64_t worst_external_bytes;
};

struct ab_memory_walks { /* of a phase, added up: walks, blocks that they read, what these touch */
    uint64_t n, blocks, lines, pages, spans;
};

struct ab_memory_phase {
    uint64_t live_peak_bytes, rss_peak_bytes;
    uint64_t
        high_water_bytes; /* most that the kernel saw, above the baseline; 0: it was not asked */
    uint64_t n_readings, requested_sum, footprint_sum; /* equally spaced on the op clock */
    uint32_t live_peak_at;
    uint32_t n_disputed; /* checkpoints where ledger and walk disagreed about the pages */
    uint32_t first_sample, n_samples;
    uint64_t own_faults; /* of the pass itself, among the minor ones */
    struct ab_memory_walks walks;
    struct ab_memory_state at[AB_AT_COUNT];
};

/* At a reading, for the ops since the sample before it. */
struct ab_memory_sample {
    uint32_t position, n_ops;
    uint64_t footprint_bytes;
    uint64_t live_bytes, internal_bytes, external_bytes; /* all known, or none */
};
/* At least so many a measured phase that has as many ops. */
#define AB_MEMORY_SAMPLES_LEAST 1000

struct ab_memory_point {
    uint32_t position, reserved;
    uint64_t requested_bytes, usable_bytes, footprint_bytes;
    uint64_t internal_bytes, external_bytes; /* by page */
};

/* At a time of the work, where it has times. Idle: nothing is called meanwhile. */
struct ab_memory_row {
    uint64_t time_ns; /* since the work began; ascending */
    uint32_t position, phase;
    uint64_t requested_bytes, footprint_bytes, live_bytes, internal_bytes, external_bytes;
    uint64_t lazyfree_bytes; /* of the footprint, pages that the kernel may take */
    uint32_t flags, reserved;
};
enum ab_memory_row_flag {
    AB_ROW_IDLE_BEGIN = 1u << 0, /* the first of an idle stretch */
    AB_ROW_IDLE = 1u << 1,       /* one second, ten or sixty after that */
    AB_ROW_IDLE_END = 1u << 2,
};
/* In an idle stretch, besides those that are equally spaced. */
#define AB_MEMORY_IDLE_ROWS 5

/* Who told the library under test the time. */
enum ab_clock_kind {
    AB_CLOCK_UNKNOWN, /* the work has no times, or there was no such pass */
    AB_CLOCK_VIRTUAL,
    AB_CLOCK_NONE, /* it asked for none */
    AB_CLOCK_REAL,
};

/* Equally spaced points; the parent adds the peaks. */
#define AB_MEMORY_POINTS_MAX 1000
#define AB_MEMORY_POINTS_SPACED 800

enum ab_memory_flag {                            /* why pages or drains are not known */
                      AB_MEMORY_MOVES = 1u << 0, /* blocks may move */
                      AB_MEMORY_OVERLAP =
                          1u << 1, /* more bytes of live blocks on a page than it has */
                      AB_MEMORY_USABLE_LESS = 1u
                                              << 2, /* usable_size said less than was asked for */
                      AB_MEMORY_KEEPS = 1u << 3, /* can neither free nor reset: nothing to drain */
                      AB_MEMORY_UNREADABLE = 1u << 4, /* /proc/self/statm gave nothing */
                      AB_MEMORY_NO_PAGES = 1u << 5,   /* /proc/self/pagemap or smaps gave nothing */
                      AB_MEMORY_NO_LEDGER = 1u << 6,  /* blocks lie too far apart for the ledger */
                      AB_MEMORY_NO_MARK = 1u << 7,    /* /proc/self/clear_refs cannot be written */
};

struct ab_memory_report {
    /* from the parent */
    uint64_t drain_ns; /* how long to wait for memory to be given back */
    uint32_t is_scout; /* only find the peaks: no drain, no checkpoints */
    uint32_t cap_samples;
    struct ab_memory_marks marks;
    uint32_t pace;      /* so many times as fast as the work's own time; 0: in virtual time */
    uint32_t cap_idle;  /* idle stretches that have rows of their own; those behind have not */
    uint64_t spaced_ns; /* from a row to the next */
    /* from the worker */
    uint32_t n_rows, clock;     /* enum ab_clock_kind */
    char clock_reason[96];      /* of AB_CLOCK_REAL */
    uint32_t flags;             /* enum ab_memory_flag */
    uint32_t granularity_pages; /* by how much statm may be wrong; 0 = exact */
    uint64_t page_bytes;
    uint64_t mark_excess_bytes; /* by so much the kernel's high-water mark may say too much */
    uint64_t baseline_bytes;    /* private memory before the heap opened, not in any footprint */
    uint64_t shared_bytes, hugetlb_bytes, swapped_bytes; /* most seen since, of the allocator's */
    uint64_t drained_bytes[AB_DRAIN_COUNT];
    uint64_t heaps_drained_bytes[AB_PLACEMENT_HEAPS_MAX][AB_DRAIN_COUNT];
    struct ab_memory_phase phases[AB_PHASES_MAX];
    uint32_t n_points, reserved;
    struct ab_memory_point points[AB_MEMORY_POINTS_MAX];
    struct ab_memory_sample samples[]; /* cap_samples, phase by phase */
};

#endif
