/* SPDX-License-Identifier: MIT
 *
 * Gates on changes of a time: what unchanged libraries, the speed of the CPU and other programs say
 * about a failure.
 */
#include "result/numbers.h"
#include "stats/gate.h"

#include "base/bits.h"
#include "support/compare_sides.h"

#include <math.h>
#include <stdio.h>

#define TIME "jemalloc:steady/all/ns_per_op < +5%"
#define RATE "jemalloc:steady/all/ops_per_s > -5%"

/* Both in their times and in what they do in a second. */
static void slow(struct fake_session *f, unsigned backend, double factor)
{
    slow_down(f, backend, factor);
    for (uint32_t i = 0; i < f->s.n_results; i++)
        if (f->results[i].backend == backend)
            f->results[i].ops_per_s /= factor;
}

static const struct ab_checked *judge(struct fixture *x, const char *text)
{
    static const struct ab_gate_phase phases[] = {{.name = "steady", .kinds = 1u << AB_OP_ALLOC}};
    const char *names[] = {x->a->backends[0].name, x->a->backends[1].name};
    struct ab_gate_scope scope = {phases, 1, names, 2, NULL, 0, false};
    static struct ab_gate g;
    struct ab_gate_error error;
    if (!ab_gate_parse(text, false, &scope, &g, &error))
        fail_msg("%s: %s", text, error.text);
    free(x->b->s.gates);
    ab_gates_judge(&g, 1, &x->b->s, &x->a->s);
    return x->b->s.gates;
}

static int end(void **state)
{
    struct fixture *x = *state;
    free(x->b->s.gates);
    x->b->s.gates = NULL;
    return tear_down(state);
}

static void set_builds(struct fixture *x, const char *jemalloc)
{
    strcpy(x->a->backends[FAKE_GLIBC].build_id, "91bc");
    strcpy(x->b->backends[FAKE_GLIBC].build_id, "91bc");
    strcpy(x->a->backends[FAKE_JEMALLOC].build_id, "11aa");
    strcpy(x->b->backends[FAKE_JEMALLOC].build_id, jemalloc);
}

static void a_changed_build_is_judged_relative_to_the_unchanged_one(void **state)
{
    static const struct {
        const char *gate;
        double glibc, jemalloc;
        bool is_new_build;
        enum ab_verdict verdict;
    } cases[] = {
        {TIME, 1 / 1.08, 1.06 / 1.08, true, AB_VERDICT_FAIL}, /* hidden by a faster machine */
        {TIME, 1.08, 1.08, true, AB_VERDICT_INCONCLUSIVE},
        {TIME, 1.08, 1.08, false, AB_VERDICT_INCONCLUSIVE},
        {TIME, 1.03, 1.03, true, AB_VERDICT_PASS},
        {TIME, 1.00, 1.08, true, AB_VERDICT_FAIL},
        {TIME, 1.00, 1.08, false, AB_VERDICT_INCONCLUSIVE},
        {TIME, 1.20, 1.40, true, AB_VERDICT_FAIL},
        {TIME, 1.20, 1.40, false, AB_VERDICT_INCONCLUSIVE},
        {RATE, 1 / 1.08, 1.06 / 1.08, true, AB_VERDICT_FAIL},
        {RATE, 1.08, 1.08, true, AB_VERDICT_INCONCLUSIVE},
        {RATE, 1.00, 1.08, true, AB_VERDICT_FAIL},
        {RATE, 1.03, 1.03, true, AB_VERDICT_PASS},
        {"jemalloc:steady/all/ns_per_op > -5%", 1 / 1.08, 1 / 1.08, true, AB_VERDICT_INCONCLUSIVE},
        {"jemalloc:steady/all/ns_per_op > -5%", 1.08, 1 / 1.08, true, AB_VERDICT_FAIL},
        {"jemalloc:steady/all/ns_per_op < -5%", 1.00, 0.90, true, AB_VERDICT_PASS},
        {"jemalloc:steady/all/ns_per_op < -5%", 0.90, 0.90, true, AB_VERDICT_FAIL}, /* no gain */
        {"jemalloc:steady/all/ns_per_op < -5%", 1.00, 1.00, false, AB_VERDICT_FAIL},
    };
    struct fixture *x = *state;
    for (size_t i = 0; i < AB_ARRAY_LEN(cases); i++) {
        set_builds(x, cases[i].is_new_build ? "22bb" : "11aa");
        slow(x->b, FAKE_GLIBC, cases[i].glibc);
        slow(x->b, FAKE_JEMALLOC, cases[i].jemalloc);
        const struct ab_checked *r = judge(x, cases[i].gate);
        if (r->verdict != cases[i].verdict)
            fail_msg("case %zu: %s, %g", i, ab_gate_verdicts[r->verdict], r->effect.ratio);
        bool is_told = strstr(r->reason, "the same build in both") != NULL ||
                       strstr(r->reason, "unchanged glibc") != NULL;
        bool is_alone = !cases[i].is_new_build && r->verdict == AB_VERDICT_FAIL;
        if (is_told != (r->verdict != AB_VERDICT_PASS && !is_alone))
            fail_msg("case %zu: '%s'", i, r->reason);
        assert_int_equal(r->status, r->verdict == AB_VERDICT_INCONCLUSIVE ? AB_INCONCLUSIVE
                                    : r->verdict == AB_VERDICT_PASS       ? AB_OK
                                                                          : AB_GATE);
        slow(x->b, FAKE_GLIBC, 1 / cases[i].glibc);
        slow(x->b, FAKE_JEMALLOC, 1 / cases[i].jemalloc);
    }
}

static void a_slower_cpu_is_no_slower_library(void **state)
{
    struct fixture *x = *state;
    x->a->s.noise.canary_quiet_ns = 1250;
    x->b->s.noise.canary_quiet_ns = 1250 * 1.06;
    slow(x->b, FAKE_JEMALLOC, 1.08);
    const struct ab_checked *r = judge(x, TIME);
    assert_int_equal(r->verdict, AB_VERDICT_INCONCLUSIVE);
    assert_non_null(strstr(r->reason, "CPU drift"));
    x->b->s.noise.canary_quiet_ns = 1250;
    assert_int_equal(judge(x, TIME)->verdict, AB_VERDICT_FAIL);
}

static void of_a_busy_machine_more_is_asked(void **state)
{
    struct fixture *x = *state;
    slow(x->b, FAKE_JEMALLOC, 1.06);
    assert_int_equal(judge(x, TIME)->verdict, AB_VERDICT_FAIL);
    x->b->s.noise = (struct ab_noise){.runs = 60, .wall_s = 10, .cpu_s = 8, .slices_s = 10};
    const struct ab_checked *r = judge(x, TIME);
    assert_int_equal(r->verdict, AB_VERDICT_INCONCLUSIVE);
    assert_non_null(strstr(r->reason, "the runs had no CPU for 20 % of the time"));
    slow(x->b, FAKE_JEMALLOC, 2);
    assert_int_equal(judge(x, TIME)->verdict, AB_VERDICT_FAIL);
}

/* What is no time is not the machine's. */
static void counts_are_not_excused(void **state)
{
    struct fixture *x = *state;
    set_builds(x, "22bb");
    for (uint32_t i = 0; i < x->b->s.n_results; i++)
        x->b->results[i].faults_minor = 2 * x->b->results[i].faults_minor + 100;
    assert_int_equal(judge(x, "jemalloc:steady/all/faults_minor < +5%")->verdict, AB_VERDICT_FAIL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_changed_build_is_judged_relative_to_the_unchanged_one),
        TEST(a_slower_cpu_is_no_slower_library),
        TEST(of_a_busy_machine_more_is_asked),
        TEST(counts_are_not_excused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
