/* SPDX-License-Identifier: MIT
 *
 * Memory at the peak of the whole run, in bytes that add up:
 * live + internal + external + retained + litter + during calls = peak. They are those of one run, the one with the
 * median peak of those that know most; medians of each would not add up.
 */
#ifndef AB_REPORT_VIEW_MEMORY_H
#define AB_REPORT_VIEW_MEMORY_H

#include "result/result.h"

enum ab_view_memory_part {
    AB_VIEW_LIVE,     /* requested bytes on resident pages */
    AB_VIEW_INTERNAL, /* the rest of these blocks: sizes rounded up */
    AB_VIEW_EXTERNAL, /* the rest of their pages: free blocks, headers */
    AB_VIEW_RETAINED, /* pages without a live block */
    AB_VIEW_LITTER,   /* live bytes that are not the work's; 0 on a fresh heap */
    AB_VIEW_DURING,   /* resident only within a call, or between two readings */
    AB_VIEW_MEMORY_PARTS
};
extern const char *const ab_view_memory_part_names[AB_VIEW_MEMORY_PARTS]; /* "live" "internal" … */

struct ab_view_memory_row {     /* of one back end */
    const struct ab_memory *of; /* the record; borrowed from the session. NULL = there is none */
    double parts[AB_VIEW_MEMORY_PARTS]; /* NaN = n/a; never negative */
    const char
        *whys[AB_VIEW_MEMORY_PARTS]; /* why a part is n/a; "" = it is not, or the reason is unknown.
                                               Where internal is n/a its bytes are external */
    double
        peak_bytes; /* the sum of the parts where all are known: footprint_bytes of the record, and
                          what is resident only during calls where all rows know it; of a real program its resident memory at the peak, median of the rounds */
    const char *why_peak;
    double live_peak_bytes; /* most requested bytes in any phase of that run; NaN = n/a */
    double untouched_bytes; /* requested, never resident: in no sum */
};

struct ab_view_memory {
    struct ab_view_memory_row *rows; /* by back end of the session, n_rows = n_backends */
    uint32_t n_rows;
    bool has_litter; /* of some back end */
    bool has_during; /* of some back end there is a part that is resident only during calls */
    bool has_parts;  /* of some back end a part is known */
    char (*texts)[AB_MEMORY_REASON_BYTES]; /* of whys */
};

void ab_view_memory_make(const struct ab_session *s, struct ab_view_memory *out);
void ab_view_memory_fini(struct ab_view_memory *m);

enum { AB_VIEW_MEMORY_TEXTS = AB_VIEW_MEMORY_PARTS + 1 }; /* of a row */

/* Of one phase: the record with the median footprint, of those that know most; NULL = there is none. */
const struct ab_memory *ab_view_memory_typical(const struct ab_session *s, uint32_t backend,
                                               const char *phase, enum ab_memory_at at);
/* The first "WHAT: why" of a record's reason whose WHAT is in the list, which ends with NULL; false,
 * and "" in why, where there is none. */
bool ab_view_memory_why(const char *reason, const char *const *whats, char *why, size_t cap);
/* Is anything of this phase, or (NULL) of any, resident only during calls? */
bool ab_view_memory_has_during(const struct ab_session *s, const char *phase);
/* "jemalloc 2.40 MiB (0.35 MiB private), …": what each preloaded library took before its first block,
 * which no row has; "" = of none it is known. Returns buf. */
const char *ab_view_libraries(const struct ab_session *s, char *buf, size_t cap);
/* Median over the rounds of what is resident once all is freed, by ab_drain_names; NaN = n/a. */
double ab_view_memory_drained(const struct ab_session *s, uint32_t backend, unsigned when);

#endif
