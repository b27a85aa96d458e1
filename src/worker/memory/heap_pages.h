/* SPDX-License-Identifier: MIT
 *
 * Which heap of a placement each page is of. An allocator says neither where its memory lies nor what
 * of it is resident, but each block that it gives says where it is: a page is the heap's that last had
 * a block on it, whether that block is still there or not. Other pages of a stretch of 2 MiB where one
 * heap alone has had blocks are that heap's too: huge pages, headers. Pages of stretches that never
 * had a block are no heap's.
 */
#ifndef AB_WORKER_MEMORY_HEAP_PAGES_H
#define AB_WORKER_MEMORY_HEAP_PAGES_H

#include "wire/route.h"
#include "worker/memory/residency.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
bool ab_heap_pages_count(struct ab_heap_pages *p, uint64_t bytes[AB_ROUTE_HEAPS_MAX]);

#endif
