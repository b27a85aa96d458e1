/* SPDX-License-Identifier: MIT
 *
 * What became of back ends: failed, absent, not compared, not verified, known to be wrong elsewhere.
 */
#ifndef AB_REPORT_VIEW_WARNINGS_BACKENDS_H
#define AB_REPORT_VIEW_WARNINGS_BACKENDS_H

#include "report/view/warnings.h"

void ab_view_warnings_backends(const struct ab_session *s, struct ab_view_texts *texts,
                               struct ab_view_warnings *out);
/* Did a real program fail in the same way under all of several allocators? Then it is the program. */
bool ab_view_program_fails(const struct ab_session *s);

#endif
