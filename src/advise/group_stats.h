/* SPDX-License-Identifier: MIT
 *
 * What the blocks of each group did, in one reading of the trace.
 */
#ifndef AB_ADVISE_GROUP_STATS_H
#define AB_ADVISE_GROUP_STATS_H

#include "advise/site_groups.h"

/* Fills the groups; makes them where they are classes of sizes. Sets calls, events and threads of
 * *out as well, and the name of the program. */
enum ab_status ab_group_stats(const struct ab_advise_plan *plan, struct ab_site_groups *groups,
                              struct ab_advice *out, struct ab_err *err);

#endif
