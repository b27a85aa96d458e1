/* SPDX-License-Identifier: MIT
 *
 * The results of several workloads for people and spreadsheets. Nothing is worked out here
 * (report/view/suite_view.h).
 */
#ifndef AB_REPORT_SUITE_SUITE_FORMS_H
#define AB_REPORT_SUITE_SUITE_FORMS_H

#include "report/suite.h"
#include "report/table/style.h"

#include <stdio.h>

enum ab_suite_form { AB_SUITE_CSV, AB_SUITE_JUNIT, AB_SUITE_MARKDOWN, AB_SUITE_HTML };

void ab_suite_form(FILE *to, const struct ab_suite *suite, enum ab_suite_form form);
/* One table with all workloads, and the means. */
void ab_suite_table(FILE *to, const struct ab_suite *suite, struct ab_table_style style);

#endif
