/* SPDX-License-Identifier: MIT
 *
 * Judging a session written by hand: every fate that a back end can have, every kind of bound, and
 * what the command must end with.
 * tests: aggregate.c gate_parse.c gate.c metric.c
 */
#include "result/numbers.h"
#include "stats/gate.h"

#include "support/report_session.h"

#include "base/bits.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ALLOC_FREE = 1u << AB_OP_ALLOC | 1u << AB_OP_RESIZE | 1u << AB_OP_FREE };

struct fixture {
    struct fake_session *f;
    struct ab_session *s;
    struct ab_gate_scope scope;
    const char *names[FAKE_COUNT];
    struct ab_memory memory[FAKE_COUNT * 3];
};

static const struct ab_gate_phase phases[] = {{.name = "steady", .kinds = ALLOC_FREE},
                                              {.name = "drain", .kinds = 1u << AB_OP_FREE}};
static const char *const known[] = {"mimalloc"};

/* At the footprint peak of steady: live 4 MiB, footprint 6 MiB of glibc, 5 MiB of jemalloc. */
static void add_memory(struct fixture *x)
{
    for (uint32_t b = 0; b < 3; b++)
        for (uint32_t round = 0; round < 3; round++) {
            struct ab_memory *m = &x->memory[x->s->n_memory++];
            for (size_t i = 0; i < ab_memory_field_count; i++)
                *(double *)((char *)m + ab_memory_fields[i].offset) = NAN;
            m->backend = b;
            m->phase = "steady";
            m->round = round;
            m->at = AB_AT_FOOTPRINT_PEAK;
            m->live_peak_bytes = 4 << 20;
            m->rss_peak_bytes = (6 - b + 0.01 * round) * (1 << 20);
            m->overhead_peak = m->rss_peak_bytes / m->live_peak_bytes;
            if (b == FAKE_ARENA)
                snprintf(m->reason, sizeof m->reason, "internal: no usable_size");
        }
    x->s->memory = x->memory;
}

static int set_up(void **state)
{
    struct fixture *x = calloc(1, sizeof *x);
    x->f = fake_session_new();
    x->s = &x->f->s;
    for (unsigned i = 0; i < FAKE_COUNT; i++)
        x->names[i] = x->f->backends[i].name;
    x->scope = (struct ab_gate_scope){phases, 2, x->names, FAKE_COUNT, known, 1, false};
    add_memory(x);
    *state = x;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *x = *state;
    free(x->s->gates);
    free(x->s->claims);
    fake_session_free(x->f);
    free(x);
    return 0;
}

/* Judges one gate. The gate is static: results borrow from it. */
static const struct ab_checked *judge(struct fixture *x, const char *text)
{
    static struct ab_gate g;
    struct ab_gate_error error;
    free(x->s->gates);
    x->s->gates = NULL;
    if (!ab_gate_parse(text, false, &x->scope, &g, &error))
        fail_msg("%s: %s", text, error.text);
    g.place = "x.yaml:1:1";
    ab_gates_judge(&g, 1, x->s, NULL);
    assert_true(x->s->n_gates > 0);
    return x->s->gates;
}

static void expect(struct fixture *x, const char *text, enum ab_verdict verdict,
                   enum ab_status status)
{
    const struct ab_checked *r = judge(x, text);
    assert_int_equal(x->s->n_gates, 1);
    if (r->verdict != verdict || r->status != status)
        fail_msg("%s: %s, status %d, value %g: %s", text, ab_gate_verdicts[r->verdict],
                 (int)r->status, r->effect.ratio, r->reason);
    assert_true((r->verdict == AB_VERDICT_NOT_EVALUATED) <= (r->reason[0] != 0));
    assert_int_equal(ab_gates_status(x->s), status);
}

static void expect_unit(const struct fixture *x, const char *unit)
{
    char buf[160];
    assert_string_equal(ab_check_unit(&x->s->gates[0], buf, sizeof buf), unit);
}

static void expect_pass(struct fixture *x, const char *text)
{
    expect(x, text, AB_VERDICT_PASS, AB_OK);
}

static void expect_fail(struct fixture *x, const char *text)
{
    expect(x, text, AB_VERDICT_FAIL, AB_GATE);
}

static void expect_open(struct fixture *x, const char *text, const char *why)
{
    expect(x, text, AB_VERDICT_NOT_EVALUATED, AB_GATE);
    if (strstr(x->s->gates[0].reason, why) == NULL)
        fail_msg("%s: no '%s' in: %s", text, why, x->s->gates[0].reason);
    assert_true(isnan(x->s->gates[0].effect.ratio) || strcmp(why, "inconclusive") == 0);
}

static void a_bound_is_judged_by_the_number_that_the_table_shows(void **state)
{
    struct fixture *x = *state;
    struct ab_hdr *hdr = malloc(sizeof *hdr);
    ab_session_merge(x->s, FAKE_GLIBC, "steady", AB_OP_ALLOC, hdr);
    assert_true(judge(x, "glibc:steady/alloc/p99 < 2us")->effect.ratio ==
                ab_result_quantile(hdr, 0.99));
    free(hdr);
    assert_true(judge(x, "glibc:steady/all/ns_per_op < 2us")->effect.ratio ==
                ab_session_ns_per_op(x->s, FAKE_GLIBC, "steady").median);
    struct ab_effect speed = ab_session_speed(x->s, FAKE_JEMALLOC, FAKE_GLIBC, "steady");
    double ratio = judge(x, "jemalloc:steady/all/ns_per_op < 1x glibc")->effect.ratio;
    assert_true(fabs(ratio * speed.ratio - 1) < 1e-12);
}

/* Of alloc in steady under glibc. */
static struct ab_result *result_of_round(struct fixture *x, uint32_t round)
{
    struct ab_result *r = x->s->results;
    while (r->backend != FAKE_GLIBC || r->round != round || r->op != AB_OP_ALLOC ||
           strcmp(r->phase, "steady") != 0)
        r++;
    return r;
}

static void the_slowest_op_is_no_faster_than_a_sample_of_any_round(void **state)
{
    struct fixture *x = *state;
    struct ab_hdr *hdr = malloc(sizeof *hdr);
    struct ab_result *r = result_of_round(x, 1);
    double of_all = ab_session_merge(x->s, FAKE_GLIBC, "steady", AB_OP_ALLOC, hdr).max;
    r->max =
        NAN; /* a round without a tail pass: samples only, one of them slower than all others */
    ab_hdr_record(r->hdr, 2 * (uint64_t)of_all);
    double slower = ab_session_merge(x->s, FAKE_GLIBC, "steady", AB_OP_ALLOC, hdr).max;
    assert_true(slower >= 2 * of_all - 2 && slower < 2.002 * of_all);
    assert_true(judge(x, "glibc:steady/alloc/max > 1us")->effect.ratio == slower);
    for (uint32_t round = 0; round < 3; round++)
        result_of_round(x, round)->max = NAN;
    assert_true(isnan(ab_session_merge(x->s, FAKE_GLIBC, "steady", AB_OP_ALLOC, hdr).max));
    free(hdr);
}

static void bounds_pass_and_fail(void **state)
{
    struct fixture *x = *state;
    expect_pass(x, "glibc:steady/all/ns_per_op < 21.6ns");
    expect_fail(x, "glibc:steady/all/ns_per_op < 21.4ns");
    expect_fail(x, "glibc:steady/all/ns_per_op < 21.5ns"); /* exactly the median */
    expect_pass(x, "glibc:steady/all/ns_per_op <= 21.5ns");
    expect_pass(x, "glibc:steady/all/ns_per_op >= 21.5ns");
    expect_fail(x, "glibc:steady/all/ns_per_op > 21.5ns");
    expect_pass(x, "glibc:steady/all/ops_per_s > 46M");
    expect_fail(x, "glibc:steady/all/ops_per_s > 47M");
    expect_pass(x, "glibc:steady/all/tail_over_10us <= 16");
    expect_fail(x, "glibc:steady/all/tail_over_10us < 16");
    expect_pass(x, "glibc:steady/alloc/n >= 60k"); /* of all rounds */
    expect_fail(x, "glibc:steady/alloc/max < 1us");
}

static void expect_inconclusive(struct fixture *x, const char *text)
{
    expect(x, text, AB_VERDICT_INCONCLUSIVE, AB_INCONCLUSIVE);
    assert_non_null(strstr(x->s->gates[0].reason, "interrupted"));
}

/* max of glibc's alloc is at most some us; the interrupted call used 5 ms in the second round. */
static void what_was_interrupted_makes_a_verdict_doubtful_where_it_decides(void **state)
{
    struct fixture *x = *state;
    result_of_round(x, 1)->max_least_ns = 5e6;
    expect_fail(x, "glibc:steady/alloc/max < 1us");
    expect_inconclusive(x, "glibc:steady/alloc/max < 1ms");
    expect_inconclusive(x, "glibc:steady/alloc/max >= 1ms");
    expect_pass(x, "glibc:steady/alloc/max < 6ms");
    expect_pass(x, "glibc:steady/alloc/max_least_ns >= 5ms"); /* the most of all rounds */
    expect_pass(x, "glibc:steady/alloc/p99 < 1ms");
    expect_pass(x, "glibc:steady/alloc/max < 100x jemalloc"); /* the rounds' median is no other */
    for (uint32_t round = 0; round < 3; round++)
        result_of_round(x, round)->max_least_ns = 5e6;
    expect_inconclusive(x, "glibc:steady/alloc/max < 100x jemalloc");
    expect_inconclusive(x, "jemalloc:steady/alloc/max > 0.001x glibc");
    for (uint32_t i = 0; i < x->s->n_results; i++) /* 16 of `all` in each round */
        x->s->results[i].tail_least_over_10us = 2;
    expect_fail(x, "glibc:steady/all/tail_over_10us < 16");
    expect_inconclusive(x, "glibc:steady/all/tail_over_10us < 17");
    expect_pass(x, "glibc:steady/all/tail_over_10us < 19");
    expect_pass(x, "glibc:steady/all/tail_over_1us < 161");
}

/* As the tables show them: what is printed can be divided by hand. */
static void ratios_are_those_of_the_medians(void **state)
{
    struct fixture *x = *state;
    static const double a[3] = {10, 20, 40}, b[3] = {20, 30, 10}; /* ratios 0.5, 0.67, 4 */
    fake_session_set_ns(x->f, FAKE_JEMALLOC, a);
    fake_session_set_ns(x->f, FAKE_GLIBC, b);
    assert_true(fabs(judge(x, "jemalloc:steady/all/ns_per_op < 1x glibc")->effect.ratio - 1) <
                1e-9);
    expect_pass(x, "jemalloc:steady/all/ns_per_op <= 1x glibc");
    expect_fail(x, "jemalloc:steady/all/ns_per_op < 0.99x glibc");
    expect_unit(x, "x glibc");
}

static void differences_below_the_floor_of_a_ratio_pass(void **state)
{
    struct fixture *x = *state; /* steady: 21.5 and 15.25 ns per op */
    expect_fail(x, "glibc:steady/all/ns_per_op < 1.1x jemalloc");
    expect_fail(x, "glibc:steady/all/ns_per_op < 1.1x jemalloc floor 6ns");
    expect_pass(x, "glibc:steady/all/ns_per_op < 1.1x jemalloc floor 6.3ns");
    assert_true(x->s->gates[0].reason[0] != 0);
    expect_pass(x, "glibc:steady/memory/rss_peak < 1.1x live floor 3MiB");
    expect_fail(x, "glibc:steady/memory/rss_peak < 1.1x live floor 1MiB");
}

static void memory_is_bounded_by_sizes_ratios_and_live_bytes(void **state)
{
    struct fixture *x = *state; /* 6.01 MiB by 4 */
    expect_pass(x, "glibc:steady/memory/rss_peak < 6.1MiB");
    expect_fail(x, "glibc:steady/memory/rss_peak < 6MiB");
    expect_pass(x, "glibc:steady/footprint_peak/rss_peak_bytes < 1.51x live");
    expect_fail(x, "glibc:steady/memory/rss_peak < 1.5x live");
    expect_unit(x, "x live");
    expect_pass(x, "jemalloc:steady/memory/rss_peak < 0.9x glibc");
    expect_fail(x, "glibc:steady/memory/overhead_peak < 1.5");
    expect_pass(x, "glibc:steady/memory/overhead_peak < 151%");
    expect_fail(x, "glibc:steady/memory/overhead_peak < 1.5x live");
    expect_unit(x, "x live");
    expect_open(x, "glibc:drain/memory/rss_peak < 6MiB", "memory was not measured");
    expect_open(x, "arena:steady/memory/internal_ratio < 5%", "no usable_size");
    expect_open(x, "glibc:steady/memory/drained_10s < 6MiB", "");
}

/* glibc: 60 s idle in drain, with 10 MiB live: 30 MiB at first, 12 at last. */
static void time_is_bounded_by_what_was_live_then(void **state)
{
    struct fixture *x = *state;
    struct ab_over_time rows[9];
    for (uint32_t i = 0; i < 9; i++)
        rows[i] = (struct ab_over_time){.backend = FAKE_GLIBC,
                                        .round = i / 3,
                                        .phase = "drain",
                                        .time_ns = (i % 3) * UINT64_C(30000000000),
                                        .idle = (enum ab_idle_at)(i % 3 + 1),
                                        .live_bytes = 10 << 20,
                                        .resident_bytes = (30 - 9 * (i % 3)) * (1 << 20),
                                        .external_bytes = NAN,
                                        .retained_bytes = NAN};
    x->s->over_time = rows;
    x->s->n_over_time = 9;
    expect_pass(x, "glibc:drain/memory/resident@60s < 1.3x live");
    expect_fail(x, "glibc:drain/memory/resident@60s < 1.1x live");
    expect_unit(x, "x live");
    expect_fail(x, "glibc:drain/memory/resident@begin < 30MiB");
    expect_pass(x, "glibc:drain/memory/floor <= 12MiB");
    expect_pass(x, "glibc:drain/memory/area < 0.351"); /* 21 MiB on the average of a minute */
    expect_fail(x, "glibc:drain/memory/area < 0.349");
    expect_open(x, "glibc:drain/memory/half_back < 1s", "not that much was given back");
    expect_open(x, "glibc:steady/memory/floor < 1MiB", "no idle stretch");
    expect_open(x, "glibc:steady/memory/growth < 1MiB", "too short");
    expect_open(x, "jemalloc:drain/memory/floor < 1MiB", "has no times");
    x->s->over_time = NULL;
    x->s->n_over_time = 0;
}

static void what_has_too_few_samples_is_not_evaluated(void **state)
{
    struct fixture *x = *state;
    expect_open(x, "glibc:steady/alloc/p99.99 < 1s", "needs 100000 timed ops, there are 60000");
    expect_open(x, "glibc:drain/free/p99.9 < 2x jemalloc",
                "p99.9 needs 10000 timed ops in a round, there are 900");
}

static void a_latency_below_the_clocks_floor_is_a_mistake_of_the_gate(void **state)
{
    struct fixture *x = *state; /* the floor is 20 ns */
    expect(x, "glibc:steady/alloc/p50 < 19ns", AB_VERDICT_NOT_EVALUATED, AB_CONFIG);
    assert_non_null(strstr(x->s->gates[0].reason, "steady/all/ns_per_op"));
    expect(x, "glibc:steady/alloc/p50 > 19ns", AB_VERDICT_NOT_EVALUATED, AB_CONFIG);
    expect(x, "broken:steady/alloc/min < 19ns", AB_VERDICT_NOT_EVALUATED, AB_CONFIG);
    expect_fail(x, "glibc:steady/alloc/p50 < 20ns");     /* 42 */
    expect_fail(x, "glibc:steady/all/ns_per_op < 19ns"); /* has no floor */
    expect_pass(x, "arena:steady/alloc/p50 < 21ns");     /* 12 */
    x->s->timer.floor_ns = NAN;
    expect_fail(x, "glibc:steady/alloc/p50 < 19ns");
}

static void a_ratio_that_the_clock_cannot_tell_is_not_evaluated(void **state)
{
    struct fixture *x = *state; /* p50: arena 12, glibc 42, jemalloc 32; floor 20 */
    expect_pass(x, "arena:steady/alloc/p50 < 0.5x glibc"); /* at most 20/42 */
    expect_open(x, "arena:steady/alloc/p50 < 0.4x glibc", "inconclusive");
    expect_fail(x, "glibc:steady/alloc/p50 < 2x arena"); /* at least 42/20 */
    expect_open(x, "glibc:steady/alloc/p50 < 3x arena", "inconclusive");
    x->s->timer.floor_ns = 50;
    expect_open(x, "jemalloc:steady/alloc/p50 < 1x glibc", "inconclusive");
    expect_pass(x, "jemalloc:steady/alloc/p50 < 1x glibc floor 51ns");
}

static void who_did_other_work_or_none_is_not_evaluated_and_that_fails(void **state)
{
    struct fixture *x = *state;
    expect_open(x, "pool:steady/all/ns_per_op < 1s", "pool is partial: cannot resize");
    expect_open(x, "broken:steady/all/ns_per_op < 1s", "broken is crashed: SIGSEGV");
    expect_open(x, "scudo:steady/all/ns_per_op < 1s", "scudo is absent: not installed");
    expect_open(x, "mimalloc:steady/all/ns_per_op < 1s", "this run has no mimalloc");
    assert_null(x->s->gates[0].backend);
    expect_open(x, "glibc:steady/all/ns_per_op < 1x scudo", "scudo is absent");
    expect_open(x, "glibc:steady/all/ns_per_op < 1x mimalloc", "this run has no mimalloc");
    expect_open(x, "glibc:steady/all/ns_per_op < 1x pool", "pool is partial");
    expect_open(x, "glibc:steady/all/ns_per_op < 1x broken", "broken is crashed");
}

static const struct ab_checked *entry(const struct fixture *x, unsigned backend)
{
    for (uint32_t i = 0; i < x->s->n_gates; i++)
        if (x->s->gates[i].backend != NULL &&
            strcmp(x->s->gates[i].backend, x->names[backend]) == 0)
            return &x->s->gates[i];
    return NULL;
}

static void a_gate_that_names_no_back_end_judges_each(void **state)
{
    struct fixture *x = *state;
    judge(x, "steady/all/ns_per_op < 20ns");
    assert_int_equal(x->s->n_gates, FAKE_COUNT);
    assert_int_equal(entry(x, FAKE_GLIBC)->verdict, AB_VERDICT_FAIL);
    assert_int_equal(entry(x, FAKE_JEMALLOC)->verdict, AB_VERDICT_PASS);
    assert_int_equal(entry(x, FAKE_ARENA)->verdict, AB_VERDICT_PASS);
    assert_int_equal(ab_gates_status(x->s), AB_GATE);
}

static void what_a_default_list_lacks_is_skipped_but_not_what_was_asked_for(void **state)
{
    struct fixture *x = *state;
    judge(x, "steady/all/ns_per_op < 1s");
    assert_int_equal(entry(x, FAKE_SCUDO)->verdict, AB_VERDICT_SKIPPED);
    assert_int_equal(entry(x, FAKE_SCUDO)->status, AB_OK);
    assert_int_equal(entry(x, FAKE_POOL)->status, AB_GATE); /* -b pool, partial */
    assert_int_equal(entry(x, FAKE_BROKEN)->status, AB_GATE);
    assert_int_equal(ab_gates_status(x->s), AB_GATE);
    x->f->backends[FAKE_POOL].was_named = false;
    x->f->backends[FAKE_BROKEN].status = AB_BACKEND_OK;
    judge(x, "steady/all/ns_per_op < 1s");
    assert_int_equal(entry(x, FAKE_POOL)->verdict, AB_VERDICT_SKIPPED);
    assert_int_equal(entry(x, FAKE_POOL)->status, AB_OK);
    assert_int_equal(ab_gates_status(x->s), AB_OK);
}

static void evaluated_on_no_back_end_fails(void **state)
{
    struct fixture *x = *state;
    for (unsigned i = 0; i < FAKE_COUNT; i++) {
        x->f->backends[i].status = AB_BACKEND_ABSENT;
        x->f->backends[i].was_named = false;
    }
    judge(x, "steady/all/ns_per_op < 1s");
    assert_int_equal(ab_gates_status(x->s), AB_GATE);
    for (uint32_t i = 0; i < x->s->n_gates; i++) {
        assert_int_equal(x->s->gates[i].status, AB_GATE);
        assert_int_equal(x->s->gates[i].verdict, AB_VERDICT_NOT_EVALUATED);
    }
}

static void null_and_the_one_compared_with_are_not_evaluated(void **state)
{
    struct fixture *x = *state;
    strcpy(x->f->backends[FAKE_BROKEN].name, "null");
    x->f->backends[FAKE_BROKEN].status = AB_BACKEND_OK;
    judge(x, "steady/all/ns_per_op < 2x glibc");
    assert_null(entry(x, FAKE_GLIBC));
    assert_null(entry(x, FAKE_BROKEN));
    assert_int_equal(x->s->n_gates, FAKE_COUNT - 2);
    x->s->n_backends = 1;
    expect_open(x, "steady/all/ns_per_op < 2x glibc", "no back end to evaluate");
}

static void claims_stand_beside_what_was_measured_and_judge_nothing(void **state)
{
    struct fixture *x = *state;
    static const char *const texts[] = {
        "arena:steady/all/ns_per_op = 0.1x glibc",
        "mimalloc:steady/all/ns_per_op = 0.1x glibc",
        "pool:steady/all/ns_per_op = 0.1x glibc",
        "arena:steady/alloc/p50 = 0.1x glibc",
    };
    struct ab_gate claims[4] = {0};
    struct ab_gate_error error;
    for (size_t i = 0; i < 4; i++) {
        assert_true(ab_gate_parse(texts[i], true, &x->scope, &claims[i], &error));
        claims[i].says = claims[i].source = "";
    }
    ab_claims_measure(claims, 4, x->s);
    const struct ab_checked *r = x->s->claims;
    assert_true(r[0].bound == 0.1 && fabs(r[0].effect.ratio - 3.5 / 21.5) < 1e-12);
    /* the null takes 1 ns where a heap is called, 0.9 ns where malloc is */
    assert_true(fabs(r[0].relative.ratio - (3.5 - 1.0) / (21.5 - 0.9)) < 1e-12);
    assert_true(r[0].low <= r[0].effect.ratio && r[0].effect.ratio <= r[0].high);
    assert_int_equal(r[0].effect.n_new, 3);
    assert_string_equal(r[0].reason, "");
    for (size_t i = 1; i < 4; i++) {
        assert_true(isnan(r[i].effect.ratio) && r[i].effect.n_new == 0);
        assert_string_not_equal(r[i].reason, "");
    }
    assert_int_equal(ab_gates_status(x->s), AB_OK);
}

/* ---- changes against a baseline ---- */

/* Two sessions of so many rounds on one machine; the second's jemalloc takes `factor` times as long. */
struct change {
    struct fake_session *base, *now;
};

static struct change new_change(uint32_t n_base, uint32_t n_now, double factor)
{
    struct change x = {fake_session_of(n_base), fake_session_of(n_now)};
    strcpy(x.base->s.host.fingerprint, "f00d");
    strcpy(x.now->s.host.fingerprint, "f00d");
    strcpy(x.now->backends[FAKE_JEMALLOC].build_id, "22bb"); /* a new build of it */
    for (uint32_t i = 0; i < x.now->s.n_results; i++)
        if (x.now->results[i].backend == FAKE_JEMALLOC) {
            x.now->results[i].ns_per_op *= factor;
            x.now->results[i].ops_per_s /= factor;
        }
    return x;
}

static void end_change(struct change *x)
{
    free(x->now->s.gates);
    fake_session_free(x->base);
    fake_session_free(x->now);
}

/* Judges one gate, which may have '*' as its phase. */
static const struct ab_checked *judge_change(struct fixture *f, struct change *x, const char *text,
                                             bool is_warning, bool has_baseline)
{
    static struct ab_gate g[2];
    struct ab_gate_error error;
    size_t n;
    if (!ab_gate_parse_each(text, &f->scope, g, &n, &error))
        fail_msg("%s: %s", text, error.text);
    for (size_t i = 0; i < n; i++)
        g[i].is_warning = is_warning;
    free(x->now->s.gates);
    ab_gates_judge(g, n, &x->now->s, has_baseline ? &x->base->s : NULL);
    return x->now->s.gates;
}

static void a_change_is_judged_by_its_interval(void **state)
{
    static const struct {
        double factor;
        const char *gate;
        enum ab_verdict verdict;
        enum ab_status status;
    } cases[] = {
        {1.08, "jemalloc:steady/all/ns_per_op < +5%", AB_VERDICT_FAIL, AB_GATE},
        {1.08, "jemalloc:steady/all/ns_per_op < +15%", AB_VERDICT_PASS, AB_OK},
        {1.02, "jemalloc:steady/all/ns_per_op < +5%", AB_VERDICT_PASS, AB_OK},
        {1.045, "jemalloc:steady/all/ns_per_op < +5%", AB_VERDICT_INCONCLUSIVE, AB_INCONCLUSIVE},
        {1.08, "jemalloc:steady/all/ops_per_s > -5%", AB_VERDICT_FAIL, AB_GATE},
        {1.02, "jemalloc:steady/all/ops_per_s > -5%", AB_VERDICT_PASS, AB_OK},
        {0.9, "jemalloc:steady/all/ns_per_op < -5%", AB_VERDICT_PASS, AB_OK},
        {1, "jemalloc:steady/all/ns_per_op < -5%", AB_VERDICT_FAIL,
         AB_GATE}, /* it had to be faster */
        {1.08, "jemalloc:steady/all/ns_per_op < +5% floor 2ns", AB_VERDICT_PASS, AB_OK},
        {1.08, "jemalloc:steady/all/ns_per_op < +5% floor 1ns", AB_VERDICT_FAIL, AB_GATE},
        {1, "jemalloc:steady/all/faults_minor < +2%", AB_VERDICT_PASS, AB_OK},
    };
    for (size_t i = 0; i < AB_ARRAY_LEN(cases); i++) {
        struct change x = new_change(8, 8, cases[i].factor);
        const struct ab_checked *r = judge_change(*state, &x, cases[i].gate, false, true);
        if (r->verdict != cases[i].verdict || r->status != cases[i].status)
            fail_msg("%g, %s: %s, %g [%g, %g] %s", cases[i].factor, cases[i].gate,
                     ab_gate_verdicts[r->verdict], r->effect.ratio, r->effect.low, r->effect.high,
                     r->reason);
        end_change(&x);
    }
}

static void without_a_fit_baseline_a_change_is_not_evaluated(void **state)
{
    static const char gate[] = "jemalloc:steady/all/ns_per_op < +5%";
    struct change x = new_change(8, 8, 1);
    const struct ab_checked *r = judge_change(*state, &x, gate, false, false);
    assert_int_equal(r->verdict, AB_VERDICT_NOT_EVALUATED);
    assert_int_equal(r->status, AB_GATE);
    assert_non_null(strstr(r->reason, "there is no baseline"));
    r = judge_change(*state, &x, gate, true, false); /* a warning fails nothing */
    assert_int_equal(r->verdict, AB_VERDICT_NOT_EVALUATED);
    assert_int_equal(r->status, AB_OK);
    x.base->backends[FAKE_JEMALLOC].status = AB_BACKEND_CRASHED;
    r = judge_change(*state, &x, gate, false, true);
    assert_int_equal(r->status, AB_GATE);
    assert_non_null(strstr(r->reason, "in the baseline jemalloc is crashed"));
    strcpy(x.base->backends[FAKE_JEMALLOC].name, "other");
    r = judge_change(*state, &x, gate, false, true);
    assert_int_equal(r->status, AB_GATE);
    assert_non_null(strstr(r->reason, "the baseline has no jemalloc"));
    end_change(&x);
    x = new_change(5, 8, 1);
    r = judge_change(*state, &x, gate, false, true);
    assert_int_equal(r->status, AB_GATE);
    assert_non_null(strstr(r->reason, "too few rounds: the baseline has 5"));
    end_change(&x);
}

static void a_change_from_another_machine_is_advice(void **state)
{
    struct change x = new_change(8, 8, 1.5);
    strcpy(x.base->s.host.fingerprint, "beef");
    const struct ab_checked *r = judge_change(*state, &x, "jemalloc:steady/all/ns_per_op < +5%",
                                              false, true);
    assert_int_equal(r->verdict, AB_VERDICT_FAIL);
    assert_int_equal(r->status, AB_OK);
    assert_non_null(strstr(r->reason, "another machine"));
    end_change(&x);
}

static void a_star_is_each_phase_that_has_the_op(void **state)
{
    struct change x = new_change(8, 8, 1.5);
    judge_change(*state, &x, "jemalloc:*/all/ns_per_op < +5%", false, true);
    assert_int_equal(x.now->s.n_gates, 2);
    assert_string_equal(x.now->s.gates[0].text, "jemalloc:steady/all/ns_per_op < +5%");
    assert_string_equal(x.now->s.gates[1].text, "jemalloc:drain/all/ns_per_op < +5%");
    assert_int_equal(x.now->s.gates[1].verdict, AB_VERDICT_FAIL);
    judge_change(*state, &x, "jemalloc:*/alloc/p50 < +5%", false, true); /* drain has none */
    assert_int_equal(x.now->s.n_gates, 1);
    end_change(&x);
}

static uint32_t suspicious(const struct change *x, bool *is_concerned)
{
    return ab_checks_suspicious(x->now->s.gates, x->now->s.n_gates, &x->now->s, is_concerned);
}

static void confirm(struct change *x, const struct change *again)
{
    ab_checks_confirm(x->now->s.gates, x->now->s.n_gates, again->now->s.gates,
                      again->now->s.n_gates, again->now->s.n_rounds);
}

static void a_failure_has_to_show_again(void **state)
{
    struct change x = new_change(8, 8, 1.5), again = new_change(8, 8, 1.4);
    static const char gate[] = "jemalloc:steady/all/ns_per_op < +5%";
    static const char ratio[] = "jemalloc:steady/all/ns_per_op < 0.9x glibc";
    bool is_concerned[FAKE_COUNT] = {false};
    judge_change(*state, &x, "jemalloc:steady/all/ns_per_op < 10ns", false, true);
    assert_int_equal(suspicious(&x, is_concerned), 0); /* no ratio */
    judge_change(*state, &x, ratio, false, true);
    assert_int_equal(x.now->s.gates[0].verdict, AB_VERDICT_FAIL);
    assert_int_equal(suspicious(&x, is_concerned), 1);
    assert_true(is_concerned[FAKE_JEMALLOC] && is_concerned[FAKE_GLIBC]);
    assert_false(is_concerned[FAKE_ARENA]);
    judge_change(*state, &x, gate, false, true);
    judge_change(*state, &again, gate, false, true);
    confirm(&x, &again);
    assert_int_equal(x.now->s.gates[0].verdict, AB_VERDICT_FAIL);
    assert_int_equal(x.now->s.gates[0].n_confirm, 8);
    assert_true(fabs(x.now->s.gates[0].confirm - 1.4) < 1e-9);
    end_change(&again);
    again = new_change(8, 8, 1);
    judge_change(*state, &x, gate, false, true);
    judge_change(*state, &again, gate, false, true);
    confirm(&x, &again);
    assert_int_equal(x.now->s.gates[0].verdict, AB_VERDICT_INCONCLUSIVE);
    assert_int_equal(ab_gates_status(&x.now->s), AB_INCONCLUSIVE);
    assert_non_null(strstr(x.now->s.gates[0].reason, "not confirmed"));
    end_change(&x);
    end_change(&again);
}

static void a_ratio_with_an_interval_fails_only_where_it_is_sure(void **state)
{
    struct fixture *f = *state;
    struct change x = new_change(8, 8, 1);
    double ns[3] = {15.25, 23, 17}; /* of jemalloc, in rounds of 15.25 * (1, 1.01, 0.99) */
    fake_session_set_ns(x.now, FAKE_JEMALLOC, ns);
    const struct ab_checked *r = judge_change(f, &x, "jemalloc:steady/all/ns_per_op < 0.75x glibc",
                                              false, false);
    assert_int_equal(r->verdict, AB_VERDICT_INCONCLUSIVE);
    assert_true(r->effect.low < 0.75 && r->effect.high > 0.75 && r->effect.low <= r->effect.ratio &&
                r->effect.ratio <= r->effect.high);
    r = judge_change(f, &x, "jemalloc:steady/all/ns_per_op < 2x glibc", false, false);
    assert_int_equal(r->verdict, AB_VERDICT_PASS);
    r = judge_change(f, &x, "jemalloc:steady/all/ns_per_op < 0.5x glibc", false, false);
    assert_int_equal(r->verdict, AB_VERDICT_FAIL);
    end_change(&x);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* Rounds of 2, 10 and 1 times the speed: by their median 2, by the medians of the times 30/10. The
 * times of two machines have no common median. */
static void over_several_machines_the_rounds_decide(void **state)
{
    (void)state;
    static const double glibc[] = {10, 100, 30}, jemalloc[] = {5, 10, 30};
    struct fake_session *f = fake_session_new();
    struct ab_host hosts[2] = {f->s.host, f->s.host};
    fake_session_set_ns(f, FAKE_GLIBC, glibc);
    fake_session_set_ns(f, FAKE_JEMALLOC, jemalloc);
    struct ab_metric metric = {.phase = "steady", .op = AB_OP_ALL};
    for (size_t i = 0; i < ab_field_count; i++)
        if (strcmp(ab_fields[i].name, "ns_per_op") == 0)
            metric.field = &ab_fields[i];
    for (uint32_t n_hosts = 1; n_hosts <= 2; n_hosts++) {
        f->s.n_hosts = n_hosts;
        f->s.hosts = hosts;
        f->rounds[1].host = n_hosts - 1;
        struct ab_ratio ratio = ab_metric_ratio(&f->s, FAKE_GLIBC, FAKE_JEMALLOC, &metric);
        assert_true(ratio.range.median == (n_hosts == 1 ? 3 : 2));
        assert_true(ratio.range.low == 1 && ratio.range.high == 10);
    }
    fake_session_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_bound_is_judged_by_the_number_that_the_table_shows),
        TEST(the_slowest_op_is_no_faster_than_a_sample_of_any_round),
        TEST(bounds_pass_and_fail),
        TEST(what_was_interrupted_makes_a_verdict_doubtful_where_it_decides),
        TEST(ratios_are_those_of_the_medians),
        TEST(differences_below_the_floor_of_a_ratio_pass),
        TEST(memory_is_bounded_by_sizes_ratios_and_live_bytes),
        TEST(time_is_bounded_by_what_was_live_then),
        TEST(what_has_too_few_samples_is_not_evaluated),
        TEST(a_latency_below_the_clocks_floor_is_a_mistake_of_the_gate),
        TEST(a_ratio_that_the_clock_cannot_tell_is_not_evaluated),
        TEST(who_did_other_work_or_none_is_not_evaluated_and_that_fails),
        TEST(a_gate_that_names_no_back_end_judges_each),
        TEST(what_a_default_list_lacks_is_skipped_but_not_what_was_asked_for),
        TEST(evaluated_on_no_back_end_fails),
        TEST(null_and_the_one_compared_with_are_not_evaluated),
        TEST(claims_stand_beside_what_was_measured_and_judge_nothing),
        cmocka_unit_test(over_several_machines_the_rounds_decide),
        TEST(a_change_is_judged_by_its_interval),
        TEST(without_a_fit_baseline_a_change_is_not_evaluated),
        TEST(a_change_from_another_machine_is_advice),
        TEST(a_star_is_each_phase_that_has_the_op),
        TEST(a_failure_has_to_show_again),
        TEST(a_ratio_with_an_interval_fails_only_where_it_is_sure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
