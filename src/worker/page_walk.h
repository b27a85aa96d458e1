/* SPDX-License-Identifier: MIT
 *
 * What the resident pages hold, from the book of live blocks and the page tables. Of each page that
 * is resident, was not so before the first op, and has a usable byte of a live block on it:
 *   live      its bytes that were asked for
 *   internal  the rest of its bytes that belong to live blocks
 *   external  all other bytes of it: free neighbours, headers
 * These three add up to whole pages. Bytes that were asked for count elsewhere where the page is
 * not resident (`untouched`: nobody wrote to it) or was so before the first op (`baseline`: it is
 * in no footprint). So a byte counts as touched when its page is resident.
 *
 * The blocks are sorted by stretches of 2 MiB into a table of fixed size; where there are too many
 * of these, by parts of them, in as many walks over the book as it takes.
 */
#ifndef AB_WORKER_PAGE_WALK_H
#define AB_WORKER_PAGE_WALK_H

#include "worker/residency.h"

#include <stdbool.h>
#include <stdint.h>

/* Which blocks are live, where they lie, and the sums of what was asked for and of what may be
 * used: kept up with each op. What of it is resident is looked up at checkpoints (page_walk.h). */

struct ab_block_entry { /* one a slot */
    uintptr_t at;
    uint64_t size, usable;
    uint32_t lane;
    uint8_t heap; /* of a placement (heap_memory.h) */
    bool is_live;
};

struct ab_given { /* what an allocation or a resize gave */
    uintptr_t at; /* the address, also of a handle; 0 = nothing */
    uint64_t size, usable;
    uint32_t lane;
};

struct ab_page_ledger;
struct ab_pins;

struct ab_block_book {
    struct ab_block_entry *entries;
    struct ab_page_ledger *pages; /* learns of each block; NULL = none */
    struct ab_pins *pins;         /* learns of each block that goes; NULL = not asked for */
    uint32_t n_slots;
    uint64_t requested_bytes, usable_bytes;
    bool is_usable_unknown; /* usable bytes are taken to be those asked for */
    bool is_usable_less;    /* once, a block had less than was asked for */
};

/* The slot holds this block from now on. */
void ab_book_put(struct ab_block_book *book, uint32_t slot, const struct ab_given *given);
void ab_book_drop(struct ab_block_book *book, uint32_t slot);

struct ab_page_tally {
    uint64_t live, internal, external; /* bytes; they add up to n_pages */
    uint64_t untouched, baseline;
    uint64_t n_pages, n_stretches; /* with a live block; aligned stretches of 2 MiB with such */
    bool is_overlapping; /* more bytes of live blocks on a page than it has: no number is right */
    bool is_unreadable;  /* as the page tables */
};
#define AB_STRETCH_LOG2 21

struct ab_page_walk {
    const struct ab_residency *residency;
    const struct ab_page_runs *baseline;
    struct ab_stretch *table;
    uint64_t *numbers; /* of the stretches in the table, + 1; 0 = empty */
    uint32_t n_used;
    uint32_t pass, n_passes; /* the stretches of a pass are those whose hash ends so */
    bool is_full;
    uint32_t only; /* blocks of this heap of a placement, + 1; 0 = all */
    struct ab_page_tally *tally;
};

/* Memory that the caller maps, zeroes and keeps. */
size_t ab_page_walk_bytes(void);
void ab_page_walk_init(struct ab_page_walk *walk, void *memory,
                       const struct ab_residency *residency, const struct ab_page_runs *baseline);
void ab_page_walk(struct ab_page_walk *walk, const struct ab_block_book *book,
                  struct ab_page_tally *tally);

#endif
