/* SPDX-License-Identifier: MIT
 *
 * Iterator over the timed ops of a latency pass. All code that groups samples (by kind, size or
 * window) uses it, so that all of it has the same fair sample of all kinds.
 */
#ifndef AB_RUNNER_FOLD_SAMPLES_H
#define AB_RUNNER_FOLD_SAMPLES_H

#include "base/rng.h"
#include "runner/fold.h"
#include "runner/run.h"

#include <stdbool.h>
#include <stdint.h>

struct ab_sample {
    uint32_t position; /* position of the op in the tape */
    unsigned kind;
    unsigned size_log2; /* size class, < AB_SIZE_CLASS_COUNT */
    uint64_t ns;        /* UINT64_MAX = too long to be stored; histograms count it as an overflow */
    /* True if the op is also in the fair sample, which has every op of the phase with the same
     * probability */
    bool is_fair;
    /* the sample must not be used, because something else used the core and enough other samples
     * were quiet */
    bool is_left_out;
};

struct ab_samples {
    const struct ab_fold *f;
    const struct ab_phase *phase;
    const struct ab_outcome *run;
    struct ab_rng rng;
    double base;
    uint32_t next;
    double quiet_share; /* fraction of the phase's samples that were quiet; NaN = not known */
    bool leaves_out;    /* mark samples that were not quiet as left out */
};

/* Starts iterating. The choice of fair samples depends only on seed, round and phase, so it is the
 * same each time. */
void ab_samples_begin(struct ab_samples *walk, const struct ab_fold *f,
                      const struct ab_phase *phase, const struct ab_outcome *run);
/* Gets the next sample; returns false after the last. Skips samples that the scheduler interrupted.
 * Samples that are left out are returned, marked as such. */
bool ab_samples_next(struct ab_samples *walk, struct ab_sample *out);

#endif
