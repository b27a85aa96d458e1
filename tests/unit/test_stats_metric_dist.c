/* SPDX-License-Identifier: MIT
 *
 * Percentiles of memory over the ops as metrics: the rounds merged, and what gates make of them.
 */
#include "base/bits.h"
#include "result/numbers.h"
#include "stats/gate.h"
#include "stats/metric.h"
#include "support/cmocka.h"
#include "support/report_session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct ab_memory_dist dists[4];

/* External of glibc: in round 0 10 % of live for 1,000 ops, in round 1 30 % for 3,000. */
static struct fake_session *session(void)
{
    struct fake_session *f = fake_session_new();
    for (unsigned i = 0; i < 4; i++) {
        struct ab_memory_dist *d = &dists[i];
        *d = (struct ab_memory_dist){.backend = FAKE_GLIBC,
                                     .phase = f->s.phases[0],
                                     .round = i % 2,
                                     .kind = i < 2 ? AB_DIST_EXTERNAL_RATIO
                                                   : AB_DIST_EXTERNAL_BYTES,
                                     .n_ops = i % 2 == 0 ? 1000 : 3000,
                                     .hdr = ab_memory_dist_histogram()};
        for (unsigned k = 0; k < 1000; k++)
            ab_memory_dist_add(d, (i % 2 == 0 ? 0.1 : 0.3) * (i < 2 ? 1 : 1 << 20),
                               i % 2 == 0 ? 1 : 3);
    }
    f->s.dists = dists;
    f->s.n_dists = 4;
    return f;
}

static void finish(struct fake_session *f)
{
    for (unsigned i = 0; i < 4; i++)
        free(dists[i].hdr);
    fake_session_free(f);
}

static const struct ab_number_field *find(const char *name, bool is_in_bytes)
{
    return ab_metric_kind_find(&ab_metric_kinds[AB_METRIC_DIST], name, strlen(name), is_in_bytes);
}

static struct ab_metric metric(const struct fake_session *f, const char *name, bool is_in_bytes)
{
    return (struct ab_metric){.phase = f->s.phases[0], .number = find(name, is_in_bytes)};
}

static void expect(double value, double wanted)
{
    if (!(fabs(value - wanted) <= wanted * 1e-3))
        fail_msg("%g instead of %g", value, wanted);
}

static void rounds_are_merged_by_their_ops(void **state)
{
    (void)state;
    struct fake_session *f = session();
    struct ab_metric p50 = metric(f, "external.p50", false), max = metric(f, "external.max", true);
    assert_string_equal(ab_metric_name(&p50), "external_ratio.p50");
    assert_string_equal(ab_metric_unit(&p50), "x live");
    assert_string_equal(ab_metric_name(&max), "external_bytes.max");
    assert_string_equal(ab_metric_unit(&max), "bytes");
    assert_true(ab_metric_is(&p50, AB_METRIC_DIST) && !ab_metric_is_latency(&p50));
    expect(ab_metric_value(&f->s, FAKE_GLIBC, &p50), 0.3);
    expect(ab_metric_value(&f->s, FAKE_GLIBC, &max), 0.3 * (1 << 20));
    expect(ab_metric_of_round(&f->s, FAKE_GLIBC, &p50, 0), 0.1);
    expect(ab_metric_of_round(&f->s, FAKE_GLIBC, &p50, 1), 0.3);
    assert_true(isnan(ab_metric_value(&f->s, FAKE_JEMALLOC, &p50)));
    finish(f);
}

static void each_field_is_found_by_its_names_and_no_other(void **state)
{
    (void)state;
    for (unsigned i = 0; i < AB_DIST_FIELDS; i++) {
        const char *name = ab_dist_fields[i].name;
        assert_ptr_equal(find(name, i % 2), &ab_dist_fields[i]);
        assert_non_null(strstr(name, ab_dist_stat_names[i % AB_DIST_STATS]));
        assert_memory_equal(name, ab_memory_dists[i / AB_DIST_STATS].name,
                            strlen(ab_memory_dists[i / AB_DIST_STATS].name));
    }
    const struct ab_metric_kind *kind = &ab_metric_kinds[AB_METRIC_DIST];
    for (unsigned i = 0; i < kind->n_offered; i++)
        assert_non_null(find(kind->offered[i], false));
    static const char *const none[] = {"",          ".p99",        "external",
                                       "external.", "external.p9", "external_.p99",
                                       "overhead",  "xternal.p99", "p99"};
    for (unsigned i = 0; i < AB_ARRAY_LEN(none); i++)
        assert_null(find(none[i], false));
    assert_null(find("external.p999", true));
}

static enum ab_verdict judge(struct fake_session *f, const char *text, char reason[240])
{
    const struct ab_gate_phase phase = {.name = f->s.phases[0]};
    const char *const names[] = {"glibc", "jemalloc"};
    const struct ab_gate_scope scope = {&phase, 1, names, 2, NULL, 0, false};
    struct ab_gate_error error;
    struct ab_gate gate;
    char whole[200];
    snprintf(whole, sizeof whole, "glibc:%s/memory/%s", phase.name, text);
    if (!ab_gate_parse(whole, false, &scope, &gate, &error))
        fail_msg("%s", error.text);
    gate.backend = FAKE_GLIBC;
    ab_gates_judge(&gate, 1, &f->s, NULL);
    enum ab_verdict verdict = f->s.gates[0].verdict;
    memcpy(reason, f->s.gates[0].reason, 240);
    free(f->s.gates);
    f->s.gates = NULL;
    f->s.n_gates = 0;
    return verdict;
}

static void gates_bound_ratios_and_bytes(void **state)
{
    (void)state;
    char why[240];
    struct fake_session *f = session();
    assert_int_equal(judge(f, "external.p99 < 31%", why), AB_VERDICT_PASS);
    assert_int_equal(judge(f, "external.p99 < 29%", why), AB_VERDICT_FAIL);
    assert_int_equal(judge(f, "external.p99 < 0.31x live", why), AB_VERDICT_PASS);
    assert_int_equal(judge(f, "external.p99 < 320KiB", why), AB_VERDICT_PASS);
    assert_int_equal(judge(f, "external.max < 300KiB", why), AB_VERDICT_FAIL);
    assert_int_equal(judge(f, "internal.p99 < 100%", why), AB_VERDICT_NOT_EVALUATED);
    assert_string_equal(why, "memory over the ops was not measured");
    dists[0].n_ops = 1500; /* 500 of 4,500 ops are not known, more than one in ten */
    assert_int_equal(judge(f, "external.p99 < 31%", why), AB_VERDICT_NOT_EVALUATED);
    assert_string_equal(why, "known for 88 % of the ops only");
    dists[0].n_ops = 1000;
    dists[0].n_samples = dists[1].n_samples = 499;
    assert_int_equal(judge(f, "external.p99 < 31%", why), AB_VERDICT_NOT_EVALUATED);
    assert_string_equal(why, "p99 needs 1000 samples, there are 998");
    assert_int_equal(judge(f, "external.p90 < 31%", why), AB_VERDICT_PASS);
    finish(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_are_merged_by_their_ops),
        cmocka_unit_test(each_field_is_found_by_its_names_and_no_other),
        cmocka_unit_test(gates_bound_ratios_and_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
