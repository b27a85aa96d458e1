/* SPDX-License-Identifier: MIT
 *
 * Output forms of several workloads. They compute nothing (answer/suite_view.h does).
 */
#ifndef AB_REPORT_SUITE_SUITE_FORMS_H
#define AB_REPORT_SUITE_SUITE_FORMS_H

#include "document/suite_document.h"
#include "report/table/style.h"

#include <stdio.h>

enum ab_suite_form { AB_SUITE_CSV, AB_SUITE_JUNIT, AB_SUITE_MARKDOWN, AB_SUITE_HTML };

void ab_suite_form(FILE *to, const struct ab_suite *suite, enum ab_suite_form form);
/* Writes one table with all workloads, and the means. */
void ab_suite_table(FILE *to, const struct ab_suite *suite, struct ab_table_style style);

#endif
