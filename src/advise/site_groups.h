/* SPDX-License-Identifier: MIT
 *
 * Assigns blocks to groups by the place in the program that requested them. Functions that only
 * pass memory on (xmalloc, operator new, containers, the C library) are skipped: their caller is
 * the place. In a trace without call sites, a group is a class of sizes.
 */
#ifndef AB_ADVISE_SITE_GROUPS_H
#define AB_ADVISE_SITE_GROUPS_H

#include "advise/advise.h"
#include "trace/event.h"

enum {
    AB_SITE_GROUPS_SIZES = 512
}; /* number of size classes: one per 16 bytes up to 1 KiB, then 4 per octave */

struct ab_site_groups { /* initialise with {0} */
    struct ab_advice_group *items;
    size_t n, cap;
    /* group of each call stack; NULL = groups are size classes */
    uint32_t *of_site;
    uint32_t of_size[AB_SITE_GROUPS_SIZES]; /* group number + 1 of each size class; 0 = none yet */
};

/* Reads the call stacks of the trace into *table and makes a group for each place. If the trace has
 * no stacks, ab_site_groups_of() makes the groups. */
enum ab_status ab_site_groups_make(const struct ab_advise_plan *plan, struct ab_site_table *table,
                                   struct ab_site_groups *out, struct ab_err *err);
/* Returns the group of an event that allocates or resizes; adds a group for a new size class. */
uint32_t ab_site_groups_of(struct ab_site_groups *g, const struct ab_event *e);
void ab_site_groups_fini(struct ab_site_groups *g);

#endif
