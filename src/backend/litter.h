/* SPDX-License-Identifier: MIT
 *
 * Rows on a heap that is not fresh: NAME:litter=OCC or NAME:litter=OCCxMULT (base/litter.h says what is
 * made of it), and --litter, which makes such rows of every back end.
 */
#ifndef AB_BACKEND_LITTER_H
#define AB_BACKEND_LITTER_H

#include "backend/selection.h"

/* "0.75" or "0.75x2"; an error begins with `where`. */
enum ab_status ab_litter_read(const char *text, const char *where, struct ab_litter_request *out,
                              struct ab_err *err);
/* Of a selection with litter: with a reason, not OK any more where there can be none. */
void ab_litter_judge(struct ab_selection *s);
/* Each of `lists` is a comma-separated list of these, where 0 is the fresh row. Puts in the place of each
 * back end a row of each, unless it says litter itself or stands only for what the machine does. */
enum ab_status ab_litter_rows_add(const char *const *lists, size_t n_lists,
                                  struct ab_selection_list *list, struct ab_err *err);

#endif
