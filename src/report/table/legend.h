/* SPDX-License-Identifier: MIT
 *
 * Draws the grids of the answer; what their signs mean is explained where they are shown, and nowhere
 * else.
 */
#ifndef AB_REPORT_TABLE_LEGEND_H
#define AB_REPORT_TABLE_LEGEND_H

#include "report/table/table.h"
#include "report/table/table_labels.h"
#include "report/view/view.h"

struct ab_legend {
    bool has_unclear;                     /* "~" */
    bool has_interval;                    /* "[1.69, 1.80]" */
    bool has_floor;                       /* "<20" */
    bool has_tail;                        /* columns p99 and p99.9 of the ranking */
    bool has_drain;                       /* column "after free" */
    bool has_multiple;                    /* column "x live" */
    bool has_live;                        /* column "live" */
    bool has_at_floor;                    /* a p50 that is the timer's floor */
    char label_head[AB_LABEL_HEAD_BYTES]; /* what rows leave out, "" = nothing */
    struct ab_footnotes notes;
};

/* Draws a grid and notes its signs; bit c of the result: column c of the grid is shown. */
unsigned ab_legend_grid(FILE *to, const struct ab_grid *g, struct ab_table_style style,
                        struct ab_legend *legend);
void ab_legend_print(FILE *to, const struct ab_view *v, const struct ab_legend *legend,
                     struct ab_table_style style);

#endif
