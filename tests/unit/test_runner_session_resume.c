/* SPDX-License-Identifier: MIT */
#include "result/numbers.h"
#include "runner/run_session.h"

#include "base/bits.h"
#include "support/report_session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct pair {
    struct fake_session *now, *was;
};

static struct pair make_pair(void)
{
    struct pair p = {fake_session_new(), fake_session_new()};
    p.was->s.tool.version = AB_VERSION;
    p.was->s.n_rounds = 2;
    return p;
}

static void free_pair(struct pair p)
{
    fake_session_free(p.now);
    fake_session_free(p.was);
}

static void the_same_work_may_go_on(void **state)
{
    (void)state;
    struct pair p = make_pair();
    struct ab_err err = {.text = ""};
    assert_int_equal(ab_resume_check(&p.now->s, &p.was->s, &err), AB_OK);
    assert_int_equal(ab_resume_check_backends(&p.now->s, &p.was->s, &err), AB_OK);
    free_pair(p);
}

static void all_that_differs_is_named_at_once(void **state)
{
    (void)state;
    static const char *const settings[] = {"rounds=3", "touch=none", NULL};
    static const int cpus[] = {1, 4, 5};
    struct pair p = make_pair();
    struct ab_err err = {.text = ""};
    p.was->s.seed = 5;
    p.was->s.n_rounds_planned = 9;
    p.was->s.settings = settings;
    p.now->s.cpus = cpus;
    p.now->s.n_cpus = 3;
    p.was->s.is_strict = true;
    p.was->s.window = 512;
    strcpy(p.was->s.host.thp, "never");
    strcpy(p.was->s.host.fingerprint, "00");
    p.was->s.tool.version = "9";
    assert_int_equal(ab_resume_check(&p.now->s, &p.was->s, &err), AB_USAGE);
    static const char *const wanted[] = {"the seed is 9007199254740993, was 5",
                                         "--rounds is 3, was 9",
                                         "a setting is touch=page, was touch=none",
                                         "--cpus is 1,4,5, was not given",
                                         "--order is free, was strict",
                                         "--window is 0, was 512",
                                         "THP is madvise, was never",
                                         "the machine's fingerprint is unknown, was 00",
                                         "allocbench is " AB_VERSION ", was 9"};
    for (size_t i = 0; i < AB_ARRAY_LEN(wanted); i++)
        if (strstr(err.text, wanted[i]) == NULL)
            fail_msg("no \"%s\" in: %s", wanted[i], err.text);
    free_pair(p);
}

static void one_setting_more_or_less_is_a_difference(void **state)
{
    (void)state;
    static const char *const fewer[] = {"rounds=3", NULL};
    struct pair p = make_pair();
    struct ab_err err = {.text = ""};
    p.was->s.settings = fewer;
    assert_int_equal(ab_resume_check(&p.now->s, &p.was->s, &err), AB_USAGE);
    assert_non_null(strstr(err.text, "a setting is touch=page, was none"));
    assert_int_equal(ab_resume_check(&p.was->s, &p.now->s, &err), AB_USAGE);
    free_pair(p);
}

static void hostile_texts_in_messages_are_printable(void **state)
{
    (void)state;
    struct pair p = make_pair();
    struct ab_err err = {.text = ""};
    strcpy(p.was->backends[1].name, "\x1b[31m");
    p.was->s.tape_sha256 = "\n\n";
    assert_int_equal(ab_resume_check(&p.now->s, &p.was->s, &err), AB_USAGE);
    for (const char *c = err.text; *c != 0; c++)
        assert_true((unsigned char)*c >= ' ');
    free_pair(p);
}

static void rounds_that_are_not_the_first_ones_are_refused(void **state)
{
    (void)state;
    struct pair p = make_pair();
    struct ab_err err = {.text = ""};
    p.was->rounds[1].index = 2;
    assert_int_equal(ab_resume_check(&p.now->s, &p.was->s, &err), AB_INPUT);
    free_pair(p);
}

static void another_library_under_the_same_name_is_refused(void **state)
{
    (void)state;
    struct pair p = make_pair();
    struct ab_err err = {.text = ""};
    strcpy(p.was->backends[FAKE_JEMALLOC].build_id, "ffff");
    assert_int_equal(ab_resume_check_backends(&p.now->s, &p.was->s, &err), AB_USAGE);
    assert_non_null(strstr(err.text, "the build id of jemalloc is a1b2"));
    free_pair(p);
}

static void a_back_end_that_failed_stays_failed(void **state)
{
    (void)state;
    struct pair p = make_pair();
    p.now->backends[FAKE_BROKEN].status = AB_BACKEND_OK;
    p.now->backends[FAKE_BROKEN].reason[0] = 0;
    p.now->backends[FAKE_SCUDO].was_named = true;
    ab_resume_keep_failed(&p.now->s, &p.was->s);
    assert_int_equal(p.now->backends[FAKE_BROKEN].status, AB_BACKEND_CRASHED);
    assert_non_null(strstr(p.now->backends[FAKE_BROKEN].reason, "SIGSEGV"));
    assert_int_equal(p.now->backends[FAKE_GLIBC].status, AB_BACKEND_OK);
    assert_false(p.now->backends[FAKE_SCUDO].was_named);
    free_pair(p);
}

static void what_was_measured_changes_its_owner(void **state)
{
    (void)state;
    static const char *const phases[] = {"steady", "drain"};
    struct pair p = make_pair();
    struct ab_session now = {
        .phases = phases, .n_phases = 2, .n_backends = FAKE_COUNT, .backends = p.now->backends};
    char steady[] = "steady"; /* as in a document that goes away */
    uint32_t n_results = p.was->s.n_results;
    p.was->results[0].phase = steady;
    ab_resume_adopt(&now, &p.was->s);
    assert_int_equal(now.n_rounds, 2);
    assert_int_equal(now.n_rounds_resumed, 2);
    assert_int_equal(now.n_results, n_results);
    assert_int_equal(now.cap_results, n_results);
    assert_ptr_equal(now.results[0].phase, phases[0]);
    assert_null(p.was->s.results);
    assert_int_equal(p.was->s.n_results, 0);
    free_pair(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_work_may_go_on),
        cmocka_unit_test(all_that_differs_is_named_at_once),
        cmocka_unit_test(one_setting_more_or_less_is_a_difference),
        cmocka_unit_test(hostile_texts_in_messages_are_printable),
        cmocka_unit_test(rounds_that_are_not_the_first_ones_are_refused),
        cmocka_unit_test(another_library_under_the_same_name_is_refused),
        cmocka_unit_test(a_back_end_that_failed_stays_failed),
        cmocka_unit_test(what_was_measured_changes_its_owner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
