/* SPDX-License-Identifier: MIT
 *
 * The pictures of a report as files of their own: PAGE-TITLE.svg, or PAGE-TITLE-2.svg where a page
 * has several of one title. Each stands alone, in its light colours on white.
 */
#ifndef AB_REPORT_HTML_FIGURES_H
#define AB_REPORT_HTML_FIGURES_H

#include "core/status.h"
#include "result/result.h"

/* Makes the folder where it is not there; fails where no file can be made in it. */
enum ab_status ab_figures_prepare(const char *folder, struct ab_err *err);

#endif
