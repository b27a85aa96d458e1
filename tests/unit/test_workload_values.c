/* SPDX-License-Identifier: MIT
 *
 * The grammar of scalars: what comes out, or which bytes are blamed and why.
 */
#include "base/bits.h"
#include "support/report_locale.h"
#include "workload/values.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

static struct ab_param_value items[] = {
    {.name = "n", .value = {.kind = AB_VALUE_WHOLE, .whole = 12, .number = 12}},
    {.name = "page", .value = {.kind = AB_VALUE_WHOLE, .whole = 4096, .is_bytes = true}},
    {.name = "how", .value = {.kind = AB_VALUE_WORD, .text = "fifo", .n_text = 4}},
};
static const struct ab_params params = {items, 3};

static const struct {
    const char *text;
    uint64_t whole;
    bool is_bytes;
} wholes[] = {
    {"0", 0, false},
    {"7", 7, false},
    {"1e6", 1000000, false},
    {"1_000_000", 1000000, false},
    {"20M", 20000000, false},
    {"1.5k", 1500, false},
    {"1e+3", 1000, false},
    {"9223372036854775807", INT64_MAX, false},
    {"9007199254740993", 9007199254740993, false}, /* not a double */
    {"64KiB", 65536, true},
    {"1KB", 1000, true},
    {"0.5MiB", 524288, true},
    {"8B", 8, true},
    {"2GiB", UINT64_C(2) << 30, true},
    {"1+2*3", 7, false},
    {"(1+2)*3", 9, false},
    {"10-2-3", 5, false},
    {"7%3", 1, false},
    {"10 % 4 ", 2, false},
    {" 100 / 7 / 2", 7, false},
    {"$n", 12, false},
    {"4*$n", 48, false},
    {"$n-1", 11, false},
    {"$n%5", 2, false},
    {"$page/16", 256, true},
    {"1MiB/$page", 256, false},
    {"$page*$n", 49152, true},
    {"((((5))))", 5, false},
    {"1e2%7", 2, false},
    {"select($how, lifo: 1, fifo: 2)", 2, false},
    {"3*select($how, fifo: $page/4) + 1", 3073, true},
    {"select(select($how, fifo: b), a: 1, b: 4)", 4, false},
};

static void whole_numbers_and_sums_come_out_exactly(void **state)
{
    (void)state;
    for (size_t i = 0; i < AB_ARRAY_LEN(wholes); i++) {
        struct ab_value v;
        struct ab_value_error error;
        if (!ab_value_parse(wholes[i].text, &params, AB_UNIT_COUNT, &v, &error))
            fail_msg("%s: %s", wholes[i].text, error.text);
        assert_int_equal(v.kind, AB_VALUE_WHOLE);
        if (v.whole != wholes[i].whole || v.is_bytes != wholes[i].is_bytes)
            fail_msg("%s came out as %llu", wholes[i].text, (unsigned long long)v.whole);
    }
}

static const struct {
    const char *text;
    size_t offset, n;
    const char *message; /* a part of it */
} errors[] = {
    {"", 0, 1, "a value is needed"},
    {"  ", 1, 1, "missing at the end"},
    {"-1", 0, 2, "negative"},
    {"+1", 0, 2, "cannot begin with '+'"},
    {"-18446744073709551615", 0, 21, "negative"},
    {"18446744073709551616", 0, 20, "out of range"},
    {"9223372036854775808", 0, 19, "out of range"},
    {"1e999", 0, 5, "out of range"},
    {"010", 0, 3, "leading zero"},
    {"09", 0, 2, "leading zero"},
    {"00", 0, 2, "leading zero"},
    {"0x10", 0, 4, "hexadecimal"},
    {"0b1", 0, 3, "unknown unit"},
    {"64kib", 0, 5, "unknown unit"},
    {"64 KiB", 3, 3, "unexpected 'KiB' after"},
    {"12abc", 0, 5, "unknown unit"},
    {"1__0", 0, 4, "misplaced '_'"},
    {"1_", 0, 2, "misplaced '_'"},
    {"1.", 0, 2, "digits are missing"},
    {".5", 0, 1, "digits are missing before"},
    {"1.2.3", 0, 5, ""},
    {"0,5", 1, 1, "decimals use '.'"},
    {"1 2", 2, 1, "unexpected '2' after"},
    {"1e-3x", 0, 5, "unknown unit"},
    {"3-5", 0, 3, "negative"},
    {"5/0", 2, 1, "division by zero"},
    {"5 % (2-2)", 4, 5, "division by zero"},
    {"1e12*1e12", 0, 9, "out of range"},
    {"9223372036854775807+1", 0, 21, "out of range"},
    {"0.5*2", 0, 3, "arithmetic is for whole numbers, found a decimal number"},
    {"2*5%", 2, 2, "found a percentage"},
    {"2*5ms", 2, 3, "found a time"},
    {"2%$how", 2, 4, "found a word"},
    {"all/2", 0, 3, "division is for whole numbers, found a word"},
    {"uniform(1,2)/2", 0, 12, "found a call"},
    {"$m", 0, 2, "unknown param '$m'; did you mean '$n'"},
    {"$pag", 0, 4, "did you mean '$page'"},
    {"$zebra", 0, 6, "must be defined in 'params'"},
    {"$", 0, 1, "the name of a param must follow"},
    {"(1+2", 0, 4, "closing ')'"},
    {"1+2)", 3, 1, "after value"},
    {"uniform(1, 2", 0, 12, "closing ')'"},
    {"uniform(1 2)", 10, 1, "',' or ')' is needed"},
    {"uniform(1,)", 10, 1, "a value is needed here, found ')'"},
    {"csv(\"a", 4, 2, "closing \" is missing"},
    {"select($how, fif: 1, lifo: 2)", 7, 4,
     "'fifo' is not among the words fif, lifo; did you mean 'fif'?"},
    {"select(all, x: 1)", 7, 3, "'all' is not among the words x"},
    {"1+select($n, x: 1)", 2, 16, "select needs a word"},
    {"select($how)", 0, 12, "select needs a word"},
    {"select($how, fifo)", 0, 18, "select needs a word"},
    {"~", 0, 1, "found '~'"},
    {"\x1b[31m", 0, 1, "found '\\x1b'"},
    {"\xc3\xa9", 0, 2, "found '\xc3\xa9'"},
};

static void each_error_blames_the_right_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < AB_ARRAY_LEN(errors); i++) {
        struct ab_value v = {.whole = 77};
        struct ab_value_error e;
        if (ab_value_parse(errors[i].text, &params, AB_UNIT_COUNT, &v, &e))
            fail_msg("'%s' was taken", errors[i].text);
        if (e.offset != errors[i].offset || e.n != errors[i].n ||
            strstr(e.text, errors[i].message) == NULL)
            fail_msg("'%s': %zu+%zu %s", errors[i].text, e.offset, e.n, e.text);
        assert_int_equal(v.whole, 77);
    }
}

static void fractions_times_words_and_text_keep_their_kind(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum ab_value_kind kind;
        double number;
    } rows[] = {
        {"0.25", AB_VALUE_FRACTION, 0.25},  {"25%", AB_VALUE_FRACTION, 0.25},
        {"0.5%", AB_VALUE_FRACTION, 0.005}, {"1.7444", AB_VALUE_FRACTION, 1.7444},
        {"all", AB_VALUE_WORD, 0},          {"every-2.x", AB_VALUE_WORD, 0},
        {"$how", AB_VALUE_WORD, 0},         {"'a b'", AB_VALUE_TEXT, 0},
        {"16ms", AB_VALUE_TIME, 16e6},      {"nan", AB_VALUE_WORD, 0},
        {"inf", AB_VALUE_WORD, 0},
    };
    for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
        struct ab_value v;
        struct ab_value_error error;
        if (!ab_value_parse(rows[i].text, &params, AB_UNIT_COUNT, &v, &error))
            fail_msg("%s: %s", rows[i].text, error.text);
        assert_int_equal(v.kind, rows[i].kind);
        if (v.kind == AB_VALUE_FRACTION || v.kind == AB_VALUE_TIME)
            assert_true(v.number > rows[i].number * 0.999999 &&
                        v.number < rows[i].number * 1.000001);
    }
}

static void operators_beside_words_and_calls_become_calls_up_to_64(void **state)
{
    (void)state;
    char many[300] = "f()";
    struct ab_value v;
    struct ab_value_error error;
    assert_true(ab_value_parse("8 + 2*obj - f(3)", &params, AB_UNIT_BYTES, &v, &error));
    assert_true(ab_value_is_call(&v, "difference") && v.offset == 0 && v.n == 16);
    const struct ab_value *sum = &v.args[0].first, *product = &sum->args[1].first;
    assert_true(ab_value_is_call(sum, "sum") && sum->args[0].first.whole == 8);
    assert_true(ab_value_is_call(product, "product") && product->args[0].first.whole == 2);
    assert_true(ab_value_is_word(&product->args[1].first, "obj"));
    assert_true(ab_value_is_call(&v.args[1].first, "f"));
    ab_value_fini(&v);
    for (int i = 0; i < 64; i++)
        strcat(many, "+1");
    assert_true(ab_value_parse(many, &params, AB_UNIT_BYTES, &v, &error));
    ab_value_fini(&v);
    assert_false(ab_value_parse(strcat(many, "+1"), &params, AB_UNIT_BYTES, &v, &error));
    assert_non_null(strstr(error.text, "more than 64 operators"));
}

static void calls_keep_names_pairs_and_order(void **state)
{
    (void)state;
    struct ab_value v;
    struct ab_value_error error;
    assert_true(ab_value_parse("f( 1, b = 2*$n, 16:5, g(7), \"x,y\" )", &params, AB_UNIT_BYTES, &v,
                               &error));
    assert_int_equal(v.kind, AB_VALUE_CALL);
    assert_int_equal(v.n_args, 5);
    assert_null(v.args[0].name);
    assert_memory_equal(v.args[1].name, "b", 1);
    assert_int_equal(v.args[1].first.whole, 24);
    assert_true(v.args[2].is_pair);
    assert_int_equal(v.args[2].second.whole, 5);
    assert_int_equal(v.args[3].first.args[0].first.whole, 7);
    assert_int_equal(v.args[4].first.n_text, 3);
    ab_value_fini(&v);
}

static void depth_is_capped(void **state)
{
    (void)state;
    char text[300] = "";
    struct ab_value v;
    struct ab_value_error error;
    memset(text, '(', 200);
    assert_false(ab_value_parse(text, &params, AB_UNIT_COUNT, &v, &error));
    assert_non_null(strstr(error.text, "nested"));
}

static void the_locale_does_not_matter(void **state)
{
    if (!fake_german_locale())
        skip();
    whole_numbers_and_sums_come_out_exactly(state);
    each_error_blames_the_right_bytes(state);
    fractions_times_words_and_text_keep_their_kind(state);
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_and_sums_come_out_exactly),
        cmocka_unit_test(each_error_blames_the_right_bytes),
        cmocka_unit_test(fractions_times_words_and_text_keep_their_kind),
        cmocka_unit_test(calls_keep_names_pairs_and_order),
        cmocka_unit_test(operators_beside_words_and_calls_become_calls_up_to_64),
        cmocka_unit_test(depth_is_capped),
        cmocka_unit_test(the_locale_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
