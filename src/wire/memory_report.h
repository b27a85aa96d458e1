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
#define AB_MEMORY_NEVER UINT32_MAX /* no position */

/* One heap of a placement, at a checkpoint. */
struct ab_heap_reading {
    uint64_t requested_bytes; /* requested bytes of its live blocks */
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
    uint64_t footprint_bytes;               /* footprint by statm */
    uint64_t exact_bytes;                   /* footprint by smaps_rollup */
    /* contents of the pages (worker/page_walk.h) */
    uint64_t live_bytes, internal_bytes, external_bytes;
    uint64_t untouched_bytes, baseline_bytes, n_stretches;
    uint64_t allocated_bytes, mapped_bytes; /* the allocator's own statistics */
    struct ab_heap_reading heaps[AB_PLACEMENT_HEAPS_MAX];
};

/* Peaks of the phases, for a later run with the same tape. */
struct ab_memory_marks {
    uint32_t live_peak[AB_PHASES_MAX], footprint_peak[AB_PHASES_MAX]; /* positions */
    uint64_t footprint_bytes[AB_PHASES_MAX];
    /* position with the most external bytes, and these bytes; only with pins (pins_report.h) */
    uint32_t worst, reserved;
    uint64_t worst_external_bytes;
};

/* Sums over the walks of a phase: number of walks, blocks read, and what these touch. */
struct ab_memory_walks {
    uint64_t n, blocks, lines, pages, spans;
};

struct ab_memory_phase {
    uint64_t live_peak_bytes, rss_peak_bytes;
    uint64_t high_water_bytes; /* kernel's high-water mark, above the baseline; 0 = not read */
    uint64_t n_readings, requested_sum, footprint_sum; /* equally spaced on the op clock */
    uint32_t live_peak_at;
    uint32_t n_disputed; /* checkpoints at which the page ledger and the page walk disagree */
    uint32_t first_sample, n_samples;
    uint64_t own_faults; /* minor faults caused by the pass itself */
    struct ab_memory_walks walks;
    struct ab_memory_state at[AB_AT_COUNT];
};

/* One reading, for the ops since the previous sample. */
struct ab_memory_sample {
    uint32_t position, n_ops;
    uint64_t footprint_bytes;
    uint64_t live_bytes, internal_bytes, external_bytes; /* all known, or all unknown */
};
/* Samples that each measured phase has at least, if it has that many ops. */
#define AB_MEMORY_SAMPLES_LEAST 1000

struct ab_memory_point {
    uint32_t position, reserved;
    uint64_t requested_bytes, usable_bytes, footprint_bytes;
    uint64_t internal_bytes, external_bytes; /* contents of the pages */
};

/* State at one time of the work, for work with times. In an idle stretch no call is made. */
struct ab_memory_row {
    uint64_t time_ns; /* since the work began; rows ascend */
    uint32_t position, phase;
    uint64_t requested_bytes, footprint_bytes, live_bytes, internal_bytes, external_bytes;
    uint64_t lazyfree_bytes; /* part of the footprint that the kernel may take back (MADV_FREE) */
    uint32_t flags, reserved;
};
enum ab_memory_row_flag {
    AB_ROW_IDLE_BEGIN = 1u << 0, /* first row of an idle stretch */
    AB_ROW_IDLE = 1u << 1,       /* 1 s, 10 s or 60 s after the first row */
    AB_ROW_IDLE_END = 1u << 2,
};
/* Extra rows of an idle stretch, besides the equally spaced rows. */
#define AB_MEMORY_IDLE_ROWS 5

/* Clock that the library under test saw. */
enum ab_clock_kind {
    AB_CLOCK_UNKNOWN, /* the work has no times, or this pass did not run */
    AB_CLOCK_VIRTUAL,
    AB_CLOCK_NONE, /* the library read no clock */
    AB_CLOCK_REAL,
};

/* Points of the whole run, equally spaced; the parent adds the peaks. */
#define AB_MEMORY_POINTS_MAX 1000
#define AB_MEMORY_POINTS_SPACED 800

/* Reasons why pages or drains are not known. */
enum ab_memory_flag {
    AB_MEMORY_MOVES = 1u << 0,       /* blocks of the heap may move */
    AB_MEMORY_OVERLAP = 1u << 1,     /* a page has more bytes of live blocks than it has bytes */
    AB_MEMORY_USABLE_LESS = 1u << 2, /* usable_size < requested size */
    /* the heap can neither free nor reset: nothing to drain */
    AB_MEMORY_KEEPS = 1u << 3,
    AB_MEMORY_UNREADABLE = 1u << 4, /* /proc/self/statm cannot be read */
    AB_MEMORY_NO_PAGES = 1u << 5,   /* /proc/self/pagemap or smaps cannot be read */
    /* blocks lie too far apart for the page ledger */
    AB_MEMORY_NO_LEDGER = 1u << 6,
    AB_MEMORY_NO_MARK = 1u << 7, /* /proc/self/clear_refs cannot be written */
};

struct ab_memory_report {
    /* ---- from the parent ---- */
    uint64_t drain_ns; /* time to wait for memory to be given back */
    uint32_t is_scout; /* 1 = only find the peaks, without drain and checkpoints */
    uint32_t cap_samples;
    struct ab_memory_marks marks;
    uint32_t pace;      /* speed as a multiple of the work's own time; 0 = virtual time */
    uint32_t cap_idle;  /* idle stretches that get extra rows; later ones get none */
    uint64_t spaced_ns; /* time between two equally spaced rows */
    /* ---- from the worker ---- */
    uint32_t n_rows, clock;     /* enum ab_clock_kind */
    char clock_reason[96];      /* explains AB_CLOCK_REAL */
    uint32_t flags;             /* enum ab_memory_flag */
    uint32_t granularity_pages; /* error of statm, in pages; 0 = exact */
    uint64_t page_bytes;
    uint64_t mark_excess_bytes; /* error by which the kernel's high-water mark may be too high */
    uint64_t baseline_bytes;    /* private memory before the heap opened; part of no footprint */
    /* the allocator's, most seen since the baseline */
    uint64_t shared_bytes, hugetlb_bytes, swapped_bytes;
    uint64_t drained_bytes[AB_DRAIN_COUNT];
    uint64_t heaps_drained_bytes[AB_PLACEMENT_HEAPS_MAX][AB_DRAIN_COUNT];
    struct ab_memory_phase phases[AB_PHASES_MAX];
    uint32_t n_points, reserved;
    struct ab_memory_point points[AB_MEMORY_POINTS_MAX];
    struct ab_memory_sample samples[]; /* cap_samples entries, in the order of the phases */
};

#endif
