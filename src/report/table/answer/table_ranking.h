/* SPDX-License-Identifier: MIT
 *
 * The ranking for terminals: one row a back end, the fastest first.
 */
#ifndef AB_REPORT_TABLE_ANSWER_TABLE_RANKING_H
#define AB_REPORT_TABLE_ANSWER_TABLE_RANKING_H

#include "report/table/answer/legend.h"

void ab_table_ranking(FILE *to, const struct ab_view *v, struct ab_table_style style,
                      struct ab_legend *legend);

#endif
