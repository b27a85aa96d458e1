/* SPDX-License-Identifier: MIT
 *
 * Rows on an aged heap: NAME:litter=OCC or NAME:litter=OCCxMULT (base/litter.h describes the
 * litter), and --litter, which makes such rows for every back end.
 */
#ifndef AB_BACKEND_LITTER_H
#define AB_BACKEND_LITTER_H

#include "backend/selection.h"

/* Reads "0.75" or "0.75x2". An error text begins with `where`. */
enum ab_status ab_litter_read(const char *text, const char *where, struct ab_litter_request *out,
                              struct ab_err *err);
/* Judges a selection with litter: if its back end cannot have litter, sets the reason and a state
 * other than OK. */
void ab_litter_judge(struct ab_selection *s);
/* Replaces each back end by one row per entry of `lists`, which are comma-separated; 0 is the fresh
 * row. Keeps back ends that set litter themselves or are only a control of the machine. */
enum ab_status ab_litter_rows_add(const char *const *lists, size_t n_lists,
                                  struct ab_selection_list *list, struct ab_err *err);

#endif
