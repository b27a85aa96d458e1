/* SPDX-License-Identifier: MIT
 *
 * The verdicts of a session as the forms for CI services tell them: one finding a gate and back
 * end, a number of session->comparison, a back end; each with a full sentence. What fails the
 * command comes first.
 */
#ifndef AB_REPORT_CI_FINDINGS_H
#define AB_REPORT_CI_FINDINGS_H

#include "report/ci/finding_list.h"
#include "result/result.h"

/* False when out of memory; ab_finding_list_fini in any case. Call it between ab_format_begin and
 * ab_format_end. */
bool ab_findings_make(const struct ab_session *session, struct ab_findings *out);

/* "2 failed, 1 inconclusive or skipped, 14 passed"; only what there is. */
void ab_findings_count(const struct ab_findings *findings, struct ab_text *out);

#endif
