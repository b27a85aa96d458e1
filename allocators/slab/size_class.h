/* SPDX-License-Identifier: MIT
 *
 * The fine size classes: steps of 16 up to 256 bytes, then an eighth of a power of two. A block is
 * at most 1/8 larger than the request, and up to 256 bytes at most 15 bytes larger. slab.h uses
 * these classes after one class of 8 bytes; the malloc of ../slab_malloc uses them as they are. The
 * class is computed by a formula, so that no lookup touches memory.
 */
#ifndef AB_ALLOCATORS_SIZE_CLASS_H
#define AB_ALLOCATORS_SIZE_CLASS_H

#include <stddef.h>

/* AB_SIZE_CLASS_STEPS: number of classes up to 256 bytes. AB_SIZE_CLASS_EIGHTHS: number of classes
 * in each doubling of the size after that. */
#define AB_SIZE_CLASS_STEPS 16u
#define AB_SIZE_CLASS_EIGHTHS 8u

/* Returns the class of a size. Size 0 is in the first class. */
static inline unsigned ab_size_class_of(size_t size)
{
    size_t last = size - (size != 0); /* index of the block's last byte */
    if (last < 256)
        return (unsigned)(last >> 4);
    unsigned log2 = 63u - (unsigned)__builtin_clzll(last);
    return AB_SIZE_CLASS_STEPS + (log2 - 8) * AB_SIZE_CLASS_EIGHTHS +
           ((unsigned)(last >> (log2 - 3)) - AB_SIZE_CLASS_EIGHTHS);
}

/* Returns the size of a block of the class, in bytes. */
static inline size_t ab_size_class_bytes(unsigned index)
{
    if (index < AB_SIZE_CLASS_STEPS)
        return ((size_t)index + 1) * 16;
    unsigned doubling = (index - AB_SIZE_CLASS_STEPS) / AB_SIZE_CLASS_EIGHTHS;
    unsigned eighth = (index - AB_SIZE_CLASS_STEPS) % AB_SIZE_CLASS_EIGHTHS + 1;
    return ((size_t)256 << doubling) + ((size_t)eighth * 32 << doubling);
}

#endif
