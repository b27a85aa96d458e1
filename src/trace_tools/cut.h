/* SPDX-License-Identifier: MIT
 *
 * A part of a trace as a trace of its own. A trace has no phases, so the blocks that live where
 * the cut begins either come first, as allocations in the order they had (they are replayed with
 * it, and their memory is there when it begins), or are dropped with every call on them. Blocks
 * live at the end of the cut stay live. Times begin anew, ends of threads are kept.
 */
#ifndef AB_TRACE_TOOLS_CUT_H
#define AB_TRACE_TOOLS_CUT_H

#include "trace_tools/walk.h"

#include <stdbool.h>
#include <stdio.h>

struct ab_cut_report {
    struct ab_trace_info info; /* of the part */
    uint64_t n_kept;           /* allocations put in front */
    uint64_t n_dropped;        /* calls left out, because their block is from before the cut */
};

/* walk.begin, walk.end and is_partial say which part; walk.visit and walk.user are set here. `to`
 * stays the caller's. */
enum ab_status ab_trace_cut(const struct ab_walk *walk, bool is_keeping_live, FILE *to,
                            struct ab_cut_report *report, struct ab_err *err);

#endif
