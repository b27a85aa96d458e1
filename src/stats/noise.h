/* SPDX-License-Identifier: MIT
 *
 * Noise levels: the difference that two identical back ends show on a machine. For each metric it
 * is the 95th percentile of |effect| over comparisons of a given number of rounds. The comparisons
 * are drawn from the pairs of a session that ran one back end under two names (bootstrap, Efron
 * 1979). Neither of the two is the new one, so the direction of each pair is drawn as well.
 */
#ifndef AB_STATS_NOISE_H
#define AB_STATS_NOISE_H

#include "result/result.h"

enum { AB_NOISE_MAX = 128, AB_NOISE_DRAWS = 1000 };

struct ab_noise_entry {
    char op[24],
        metric[40]; /* as gates spell them; the time of the whole run is op "all", metric "time" */
    double p95;     /* level of the metric as a fraction: 0.03 = 3 % */
};

struct ab_noise_levels {
    struct ab_noise_entry entries[AB_NOISE_MAX];
    uint32_t n;
    uint32_t rounds;   /* number of rounds of each comparison */
    uint32_t n_rounds; /* number of rounds that the calibration measured */
};

/* Measures the levels from the back ends `a` and `b` of the session. Leaves out counts, and metrics
 * that some phase lacks. If there are several phases, takes the one with the largest level. */
void ab_noise_measure(const struct ab_session *s, uint32_t a, uint32_t b, uint32_t rounds,
                      struct ab_noise_levels *out);
/* Returns the level of one metric from pairs x[i], y[i], each of one round; NaN with fewer than two
 * pairs. */
double ab_noise_of_pairs(const double *x, const double *y, uint32_t n, uint32_t rounds);

/* Returns the level of a metric for a comparison of `rounds` rounds. For fewer rounds than were
 * calibrated, the level is larger by the square root of the ratio. An op that was not calibrated
 * gets the level of the noisiest op. NaN = not known. */
double ab_noise_of(const struct ab_noise_levels *noise, const char *op, const char *metric,
                   uint32_t rounds);

#endif
