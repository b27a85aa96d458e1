/* SPDX-License-Identifier: MIT
 *
 * The decoder against good text of others, against hand-made lies about every field, and against
 * each golden text with every byte changed and cut at every length. Under ASan and UBSan this is
 * the proof that a hostile result file cannot do more than be refused.
 */
#include "result/hdr.h"
#include "result/hdr_v2.h"

#include "base/rng.h"
#include "support/hdr_golden.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

static struct ab_hdr a, b;

/* ---- hand-made histograms ---- */

/* A header as the fields say, and a payload; every field may lie. */
struct made {
    uint32_t cookie, payload_bytes, offset, digits;
    uint64_t lowest, highest, ratio;
    const uint8_t *payload;
    size_t n;
};

#define MADE(...) \
    ((struct made){.cookie = AB_HDR_V2_COOKIE, \
                   .payload_bytes = UINT32_MAX, \
                   .digits = 3, \
                   .lowest = 1, \
                   .highest = AB_HDR_HIGHEST, \
                   .ratio = AB_HDR_V2_RATIO, \
                   .payload = (const uint8_t[]){__VA_ARGS__}, \
                   .n = sizeof((const uint8_t[]){__VA_ARGS__})})

static void put(uint8_t *p, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        p[i] = (uint8_t)(v >> 8 * (bytes - 1 - i));
}

/* The bytes of m, to be freed; a payload_bytes of UINT32_MAX means the truth. */
static uint8_t *build(const struct made *m, size_t *n)
{
    *n = AB_HDR_V2_HEADER_BYTES + m->n;
    uint8_t *p = malloc(*n);
    assert_non_null(p);
    put(p, m->cookie, 4);
    put(p + 4, m->payload_bytes == UINT32_MAX ? m->n : m->payload_bytes, 4);
    put(p + 8, m->offset, 4);
    put(p + 12, m->digits, 4);
    put(p + 16, m->lowest, 8);
    put(p + 24, m->highest, 8);
    put(p + 32, m->ratio, 8);
    memcpy(p + AB_HDR_V2_HEADER_BYTES, m->payload, m->n);
    return p;
}

static char *base64_of(const uint8_t *p, size_t n)
{
    char *text = malloc((n + 2) / 3 * 4 + 1);
    assert_non_null(text);
    ab_hdr_base64(text, p, n);
    return text;
}

/* Wrapper and zlib around n bytes; `extra` is added to the length that the wrapper declares. */
static char *wrapped(const uint8_t *p, size_t n, uint32_t extra)
{
    uLongf packed_bytes = compressBound(n);
    uint8_t *packed = malloc(AB_HDR_V2_WRAPPER_BYTES + packed_bytes);
    assert_non_null(packed);
    assert_int_equal(compress2(packed + AB_HDR_V2_WRAPPER_BYTES, &packed_bytes, p, n, 9), Z_OK);
    put(packed, AB_HDR_V2_COOKIE_ZLIB, 4);
    put(packed + 4, packed_bytes + extra, 4);
    char *text = base64_of(packed, AB_HDR_V2_WRAPPER_BYTES + packed_bytes);
    free(packed);
    return text;
}

static char *made_text(const struct made *m)
{
    size_t n;
    uint8_t *bytes = build(m, &n);
    char *text = base64_of(bytes, n);
    free(bytes);
    return text;
}

/* The error must say `words`, and *out must stay as it was. */
static void check_refused(const char *text, const char *words)
{
    struct ab_err err = {.text = ""};
    memset(&b, 0x5a, sizeof b);
    assert_int_equal(ab_hdr_decode(text, &b, &err), AB_INPUT);
    if (strstr(err.text, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err.text, words);
    for (size_t i = 0; i < sizeof b; i++)
        if (((const uint8_t *)&b)[i] != 0x5a)
            fail_msg("byte %zu of out was written", i);
}

static void check_made_refused(struct made m, const char *words)
{
    char *text = made_text(&m);
    check_refused(text, words);
    free(text);
}

static void check_made_accepted(struct made m)
{
    char *text = made_text(&m);
    struct ab_err err = {.text = ""};
    enum ab_status status = ab_hdr_decode(text, &a, &err);
    free(text);
    assert_string_equal(err.text, "");
    assert_int_equal(status, AB_OK);
}

/* ---- what must be read ---- */

static void golden_texts_are_read_exactly(void **state)
{
    (void)state;
    size_t n;
    struct hdr_golden *golden = hdr_golden_load(&n);
    assert_true(n >= 11);
    for (size_t i = 0; i < n; i++) {
        char *text;
        assert_int_equal(ab_hdr_decode(golden[i].base64, &a, NULL), AB_OK);
        assert_memory_equal(a.counts, golden[i].hdr.counts, sizeof a.counts);
        assert_int_equal(a.overflow, 0);
        assert_true(a.min == (golden[i].total == 0 ? UINT64_MAX : golden[i].min));
        assert_int_equal(a.max, golden[i].max);
        assert_int_equal(ab_hdr_encode(&a, &text, NULL), AB_OK);
        assert_string_equal(text, golden[i].base64);
        free(text);
    }
    hdr_golden_free(golden, n);
}

/* Decoded in place; after an error it is as empty as it was. */
static void an_empty_histogram_is_filled_or_stays_empty(void **state)
{
    (void)state;
    size_t n;
    struct hdr_golden *golden = hdr_golden_load(&n);
    struct ab_err err;
    struct ab_hdr_room *room = ab_hdr_room_new();
    assert_non_null(room);
    ab_hdr_init(&b);
    for (size_t i = 0; i < n; i++) {
        ab_hdr_init(&a);
        assert_int_equal(ab_hdr_decode_into_empty(golden[i].base64, &a, room, NULL), AB_OK);
        assert_memory_equal(a.counts, golden[i].hdr.counts, sizeof a.counts);
        ab_hdr_init(&a);
        size_t length = strlen(golden[i].base64);
        golden[i].base64[length - 8] ^= 1;
        if (ab_hdr_decode_into_empty(golden[i].base64, &a, room, &err) == AB_INPUT)
            assert_memory_equal(&a, &b, sizeof a);
    }
    hdr_golden_free(golden, n);
    const struct made above = MADE(2, 0xff, 0xff, 0x7f, 2); /* one counter, then too many */
    char *text = made_text(&above);
    ab_hdr_init(&a);
    assert_int_equal(ab_hdr_decode_into_empty(text, &a, room, &err), AB_INPUT);
    assert_memory_equal(&a, &b, sizeof a);
    free(text);
    free(room);
}

static void uncompressed_text_is_read(void **state)
{
    (void)state;
    struct made m = MADE(0x03, 0x02, 0x08); /* run of 2 zeroes, 1, 4 */
    char *text = made_text(&m);
    assert_memory_equal(text, "HISTEw", 6);
    assert_int_equal(ab_hdr_decode(text, &a, NULL), AB_OK);
    free(text);
    assert_int_equal(ab_hdr_total(&a), 5);
    assert_int_equal(a.counts[2], 1);
    assert_int_equal(a.counts[3], 4);
    assert_int_equal(a.min, 2);
    assert_int_equal(a.max, 3);
}

static void a_lone_zero_may_be_a_run_of_one_as_the_c_port_writes_it(void **state)
{
    (void)state;
    check_made_accepted(MADE(0x02, 0x01, 0x02));
    assert_int_equal(a.counts[0], 1);
    assert_int_equal(a.counts[1], 0);
    assert_int_equal(a.counts[2], 1);
}

static void offset_and_ratio_are_ignored_as_java_does(void **state)
{
    (void)state;
    struct made m = MADE(0x02, 0x04);
    m.offset = 1; /* hdr-histogram-js writes a 1 into both */
    m.ratio = 1;
    check_made_accepted(m);
    assert_int_equal(a.counts[0], 1);
    assert_int_equal(a.counts[1], 2);
}

static void histograms_with_another_highest_value_are_read(void **state)
{
    (void)state;
    struct made m = MADE(0x02, 0x04);
    m.highest = 2;
    check_made_accepted(m);
    m.highest = UINT64_C(1) << 62;
    check_made_accepted(m);
    assert_int_equal(ab_hdr_total(&a), 3);
}

static void zeroes_up_to_the_last_counter_are_read(void **state)
{
    (void)state;
    check_made_accepted(MADE(0x02, 0xfd, 0xaf, 0x03)); /* 1, run of 27,647 */
    assert_int_equal(a.max, 0);
    assert_int_equal(ab_hdr_total(&a), 1);
}

static void no_counters_at_all_are_an_empty_histogram(void **state)
{
    (void)state;
    struct made m = MADE(0);
    m.n = 0;
    check_made_accepted(m);
    assert_int_equal(ab_hdr_total(&a), 0);
    assert_true(a.min == UINT64_MAX);
}

/* ---- what must be refused ---- */

static void text_that_is_not_base64_is_refused(void **state)
{
    (void)state;
    check_refused("", "none");
    check_refused("HIS", "not a multiple of 4");
    check_refused("HIST\nFAA", "character 5 of a histogram is 0x0a");
    check_refused("HI=T", "character 3");
    check_refused("====", "character 1");
    check_refused("H===", "character 2");
    check_refused("HISTF\xff==", "character 6 of a histogram is 0xff");
    check_refused("HIST", "only 3 bytes");
    check_refused("HISTFB==", "ends inside a base64 digit");
}

static void text_that_is_too_long_is_refused_unread(void **state)
{
    (void)state;
    char *text = malloc(AB_HDR_V2_TEXT_MAX + 5);
    assert_non_null(text);
    memset(text, 'A', AB_HDR_V2_TEXT_MAX + 4);
    text[AB_HDR_V2_TEXT_MAX + 4] = 0;
    check_refused(text, "more than");
    free(text);
}

static void other_formats_are_named(void **state)
{
    (void)state;
    static const struct {
        uint32_t cookie;
        const char *words;
    } others[] = {
        {0x1c849308, "format V0"},
        {0x1c849309, "format V0"},
        {0x1c849301, "format V1"},
        {0x1c849342, "format V1"},
        {0x0c72124e, "DoubleHistogram"},
        {0x0c72124f, "DoubleHistogram"},
        {0x1c849393, "zlib"},
        {0, "not an HdrHistogram"},
        {0x1d849313, "not an HdrHistogram"},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        struct made m = MADE(0x02);
        m.cookie = others[i].cookie;
        if (m.cookie == 0x1c849393)
            check_made_accepted(m); /* the second nibble is free in V2 */
        else
            check_made_refused(m, others[i].words);
    }
}

static void a_header_that_lies_is_refused(void **state)
{
    (void)state;
    struct made m = MADE(0x02, 0x02);
    for (uint32_t digits = 0; digits < 7; digits++) {
        m.digits = digits;
        if (digits != 3)
            check_made_refused(m, "only 3 digits from 1 ns on");
    }
    m = MADE(0x02, 0x02);
    m.lowest = 0;
    check_made_refused(m, "from 0 ns on");
    m.lowest = 2;
    check_made_refused(m, "from 2 ns on");
    m.lowest = UINT64_MAX;
    check_made_refused(m, "only 3 digits");
    m.lowest = 1;
    m.highest = 1;
    check_made_refused(m, "allowed are 2 to 2^62");
    m.highest = (UINT64_C(1) << 62) + 1;
    check_made_refused(m, "allowed are 2 to 2^62");
    m.highest = AB_HDR_HIGHEST;
    for (uint32_t bytes = 0; bytes < 4; bytes++) {
        m.payload_bytes = bytes;
        if (bytes != 2)
            check_made_refused(m, "bytes of counters");
    }
    m.payload_bytes = UINT32_MAX - 1;
    check_made_refused(m, "declares 4294967294 bytes");
}

static void a_payload_that_lies_is_refused(void **state)
{
    (void)state;
    check_made_refused(MADE(0x82), "cut short");
    check_made_refused(MADE(0x02, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), "cut short");
    /* a run to one beyond the last counter; one value beyond it; the longest run there is */
    check_made_refused(MADE(0x02, 0xff, 0xaf, 0x03), "above 60 s");
    check_made_refused(MADE(0xff, 0xaf, 0x03, 0x02), "above 60 s");
    check_made_refused(MADE(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), "above 60 s");
    /* 2^63 - 1 values, and one more */
    struct made m = MADE(0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02);
    check_made_refused(m, "more than 2^63 - 1 values");
    m.n--;
    check_made_accepted(m);
    assert_true(a.counts[0] == INT64_MAX);
    /* counters above the highest value that the header names: 2048 of them reach to 2047 */
    m = MADE(0xff, 0x1f, 0x02); /* run of 2048, 1 */
    m.highest = 2047;
    check_made_refused(m, "above its highest");
    m.highest = 2048;
    check_made_accepted(m);
}

static void a_wrapper_that_lies_is_refused(void **state)
{
    (void)state;
    struct made m = MADE(0x02, 0x02);
    size_t n;
    uint8_t *bytes = build(&m, &n);
    char *text = wrapped(bytes, n, 0);
    assert_int_equal(ab_hdr_decode(text, &a, NULL), AB_OK);
    free(text);
    text = wrapped(bytes, n, 1);
    check_refused(text, "compressed bytes");
    free(text);
    text = wrapped(bytes, n, UINT32_MAX); /* one less */
    check_refused(text, "compressed bytes");
    free(text);
    text = wrapped(bytes, AB_HDR_V2_HEADER_BYTES - 1, 0);
    check_refused(text, "its header alone needs 40");
    free(text);
    put(bytes, AB_HDR_V2_COOKIE_ZLIB, 4); /* a wrapper inside the wrapper */
    text = wrapped(bytes, n, 0);
    check_refused(text, "can be read");
    free(text);
    free(bytes);
}

static void bytes_behind_the_zlib_stream_are_refused(void **state)
{
    (void)state;
    struct made m = MADE(0x02, 0x02);
    uint8_t packed[256];
    uLongf packed_bytes = sizeof packed - AB_HDR_V2_WRAPPER_BYTES - 1;
    size_t n;
    uint8_t *bytes = build(&m, &n);
    assert_int_equal(compress(packed + AB_HDR_V2_WRAPPER_BYTES, &packed_bytes, bytes, n), Z_OK);
    free(bytes);
    put(packed, AB_HDR_V2_COOKIE_ZLIB, 4);
    put(packed + 4, packed_bytes + 1, 4);
    packed[AB_HDR_V2_WRAPPER_BYTES + packed_bytes] = 0;
    char *text = base64_of(packed, AB_HDR_V2_WRAPPER_BYTES + packed_bytes + 1);
    check_refused(text, "1 bytes follow");
    free(text);
}

static void a_zlib_bomb_is_stopped(void **state)
{
    (void)state;
    size_t n = 32 << 20;
    uint8_t *zeroes = calloc(n, 1);
    assert_non_null(zeroes);
    char *text = wrapped(zeroes, n, 0);
    free(zeroes);
    check_refused(text, "inflates to more than");
    free(text);
}

/* ---- sweeps ---- */

/* Any answer is right as long as what was accepted is a histogram that we can write. */
static bool survives(const char *text)
{
    struct ab_err err;
    char *again;
    if (ab_hdr_decode(text, &a, &err) != AB_OK) {
        assert_int_equal(err.status, AB_INPUT);
        return false;
    }
    assert_int_equal(ab_hdr_encode(&a, &again, NULL), AB_OK);
    assert_int_equal(ab_hdr_decode(again, &b, NULL), AB_OK);
    assert_memory_equal(&a, &b, sizeof a);
    free(again);
    return true;
}

/* Every bit of every step-th byte; returns how many changes were tried, and how many were accepted
 * though they mean other counts. */
static size_t flip_bits(const struct hdr_golden *g, size_t *deceived)
{
    char *text = g->base64;
    size_t length = strlen(text), step = 1 + length / 600, tried = 0;
    for (size_t at = 0; at < length; at += step) {
        char was = text[at];
        for (int bit = 0; bit < 8; bit += length < 200 ? 1 : 5) {
            text[at] = (char)(was ^ 1 << bit);
            tried++;
            if (survives(text) && memcmp(&a.counts, g->hdr.counts, sizeof a.counts) != 0)
                (*deceived)++;
        }
        text[at] = was;
    }
    return tried;
}

/* Adler-32 is a weak sum: in the largest golden text one changed bit turns the bytes 6 2 6 10 into
 * 2 6 10 6 under the same checksum. So a few changes may pass; that they are few shows that the
 * checksum is looked at. */
static void golden_texts_with_any_byte_changed_are_refused_or_mean_the_same(void **state)
{
    (void)state;
    size_t n, tried = 0, deceived = 0;
    struct hdr_golden *golden = hdr_golden_load(&n);
    for (size_t i = 0; i < n; i++)
        tried += flip_bits(&golden[i], &deceived);
    hdr_golden_free(golden, n);
    assert_true(tried > 5000);
    assert_true(deceived * 1000 < tried);
}

static void golden_texts_cut_anywhere_are_refused(void **state)
{
    (void)state;
    size_t n;
    struct hdr_golden *golden = hdr_golden_load(&n);
    for (size_t i = 0; i < n; i++) {
        char *text = golden[i].base64;
        size_t length = strlen(text), step = 1 + length / 1000;
        for (size_t cut = step; cut <= length; cut += step) {
            /* A copy of its own, so that ASan sees a read behind the end. */
            char *copy = strndup(text, length - cut);
            assert_false(survives(copy));
            free(copy);
        }
    }
    hdr_golden_free(golden, n);
}

/* Without zlib no checksum stands between the changes and the reader of header and counters. */
static void uncompressed_bytes_changed_anywhere_are_survived(void **state)
{
    (void)state;
    struct made m = MADE(0x02, 0x03, 0xfe, 0x01, 0x00, 0x80, 0x80, 0x04, 0xff, 0x0f, 0x02, 0x01,
                         0x06, 0xff, 0xff, 0x01, 0xfe, 0xff, 0xff, 0x07);
    size_t n, accepted = 0;
    uint8_t *bytes = build(&m, &n);
    for (size_t at = 0; at < n; at++) {
        uint8_t was = bytes[at];
        for (int change = 1; change < 256; change += at < AB_HDR_V2_HEADER_BYTES ? 17 : 3) {
            bytes[at] = (uint8_t)(was ^ change);
            char *text = base64_of(bytes, n);
            accepted += survives(text);
            free(text);
        }
        bytes[at] = was;
    }
    free(bytes);
    assert_true(accepted > 100);
}

static void noise_is_survived(void **state)
{
    (void)state;
    struct ab_rng rng;
    ab_rng_init(&rng, 31, 0);
    for (int round = 0; round < 3000; round++) {
        uint8_t payload[64];
        struct made m = MADE(0);
        m.payload = payload;
        m.n = ab_rng_below(&rng, sizeof payload);
        for (size_t i = 0; i < m.n; i++)
            payload[i] = (uint8_t)ab_rng_next(&rng);
        char *text = made_text(&m);
        survives(text);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_texts_are_read_exactly),
        cmocka_unit_test(an_empty_histogram_is_filled_or_stays_empty),
        cmocka_unit_test(uncompressed_text_is_read),
        cmocka_unit_test(a_lone_zero_may_be_a_run_of_one_as_the_c_port_writes_it),
        cmocka_unit_test(offset_and_ratio_are_ignored_as_java_does),
        cmocka_unit_test(histograms_with_another_highest_value_are_read),
        cmocka_unit_test(zeroes_up_to_the_last_counter_are_read),
        cmocka_unit_test(no_counters_at_all_are_an_empty_histogram),
        cmocka_unit_test(text_that_is_not_base64_is_refused),
        cmocka_unit_test(text_that_is_too_long_is_refused_unread),
        cmocka_unit_test(other_formats_are_named),
        cmocka_unit_test(a_header_that_lies_is_refused),
        cmocka_unit_test(a_payload_that_lies_is_refused),
        cmocka_unit_test(a_wrapper_that_lies_is_refused),
        cmocka_unit_test(bytes_behind_the_zlib_stream_are_refused),
        cmocka_unit_test(a_zlib_bomb_is_stopped),
        cmocka_unit_test(golden_texts_with_any_byte_changed_are_refused_or_mean_the_same),
        cmocka_unit_test(golden_texts_cut_anywhere_are_refused),
        cmocka_unit_test(uncompressed_bytes_changed_anywhere_are_survived),
        cmocka_unit_test(noise_is_survived),
    };
    return cmocka_run_group_tests_name("measure/hdr_decode", tests, NULL, NULL);
}
