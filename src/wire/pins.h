/* SPDX-License-Identifier: MIT
 *
 * Who pins the pages, as the memory pass reports it: at some moments of the work, the bytes of the
 * pages by owner of the blocks on them. Behind the memory report in the run memfd, where it is asked
 * for. An owner is a number: of a call site, a set of the workload, or a class of sizes.
 *
 * Of each page with a live block (worker/page_walk.h), the external bytes are shared among the owners
 * of its blocks by the bytes that these have there, in whole bytes by the largest remainder, ties to
 * the lower owner. Where owners are call sites, this is done by call stack, each of which belongs to a
 * site. A resident page without a live block is retained for the owner of the block that
 * was freed last on it.
 */
#ifndef AB_WIRE_PINS_H
#define AB_WIRE_PINS_H

#include <stdint.h>

enum ab_pins_by {
    AB_PINS_BY_SIZE, /* ab_size_class_log2 */
    AB_PINS_BY_FILE, /* as AB_WORKER_FD_OWNERS has them, or their stacks: n_stacks > 0 */
};

enum ab_pins_moment {
    AB_PINS_RESIDENT_PEAK, /* of the measured phases, as the next two */
    AB_PINS_LIVE_PEAK,
    AB_PINS_WORST, /* most external bytes */
    AB_PINS_END,   /* of a measured phase */
    AB_PINS_ASKED, /* a position that was asked for */
    AB_PINS_MOMENT_COUNT
};

struct ab_pins_row {
    uint32_t owner;
    uint32_t lane; /* that allocated all its live blocks; AB_PINS_SEVERAL */
    uint64_t live, internal, external, retained; /* bytes on resident pages */
    uint64_t external_2m;                        /* the same of aligned stretches of 2 MiB */
    uint64_t blocks, pages;                      /* live ones; pages with such */
    uint64_t median_size;                        /* of its live blocks, as the next */
    uint32_t median_birth;                       /* position */
    uint32_t reserved;
};
#define AB_PINS_SEVERAL UINT32_MAX

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
    uint32_t asked;           /* AB_PINS_ASKED: which one */
    uint32_t phase, position; /* AB_MEMORY_NEVER: there is no such state */
    uint32_t n_rows, reserved;
    uint64_t footprint;                             /* bytes; UINT64_MAX = not known */
    uint64_t live, internal, external, external_2m; /* of the rows and `rest` together */
    struct ab_pins_row rest;                        /* of all owners that have no row */
    struct ab_pins_row rows[AB_PINS_ROWS_MOST]; /* the most external, internal and retained first */
};

struct ab_pins_report {
    /* from the parent */
    uint32_t by, n_owners;                       /* owners are below n_owners */
    uint32_t asked[AB_PINS_ASKED_MOST], n_asked; /* positions */
    uint32_t n_stacks; /* stacks are below it; 0 = blocks have owners themselves */
    uint64_t map_at;   /* offset in the file of owners: the owner of each stack, 32 bits */
    /* from the worker */
    uint32_t is_lost; /* what came after that is not known: blocks overlap, or lie too far apart */
    uint32_t n_states, n_stack_rows;
    uint32_t seen_worst; /* for a run that comes later */
    uint64_t seen_external;
    struct ab_pins_stack
        stacks[AB_PINS_STACKS_MOST]; /* AB_PINS_WORST: the most external bytes first */
    struct ab_pins_state states[AB_PINS_STATES_MOST]; /* the first three by their moment */
};

#endif
