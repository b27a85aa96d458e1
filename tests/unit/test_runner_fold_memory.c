/* SPDX-License-Identifier: MIT
 *
 * Hand-made memory reports: what is told, what is refused with which reason, and that no report,
 * however false, does harm.
 * tests: runner/fold_memory.c fold_pins.c
 */
#include "base/rng.h"
#include "result/numbers.h"
#include "runner/fold.h"
#include "support/cmocka.h"
#include "support/tape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct ab_tape tape;
static struct ab_tape_map map;
static struct ab_run_page page;
static struct ab_memory_report report;
static struct ab_session s;
static struct ab_outcome run = {.page = &page, .memory = &report};
static const struct ab_fold fold = {.session = &s, .tape = &map, .backend = 0, .round = 2};

enum { MIB = 1 << 20, CHURN = 1, DRAIN = 2 };

/* 2 MiB live + 1 internal + 1 external + 2 retained = 6 MiB at every place. */
static int reset(void **state)
{
    (void)state;
    memset(&report, 0, sizeof report);
    memset(&page, 0, sizeof page);
    ab_fold_drop(&s, AB_FOLD_ANY, AB_FOLD_ANY);
    report.page_bytes = 4096;
    for (unsigned i = 0; i < AB_DRAIN_COUNT; i++)
        report.drained_bytes[i] = i == 3 ? AB_MEMORY_UNKNOWN : (6 - i) * MIB;
    for (uint32_t p = 0; p < 3; p++) {
        struct ab_memory_phase *phase = &report.phases[p];
        *phase = (struct ab_memory_phase){.live_peak_bytes = 4 * MIB,
                                          .rss_peak_bytes = 8 * MIB,
                                          .n_readings = 10,
                                          .requested_sum = 20 * MIB,
                                          .footprint_sum = 50 * MIB,
                                          .live_peak_at = map.phases[p].end};
        for (unsigned at = 0; at < AB_AT_COUNT; at++)
            phase->at[at] = (struct ab_memory_state){.position = map.phases[p].end - at,
                                                     .is_checked = 1,
                                                     .requested_bytes = 3 * MIB,
                                                     .usable_bytes = 5 * MIB,
                                                     .footprint_bytes = 6 * MIB,
                                                     .exact_bytes = 6 * MIB,
                                                     .live_bytes = 2 * MIB,
                                                     .internal_bytes = MIB,
                                                     .external_bytes = MIB,
                                                     .untouched_bytes = MIB - 512,
                                                     .baseline_bytes = 512,
                                                     .n_stretches = 3,
                                                     .allocated_bytes = 3 * MIB,
                                                     .mapped_bytes = 7 * MIB};
        page.report.phases[p].faults_minor = 100 + p;
        page.report.phases[p].faults_major = p;
    }
    report.n_points = 3;
    for (uint32_t i = 0; i < 3; i++)
        report.points[i] = (struct ab_memory_point){.position = i * 10,
                                                    .requested_bytes = i,
                                                    .usable_bytes = 2 * i,
                                                    .footprint_bytes = 3 * i};
    return 0;
}

/* The record of "churn" at its end, folded anew. */
static const struct ab_memory *fold_end(void)
{
    ab_fold_drop(&s, AB_FOLD_ANY, AB_FOLD_ANY);
    ab_fold_memory(&fold, &run);
    assert_int_equal(s.n_memory, 2 * AB_AT_COUNT);
    assert_string_equal(s.memory[AB_AT_END].phase, "churn");
    return &s.memory[AB_AT_END];
}

static struct ab_memory_state *end_state(void)
{
    return &report.phases[CHURN].at[AB_AT_END];
}

static void bytes_add_up_to_the_footprint_and_ratios_are_by_live(void **state)
{
    (void)state;
    const struct ab_memory *m = fold_end();
    assert_true(m->live_bytes == 2 * MIB && m->internal_bytes == MIB && m->external_bytes == MIB);
    assert_true(m->retained_bytes == 2 * MIB && m->footprint_bytes == 6 * MIB);
    assert_true(m->discrepancy_bytes == 0 && m->usable_bytes == 5 * MIB);
    assert_true(m->requested_bytes == 3 * MIB && m->untouched_bytes == MIB - 512);
    assert_true(m->baseline_bytes == 512 && m->external_2m_bytes == 3 * MIB);
    assert_true(m->internal_ratio == 0.5 && m->external_ratio == 0.5 && m->retained_ratio == 1);
    assert_true(m->external_2m_ratio == 1.5);
    assert_true(m->overhead == 3 && m->overhead_peak == 2 && m->overhead_mean == 2.5);
    assert_true(m->live_peak_bytes == 4 * MIB && m->rss_peak_bytes == 8 * MIB);
    assert_true(m->allocated_bytes == 3 * MIB && m->mapped_bytes == 7 * MIB);
    assert_true(m->faults_minor == 101 && m->faults_major == 1);
    assert_int_equal(m->round, 2);
    assert_int_equal(m->position, map.phases[CHURN].end - AB_AT_END);
    assert_string_equal(m->reason, "");
    assert_true(isnan(m->drained_bytes[0]));
}

/* Of the peak of readings, 8 MiB. */
static void what_only_the_mark_saw_is_added_to_the_peak(void **state)
{
    (void)state;
    const struct ab_memory *m = fold_end();
    assert_true(m->during_calls_bytes == 0 && m->peak_bytes == 8 * MIB);
    report.mark_excess_bytes = MIB;
    report.phases[CHURN].high_water_bytes = 9 * MIB; /* no more than it may say too much */
    m = fold_end();
    assert_true(m->during_calls_bytes == 0 && m->peak_bytes == 8 * MIB);
    report.phases[CHURN].high_water_bytes = 13 * MIB;
    m = fold_end();
    assert_true(m->during_calls_bytes == 5 * MIB && m->peak_bytes == 13 * MIB);
    assert_true(m->rss_peak_bytes == 8 * MIB && m->footprint_bytes == 6 * MIB);
    report.flags = AB_MEMORY_NO_MARK;
    m = fold_end();
    assert_true(isnan(m->during_calls_bytes) && isnan(m->peak_bytes));
    assert_true(m->rss_peak_bytes == 8 * MIB);
    assert_non_null(strstr(m->reason, "during calls: /proc/self/clear_refs cannot be written"));
}

static void drains_stand_at_the_end_of_the_last_phase(void **state)
{
    (void)state;
    fold_end();
    const struct ab_memory *last = &s.memory[2 * AB_AT_COUNT - 1];
    assert_string_equal(last->phase, "drain");
    assert_true(last->drained_bytes[0] == 6 * MIB && last->drained_bytes[4] == 2 * MIB);
    assert_true(isnan(last->drained_bytes[3]));
    assert_string_equal(last->reason, "drained: not measured (use --drain=10s)");
    report.drained_bytes[3] = 0;
    report.drained_bytes[4] = AB_MEMORY_UNKNOWN;
    fold_end();
    assert_string_equal(s.memory[2 * AB_AT_COUNT - 1].reason, "purged: the back end has no purge");
    assert_true(s.memory[2 * AB_AT_COUNT - 1].drained_bytes[3] == 0);
}

static void expect_na(const struct ab_memory *m, double value, const char *reason)
{
    assert_true(isnan(value));
    if (strstr(m->reason, reason) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", m->reason, reason);
}

static void each_check_that_fails_makes_values_na_with_the_reason(void **state)
{
    (void)state;
    const struct ab_memory *m;
    end_state()->exact_bytes = 5 * MIB;
    m = fold_end();
    expect_na(m, m->retained_bytes, "footprint: statm reports");
    assert_true(isnan(m->discrepancy_bytes) && isnan(m->overhead));
    reset(NULL);
    end_state()->exact_bytes = 6 * MIB + 60000; /* within 64 KiB */
    assert_true(fold_end()->retained_ratio == 1);
    reset(NULL);
    end_state()->untouched_bytes++; /* that is more than was asked for */
    m = fold_end();
    expect_na(m, m->live_bytes, "pages: the worker's report is inconsistent");
    assert_true(isnan(m->retained_bytes) && isnan(m->external_bytes));
    assert_true(m->overhead_peak == 2 && m->usable_bytes == 5 * MIB); /* these need no pages */
    reset(NULL);
    end_state()->is_checked = 0;
    m = fold_end();
    expect_na(m, m->live_bytes, "pages: the peak moved between two runs");
    expect_na(m, m->overhead, "allocated: not measured");
    assert_true(m->footprint_bytes == 6 * MIB);
    reset(NULL);
    end_state()->footprint_bytes = end_state()->exact_bytes = 15 * 4096;
    end_state()->live_bytes = end_state()->requested_bytes = 4096;
    end_state()->internal_bytes = end_state()->external_bytes = 0;
    end_state()->untouched_bytes = end_state()->baseline_bytes = 0;
    m = fold_end();
    expect_na(m, m->overhead, "ratios: fewer than 16 pages");
    assert_true(m->live_bytes == 4096 && m->retained_bytes == 14 * 4096);
    reset(NULL);
    end_state()->live_bytes = 0;
    end_state()->untouched_bytes = 3 * MIB - 512;
    expect_na(fold_end(), fold_end()->overhead, "ratios: no live block was written to");
    end_state()->requested_bytes = end_state()->untouched_bytes = end_state()->baseline_bytes = 0;
    expect_na(fold_end(), fold_end()->internal_ratio, "ratios: no live blocks");
}

static void pages_are_not_known_where_the_worker_says_so(void **state)
{
    (void)state;
    static const struct {
        uint32_t flag;
        const char *reason;
    } cases[] = {
        {AB_MEMORY_MOVES, "pages: blocks may move"},
        {AB_MEMORY_NO_PAGES, "pages: /proc/self/pagemap"},
        {AB_MEMORY_OVERLAP, "pages: live blocks overlap"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        reset(NULL);
        report.flags = cases[i].flag;
        const struct ab_memory *m = fold_end();
        expect_na(m, m->live_bytes + m->internal_bytes + m->external_bytes, cases[i].reason);
        assert_true(isnan(m->retained_bytes) && isnan(m->untouched_bytes));
        assert_true(m->footprint_bytes == 6 * MIB && m->overhead_peak == 2);
    }
}

static void what_usable_size_does_not_say_is_external(void **state)
{
    (void)state;
    end_state()->usable_bytes = AB_MEMORY_UNKNOWN;
    end_state()->internal_bytes = 0; /* the worker took what was asked for */
    end_state()->external_bytes = 2 * MIB;
    const struct ab_memory *m = fold_end();
    expect_na(m, m->internal_bytes, "internal: no usable_size: counted as external");
    assert_true(m->external_bytes == 2 * MIB && m->retained_bytes == 2 * MIB);
    assert_true(isnan(m->internal_ratio) && m->external_ratio == 1 && m->overhead == 3);
    reset(NULL);
    report.flags = AB_MEMORY_USABLE_LESS;
    m = fold_end();
    expect_na(m, m->internal_bytes, "internal: usable_size is less than requested");
    assert_true(isnan(m->usable_bytes) && m->external_bytes == 2 * MIB);
    assert_true(m->live_bytes + m->external_bytes + m->retained_bytes == m->footprint_bytes);
}

static void more_pages_than_the_footprint_has_are_told_and_not_cut_off(void **state)
{
    (void)state;
    end_state()->external_bytes = 3 * MIB + 4096;
    end_state()->n_stretches = 4;
    const struct ab_memory *m = fold_end();
    expect_na(m, m->retained_bytes, "retained: live blocks occupy more pages");
    assert_true(m->discrepancy_bytes == 4096 && m->external_bytes == 3 * MIB + 4096);
    assert_true(m->live_bytes + m->internal_bytes + m->external_bytes ==
                m->footprint_bytes + m->discrepancy_bytes);
    assert_true(isnan(m->retained_ratio) && m->overhead == 3);
}

static void what_spoils_a_run_spoils_all_its_footprints(void **state)
{
    (void)state;
    static const struct {
        size_t offset;
        const char *reason;
    } cases[] = {
        {offsetof(struct ab_memory_report, shared_bytes), "shared mappings"},
        {offsetof(struct ab_memory_report, hugetlb_bytes), "hugetlb"},
        {offsetof(struct ab_memory_report, swapped_bytes), "swapped out"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        reset(NULL);
        *(uint64_t *)((char *)&report + cases[i].offset) = 4096;
        const struct ab_memory *m = fold_end();
        expect_na(m, m->footprint_bytes, cases[i].reason);
        assert_true(isnan(m->rss_peak_bytes) && isnan(m->overhead_peak) && isnan(m->overhead_mean));
        assert_true(isnan(s.memory[2 * AB_AT_COUNT - 1].drained_bytes[0]));
        assert_true(isnan(s.timelines[0].points[0].footprint_bytes));
        assert_true(isnan(m->live_bytes) && isnan(m->internal_bytes) && isnan(m->untouched_bytes));
        assert_true(m->requested_bytes == 3 * MIB && m->live_peak_bytes == 4 * MIB);
    }
    reset(NULL);
    report.flags = AB_MEMORY_UNREADABLE;
    expect_na(fold_end(), fold_end()->rss_peak_bytes, "cannot be read");
}

static void a_kernel_that_batches_is_read_at_checkpoints(void **state)
{
    (void)state;
    report.granularity_pages = 64;
    end_state()->exact_bytes = 5 * MIB;
    assert_true(fold_end()->footprint_bytes == 5 * MIB && fold_end()->retained_bytes == MIB);
    end_state()->exact_bytes = AB_MEMORY_UNKNOWN;
    end_state()->is_checked = 0;
    expect_na(fold_end(), fold_end()->footprint_bytes, "batches");
}

static void the_time_line_holds_points_and_peaks_in_order(void **state)
{
    (void)state;
    fold_end();
    const struct ab_timeline *t = &s.timelines[0];
    assert_int_equal(t->round, 2);
    assert_int_equal(t->n, 3 + 6); /* three points, two peaks in each of three phases */
    for (uint32_t i = 1; i < t->n; i++)
        assert_true(t->points[i].position > t->points[i - 1].position);
    assert_true(t->points[2].requested_bytes == 2 && t->points[2].footprint_bytes == 6);
}

static void a_false_report_does_no_harm(void **state)
{
    (void)state;
    struct ab_rng rng;
    ab_rng_init(&rng, 5, 5);
    for (unsigned round = 0; round < 200; round++) {
        uint64_t *words = (uint64_t *)&report;
        for (size_t i = 0; i < sizeof report / 8; i++) {
            uint64_t r = ab_rng_next(&rng);
            words[i] = r % 4 == 0 ? UINT64_MAX : r % 4 == 1 ? r >> r % 64 : r;
        }
        if (round % 2 == 0) { /* else it is refused as a whole */
            report.flags = 0;
            report.page_bytes = 4096;
            report.shared_bytes = report.hugetlb_bytes = report.swapped_bytes = 0;
        }
        fold_end();
        for (uint32_t i = 0; i < s.n_memory; i++) {
            assert_true(s.memory[i].position <= map.image->n_ops);
            const struct ab_memory *m = &s.memory[i];
            assert_false(isinf(m->overhead) || isinf(m->external_ratio));
            assert_false(m->retained_bytes < 0 || m->external_2m_bytes < 0 ||
                         m->live_bytes > m->requested_bytes);
            assert_non_null(memchr(s.memory[i].reason, 0, sizeof s.memory[i].reason));
        }
        assert_true(s.timelines[0].n <= AB_MEMORY_POINTS_MAX);
        for (uint32_t i = 0; i < s.timelines[0].n; i++)
            assert_true(s.timelines[0].points[i].position <= map.image->n_ops);
    }
}

/* ---- over the time of the work ---- */

enum { ROWS = 6 };
static struct ab_memory_row rows[ROWS];

/* A load, an idle stretch of 4 s which another one follows at once, and the drain. */
static void give_rows(void)
{
    static const uint32_t flags[ROWS] = {
        0, AB_ROW_IDLE_BEGIN, 0, AB_ROW_IDLE_END | AB_ROW_IDLE_BEGIN, AB_ROW_IDLE_END, 0};
    for (uint32_t i = 0; i < ROWS; i++)
        rows[i] = (struct ab_memory_row){.time_ns = i * UINT64_C(2000000000),
                                         .position = map.phases[CHURN].end,
                                         .phase = i + 1 == ROWS ? map.image->n_phases : CHURN,
                                         .requested_bytes = 3 * MIB,
                                         .footprint_bytes = 8 * MIB,
                                         .live_bytes = 2 * MIB,
                                         .internal_bytes = MIB,
                                         .external_bytes = 2 * MIB,
                                         .lazyfree_bytes = AB_MEMORY_UNKNOWN,
                                         .flags = flags[i]};
    report.n_rows = ROWS;
    run.rows = rows;
    run.cap_rows = ROWS;
}

static int take_rows_back(void **state)
{
    (void)state;
    run.rows = NULL;
    return 0;
}

static void rows_are_over_time(void **state)
{
    (void)state;
    static const enum ab_idle_at idle[] = {AB_IDLE_NOT, AB_IDLE_BEGIN, AB_IDLE_DURING,
                                           AB_IDLE_END, AB_IDLE_BEGIN, AB_IDLE_END};
    give_rows();
    fold_end();
    assert_int_equal(s.n_over_time, 6); /* one is two, and the drain is none */
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(s.over_time[i].idle, idle[i]);
    const struct ab_over_time *row = &s.over_time[1];
    assert_true(row->time_ns == 2000000000 && row->position == map.phases[CHURN].end);
    assert_string_equal(row->phase, "churn");
    assert_true(row->live_bytes == 3 * MIB && row->resident_bytes == 8 * MIB);
    assert_true(row->external_bytes == 2 * MIB && row->retained_bytes == 3 * MIB);
    assert_true(isnan(row->lazyfree_bytes) && row->round == 2);
    rows[0].position = rows[1].position = rows[2].position = map.phases[CHURN].begin;
    fold_end();
    assert_int_equal(s.over_time[2].idle, AB_IDLE_DURING);
    assert_int_equal(s.over_time[3].idle, AB_IDLE_BEGIN); /* ops ended it, so it has no end */
    ab_fold_drop(&s, 0, 2);
    assert_int_equal(s.n_over_time, 0);
}

static void rows_are_judged_as_all_else(void **state)
{
    (void)state;
    give_rows();
    rows[0].footprint_bytes = 4 * MIB; /* fewer than its pages have */
    fold_end();
    assert_true(isnan(s.over_time[0].retained_bytes) && s.over_time[1].retained_bytes == 3 * MIB);
    report.flags = AB_MEMORY_USABLE_LESS;
    fold_end();
    assert_true(s.over_time[1].external_bytes == 3 * MIB);
    report.flags = AB_MEMORY_MOVES;
    fold_end();
    assert_true(isnan(s.over_time[1].external_bytes) && isnan(s.over_time[1].retained_bytes));
    assert_true(s.over_time[1].resident_bytes == 8 * MIB);
    report.shared_bytes = 1;
    fold_end();
    assert_true(isnan(s.over_time[1].resident_bytes) && s.over_time[1].live_bytes == 3 * MIB);
}

static void rows_that_contradict_themselves_are_left_out(void **state)
{
    (void)state;
    give_rows();
    rows[2].time_ns = 1;
    fold_end();
    assert_int_equal(s.n_over_time, 0);
    give_rows();
    rows[3].position = map.image->n_ops + 1;
    fold_end();
    assert_int_equal(s.n_over_time, 0);
    give_rows();
    rows[1].phase = UINT32_MAX; /* after the drain nothing comes */
    fold_end();
    assert_int_equal(s.n_over_time, 0);
    give_rows();
    report.n_rows = UINT32_MAX;
    fold_end();
    assert_int_equal(s.n_over_time, 6);
}

static void what_belongs_to_a_round_or_a_back_end_can_be_dropped(void **state)
{
    (void)state;
    struct ab_fold other = fold;
    other.backend = 1;
    ab_fold_memory(&fold, &run);
    ab_fold_memory(&other, &run);
    other.round = 3;
    ab_fold_memory(&other, &run);
    assert_int_equal(s.n_timelines, 3);
    ab_fold_drop(&s, AB_FOLD_ANY, 3);
    assert_int_equal(s.n_timelines, 2);
    assert_int_equal(s.n_memory, 2 * 2 * AB_AT_COUNT);
    ab_fold_drop(&s, 0, AB_FOLD_ANY);
    assert_int_equal(s.n_memory, 2 * AB_AT_COUNT);
    assert_int_equal(s.n_dists, 2 * AB_DIST_COUNT);
    assert_int_equal(s.dists[0].backend, 1);
    assert_int_equal(s.memory[0].backend, 1);
    assert_int_equal(s.timelines[0].backend, 1);
}

static void marks_are_where_the_run_saw_its_peaks(void **state)
{
    (void)state;
    struct ab_memory_marks marks;
    ab_fold_memory_marks(&map, &run, &marks);
    assert_int_equal(marks.live_peak[CHURN], map.phases[CHURN].end);
    assert_int_equal(marks.footprint_peak[DRAIN], map.phases[DRAIN].end);
    assert_int_equal(marks.live_peak[3], AB_MEMORY_NEVER);
    assert_int_equal(marks.footprint_bytes[CHURN], 8 * MIB);
    assert_true(marks.footprint_bytes[3] == AB_MEMORY_UNKNOWN);
}

/* ---- by owner ---- */

static struct ab_pins_report pins;
static const struct ab_owner_name names[] = {{.function = "(unknown)"},
                                             {.function = "parse", .file = "a.c", .line = 7},
                                             {.function = "keep", .file = "b.c", .line = 9}};
static const struct ab_owners owners = {.n = 3, .names = names, .group = AB_PIN_SITE};

static struct ab_pins_state *reset_pins(void)
{
    memset(&pins, 0, sizeof pins);
    for (unsigned i = 0; i < AB_PINS_STATES_MOST; i++)
        pins.states[i].position = AB_MEMORY_NEVER;
    struct ab_pins_state *end = &pins.states[AB_PINS_END];
    *end = (struct ab_pins_state){.moment = AB_PINS_END,
                                  .phase = CHURN,
                                  .position = map.phases[CHURN].end,
                                  .footprint = 6 * MIB,
                                  .live = 2 * MIB,
                                  .internal = MIB,
                                  .external = MIB,
                                  .external_2m = 3 * MIB,
                                  .n_rows = 2};
    end->rows[0] = (struct ab_pins_row){.owner = 1,
                                        .live = MIB,
                                        .external = 100,
                                        .external_2m = 3 * MIB,
                                        .retained = MIB,
                                        .blocks = 1,
                                        .median_birth = end->position - 5};
    end->rows[1] = (struct ab_pins_row){
        .owner = 2, .live = MIB, .internal = MIB, .external = MIB - 100, .blocks = 3};
    return end;
}

static uint32_t fold_owners(void)
{
    ab_fold_drop(&s, AB_FOLD_ANY, AB_FOLD_ANY);
    run.pins = &pins;
    ab_fold_pins(&fold, &owners, &run);
    run.pins = NULL;
    return s.n_pins;
}

static void owners_add_up_and_the_rest_is_the_allocator_s(void **state)
{
    (void)state;
    reset_pins();
    assert_int_equal(fold_owners(), 3);
    assert_string_equal(s.pins[0].function, "keep"); /* the most pinned first */
    assert_true(s.pins[0].pinned_bytes == MIB - 100 && s.pins[0].line == 9);
    assert_true(s.pins[1].retained_bytes == MIB && s.pins[1].median_age == 5);
    assert_string_equal(s.pins[2].function, AB_PIN_ALLOCATOR);
    assert_true(s.pins[2].retained_bytes == MIB);
    assert_string_equal(s.pins[2].phase, "churn");
}

static void retained_pages_beyond_the_footprint_are_not_known(void **state)
{
    (void)state;
    reset_pins()->rows[0].retained = 3 * MIB;
    assert_int_equal(fold_owners(), 2);
    assert_true(isnan(s.pins[0].retained_bytes) && isnan(s.pins[1].retained_bytes));
}

static void owners_that_do_not_add_up_make_no_record(void **state)
{
    (void)state;
    reset_pins()->rows[0].external++;
    assert_int_equal(fold_owners(), 0);
    reset_pins()->rows[1].owner = 3;
    assert_int_equal(fold_owners(), 0);
    reset_pins()->n_rows = AB_PINS_ROWS_MOST + 1;
    assert_int_equal(fold_owners(), 0);
    reset_pins()->phase = 99;
    assert_int_equal(fold_owners(), 0);
    reset_pins()->moment = AB_PINS_MOMENT_COUNT;
    assert_int_equal(fold_owners(), 0);
}

static void no_report_of_owners_does_harm(void **state)
{
    (void)state;
    struct ab_rng rng;
    ab_rng_init(&rng, 1, 0);
    for (unsigned i = 0; i < 300; i++) {
        struct ab_pins_state *end = reset_pins();
        unsigned char *bytes = (unsigned char *)end;
        for (unsigned k = 0; k < 1 + i % 40; k++)
            bytes[ab_rng_next(&rng) % 300] = (unsigned char)ab_rng_next(&rng);
        fold_owners();
        for (uint32_t k = 0; k < s.n_pins; k++)
            assert_true(s.pins[k].position <= map.image->n_ops && !(s.pins[k].retained_bytes < 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(bytes_add_up_to_the_footprint_and_ratios_are_by_live, reset),
        cmocka_unit_test_setup(what_only_the_mark_saw_is_added_to_the_peak, reset),
        cmocka_unit_test_setup(drains_stand_at_the_end_of_the_last_phase, reset),
        cmocka_unit_test_setup(each_check_that_fails_makes_values_na_with_the_reason, reset),
        cmocka_unit_test_setup(what_spoils_a_run_spoils_all_its_footprints, reset),
        cmocka_unit_test_setup(a_kernel_that_batches_is_read_at_checkpoints, reset),
        cmocka_unit_test_setup(pages_are_not_known_where_the_worker_says_so, reset),
        cmocka_unit_test_setup(what_usable_size_does_not_say_is_external, reset),
        cmocka_unit_test_setup(more_pages_than_the_footprint_has_are_told_and_not_cut_off, reset),
        cmocka_unit_test_setup(the_time_line_holds_points_and_peaks_in_order, reset),
        cmocka_unit_test_setup(a_false_report_does_no_harm, reset),
        cmocka_unit_test_setup_teardown(rows_are_over_time, reset, take_rows_back),
        cmocka_unit_test_setup_teardown(rows_are_judged_as_all_else, reset, take_rows_back),
        cmocka_unit_test_setup_teardown(rows_that_contradict_themselves_are_left_out, reset,
                                        take_rows_back),
        cmocka_unit_test_setup(what_belongs_to_a_round_or_a_back_end_can_be_dropped, reset),
        cmocka_unit_test_setup(marks_are_where_the_run_saw_its_peaks, reset),
        cmocka_unit_test_setup(owners_add_up_and_the_rest_is_the_allocator_s, reset),
        cmocka_unit_test_setup(retained_pages_beyond_the_footprint_are_not_known, reset),
        cmocka_unit_test_setup(owners_that_do_not_add_up_make_no_record, reset),
        cmocka_unit_test_setup(no_report_of_owners_does_harm, reset),
    };
    test_tape_churn_map(200, 30000, &tape, &map);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ab_fold_drop(&s, AB_FOLD_ANY, AB_FOLD_ANY);
    free(s.memory);
    free(s.timelines);
    free(s.dists);
    ab_tape_map_close(&map);
    ab_tape_fini(&tape);
    return failed;
}
