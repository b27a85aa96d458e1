/* SPDX-License-Identifier: MIT
 *
 * Geometry, merging and summaries of the histogram. Recording is inline in hdr.h; the wire format
 * is in hdr_encode.c and hdr_decode.c. Every figure is computed by one scan at report time, so that
 * recording only updates counters and two extremes.
 *
 * A value v belongs to bucket e = floor(log2(v | 2047)) - 10 and to its sub-bucket v >> e. All
 * buckets except the first use only the upper half of their 2048 sub-buckets. Counters of
 * neighbouring buckets therefore join without a gap: index = e * 1024 + (v >> e).
 */
#include "result/hdr.h"

#include "core/alloc.h"

#include <malloc.h>
#include <math.h>
#include <string.h>

/* AB_HDR_BUCKETS is the smallest number that reaches the highest value, as HdrHistogram counts
 * buckets. */
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

/* Allocates zeroed pages without touching them. glibc maps large blocks one by one with zeroed
 * pages. When such a block is freed, it raises its threshold for large blocks. calloc would then
 * take the next block from the heap and clear all of it; for a result with 33,000 histograms that
 * would be 7 GB. Setting the threshold here prevents the change. */
struct ab_hdr *ab_hdr_new(void)
{
    static bool is_set;
    if (!is_set)
        mallopt(M_MMAP_THRESHOLD, 128 << 10);
    is_set = true;
    struct ab_hdr *h = ab_alloc_zeroed(1, sizeof *h);
    h->min = UINT64_MAX;
    return h;
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

/* Returns the middle of a counter, rounded up (Java's medianEquivalentValue). */
static double midpoint(uint32_t i)
{
    uint64_t low = ab_hdr_low(i);
    return (double)(low + ((ab_hdr_low(i + 1) - low) >> 1));
}

void ab_hdr_merge(struct ab_hdr *dst, const struct ab_hdr *src)
{
    for (uint32_t i = ab_hdr_first(src), end = ab_hdr_end(src); i < end; i++)
        dst->counts[i] += src->counts[i];
    dst->overflow += src->overflow;
    dst->min = src->min < dst->min ? src->min : dst->min;
    dst->max = src->max > dst->max ? src->max : dst->max;
}

uint64_t ab_hdr_total(const struct ab_hdr *h)
{
    uint64_t total = 0;
    for (uint32_t i = ab_hdr_first(h), end = ab_hdr_end(h); i < end; i++)
        total += h->counts[i];
    return total;
}

double ab_hdr_mean(const struct ab_hdr *h)
{
    double sum = 0;
    uint64_t total = 0;
    for (uint32_t i = ab_hdr_first(h), end = ab_hdr_end(h); i < end; i++) {
        if (h->counts[i] == 0)
            continue;
        sum += midpoint(i) * (double)h->counts[i];
        total += h->counts[i];
    }
    return total == 0 ? (double)NAN : sum / (double)total;
}

double ab_hdr_trimmed_mean(const struct ab_hdr *h, double share)
{
    const double n = (double)ab_hdr_total(h), low = share * n, high = n - low;
    double sum = 0, seen = 0;
    for (uint32_t i = ab_hdr_first(h), end = ab_hdr_end(h); i < end; i++) {
        const double from = fmax(seen, low), to = fmin(seen + (double)h->counts[i], high);
        seen += (double)h->counts[i];
        if (to > from)
            sum += midpoint(i) * (to - from);
    }
    return n > 0 ? sum / (high - low) : (double)NAN;
}

double ab_hdr_stddev(const struct ab_hdr *h)
{
    double mean = ab_hdr_mean(h), squares = 0;
    for (uint32_t i = ab_hdr_first(h), end = ab_hdr_end(h); i < end; i++) {
        if (h->counts[i] == 0)
            continue;
        double d = midpoint(i) - mean;
        squares += d * d * (double)h->counts[i];
    }
    return isnan(mean) ? mean : sqrt(squares / (double)ab_hdr_total(h));
}

/* Returns ceil(q·n), at least 1. The double nearest to q may be above q, and the product may be
 * rounded up, so that an exact rank would slip into the next counter. Java goes one ulp down before
 * it multiplies. Java takes percentiles and this function takes fractions, which costs one more
 * rounding, hence two ulps. Both give the exact rank: they were compared for all percentiles with
 * two decimals and n up to 2 million, and this function was checked for all q = k/n with n <
 * 4000. */
static uint64_t rank_of(double q, uint64_t total)
{
    double rank = ceil(q * (double)total * (1 - 0x1p-51));
    if (!(rank > 1)) /* true if q is NaN as well */
        return 1;
    return rank >= (double)total ? total : (uint64_t)rank;
}

uint64_t ab_hdr_quantile(const struct ab_hdr *h, double q)
{
    uint64_t total = ab_hdr_total(h);
    if (total == 0)
        return 0;
    uint32_t i = ab_hdr_first(h);
    uint64_t rank = rank_of(q, total), seen = h->counts[i];
    /* ends, because all counters add up to `total`, which `rank` does not exceed */
    while (seen < rank)
        seen += h->counts[++i];
    return q > 0 ? ab_hdr_high(i) : ab_hdr_low(i);
}
