/* SPDX-License-Identifier: MIT
 *
 * From what a group's blocks did to what could serve them.
 */
#ifndef AB_ADVISE_PROPOSAL_H
#define AB_ADVISE_PROPOSAL_H

#include "advise/advise.h"

/* Sets kind and why. `a` says how many calls and scopes there are; without is_stack_allowed no group
 * becomes a stack: those of the trace together were not freed youngest first. */
void ab_proposal_find(const struct ab_advice *a, struct ab_advice_group *g, bool is_stack_allowed);

/* The slots of a pool for blocks of these sizes. */
uint64_t ab_proposal_slot(const struct ab_advice_group *g);

#endif
