/* SPDX-License-Identifier: MIT
 *
 * Finds scopes within scopes: groups whose blocks all die long before the scope ends, such as a
 * parse within a request or a draw call within a frame. Within a scope, such groups become empty
 * again and again, at the same places. The stretches between these places are nested scopes.
 */
#ifndef AB_ADVISE_NESTS_H
#define AB_ADVISE_NESTS_H

#include "advise/site_groups.h"

/* Moves groups of kind AB_ADVICE_FRAME that are better off in a nested scope to kind
 * AB_ADVICE_NESTED, and sets their `nest`. Groups of one nest belong to one thread. A group stays
 * as it is if
 *  - several threads allocate its blocks, or another thread frees some;
 *  - it is filled and emptied less than three times per scope in which it allocates;
 *  - its nested scopes take more than half of the memory of a whole scope;
 *  - it is regular only by chance: trace_tools/scope_search.h decides by the blocks that were
 *    live when its blocks were requested (Poisson's law for none), for scopes of at least
 *    four blocks on average;
 *  - some of its blocks outlive a nested scope: most of the others die, and as many are
 *    allocated again, before they die. Such blocks are counted in n_stragglers.
 * Fails with AB_INPUT or AB_SYSTEM. */
enum ab_status ab_nests_find(const struct ab_advise_plan *plan, struct ab_site_groups *groups,
                             const struct ab_advice *a, struct ab_err *err);

#endif
