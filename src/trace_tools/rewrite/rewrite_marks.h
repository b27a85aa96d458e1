/* SPDX-License-Identifier: MIT
 *
 * Marks of a trace that is read, on their way into one that is written: they stay between the calls
 * that they were between, of which some may be gone.
 */
#ifndef AB_TRACE_TOOLS_REWRITE_MARKS_H
#define AB_TRACE_TOOLS_REWRITE_MARKS_H

#include "trace/optional/mark_table.h"
#include "trace_tools/rewrite/rewrite.h"

struct ab_rewrite_marks {      /* begins as {0}, with what is said of it */
    struct ab_mark_table from; /* of the original: the reader's option */
    size_t next;               /* of it that has not been passed */
    bool is_anonymous;         /* names become "mark-1", "mark-2" … */
    uint32_t *numbers;         /* by name: in the trace written + 1; 0 = not yet */
    size_t cap_numbers;
    bool has_time;           /* those of the original mean something in the trace written */
    uint64_t from_us, to_us; /* this time of the original is that one there; what is earlier has
                                  none */
};

void ab_rewrite_marks_fini(struct ab_rewrite_marks *m);
/* Passes over those that stand before call `call` of the original, or before one that precedes it. */
void ab_rewrite_marks_skip(struct ab_rewrite_marks *m, uint64_t call);
/* Puts them into `out`, the table of the trace that is written, at the place that it has reached. */
enum ab_status ab_rewrite_marks_put(struct ab_rewrite_marks *m, const struct ab_rewrite *to,
                                    const struct ab_original *original, uint64_t call,
                                    struct ab_mark_table *out, struct ab_err *err);

#endif
