/* SPDX-License-Identifier: MIT
 *
 * Scopes with begin and end, also within each other, as a heap with save points could serve them: at the
 * end of a span nothing lives of what its thread has allocated or resized in it.
 */
#ifndef AB_TRACE_TOOLS_SCOPE_SPANS_H
#define AB_TRACE_TOOLS_SCOPE_SPANS_H

#include "trace_tools/scopes.h"

struct ab_scope_spans { /* begins as {0} */
    struct ab_scope_span {
        uint64_t begin, end; /* calls [begin, end) of the file */
    } * items; /* by begin, of these with the same begin the longest first; two are apart, or one is
                  in the other */
    size_t n, cap;
};

/* At each end of a scope, of those that were taken and those that could be, a span that begins behind the
 * youngest block that outlives it, or with the end of the last span that began there; none with less than
 * AB_SCOPE_ALLOCS_LEAST allocations. Of scopes of all threads, where the trace has several: none. One pass
 * over the file. Free it with ab_scope_spans_fini in any case. */
enum ab_status ab_scope_spans_find(const char *trace_path, bool is_partial,
                                   const struct ab_scopes *scopes, struct ab_scope_spans *out,
                                   struct ab_err *err);
void ab_scope_spans_fini(struct ab_scope_spans *s);

#endif
