/* SPDX-License-Identifier: MIT
 *
 * The grammar of gates: each form in a table with what it must be read as, each mistake with the
 * place and the words that it must be told with.
 */
#include "stats/gate.h"

#include "base/bits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define ALLOC (1u << AB_OP_ALLOC)
#define FREE (1u << AB_OP_FREE)

static const struct ab_gate_phase phases[] = {
    {.name = "run", .kinds = ALLOC | FREE, .iteration = "frame", .has_budget = true},
    {.name = "drain", .kinds = FREE, .iteration = "request"}};
static const char *const backends[] = {"glibc", "slab:threads=sharded", "jemalloc{A=B:C,x/y<z}",
                                       "null"};
static const char *const known[] = {"glibc", "slab", "jemalloc", "mimalloc"};
static const struct ab_gate_scope scope = {phases, 2, backends, 4, known, 4, false};

struct good {
    const char *text;
    const char *phase, *op, *stat; /* op: as results spell it, or the place in memory */
    enum ab_check_compare compare;
    enum ab_check_against against;
    double bound;
    uint32_t backend, other;
    double floor;
};

#define EACH AB_GATE_EACH
#define AWAY AB_GATE_ELSEWHERE

static const struct good goods[] = {
    {"run/alloc/p99 < 2us", "run", "alloc", "p99", AB_CHECK_LESS, AB_AGAINST_NOTHING, 2000, EACH, 0,
     0},
    {"run/alloc/p99<2us", "run", "alloc", "p99", AB_CHECK_LESS, AB_AGAINST_NOTHING, 2000, EACH, 0,
     0},
    {"  drain/free/p99.9\t<=  1.5us\n", "drain", "free", "p99.9", AB_CHECK_AT_MOST,
     AB_AGAINST_NOTHING, 1500, EACH, 0, 0},
    {"run/all/ns_per_op < 3.5ns", "run", "all", "ns_per_op", AB_CHECK_LESS, AB_AGAINST_NOTHING, 3.5,
     EACH, 0, 0},
    {"run/all/ops_per_s > 20M", "run", "all", "ops_per_s", AB_CHECK_MORE, AB_AGAINST_NOTHING, 2e7,
     EACH, 0, 0},
    {"run/all/tail_over_10us <= 100", "run", "all", "tail_over_10us", AB_CHECK_AT_MOST,
     AB_AGAINST_NOTHING, 100, EACH, 0, 0},
    {"run/all/wait_percent < 5%", "run", "all", "wait_percent", AB_CHECK_LESS, AB_AGAINST_NOTHING,
     5, EACH, 0, 0},
    {"run/memory/rss_peak < 64MiB", "run", "footprint_peak", "rss_peak_bytes", AB_CHECK_LESS,
     AB_AGAINST_NOTHING, 64 << 20, EACH, 0, 0},
    {"run/footprint_peak/rss_peak_bytes < 1.5x live", "run", "footprint_peak", "rss_peak_bytes",
     AB_CHECK_LESS, AB_AGAINST_LIVE, 1.5, EACH, 0, 0},
    {"run/live_peak/overhead < 125%", "run", "live_peak", "overhead", AB_CHECK_LESS,
     AB_AGAINST_NOTHING, 1.25, EACH, 0, 0},
    {"run/memory/overhead_peak < 1.25x live", "run", "footprint_peak", "overhead_peak",
     AB_CHECK_LESS, AB_AGAINST_NOTHING, 1.25, EACH, 0, 0},
    {"run/end/retained < 1x live", "run", "end", "retained_bytes", AB_CHECK_LESS, AB_AGAINST_LIVE,
     1, EACH, 0, 0},
    {"drain/memory/drained_purge < 1MiB", "drain", "end", "drained_purge", AB_CHECK_LESS,
     AB_AGAINST_NOTHING, 1 << 20, EACH, 0, 0},
    {"drain/end/drained_0.1s < 0.1x glibc", "drain", "end", "drained_0.1s", AB_CHECK_LESS,
     AB_AGAINST_BACKEND, 0.1, EACH, 0, 0},
    {"run/memory/external.p99 < 20%", "run", "footprint_peak", "external_ratio.p99", AB_CHECK_LESS,
     AB_AGAINST_NOTHING, 0.2, EACH, 0, 0},
    {"run/memory/external.p99 < 64MiB ", "run", "footprint_peak", "external_bytes.p99",
     AB_CHECK_LESS, AB_AGAINST_NOTHING, 64 << 20, EACH, 0, 0},
    {"run/memory/retained_bytes.max < 1.5x live", "run", "footprint_peak", "retained_bytes.max",
     AB_CHECK_LESS, AB_AGAINST_LIVE, 1.5, EACH, 0, 0},
    {"run/memory/resident@60s < 1.3x live", "run", "footprint_peak", "resident@60s", AB_CHECK_LESS,
     AB_AGAINST_LIVE, 1.3, EACH, 0, 0},
    {"run/memory/growth < 1MiB", "run", "footprint_peak", "growth", AB_CHECK_LESS,
     AB_AGAINST_NOTHING, 1 << 20, EACH, 0, 0},
    {"run/memory/area < 2.5", "run", "footprint_peak", "area", AB_CHECK_LESS, AB_AGAINST_NOTHING,
     2.5, EACH, 0, 0},
    {"run/memory/overhead.p50 < 1.2x live", "run", "footprint_peak", "overhead.p50", AB_CHECK_LESS,
     AB_AGAINST_NOTHING, 1.2, EACH, 0, 0},
    {"run/memory/internal.p90 < 1x glibc", "run", "footprint_peak", "internal_ratio.p90",
     AB_CHECK_LESS, AB_AGAINST_BACKEND, 1, EACH, 0, 0},
    {"run/memory/internal.p90 < 1x glibc floor 4KiB", "run", "footprint_peak", "internal_bytes.p90",
     AB_CHECK_LESS, AB_AGAINST_BACKEND, 1, EACH, 0, 4096},
    {"run/all/faults_minor < 10", "run", "all", "faults_minor", AB_CHECK_LESS, AB_AGAINST_NOTHING,
     10, EACH, 0, 0},
    {"run/end/faults_minor < 10", "run", "end", "faults_minor", AB_CHECK_LESS, AB_AGAINST_NOTHING,
     10, EACH, 0, 0},
    {"glibc:run/alloc/max >= 1ms", "run", "alloc", "max", AB_CHECK_AT_LEAST, AB_AGAINST_NOTHING,
     1e6, 0, 0, 0},
    {"slab:threads=sharded:run/all/ns_per_op < 0.5x glibc", "run", "all", "ns_per_op",
     AB_CHECK_LESS, AB_AGAINST_BACKEND, 0.5, 1, 0, 0},
    {"jemalloc{A=B:C,x/y<z}:run/free/p50 < 1us", "run", "free", "p50", AB_CHECK_LESS,
     AB_AGAINST_NOTHING, 1000, 2, 0, 0},
    {"glibc:run/free/p50 < 2x jemalloc{A=B:C,x/y<z} floor 20ns", "run", "free", "p50",
     AB_CHECK_LESS, AB_AGAINST_BACKEND, 2, 0, 2, 20},
    {"run/memory/rss_peak < 1.5x live floor 4MiB", "run", "footprint_peak", "rss_peak_bytes",
     AB_CHECK_LESS, AB_AGAINST_LIVE, 1.5, EACH, 0, 4 << 20},
    {"mimalloc:run/all/ns_per_op < 1x glibc", "run", "all", "ns_per_op", AB_CHECK_LESS,
     AB_AGAINST_BACKEND, 1, AWAY, 0, 0},
    {"run/all/ns_per_op < 1x mimalloc", "run", "all", "ns_per_op", AB_CHECK_LESS,
     AB_AGAINST_BACKEND, 1, EACH, AWAY, 0},
    {"run/alloc/p99 < +10%", "run", "alloc", "p99", AB_CHECK_LESS, AB_AGAINST_BASELINE, 1.1, EACH,
     0, 0},
    {"run/all/ops_per_s > -5%", "run", "all", "ops_per_s", AB_CHECK_MORE, AB_AGAINST_BASELINE, 0.95,
     EACH, 0, 0},
    {"run/frame/p99 < 100us", "run", "frame", "p99", AB_CHECK_LESS, AB_AGAINST_NOTHING, 1e5, EACH,
     0, 0},
    {"run/frame/missed = 0", "run", "frame", "missed", AB_CHECK_IS, AB_AGAINST_NOTHING, 0, EACH, 0,
     0},
    {"glibc:run/frame/missed<=3", "run", "frame", "missed", AB_CHECK_AT_MOST, AB_AGAINST_NOTHING, 3,
     0, 0, 0},
    {"run/iteration/missed_percent < 1%", "run", "frame", "missed_percent", AB_CHECK_LESS,
     AB_AGAINST_NOTHING, 1, EACH, 0, 0},
    {"drain/request/mean < 2x glibc floor 1us", "drain", "request", "mean", AB_CHECK_LESS,
     AB_AGAINST_BACKEND, 2, EACH, 0, 1000},
    {"drain/request/max < +10%", "drain", "request", "max", AB_CHECK_LESS, AB_AGAINST_BASELINE, 1.1,
     EACH, 0, 0},
    {"run/alloc/p50 <= +0.5% floor 2ns", "run", "alloc", "p50", AB_CHECK_AT_MOST,
     AB_AGAINST_BASELINE, 1.005, EACH, 0, 2},
};

static void every_form_of_a_gate_is_read_as_what_it_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < AB_ARRAY_LEN(goods); i++) {
        const struct good *want = &goods[i];
        struct ab_gate g;
        struct ab_gate_error error = {.text = ""};
        if (!ab_gate_parse(want->text, false, &scope, &g, &error))
            fail_msg("%s: %s", want->text, error.text);
        const struct ab_metric *m = &g.metric;
        assert_string_equal(m->phase, want->phase);
        assert_string_equal(ab_metric_of(m), want->op);
        assert_string_equal(ab_metric_name(m), want->stat);
        assert_int_equal(g.compare, want->compare);
        assert_int_equal(g.against, want->against);
        assert_true(g.bound == want->bound);
        assert_int_equal(g.backend, want->backend);
        if (g.against == AB_AGAINST_BACKEND)
            assert_int_equal(g.other, want->other);
        assert_true(g.floor == want->floor);
    }
}

struct bad {
    const char *text, *marked, *says; /* the bytes that the error must point at; part of it */
};

static const struct bad bads[] = {
    {"", "", "is missing"},
    {"run/alloc/p99", "", "one of <, <=, >, >= is missing"},
    {"run/alloc/p99 <", "", "the bound is missing"},
    {"< 2us", "", "the metric is missing"},
    {"run/alloc/p99 == 2us", "==", "is not a comparison"},
    {"run/alloc/p99 != 2us", "!=", "is not a comparison"},
    {"run/alloc/p99 = 2us", "=", "is not a comparison"},
    {"run/alloc/p99 << 2us", "<<", "is not a comparison"},
    {"rnu/alloc/p99 < 2us", "rnu", "did you mean 'run'? Allowed are run, drain"},
    {"warm/alloc/p99 < 2us", "warm", "allowed are run, drain"},
    {"run/aloc/p99 < 2us", "aloc", "did you mean 'alloc'?"},
    {"run/resize/p99 < 2us", "resize", "phase 'run' has no resize; it has: alloc, free, all"},
    {"drain/alloc/p99 < 2us", "alloc", "phase 'drain' has no alloc"},
    {"run/framme/p99 < 2us", "framme", "did you mean 'frame'?"},
    {"run/request/p99 < 2us", "request", "phase 'run' has no request; it has: alloc, free, all"},
    {"run/frame/p9 < 2us", "p9", "did you mean 'p99'?"},
    {"run/frame/p99.9 < 2us", "p99.9", "allowed are p50, p99, max, mean, missed"},
    {"run/frame/misssed = 0", "misssed", "did you mean 'missed'?"},
    {"drain/request/missed = 0", "missed", "needs a budget, and the iterations of phase 'drain'"},
    {"run/frame/p99 = 2us", "=", "only of counts such as missed = 0"},
    {"run/frame/missed = 1x glibc", "=", "only of counts"},
    {"run/frame/missed = 2us", "2us", "expected a count"},
    {"run/frame/missed < +10%", "+10%", "gate missed_percent instead"},
    {"run/frame/missed <= 20%", "20%", "gate missed_percent instead"},
    {"run/frame/p99 < 100", "100", "a time needs a unit"},
    {"frame/p99 < 2us", "frame/p99", "write run/frame/p99"},
    {"request/p99 < 2us", "request/p99", "write drain/request/p99"},
    {"*/frrame/p99 < 2us", "frrame", "did you mean 'frame'"},
    {"*/request/missed = 0", "missed", "needs a budget"},
    {"run/alloc/p999 < 2us", "p999", "did you mean 'p99'?"},
    {"run/alloc/ns_per_op < 2us", "alloc", "write run/all/ns_per_op"},
    {"run/alloc/rss_peak < 2MiB", "alloc", "write run/memory/rss_peak"},
    {"run/memory/p99 < 2us", "p99", "write run/all/p99"},
    {"run/memory/rss_paek < 2us", "rss_paek", "memory statistic"},
    {"run/memory/externl.p99 < 20%", "externl.p99", "did you mean 'external.p99'?"},
    {"run/memory/external.p999 < 20%", "external.p999", "did you mean 'external.p99'?"},
    {"run/end/external.p99 < 20%", "end",
     "is over all ops of the phase: write run/memory/external"},
    {"run/all/external.p99 < 20%", "all", "is a memory statistic: write run/memory/external.p99"},
    {"run/memory/external_ratio.p99 < 64MiB", "64MiB", "cannot bound external_ratio.p99"},
    {"run/memory/external_bytes.p99 < 20%", "20%", "write +20%"},
    {"run/live_peak/drained_1s < 2MiB", "live_peak", "write run/end/drained_1s"},
    {"p99 < 2us", "p99", "write run/all/p99"},
    {"rss_peak < 2us", "rss_peak", "write run/memory/rss_peak"},
    {"drain/p99 < 2us", "drain/p99", "write drain/all/p99"},
    {"drain/rss_peak < 2MiB", "drain/rss_peak", "write drain/memory/rss_peak"},
    {"free/p99 < 2us", "free/p99", "write run/free/p99"},
    {"glbc:run/alloc/p99 < 2us", "glbc", "did you mean 'glibc'?"},
    {"slab:run/alloc/p99 < 2us", "slab", "did you mean 'slab:threads=sharded'?"},
    {"nobody:run/alloc/p99 < 2us", "nobody", "allowed are glibc, slab:threads=sharded"},
    {":run/alloc/p99 < 2us", ":", "the name of a back end is missing"},
    {"null:run/alloc/p99 < 2us", "null", "has no gates"},
    {"run/alloc/p99 < 2", "2", "a time needs a unit"},
    {"run/alloc/p99 < 2KiB", "2KiB", "a time needs a unit"},
    {"run/alloc/p99 < 5%", "5%", "write +5% for a change against the baseline"},
    {"run/memory/rss_peak < 10%", "10%", "write +10% for a change against the baseline"},
    {"run/alloc/p99 < 2x baseline", "baseline", "unknown back end 'baseline'"},
    {"run/alloc/p99 < 2ns 3ns", "2ns 3ns", "a time needs a unit"},
    {"run/alloc/p99 < -2us", "-2us", "must not be negative"},
    {"run/alloc/p99 < nan", "nan", "not a number"},
    {"run/memory/rss_peak < 2us", "2us", "expected a size"},
    {"run/all/wait_percent < 5", "5", "expected a percentage such as 5%"},
    {"run/all/ops_per_s > 2us", "2us", "expected a count"},
    {"run/alloc/p99 < +x%", "+x%", "is not a change"},
    {"run/alloc/p99 < -100%", "-100%", "nothing can shrink by 100 %"},
    {"run/alloc/p99 < +1000000%", "+1000000%", "at most 100000 %"},
    {"run/alloc/p99 < +10% floor 20", "20", "a time needs a unit"},
    {"*/allloc/p99 < 2us", "allloc", "did you mean 'alloc'"},
    {"run/*/p99 < 2us", "*", "unknown op '*'"},
    {"run/alloc/p99 < 0.5x", "0.5x", "0.5x of what?"},
    {"run/alloc/p99 < 0x glibc", "0", "must be above 0"},
    {"run/alloc/p99 < 0.5x glibcc", "glibcc", "did you mean 'glibc'?"},
    {"glibc:run/alloc/p99 < 0.5x glibc", "glibc", "compared with itself"},
    {"run/alloc/p99 < 1.5x live", "live", "bounds sizes of memory"},
    {"run/memory/faults_minor < 1.5x live", "live", "bounds sizes of memory"},
    {"run/memory/overhead < 1.5x live floor 2", "2", "'floor' belongs to a ratio"},
    {"run/alloc/p99 < 2us floor 20ns", "20ns", "'floor' belongs to a ratio"},
    {"run/alloc/p99 < 2x glibc floor", "2x glibc", "floor: a size is missing"},
    {"run/alloc/p99 < 2x glibc floor 20", "20", "a time needs a unit"},
    {"\x1b[31mrun/alloc/p99 < 2us", "\x1b[31mrun", "\\x1b"},
};

static void every_mistake_is_told_with_its_place_and_the_right_spelling(void **state)
{
    (void)state;
    for (size_t i = 0; i < AB_ARRAY_LEN(bads); i++) {
        const struct bad *bad = &bads[i];
        struct ab_gate g, before;
        struct ab_gate_error error;
        memset(&g, 0x5a, sizeof g);
        memcpy(&before, &g, sizeof g);
        if (ab_gate_parse(bad->text, false, &scope, &g, &error))
            fail_msg("'%s' was read", bad->text);
        assert_memory_equal(&g, &before, sizeof g);
        if (strstr(error.text, bad->says) == NULL)
            fail_msg("%s: no '%s' in: %s", bad->text, bad->says, error.text);
        assert_true(error.offset <= strlen(bad->text));
        if (bad->marked[0] != 0 && (error.n != strlen(bad->marked) ||
                                    memcmp(bad->text + error.offset, bad->marked, error.n) != 0))
            fail_msg("%s: marked is '%.*s'", bad->text, (int)error.n, bad->text + error.offset);
        for (const char *s = error.text; *s != 0; s++)
            assert_true((unsigned char)*s >= 0x20);
    }
}

static void a_claim_is_a_ratio_of_one_back_end_to_another(void **state)
{
    (void)state;
    struct ab_gate g;
    struct ab_gate_error error;
    assert_true(ab_gate_parse("slab:threads=sharded:run/all/ns_per_op = 0.0958x glibc", true,
                              &scope, &g, &error));
    assert_int_equal(g.compare, AB_CHECK_IS);
    assert_int_equal(g.backend, 1);
    assert_int_equal(g.other, 0);
    assert_true(g.bound == 0.0958);
    /* a run that has it with settings only does not have what was published */
    assert_true(ab_gate_parse("slab:run/all/ns_per_op = 0.1x glibc", true, &scope, &g, &error));
    assert_int_equal(g.backend, AB_GATE_ELSEWHERE);
    assert_false(ab_gate_parse("slab:run/all/ns_per_op < 0.1x glibc", false, &scope, &g, &error));
    static const char *const wrong[] = {
        "glibc:run/all/ns_per_op < 0.5x mimalloc",
        "glibc:run/all/ns_per_op = 5ns",
        "run/all/ns_per_op = 0.5x glibc",
        "glibc:run/memory/rss_peak = 1.5x live",
        "mimalloc:run/all/ns_per_op = 0.5x glibc floor 2ns",
        "glibc:run/all/ns_per_op 0.5x mimalloc",
    };
    for (size_t i = 0; i < AB_ARRAY_LEN(wrong); i++)
        assert_false(ab_gate_parse(wrong[i], true, &scope, &g, &error));
}

static void a_long_text_neither_overflows_nor_is_read(void **state)
{
    (void)state;
    static char text[5000];
    struct ab_gate g;
    struct ab_gate_error error;
    for (const char *s = "a/<x:{=% "; *s != 0; s++) {
        memset(text, *s, sizeof text - 1);
        assert_false(ab_gate_parse(text, false, &scope, &g, &error));
        memcpy(text + 2000, ":run/alloc/p99 < 1x ", 20);
        assert_false(ab_gate_parse(text, false, &scope, &g, &error));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_of_a_gate_is_read_as_what_it_says),
        cmocka_unit_test(every_mistake_is_told_with_its_place_and_the_right_spelling),
        cmocka_unit_test(a_claim_is_a_ratio_of_one_back_end_to_another),
        cmocka_unit_test(a_long_text_neither_overflows_nor_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
