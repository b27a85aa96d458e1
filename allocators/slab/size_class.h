/* SPDX-License-Identifier: MIT
 *
 * The fine size classes: steps of 16 up to 256 bytes, then an eighth of a power of two, so that a
 * block is at most 1/8 larger than what was asked for (and at most 15 bytes up to 256). One table
 * for the slab of slab.h, which has one class of 8 bytes before them, and for the malloc of
 * ../preload. It is a formula, so that no look-up touches memory.
 */
#ifndef AB_ALLOCATORS_SIZE_CLASS_H
#define AB_ALLOCATORS_SIZE_CLASS_H

#include <stddef.h>

/* How many classes reach up to 256 bytes, and how many each doubling has from there. */
#define AB_SIZE_CLASS_STEPS 16u
#define AB_SIZE_CLASS_EIGHTHS 8u

/* The class of a size, from 0 on; size 0 is in the first one. */
static inline unsigned ab_size_class_of(size_t size)
{
    size_t last = size - (size != 0); /* of the block's bytes */
    if (last < 256)
        return (unsigned)(last >> 4);
    unsigned log2 = 63u - (unsigned)__builtin_clzll(last);
    return AB_SIZE_CLASS_STEPS + (log2 - 8) * AB_SIZE_CLASS_EIGHTHS +
           ((unsigned)(last >> (log2 - 3)) - AB_SIZE_CLASS_EIGHTHS);
}

/* Bytes of a block of the class. */
static inline size_t ab_size_class_bytes(unsigned index)
{
    if (index < AB_SIZE_CLASS_STEPS)
        return ((size_t)index + 1) * 16;
    unsigned doubling = (index - AB_SIZE_CLASS_STEPS) / AB_SIZE_CLASS_EIGHTHS;
    unsigned eighth = (index - AB_SIZE_CLASS_STEPS) % AB_SIZE_CLASS_EIGHTHS + 1;
    return ((size_t)256 << doubling) + ((size_t)eighth * 32 << doubling);
}

#endif
