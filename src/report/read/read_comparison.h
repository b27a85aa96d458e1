/* SPDX-License-Identifier: MIT
 *
 * The comparison with a baseline of a stored result, for callers that show or write it.
 */
#ifndef AB_REPORT_READ_READ_COMPARISON_H
#define AB_REPORT_READ_READ_COMPARISON_H

#include "report/read/read_result.h"

/* Into stored->session.comparison, NULL where there was none; ab_stored_fini frees it. The base is
 * not in the document: of it the comparison has the name, and the rounds that were used. */
enum ab_status ab_stored_read_comparison(const char *path, struct ab_stored *stored,
                                         struct ab_err *err);

#endif
