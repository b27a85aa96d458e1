/* SPDX-License-Identifier: MIT
 * tests: over_time.c
 *
 * Idle stretches on rows written by hand, and growth by time with noise: what was planted is named, for
 * each of 20 seeds.
 */
#include "stats/over_time.h"

#include "base/bits.h"
#include "base/rng.h"
#include "stats/growth.h"
#include "stats/metric.h"
#include "support/cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIB 0x1p20
#define S UINT64_C(1000000000)
enum { ROWS = 8000, SEEDS = 20 };

static struct ab_over_time rows[ROWS];
static struct ab_timeline_point points[1];
static struct ab_timeline line = {.n = 1, .points = points};
static struct ab_backend_info backend = {.name = "one", .status = AB_BACKEND_OK};
static struct ab_round rounds[2] = {{.index = 0}, {.index = 1}};
static struct ab_session s = {.backends = &backend,
                              .n_backends = 1,
                              .over_time = rows,
                              .rounds = rounds,
                              .n_rounds = 1,
                              .timelines = &line};

static int reset(void **state)
{
    (void)state;
    s.n_over_time = 0;
    s.n_rounds = 1;
    s.n_timelines = 0;
    return 0;
}

static struct ab_over_time *add(uint64_t time_ns, enum ab_idle_at idle, double live,
                                double resident)
{
    assert_true(s.n_over_time < ROWS);
    struct ab_over_time *row = &rows[s.n_over_time++];
    *row = (struct ab_over_time){.phase = "idle",
                                 .time_ns = time_ns,
                                 .idle = idle,
                                 .live_bytes = live * MIB,
                                 .resident_bytes = resident * MIB,
                                 .external_bytes = 0,
                                 .retained_bytes = (resident - live) * MIB,
                                 .lazyfree_bytes = NAN};
    return row;
}

/* As gates have it, of the first round; *live: what was live then. */
static double value_of(unsigned field, double *live)
{
    const struct ab_metric m = {.phase = "idle", .number = &ab_time_fields[field]};
    if (live != NULL)
        *live = ab_metric_live_peak(&s, 0, &m);
    return ab_metric_of_round(&s, 0, &m, 0);
}

/* 100 MiB are live, 90 of them are freed, and go back in steps within 60 s: 104, 80, 50, 12. */
static void add_burst(uint64_t at)
{
    add(at, AB_IDLE_NOT, 100, 104);
    add(at, AB_IDLE_BEGIN, 10, 104);
    add(at + 1 * S, AB_IDLE_DURING, 10, 80);
    add(at + 10 * S, AB_IDLE_DURING, 10, 50);
    add(at + 60 * S, AB_IDLE_DURING, 10, 12);
    add(at + 100 * S, AB_IDLE_END, 10, 14);
}

static void a_stretch_is_read_off_its_rows(void **state)
{
    (void)state;
    add_burst(5 * S);
    struct ab_idles all = ab_idles_of(&s, 0, 0);
    assert_int_equal(all.n, 1);
    const struct ab_idle *x = &all.items[0];
    assert_true(x->begin_ns == 5e9 && x->end_ns == 105e9 && x->live_bytes == 10 * MIB);
    assert_true(x->begin_bytes == 104 * MIB && x->at_1s_bytes == 80 * MIB);
    assert_true(x->at_10s_bytes == 50 * MIB && x->at_60s_bytes == 12 * MIB);
    assert_true(x->end_bytes == 14 * MIB && x->floor_bytes == 12 * MIB);
    assert_true(x->freed_bytes == 90 * MIB);
    assert_true(x->half_back_ns == 10e9 && x->most_back_ns == 60e9);
    /* 1 s of 92, 9 of 65, 50 of 31, 40 of 13 MiB */
    assert_true(fabs(x->area - (92 + 9 * 65 + 50 * 31 + 40 * 13) / 3600.) < 1e-9);
    free(all.items);
}

static void what_a_short_stretch_does_not_reach_is_not_known(void **state)
{
    (void)state;
    add(0, AB_IDLE_NOT, 100, 104);
    add(0, AB_IDLE_BEGIN, 10, 104);
    add(2 * S, AB_IDLE_END, 10, 103);
    struct ab_idles all = ab_idles_of(&s, 0, 0);
    assert_true(all.items[0].at_1s_bytes == 103 * MIB && isnan(all.items[0].at_10s_bytes));
    assert_true(isnan(all.items[0].half_back_ns) && isnan(all.items[0].most_back_ns));
    free(all.items);
    assert_true(isnan(value_of(AB_TIME_10S, NULL)));
    const struct ab_metric m = {.phase = "idle", .number = &ab_time_fields[AB_TIME_10S]};
    char why[200];
    ab_metric_why_missing(&s, 0, &m, false, why, sizeof why);
    assert_non_null(strstr(why, "too short"));
}

static void resident_memory_times_time_is_not_known_where_a_part_is_not(void **state)
{
    (void)state;
    add_burst(0);
    rows[s.n_over_time - 2].resident_bytes = NAN;
    struct ab_idles all = ab_idles_of(&s, 0, 0);
    assert_true(isnan(all.items[0].area) && all.items[0].begin_bytes == 104 * MIB);
    assert_true(isnan(value_of(AB_TIME_AREA, NULL)));
    free(all.items);
}

/* A burst between two rows is seen by the time line alone. */
static void a_burst_in_no_time_is_on_the_time_line(void **state)
{
    (void)state;
    s.n_timelines = 1;
    points[0] = (struct ab_timeline_point){
        .position = 7, .requested_bytes = 60 * MIB, .footprint_bytes = 64 * MIB};
    add(0, AB_IDLE_BEGIN, 10, 30)->position = 9;
    add(1 * S, AB_IDLE_END, 10, 18)->position = 9;
    struct ab_idles all = ab_idles_of(&s, 0, 0);
    assert_true(all.items[0].freed_bytes == 50 * MIB);
    assert_true(all.items[0].half_back_ns == 0); /* 30 MiB at once: 64 - 25 are 39 */
    assert_true(all.items[0].most_back_ns == 1e9);
    free(all.items);
}

static void gates_bound_the_worst_stretch_and_the_area_of_all(void **state)
{
    (void)state;
    double live;
    add_burst(0);
    add_burst(200 * S);
    rows[7].resident_bytes = 110 * MIB; /* the second begins with more */
    rows[7].live_bytes = 20 * MIB;
    assert_true(value_of(AB_TIME_BEGIN, &live) == 110 * MIB);
    assert_true(live == 20 * MIB);
    assert_true(value_of(AB_TIME_FLOOR, NULL) == 12 * MIB);
    double one = (92 + 9 * 65 + 50 * 31 + 40 * 13) / 3600., between = 100 * 59 / 3600.;
    double found = value_of(AB_TIME_AREA, NULL);
    assert_true(fabs(found - (2 * one + between + 3 / 3600.)) < 1e-9);
}

static void rounds_count_by_their_median(void **state)
{
    (void)state;
    s.n_rounds = 2;
    add_burst(0);
    add_burst(0);
    for (uint32_t i = 6; i < 12; i++) {
        rows[i].round = 1;
        rows[i].resident_bytes += 2 * MIB;
    }
    struct ab_idles all = ab_idles_of(&s, 0, AB_OVER_TIME_ALL_ROUNDS);
    assert_int_equal(all.n, 1);
    assert_true(all.items[0].at_60s_bytes == 13 * MIB);
    free(all.items);
}

/* Stored results may say anything. */
static void time_that_runs_back_is_passed_over(void **state)
{
    (void)state;
    add_burst(10 * S);
    rows[3].time_ns = 1;
    struct ab_idles all = ab_idles_of(&s, 0, 0);
    assert_true(all.n == 1 && all.items[0].at_10s_bytes == 12 * MIB && all.items[0].area > 0);
    free(all.items);
}

/* ---- growth ---- */

struct plan { /* MiB, and MiB an hour */
    double live, leak, external, retained;
    double noise; /* of the resident bytes, from row to row; half of it stays to the next … */
    double stays; /* … or so much of it */
    double stops; /* part of the time after which nothing grows any more; 0 = never */
    uint32_t seconds, step;
};

/* A warm-up of a tenth, then what is planted. */
static void plant(const struct plan *p, uint64_t seed)
{
    struct ab_rng rng;
    double lasting = 0;
    ab_rng_init(&rng, seed, 0);
    s.n_over_time = 0;
    for (uint32_t t = 0; t < p->seconds; t += p->step) {
        double grown_s = p->stops > 0 ? fmin(t, p->stops * p->seconds) : t;
        double hours = grown_s / 3600, warm = fmin(1, t / (0.1 * p->seconds));
        double live = p->live * warm * (0.97 + 0.06 * ab_rng_unit(&rng)) + p->leak * hours;
        double external = 0.1 * live + p->external * hours;
        double retained = 0.2 * p->live + p->retained * hours;
        lasting = (p->stays > 0 ? p->stays : 0.5) * lasting + p->noise * (ab_rng_unit(&rng) - 0.5);
        struct ab_over_time *row = add(t * S, AB_IDLE_NOT, live,
                                       live + external + retained + lasting);
        row->external_bytes = external * MIB;
        row->retained_bytes = (retained + lasting) * MIB;
    }
}

static void expect(const struct plan *p, enum ab_growth_verdict verdict, double slope)
{
    uint32_t n_right = 0, n_within = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        plant(p, seed);
        struct ab_growth_by_time g = ab_growth_by_time(&s, 0, AB_GROWTH_ALL_ROUNDS);
        n_right += g.verdict == verdict;
        n_within += g.low <= slope * MIB && slope * MIB <= g.high;
        if (g.verdict != verdict)
            print_message("seed %u: %s, %.2f (%.2f to %.2f) MiB/h; %s\n", (unsigned)seed,
                          ab_growth_verdict_names[g.verdict] == NULL
                              ? "unknown"
                              : ab_growth_verdict_names[g.verdict],
                          g.bytes_per_hour / MIB, g.low / MIB, g.high / MIB, g.why);
    }
    assert_int_equal(n_right, SEEDS);
    assert_true(n_within >= SEEDS - 1); /* a 99 % interval */
}

static void what_is_planted_is_named(void **state)
{
    (void)state;
    expect(&(struct plan){.live = 100, .noise = 4, .seconds = 7200, .step = 1}, AB_GROWTH_STEADY,
           0);
    expect(&(struct plan){.live = 100, .leak = 10, .noise = 4, .seconds = 7200, .step = 1},
           AB_GROWTH_LEAKED, 11); /* the external bytes grow with it */
    expect(&(struct plan){.live = 100, .external = 10, .noise = 4, .seconds = 7200, .step = 1},
           AB_GROWTH_FRAGMENTED, 10);
    expect(&(struct plan){.live = 100, .retained = 10, .noise = 4, .seconds = 7200, .step = 1},
           AB_GROWTH_RETAINED, 10);
}

/* What drifts for minutes, up and down, does not grow: an interval for independent readings would call
 * every tenth such work growing. */
static void drift_is_no_growth(void **state)
{
    (void)state;
    enum { MANY = 200 };
    uint32_t n_alarms = 0;
    for (uint64_t seed = 1; seed <= MANY; seed++) {
        plant(&(struct plan){.live = 100, .noise = 3, .stays = 0.998, .seconds = 7200, .step = 1},
              seed);
        n_alarms += ab_growth_by_time(&s, 0, AB_GROWTH_ALL_ROUNDS).verdict > AB_GROWTH_STEADY;
    }
    assert_true(n_alarms <= MANY / 20);
}

/* Blocks that are made during 70 % of the time and then no more are no leak. */
static void growth_that_has_ended_is_no_verdict(void **state)
{
    (void)state;
    static const struct plan plans[] = {
        {.live = 100, .leak = 3, .noise = 1, .seconds = 7200, .step = 1, .stops = 0.7},
        {.live = 100, .external = 5, .noise = 1, .seconds = 7200, .step = 1, .stops = 0.7},
        {.live = 100, .leak = 4, .noise = 1, .seconds = 7200, .step = 1, .stops = 0.8}};
    for (size_t i = 0; i < AB_ARRAY_LEN(plans); i++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            plant(&plans[i], seed);
            struct ab_growth_by_time g = ab_growth_by_time(&s, 0, AB_GROWTH_ALL_ROUNDS);
            if (g.verdict > AB_GROWTH_STEADY)
                fail_msg("plan %zu, seed %u: %s", i, (unsigned)seed,
                         ab_growth_verdict_names[g.verdict]);
        }
}

/* Less than 1 % of the live bytes in an hour is no growth, however surely it is there. */
static void little_growth_is_steady(void **state)
{
    (void)state;
    expect(&(struct plan){.live = 100, .retained = 0.8, .noise = 0.1, .seconds = 7200, .step = 1},
           AB_GROWTH_STEADY, 0.8);
    expect(&(struct plan){.live = 100, .retained = 2, .noise = 0.1, .seconds = 7200, .step = 1},
           AB_GROWTH_RETAINED, 2);
}

/* The live bytes double: constant nowhere, and a leak all the same. */
static void a_fast_leak_is_one(void **state)
{
    (void)state;
    expect(&(struct plan){.live = 20, .leak = 200, .noise = 1, .seconds = 3600, .step = 1},
           AB_GROWTH_LEAKED, 220);
}

/* Of work that repeats, the ends of its idle stretches are compared, not what lies between. */
static void a_cycle_is_one_point(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 24; i++) {
        uint64_t at = i * 60 * S;
        add(at, AB_IDLE_NOT, 100, 110 + i);
        add(at + S, AB_IDLE_BEGIN, 10, 60 + i);
        add(at + 59 * S, AB_IDLE_END, 10, 20 + i)->external_bytes = (5 + i) * MIB;
        rows[s.n_over_time - 1].retained_bytes = 5 * MIB;
    }
    struct ab_growth_by_time g = ab_growth_by_time(&s, 0, AB_GROWTH_ALL_ROUNDS);
    assert_int_equal(g.verdict, AB_GROWTH_FRAGMENTED);
    assert_true(fabs(g.bytes_per_hour / MIB - 60) < 0.01);
    assert_true(g.begin_ns == (12 * 60 + 59) * 1e9 && g.end_ns == (23 * 60 + 59) * 1e9);
    s.n_over_time = 3 * 6; /* six of them tell nothing, twelve would */
    g = ab_growth_by_time(&s, 0, AB_GROWTH_ALL_ROUNDS);
    assert_int_equal(g.verdict, AB_GROWTH_UNKNOWN);
    assert_string_equal(g.why, "the work does not repeat often enough");
    assert_true(g.needs_ns >= 2 * g.lasts_ns && g.needs_ns < 3 * g.lasts_ns);
}

static void too_short_work_says_how_long_it_would_have_to_be(void **state)
{
    (void)state;
    plant(&(struct plan){.live = 100, .noise = 1, .seconds = 30, .step = 1}, 1);
    struct ab_growth_by_time g = ab_growth_by_time(&s, 0, AB_GROWTH_ALL_ROUNDS);
    assert_int_equal(g.verdict, AB_GROWTH_UNKNOWN);
    assert_true(g.needs_ns > g.lasts_ns && isnan(g.bytes_per_hour));
    plant(&(struct plan){.live = 100, .noise = 20, .seconds = 120, .step = 1}, 1);
    g = ab_growth_by_time(&s, 0, AB_GROWTH_ALL_ROUNDS);
    assert_int_equal(g.verdict, AB_GROWTH_UNKNOWN);
    assert_true(g.low < 0 && g.high > 0 && g.needs_ns > 2 * g.lasts_ns);
    /* Of that length it is known. */
    plant(
        &(struct plan){
            .live = 100, .noise = 20, .seconds = (uint32_t)(1.5 * g.needs_ns / 1e9), .step = 1},
        1);
    g = ab_growth_by_time(&s, 0, AB_GROWTH_ALL_ROUNDS);
    assert_int_equal(g.verdict, AB_GROWTH_STEADY);
}

/* Of a program the resident bytes alone are known. */
static void without_parts_growth_has_no_cause(void **state)
{
    (void)state;
    plant(&(struct plan){.live = 100, .retained = 30, .noise = 4, .seconds = 3600, .step = 10}, 3);
    for (uint32_t i = 0; i < s.n_over_time; i++)
        rows[i].live_bytes = rows[i].external_bytes = rows[i].retained_bytes = NAN;
    struct ab_growth_by_time g = ab_growth_by_time(&s, 0, AB_GROWTH_ALL_ROUNDS);
    assert_int_equal(g.verdict, AB_GROWTH_GROWS);
    assert_true(g.low > 20 * MIB && g.high < 40 * MIB);
}

static void work_without_times_has_no_growth(void **state)
{
    (void)state;
    struct ab_growth_by_time g = ab_growth_by_time(&s, 0, AB_GROWTH_ALL_ROUNDS);
    assert_true(g.verdict == AB_GROWTH_UNKNOWN && isnan(g.lasts_ns));
    assert_string_equal(g.why, "no memory over time was measured");
    add_burst(0); /* one row after the other at one time */
    for (uint32_t i = 0; i < s.n_over_time; i++)
        rows[i].time_ns = 0;
    assert_int_equal(ab_growth_by_time(&s, 0, 0).verdict, AB_GROWTH_UNKNOWN);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, reset)
    const struct CMUnitTest tests[] = {
        TEST(a_stretch_is_read_off_its_rows),
        TEST(what_a_short_stretch_does_not_reach_is_not_known),
        TEST(a_burst_in_no_time_is_on_the_time_line),
        TEST(resident_memory_times_time_is_not_known_where_a_part_is_not),
        TEST(gates_bound_the_worst_stretch_and_the_area_of_all),
        TEST(rounds_count_by_their_median),
        TEST(time_that_runs_back_is_passed_over),
        TEST(what_is_planted_is_named),
        TEST(drift_is_no_growth),
        TEST(growth_that_has_ended_is_no_verdict),
        TEST(little_growth_is_steady),
        TEST(a_fast_leak_is_one),
        TEST(a_cycle_is_one_point),
        TEST(too_short_work_says_how_long_it_would_have_to_be),
        TEST(without_parts_growth_has_no_cause),
        TEST(work_without_times_has_no_growth),
    };
    return cmocka_run_group_tests_name("over_time", tests, NULL, NULL);
}
