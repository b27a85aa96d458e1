/* SPDX-License-Identifier: MIT
 *
 * The marks of a trace by name: how many, and what lies between one and the next.
 */
#ifndef AB_TRACE_OPTIONAL_MARK_STATS_H
#define AB_TRACE_OPTIONAL_MARK_STATS_H

#include "trace/optional/mark_table.h"

struct ab_mark_spread { /* NaN where there is nothing between: of one mark */
    double min, median, max;
};

struct ab_mark_stats {
    uint32_t name;               /* in the table */
    uint64_t n;                  /* 0: it is defined, and never set */
    uint64_t first, last;        /* calls of the trace before them */
    struct ab_mark_spread calls; /* of the whole trace, between one of this name and the next */
    struct ab_mark_spread us;    /* NaN too where times are not known */
};

/* stats[0..t->n_names), by number of marks, the most first. False = out of memory. */
bool ab_mark_stats(const struct ab_mark_table *t, struct ab_mark_stats *stats);

#endif
