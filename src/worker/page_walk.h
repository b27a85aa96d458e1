/* SPDX-License-Identifier: MIT
 *
 * Contents of the resident pages, from the book of live blocks and the page tables. It counts pages
 * that are resident, were not so before the first op, and have a usable byte of a live block:
 *
 *   live      its requested bytes
 *   internal  its other bytes that belong to live blocks
 *   external  its remaining bytes: free neighbours, headers
 *
 * These three add up to whole pages. Requested bytes on other pages count elsewhere: `untouched` if
 * the page is not resident (nobody wrote to it), `baseline` if it was resident before the first op
 * (in no footprint). So a byte counts as touched when its page is resident.
 *
 * The blocks are sorted by stretches of 2 MiB into a table of fixed size. If there are too many
 * stretches, the book is walked several times, each time for a part of the stretches.
 */
#ifndef AB_WORKER_PAGE_WALK_H
#define AB_WORKER_PAGE_WALK_H

#include "worker/residency.h"

#include <stdbool.h>
#include <stdint.h>

/* The book of live blocks: addresses, requested and usable sizes, and their sums, updated with each
 * op. Residency is looked up at checkpoints. */

struct ab_block_entry { /* block of one slot */
    uintptr_t at;
    uint64_t size, usable;
    uint32_t lane;
    uint8_t heap; /* index in the placement (heap_memory.h) */
    bool is_live;
};

struct ab_given { /* block that an allocation or a resize returned */
    uintptr_t at; /* address, also of a handle's block; 0 = none */
    uint64_t size, usable;
    uint32_t lane;
};

struct ab_page_ledger;
struct ab_pins;

struct ab_block_book {
    struct ab_block_entry *entries;
    struct ab_page_ledger *pages; /* told of each block that is added or dropped; NULL = nobody */
    struct ab_pins *pins;         /* told of each block that is freed; NULL = nobody */
    uint32_t n_slots;
    uint64_t requested_bytes, usable_bytes;
    bool is_usable_unknown; /* True if usable bytes are assumed to be the requested ones. */
    bool is_usable_less;    /* True if some block had fewer usable than requested bytes. */
};

/* Sets the block of the slot, in place of the one before. */
void ab_book_put(struct ab_block_book *book, uint32_t slot, const struct ab_given *given);
void ab_book_drop(struct ab_block_book *book, uint32_t slot);

struct ab_page_tally {
    uint64_t live, internal, external; /* bytes; live + internal + external = n_pages pages */
    uint64_t untouched, baseline;
    /* number of counted pages, and of aligned stretches of 2 MiB that hold a live block */
    uint64_t n_pages, n_stretches;
    /* True if a page has more bytes of live blocks than it has bytes, so that all numbers are
     * wrong. */
    bool is_overlapping;
    bool is_unreadable; /* True if the page tables cannot be read. */
};
#define AB_STRETCH_LOG2 21

/* Finds the entry of a stretch in a hash table with `cap` entries of `bytes` each, and adds the
 * entry if needed. `cap` is a power of two; *n_used is the number of used entries. An entry begins
 * with a uint64_t, the number of its stretch plus one; 0 = unused. Returns NULL if three quarters
 * of the table are used. */
static inline void *ab_stretch_find(void *table, size_t bytes, uint64_t cap, uint64_t *n_used,
                                    uint64_t number)
{
    uint64_t i = number * UINT64_C(0x9e3779b97f4a7c15) >> 20 & (cap - 1);
    uint64_t *entry = (uint64_t *)(void *)((char *)table + i * bytes);
    while (*entry != 0 && *entry != number + 1) {
        i = (i + 1) & (cap - 1);
        entry = (uint64_t *)(void *)((char *)table + i * bytes);
    }
    if (*entry == 0) {
        if (*n_used >= cap / 4 * 3)
            return NULL;
        *entry = number + 1;
        (*n_used)++;
    }
    return entry;
}

struct ab_page_walk {
    const struct ab_residency *residency;
    const struct ab_page_runs *baseline;
    struct ab_stretch *table;
    uint64_t *numbers; /* number of the stretch of each table entry, plus one; 0 = empty */
    uint32_t n_used;
    /* this pass over the book takes the stretches with hash % n_passes == pass */
    uint32_t pass, n_passes;
    bool is_full;
    /* number of a heap of a placement, plus one: only its blocks are walked over; 0 = all blocks */
    uint32_t only;
    struct ab_page_tally *tally;
};

/* Returns the bytes of memory that ab_page_walk_init() needs. The caller maps, zeroes and keeps
 * this memory. */
size_t ab_page_walk_bytes(void);
void ab_page_walk_init(struct ab_page_walk *walk, void *memory,
                       const struct ab_residency *residency, const struct ab_page_runs *baseline);
void ab_page_walk(struct ab_page_walk *walk, const struct ab_block_book *book,
                  struct ab_page_tally *tally);

#endif
