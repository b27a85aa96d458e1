/* SPDX-License-Identifier: MIT
 *
 * Names of the kinds of ops, and the kind that a code stands for.
 */
#include "tape/op.h"

static const char *const kind_names[AB_OP_KIND_COUNT] = {
    [AB_OP_ALLOC] = "alloc",
    [AB_OP_ALLOC_ZEROED] = "alloc_zeroed",
    [AB_OP_ALLOC_ALIGNED] = "alloc_aligned",
    [AB_OP_RESIZE] = "resize",
    [AB_OP_FREE] = "free",
    [AB_OP_RESET] = "reset",
    [AB_OP_ACCESS] = "access",
};

const char *ab_op_kind_name(enum ab_op_kind kind)
{
    return kind_names[kind];
}

int ab_op_code_kind(unsigned code)
{
    switch (code) {
    case AB_CODE_FREE:
        return AB_OP_FREE;
    case AB_CODE_ALLOC:
    case AB_CODE_ALLOC | AB_CODE_TOUCHED:
        return AB_OP_ALLOC;
    case AB_CODE_ALLOC_ZEROED:
    case AB_CODE_ALLOC_ZEROED | AB_CODE_TOUCHED:
        return AB_OP_ALLOC_ZEROED;
    case AB_CODE_ALLOC_ALIGNED:
    case AB_CODE_ALLOC_ALIGNED | AB_CODE_TOUCHED:
        return AB_OP_ALLOC_ALIGNED;
    case AB_CODE_RESIZE:
    case AB_CODE_RESIZE | AB_CODE_TOUCHED:
        return AB_OP_RESIZE;
    case AB_CODE_RESET:
        return AB_OP_RESET;
    case AB_CODE_ACCESS:
        return AB_OP_ACCESS;
    default:
        return -1;
    }
}
