/* SPDX-License-Identifier: MIT
 *
 * Iterations as metrics: rounds by themselves and merged, and what gates make of them.
 */
#include "base/bits.h"
#include "result/numbers.h"
#include "stats/compare.h"
#include "stats/gate.h"
#include "stats/metric.h"
#include "support/cmocka.h"
#include "support/report_session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 6, PER_ROUND = 200 };
static struct ab_iterations records[2 * ROUNDS];

static void fill(struct ab_iterations *x, uint32_t backend, uint32_t round, uint64_t ns)
{
    *x = (struct ab_iterations){.backend = backend,
                                .phase = NULL,
                                .round = round,
                                .name = "frame",
                                .budget_ns = 1000,
                                .call_ns = 25,
                                .n = PER_ROUND,
                                .n_calls = 10 * PER_ROUND,
                                .n_calls_most = 40,
                                .hdr = ab_hdr_new()};
    for (unsigned k = 0; k < PER_ROUND; k++)
        ab_hdr_record(x->hdr, ns);
}

/* Frames of glibc take 100 ns to 105 ns by the round, in the last one three take 2,000; those of jemalloc
 * no more than in the null back end. */
static struct fake_session *session(void)
{
    struct fake_session *f = fake_session_of(ROUNDS);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        fill(&records[2 * i], FAKE_GLIBC, i, 100 + i);
        fill(&records[2 * i + 1], FAKE_JEMALLOC, i, 0);
        records[2 * i].phase = records[2 * i + 1].phase = f->s.phases[0];
    }
    struct ab_iterations *last = &records[2 * ROUNDS - 2];
    for (unsigned k = 0; k < 3; k++)
        ab_hdr_record(last->hdr, 2000);
    last->n += 3;
    last->n_over_budget = 3;
    f->s.iterations = records;
    f->s.n_iterations = AB_ARRAY_LEN(records);
    return f;
}

static void finish(struct fake_session *f)
{
    for (unsigned i = 0; i < AB_ARRAY_LEN(records); i++)
        free(records[i].hdr);
    f->s.iterations = NULL;
    f->s.n_iterations = 0;
    fake_session_free(f);
}

static double value(const struct fake_session *f, unsigned backend, unsigned field, uint32_t round)
{
    struct ab_metric m = {
        .phase = f->s.phases[0], .number = &ab_iteration_fields[field], .each = "frame"};
    return round == AB_ITERATIONS_ALL_ROUNDS ? ab_metric_value(&f->s, backend, &m)
                                             : ab_metric_of_round(&f->s, backend, &m, round);
}

static void rounds_and_all_of_them(void **state)
{
    (void)state;
    const uint32_t all = AB_ITERATIONS_ALL_ROUNDS;
    struct fake_session *f = session();
    assert_true(value(f, FAKE_GLIBC, AB_ITERATION_P50, all) == 103); /* the 602nd of 1,203 */
    assert_true(value(f, FAKE_GLIBC, AB_ITERATION_P50, 3) == 103);
    assert_true(value(f, FAKE_GLIBC, AB_ITERATION_P99, all) == 105);
    assert_true(isnan(value(f, FAKE_GLIBC, AB_ITERATION_P99, 3)));
    assert_true(value(f, FAKE_GLIBC, AB_ITERATION_MAX, all) == 2000);
    assert_true(value(f, FAKE_GLIBC, AB_ITERATION_MAX, 0) == 100);
    assert_true(fabs(value(f, FAKE_GLIBC, AB_ITERATION_MEAN, all) - 107.23) < 0.5);
    assert_true(value(f, FAKE_GLIBC, AB_ITERATION_MISSED, all) == 3);
    assert_true(value(f, FAKE_GLIBC, AB_ITERATION_MISSED, 0) == 0);
    assert_true(fabs(value(f, FAKE_GLIBC, AB_ITERATION_MISSED_PERCENT, all) - 300. / 1203) < 1e-9);
    assert_true(isnan(value(f, FAKE_JEMALLOC, AB_ITERATION_P50, all))); /* not told from null */
    assert_true(value(f, FAKE_JEMALLOC, AB_ITERATION_MISSED, all) == 0);
    assert_true(isnan(value(f, FAKE_ARENA, AB_ITERATION_MISSED, all))); /* no record */
    records[0].hdr->overflow = 1;
    assert_true(isnan(value(f, FAKE_GLIBC, AB_ITERATION_MAX, all)));
    assert_true(isnan(value(f, FAKE_GLIBC, AB_ITERATION_MEAN, all)));
    finish(f);
}

static const struct ab_number_field *find(const char *name)
{
    return ab_metric_kind_find(&ab_metric_kinds[AB_METRIC_ITERATION], name, strlen(name), false);
}

static void each_field_is_found_by_its_name(void **state)
{
    (void)state;
    for (unsigned i = 0; i < AB_ITERATION_FIELDS; i++) {
        const char *name = ab_iteration_fields[i].name;
        assert_ptr_equal(find(name), &ab_iteration_fields[i]);
    }
    assert_null(find("p999"));
    assert_null(find("p"));
}

static const struct ab_checked *judge(struct fake_session *f, const struct ab_session *base,
                                      unsigned backend, const char *text)
{
    static struct ab_gate gate;
    const struct ab_gate_phase phase = {
        .name = f->s.phases[0], .iteration = "frame", .has_budget = true};
    const char *const names[] = {"glibc", "jemalloc"};
    const struct ab_gate_scope scope = {&phase, 1, names, 2, NULL, 0, false};
    struct ab_gate_error error;
    char whole[200];
    snprintf(whole, sizeof whole, "%s:%s/%s", names[backend], phase.name, text);
    if (!ab_gate_parse(whole, false, &scope, &gate, &error))
        fail_msg("%s", error.text);
    free(f->s.gates);
    f->s.gates = NULL;
    ab_gates_judge(&gate, 1, &f->s, base);
    return f->s.gates;
}

static void expect(struct fake_session *f, unsigned backend, const char *text,
                   enum ab_verdict verdict)
{
    const struct ab_checked *r = judge(f, &f->s, backend, text);
    if (r->verdict != verdict)
        fail_msg("%s: %s, value %g: %s", text, ab_gate_verdicts[r->verdict], r->effect.ratio,
                 r->reason);
    assert_true((r->verdict == AB_VERDICT_NOT_EVALUATED) <= (r->reason[0] != 0));
}

/* The same for a change of glibc. */
static const struct ab_checked *expect_change(struct fake_session *f,
                                              const struct fake_session *base, const char *text,
                                              enum ab_verdict verdict)
{
    const struct ab_checked *r = judge(f, &base->s, FAKE_GLIBC, text);
    if (r->verdict != verdict)
        fail_msg("%s: %s, value %g: %s", text, ab_gate_verdicts[r->verdict], r->effect.ratio,
                 r->reason);
    return r;
}

static void gates_bound_what_the_table_shows(void **state)
{
    (void)state;
    struct fake_session *f = session();
    expect(f, FAKE_GLIBC, "frame/p50 < 104ns", AB_VERDICT_PASS);
    expect(f, FAKE_GLIBC, "frame/p50 < 103ns", AB_VERDICT_FAIL);
    expect(f, FAKE_GLIBC, "iteration/max <= 2us", AB_VERDICT_PASS);
    expect(f, FAKE_GLIBC, "frame/missed = 3", AB_VERDICT_PASS);
    expect(f, FAKE_GLIBC, "frame/missed = 2", AB_VERDICT_FAIL);
    expect(f, FAKE_GLIBC, "frame/missed_percent < 0.2%", AB_VERDICT_FAIL);
    expect(f, FAKE_GLIBC, "frame/p50 < +1%", AB_VERDICT_PASS); /* against itself */
    free(f->s.gates);
    f->s.gates = NULL;
    finish(f);
}

/* 10 calls of 25 ns on average, and 40 at most: what cannot be told from the null back end takes no
 * more than timing that many, and at a percentile may be any iteration. */
static void what_cannot_be_told_passes_only_above_what_timing_takes(void **state)
{
    (void)state;
    struct fake_session *f = session();
    const struct ab_checked *r = judge(f, NULL, FAKE_JEMALLOC, "frame/p50 < 1001ns");
    assert_int_equal(r->verdict, AB_VERDICT_PASS);
    assert_true(r->effect.ratio == 1000);
    assert_non_null(strstr(r->reason, "no more than the same calls take in the null back end"));
    expect(f, FAKE_JEMALLOC, "frame/mean < 251ns", AB_VERDICT_PASS);
    expect(f, FAKE_JEMALLOC, "frame/mean < 249ns", AB_VERDICT_NOT_EVALUATED);
    for (unsigned i = 0; i < 3; i++) {
        static const char *const above_mean[] = {"frame/p50 < 999ns", "frame/p99 < 999ns",
                                                 "frame/max < 999ns"};
        expect(f, FAKE_JEMALLOC, above_mean[i], AB_VERDICT_NOT_EVALUATED);
        assert_int_equal(f->s.gates[0].status, AB_GATE);
    }
    expect(f, FAKE_JEMALLOC, "frame/missed = 0", AB_VERDICT_PASS);
    expect(f, FAKE_JEMALLOC, "frame/p50 < 1x glibc", AB_VERDICT_NOT_EVALUATED);
    free(f->s.gates);
    f->s.gates = NULL;
    finish(f);
}

static void what_is_not_known_is_not_evaluated(void **state)
{
    (void)state;
    struct fake_session *f = session(), *base = NULL;
    for (unsigned i = 0; i < AB_ARRAY_LEN(records); i++)
        if (records[i].backend == FAKE_GLIBC) {
            records[i].n = records[i].n_over_budget = 0;
            ab_hdr_init(records[i].hdr);
        }
    expect(f, FAKE_GLIBC, "frame/missed = 0", AB_VERDICT_NOT_EVALUATED);
    assert_non_null(strstr(f->s.gates[0].reason, "no iteration"));
    expect(f, FAKE_GLIBC, "frame/p99 < 1s", AB_VERDICT_NOT_EVALUATED);
    f->s.n_iterations = 0;
    expect(f, FAKE_GLIBC, "frame/missed = 0", AB_VERDICT_NOT_EVALUATED);
    f->s.n_iterations = AB_ARRAY_LEN(records);
    base = fake_session_of(ROUNDS);
    struct ab_iterations other = records[0];
    other.budget_ns = 2000;
    base->s.iterations = &other;
    base->s.n_iterations = 1;
    const struct ab_checked *r = judge(f, &base->s, FAKE_GLIBC, "frame/missed_percent < +1%");
    assert_int_equal(r->verdict, AB_VERDICT_NOT_EVALUATED);
    assert_non_null(strstr(r->reason, "another budget"));
    base->s.iterations = NULL;
    base->s.n_iterations = 0;
    fake_session_free(base);
    free(f->s.gates);
    f->s.gates = NULL;
    finish(f);
}

static const struct ab_checked *cell_of(const struct ab_comparison *c, const char *metric)
{
    for (uint32_t i = 0; i < c->n_cells; i++)
        if (c->cells[i].iteration != NULL && strcmp(c->cells[i].metric, metric) == 0 &&
            strcmp(c->cells[i].backend, "glibc") == 0)
            return &c->cells[i];
    return NULL;
}

/* The base: 50 ns to 52.5 ns a frame, and none over the budget. */
static void comparisons_judge_the_rounds_of_both(void **state)
{
    (void)state;
    struct fake_session *f = session(), *base = fake_session_of(ROUNDS);
    struct ab_iterations was[ROUNDS];
    struct ab_comparison c;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        fill(&was[i], FAKE_GLIBC, i, 50 + i / 2);
        was[i].phase = base->s.phases[0];
    }
    base->s.iterations = was;
    base->s.n_iterations = ROUNDS;
    ab_compare_results(&base->s, &f->s, 0.05, &c);
    const struct ab_checked *p50 = cell_of(&c, "p50"), *missed = cell_of(&c, "missed_percent");
    assert_non_null(p50);
    assert_string_equal(p50->iteration, "frame");
    assert_string_equal(ab_check_word(p50), "worse");
    assert_true(p50->effect.low > 1.8 && p50->effect.high < 2.2 && p50->effect.n_new == ROUNDS);
    assert_true(p50->base == 51 && p50->now == 103);
    assert_string_equal(ab_check_word(missed), "n/a"); /* no ratio to none */
    assert_true(missed->base == 0 && missed->now > 0);
    ab_comparison_fini(&c);
    for (uint32_t i = 0; i < ROUNDS; i++)
        was[i].budget_ns = 500;
    ab_compare_results(&base->s, &f->s, 0.05, &c);
    assert_null(cell_of(&c, "missed_percent"));
    assert_non_null(cell_of(&c, "p50"));
    bool is_said = false;
    for (uint32_t i = 0; i < c.n_notes; i++)
        is_said = is_said || strstr(c.notes[i], "budget of an iteration: 500 ns, now 1") != NULL;
    assert_true(is_said);
    ab_comparison_fini(&c);
    for (uint32_t i = 0; i < ROUNDS; i++)
        free(was[i].hdr);
    base->s.iterations = NULL;
    base->s.n_iterations = 0;
    fake_session_free(base);
    finish(f);
}

/* Rounds in which none is missed count as what they are: to leave them out makes all rounds alike. */
static void rounds_without_missed_ones_count(void **state)
{
    (void)state;
    struct fake_session *f = session(), *base = fake_session_of(ROUNDS);
    struct ab_iterations was[ROUNDS];
    struct ab_comparison c;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        fill(&was[i], FAKE_GLIBC, i, 100);
        was[i].phase = base->s.phases[0];
        was[i].n_over_budget = i % 2 == 0 ? 10 : 0;
        records[2 * i].n_over_budget = 10;
    }
    base->s.iterations = was;
    base->s.n_iterations = ROUNDS;
    expect_change(f, base, "frame/missed_percent < +10%", AB_VERDICT_INCONCLUSIVE);
    ab_compare_results(&base->s, &f->s, 0.05, &c);
    const struct ab_checked *cell = cell_of(&c, "missed_percent");
    assert_true(cell->effect.n_base == ROUNDS && cell->effect.low < cell->effect.high);
    ab_comparison_fini(&c);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        was[i].n_over_budget = 10 + i;
        records[2 * i].n_over_budget = 0;
    }
    expect_change(f, base, "frame/missed_percent < +10%",
                  AB_VERDICT_PASS); /* none is, then as now */
    for (uint32_t i = 0; i < ROUNDS; i++) {
        was[i].n_over_budget = 0;
        records[2 * i].n_over_budget = 10;
    }
    const struct ab_checked *r = expect_change(f, base, "frame/missed_percent < +10%",
                                               AB_VERDICT_NOT_EVALUATED);
    assert_string_equal(r->reason, "no ratio: a value is 0 or missing on one side");
    free(f->s.gates);
    f->s.gates = NULL;
    for (uint32_t i = 0; i < ROUNDS; i++)
        free(was[i].hdr);
    base->s.iterations = NULL;
    base->s.n_iterations = 0;
    fake_session_free(base);
    finish(f);
}

/* Counts of a round against counts of a round: 10 and 20 are twice as many, of which noise is a part. */
static void counts_have_ratios_by_their_rounds(void **state)
{
    (void)state;
    struct fake_session *f = session();
    for (uint32_t i = 0; i < ROUNDS; i++) {
        records[2 * i].n_over_budget = 20 + i % 2;
        records[2 * i + 1].n_over_budget = 10;
    }
    expect(f, FAKE_GLIBC, "frame/missed < 1.8x jemalloc", AB_VERDICT_FAIL);
    assert_true(f->s.gates[0].effect.low >= 2 && f->s.gates[0].effect.high < 2.2);
    expect(f, FAKE_JEMALLOC, "frame/missed < 0.6x glibc", AB_VERDICT_PASS);
    for (uint32_t i = 0; i < ROUNDS; i++)
        records[2 * i + 1].n_over_budget = 0;
    expect(f, FAKE_JEMALLOC, "frame/missed < 0.6x glibc", AB_VERDICT_PASS);
    expect(f, FAKE_GLIBC, "frame/missed < 100x jemalloc", AB_VERDICT_FAIL);
    free(f->s.gates);
    f->s.gates = NULL;
    finish(f);
}

/* A round below the null back end is no round less, and a number of all rounds may be in none. */
static void ratios_need_every_round(void **state)
{
    (void)state;
    struct fake_session *f = session();
    for (uint32_t i = 0; i < ROUNDS; i++) {
        ab_hdr_init(records[2 * i + 1].hdr);
        for (unsigned k = 0; k < PER_ROUND; k++)
            ab_hdr_record(records[2 * i + 1].hdr, i == 0 ? 0 : 200 + i);
    }
    expect(f, FAKE_GLIBC, "frame/p50 < 1x jemalloc", AB_VERDICT_NOT_EVALUATED);
    assert_non_null(strstr(f->s.gates[0].reason, "no ratio, because in some rounds"));
    ab_hdr_init(records[1].hdr);
    ab_hdr_record(records[1].hdr, 200);
    expect(f, FAKE_GLIBC, "frame/p99 < 1x jemalloc", AB_VERDICT_NOT_EVALUATED);
    assert_string_equal(f->s.gates[0].reason,
                        "p99 needs 1000 iterations in a round, there are 200");
    free(f->s.gates);
    f->s.gates = NULL;
    finish(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_and_all_of_them),
        cmocka_unit_test(each_field_is_found_by_its_name),
        cmocka_unit_test(gates_bound_what_the_table_shows),
        cmocka_unit_test(what_cannot_be_told_passes_only_above_what_timing_takes),
        cmocka_unit_test(what_is_not_known_is_not_evaluated),
        cmocka_unit_test(comparisons_judge_the_rounds_of_both),
        cmocka_unit_test(rounds_without_missed_ones_count),
        cmocka_unit_test(counts_have_ratios_by_their_rounds),
        cmocka_unit_test(ratios_need_every_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
