/* SPDX-License-Identifier: MIT
 *
 * Hand-made samples of the memory pass: what becomes of them, what is refused with which reason,
 * and that no report, however false, does harm.
 */
#include "base/rng.h"
#include "result/memory_dist.h"
#include "runner/fold.h"
#include "support/cmocka.h"
#include "support/tape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MIB = 1 << 20, CHURN = 1, SAMPLES = 1000, LAST = 2 };

static struct ab_tape tape;
static struct ab_tape_map map;
static struct ab_run_page page;
static struct ab_memory_report *report;
static struct ab_session s;
static struct ab_outcome run = {.page = &page};
static const struct ab_fold fold = {.session = &s, .tape = &map, .backend = 3, .round = 2};
static struct ab_memory_sample *churn;

/* 2 MiB live + 1 internal + 1 external + 4 retained, at each of 1,000 samples of "churn". */
static int reset(void **state)
{
    (void)state;
    ab_fold_drop(&s, AB_FOLD_ANY, AB_FOLD_ANY);
    memset(report, 0, sizeof *report + SAMPLES * sizeof report->samples[0]);
    memset(report->drained_bytes, 0xff, sizeof report->drained_bytes);
    report->page_bytes = 4096;
    run.memory = report;
    run.cap_memory_samples = report->cap_samples = SAMPLES;
    churn = report->samples;
    const struct ab_phase *phase = &map.phases[CHURN];
    uint32_t n_ops = phase->end - phase->begin, before = phase->begin;
    report->phases[CHURN].n_samples = SAMPLES;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        uint32_t position = phase->begin + (uint32_t)((uint64_t)n_ops * (i + 1) / SAMPLES);
        churn[i] = (struct ab_memory_sample){.position = position,
                                             .n_ops = position - before,
                                             .footprint_bytes = 8 * MIB,
                                             .live_bytes = 2 * MIB,
                                             .internal_bytes = MIB,
                                             .external_bytes = MIB};
        before = position;
    }
    return 0;
}

static const struct ab_memory_dist *fold_churn(const char *trouble)
{
    ab_fold_drop(&s, AB_FOLD_ANY, AB_FOLD_ANY);
    ab_fold_dists(&fold, &run, trouble);
    assert_int_equal(s.n_dists, 2 * AB_DIST_COUNT);
    for (unsigned k = 0; k < AB_DIST_COUNT; k++) {
        assert_string_equal(s.dists[k].phase, "churn");
        assert_true(s.dists[k].backend == 3 && s.dists[k].round == 2 && s.dists[k].kind == k);
    }
    return s.dists;
}

static void expect_max(const struct ab_memory_dist *dists, enum ab_memory_dist_kind kind, double x)
{
    assert_true(fabs(ab_memory_dist_value(&dists[kind], AB_DIST_MAX) - x) < 1e-9);
    assert_string_equal(dists[kind].reason, "");
    assert_int_equal(ab_hdr_total(dists[kind].hdr), dists[kind].n_ops);
}

static void expect_all_na(const char *why)
{
    const struct ab_memory_dist *dists = fold_churn(NULL);
    for (unsigned k = 0; k < AB_DIST_COUNT; k++) {
        assert_null(dists[k].hdr);
        assert_string_equal(dists[k].reason, why);
    }
}

static void every_op_of_the_phase_is_in_each_histogram(void **state)
{
    (void)state;
    churn[7].external_bytes = 3 * MIB; /* a peak */
    const struct ab_memory_dist *dists = fold_churn(NULL);
    expect_max(dists, AB_DIST_OVERHEAD, 4);
    expect_max(dists, AB_DIST_INTERNAL_RATIO, 0.5);
    expect_max(dists, AB_DIST_EXTERNAL_RATIO, 1.5);
    expect_max(dists, AB_DIST_RETAINED_RATIO, 2);
    expect_max(dists, AB_DIST_INTERNAL_BYTES, MIB);
    expect_max(dists, AB_DIST_EXTERNAL_BYTES, 3 * MIB);
    expect_max(dists, AB_DIST_RETAINED_BYTES, 4 * MIB);
    double p99 = ab_memory_dist_value(&dists[AB_DIST_EXTERNAL_BYTES], 2);
    assert_true(p99 >= MIB && p99 < 1.001 * MIB);
    assert_int_equal(dists[0].n_samples, SAMPLES);
}

static void what_is_not_known_at_a_sample_leaves_its_ops_out(void **state)
{
    (void)state;
    uint32_t n_ops = map.phases[CHURN].end - map.phases[CHURN].begin;
    churn[0].live_bytes = churn[0].internal_bytes = churn[0].external_bytes = 0;
    churn[1].footprint_bytes = MIB; /* less than its pages */
    churn[2].live_bytes = 100;      /* of less than 16 pages */
    churn[2].footprint_bytes = 8192;
    churn[2].internal_bytes = churn[2].external_bytes = 0;
    const struct ab_memory_dist *dists = fold_churn(NULL);
    const struct ab_memory_dist *ratio = &dists[AB_DIST_EXTERNAL_RATIO];
    assert_int_equal(ab_hdr_total(ratio->hdr), n_ops - churn[0].n_ops - churn[2].n_ops);
    assert_string_equal(ratio->reason, "ratios: no live bytes, or fewer than 16 pages");
    assert_int_equal(ratio->n_samples, SAMPLES - 2);
    const struct ab_memory_dist *retained = &dists[AB_DIST_RETAINED_BYTES];
    assert_int_equal(ab_hdr_total(retained->hdr), n_ops - churn[1].n_ops);
    assert_string_equal(retained->reason, "live blocks occupy more pages than the footprint has");
    assert_int_equal(ab_hdr_total(dists[AB_DIST_EXTERNAL_BYTES].hdr), n_ops);
}

static void without_usable_size_internal_bytes_are_external(void **state)
{
    (void)state;
    report->phases[CHURN].at[AB_AT_END].usable_bytes = AB_MEMORY_UNKNOWN;
    const struct ab_memory_dist *dists = fold_churn(NULL);
    assert_int_equal(ab_hdr_total(dists[AB_DIST_INTERNAL_BYTES].hdr), 0);
    assert_string_equal(dists[AB_DIST_INTERNAL_RATIO].reason,
                        "no usable_size: counted as external");
    expect_max(dists, AB_DIST_EXTERNAL_BYTES, 2 * MIB);
    report->flags = AB_MEMORY_USABLE_LESS;
    dists = fold_churn(NULL);
    assert_string_equal(dists[AB_DIST_INTERNAL_BYTES].reason,
                        "usable_size is less than requested: counted as external");
    expect_max(dists, AB_DIST_RETAINED_BYTES, 4 * MIB);
}

static void a_kernel_that_batches_knows_no_footprint_between_checkpoints(void **state)
{
    (void)state;
    report->granularity_pages = 31;
    const struct ab_memory_dist *dists = fold_churn(NULL);
    expect_max(dists, AB_DIST_EXTERNAL_RATIO, 0.5);
    assert_int_equal(ab_hdr_total(dists[AB_DIST_OVERHEAD].hdr), 0);
    assert_string_equal(dists[AB_DIST_RETAINED_BYTES].reason,
                        "the kernel counts pages in batches: exact at checkpoints only");
}

static void doubts_make_all_na_with_the_reason(void **state)
{
    (void)state;
    report->flags = AB_MEMORY_MOVES;
    expect_all_na("blocks may move: their addresses are unknown");
    report->flags = AB_MEMORY_NO_PAGES;
    expect_all_na("/proc/self/pagemap or smaps cannot be read");
    report->flags = AB_MEMORY_NO_LEDGER;
    expect_all_na("blocks overlap, or are too far apart to be followed");
    report->flags = 0;
    report->phases[CHURN].n_disputed = 1;
    expect_all_na("two counts of the pages differ: one that held a live block went");
    report->phases[CHURN].n_disputed = 0;
    report->phases[CHURN].n_samples = 0;
    expect_all_na("no op");
    assert_string_equal(fold_churn("swapped")[0].reason, "swapped");
}

static void samples_that_contradict_each_other_are_refused(void **state)
{
    (void)state;
    const char *why = "the worker's report is inconsistent";
    churn[5].n_ops++;
    expect_all_na(why);
    churn[5].n_ops--;
    churn[SAMPLES - 1].position = map.phases[CHURN].end + 1;
    expect_all_na(why);
    reset(NULL);
    report->phases[CHURN].n_samples = SAMPLES + 1;
    expect_all_na(why);
    report->phases[CHURN].first_sample = UINT32_MAX;
    expect_all_na(why);
}

static void a_false_report_does_no_harm(void **state)
{
    (void)state;
    struct ab_rng rng;
    ab_rng_init(&rng, 5, 1);
    for (unsigned round = 0; round < 300; round++) {
        reset(NULL);
        for (unsigned i = 0; i < 30; i++) {
            uint64_t *word = (uint64_t *)&churn[ab_rng_next(&rng) % SAMPLES];
            word[1 + ab_rng_next(&rng) % 4] = ab_rng_next(&rng) >> ab_rng_next(&rng) % 64;
        }
        const struct ab_memory_dist *dists = fold_churn(NULL);
        for (unsigned k = 0; k < AB_DIST_COUNT; k++)
            assert_true(ab_hdr_total(dists[k].hdr) + dists[k].hdr->overflow <= dists[k].n_ops);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_op_of_the_phase_is_in_each_histogram, reset),
        cmocka_unit_test_setup(what_is_not_known_at_a_sample_leaves_its_ops_out, reset),
        cmocka_unit_test_setup(without_usable_size_internal_bytes_are_external, reset),
        cmocka_unit_test_setup(a_kernel_that_batches_knows_no_footprint_between_checkpoints, reset),
        cmocka_unit_test_setup(doubts_make_all_na_with_the_reason, reset),
        cmocka_unit_test_setup(samples_that_contradict_each_other_are_refused, reset),
        cmocka_unit_test_setup(a_false_report_does_no_harm, reset),
    };
    report = calloc(1, sizeof *report + SAMPLES * sizeof report->samples[0]);
    test_tape_churn_map(200, 30000, &tape, &map);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ab_fold_drop(&s, AB_FOLD_ANY, AB_FOLD_ANY);
    free(s.dists);
    free(report);
    ab_tape_map_close(&map);
    ab_tape_fini(&tape);
    return failed;
}
