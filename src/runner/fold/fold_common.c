/* SPDX-License-Identifier: MIT
 *
 * Empty histograms for all that fold.
 */
#include "runner/fold/fold_common.h"

#include <math.h>
#include <stdlib.h>

struct ab_hdr *ab_fold_new_hdr(void)
{
    struct ab_hdr *hdr = calloc(1, sizeof *hdr);
    if (hdr != NULL)
        hdr->min = UINT64_MAX; /* all that ab_hdr_init does to fresh zeroes, without touching them:
                                  of 220 KiB a histogram only a few pages are ever used */
    return hdr;
}

double ab_fold_busy_ns(const struct ab_fold *f, const struct ab_phase_report *r)
{
    double ns_per_tick = f->clock->ns_per_tick;
    double spent = r->is_crowded
                       ? (double)r->thread_cpu_ns
                       : fmax((double)r->lane_ticks - (double)r->outside_ticks, 0) * ns_per_tick;
    double waits = r->is_crowded ? (double)r->awake_ticks * ns_per_tick + (double)r->asleep_cpu_ns
                                 : (double)r->wait_ticks * ns_per_tick;
    return spent > waits ? spent - waits : 0;
}
