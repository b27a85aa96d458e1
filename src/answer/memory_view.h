/* SPDX-License-Identifier: MIT
 *
 * Memory at the peak of the whole run, in bytes that add up:
 * live + internal + external + retained + aged heap + during calls = peak.
 * All of them come from one run: the one with the median peak among the runs that know the most
 * parts. Medians of each part would not add up.
 */
#ifndef AB_ANSWER_MEMORY_VIEW_H
#define AB_ANSWER_MEMORY_VIEW_H

#include "result/result.h"

enum ab_view_memory_part {
    AB_VIEW_LIVE,     /* requested bytes on resident pages */
    AB_VIEW_INTERNAL, /* rest of the live blocks: bytes by which sizes are rounded up */
    AB_VIEW_EXTERNAL, /* rest of the pages with live blocks: free blocks, headers */
    AB_VIEW_RETAINED, /* pages without a live block */
    AB_VIEW_AGED,     /* live bytes of the aged heap, not of the work; 0 on a fresh heap */
    AB_VIEW_DURING,   /* resident only within a call, or between two readings */
    AB_VIEW_MEMORY_PARTS
};
extern const char *const ab_view_memory_part_names[AB_VIEW_MEMORY_PARTS]; /* "live" "internal" … */

struct ab_view_memory_row {     /* memory of one back end */
    const struct ab_memory *of; /* the record that is shown; borrowed from the session. NULL =
                                   none */
    double parts[AB_VIEW_MEMORY_PARTS];     /* NaN = n/a; never negative */
    const char *whys[AB_VIEW_MEMORY_PARTS]; /* why a part is n/a; "" = it is known, or the reason
                                               is unknown. If internal is n/a, external includes
                                               its bytes. */
    /* footprint_bytes of the record, plus the bytes that are resident only during calls if they are
     * known for every back end. For a real program: its peak resident memory, median of the
     * rounds */
    double peak_bytes;
    const char *why_peak;
    double live_peak_bytes; /* most requested bytes in any phase of the run of `of`; NaN = n/a */
    double untouched_bytes; /* requested but never resident; not part of any sum */
};

struct ab_view_memory {
    /* one row for each back end of the session; n_rows = n_backends */
    struct ab_view_memory_row *rows;
    uint32_t n_rows;
    bool has_aged_heap; /* True if a back end ran on an aged heap */
    bool has_during;    /* True if a back end has memory that is resident only during calls */
    bool has_parts;     /* True if a part is known for any back end, apart from AB_VIEW_DURING */
    char (*texts)[AB_MEMORY_REASON_BYTES]; /* storage of `whys` and `why_peak` */
};

void ab_view_memory_make(const struct ab_session *s, struct ab_view_memory *out);
void ab_view_memory_fini(struct ab_view_memory *m);

/* texts of one row: `whys` and `why_peak` */
enum { AB_VIEW_MEMORY_TEXTS = AB_VIEW_MEMORY_PARTS + 1 };

/* Returns the record of a phase with the median footprint, among the records that know the most
 * numbers; NULL = none. */
const struct ab_memory *ab_view_memory_typical(const struct ab_session *s, uint32_t backend,
                                               const char *phase, enum ab_memory_at at);
/* Searches `reason`, "WHAT: why; WHAT: why", for the WHATs of a list that ends with NULL, and
 * copies the why of the first one found. Returns false, and "" in why, if none is found. */
bool ab_view_memory_why(const char *reason, const char *const *whats, char *why, size_t cap);
/* Returns the median over the rounds of the memory that is resident once everything is freed.
 * `when` is an index of ab_drain_names. NaN = n/a. */
double ab_view_memory_drained(const struct ab_session *s, uint32_t backend, unsigned when);

#endif
