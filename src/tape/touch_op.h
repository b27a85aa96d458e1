/* SPDX-License-Identifier: MIT
 *
 * What becomes of the touch of a request: a part of its op, an op of its own, or none. Part of the
 * builder's loop.
 */
#ifndef AB_TAPE_TOUCH_OP_H
#define AB_TAPE_TOUCH_OP_H

#include "tape/builder.h"

static inline __attribute__((always_inline)) uint64_t ab_touch_count_pages(
    const struct ab_request *r)
{
    if (r->size == 0 || r->touch == AB_TOUCH_NONE)
        return 0;
    if (r->touch == AB_TOUCH_FIRST || r->touch == AB_TOUCH_ENDS)
        return 1;
    return (r->size - 1) / 4096 + 1;
}

/* Is the touch part of the op's own code? */
static inline __attribute__((always_inline)) bool ab_touch_is_fused(unsigned code,
                                                                    const struct ab_request *r)
{
    return r->touch == AB_TOUCH_PAGE && r->size > 0 && !r->may_fail &&
           (code == AB_CODE_RESIZE || r->size <= AB_FUSED_TOUCH_MAX);
}

/* Stopping the clock costs more than the call for a small block: one of them is enough for a page
 * that they share. */
static inline __attribute__((always_inline)) bool ab_touch_is_passed_over(
    struct ab_tape_builder *b, const struct ab_request *r)
{
    if (r->touch != AB_TOUCH_APART)
        return false;
    b->to->unwritten_bytes += r->size < AB_APART_BYTES ? r->size : AB_APART_BYTES;
    if (b->to->unwritten_bytes < AB_APART_BYTES)
        return true;
    b->to->unwritten_bytes = 0;
    return false;
}

#endif
