/* SPDX-License-Identifier: MIT
 *
 * The numbers of a real program under each allocator beside its wall time: what it took, and how
 * many times more or less than under the base, with the interval of that ratio.
 */
#ifndef AB_REPORT_TABLE_TABLE_PROGRAM_H
#define AB_REPORT_TABLE_TABLE_PROGRAM_H

#include "report/table/legend.h"

void ab_table_program(FILE *to, const struct ab_view *v, struct ab_table_style style,
                      struct ab_legend *legend);

#endif
