/* SPDX-License-Identifier: MIT
 *
 * What `trace info` says of the scopes of a trace.
 */
#ifndef AB_CLI_TRACE_TRACE_SCOPES_H
#define AB_CLI_TRACE_TRACE_SCOPES_H

#include "report/json.h"
#include "trace_tools/scope/stats.h"

#include <stdio.h>

struct ab_trace_scopes { /* begins as {0} */
    struct ab_scopes scopes;
    struct ab_scope_stats stats;
    double median_calls;
    bool wants_each;        /* set before they are gathered */
    struct ab_trace_scope { /* what its allocations and resizes ask for */
        uint64_t allocs, bytes;
    } * each; /* scopes.n of them, if so */
};

/* Reads the file of `walk` again, up to four times, with its progress: AB_USAGE for what can be read
 * only once. */
enum ab_status ab_trace_scopes_gather(struct ab_trace_scopes *s, const struct ab_walk *walk,
                                      struct ab_err *err);
void ab_trace_scopes_fini(struct ab_trace_scopes *s);

void ab_trace_print_scopes(FILE *to, const struct ab_trace_scopes *s);
/* null: there are none. */
json_t *ab_trace_scopes_json(struct ab_json *w, const struct ab_trace_scopes *s);

#endif
