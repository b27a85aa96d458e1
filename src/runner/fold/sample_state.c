/* SPDX-License-Identifier: MIT
 *
 * From slices to samples. The worker is believed within bounds only.
 */
#include "runner/fold/sample_state.h"

#include "core/memory.h"

#include <stdlib.h>

static bool is_slice_quiet(const struct ab_slice *slice, uint16_t limit)
{
    return slice->before <= limit && slice->after <= limit && slice->n_preempted == 0;
}

void ab_sample_states(struct ab_outcome *run, uint16_t limit)
{
    uint32_t n = run->page->report.slices.n, at = 0;
    n = n < run->cap_slices ? n : run->cap_slices;
    if (n == 0)
        return;
    run->is_quiet = ab_alloc_zeroed((size_t)run->n_samples + 1, sizeof run->is_quiet[0]);
    for (uint32_t i = 0; i < n; i++) {
        bool is_quiet = is_slice_quiet(&run->slices[i], limit);
        uint32_t end = run->slices[i].samples_end;
        for (; at < end && at < run->n_samples; at++)
            run->is_quiet[at] = is_quiet;
    }
}
