/* SPDX-License-Identifier: MIT
 *
 * The V2 text that we write: byte for byte Java's (tests/golden/hdr), and all that we accept
 * comes back. What the decoder does with text of others is in test_result_hdr_decode.c.
 */
#include "result/hdr.h"
#include "result/hdr_v2.h"

#include "base/rng.h"
#include "support/hdr_golden.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct ab_hdr a, b;

/* For tests that set counters themselves: all of them may be in use. */
static void begin(void)
{
    ab_hdr_init(&a);
    a.min = 0;
    a.max = ab_hdr_high(AB_HDR_COUNTS - 1);
}

static void check_round_trip(void)
{
    char *text;
    struct ab_err err = {.text = ""};
    assert_int_equal(ab_hdr_encode(&a, &text, &err), AB_OK);
    enum ab_status status = ab_hdr_decode(text, &b, &err);
    free(text);
    assert_string_equal(err.text, "");
    assert_int_equal(status, AB_OK);
    assert_memory_equal(a.counts, b.counts, sizeof a.counts);
}

static void text_is_byte_for_byte_that_of_java(void **state)
{
    (void)state;
    size_t n;
    struct hdr_golden *golden = hdr_golden_load(&n);
    assert_true(n >= 11);
    for (size_t i = 0; i < n; i++) {
        char *text;
        assert_int_equal(ab_hdr_encode(&golden[i].hdr, &text, NULL), AB_OK);
        assert_string_equal(text, golden[i].base64);
        free(text);
    }
    hdr_golden_free(golden, n);
}

static void text_begins_with_histfa(void **state)
{
    (void)state;
    char *text;
    ab_hdr_init(&a);
    assert_int_equal(ab_hdr_encode(&a, &text, NULL), AB_OK);
    assert_memory_equal(text, "HISTFA", 6);
    free(text);
}

static void counts_of_every_length_come_back(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 63; bit++) {
        begin();
        a.counts[7 * bit + 1] = 3; /* a byte too many before it would move it */
        a.counts[7 * bit] = UINT64_C(1) << bit;
        check_round_trip();
        a.counts[7 * bit] = (UINT64_C(1) << bit) - 1;
        check_round_trip();
    }
    a.counts[7 * 62] = INT64_MAX - 3;
    check_round_trip();
}

static void gaps_of_every_length_come_back(void **state)
{
    (void)state;
    begin();
    for (uint32_t i = 0, gap = 0; i < AB_HDR_COUNTS; i += ++gap)
        a.counts[i] = i + 1;
    a.counts[AB_HDR_COUNTS - 1] = 1;
    check_round_trip();
    memset(a.counts, 0, sizeof a.counts);
    a.counts[AB_HDR_COUNTS - 1] = 1;
    check_round_trip();
}

static void the_largest_possible_text_comes_back(void **state)
{
    (void)state;
    struct ab_rng rng;
    ab_rng_init(&rng, 21, 0);
    begin();
    /* 2^63 - 1 values shared out at random: the longest and least compressible payload. */
    for (uint32_t i = 0; i < AB_HDR_COUNTS; i++)
        a.counts[i] = ab_rng_below(&rng, INT64_MAX / AB_HDR_COUNTS);
    check_round_trip();
}

static void more_values_than_63_bits_count_are_refused(void **state)
{
    (void)state;
    struct ab_err err;
    char *text = (char *)"untouched";
    begin();
    a.counts[3] = UINT64_C(1) << 63;
    assert_int_equal(ab_hdr_encode(&a, &text, &err), AB_INPUT);
    assert_non_null(strstr(err.text, "more than 2^63 - 1 values"));
    a.counts[3] = INT64_MAX;
    a.counts[5] = 1;
    assert_int_equal(ab_hdr_encode(&a, &text, &err), AB_INPUT);
    assert_string_equal(text, "untouched");
}

static void base64_has_the_vectors_of_rfc_4648(void **state)
{
    (void)state;
    static const char *const vectors[][2] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
        {"\xfb\xff\xfe", "+//+"},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        char text[16];
        ab_hdr_base64(text, (const uint8_t *)vectors[i][0], strlen(vectors[i][0]));
        assert_string_equal(text, vectors[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_byte_for_byte_that_of_java),
        cmocka_unit_test(text_begins_with_histfa),
        cmocka_unit_test(counts_of_every_length_come_back),
        cmocka_unit_test(gaps_of_every_length_come_back),
        cmocka_unit_test(the_largest_possible_text_comes_back),
        cmocka_unit_test(more_values_than_63_bits_count_are_refused),
        cmocka_unit_test(base64_has_the_vectors_of_rfc_4648),
    };
    return cmocka_run_group_tests_name("measure/hdr_encode", tests, NULL, NULL);
}
