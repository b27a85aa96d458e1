/* SPDX-License-Identifier: MIT
 *
 * The findings of a comparison.
 */
#ifndef AB_REPORT_CI_FINDINGS_COMPARE_H
#define AB_REPORT_CI_FINDINGS_COMPARE_H

#include "report/ci/finding_list.h"
#include "stats/compare.h"

/* Adds a finding for each cell. An advisory comparison warns where another fails. */
void ab_findings_of_comparison(const struct ab_comparison *comparison, struct ab_findings *out);

#endif
