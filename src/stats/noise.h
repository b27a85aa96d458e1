/* SPDX-License-Identifier: MIT
 *
 * How far apart two identical back ends seem to be on a machine: of each metric the 95th percentile of
 * |effect| over comparisons of so many rounds. The comparisons are drawn from the pairs of a session
 * that ran one back end under two names (bootstrap, Efron 1979); which of a pair is called the new one
 * is drawn, too, for neither is.
 */
#ifndef AB_STATS_NOISE_H
#define AB_STATS_NOISE_H

#include "result/result.h"

enum { AB_NOISE_MAX = 128, AB_NOISE_DRAWS = 1000 };

struct ab_noise_entry {
    char op[24],
        metric[40]; /* as gates spell them; the whole run's time is op "all", metric "time" */
    double p95;     /* 0.03 = 3 % */
};

struct ab_noise_levels {
    struct ab_noise_entry entries[AB_NOISE_MAX];
    uint32_t n;
    uint32_t rounds;   /* of a comparison */
    uint32_t n_rounds; /* that were measured */
};

/* From the back ends `a` and `b` of the session; metrics that some phase lacks, or that are counts of
 * the work, are left out. Of several phases the noisiest counts. */
void ab_noise_measure(const struct ab_session *s, uint32_t a, uint32_t b, uint32_t rounds,
                      struct ab_noise_levels *out);
/* The same for numbers of one metric, x[i] and y[i] of one round; NaN below two such pairs. */
double ab_noise_of_pairs(const double *x, const double *y, uint32_t n, uint32_t rounds);

/* The p95 of a metric where `rounds` are compared: with fewer than were calibrated it is larger by the
 * root of their ratio. An op that was not calibrated has the noise of the noisiest that was. NaN =
 * not known. */
double ab_noise_of(const struct ab_noise_levels *noise, const char *op, const char *metric,
                   uint32_t rounds);

#endif
