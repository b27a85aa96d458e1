/* SPDX-License-Identifier: MIT
 *
 * What is advised in the end: by the speeds that were measured, not by measuring.
 */
#include "app/advise/advise_measure.h"

#include "support/cmocka.h"

#include <math.h>
#include <string.h>

static struct ab_advised measured(double low, double ratio, double high)
{
    return (struct ab_advised){
        .together = {.is_measured = true, .speed = {.ratio = ratio, .low = low, .high = high}},
        .used = 5,
        .n_rounds = 10,
        .limit = 0.05};
}

static void a_change_of_the_code_must_gain_the_limit_for_certain(void **state)
{
    (void)state;
    static const struct {
        double low, ratio, high, limit;
        uint32_t used, small;
        const char *answer;
    } cases[] = {
        {1.10, 1.20, 1.30, 0.05, 5, 0, "heaps"},      {1.05, 1.20, 1.30, 0.05, 5, 0, "heaps"},
        {1.04, 1.20, 1.30, 0.05, 0, 5, "small_gain"}, {1.02, 1.03, 1.04, 0.05, 0, 5, "small_gain"},
        {1.02, 1.03, 1.04, 0.02, 5, 0, "heaps"},      {0.99, 1.03, 1.08, 0.01, 0, 0, "keep"},
        {0.80, 0.90, 0.95, 0.05, 0, 0, "keep"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ab_advised m = measured(cases[i].low, cases[i].ratio, cases[i].high);
        m.limit = cases[i].limit;
        ab_advised_decide(&m);
        assert_int_equal(m.used, cases[i].used);
        assert_int_equal(m.small, cases[i].small);
        assert_false(m.by_memory);
        assert_string_equal(ab_advised_answer(&m), cases[i].answer);
    }
}

enum { KIB = 1024, MIB = 1024 * KIB };

static void less_memory_is_a_gain_where_nothing_is_slower_for_certain(void **state)
{
    (void)state;
    static const struct {
        double low, ratio, high, before, after;
        bool is_gain;
    } cases[] = {
        {1.00, 1.01, 1.02, 5.07 * MIB, 4.82 * MIB, true},
        {0.97, 0.99, 1.01, 5.07 * MIB, 4.82 * MIB, true},
        {0.97, 0.98, 0.99, 5.07 * MIB, 4.82 * MIB, false}, /* slower */
        {0.99, 1.01, 1.02, MIB, MIB - 64 * KIB, true},
        {0.99, 1.01, 1.02, MIB, MIB - 63 * KIB, false},
        {0.99, 1.01, 1.02, 64.0 * MIB, 63.0 * MIB, true},
        {0.99, 1.01, 1.02, 64.0 * MIB, 63.1 * MIB, false},
        {0.99, 1.01, 1.02, 4.0 * MIB, 5.0 * MIB, false},
        {0.99, 1.01, 1.02, NAN, MIB, false}, /* not known */
        {0.99, 1.01, 1.02, MIB, NAN, false},
        {NAN, 0.99, NAN, 2.0 * MIB, MIB, false}, /* too few rounds */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ab_advised m = measured(cases[i].low, cases[i].ratio, cases[i].high);
        m.together.base_memory_bytes = cases[i].before;
        m.together.memory_bytes = cases[i].after;
        assert_int_equal(ab_advised_is_memory_gain(&m.together), cases[i].is_gain);
        assert_int_equal(ab_advised_pays(&m.together), cases[i].is_gain);
        ab_advised_decide(&m);
        assert_int_equal(m.by_memory, cases[i].is_gain);
        assert_int_equal(ab_advised_is_open(&m.together), isnan(cases[i].low));
        assert_int_equal(m.used, cases[i].is_gain ? 5 : 0);
    }
}

static void what_live_blocks_hold_is_memory_too_where_the_peak_is_not_higher(void **state)
{
    const struct {
        double peak, held;
        bool is_gain;
    } cases[] = {{8, 2, true},  {8, 7.95, false}, {8, 8, false},
                 {9, 2, false}, {7, 9, true},     {8, NAN, false}};
    (void)state;
    for (size_t i = 0; i < AB_ARRAY_LEN(cases); i++) {
        struct ab_advised m = measured(0.99, 1, 1.01);
        m.together.base_memory_bytes = m.together.base_held_bytes = 8 * MIB;
        m.together.memory_bytes = cases[i].peak * MIB;
        m.together.held_bytes = cases[i].held * MIB;
        assert_int_equal(ab_advised_is_memory_gain(&m.together), cases[i].is_gain);
        assert_int_equal(ab_advised_holds_less(&m.together), cases[i].held < 7.9);
    }
}

/* The limit is one of time: it holds where neither time nor memory gains. */
static void what_gains_memory_is_advised_below_the_limit(void **state)
{
    (void)state;
    struct ab_advised m = measured(1.02, 1.03, 1.04), failed;
    m.together.base_memory_bytes = 2 * MIB;
    m.together.memory_bytes = MIB;
    failed = m;
    failed.together.is_measured = false;
    ab_advised_decide(&m);
    ab_advised_decide(&failed);
    assert_true(m.used == 5 && m.small == 0 && m.by_memory);
    assert_string_equal(ab_advised_answer(&m), "heaps");
    assert_true(failed.used == 0 && !failed.by_memory);
    m = measured(1.1, 1.2, 1.3);
    m.together.base_memory_bytes = 2 * MIB;
    m.together.memory_bytes = MIB;
    ab_advised_decide(&m); /* both */
    assert_true(m.used == 5 && !m.by_memory);
    m.used = 0; /* none was a gain alone */
    m.together.speed = (struct ab_effect){.ratio = 1.01, .low = 0.99, .high = 1.03};
    ab_advised_decide(&m);
    assert_true(m.used == 0 && !m.by_memory);
}

static void what_did_not_run_or_has_no_interval_is_not_advised(void **state)
{
    (void)state;
    struct ab_advised few = measured(NAN, 1.5, NAN), failed = measured(1.4, 1.5, 1.6);
    few.n_rounds = 3;
    failed.together.is_measured = false;
    ab_advised_decide(&few);
    ab_advised_decide(&failed);
    assert_true(few.used == 0 && few.small == 0 && failed.used == 0 && failed.small == 0);
    assert_string_equal(ab_advised_answer(&few), "open");
    const struct ab_advised none = {.n_rounds = 1}; /* nothing was proposed */
    assert_string_equal(ab_advised_answer(&none), "keep");
    struct ab_advised slower = {.n_rounds = 1, .heaps[0] = measured(NAN, 0.5, NAN).together};
    assert_string_equal(ab_advised_answer(&slower), "open");
    assert_string_equal(ab_advised_answer(&failed), "keep");
}

/* A round in which calls take no more than the harness has no time: what is left may be too few. */
static void what_may_be_faster_is_not_called_malloc(void **state)
{
    (void)state;
    struct ab_advised alone = measured(NAN, 8.71, NAN), all = alone,
                      slower = measured(NAN, 0.5, NAN);
    alone.heaps[1] = alone.together;
    alone.together.is_measured = false;
    alone.used = 0;
    ab_advised_decide(&alone);
    ab_advised_decide(&all);
    ab_advised_decide(&slower);
    assert_true(alone.used == 0 && all.used == 0 && slower.used == 0);
    assert_string_equal(ab_advised_answer(&alone), "open");
    assert_string_equal(ab_advised_answer(&all), "open");
    assert_string_equal(ab_advised_answer(&slower), "keep");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_of_the_code_must_gain_the_limit_for_certain),
        cmocka_unit_test(less_memory_is_a_gain_where_nothing_is_slower_for_certain),
        cmocka_unit_test(what_live_blocks_hold_is_memory_too_where_the_peak_is_not_higher),
        cmocka_unit_test(what_gains_memory_is_advised_below_the_limit),
        cmocka_unit_test(what_did_not_run_or_has_no_interval_is_not_advised),
        cmocka_unit_test(what_may_be_faster_is_not_called_malloc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
