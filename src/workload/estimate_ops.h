/* SPDX-License-Identifier: MIT
 *
 * How large a tape becomes, before it is made and while it grows, and what it can never reach. A
 * typing error such as iters(1e12) must end in a sentence with the figure, not in an hour of work or
 * the kernel's out-of-memory killer.
 */
#ifndef AB_WORKLOAD_ESTIMATE_OPS_H
#define AB_WORKLOAD_ESTIMATE_OPS_H

#include "workload/config.h"

/* At least that many ops, saturating: what `all`, `fraction` and empty positions leave open counts
 * as nothing. */
uint64_t ab_estimate_phase_ops(const struct ab_workload *w, const struct ab_phase_def *phase);
uint64_t ab_estimate_ops(const struct ab_workload *w);

/* The largest size that verbs of the phase may request; 0 = they request none. */
uint64_t ab_estimate_phase_largest(const struct ab_workload *w, const struct ab_phase_def *phase);
/* No more bytes than that are ever live: as many blocks as all sets hold, each of the largest size.
 * Saturating. */
uint64_t ab_estimate_most_live(const struct ab_workload *w);

/* What a tape may have: the format's limit, or what fits in half of the available memory beside
 * the live sets of w. */
uint64_t ab_estimate_max_ops(const struct ab_workload *w);

#endif
