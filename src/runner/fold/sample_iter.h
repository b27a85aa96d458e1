/* SPDX-License-Identifier: MIT
 *
 * The timed ops of a latency pass, one after the other. Whoever folds them (into kinds, sizes,
 * windows) walks them here, so that all agree on which ops belong to the fair sample of all kinds.
 */
#ifndef AB_RUNNER_FOLD_SAMPLE_ITER_H
#define AB_RUNNER_FOLD_SAMPLE_ITER_H

#include "base/rng.h"
#include "runner/fold/fold_common.h"

struct ab_sample {
    uint32_t position; /* in the tape */
    unsigned kind;
    unsigned size_log2; /* of its class, < AB_SIZE_CLASS_COUNT */
    uint64_t ns;        /* UINT64_MAX: longer than could be stored; histograms count an overflow */
    bool is_fair;       /* of the sample in which every op of the phase is equally likely */
    bool is_left_out;   /* something else used the core, and enough others were quiet */
};

struct ab_samples {
    const struct ab_fold *f;
    const struct ab_phase *phase;
    const struct ab_outcome *run;
    struct ab_rng rng;
    double base;
    uint32_t next;
    double quiet_share; /* of the phase's samples; NaN = not known */
    bool leaves_out;    /* those that were not quiet */
};

/* The walk is a matter of seed, round and phase alone: the same samples are fair each time. */
void ab_samples_begin(struct ab_samples *walk, const struct ab_fold *f,
                      const struct ab_phase *phase, const struct ab_outcome *run);
/* False after the last. What was the scheduler's is not among them; what is left out is, marked. */
bool ab_samples_next(struct ab_samples *walk, struct ab_sample *out);

#endif
