/* SPDX-License-Identifier: MIT */
#include "runner/classify.h"
#include "support/cmocka.h"
#include "support/tape.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define EXITED(n) ((n) << 8)
#define KILLED(s) (s)

static struct ab_tape tape;
static struct ab_tape_map map;
static struct ab_run_report report;
static struct ab_ending ending;
static struct ab_outcome out;
static struct ab_err err;

static bool is_check;

static enum ab_status classify(const char *printed, const char *complained)
{
    struct ab_evidence e = {&ending, &report,    &map,
                            printed, complained, 2000000000,
                            1 << 30, is_check,   "in free(0x10), call 7 of the check"};
    return ab_classify(&e, &out, &err);
}

static int reset(void **state)
{
    (void)state;
    memset(&report, 0, sizeof report);
    memset(&ending, 0, sizeof ending);
    memset(&out, 0, sizeof out);
    report.state = AB_WORKER_RUNNING;
    report.op = 150;
    report.op_granularity = 1;
    is_check = false;
    return 0;
}

static void work_done_is_ok(void **state)
{
    (void)state;
    report.state = AB_WORKER_DONE;
    assert_int_equal(classify("", "a warning\nmore"), AB_OK);
    assert_int_equal(out.status, AB_BACKEND_OK);
    assert_string_equal(out.note, "a warning");
}

static void a_check_is_told_by_its_call_and_work_by_its_memory(void **state)
{
    (void)state;
    ending.wait_status = KILLED(SIGSEGV);
    strcpy(out.crash.memory, "write to 0x8: a null pointer + 8");
    strcpy(out.crash.function, "libmine.so+0x10");
    classify("", "");
    assert_non_null(strstr(out.reason, "); write to 0x8: a null pointer + 8; in libmine.so+0x10"));
    is_check = true;
    classify("", "");
    assert_string_equal(out.reason,
                        "SIGSEGV (invalid memory access) in free(0x10), call 7 of the check");
}

static void a_signal_is_named_with_the_op(void **state)
{
    (void)state;
    ending.wait_status = KILLED(SIGSEGV);
    classify("", "");
    assert_int_equal(out.status, AB_BACKEND_CRASHED);
    assert_non_null(strstr(out.reason, "SIGSEGV in op 150 ("));
    assert_non_null(strstr(out.reason, "phase churn"));
    report.op_granularity = 4096;
    classify("", "");
    assert_non_null(strstr(out.reason, "between ops 150 and 4246"));
    report.state = AB_WORKER_NONE;
    classify("", "");
    assert_non_null(strstr(out.reason, "before main"));
}

static void an_exit_before_the_end_is_a_crash(void **state)
{
    (void)state;
    ending.wait_status = EXITED(0);
    classify("", "");
    assert_int_equal(out.status, AB_BACKEND_CRASHED);
    ending.wait_status = EXITED(3);
    classify("", "");
    assert_non_null(strstr(out.reason, "exited with status 3"));
    report.state = AB_WORKER_DONE; /* a forged state does not help */
    classify("", "");
    assert_int_equal(out.status, AB_BACKEND_CRASHED);
}

static void what_we_ended_is_a_timeout_or_oom(void **state)
{
    (void)state;
    ending = (struct ab_ending){
        .end = AB_END_DEADLINE, .wait_status = KILLED(SIGKILL), .ignored_term = true};
    classify("", "");
    assert_int_equal(out.status, AB_BACKEND_TIMEOUT);
    assert_non_null(strstr(out.reason, "ignored SIGTERM"));
    ending.end = AB_END_MEMORY;
    classify("", "");
    assert_int_equal(out.status, AB_BACKEND_OOM);
    ending = (struct ab_ending){.wait_status = KILLED(SIGKILL), .oom_killed = true};
    classify("", "");
    assert_int_equal(out.status, AB_BACKEND_OOM);
    ending.oom_killed = false;
    classify("", "");
    assert_int_equal(out.status, AB_BACKEND_CRASHED);
}

static void failures_that_the_worker_tells_keep_their_reason(void **state)
{
    (void)state;
    static const struct {
        enum ab_failure failure;
        enum ab_backend_status status;
    } cases[] = {
        {AB_FAILURE_LIBRARY, AB_BACKEND_WRONG_LIBRARY},
        {AB_FAILURE_NULL, AB_BACKEND_OOM},
        {AB_FAILURE_CHECK, AB_BACKEND_FAILED_CHECK},
        {AB_FAILURE_OPEN, AB_BACKEND_FAILED_CHECK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        reset(NULL);
        ending.wait_status = EXITED(1);
        report.state = AB_WORKER_FAILED;
        report.failure = cases[i].failure;
        strcpy(report.reason, "said\033[31m so");
        assert_int_equal(classify("", ""), AB_OK);
        assert_int_equal(out.status, cases[i].status);
        assert_string_equal(out.reason, "said\\x1b[31m so");
    }
    report.failure = AB_FAILURE_SYSTEM;
    assert_int_equal(classify("", ""), AB_SYSTEM);
}

static void bad_conduct_costs_the_numbers(void **state)
{
    (void)state;
    report.state = AB_WORKER_DONE;
    ending.n_left = 2;
    classify("", "");
    assert_int_equal(out.status, AB_BACKEND_FAILED_CHECK);
    assert_non_null(strstr(out.reason, "2 child processes"));
    ending.n_left = 0;
    classify("hello\n", "");
    assert_int_equal(out.status, AB_BACKEND_FAILED_CHECK);
    assert_non_null(strstr(out.reason, "\"hello\""));
}

static void an_interruption_is_nobodys_fault(void **state)
{
    (void)state;
    ending.end = AB_END_INTERRUPTED;
    assert_int_equal(classify("", ""), AB_INTERRUPTED);
}

static void garbage_in_the_report_is_survived(void **state)
{
    (void)state;
    memset(&report, 0xff, sizeof report);
    ending.wait_status = KILLED(SIGBUS);
    assert_int_equal(classify("", ""), AB_OK);
    assert_int_equal(out.status, AB_BACKEND_CRASHED);
    report.state = AB_WORKER_FAILED;
    report.failure = AB_FAILURE_CHECK;
    ending.wait_status = EXITED(1);
    assert_int_equal(classify("", ""), AB_OK);
    report.state = AB_WORKER_RUNNING;
    report.op = map.image->n_ops - 1;
    ending.wait_status = KILLED(SIGBUS);
    assert_int_equal(classify("", ""), AB_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(work_done_is_ok, reset),
        cmocka_unit_test_setup(a_check_is_told_by_its_call_and_work_by_its_memory, reset),
        cmocka_unit_test_setup(a_signal_is_named_with_the_op, reset),
        cmocka_unit_test_setup(an_exit_before_the_end_is_a_crash, reset),
        cmocka_unit_test_setup(what_we_ended_is_a_timeout_or_oom, reset),
        cmocka_unit_test_setup(failures_that_the_worker_tells_keep_their_reason, reset),
        cmocka_unit_test_setup(bad_conduct_costs_the_numbers, reset),
        cmocka_unit_test_setup(an_interruption_is_nobodys_fault, reset),
        cmocka_unit_test_setup(garbage_in_the_report_is_survived, reset),
    };
    test_tape_churn_map(100, 1000, &tape, &map);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ab_tape_map_close(&map);
    ab_tape_fini(&tape);
    return failed;
}
