/* SPDX-License-Identifier: MIT
 *
 * Published figures beside what was measured; nothing where the session has none.
 */
#ifndef AB_REPORT_TABLE_SINK_CLAIMS_H
#define AB_REPORT_TABLE_SINK_CLAIMS_H

#include "report/table/style.h"
#include "result/result.h"

#include <stdio.h>

void ab_sink_claims(FILE *to, const struct ab_session *session, struct ab_table_style style);

#endif
