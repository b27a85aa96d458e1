/* SPDX-License-Identifier: MIT
 *
 * Groups with the same proposal share a heap. The trace is read again with the heaps in place: what
 * each must hold, and whether it keeps its promise with all its groups together.
 */
#ifndef AB_ADVISE_HEAPS_H
#define AB_ADVISE_HEAPS_H

#include "advise/site_groups.h"

/* Fills out->heaps and the groups' heap, by their kinds. *has_broken_stack: the stack's groups do
 * not free the youngest first together; then nothing else is valid. */
enum ab_status ab_heaps_make(const struct ab_advise_plan *plan, struct ab_site_groups *groups,
                             struct ab_advice *out, bool *has_broken_stack, struct ab_err *err);

#endif
