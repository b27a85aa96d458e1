/* SPDX-License-Identifier: MIT
 *
 * Finds the scopes and call sites that the rules of mappings need, once for all mappings.
 */
#ifndef AB_CLI_ARGUMENTS_PLACEMENT_TRACE_H
#define AB_CLI_ARGUMENTS_PLACEMENT_TRACE_H

#include "cli/arguments/placement.h"
#include "trace_tools/scope/origins.h"

struct ab_placement_trace { /* begins as {path, is_partial, wish, scopes} */
    const char *path;       /* that can be opened; "" = the work is no trace */
    bool is_partial;        /* as in struct ab_walk */
    enum ab_scopes_wish wish;
    const struct ab_scopes *scopes; /* that are known; NULL: looked for when a rule asks */
    struct ab_scopes found;
};

/* Sets the `classes` of the rules and *out, which has no bytes where no rule asks for any. `where`
 * begins messages. AB_USAGE where the trace has no scopes or sites, or none that a pattern fits. */
enum ab_status ab_placement_ask_trace(struct ab_placement *p, struct ab_placement_trace *trace,
                                      const char *where, struct ab_origins *out,
                                      struct ab_err *err);
void ab_placement_trace_fini(struct ab_placement_trace *trace);

#endif
