/* SPDX-License-Identifier: MIT
 *
 * What `verify` found, for people and for programs.
 */
#ifndef AB_REPORT_VERIFY_REPORT_H
#define AB_REPORT_VERIFY_REPORT_H

#include "result/verify.h"
#include "report/sink.h"

void ab_verify_table(FILE *to, const struct ab_verify_session *v, struct ab_table_style style);
/* False when out of memory. */
bool ab_verify_json(FILE *to, const struct ab_verify_session *v);

#endif
