/* SPDX-License-Identifier: MIT
 *
 * Finds nested scopes: scopes within scopes, such as a parse within a request or a draw call within
 * a frame. Within a scope, some groups become empty again and again, at the same points. The time
 * between two such points is a nested scope.
 */
#ifndef AB_ADVISE_NESTS_H
#define AB_ADVISE_NESTS_H

#include "advise/site_groups.h"

/* Moves groups of kind AB_ADVICE_FRAME that are better off in a nested scope to kind
 * AB_ADVICE_NESTED, and sets their `nest`. Groups of one nest belong to one thread. A group stays
 * as it is if
 *  - several threads allocate its blocks, or another thread frees some of them;
 *  - it is filled and emptied less than ten times, or less than three times per scope in which it
 *    allocates;
 *  - its nested scopes take more than half of the memory of a whole scope, or have fewer than four
 *    blocks on average;
 *  - it may become empty so often by chance. ab_scope_is_regular() decides this by the number of
 *    blocks that were live at each request;
 *  - some of its blocks outlive a nested scope. Such a block is still live when most of the other
 *    blocks have died and as many have been allocated again. n_stragglers counts such blocks.
 * Fails with AB_INPUT or AB_SYSTEM. */
enum ab_status ab_nests_find(const struct ab_advise_plan *plan, struct ab_site_groups *groups,
                             const struct ab_advice *a, struct ab_err *err);

#endif
