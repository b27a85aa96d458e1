/* SPDX-License-Identifier: MIT */
#include "result/numbers.h"
#include "result/passes.h"

#include "support/report_session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct ab_field *field(const char *name)
{
    for (size_t i = 0; i < ab_field_count; i++)
        if (strcmp(ab_fields[i].name, name) == 0)
            return &ab_fields[i];
    fail_msg("no %s", name);
    return NULL;
}

static void every_number_is_of_one_pass(void **state)
{
    static const struct {
        const char *name;
        enum ab_pass pass;
    } rows[] = {{"ns_per_op", AB_PASS_THROUGHPUT},
                {"faults_minor", AB_PASS_THROUGHPUT},
                {"p50", AB_PASS_LATENCY},
                {"p99.99", AB_PASS_LATENCY},
                {"n", AB_PASS_LATENCY},
                {"overflow", AB_PASS_LATENCY},
                {"min", AB_PASS_LATENCY},
                {"mean", AB_PASS_LATENCY},
                {"max", AB_PASS_TAIL},
                {"tail_n", AB_PASS_TAIL},
                {"tail_over_10us", AB_PASS_TAIL},
                {"live_peak_blocks", AB_PASS_TAIL},
                {"n_ops", AB_PASS_THROUGHPUT},
                {"latency_pass_ns_per_op", AB_PASS_LATENCY},
                {"instr_per_op", AB_PASS_THROUGHPUT}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (ab_field_pass(field(rows[i].name)) != rows[i].pass)
            fail_msg("%s is of %s", rows[i].name,
                     ab_pass_names[ab_field_pass(field(rows[i].name))]);
}

static void a_pass_is_in_the_first_rounds_of_the_plan(void **state)
{
    struct ab_pass_plan plan = {.is_known = false};
    (void)state;
    assert_true(ab_pass_is_in(&plan, AB_PASS_TAIL, 999)); /* an older result */
    plan.is_known = true;
    plan.rounds[AB_PASS_TAIL] = 2;
    plan.rounds[AB_PASS_MEMORY] = AB_EVERY_ROUND;
    assert_true(ab_pass_is_in(&plan, AB_PASS_TAIL, 1));
    assert_false(ab_pass_is_in(&plan, AB_PASS_TAIL, 2));
    assert_true(ab_pass_is_in(&plan, AB_PASS_MEMORY, 999));
    assert_false(ab_pass_is_planned(&plan, AB_PASS_LATENCY));
    assert_true(ab_pass_is_in(&plan, AB_PASS_THROUGHPUT, 7)); /* whatever the plan says */
}

static void the_reason_names_the_pass_and_the_option(void **state)
{
    char why[128];
    (void)state;
    struct fake_session *f = fake_session_of(8);
    f->s.passes = (struct ab_pass_plan){
        .is_known = true, .rounds = {[AB_PASS_TAIL] = 3, [AB_PASS_LATENCY] = AB_EVERY_ROUND}};
    assert_int_equal(ab_pass_round_count(&f->s, AB_PASS_TAIL), 3);
    assert_int_equal(ab_pass_round_count(&f->s, AB_PASS_LATENCY), 8);
    ab_pass_why_missing(&f->s, AB_PASS_MEMORY, why, sizeof why);
    assert_string_equal(why, "the memory pass did not run (--passes)");
    ab_pass_why_missing(&f->s, AB_PASS_TAIL, why, sizeof why);
    assert_string_equal(why, "");
    f->s.is_strict = true;
    f->s.passes.rounds[AB_PASS_LATENCY] = 0;
    ab_pass_why_missing(&f->s, AB_PASS_LATENCY, why, sizeof why);
    assert_string_equal(why, "the latency pass does not run with --order strict");
    fake_session_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_is_of_one_pass),
        cmocka_unit_test(a_pass_is_in_the_first_rounds_of_the_plan),
        cmocka_unit_test(the_reason_names_the_pass_and_the_option),
    };
    return cmocka_run_group_tests_name("passes", tests, NULL, NULL);
}
