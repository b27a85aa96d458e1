/* SPDX-License-Identifier: MIT
 *
 * Iterates over the samples of a run. Positions come from the parent and ascend. Ticks and classes
 * come from the worker and are trusted only within their bounds.
 */
#include "runner/fold_samples.h"

#include "base/search.h"
#include "runner/sampling.h"

#include <math.h>

static uint32_t first_at(const struct ab_outcome *run, uint32_t position)
{
    return (uint32_t)AB_SEARCH(i, run->n_samples, run->positions[i] < position);
}

static bool is_timed(const struct ab_outcome *run, uint32_t i)
{
    return ab_fold_is_served(run, run->kinds[i]) && run->ticks[i] != 0 &&
           run->ticks[i] != AB_TICKS_SCHEDULER;
}

/* Counts the quiet samples of the phase. All kinds together decide whether samples that were not
 * quiet are left out. */
static void count_quiet(struct ab_samples *walk)
{
    const struct ab_outcome *run = walk->run;
    uint64_t n = 0, n_quiet = 0;
    walk->quiet_share = NAN;
    if (run->is_quiet == NULL)
        return;
    for (uint32_t i = walk->next; i < run->n_samples && run->positions[i] < walk->phase->end; i++) {
        n += is_timed(run, i);
        n_quiet += is_timed(run, i) && run->is_quiet[i];
    }
    walk->quiet_share = n > 0 ? (double)n_quiet / (double)n : NAN;
    walk->leaves_out = ab_samples_suffice(n_quiet, n);
}

void ab_samples_begin(struct ab_samples *walk, const struct ab_fold *f,
                      const struct ab_phase *phase, const struct ab_outcome *run)
{
    *walk = (struct ab_samples){.f = f,
                                .phase = phase,
                                .run = run,
                                .base = ab_sampling_base(phase),
                                .next = first_at(run, phase->begin)};
    ab_rng_init(&walk->rng, f->session->seed, (uint64_t)f->round << 32 | phase->begin);
    count_quiet(walk);
}

bool ab_samples_next(struct ab_samples *walk, struct ab_sample *out)
{
    const struct ab_outcome *run = walk->run;
    while (walk->next < run->n_samples && run->positions[walk->next] < walk->phase->end) {
        uint32_t i = walk->next++, stored = run->ticks[i];
        unsigned kind = run->kinds[i];
        if (!is_timed(run, i))
            continue;
        double rate = ab_sampling_rate(walk->phase, kind);
        unsigned log2 = run->classes != NULL ? run->classes[i] : 0;
        *out = (struct ab_sample){
            .position = run->positions[i],
            .kind = kind,
            .size_log2 = log2 < AB_SIZE_CLASS_COUNT ? log2 : AB_SIZE_CLASS_COUNT - 1,
            .ns = stored == AB_TICKS_OVERFLOW ? UINT64_MAX : ab_fold_ns(walk->f, stored - 1),
            .is_fair = ab_rng_unit(&walk->rng) * rate < walk->base,
            .is_left_out = walk->leaves_out && !run->is_quiet[i],
        };
        return true;
    }
    return false;
}
