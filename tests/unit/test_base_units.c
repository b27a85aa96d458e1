/* SPDX-License-Identifier: MIT */
#include "base/bits.h"
#include "base/units.h"
#include "core/units_show.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static void numbers_with_units_come_out_exactly(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum ab_unit_kind kind;
        uint64_t whole;
    } rows[] = {
        {"0", AB_UNIT_COUNT, 0},
        {"12", AB_UNIT_COUNT, 12},
        {"1e6", AB_UNIT_COUNT, 1000000},
        {"1_000_000", AB_UNIT_COUNT, 1000000},
        {"20M", AB_UNIT_COUNT, 20000000},
        {"3k", AB_UNIT_COUNT, 3000},
        {"3K", AB_UNIT_COUNT, 3000},
        {"1G", AB_UNIT_COUNT, 1000000000},
        {"0.5k", AB_UNIT_COUNT, 500},
        {"1.25e2", AB_UNIT_COUNT, 125},
        {"12e-1k", AB_UNIT_COUNT, 1200},
        {"9223372036854775807", AB_UNIT_COUNT, INT64_MAX},
        {"9007199254740993", AB_UNIT_BYTES, 9007199254740993},
        {"4KiB", AB_UNIT_BYTES, 4096},
        {"1MB", AB_UNIT_BYTES, 1000000},
        {"2GiB", AB_UNIT_BYTES, UINT64_C(2) << 30},
        {"1T", AB_UNIT_BYTES, UINT64_C(1000000000000)},
        {"1TB", AB_UNIT_BYTES, UINT64_C(1000000000000)},
        {"1TiB", AB_UNIT_BYTES, UINT64_C(1) << 40},
        {"1.5KiB", AB_UNIT_BYTES, 1536},
        {"64B", AB_UNIT_BYTES, 64},
        {"5us", AB_UNIT_TIME, 5000},
        {"16.67ms", AB_UNIT_TIME, 16670000},
        {"1s", AB_UNIT_TIME, 1000000000},
        {"0", AB_UNIT_TIME, 0},
        {"1.5KiB", AB_UNIT_BYTES_REAL, 1536},
        {"0", AB_UNIT_TIME_REAL, 0},
    };
    for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
        struct ab_number out = {0};
        const char *bad = ab_units_parse(rows[i].text, strlen(rows[i].text), rows[i].kind, &out);
        if (bad != NULL || out.whole != rows[i].whole)
            fail_msg("%s: %s, %llu", rows[i].text, bad != NULL ? bad : "read",
                     (unsigned long long)out.whole);
    }
}

static void what_is_no_number_is_refused_and_leaves_the_result_alone(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum ab_unit_kind kind;
    } rows[] = {
        {"", AB_UNIT_COUNT},
        {"-1", AB_UNIT_COUNT},
        {"-0", AB_UNIT_COUNT},
        {"+1", AB_UNIT_COUNT},
        {"010", AB_UNIT_COUNT},
        {"09", AB_UNIT_COUNT},
        {"0x10", AB_UNIT_COUNT},
        {"1.5", AB_UNIT_COUNT},
        {"1e-3", AB_UNIT_COUNT},
        {"1e999", AB_UNIT_COUNT},
        {"1e400", AB_UNIT_COUNT},
        {"18446744073709551616", AB_UNIT_COUNT},
        {"9223372036854775808", AB_UNIT_COUNT},
        {"nan", AB_UNIT_COUNT},
        {"inf", AB_UNIT_COUNT},
        {".5", AB_UNIT_COUNT},
        {"1.", AB_UNIT_COUNT},
        {"1,5", AB_UNIT_FRACTION},
        {"_1", AB_UNIT_COUNT},
        {"1_", AB_UNIT_COUNT},
        {"1__0", AB_UNIT_COUNT},
        {"1 ", AB_UNIT_COUNT},
        {" 1", AB_UNIT_COUNT},
        {"1k2", AB_UNIT_COUNT},
        {"4KiB", AB_UNIT_COUNT},
        {"4kib", AB_UNIT_BYTES},
        {"0.3B", AB_UNIT_BYTES},
        {"99999TiB99", AB_UNIT_BYTES},
        {"9999999TiB", AB_UNIT_BYTES},
        {"5", AB_UNIT_TIME},
        {"5m", AB_UNIT_TIME},
        {"0.5ns", AB_UNIT_TIME},
        {"5%%", AB_UNIT_FRACTION},
        {"0.5x", AB_UNIT_FRACTION},
        {"1111111111111111111111111111111111111111111111111111111111111111111", AB_UNIT_COUNT},
    };
    for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
        struct ab_number out = {.value = -7, .whole = 7};
        if (ab_units_parse(rows[i].text, strlen(rows[i].text), rows[i].kind, &out) == NULL)
            fail_msg("'%s' was taken as %llu", rows[i].text, (unsigned long long)out.whole);
        assert_int_equal(out.whole, 7);
    }
}

static void only_the_given_bytes_are_read(void **state)
{
    (void)state;
    struct ab_number out;
    assert_null(ab_units_parse("12345", 2, AB_UNIT_COUNT, &out));
    assert_int_equal(out.whole, 12);
}

static void fractions_and_percentages_are_the_same_number(void **state)
{
    (void)state;
    struct ab_number a, b;
    assert_null(ab_units_parse("0.25", 4, AB_UNIT_FRACTION, &a));
    assert_null(ab_units_parse("25%", 3, AB_UNIT_FRACTION, &b));
    assert_true(a.value == b.value);
}

static void printed_numbers_have_three_significant_digits(void **state)
{
    (void)state;
    char buf[32];
    assert_string_equal(ab_units_bytes(buf, sizeof buf, 64), "64 B");
    assert_string_equal(ab_units_bytes(buf, sizeof buf, 1536), "1.50 KiB");
    assert_string_equal(ab_units_bytes(buf, sizeof buf, 1023.9 * 1024), "1.00 MiB");
    assert_string_equal(ab_units_span(buf, sizeof buf, 1310, true), "1.31 µs");
    assert_string_equal(ab_units_span(buf, sizeof buf, 5400e9, true), "1.5 h");
    assert_string_equal(ab_units_span(buf, sizeof buf, 5400e9, false), "90 min");
    assert_string_equal(ab_units_span(buf, sizeof buf, 216000e9, false), "2.5 days");
    assert_string_equal(ab_units_time(buf, sizeof buf, 42.1), "42.1 ns");
    assert_string_equal(ab_units_time(buf, sizeof buf, 1310), "1.31 us");
    assert_string_equal(ab_units_count(buf, sizeof buf, 950), "950");
    assert_string_equal(ab_units_count(buf, sizeof buf, 12.4e6), "12.4 M");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_with_units_come_out_exactly),
        cmocka_unit_test(what_is_no_number_is_refused_and_leaves_the_result_alone),
        cmocka_unit_test(only_the_given_bytes_are_read),
        cmocka_unit_test(fractions_and_percentages_are_the_same_number),
        cmocka_unit_test(printed_numbers_have_three_significant_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
