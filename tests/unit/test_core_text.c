/* SPDX-License-Identifier: MIT */
/* tests: nearest.c units_show.c */
#include "base/nearest.h"
#include "core/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static void text_grows_and_stays_terminated(void **state)
{
    (void)state;
    struct ab_text t = {0};
    for (int i = 0; i < 1000; i++) {
        ab_text_add(&t, "ab");
        ab_text_addf(&t, "%d", i % 10);
    }
    assert_int_equal(t.n, 3000);
    assert_int_equal(strlen(t.s), 3000);
    assert_string_equal(t.s + 2994, "ab8ab9");
    ab_text_fini(&t);
    assert_null(t.s);
}

static void a_word_is_quoted_where_a_shell_needs_it_and_found_again(void **state)
{
    (void)state;
    static const char *const words[][2] = {
        {"now.json", "now.json"}, {"", "''"},           {"a b", "'a b'"}, {"it's", "'it'\\''s'"},
        {"$HOME", "'$HOME'"},     {"{a,b}", "'{a,b}'"}, {"a\\", "'a\\'"},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct ab_text t = {0};
        ab_text_add_shell(&t, words[i][0]);
        assert_string_equal(t.s, words[i][1]);
        ab_text_add(&t, " next");
        assert_int_equal(ab_text_shell_word(t.s), strlen(words[i][1]));
        ab_text_fini(&t);
    }
}

static void the_nearest_spelling_is_found_and_far_ones_are_not(void **state)
{
    (void)state;
    static const char *const words[] = {"alloc", "free", "replace", "resize", "fraction"};
    assert_string_equal(ab_text_nearest("aloc", words, 5), "alloc");
    assert_string_equal(ab_text_nearest("laloc", words, 5), "alloc"); /* one swap */
    assert_string_equal(ab_text_nearest("fere", words, 5), "free");
    assert_string_equal(ab_text_nearest("resise", words, 5), "resize");
    assert_string_equal(ab_text_nearest("fracton", words, 5), "fraction");
    assert_null(ab_text_nearest("zebra", words, 5));
    assert_null(ab_text_nearest("", words, 5));
    assert_null(ab_text_nearest("alloc", words, 0));
    char longer[300];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    assert_null(ab_text_nearest(longer, words, 5));
}

static void hostile_text_becomes_printable(void **state)
{
    (void)state;
    char buf[64], small[6];
    assert_string_equal(ab_text_printable(buf, sizeof buf, "a\x1b[31mb"), "a\\x1b[31mb");
    assert_string_equal(ab_text_printable(buf, sizeof buf, "a\nb\t\x7f"), "a\\x0ab\\x09\\x7f");
    assert_string_equal(ab_text_printable(buf, sizeof buf, "\xc3\xa4 \xe2\x82\xac"),
                        "\xc3\xa4 \xe2\x82\xac");
    assert_string_equal(ab_text_printable(buf, sizeof buf, "\xc2\x9b"), "\\xc2\\x9b"); /* CSI */
    assert_string_equal(ab_text_printable(buf, sizeof buf, "\xc3"), "\\xc3");
    assert_string_equal(ab_text_printable(buf, sizeof buf, "\xed\xa0\x80"), "\\xed\\xa0\\x80");
    assert_string_equal(ab_text_printable(buf, sizeof buf, "\xef\xbf\xbe"), "\\xef\\xbf\\xbe");
    assert_string_equal(ab_text_printable(buf, sizeof buf, "\xef\xbf\xbd"), "\xef\xbf\xbd");
    assert_string_equal(ab_text_printable(small, sizeof small, "abc\x01"), "abc");
    static const char *const turning[] = {"\u061c", "\u200e", "\u200f", "\u202a", "\u202e",
                                          "\u2066", "\u2069", "\u2028", "\u2029"};
    for (size_t i = 0; i < sizeof turning / sizeof turning[0]; i++) {
        ab_text_printable(buf, sizeof buf, turning[i]);
        assert_string_equal(buf + strlen(buf) - 4 * strlen(turning[i]), buf);
        assert_int_equal(buf[0], '\\');
    }
    static const char *const plain[] = {"\u061b", "\u200d", "\u2010", "\u2027",
                                        "\u202f", "\u2065", "\u206a", "\u20ac"};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        assert_string_equal(ab_text_printable(buf, sizeof buf, plain[i]), plain[i]);
    assert_string_equal(ab_text_printable(small, sizeof small, "abcdefgh"), "abcde");
}

static void copies_are_cut_and_read_no_further(void **state)
{
    (void)state;
    char to[5];
    const char unterminated[4] = {'a', 'b', 'c', 'd'};
    AB_COPY(to, "ab");
    assert_string_equal(to, "ab");
    AB_COPY(to, "abcdef");
    assert_string_equal(to, "abcd");
    AB_COPY(to, unterminated);
    assert_string_equal(to, "abcd");
    AB_COPY(to, "");
    assert_string_equal(to, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_grows_and_stays_terminated),
        cmocka_unit_test(copies_are_cut_and_read_no_further),
        cmocka_unit_test(a_word_is_quoted_where_a_shell_needs_it_and_found_again),
        cmocka_unit_test(the_nearest_spelling_is_found_and_far_ones_are_not),
        cmocka_unit_test(hostile_text_becomes_printable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
