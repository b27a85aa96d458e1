/* SPDX-License-Identifier: MIT
 *
 * From what -b selected to what is run and to what is told of it.
 */
#ifndef AB_CLI_CASES_H
#define AB_CLI_CASES_H

#include "backend/selection.h"
#include "measure/result.h"
#include "runner/case.h"

void ab_case_describe(const struct ab_selection *s, struct ab_backend_info *b);
/* Borrows strings of `s`. */
void ab_case_make(const struct ab_selection *s, struct ab_case *c);

#endif
