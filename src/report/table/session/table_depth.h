/* SPDX-License-Identifier: MIT
 *
 * Latency in depth, for who asks: by size class, the worst ops and where they lie, over time.
 */
#ifndef AB_REPORT_TABLE_SESSION_TABLE_DEPTH_H
#define AB_REPORT_TABLE_SESSION_TABLE_DEPTH_H

#include "report/table/style.h"
#include "result/result.h"

#include <stdio.h>

void ab_table_depth(FILE *to, const struct ab_session *session, struct ab_table_style style);

#endif
