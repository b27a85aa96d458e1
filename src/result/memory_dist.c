/* SPDX-License-Identifier: MIT
 *
 * Expands memory_dists.def, and reads the quantiles of distributions. Quantiles are weighted by
 * ops, but their reliability depends on the number of samples.
 */
#include "result/memory_dist.h"

#include <math.h>
#include <stdio.h>

const struct ab_memory_dist_kind_info ab_memory_dists[AB_DIST_COUNT] = {
#define AB_MEMORY_DIST(id, n, u, s, d) [AB_DIST_##id] = {.name = n, .unit = u, .doc = d, .step = s},
#include "result/memory_dists.def"
#undef AB_MEMORY_DIST
};

const char *const ab_memory_dist_names[] = {
#define AB_MEMORY_DIST(id, n, u, s, d) [AB_DIST_##id] = n,
#include "result/memory_dists.def"
#undef AB_MEMORY_DIST
    NULL};

const char *const ab_dist_stat_names[AB_DIST_STATS] = {"p50", "p90", "p99", "max"};
static const double quantiles[AB_DIST_STATS] = {0.5, 0.9, 0.99, 1};
static const double covered_least = 0.9;

static bool is_covered(const struct ab_memory_dist *d)
{
    return d->hdr != NULL && d->n_ops > 0 &&
           (double)ab_hdr_total(d->hdr) >= covered_least * (double)d->n_ops;
}

static double samples_needed(unsigned stat)
{
    return stat == AB_DIST_MAX ? 1 : AB_QUANTILE_MIN_SAMPLES_BEHIND / (1 - quantiles[stat]);
}

/* True if there are enough samples for the figure, or if each op was a sample, so that it is
 * exact. */
static bool is_sampled(const struct ab_memory_dist *d, unsigned stat)
{
    const double rounding = 1e-6;
    return d->n_samples >= ab_hdr_total(d->hdr) ||
           (double)d->n_samples >= samples_needed(stat) - rounding;
}

double ab_memory_dist_value(const struct ab_memory_dist *d, unsigned stat)
{
    if (!is_covered(d) || !is_sampled(d, stat) || d->hdr->overflow > 0)
        return NAN;
    uint64_t value = stat == AB_DIST_MAX ? d->hdr->max : ab_hdr_quantile(d->hdr, quantiles[stat]);
    /* a counter may cover values above the largest one that was recorded */
    value = value < d->hdr->max ? value : d->hdr->max;
    return (double)value * ab_memory_dists[d->kind].step;
}

void ab_memory_dist_why(const struct ab_memory_dist *d, unsigned stat, char *buf, size_t cap)
{
    uint64_t known = d->hdr != NULL ? ab_hdr_total(d->hdr) : 0;
    buf[0] = 0;
    if (!isnan(ab_memory_dist_value(d, stat)))
        return;
    if (d->reason[0] != 0 || known == 0)
        snprintf(buf, cap, "%s", d->reason[0] != 0 ? d->reason : "not measured");
    else if (d->hdr->overflow > 0)
        snprintf(buf, cap, "larger than can be kept");
    else if (!is_covered(d))
        snprintf(buf, cap, "known for %.0f %% of the ops only",
                 floor(100 * (double)known / (double)d->n_ops));
    else
        snprintf(buf, cap, "%s needs %.0f samples, there are %llu", ab_dist_stat_names[stat],
                 samples_needed(stat), (unsigned long long)d->n_samples);
}

struct ab_hdr *ab_memory_dist_histogram(void)
{
    return ab_hdr_new();
}

void ab_memory_dist_add(struct ab_memory_dist *d, double value, uint64_t n)
{
    double units = nearbyint(value / ab_memory_dists[d->kind].step);
    if (!(units >= 0) || n == 0)
        return;
    if (units > (double)AB_HDR_HIGHEST) {
        d->hdr->overflow += n;
        return;
    }
    ab_hdr_record(d->hdr, (uint64_t)units);
    d->hdr->counts[ab_hdr_index((uint64_t)units)] += n - 1;
    d->n_samples++;
}
