/* SPDX-License-Identifier: MIT
 *
 * Prints reports about the traces of a spool on standard error.
 */
#ifndef AB_CLI_SPOOL_SUMMARY_H
#define AB_CLI_SPOOL_SUMMARY_H

#include "app/record/record.h"
#include "core/units_show.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Prints which processes have no trace although one may be obtainable. Unless is_quiet, also finds
 * the facts and calls ab_spool_summary_print(). Prints nothing if the traces were not written. */
void ab_spool_summary_print_traces(struct ab_recording *r, bool is_quiet);
/* Prints what the traces contain, what is missing from them, and what recording cost. */
void ab_spool_summary_print(const struct ab_spool_traces *t, const struct ab_spool_facts *f);

/* Counts names, to print them as the end of a sentence: "sh (3), true, and 2 others". */

struct ab_name_counts {
    struct ab_name_count {
        char name[128]; /* printable */
        uint64_t n;
    } * names;
    size_t n, cap;
    uint64_t total;
};

/* Counts `name`. If there is no memory for another name, counts it in the total only. */
void ab_name_counts_add(struct ab_name_counts *c, const char *name);
/* Prints at most ten names, the most frequent first. */
void ab_name_counts_print(FILE *to, struct ab_name_counts *c);
void ab_name_counts_fini(struct ab_name_counts *c);

/* Prints "libx.so, liby.so and 3 more": modules whose calls were not recorded. */
void ab_bypass_print_modules(FILE *to, const struct ab_trace_bypass *b);

/* Prints the amount of unrecorded calls, such as "at least 3 calls, probably more; at the end at
 * most 4 MiB of memory". */
void ab_bypass_print_amount(FILE *to, const struct ab_trace_bypass *b);

/* Prints "142 MiB of 144 MiB did not come from malloc". */
static inline void ab_whole_print_unasked(FILE *to, const struct ab_trace_whole *w)
{
    char a[32], b[32];
    fprintf(to, "%s of %s did not come from malloc",
            ab_units_bytes(a, sizeof a, (double)w->unasked_bytes),
            ab_units_bytes(b, sizeof b, (double)w->anonymous_bytes));
}

#endif
