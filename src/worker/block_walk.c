/* SPDX-License-Identifier: MIT
 *
 * Sorting without a buffer and without malloc, the two loops that read, and the count over sorted
 * addresses.
 */
#include "worker/block_walk.h"

#define LINE_SHIFT 6
#define PAGE_SHIFT 12
#define SPAN_SHIFT 21
enum { SHORT = 16 };

static void sort_short(uint64_t *x, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        uint64_t moved = x[i];
        uint32_t k = i;
        for (; k > 0 && x[k - 1] > moved; k--)
            x[k] = x[k - 1];
        x[k] = moved;
    }
}

static uint64_t middle_of(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* Quicksort: the smaller part by itself, then the larger one, so that the stack stays small. */
static void sort(uint64_t *x, uint32_t n)
{
    while (n > SHORT) {
        uint64_t pivot = middle_of(x[0], x[n / 2], x[n - 1]);
        uint32_t i = 0, k = n - 1;
        for (;; i++, k--) {
            while (x[i] < pivot)
                i++;
            while (x[k] > pivot)
                k--;
            if (i >= k)
                break;
            uint64_t swapped = x[i];
            x[i] = x[k];
            x[k] = swapped;
        }
        uint32_t n_low = k + 1;
        uint64_t *small = n_low < n - n_low ? x : x + n_low;
        sort(small, n_low < n - n_low ? n_low : n - n_low);
        if (small == x)
            x += n_low;
        n = n_low < n - n_low ? n - n_low : n_low;
    }
    sort_short(x, n);
}

static uintptr_t address_of(uint64_t entry)
{
    return (uintptr_t)(entry >> 16);
}

void ab_walk_prepare(uint64_t *entries, uint32_t n, enum ab_walk_order order)
{
    if (order == AB_WALK_ADDRESS)
        sort(entries, n);
    for (uint32_t i = 0; order == AB_WALK_LINKED && i < n; i++)
        *(volatile uint64_t *)address_of(entries[i]) = entries[i + 1 < n ? i + 1 : 0];
}

/* Those behind the first. */
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

/* Of the pieces of 2^shift bytes in [first, last], those behind *seen, which becomes the last of them. */
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
    uint64_t lines = 0, pages = 0, spans = 0; /* all before these are counted */
    sort(entries, n);
    for (uint32_t i = 0; i < n; i++) {
        uintptr_t first = address_of(entries[i]);
        uintptr_t last = ((first >> LINE_SHIFT) + (entries[i] & 0xffff)) << LINE_SHIFT;
        touched.lines += add_new(first, last, LINE_SHIFT, &lines);
        touched.pages += add_new(first, last, PAGE_SHIFT, &pages);
        touched.spans += add_new(first, last, SPAN_SHIFT, &spans);
    }
    return touched;
}
