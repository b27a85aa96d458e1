/* SPDX-License-Identifier: MIT
 *
 * High dynamic range histogram: 1 ns … 60 s, three significant digits, exact merge. This is an
 * implementation of our own, because Debian 12 has no package of one in C, and because recording is
 * the core of what allocbench does. Geometry, quantile rule and the V2 encoding are those of
 * HdrHistogram for Java 2.1 (Gil Tene, public domain), byte for byte; see hdr.c for each formula.
 *
 * The caller provides the memory, for example pre-faulted shared memory; ab_hdr_init writes to all
 * of it.
 */
#ifndef AB_RESULT_HDR_H
#define AB_RESULT_HDR_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    AB_HDR_DIGITS = 3,
    AB_HDR_SUB_BUCKETS = 2048, /* smallest power of two ≥ 2·10^digits */
    AB_HDR_HALF_MAGNITUDE = 10,
    AB_HDR_BUCKETS = 26,
    AB_HDR_COUNTS = (AB_HDR_BUCKETS + 1) * (AB_HDR_SUB_BUCKETS / 2), /* 27,648 */
};
#define AB_HDR_HIGHEST UINT64_C(60000000000) /* 60 s in ns */

struct ab_hdr {
    uint64_t overflow; /* number of values above AB_HDR_HIGHEST; these are in no counter */
    /* exact values; min = UINT64_MAX if the histogram is empty. The V2 format does not store
     * them */
    uint64_t min, max;
    uint64_t counts[AB_HDR_COUNTS];
};

void ab_hdr_init(struct ab_hdr *h);
/* Returns an empty histogram, which the caller frees. Its pages stay untouched until a value is
 * recorded, because most histograms use only a few of their 216 KiB. */
struct ab_hdr *ab_hdr_new(void);

static inline uint32_t ab_hdr_index(uint64_t v)
{
    unsigned e = (63u ^ (unsigned)__builtin_clzll(v | (AB_HDR_SUB_BUCKETS - 1))) -
                 AB_HDR_HALF_MAGNITUDE;
    return (uint32_t)((e << AB_HDR_HALF_MAGNITUDE) + (v >> e));
}

static inline void ab_hdr_record(struct ab_hdr *h, uint64_t v)
{
    if (__builtin_expect(v > AB_HDR_HIGHEST, 0)) {
        h->overflow++;
        return;
    }
    h->counts[ab_hdr_index(v)]++;
    /* Branches are used because both cases are rare; a conditional move would store each time. */
    if (__builtin_expect(v < h->min, 0))
        h->min = v;
    if (__builtin_expect(v > h->max, 0))
        h->max = v;
}

/* Return the range [ab_hdr_first, ab_hdr_end) that contains all counters above 0. The rest of the
 * histogram, 200 KiB and more, need not be read. In an empty histogram, first equals end. */
static inline uint32_t ab_hdr_end(const struct ab_hdr *h)
{
    if (h->min > h->max)
        return 0;
    uint32_t last = ab_hdr_index(h->max);
    return last < AB_HDR_COUNTS ? last + 1 : AB_HDR_COUNTS;
}

static inline uint32_t ab_hdr_first(const struct ab_hdr *h)
{
    return h->min > h->max ? 0 : ab_hdr_index(h->min);
}

/* Return the lowest and the highest value that counter i covers. */
uint64_t ab_hdr_low(uint32_t i);
uint64_t ab_hdr_high(uint32_t i);

/* Adds the counts of `src` to `dst`, without loss. */
void ab_hdr_merge(struct ab_hdr *dst, const struct ab_hdr *src);

/* Returns the number of values in the counters, without overflow. */
uint64_t ab_hdr_total(const struct ab_hdr *h);
/* Returns the mean, computed from the middles of the counters, as in Java; NaN if empty. */
double ab_hdr_mean(const struct ab_hdr *h);
/* Returns the mean without the lowest and the highest `share` of the values, so that a few readings
 * that were interrupted do not count. NaN if empty. */
double ab_hdr_trimmed_mean(const struct ab_hdr *h, double share);
double ab_hdr_stddev(const struct ab_hdr *h);

/* Returns the quantile by Java's rule: the highest value of the first counter whose cumulative
 * count reaches max(1, ceil(q·n)). q is in [0, 1]; for 0 the result is the lowest value of that
 * counter. Returns 0 if the histogram is empty; callers then print "-". The exact extremes are
 * h->min and h->max. */
uint64_t ab_hdr_quantile(const struct ab_hdr *h, double q);

/* Encodes a histogram as V2, compressed with zlib at level 9, in base64. *out receives a malloc'ed
 * string that starts with "HISTFA". */
enum ab_status ab_hdr_encode(const struct ab_hdr *h, char **out, struct ab_err *err);

/* Encodes as base64 of RFC 4648, with padding. dst needs (n + 2) / 3 * 4 + 1 bytes. */
void ab_hdr_base64(char *dst, const uint8_t *src, size_t n);

/* Reads a histogram in V2, compressed or not, from untrusted text. Accepts 3 significant digits, a
 * lowest value of 1 and any highest trackable value, but no recorded value above our last counter.
 * Returns AB_INPUT for anything else. V2 does not store the extremes: min and max become the outer
 * edges of the first and last counter in use. max may therefore exceed 60 s by less than 1 in 1000.
 * overflow becomes 0. */
enum ab_status ab_hdr_decode(const char *base64, struct ab_hdr *out, struct ab_err *err);

/* Working memory for decoding many histograms; the caller frees it. */
struct ab_hdr_room;
struct ab_hdr_room *ab_hdr_room_new(void);
/* Decodes like ab_hdr_decode, into a histogram that is empty. After an error the histogram is empty
 * again. If it comes from ab_hdr_new, only the pages with counters in use are touched. */
enum ab_status ab_hdr_decode_into_empty(const char *base64, struct ab_hdr *empty,
                                        struct ab_hdr_room *room, struct ab_err *err);

#endif
