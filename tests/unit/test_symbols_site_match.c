/* SPDX-License-Identifier: MIT
 *
 * Patterns over stacks of this very program, whose functions and lines are known.
 */
#include "symbols/site_match.h"

#include "base/bits.h"
#include "support/cmocka.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ab_site_table table;
static struct ab_err err;
static uint32_t stacks[4]; /* of outer < inner; of other; of no module; none at all */
static char self[PATH_MAX];
static uint64_t inner_address;

__attribute__((noinline)) static int outer_site(int i)
{
    __asm__ volatile("" : "+r"(i));
    return i + 1;
}
enum { INNER_LINE = __LINE__ + 1 }; /* and the four after it */
__attribute__((noinline)) static int inner_site(int i)
{
    __asm__ volatile("" : "+r"(i));
    return i + 2;
}
__attribute__((noinline)) static int other_part_site(int i)
{
    __asm__ volatile("" : "+r"(i));
    return i + 3;
}

/* An address that a call at the function's first instruction would return to. */
static struct ab_site_frame frame_of(int (*function)(int))
{
    Dl_info info;
    void *at;
    memcpy(&at, &function, sizeof at);
    assert_true(dladdr(at, &info) != 0);
    return (struct ab_site_frame){(uintptr_t)at - (uintptr_t)info.dli_fbase + 1, 1};
}

static int set_up(void **state)
{
    (void)state;
    struct ab_site_frame nested[2], none = {0, 0};
    uint32_t module;
    assert_non_null(realpath("/proc/self/exe", self));
    module = ab_site_know_module(&table, self, strlen(self), NULL, 0);
    assert_int_equal(module, 1);
    nested[0] = frame_of(inner_site);
    nested[1] = frame_of(outer_site);
    inner_address = nested[0].address;
    stacks[0] = ab_site_know_stack(&table, nested, 2, AB_SITE_WHOLE);
    nested[0] = frame_of(other_part_site);
    stacks[1] = ab_site_know_stack(&table, nested, 1, AB_SITE_WHOLE);
    stacks[2] = ab_site_know_stack(&table, &none, 1, AB_SITE_WHOLE);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    ab_site_table_fini(&table);
    return 0;
}

/* Which of the stacks are meant, a bit each. */
static unsigned meant(const char *pattern)
{
    struct ab_site_matcher *m = ab_site_matcher_open(&table, NULL, NULL);
    unsigned mask = 0;
    if (ab_site_matcher_add(m, "no_such_function", &err) != AB_OK ||
        ab_site_matcher_add(m, pattern, &err) != AB_OK)
        fail_msg("%s", err.text);
    for (int round = 0; round < 2; round++) /* the second time it is remembered */
        for (unsigned i = 0; i < AB_ARRAY_LEN(stacks); i++) {
            bool is = ab_site_matches(m, 1, stacks[i]);
            assert_false(ab_site_matches(m, 0, stacks[i]));
            assert_true(round == 0 || is == ((mask >> i & 1) != 0));
            mask |= (unsigned)is << i;
        }
    ab_site_matcher_close(m);
    return mask;
}

static void functions_by_pattern(void **state)
{
    (void)state;
    assert_int_equal(meant("inner_site"), 1);
    assert_int_equal(meant("outer_site"), 1); /* not the innermost frame */
    assert_int_equal(meant("inner"), 0);
    assert_int_equal(meant("inner_*"), 1);
    assert_int_equal(meant("*_site"), 3);
    assert_int_equal(meant("*_part_?ite"), 2);
    assert_int_equal(meant("other_part_*"), 2);
    assert_int_equal(meant("a::b"), 0);
    assert_int_equal(meant("*"), 3); /* code without a name has none */
}

static void lines_of_files(void **state)
{
    char pattern[200];
    unsigned found = 0;
    (void)state;
    for (int line = INNER_LINE; line < INNER_LINE + 5; line++) {
        snprintf(pattern, sizeof pattern, "test_symbols_site_match.c:%d", line);
        found |= meant(pattern);
    }
    assert_int_equal(found, 1);
    assert_int_equal(meant("test_symbols_site_match.c:1"), 0);
    assert_int_equal(meant("test_symbols_site_match.c:*"), 3);
    assert_int_equal(meant("unit/test_symbols_site_match.c:*"), 3);
    assert_int_equal(meant("test_symbols_*.c:*"), 3);
    assert_int_equal(meant("other/test_symbols_site_match.c:*"), 0);
    assert_int_equal(meant("symbols_site_match.c:*"), 0); /* whole parts of the path */
}

static void addresses_in_modules(void **state)
{
    char pattern[PATH_MAX + 40];
    (void)state;
    snprintf(pattern, sizeof pattern, "%s+0x%llx", basename(self),
             (unsigned long long)inner_address);
    assert_int_equal(meant(pattern), 1);
    snprintf(pattern, sizeof pattern, "%s+0x%llX", self, (unsigned long long)inner_address);
    assert_int_equal(meant(pattern), 1);
    snprintf(pattern, sizeof pattern, "%s+0x%llx", basename(self),
             (unsigned long long)inner_address + 1);
    assert_int_equal(meant(pattern), 0);
    snprintf(pattern, sizeof pattern, "libc.so.6+0x%llx", (unsigned long long)inner_address);
    assert_int_equal(meant(pattern), 0);
}

static void what_is_no_pattern(void **state)
{
    static const char *const bad[] = {"",    "a.c:", ":12", "a.c:1x", "a.c:12345678901",
                                      "x:y", "a.c:0"};
    (void)state;
    for (size_t i = 0; i < AB_ARRAY_LEN(bad); i++) {
        err.text[0] = 0;
        assert_int_equal(ab_site_pattern_check(bad[i], &err), AB_USAGE);
        assert_non_null(strstr(err.text, "FILE:LINE"));
    }
    assert_int_equal(ab_site_pattern_check("ns::type::f*", &err), AB_OK);
    assert_int_equal(ab_site_pattern_check("a+0x", &err), AB_OK); /* operator+0x… is a name */
    assert_int_equal(ab_site_pattern_check("a.c:9", &err), AB_OK);
    assert_int_equal(ab_site_pattern_check("a+0xffffffffffffffffff", &err), AB_OK);
}

static void a_bounded_number_of_patterns(void **state)
{
    struct ab_site_matcher *m = ab_site_matcher_open(&table, NULL, NULL);
    (void)state;
    for (int i = 0; i < AB_SITE_PATTERNS_MAX; i++)
        assert_int_equal(ab_site_matcher_add(m, "inner_site", &err), AB_OK);
    assert_int_equal(ab_site_matcher_add(m, "inner_site", &err), AB_USAGE);
    assert_true(ab_site_matcher_mask(m, stacks[0]) == UINT64_MAX);
    ab_site_matcher_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_by_pattern),         cmocka_unit_test(lines_of_files),
        cmocka_unit_test(addresses_in_modules),         cmocka_unit_test(what_is_no_pattern),
        cmocka_unit_test(a_bounded_number_of_patterns),
    };
    return outer_site(1) + inner_site(1) + other_part_site(1) != 9
               ? 1
               : cmocka_run_group_tests(tests, set_up, tear_down);
}
