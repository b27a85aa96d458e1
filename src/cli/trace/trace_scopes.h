/* SPDX-License-Identifier: MIT
 *
 * Prints the scopes of a trace for `trace info`.
 */
#ifndef AB_CLI_TRACE_TRACE_SCOPES_H
#define AB_CLI_TRACE_TRACE_SCOPES_H

#include "core/text.h"
#include "report/json.h"
#include "trace_tools/scope/stats.h"

#include <stdio.h>

struct ab_trace_scopes { /* begins as {0} */
    struct ab_scopes scopes;
    struct ab_scope_stats stats;
    double median_calls;
    uint64_t time_us;         /* of the whole trace; 0 = not known */
    enum ab_scopes_wish wish; /* set before they are gathered, as the next */
    bool wants_each;          /* set before they are gathered */
    struct ab_trace_scope {   /* what its allocations and resizes ask for */
        uint64_t allocs, bytes;
    } * each; /* scopes.n of them, if so */
};

/* Reads the file of `walk` again, up to four times, with its progress: AB_USAGE for what can be
 * read only once. */
enum ab_status ab_trace_scopes_gather(struct ab_trace_scopes *s, const struct ab_walk *walk,
                                      struct ab_err *err);
void ab_trace_scopes_fini(struct ab_trace_scopes *s);

/* Appends what scopes that were found are like, and what else could be meant; nothing about marks. */
void ab_trace_ask_scopes(struct ab_text *line, const struct ab_scopes *s, double median_calls,
                         uint64_t time_us);
void ab_trace_print_scopes(FILE *to, const struct ab_trace_scopes *s);
/* null: there are none. */
json_t *ab_trace_scopes_json(const struct ab_trace_scopes *s);

#endif
