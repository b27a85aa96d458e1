/* SPDX-License-Identifier: MIT
 *
 * A walk over many blocks (AB_TOUCH_WALK): what it reads, the read itself, and how many cache lines,
 * pages and spans of 2 MiB it touches.
 *
 * An entry is a block: its address in the upper 48 bits, and how many cache lines it has, less one, in the
 * lower 16. So entries sort by address, and a chain of blocks holds in the first word of each the entry
 * of the next one.
 */
#ifndef AB_WORKER_BLOCK_WALK_H
#define AB_WORKER_BLOCK_WALK_H

#include "wire/memory_report.h"
#include "worker/meters.h"

#include <stdint.h>

struct ab_walk_touched {
    uint64_t lines, pages, spans; /* distinct ones, of 64 B, 4 KiB, 2 MiB */
};

/* The address must be below 2^48, the size from 1 to AB_WALK_BYTES_MAX. */
static inline uint64_t ab_walk_entry(uintptr_t at, uint64_t size)
{
    return (uint64_t)at << 16 | (((at + size - 1) >> 6) - (at >> 6));
}

/* Before the clock runs: sorts the entries where the order asks for it, or writes the chain. */
void ab_walk_prepare(uint64_t *entries, uint32_t n, enum ab_walk_order order);
/* One word of each cache line of each block, in that order. */
void ab_walk_read(const uint64_t *entries, uint32_t n, enum ab_walk_order order);
/* Sorts the entries; blocks may overlap. */
struct ab_walk_touched ab_walk_count(uint64_t *entries, uint32_t n);

static inline void ab_walk_add(struct ab_memory_walks *sum, uint64_t *entries, uint32_t n)
{
    struct ab_walk_touched touched = ab_walk_count(entries, n);
    sum->n++;
    sum->blocks += n;
    sum->lines += touched.lines;
    sum->pages += touched.pages;
    sum->spans += touched.spans;
}

/* The walk of a lane whose clock stands since `since`. */
static inline void ab_walk_take(struct ab_lane *lane, uint32_t n, enum ab_walk_order order,
                                const struct ab_apart *since)
{
    ab_walk_prepare(lane->walk, n, order);
    ab_apart_go_on(lane, since);
    ab_walk_read(lane->walk, n, order);
}

#endif
