/* SPDX-License-Identifier: MIT
 *
 * Prints the result of `verify` on a terminal.
 */
#ifndef AB_REPORT_TABLE_VERIFY_TABLE_H
#define AB_REPORT_TABLE_VERIFY_TABLE_H

#include "report/table/style.h"
#include "result/verify_record.h"

#include <stdio.h>

void ab_verify_table(FILE *to, const struct ab_verify_session *v, struct ab_table_style style);

#endif
