/* SPDX-License-Identifier: MIT
 *
 * Computes ranks by the normal approximation of the binomial law, and values from the histogram.
 */
#include "stats/rank/quantile_interval.h"

#include <math.h>

static const double z_90_percent = 1.645;

/* Returns the value of the sample with this rank, counted from 1. Samples that overflowed have the
 * highest ranks; for these, and for ranks that do not exist, returns NaN. */
static double sample_at(const struct ab_hdr *hdr, double rank, double recorded)
{
    if (!(rank >= 1) || rank > recorded)
        return NAN;
    return (double)ab_hdr_quantile(hdr, (rank - 0.5) / recorded);
}

struct ab_quantile_interval ab_quantile_interval(const struct ab_hdr *hdr, double q)
{
    double recorded = (double)ab_hdr_total(hdr), n = recorded + (double)hdr->overflow;
    double half = z_90_percent * sqrt(n * q * (1 - q));
    return (struct ab_quantile_interval){sample_at(hdr, floor(n * q - half), recorded),
                                         sample_at(hdr, ceil(n * q + half) + 1, recorded)};
}
