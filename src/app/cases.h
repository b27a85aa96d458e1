/* SPDX-License-Identifier: MIT
 *
 * Turns a selection of -b into a case to run and its description in the result.
 */
#ifndef AB_APP_CASES_H
#define AB_APP_CASES_H

#include "app/options.h"
#include "backend/selection.h"
#include "result/result.h"
#include "runner/case.h"

enum ab_backend_status ab_case_status(const struct ab_selection *s); /* before anything ran */
void ab_case_describe(const struct ab_selection *s, struct ab_backend_info *b);
/* The first back end that the workload names by a path, and not the command line; NULL = none. Its
 * code would be run on the word of whoever wrote the workload. */
const struct ab_selection *ab_case_foreign(const struct ab_options *o,
                                           const struct ab_selection_list *list);
/* Borrows strings of `s`. */
void ab_case_make(const struct ab_selection *s, struct ab_case *c);

#endif
