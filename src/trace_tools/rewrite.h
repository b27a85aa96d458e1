/* SPDX-License-Identifier: MIT
 *
 * Events of one or several traces put into another: threads are numbered anew, in the order of their
 * first event there, as the format wants it, and blocks by their allocations. What `trace cut`,
 * `merge`, `filter` and `anonymize` have in common.
 */
#ifndef AB_TRACE_TOOLS_REWRITE_H
#define AB_TRACE_TOOLS_REWRITE_H

#include "trace/mark_table.h"
#include "trace/writer.h"

struct ab_rewrite { /* the trace that is written */
    struct ab_trace_writer *writer;
    uint32_t n_threads;
    uint64_t n_calls;
};

struct ab_original { /* one that is read; a zeroed one has put nothing yet */
    uint64_t
        *numbers; /* by slot: number of the block in the trace that is written + 1; 0 = not in it */
    size_t cap_numbers;
    uint32_t *threads; /* by thread: its number there + 1 */
    size_t cap_threads;
};

void ab_original_fini(struct ab_original *from);
/* Is the event of a block (or, of the end of a thread, of a thread) that has been put? Allocations
 * always are. */
bool ab_original_knows(const struct ab_original *from, const struct ab_event *e);
/* Writes one event that the original knows, with slot and thread as they are there. */
enum ab_status ab_rewrite_put(struct ab_rewrite *to, struct ab_original *from,
                              const struct ab_event *e, struct ab_err *err);

/* Marks on their way into the trace that is written: they stay between the calls that they were
 * between, of which some may be gone. */
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
