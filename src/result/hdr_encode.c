/* SPDX-License-Identifier: MIT
 *
 * Writes a histogram as V2 text, byte for byte like HdrHistogram for Java 2.1. This means zlib at
 * level 9, a single zero as 0x00 and not as a run of one, and counters only up to that of the
 * maximum. Because the bytes are equal, every tool and test can compare histograms as strings.
 */
#include "core/alloc.h"
#include "result/hdr.h"
#include "result/hdr_v2.h"

#include <stdlib.h>
#include <zlib.h>

static uint8_t *put_u32(uint8_t *p, uint32_t v)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        *p++ = (uint8_t)(v >> shift);
    return p;
}

static uint8_t *put_u64(uint8_t *p, uint64_t v)
{
    return put_u32(put_u32(p, (uint32_t)(v >> 32)), (uint32_t)v);
}

static uint8_t *put_zigzag(uint8_t *p, int64_t value)
{
    uint64_t v = ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);
    for (int i = 0; i < AB_HDR_V2_LEB_MAX - 1; i++) {
        if (v < 0x80) {
            *p++ = (uint8_t)v;
            return p;
        }
        *p++ = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    *p++ = (uint8_t)v;
    return p;
}

static uint8_t *put_counts(uint8_t *p, const struct ab_hdr *h)
{
    uint32_t n = ab_hdr_end(h);
    n = n > 0 ? n : 1;
    while (n > 1 && h->counts[n - 1] == 0)
        n--;
    for (uint32_t i = 0; i < n;) {
        if (h->counts[i] != 0) {
            p = put_zigzag(p, (int64_t)h->counts[i++]);
            continue;
        }
        int64_t zeroes = 0;
        while (i < n && h->counts[i] == 0) {
            zeroes++;
            i++;
        }
        p = put_zigzag(p, zeroes == 1 ? 0 : -zeroes);
    }
    return p;
}

/* Writes header and payload; p needs AB_HDR_V2_BYTES_MAX bytes. Returns the number of bytes
 * written. */
static size_t put_histogram(uint8_t *p, const struct ab_hdr *h)
{
    uint8_t *end = put_counts(p + AB_HDR_V2_HEADER_BYTES, h);
    size_t n = (size_t)(end - p);
    p = put_u32(p, AB_HDR_V2_COOKIE);
    p = put_u32(p, (uint32_t)(n - AB_HDR_V2_HEADER_BYTES));
    p = put_u32(p, 0);
    p = put_u32(p, AB_HDR_DIGITS);
    p = put_u64(p, 1);
    p = put_u64(p, AB_HDR_HIGHEST);
    put_u64(p, AB_HDR_V2_RATIO);
    return n;
}

void ab_hdr_base64(char *dst, const uint8_t *src, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)src[i] << 16;
        v |= i + 1 < n ? (uint32_t)src[i + 1] << 8 : 0;
        v |= i + 2 < n ? src[i + 2] : 0;
        *dst++ = digits[v >> 18];
        *dst++ = digits[v >> 12 & 63];
        *dst++ = i + 1 < n ? digits[v >> 6 & 63] : '=';
        *dst++ = i + 2 < n ? digits[v & 63] : '=';
    }
    *dst = 0;
}

/* True if no counter needs the 64th bit, nor does their sum. Readers count in signed 64 bits. */
static bool counts_fit(const struct ab_hdr *h)
{
    uint64_t total = 0;
    for (uint32_t i = ab_hdr_first(h), end = ab_hdr_end(h); i < end; i++) {
        if (h->counts[i] > (uint64_t)INT64_MAX - total)
            return false;
        total += h->counts[i];
    }
    return true;
}

enum ab_status ab_hdr_encode(const struct ab_hdr *h, char **out, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    uint8_t *plain = ab_alloc(AB_HDR_V2_BYTES_MAX);
    uint8_t *packed = ab_alloc(AB_HDR_V2_WRAPPER_BYTES + AB_HDR_V2_ZLIB_MAX);
    uLongf packed_bytes = AB_HDR_V2_ZLIB_MAX;
    if (!counts_fit(h)) {
        status = ab_fail(err, AB_INPUT, "a histogram holds more than 2^63 - 1 values");
        goto out;
    }
    size_t plain_bytes = put_histogram(plain, h);
    if (compress2(packed + AB_HDR_V2_WRAPPER_BYTES, &packed_bytes, plain, plain_bytes, 9) != Z_OK)
        ab_memory_end(plain_bytes); /* large enough for every histogram */
    put_u32(put_u32(packed, AB_HDR_V2_COOKIE_ZLIB), (uint32_t)packed_bytes);
    size_t bytes = AB_HDR_V2_WRAPPER_BYTES + packed_bytes;
    char *text = ab_alloc((bytes + 2) / 3 * 4 + 1);
    ab_hdr_base64(text, packed, bytes);
    *out = text;
out:
    free(packed);
    free(plain);
    return status;
}
