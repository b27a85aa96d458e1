/* SPDX-License-Identifier: MIT
 *
 * Writes into blocks outside of the timed interval, as a program writes to its memory. Also has the
 * access to a block, which is an op of its own and is timed. Stores are volatile, or a compiler
 * barrier follows them, so that the compiler removes none.
 */
#ifndef AB_WORKER_TOUCH_H
#define AB_WORKER_TOUCH_H

#include "base/bits.h"
#include "tape/op.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { AB_TOUCH_PAGE_BYTES = 4096, AB_TOUCH_LINE_BYTES = 64 };

static inline void ab_touch_stride(volatile unsigned char *p, size_t from, size_t size, size_t step)
{
    for (size_t i = from; i < size; i += step)
        p[i] = (unsigned char)i;
}

/* Writes the first n bytes with memset, as programs do. A loop of stores took longer than many a
 * malloc. */
static inline void ab_touch_all(unsigned char *p, size_t n)
{
    memset(p, (int)n, n);
    __asm__ volatile("" : : "r"(p) : "memory");
}

static inline void ab_touch_first(void *block)
{
    *(volatile unsigned char *)block = 1;
}

/* Writes the byte at `from`, one byte every 4096 after it, and the last byte. The last byte may be
 * on a page of its own, because jemalloc begins large blocks anywhere in a page. `from` is 0 for a
 * new block, and the old size for a block that has grown. */
static inline __attribute__((always_inline)) void ab_touch_pages(void *block, size_t from,
                                                                 size_t size)
{
    volatile unsigned char *p = block;
    p[from] = 1;
    if (AB_UNLIKELY(size - from > AB_TOUCH_PAGE_BYTES)) {
        ab_touch_stride(p, from + AB_TOUCH_PAGE_BYTES, size, AB_TOUCH_PAGE_BYTES);
        p[size - 1] = 1;
    }
}

/* Writes one byte on each page of the first `reach` bytes of the block. */
static inline void ab_touch_leading(void *block, size_t size, size_t reach)
{
    if (reach < size)
        ab_touch_stride(block, 0, reach, AB_TOUCH_PAGE_BYTES);
    else
        ab_touch_pages(block, 0, size);
}

/* Reads or writes one cache line of a block. */
static inline __attribute__((always_inline)) void ab_access_line(void *block, enum ab_access how)
{
    volatile unsigned char *p = block;
    if (how == AB_ACCESS_WRITE)
        *p = 1;
    else
        (void)*p;
}

static inline void ab_touch_block(void *block, size_t size, uint32_t operand)
{
    unsigned char *p = block;
    size_t n = AB_TOUCH_BYTES(operand);
    switch (AB_TOUCH_MODE(operand)) {
    case AB_TOUCH_NONE:
        if (ab_touch_is_leading(operand))
            ab_touch_leading(block, size, ab_touch_reach(operand, size));
        break;
    case AB_TOUCH_WALK:
        break;
    case AB_TOUCH_FIRST:
        ab_touch_all(p, n < size ? n : size);
        break;
    case AB_TOUCH_ENDS:
        ab_touch_first(p);
        ab_touch_first(p + size - 1);
        break;
    case AB_TOUCH_PAGE:
    case AB_TOUCH_APART:
        ab_touch_pages(block, 0, size);
        break;
    case AB_TOUCH_LINE:
        ab_touch_stride(p, 0, size, AB_TOUCH_LINE_BYTES);
        break;
    case AB_TOUCH_ALL:
        ab_touch_all(p, size);
        break;
    }
}

#endif
