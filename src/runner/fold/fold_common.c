/* SPDX-License-Identifier: MIT
 *
 * Empty histograms for all that fold.
 */
#include "runner/fold/fold_common.h"

#include <math.h>

struct ab_hdr *ab_fold_new_hdr(void)
{
    return ab_hdr_new();
}

double ab_fold_outside_cpu_ns(const struct ab_fold *f, const struct ab_phase_report *r)
{
    return (double)r->canary_ticks * f->clock->ns_per_tick + (double)r->outside_cpu_ns;
}

double ab_fold_busy_ns(const struct ab_fold *f, const struct ab_phase_report *r)
{
    double ns_per_tick = f->clock->ns_per_tick;
    double spent = r->is_crowded
                       ? fmax((double)r->thread_cpu_ns - ab_fold_outside_cpu_ns(f, r), 0)
                       : fmax((double)r->lane_ticks - (double)r->outside_ticks, 0) * ns_per_tick;
    double waits = r->is_crowded ? (double)r->awake_ticks * ns_per_tick + (double)r->asleep_cpu_ns
                                 : (double)r->wait_ticks * ns_per_tick;
    return spent > waits ? spent - waits : 0;
}
