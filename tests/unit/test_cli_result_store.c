/* SPDX-License-Identifier: MIT */
#include "cli/benchmark/result_store.h"

#include "base/bits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void a_stem_is_name_time_and_digest(void **state)
{
    (void)state;
    static const struct {
        const char *name, *stem;
    } names[] = {
        {"churn", "churn-20260102T030405-0123abcd"},
        {"app.abt", "app.abt-20260102T030405-0123abcd"},
        {"", "result-20260102T030405-0123abcd"},
        {"..", "_.-20260102T030405-0123abcd"},
        {"-rf", "_rf-20260102T030405-0123abcd"},
        {"../../etc/passwd", "_._.._etc_passwd-20260102T030405-0123abcd"},
        {"a b\n\x1b[m/\xc3\xa9", "a_b___m___-20260102T030405-0123abcd"},
    };
    for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
        struct ab_session s = {
            .name = names[i].name,
            .tape_sha256 = "0123abcd5e60718293a4b5c6d7e8f900112233445566778899aabbccddeeff00"};
        char stem[128];
        ab_store_stem(&s, 1767323045, stem, sizeof stem);
        assert_string_equal(stem, names[i].stem);
    }
}

static void a_long_name_is_cut(void **state)
{
    (void)state;
    char name[301] = "", stem[128];
    memset(name, 'n', 300);
    struct ab_session s = {.name = name, .tape_sha256 = "0123abcd"};
    ab_store_stem(&s, 0, stem, sizeof stem);
    assert_int_equal(strlen(stem), 64 + strlen("-19700101T000000-0123abcd"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stem_is_name_time_and_digest),
        cmocka_unit_test(a_long_name_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
