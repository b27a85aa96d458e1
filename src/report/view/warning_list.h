/* SPDX-License-Identifier: MIT
 *
 * For the files of this folder: one more warning.
 */
#ifndef AB_REPORT_VIEW_WARNING_LIST_H
#define AB_REPORT_VIEW_WARNING_LIST_H

#include "report/view/warnings.h"

/* Of no single back end; texts belong to the view. */
void ab_warning_list_add(struct ab_view_warnings *w, const char *id, enum ab_view_severity severity,
                         const char *text, const char *remedy);

#endif
