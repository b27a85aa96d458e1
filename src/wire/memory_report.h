/* SPDX-License-Identifier: MIT
 *
 * The report of the memory pass, in a region of its own of the run memfd. It is plain integers of
 * fixed layout; UINT64_MAX means not known. The worker only counts. The parent judges
 * (runner/fold_memory.c), and trusts nothing here beyond bounds that it checks itself.
 *
 * Positions are on the op clock: the number of ops of the tape that are done.
 */
#ifndef AB_WIRE_MEMORY_REPORT_H
#define AB_WIRE_MEMORY_REPORT_H

#include "wire/kinds.h"
#include "wire/placement_file.h"
#include "wire/run_page.h"

#define AB_MEMORY_UNKNOWN UINT64_MAX
#define AB_MEMORY_NEVER UINT32_MAX /* position of a state that does not exist */

/* Memory of one heap of a placement, at a checkpoint. */
struct ab_heap_reading {
    uint64_t requested_bytes; /* requested bytes of the heap's live blocks */
    uint64_t footprint_bytes; /* sum over the heap's pages (worker/heap_memory.h) */
    uint64_t live_bytes, internal_bytes, external_bytes;
    /* the heap's own statistics */
    uint64_t allocated_bytes, mapped_bytes, reserved_bytes, metadata_bytes;
};

/* Memory at one reading. A checkpoint also looks up the expensive fields. */
struct ab_memory_state {
    uint32_t position;   /* AB_MEMORY_NEVER = no such state */
    uint32_t is_checked; /* 1 = a checkpoint: the fields below footprint_bytes were looked up */
    uint64_t requested_bytes, usable_bytes; /* sums over the live blocks */
    uint64_t footprint_bytes;               /* footprint by /proc/self/statm */
    uint64_t exact_bytes;                   /* footprint by /proc/self/smaps_rollup */
    /* contents of the resident pages (worker/page_walk.h), up to n_stretches */
    uint64_t live_bytes, internal_bytes, external_bytes;
    uint64_t untouched_bytes, baseline_bytes, n_stretches;
    uint64_t allocated_bytes, mapped_bytes; /* the allocator's own statistics */
    struct ab_heap_reading heaps[AB_PLACEMENT_HEAPS_MAX];
};

/* Peaks of each phase, found by one run for a later run of the same tape. */
struct ab_memory_marks {
    uint32_t live_peak[AB_PHASES_MAX], footprint_peak[AB_PHASES_MAX]; /* positions */
    uint64_t footprint_bytes[AB_PHASES_MAX];
    /* worst: position with the most external bytes; only with pins (pins_report.h) */
    uint32_t worst, reserved;
    uint64_t worst_external_bytes;
};

/* Sums over the ops AB_TOUCH_WALK of a phase: `n` such ops, the blocks that they read, and the
 * cache lines, pages and spans of 2 MiB that these blocks touch. */
struct ab_memory_walks {
    uint64_t n, blocks, lines, pages, spans;
};

struct ab_memory_phase {
    uint64_t live_peak_bytes, rss_peak_bytes;
    /* kernel's high-water mark, above the baseline; 0 = the mark never exceeded the readings, or
     * could not be read */
    uint64_t high_water_bytes;
    /* readings that are equally spaced on the op clock: their number, and sums over them */
    uint64_t n_readings, requested_sum, footprint_sum;
    uint32_t live_peak_at;
    /* checkpoints at which worker/page_ledger.h and worker/page_walk.h disagree */
    uint32_t n_disputed;
    uint32_t first_sample, n_samples;
    /* minor faults that the pass itself caused: first writes to pages of its tables */
    uint64_t own_faults;
    struct ab_memory_walks walks;
    struct ab_memory_state at[AB_AT_COUNT];
};

/* One reading of the memory; it stands for the n_ops ops since the previous sample. */
struct ab_memory_sample {
    uint32_t position, n_ops;
    uint64_t footprint_bytes;
    uint64_t live_bytes, internal_bytes, external_bytes; /* contents of the pages */
};
/* Least number of samples of a measured phase that has at least this many ops. */
#define AB_MEMORY_SAMPLES_LEAST 1000

struct ab_memory_point {
    uint32_t position, reserved;
    uint64_t requested_bytes, usable_bytes, footprint_bytes;
    uint64_t internal_bytes, external_bytes; /* contents of the resident pages */
};

/* Memory at one time of the work, for work with times. An idle stretch is a period in which the
 * work makes no call. */
struct ab_memory_row {
    uint64_t time_ns; /* time since the work began; ascends from row to row */
    uint32_t position, phase;
    uint64_t requested_bytes, footprint_bytes, live_bytes, internal_bytes, external_bytes;
    uint64_t lazyfree_bytes; /* part of the footprint that the kernel may take back (MADV_FREE) */
    uint32_t flags, reserved;
};
enum ab_memory_row_flag {
    AB_ROW_IDLE_BEGIN = 1u << 0, /* first row of an idle stretch */
    AB_ROW_IDLE = 1u << 1,       /* row 1 s, 10 s or 60 s after the first row of the idle stretch */
    AB_ROW_IDLE_END = 1u << 2,
};
/* Most extra rows of an idle stretch, besides the equally spaced rows. */
#define AB_MEMORY_IDLE_ROWS 5

/* Clock that the library under test saw. */
enum ab_clock_kind {
    AB_CLOCK_UNKNOWN, /* the work has no times, or this pass did not run */
    AB_CLOCK_VIRTUAL,
    AB_CLOCK_NONE, /* the library read no clock */
    AB_CLOCK_REAL,
};

/* Room for points of the whole run. The worker writes at most POINTS_SPACED equally spaced points;
 * the parent adds the peaks. */
#define AB_MEMORY_POINTS_MAX 1000
#define AB_MEMORY_POINTS_SPACED 800

/* Reasons why some numbers of the report are not known. */
enum ab_memory_flag {
    AB_MEMORY_MOVES = 1u << 0,       /* blocks of the heap may move */
    AB_MEMORY_OVERLAP = 1u << 1,     /* a page has more bytes of live blocks than it has bytes */
    AB_MEMORY_USABLE_LESS = 1u << 2, /* usable_size < requested size */
    /* the heap can neither free nor reset: nothing to drain */
    AB_MEMORY_KEEPS = 1u << 3,
    AB_MEMORY_UNREADABLE = 1u << 4, /* /proc/self/statm cannot be read */
    AB_MEMORY_NO_PAGES = 1u << 5,   /* /proc/self/pagemap or smaps cannot be read */
    /* blocks are too far apart for the page ledger */
    AB_MEMORY_NO_LEDGER = 1u << 6,
    AB_MEMORY_NO_MARK = 1u << 7, /* /proc/self/clear_refs cannot be written */
};

struct ab_memory_report {
    /* ---- from the parent ---- */
    uint64_t drain_ns; /* time that the drain waits for memory to be given back */
    uint32_t is_scout; /* 1 = a scout run: only finds the peaks, without drain and checkpoints */
    uint32_t cap_samples;
    struct ab_memory_marks marks;
    /* the work's own time runs this many times as fast as real time; 0 = virtual time */
    uint32_t pace;
    /* number of idle stretches that get extra rows; later idle stretches get none */
    uint32_t cap_idle;
    uint64_t spaced_ns; /* time between two equally spaced rows */
    /* ---- from the worker ---- */
    uint32_t n_rows, clock;     /* clock: enum ab_clock_kind */
    char clock_reason[96];      /* explains AB_CLOCK_REAL */
    uint32_t flags;             /* enum ab_memory_flag */
    uint32_t granularity_pages; /* largest error of /proc/self/statm, in pages; 0 = exact */
    uint64_t page_bytes;
    uint64_t mark_excess_bytes; /* bytes by which the kernel's high-water mark may be too high */
    uint64_t baseline_bytes;    /* private memory of the process that is part of no footprint */
    /* other memory of the allocator, which is part of no footprint: the most at any checkpoint,
     * above the baseline */
    uint64_t shared_bytes, hugetlb_bytes, swapped_bytes;
    uint64_t drained_bytes[AB_DRAIN_COUNT];
    uint64_t heaps_drained_bytes[AB_PLACEMENT_HEAPS_MAX][AB_DRAIN_COUNT];
    struct ab_memory_phase phases[AB_PHASES_MAX];
    uint32_t n_points, reserved;
    struct ab_memory_point points[AB_MEMORY_POINTS_MAX];
    struct ab_memory_sample samples[]; /* cap_samples entries, in the order of the phases */
};

#endif
