/* SPDX-License-Identifier: MIT
 *
 * Memory by owner ("who pins the pages"), as the memory pass reports it. At some moments of the
 * work, the bytes of the pages are shared out among the owners of the blocks on them. If this
 * report is requested, it follows the memory report in the run memfd. An owner is the number of a
 * call site, of a set of the workload, or of a size class.
 *
 * The external bytes of each page with a live block (worker/page_walk.h) are shared among the
 * owners of its blocks. Shares are in proportion to the owners' bytes on the page, in whole bytes
 * by the largest remainder; ties go to the lower owner. If owners are call sites, the bytes are
 * shared by call stack, and each stack belongs to a site. A resident page without a live block is
 * retained for the owner of the block that was freed last on it.
 */
#ifndef AB_WIRE_PINS_REPORT_H
#define AB_WIRE_PINS_REPORT_H

#include <stdint.h>

enum ab_pins_by {
    AB_PINS_BY_SIZE, /* the owner is the size class, ab_size_class_log2 */
    /* the file AB_WORKER_FD_OWNERS has the owner of each block, or its call stack if n_stacks >
     * 0 */
    AB_PINS_BY_FILE,
};

enum ab_pins_moment {
    AB_PINS_RESIDENT_PEAK, /* highest footprint in the measured phases */
    AB_PINS_LIVE_PEAK,
    AB_PINS_WORST, /* most external bytes in the measured phases */
    AB_PINS_END,   /* end of a measured phase */
    AB_PINS_ASKED, /* a position that the user asked for */
    AB_PINS_MOMENT_COUNT
};

struct ab_pins_row {
    uint32_t owner;
    /* lane that allocated all live blocks of the owner; AB_PINS_SEVERAL = more than one lane */
    uint32_t lane;
    uint64_t live, internal, external, retained; /* bytes on resident pages */
    /* external bytes, counted by aligned stretches of 2 MiB instead of pages */
    uint64_t external_2m;
    uint64_t blocks, pages; /* number of live blocks; number of pages with a live block */
    uint64_t median_size;   /* median size of the owner's live blocks, in bytes */
    uint32_t median_birth;  /* median of the positions at which these live blocks were allocated */
    uint32_t reserved;
};
#define AB_PINS_SEVERAL UINT32_MAX

/* Adds the bytes, blocks and pages of `row` to `sum`. */
static inline void ab_pins_row_add(struct ab_pins_row *sum, const struct ab_pins_row *row)
{
    sum->live += row->live;
    sum->internal += row->internal;
    sum->external += row->external;
    sum->external_2m += row->external_2m;
    sum->retained += row->retained;
    sum->blocks += row->blocks;
    sum->pages += row->pages;
}

struct ab_pins_stack {
    uint32_t stack, reserved;
    uint64_t external;
};

enum {
    AB_PINS_ROWS_MOST = 1024,
    AB_PINS_STACKS_MOST = 4096,
    AB_PINS_STATES_MOST = 96,
    AB_PINS_ASKED_MOST = 40
};

struct ab_pins_state {
    uint32_t moment;          /* enum ab_pins_moment */
    uint32_t asked;           /* AB_PINS_ASKED: index in ab_pins_report.asked */
    uint32_t phase, position; /* position: AB_MEMORY_NEVER = the moment did not occur */
    uint32_t n_rows, reserved;
    uint64_t footprint;                             /* bytes; UINT64_MAX = not known */
    uint64_t live, internal, external, external_2m; /* sums over `rows` and `rest` */
    struct ab_pins_row rest;                        /* all owners without a row of their own */
    /* owners with the most external, internal or retained bytes */
    struct ab_pins_row rows[AB_PINS_ROWS_MOST];
};

struct ab_pins_report {
    /* ---- from the parent ---- */
    uint32_t by, n_owners;                       /* numbers of owners are below n_owners */
    uint32_t asked[AB_PINS_ASKED_MOST], n_asked; /* positions */
    uint32_t n_stacks; /* number of stacks; 0 = the file has owners, not stacks */
    /* offset in the owners file of a table with the owner of each stack, 32 bits each */
    uint64_t map_at;
    /* ---- from the worker ---- */
    /* 1 = later states are missing, because blocks overlap or are too far apart */
    uint32_t is_lost;
    uint32_t n_states, n_stack_rows;
    uint32_t seen_worst; /* position of the most external bytes, for a later run */
    uint64_t seen_external;
    struct ab_pins_stack
        /* stacks at the moment AB_PINS_WORST; the one with the most external bytes is first */
        stacks[AB_PINS_STACKS_MOST];
    /* the first three states are at the index of their enum ab_pins_moment */
    struct ab_pins_state states[AB_PINS_STATES_MOST];
};

#endif
