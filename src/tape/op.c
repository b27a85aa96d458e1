/* SPDX-License-Identifier: MIT
 *
 * Names of the kinds of ops.
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
