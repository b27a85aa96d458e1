/* SPDX-License-Identifier: MIT
 *
 * Several traces in one table: each back end on each trace, with the time of the whole run, its ratio
 * to the base with interval, and the peak; the numbers of the answers above it.
 */
#ifndef AB_REPORT_TABLE_SINK_TRACES_H
#define AB_REPORT_TABLE_SINK_TRACES_H

#include "report/table/style.h"
#include "report/view/view.h"

#include <stdio.h>

struct ab_trace_row {
    char name[128];
    char failure[32]; /* "crashed"; "" = it has numbers */
    bool is_aside;    /* not compared */
    bool is_base;
    double run_ns, peak_bytes; /* NaN = n/a */
    struct ab_view_factor vs;
};

struct ab_trace_sum {
    char *trace; /* its name; owned */
    struct ab_trace_row *rows;
    uint32_t n_rows;    /* 0: there is no result */
    bool is_too_little; /* work to compare anything */
};

struct ab_trace_sums { /* begins as zeroes */
    struct ab_trace_sum *items;
    size_t n;
};

/* Keeps what the table shows of a session, which may end after that. */
void ab_trace_sums_add(struct ab_trace_sums *sums, const struct ab_session *session);
/* A trace that has no result. */
void ab_trace_sums_add_failed(struct ab_trace_sums *sums, const char *trace);
void ab_trace_sums_fini(struct ab_trace_sums *sums);

void ab_sink_traces(FILE *to, const struct ab_trace_sums *sums, struct ab_table_style style);

#endif
