/* SPDX-License-Identifier: MIT
 *
 * Reports on the traces of a spool, on standard error.
 */
#ifndef AB_CLI_RECORD_SPOOL_SUMMARY_H
#define AB_CLI_RECORD_SPOOL_SUMMARY_H

#include "cli/record/spool_traces.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Prints what the traces contain, what is missing from them, and what recording cost. */
void ab_spool_summary_print(struct ab_spool_traces *t);
/* Which have no trace although there may be one to be had; also when all else is quiet. */
void ab_spool_summary_print_failures(const struct ab_spool_traces *t);

/* How often which name was met, as the end of a sentence: "sh (3), true, and 2 others". */

struct ab_name_counts {
    struct ab_name_count {
        char name[128]; /* as it is shown */
        uint64_t n;
    } * names;
    size_t n, cap;
    uint64_t total;
};

/* Counts `name`; without memory for one more it is in the total alone. */
void ab_name_counts_add(struct ab_name_counts *c, const char *name);
/* The most frequent first, at most ten. */
void ab_name_counts_print(FILE *to, struct ab_name_counts *c);
void ab_name_counts_fini(struct ab_name_counts *c);

#endif
