/* SPDX-License-Identifier: MIT
 *
 * Assigns blocks to groups by the place in the program that requested them. Functions that only
 * pass memory on (xmalloc, operator new, containers, the C library) are skipped, up to the first
 * other caller. In a trace without call sites, the group is the size class.
 */
#ifndef AB_ADVISE_SITE_GROUPS_H
#define AB_ADVISE_SITE_GROUPS_H

#include "advise/advise.h"
#include "trace/event.h"

enum {
    AB_SITE_GROUPS_SIZES = 512
}; /* size classes: 16 bytes each up to 1 KiB, then 4 per octave */

struct ab_site_groups { /* begins as {0} */
    struct ab_advice_group *items;
    size_t n, cap;
    uint32_t *of_site;                      /* group of each site; NULL = by size */
    uint32_t of_size[AB_SITE_GROUPS_SIZES]; /* group number + 1 of each class; 0 = none yet */
};

/* Reads the call stacks of the trace into *table and makes their groups. Without stacks, groups are
 * made as requests come. */
enum ab_status ab_site_groups_make(const struct ab_advise_plan *plan, struct ab_site_table *table,
                                   struct ab_site_groups *out, struct ab_err *err);
/* Returns the group of a call that allocates or resizes. */
uint32_t ab_site_groups_of(struct ab_site_groups *g, const struct ab_event *e);
void ab_site_groups_fini(struct ab_site_groups *g);

#endif
