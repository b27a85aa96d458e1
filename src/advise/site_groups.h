/* SPDX-License-Identifier: MIT
 *
 * Which group the blocks of a request belong to: that of the place in the program that asked for
 * them. Functions that hand memory on (xmalloc, operator new, containers, the C library) are passed
 * over, up to the first caller that is none of them. In a trace without call sites: the class of the
 * size.
 */
#ifndef AB_ADVISE_SITE_GROUPS_H
#define AB_ADVISE_SITE_GROUPS_H

#include "advise/advise.h"
#include "trace/event.h"

enum {
    AB_SITE_GROUPS_SIZES = 512
}; /* classes of sizes: 16 bytes each up to 1 KiB, then 4 an octave */

struct ab_site_groups { /* begins as {0} */
    struct ab_advice_group *items;
    size_t n, cap;
    uint32_t *of_site;                      /* by site; NULL = by size */
    uint32_t of_size[AB_SITE_GROUPS_SIZES]; /* number + 1; 0 = none yet */
};

/* Makes the groups of all stacks of the trace, which go into *table. Where it has none, groups are
 * made as requests come. */
enum ab_status ab_site_groups_make(const struct ab_advise_plan *plan, struct ab_site_table *table,
                                   struct ab_site_groups *out, struct ab_err *err);
/* Of a call that gives a block. */
uint32_t ab_site_groups_of(struct ab_site_groups *g, const struct ab_event *e);
void ab_site_groups_fini(struct ab_site_groups *g);

#endif
