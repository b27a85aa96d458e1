/* SPDX-License-Identifier: MIT
 *
 * Reads the blocks of a walk, and counts the cache lines, pages and spans that they touch.
 */
#include "worker/block_walk.h"

#include "worker/sort.h"

#define LINE_SHIFT 6
#define PAGE_SHIFT 12
#define SPAN_SHIFT 21
static uintptr_t address_of(uint64_t entry)
{
    return (uintptr_t)(entry >> 16);
}

void ab_walk_prepare(uint64_t *entries, uint32_t n, enum ab_walk_order order)
{
    if (order == AB_WALK_ADDRESS)
        ab_sort_ascending(entries, n);
    for (uint32_t i = 0; order == AB_WALK_LINKED && i < n; i++)
        *(volatile uint64_t *)address_of(entries[i]) = entries[i + 1 < n ? i + 1 : 0];
}

/* Reads one byte of each cache line of the block, except the first line. */
static inline __attribute__((always_inline)) void read_lines(uint64_t entry)
{
    uintptr_t line = address_of(entry) >> LINE_SHIFT;
    for (uint64_t i = entry & 0xffff; i > 0; i--)
        (void)*(const volatile uint8_t *)((line + i) << LINE_SHIFT);
}

void ab_walk_read(const uint64_t *entries, uint32_t n, enum ab_walk_order order)
{
    uint64_t entry = n > 0 ? entries[0] : 0;
    if (order == AB_WALK_LINKED) {
        for (uint32_t i = 0; i < n; i++) {
            uint64_t next = *(const volatile uint64_t *)address_of(entry);
            read_lines(entry);
            entry = next;
        }
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        (void)*(const volatile uint8_t *)address_of(entries[i]);
        read_lines(entries[i]);
    }
}

/* Counts the pieces of 2^shift bytes that lie in [first, last] and are not counted yet. Pieces
 * below *seen are counted already; raises *seen to the end of the last piece. */
static uint64_t add_new(uintptr_t first, uintptr_t last, unsigned shift, uint64_t *seen)
{
    uint64_t begin = first >> shift, end = (last >> shift) + 1;
    begin = begin < *seen ? *seen : begin;
    if (begin >= end)
        return 0;
    *seen = end;
    return end - begin;
}

struct ab_walk_touched ab_walk_count(uint64_t *entries, uint32_t n)
{
    struct ab_walk_touched touched = {0};
    /* lines, pages and spans with a number below these are counted already */
    uint64_t lines = 0, pages = 0, spans = 0;
    ab_sort_ascending(entries, n);
    for (uint32_t i = 0; i < n; i++) {
        uintptr_t first = address_of(entries[i]);
        uintptr_t last = ((first >> LINE_SHIFT) + (entries[i] & 0xffff)) << LINE_SHIFT;
        touched.lines += add_new(first, last, LINE_SHIFT, &lines);
        touched.pages += add_new(first, last, PAGE_SHIFT, &pages);
        touched.spans += add_new(first, last, SPAN_SHIFT, &spans);
    }
    return touched;
}
