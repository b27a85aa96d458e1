/* SPDX-License-Identifier: MIT
 *
 * The verdicts of a stored result, as they were given when it was measured.
 */
#ifndef AB_REPORT_READ_READ_GATES_H
#define AB_REPORT_READ_READ_GATES_H

#include "report/read/read_result.h"

/* Fills session.gates, which ab_stored_fini frees. Whoever judges gates of his own does without. */
enum ab_status ab_stored_read_gates(const char *path, struct ab_stored *stored, struct ab_err *err);

#endif
