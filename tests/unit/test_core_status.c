/* SPDX-License-Identifier: MIT */
#include "core/status.h"
#include "support/cmocka.h"

#include <errno.h>
#include <string.h>

static void a_failure_fills_the_error_and_returns_its_status(void **state)
{
    (void)state;
    struct ab_err err = {0};
    assert_int_equal(ab_fail(&err, AB_INPUT, "byte %d", 7), AB_INPUT);
    assert_int_equal(err.status, AB_INPUT);
    assert_string_equal(err.text, "byte 7");
    assert_int_equal(ab_fail(NULL, AB_USAGE, "nobody asks"), AB_USAGE);
}

static void a_system_failure_tells_errno(void **state)
{
    (void)state;
    struct ab_err err = {0};
    errno = ENOENT;
    ab_fail_errno(&err, AB_SYSTEM, "cannot open '%s'", "x");
    assert_string_equal(err.text, "cannot open 'x': No such file or directory");
}

static void context_is_put_in_front(void **state)
{
    (void)state;
    struct ab_err err = {0};
    ab_fail(&err, AB_INPUT, "bad magic");
    assert_int_equal(ab_err_context(&err, "%s: ", "a.abt"), AB_INPUT);
    assert_string_equal(err.text, "a.abt: bad magic");
}

static void of_two_exit_codes_the_worse_one_counts(void **state)
{
    (void)state;
    static const int from_good_to_bad[] = {0, 5, 1, 2, 3, 4, 130};
    for (size_t i = 0; i < sizeof from_good_to_bad / sizeof from_good_to_bad[0]; i++)
        for (size_t k = i; k < sizeof from_good_to_bad / sizeof from_good_to_bad[0]; k++) {
            assert_int_equal(ab_exit_code_worse(from_good_to_bad[i], from_good_to_bad[k]),
                             from_good_to_bad[k]);
            assert_int_equal(ab_exit_code_worse(from_good_to_bad[k], from_good_to_bad[i]),
                             from_good_to_bad[k]);
        }
    assert_int_equal(ab_status_worse(AB_OK, AB_INPUT), AB_INPUT);
    assert_int_equal(ab_status_worse(AB_SYSTEM, AB_USAGE), AB_SYSTEM);
    assert_int_equal(ab_status_worse(AB_OK, AB_OK), AB_OK);
}

static void texts_that_are_too_long_are_cut_and_terminated(void **state)
{
    (void)state;
    struct ab_err err = {0};
    char big[3000];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = 0;
    ab_fail(&err, AB_INPUT, "%s", big);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    ab_err_context(&err, "%s", big);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
}

static void exit_codes_are_those_that_are_documented(void **state)
{
    (void)state;
    assert_int_equal(ab_status_exit_code(AB_OK), 0);
    assert_int_equal(ab_status_exit_code(AB_GATE), 1);
    assert_int_equal(ab_status_exit_code(AB_USAGE), 2);
    assert_int_equal(ab_status_exit_code(AB_CONFIG), 2);
    assert_int_equal(ab_status_exit_code(AB_INPUT), 3);
    assert_int_equal(ab_status_exit_code(AB_BACKEND), 4);
    assert_int_equal(ab_status_exit_code(AB_INCONCLUSIVE), 5);
    assert_int_equal(ab_status_exit_code(AB_INTERRUPTED), 130);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_fills_the_error_and_returns_its_status),
        cmocka_unit_test(a_system_failure_tells_errno),
        cmocka_unit_test(context_is_put_in_front),
        cmocka_unit_test(of_two_exit_codes_the_worse_one_counts),
        cmocka_unit_test(texts_that_are_too_long_are_cut_and_terminated),
        cmocka_unit_test(exit_codes_are_those_that_are_documented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
