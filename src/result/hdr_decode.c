/* SPDX-License-Identifier: MIT
 *
 * Reads V2 text from files that others may have written, so nothing in it is trusted. Every length
 * is checked before it is used, and inflation stops at the largest histogram that we can store. The
 * caller's histogram is written only if everything is valid.
 *
 * A histogram may come from other tools. Any highest value is accepted, if unit and digits are ours
 * and no counter lies beyond ours. The offset and the ratio in the header are ignored: some writers
 * store 1 in place of the offset 0 or of the bits of the ratio 1.0, and Java's reader ignores both
 * too. The exact extremes are not in V2, so min and max become the outer edges of the first and the
 * last counter in use.
 */
#include "result/hdr_v2.h"

#include "core/alloc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* The bytes that are not read yet. */
struct span {
    const uint8_t *p;
    size_t n;
};

/* Reads a big-endian number. Callers must have checked that the span has enough bytes. */
static uint32_t take_u32(struct span *s)
{
    uint32_t v = (uint32_t)s->p[0] << 24 | (uint32_t)s->p[1] << 16 | (uint32_t)s->p[2] << 8 |
                 s->p[3];
    s->p += 4;
    s->n -= 4;
    return v;
}

static uint64_t take_u64(struct span *s)
{
    uint64_t high = take_u32(s);
    return high << 32 | take_u32(s);
}

static bool take_zigzag(struct span *s, int64_t *out)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < AB_HDR_V2_LEB_MAX; i++) {
        if (s->n == 0)
            return false;
        uint64_t byte = *s->p++;
        s->n--;
        v |= (i == AB_HDR_V2_LEB_MAX - 1 ? byte : byte & 0x7f) << (7 * i);
        if (byte < 0x80)
            break;
    }
    *out = (int64_t)(v >> 1 ^ (v & 1 ? UINT64_MAX : 0));
    return true;
}

/* ---- base64 ---- */

/* Returns 0…63, or -1 if the character is not a digit. */
static int digit_value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decodes base64 strictly: padded, no line breaks, unused bits zero. dst needs n / 4 * 3 bytes. */
static enum ab_status base64_decode(const char *text, size_t n, uint8_t *dst, size_t *bytes,
                                    struct ab_err *err)
{
    if (n == 0 || n % 4 != 0)
        return ab_fail(err, AB_INPUT, "a base64 histogram has %zu characters: %s", n,
                       n == 0 ? "none" : "not a multiple of 4");
    size_t padding = text[n - 1] != '=' ? 0 : text[n - 2] != '=' ? 1 : 2;
    uint32_t v = 0;
    uint8_t *p = dst;
    for (size_t i = 0; i < n; i++) {
        int digit = i >= n - padding ? 0 : digit_value(text[i]);
        if (digit < 0)
            return ab_fail(err, AB_INPUT,
                           "character %zu of a histogram is 0x%02x, which is not base64", i + 1,
                           (unsigned)(unsigned char)text[i]);
        v = v << 6 | (uint32_t)digit;
        if (i % 4 != 3)
            continue;
        *p++ = (uint8_t)(v >> 16);
        *p++ = (uint8_t)(v >> 8);
        *p++ = (uint8_t)v;
    }
    for (size_t i = 0; i < padding; i++)
        if (p[-1 - (ptrdiff_t)i] != 0)
            return ab_fail(err, AB_INPUT, "a histogram ends inside a base64 digit");
    *bytes = (size_t)(p - dst) - padding;
    return AB_OK;
}

/* ---- wrapper and header ---- */

static enum ab_status fail_cookie(struct ab_err *err, uint32_t cookie)
{
    static const struct {
        uint32_t base;
        const char *what;
    } known[] = {
        {0x1c849308, "an HdrHistogram in format V0"},
        {0x1c849309, "an HdrHistogram in format V0"},
        {0x1c849301, "an HdrHistogram in format V1"},
        {0x1c849302, "an HdrHistogram in format V1"},
        {0x0c72124e, "a DoubleHistogram"},
        {0x0c72124f, "a DoubleHistogram"},
    };
    const char *what = "not an HdrHistogram";
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if ((cookie & AB_HDR_V2_COOKIE_MASK) == known[i].base || cookie == known[i].base)
            what = known[i].what;
    return ab_fail(err, AB_INPUT,
                   "cookie 0x%08" PRIx32 " means %s; only integer histograms in format V2, "
                   "base64 that begins with HISTFA or HISTEw, can be read",
                   cookie, what);
}

static bool cookie_is(uint32_t cookie, uint32_t wanted)
{
    return (cookie & AB_HDR_V2_COOKIE_MASK) == (wanted & AB_HDR_V2_COOKIE_MASK);
}

/* Decompresses `in`, the bytes after the wrapper, to dst, which needs AB_HDR_V2_BYTES_MAX bytes. */
static enum ab_status inflate_all(struct span in, uint8_t *dst, size_t *bytes, struct ab_err *err)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)in.p,
                  .avail_in = (uInt)in.n,
                  .next_out = dst,
                  .avail_out = AB_HDR_V2_BYTES_MAX};
    int rc = inflateInit(&z);
    if (rc == Z_OK)
        rc = inflate(&z, Z_FINISH);
    if (rc == Z_MEM_ERROR)
        ab_memory_end(AB_HDR_V2_BYTES_MAX);
    enum ab_status status = AB_OK;
    if (rc != Z_STREAM_END && z.avail_out == 0)
        status = ab_fail(err, AB_INPUT, "a histogram inflates to more than %d bytes",
                         AB_HDR_V2_BYTES_MAX);
    else if (rc != Z_STREAM_END)
        status = ab_fail(err, AB_INPUT, "the zlib stream of a histogram is %s",
                         rc == Z_BUF_ERROR ? "cut short" : "corrupt");
    else if (z.avail_in != 0)
        status = ab_fail(err, AB_INPUT, "%u bytes follow the zlib stream of a histogram",
                         z.avail_in);
    else
        *bytes = z.total_out;
    inflateEnd(&z);
    return status;
}

/* Returns the number of counters that a histogram with our unit and digits needs for values up to
 * `highest`; at most the number of ours. */
static uint32_t counts_up_to(uint64_t highest)
{
    uint32_t buckets = 1;
    while (buckets < AB_HDR_BUCKETS && (uint64_t)AB_HDR_SUB_BUCKETS << (buckets - 1) <= highest)
        buckets++;
    return (buckets + 1) * (AB_HDR_SUB_BUCKETS / 2);
}

/* Reads the header. Afterwards *s is the payload, and *cap_counts the number of counters that the
 * payload may fill. */
static enum ab_status take_header(struct span *s, uint32_t *cap_counts, struct ab_err *err)
{
    if (s->n < AB_HDR_V2_HEADER_BYTES)
        return ab_fail(err, AB_INPUT, "a histogram has %zu bytes, its header alone needs %d", s->n,
                       AB_HDR_V2_HEADER_BYTES);
    uint32_t cookie = take_u32(s);
    if (!cookie_is(cookie, AB_HDR_V2_COOKIE))
        return fail_cookie(err, cookie);
    uint32_t payload = take_u32(s);
    take_u32(s); /* skips the normalizing index offset */
    uint32_t digits = take_u32(s);
    uint64_t lowest = take_u64(s), highest = take_u64(s);
    take_u64(s); /* ratio */
    if (digits != AB_HDR_DIGITS || lowest != 1)
        return ab_fail(err, AB_INPUT,
                       "a histogram has %" PRIu32 " digits from %" PRIu64 " ns on; only %d digits "
                       "from 1 ns on can be read",
                       digits, lowest, AB_HDR_DIGITS);
    if (highest < 2 || highest > UINT64_C(1) << 62)
        return ab_fail(err, AB_INPUT,
                       "the highest value of a histogram is %" PRIu64 ", allowed are 2 to 2^62",
                       highest);
    if (payload != s->n)
        return ab_fail(err, AB_INPUT,
                       "a histogram declares %" PRIu32 " bytes of counters and has "
                       "%zu",
                       payload, s->n);
    *cap_counts = counts_up_to(highest);
    return AB_OK;
}

/* ---- counters ---- */

static enum ab_status check_counts(struct span s, uint32_t cap, struct ab_err *err)
{
    uint32_t i = 0;
    uint64_t total = 0;
    while (s.n > 0) {
        int64_t v;
        if (!take_zigzag(&s, &v))
            return ab_fail(err, AB_INPUT, "the last counter of a histogram is cut short");
        uint64_t run = v < 0 ? 0 - (uint64_t)v : 1;
        if (run > cap - i)
            return ab_fail(err, AB_INPUT,
                           "a histogram has values above its highest or above 60 s "
                           "(more than %" PRIu32 " counters)",
                           cap);
        if (v > INT64_MAX - (int64_t)total)
            return ab_fail(err, AB_INPUT, "a histogram holds more than 2^63 - 1 values");
        total += v > 0 ? (uint64_t)v : 0;
        i += (uint32_t)run;
    }
    return AB_OK;
}

/* Adds the counters of a span that find_counts has checked. */
static void take_counts(struct span s, struct ab_hdr *h)
{
    for (uint32_t i = 0; s.n > 0;) {
        int64_t v = 0;
        take_zigzag(&s, &v);
        if (v > 0) {
            h->counts[i] = (uint64_t)v;
            h->min = h->min == UINT64_MAX ? ab_hdr_low(i) : h->min;
            h->max = ab_hdr_high(i);
        }
        i += v < 0 ? (uint32_t)(0 - (uint64_t)v) : 1;
    }
}

/* Turns *s from the decoded base64 into the span of counters, and checks the counters. `plain` is a
 * buffer of AB_HDR_V2_BYTES_MAX bytes for decompressing. */
static enum ab_status find_counts(struct span *s, uint8_t *plain, struct ab_err *err)
{
    if (s->n < AB_HDR_V2_WRAPPER_BYTES)
        return ab_fail(err, AB_INPUT, "a histogram has only %zu bytes", s->n);
    struct span peek = *s;
    uint32_t cookie = take_u32(&peek);
    if (cookie_is(cookie, AB_HDR_V2_COOKIE_ZLIB)) {
        uint32_t promised = take_u32(&peek);
        if (promised != peek.n)
            return ab_fail(err, AB_INPUT,
                           "a histogram declares %" PRIu32 " compressed bytes and "
                           "has %zu",
                           promised, peek.n);
        s->p = plain;
        enum ab_status status = inflate_all(peek, plain, &s->n, err);
        if (status != AB_OK)
            return status;
    } else if (!cookie_is(cookie, AB_HDR_V2_COOKIE)) {
        return fail_cookie(err, cookie);
    }
    uint32_t cap_counts = 0;
    enum ab_status status = take_header(s, &cap_counts, err);
    return status != AB_OK ? status : check_counts(*s, cap_counts, err);
}

struct ab_hdr_room {
    uint8_t raw[AB_HDR_V2_TEXT_MAX / 4 * 3], plain[AB_HDR_V2_BYTES_MAX];
};

struct ab_hdr_room *ab_hdr_room_new(void)
{
    return ab_alloc(sizeof(struct ab_hdr_room));
}

/* Decodes base64 and header. *out is the checked span of counters. */
static enum ab_status decode(const char *base64, struct ab_hdr_room *room, struct span *out,
                             struct ab_err *err)
{
    size_t n = strnlen(base64, AB_HDR_V2_TEXT_MAX + 1), bytes = 0;
    if (n > AB_HDR_V2_TEXT_MAX)
        return ab_fail(err, AB_INPUT, "a histogram has more than %d characters of base64",
                       AB_HDR_V2_TEXT_MAX);
    enum ab_status status = base64_decode(base64, n, room->raw, &bytes, err);
    *out = (struct span){room->raw, bytes};
    return status != AB_OK ? status : find_counts(out, room->plain, err);
}

enum ab_status ab_hdr_decode(const char *base64, struct ab_hdr *out, struct ab_err *err)
{
    struct ab_hdr_room *room = ab_hdr_room_new();
    struct span counts;
    enum ab_status status = decode(base64, room, &counts, err);
    if (status == AB_OK) {
        ab_hdr_init(out);
        take_counts(counts, out);
    }
    free(room);
    return status;
}

enum ab_status ab_hdr_decode_into_empty(const char *base64, struct ab_hdr *empty,
                                        struct ab_hdr_room *room, struct ab_err *err)
{
    struct span counts;
    enum ab_status status = decode(base64, room, &counts, err);
    if (status == AB_OK)
        take_counts(counts, empty);
    return status;
}
