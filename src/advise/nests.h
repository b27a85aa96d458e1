/* SPDX-License-Identifier: MIT
 *
 * Scopes within scopes: groups whose blocks all die long before the scope ends, a parse within a
 * request, a draw call within a frame. Of groups that have the same places where none of their
 * blocks lives, again and again within a scope, the stretches between are nested scopes.
 */
#ifndef AB_ADVISE_NESTS_H
#define AB_ADVISE_NESTS_H

#include "advise/site_groups.h"

/* Of the groups whose kind is AB_ADVICE_FRAME, those that are better off in a nested scope get
 * kind AB_ADVICE_NESTED and the number of theirs; groups of one number are of one thread. A group
 * is none of it when
 *  - several threads allocate its blocks, or another one frees some;
 *  - it is filled and empty again less than three times a scope in which it allocates;
 *  - what its scopes take at most is more than half of what a whole scope takes;
 *  - it is accident: trace_tools/scope_search.h, by what was live when its blocks were asked for
 *    (Poisson's law for none), of scopes of four blocks and more on average;
 *  - a block of it outlives a nested scope once in a while: where most of the others are gone, and as
 *    many are there again, before it dies. These are counted (n_stragglers).
 * AB_INPUT, AB_SYSTEM. */
enum ab_status ab_nests_find(const struct ab_advise_plan *plan, struct ab_site_groups *groups,
                             const struct ab_advice *a, struct ab_err *err);

#endif
