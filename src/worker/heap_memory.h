/* SPDX-License-Identifier: MIT
 *
 * Memory of each heap of a placement, at the checkpoints of the memory pass. Without a placement,
 * all functions here do nothing.
 */
#ifndef AB_WORKER_HEAP_MEMORY_H
#define AB_WORKER_HEAP_MEMORY_H

#include "wire/placement_file.h"
#include "worker/residency.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_backend;
struct ab_heap;
struct ab_memory_pass;
struct ab_memory_state;
struct ab_worker;

/* Maps the table of pages. Called before the baseline is taken. Does nothing in a scout run. */
void ab_heap_memory_open(struct ab_worker *w, struct ab_memory_pass *m);
/* Notes that the block in this slot of the book is new. */
void ab_heap_memory_note(const struct ab_worker *w, struct ab_memory_pass *m, uint32_t slot);
/* Fills s->heaps with the memory of each heap, at a checkpoint. */
void ab_heap_memory_read(struct ab_memory_pass *m, struct ab_memory_state *s);

/* Entry of a table that maps each page to a heap of a placement. An allocator does not say where
 * its memory is, but the address of each block is known. So a page belongs to the heap that last
 * had a block on it, live or freed. If only one heap has had blocks in a stretch of 2 MiB, the
 * other pages of the stretch belong to this heap too (huge pages, headers). Pages of stretches that
 * never had a block belong to no heap. */

struct ab_heap_stretch {
    uint64_t number; /* stretch number + 1; 0 = none */
    /* number of the heap that owns each page, + 1; 0 = the page never had a block */
    uint8_t owners[AB_RESIDENCY_PAGES_MAX];
};

struct ab_heap_pages {
    const struct ab_residency *residency;
    const struct ab_page_runs *baseline;
    struct ab_heap_stretch *table, *recent;
    uint64_t cap, n_used; /* cap: entries of the table, a power of two; n_used: entries in use */
    bool is_lost; /* True after too many stretches for the table, or unreadable page tables. */
};

/* Returns the bytes of memory that ab_heap_pages_init() needs. The caller maps, zeroes and keeps
 * this memory. */
size_t ab_heap_pages_bytes(uint64_t live_peak_bytes);
void ab_heap_pages_init(struct ab_heap_pages *p, void *memory, size_t bytes,
                        const struct ab_residency *residency, const struct ab_page_runs *baseline);

/* Makes `heap` the owner of the pages of a new block. */
void ab_heap_pages_put(struct ab_heap_pages *p, uint64_t at, uint64_t bytes, unsigned heap);

/* Sums up the resident bytes of each heap, without pages of the baseline. Returns false if they are
 * not known. */
bool ab_heap_pages_count(struct ab_heap_pages *p, uint64_t bytes[AB_PLACEMENT_HEAPS_MAX]);

#endif
