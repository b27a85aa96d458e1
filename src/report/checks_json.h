/* SPDX-License-Identifier: MIT
 *
 * Checks as JSON, written and read: the keys "gates", "claims" and "comparison" of a result, and the
 * document of `compare`. What is not known is null.
 */
#ifndef AB_REPORT_CHECKS_JSON_H
#define AB_REPORT_CHECKS_JSON_H

#include "report/read_result.h"
#include "report/record.h"
#include "stats/compare.h"

/* The three keys, of a struct ab_session. */
extern const struct ab_record ab_checks_record;
extern const struct ab_record ab_gates_record; /* the first alone */

/* The document allocbench-compare/1: n comparisons with one base. */
void ab_comparisons_write(FILE *to, const struct ab_comparison *comparisons, size_t n,
                          int exit_code);

/* Fills session.gates and session.comparison with the verdicts as they were given when it was
 * measured; ab_stored_fini frees them. Whoever judges gates of his own does without. Keys that came
 * later may be missing. */
enum ab_status ab_stored_read_checks(const char *path, struct ab_stored *stored,
                                     struct ab_err *err);

#endif
