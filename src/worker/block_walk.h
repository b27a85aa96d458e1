/* SPDX-License-Identifier: MIT
 *
 * A walk: one op that reads many blocks (AB_TOUCH_WALK). Prepares the entries, reads the blocks,
 * and counts the cache lines, pages and spans of 2 MiB that they touch.
 *
 * An entry describes a block: the address in the upper 48 bits, the number of its cache lines minus
 * one in the lower 16. So entries sort by address. For a walk that follows pointers, the first word
 * of each block holds the entry of the next block.
 */
#ifndef AB_WORKER_BLOCK_WALK_H
#define AB_WORKER_BLOCK_WALK_H

#include "wire/memory_report.h"
#include "worker/meters.h"

#include <stdint.h>

struct ab_walk_touched {
    uint64_t lines, pages, spans; /* distinct cache lines, pages of 4 KiB, spans of 2 MiB */
};

/* Returns the entry of a block. The address must be below 2^48, the size from 1 to
 * AB_WALK_BYTES_MAX. */
static inline uint64_t ab_walk_entry(uintptr_t at, uint64_t size)
{
    return (uint64_t)at << 16 | (((at + size - 1) >> 6) - (at >> 6));
}

/* Prepares a walk before the clock runs: sorts the entries if `order` asks for it, or writes the
 * chain of entries into the blocks. */
void ab_walk_prepare(uint64_t *entries, uint32_t n, enum ab_walk_order order);
/* Reads every cache line of every block, in `order`. This is the timed part of a walk. */
void ab_walk_read(const uint64_t *entries, uint32_t n, enum ab_walk_order order);
/* Sorts the entries and counts what the blocks touch. Blocks may overlap. */
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

/* Walks over n blocks of a lane whose clock was stopped at `since`. The clock runs again only while
 * the blocks are read. */
static inline void ab_walk_take(struct ab_lane *lane, uint32_t n, enum ab_walk_order order,
                                const struct ab_apart *since)
{
    ab_walk_prepare(lane->walk, n, order);
    ab_apart_go_on(lane, since);
    ab_walk_read(lane->walk, n, order);
}

#endif
