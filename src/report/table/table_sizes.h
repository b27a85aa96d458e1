/* SPDX-License-Identifier: MIT
 *
 * Latency by size of the request: sizes as rows, back ends side by side.
 */
#ifndef AB_REPORT_TABLE_TABLE_SIZES_H
#define AB_REPORT_TABLE_TABLE_SIZES_H

#include "report/table/style.h"
#include "result/result.h"

#include <stdio.h>

/* False, and nothing, where there is none of this phase. `scratch` is for merging. */
bool ab_table_sizes(FILE *to, const struct ab_session *s, const char *phase,
                    struct ab_table_style style, struct ab_hdr *scratch);

#endif
