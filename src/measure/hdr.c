/* SPDX-License-Identifier: MIT
 *
 * Geometry, merge and summaries of the histogram; recording is inline in hdr.h, the wire format
 * lies in hdr_encode.c and hdr_decode.c. Every figure is computed by one scan at report time, so
 * that recording has nothing to keep but the counters and two extremes.
 *
 * A value v lies in bucket e = floor(log2(v | 2047)) - 10 and in its sub-bucket v >> e; all
 * buckets but the first use only the upper half of their 2048 sub-buckets, so counters of
 * neighbouring buckets join without a gap: index = e * 1024 + (v >> e).
 */
#include "measure/hdr.h"

#include <math.h>
#include <string.h>

/* The smallest number of buckets that reaches the highest value, as HdrHistogram counts them. */
_Static_assert(((uint64_t)AB_HDR_SUB_BUCKETS << (AB_HDR_BUCKETS - 1)) > AB_HDR_HIGHEST,
               "the last bucket reaches the highest value");
_Static_assert(((uint64_t)AB_HDR_SUB_BUCKETS << (AB_HDR_BUCKETS - 2)) <= AB_HDR_HIGHEST,
               "and none is idle");
_Static_assert(AB_HDR_SUB_BUCKETS == 2 << AB_HDR_HALF_MAGNITUDE, "magnitude of half of them");

void ab_hdr_init(struct ab_hdr *h)
{
    memset(h, 0, sizeof *h);
    h->min = UINT64_MAX;
}

uint64_t ab_hdr_low(uint32_t i)
{
    if (i < AB_HDR_SUB_BUCKETS)
        return i;
    uint64_t half = AB_HDR_SUB_BUCKETS / 2;
    return ((i & (half - 1)) | half) << ((i >> AB_HDR_HALF_MAGNITUDE) - 1);
}

uint64_t ab_hdr_high(uint32_t i)
{
    return ab_hdr_low(i + 1) - 1;
}

/* Java's medianEquivalentValue: the middle of the counter, rounded up. */
static double midpoint(uint32_t i)
{
    uint64_t low = ab_hdr_low(i);
    return (double)(low + ((ab_hdr_low(i + 1) - low) >> 1));
}

void ab_hdr_merge(struct ab_hdr *dst, const struct ab_hdr *src)
{
    for (uint32_t i = 0; i < AB_HDR_COUNTS; i++)
        dst->counts[i] += src->counts[i];
    dst->overflow += src->overflow;
    dst->min = src->min < dst->min ? src->min : dst->min;
    dst->max = src->max > dst->max ? src->max : dst->max;
}

uint64_t ab_hdr_total(const struct ab_hdr *h)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < AB_HDR_COUNTS; i++)
        total += h->counts[i];
    return total;
}

double ab_hdr_mean(const struct ab_hdr *h)
{
    double sum = 0;
    uint64_t total = 0;
    for (uint32_t i = 0; i < AB_HDR_COUNTS; i++) {
        if (h->counts[i] == 0)
            continue;
        sum += midpoint(i) * (double)h->counts[i];
        total += h->counts[i];
    }
    return total == 0 ? (double)NAN : sum / (double)total;
}

double ab_hdr_stddev(const struct ab_hdr *h)
{
    double mean = ab_hdr_mean(h), squares = 0;
    for (uint32_t i = 0; i < AB_HDR_COUNTS; i++) {
        if (h->counts[i] == 0)
            continue;
        double d = midpoint(i) - mean;
        squares += d * d * (double)h->counts[i];
    }
    return isnan(mean) ? mean : sqrt(squares / (double)ab_hdr_total(h));
}

/* Java is asked for percentiles, "99.9", and we for 0.999, whose product with 100 may miss the
 * double nearest to 99.9 by an ulp: enough to select the next counter. So a q that is a decimal
 * fraction becomes exactly the percentile that the same decimals would have been read as. */
static double percentile_of(double q)
{
    double percentile = q * 100;
    double decimal = round(q * 1e12) / 1e10;
    return fabs(decimal - percentile) <= 4e-16 * percentile ? decimal : percentile;
}

uint64_t ab_hdr_quantile(const struct ab_hdr *h, double q)
{
    uint64_t total = ab_hdr_total(h);
    if (total == 0)
        return 0;
    /* One ulp down, as in Java: rounding must not carry an exact rank into the next counter. */
    double below = nextafter(percentile_of(q), -INFINITY);
    double wanted = below > 0 ? ceil(fmin(below, 100) / 100 * (double)total) : 1;
    uint64_t rank = wanted >= (double)total ? total : (uint64_t)wanted;
    rank = rank < 1 ? 1 : rank;
    uint32_t i = 0;
    for (uint64_t seen = h->counts[0]; seen < rank && i + 1 < AB_HDR_COUNTS;)
        seen += h->counts[++i];
    return q > 0 ? ab_hdr_high(i) : ab_hdr_low(i);
}
