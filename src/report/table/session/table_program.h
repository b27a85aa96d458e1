/* SPDX-License-Identifier: MIT
 *
 * The numbers of a real program under each allocator: what it took, and how much more or less than
 * under the base, with the interval of that ratio.
 */
#ifndef AB_REPORT_TABLE_SESSION_TABLE_PROGRAM_H
#define AB_REPORT_TABLE_SESSION_TABLE_PROGRAM_H

#include "report/table/style.h"
#include "result/result.h"

#include <stdio.h>

/* `base`: what the others are compared with; UINT32_MAX = nothing. */
void ab_table_program(FILE *to, const struct ab_session *session, uint32_t base,
                      struct ab_table_style style);

#endif
