/* SPDX-License-Identifier: MIT
 *
 * Bytes at a peak as cells that add up where they stand: one unit for all of them, and each part
 * rounded so that the sum of those before it is.
 */
#ifndef AB_REPORT_TABLE_TABLE_PEAK_H
#define AB_REPORT_TABLE_TABLE_PEAK_H

#include "report/table/legend.h"
#include "report/view/memory.h"

struct ab_peak_scale {
    double unit;
    int decimals;
    const char *name; /* "MiB" */
};

/* For a table whose largest number this is. */
struct ab_peak_scale ab_peak_scale_of(double most_bytes);
double ab_peak_steps(const struct ab_peak_scale *scale, double bytes); /* units of its last digit */
void ab_peak_format(char cell[AB_CELL_BYTES], const struct ab_peak_scale *scale, double bytes);
/* live, internal, external, retained and their sum, the peak: AB_VIEW_MEMORY_PARTS + 1 cells. */
void ab_peak_fill(const struct ab_view_memory_row *row, const struct ab_peak_scale *scale,
                  char (*cells)[AB_CELL_BYTES], struct ab_footnotes *notes, bool utf8);

/* Memory at the peak of the whole run; nothing where none was measured. */
void ab_table_peak(FILE *to, const struct ab_view *v, struct ab_table_style style,
                   struct ab_legend *legend);

#endif
