/* SPDX-License-Identifier: MIT
 *
 * What scopes whose ends are known hold: counted exactly, in one pass. The stretch after the last
 * end is no scope here.
 */
#ifndef AB_TRACE_TOOLS_SCOPE_STATS_H
#define AB_TRACE_TOOLS_SCOPE_STATS_H

#include "trace_tools/scopes.h"
#include "trace_tools/walk.h"

struct ab_scope_stats {             /* begins with `scopes` set, the rest 0 */
    const struct ab_scopes *scopes; /* of this trace */
    uint64_t allocs;                /* of the whole trace, by the threads that are looked at */
    uint64_t gone;                  /* of these: freed in the scope that they were made in */
    uint64_t most_live;             /* highest live bytes of blocks of one scope, in it */
    uint64_t most_gone; /* highest sum of the sizes, when they were freed, of blocks of one scope
                           that were gone before its end: what an arena for it must hold, without
                           alignment and without what resizes leave behind */
    uint64_t at;        /* internal: scope that the next call belongs to */
    uint64_t live_bytes, gone_bytes;
    uint64_t *born; /* by slot: scope that its block was made in + 1; 0 = not looked at */
    size_t cap_slots;
};

/* For struct ab_walk: user is the stats. */
enum ab_status ab_scope_stats_visit(void *user, const struct ab_walk_batch *batch,
                                    struct ab_err *err);
void ab_scope_stats_fini(struct ab_scope_stats *s);

/* Calls of a scope; there is one at least. False = out of memory. */
bool ab_scopes_median_calls(const struct ab_scopes *scopes, double *median);

#endif
