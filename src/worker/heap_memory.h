/* SPDX-License-Identifier: MIT
 *
 * What each heap of a placement holds, at the checkpoints of the memory pass. All of these do nothing
 * where there is no placement.
 */
#ifndef AB_WORKER_HEAP_MEMORY_H
#define AB_WORKER_HEAP_MEMORY_H

#include "wire/placement.h"
#include "worker/residency.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_backend;
struct ab_heap;
struct ab_memory_pass;
struct ab_memory_state;
struct ab_worker;

/* Maps its table, before the baseline; not of a scout. */
void ab_heap_memory_open(struct ab_worker *w, struct ab_memory_pass *m);
/* Remembers the heap, whose own statistics are queried at each checkpoint. */
void ab_heap_memory_opened(struct ab_worker *w, uint32_t index, const struct ab_backend *backend,
                           struct ab_heap *heap);
/* The slot has a new block. */
void ab_heap_memory_note(const struct ab_worker *w, struct ab_memory_pass *m, uint32_t slot);
/* At a checkpoint. */
void ab_heap_memory_read(struct ab_memory_pass *m, struct ab_memory_state *s);
/* When all blocks are freed: reading `when`. */
void ab_heap_memory_drained(struct ab_memory_pass *m, unsigned when);

/* Which heap of a placement each page is of. An allocator says neither where its memory lies nor what
 * of it is resident, but each block that it gives says where it is: a page is the heap's that last had
 * a block on it, whether that block is still there or not. Other pages of a stretch of 2 MiB where one
 * heap alone has had blocks are that heap's too: huge pages, headers. Pages of stretches that never
 * had a block are no heap's. */

struct ab_heap_stretch {
    uint64_t number;                        /* + 1; 0 = none */
    uint8_t owners[AB_RESIDENCY_PAGES_MAX]; /* heap + 1; 0 = no block was there */
};

struct ab_heap_pages {
    const struct ab_residency *residency;
    const struct ab_page_runs *baseline;
    struct ab_heap_stretch *table, *recent;
    uint64_t cap, n_used; /* of the table; cap is a power of two */
    bool is_lost;         /* more stretches than it holds, or unreadable page tables */
};

/* Of memory that the caller maps, zeroes and keeps. */
size_t ab_heap_pages_bytes(uint64_t live_peak_bytes);
void ab_heap_pages_init(struct ab_heap_pages *p, void *memory, size_t bytes,
                        const struct ab_residency *residency, const struct ab_page_runs *baseline);

/* A block of this heap is there from now on. */
void ab_heap_pages_put(struct ab_heap_pages *p, uint64_t at, uint64_t bytes, unsigned heap);

/* Resident bytes of each heap, without pages of the baseline. False: they are not known. */
bool ab_heap_pages_count(struct ab_heap_pages *p, uint64_t bytes[AB_PLACEMENT_HEAPS_MAX]);

#endif
