/* SPDX-License-Identifier: MIT
 *
 * Digests of streams: of the bytes, however they came.
 */
#include "program/program.h"

#include "support/cmocka.h"

#include <string.h>
#include <unistd.h>

static struct ab_output_digest digest_of(const char *bytes, size_t n, size_t at_once)
{
    struct ab_program_output o;
    assert_int_equal(ab_program_output_open(&o, true, NULL), AB_OK);
    for (size_t i = 0; i < n; i += at_once) {
        size_t part = n - i < at_once ? n - i : at_once;
        assert_int_equal(write(o.write_fd, bytes + i, part), part);
        ab_program_output_take(&o);
    }
    ab_program_output_started(&o);
    struct ab_output_digest d = ab_program_output_finish(&o);
    ab_program_output_fini(&o);
    return d;
}

static bool is_same(struct ab_output_digest a, struct ab_output_digest b)
{
    return a.bytes == b.bytes && a.high == b.high && a.low == b.low;
}

static void it_is_of_the_bytes_and_not_of_how_they_came(void **state)
{
    static char bytes[300000];
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 7919 >> 3);
    struct ab_output_digest whole = digest_of(bytes, sizeof bytes, sizeof bytes);
    assert_int_equal(whole.bytes, sizeof bytes);
    assert_true(is_same(whole, digest_of(bytes, sizeof bytes, 4097)));
    bytes[sizeof bytes - 1] ^= 1;
    assert_false(is_same(whole, digest_of(bytes, sizeof bytes, 4097)));
}

static void nothing_and_something_differ(void **state)
{
    (void)state;
    assert_int_equal(digest_of("", 0, 1).bytes, 0);
    assert_false(is_same(digest_of("", 0, 1), digest_of("", 1, 1)));
}

static void expect_says(const char *text, const char *expected)
{
    struct ab_program_output o;
    char says[AB_OUTPUT_TAIL * 4];
    assert_int_equal(ab_program_output_open(&o, false, NULL), AB_OK);
    for (const char *s = text; *s != 0;) { /* in parts: the tail is put together */
        size_t n = strlen(s) < 37 ? strlen(s) : 37;
        assert_int_equal(write(o.write_fd, s, n), n);
        ab_program_output_take(&o);
        s += n;
    }
    ab_program_output_started(&o);
    ab_program_output_finish(&o);
    assert_string_equal(ab_program_output_says(&o, says, sizeof says), expected);
    ab_program_output_fini(&o);
}

static void the_last_line_is_what_it_says(void **state)
{
    char text[3 * AB_OUTPUT_TAIL + 1];
    (void)state;
    expect_says("", "");
    expect_says("one", "one");
    expect_says("one\ntwo\n\n", "two");
    expect_says("a\033[31mb\n", "a\\x1b[31mb");
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    expect_says(text, text + 2 * AB_OUTPUT_TAIL);
    memcpy(text + sizeof text - 6, "\nlast", 5);
    text[sizeof text - 1] = 0;
    expect_says(text, "last");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_of_the_bytes_and_not_of_how_they_came),
        cmocka_unit_test(nothing_and_something_differ),
        cmocka_unit_test(the_last_line_is_what_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
