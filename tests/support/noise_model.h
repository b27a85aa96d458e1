/* SPDX-License-Identifier: MIT
 *
 * Made-up rounds of two back ends, noisy as measured machines are, of which the true difference is
 * known: what the statistics say about them can be held to it.
 */
#ifndef AB_TESTS_NOISE_MODEL_H
#define AB_TESTS_NOISE_MODEL_H

#include "base/rng.h"
#include "stats/effect.h"

#include <stdbool.h>

/* Of logarithms: a number is exp(round + run + drift + spike). */
struct noise_model {
    const char *name;
    double round;       /* standard deviation of what both runs of a round have in common */
    double run;         /* … of each run by itself */
    double drift;       /* … of a step from run to run that stays */
    double spike_share; /* runs that are hit by something else … */
    double spike_mean;  /* … and what it adds, exponentially distributed */
};

extern const struct noise_model noise_shared_runner; /* throughput, p50 */
extern const struct noise_model noise_far_tail;      /* p99.9 */

enum { NOISE_ROUNDS_MAX = 4096 };

/* Rounds of both, each round in random order. `ratio` is the true one, new by base. */
void noise_pairs(const struct noise_model *model, struct ab_rng *rng, double ratio, uint32_t n,
                 double *base, double *now);
/* First all of the base, then all of the new one, as two results are measured. */
void noise_samples(const struct noise_model *model, struct ab_rng *rng, double ratio, uint32_t n,
                   double *base, double *now);

/* What is asked of an experiment of n rounds: how often does it say so? */
enum noise_question {
    NOISE_REGRESSED,  /* low > 1 and the effect beyond the limit: the rule of verdicts */
    NOISE_PROVEN,     /* low beyond the limit */
    NOISE_MEAN_RATIO, /* what is commonly done: mean by mean beyond the limit */
    NOISE_CLEAR,      /* the interval leaves 1 out */
    NOISE_COVERED,    /* the interval holds the true ratio */
};

struct noise_experiment {
    const struct noise_model *model;
    double ratio, limit;
    uint32_t n;
    bool is_paired;
};

/* In parts of `times` experiments. */
double noise_share(const struct noise_experiment *e, enum noise_question question, uint32_t times,
                   uint64_t seed);

/* Rounds from which on at least 80 % of experiments are clear; found by trying. */
uint32_t noise_rounds_for_power(const struct noise_experiment *e, uint32_t times, uint64_t seed);

struct noise_advice {
    uint32_t asked;    /* experiments that the limit left open, and that asked for more rounds */
    uint32_t too_many; /* … that asked for more than 1,000 */
    double decided;    /* of the others: the share that this many new rounds decided */
    double rounds;     /* … the median of what they asked for */
};
/* Of `times` experiments. */
struct noise_advice noise_follow_advice(const struct noise_experiment *e, uint32_t times,
                                        uint64_t seed);

/* Rounds until the bounds of the interval are within `precision` of the ratio, from the sixth on and
 * `most` at most: as --precision ends a session. */
struct noise_stop {
    double covered; /* share of the intervals that hold the true ratio */
    double reached; /* share of the experiments that ended before `most` */
    double rounds;  /* their median */
};
struct noise_stop noise_stop_at(const struct noise_experiment *e, double precision, uint32_t most,
                                uint32_t times, uint64_t seed);

/* Quartiles of what ab_effect_rounds_needed makes of e->n rounds, decided or not. */
void noise_estimated_rounds(const struct noise_experiment *e, uint32_t times, uint64_t seed,
                            double quartiles[3]);

#endif
