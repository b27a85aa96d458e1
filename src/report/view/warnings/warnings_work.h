/* SPDX-License-Identifier: MIT
 *
 * What the work itself does to the numbers: waits, first touches, inlined back ends, bulk resets.
 */
#ifndef AB_REPORT_VIEW_WARNINGS_WARNINGS_WORK_H
#define AB_REPORT_VIEW_WARNINGS_WARNINGS_WORK_H

#include "report/view/warnings/warnings.h"

void ab_view_warnings_work(const struct ab_session *s, struct ab_view_texts *texts,
                           struct ab_view_warnings *out);

#endif
