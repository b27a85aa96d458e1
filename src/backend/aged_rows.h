/* SPDX-License-Identifier: MIT
 *
 * Rows on an aged heap (base/aging.h): NAME:litter=OCC or NAME:litter=OCCxMULT, and --aged, which
 * makes such rows for every back end.
 */
#ifndef AB_BACKEND_AGED_ROWS_H
#define AB_BACKEND_AGED_ROWS_H

#include "backend/selection.h"

/* Reads "0.75" or "0.75x2". An error text begins with `where`. */
enum ab_status ab_aged_rows_read(const char *text, const char *where, struct ab_aging_request *out,
                                 struct ab_err *err);
/* Judges a selection on an aged heap: if its back end cannot age a heap, sets the reason and a
 * state other than OK. */
void ab_aged_rows_judge(struct ab_selection *s);
/* Replaces each back end by one row per entry of `lists`, which are comma-separated; 0 is the fresh
 * row. Keeps back ends that name an aged heap themselves or are only a control of the machine. */
enum ab_status ab_aged_rows_add(const char *const *lists, size_t n_lists,
                                struct ab_selection_list *list, struct ab_err *err);

#endif
