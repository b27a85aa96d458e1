/* SPDX-License-Identifier: MIT
 *
 * The table of several workloads. Their output forms have rows in report/sinks/sinks.def. All
 * numbers come from answer/suite_view.h.
 */
#ifndef AB_REPORT_SUITE_SUITE_FORMS_H
#define AB_REPORT_SUITE_SUITE_FORMS_H

#include "document/suite_document.h"
#include "report/table/style.h"

#include <stdio.h>

/* Writes one table with all workloads, and the means. */
void ab_suite_table(FILE *to, const struct ab_suite *suite, struct ab_table_style style);

#endif
