/* SPDX-License-Identifier: MIT
 *
 * Rows with an aged heap (base/aging.h). Such a row comes from the setting NAME:litter=OCC or
 * NAME:litter=OCCxMULT, or from the option --aged, which makes rows for every back end.
 */
#ifndef AB_BACKEND_AGED_ROWS_H
#define AB_BACKEND_AGED_ROWS_H

#include "backend/selection.h"

/* Reads "0.75" or "0.75x2" into *out. On failure the error message begins with `where`. */
enum ab_status ab_aged_rows_read(const char *text, const char *where, struct ab_aging_request *out,
                                 struct ab_err *err);
/* Checks that the heap of a selection can be aged. If not, sets the reason and a state other than
 * OK. */
void ab_aged_rows_judge(struct ab_selection *s);
/* Replaces each back end by one row for each entry of `lists`, which are comma-separated; the entry
 * 0 is a row without an aged heap. Keeps back ends that have the setting `litter` or are a
 * control. */
enum ab_status ab_aged_rows_add(const char *const *lists, size_t n_lists,
                                struct ab_selection_list *list, struct ab_err *err);

#endif
