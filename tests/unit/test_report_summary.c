/* SPDX-License-Identifier: MIT */
#include "report/table/session/summary.h"

#include "support/report_session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_says(const struct fake_session *f, const char *wanted)
{
    struct ab_text text = {0};
    ab_summary_add(&text, &f->s);
    assert_string_equal(text.s, wanted);
    ab_text_fini(&text);
}

static void assert_mentions(const struct fake_session *f, const char *what, bool does)
{
    struct ab_text text = {0};
    ab_summary_add(&text, &f->s);
    if ((strstr(text.s, what) != NULL) != does)
        fail_msg("'%s' in: %s", what, text.s);
    ab_text_fini(&text);
}

/* 2 M ops at 21.5 ns and 90 k at 40.25 are 46.6 ms. */
static void the_winner_and_its_price_are_named(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    fake_session_set_peak(f, FAKE_GLIBC, 6 << 20);
    fake_session_set_peak(f, FAKE_ARENA, 57 << 20);
    fake_session_set_peak(f, FAKE_JEMALLOC, 6.6 * (1 << 20));
    assert_says(
        f,
        "arena is 6.15x [6.15, 6.15] as fast as glibc (whole run: 7.58 ms vs. 46.6 ms), but takes "
        "9.50x [9.50, 9.50] the peak memory (57.0 MiB vs. 6.00 MiB) and never frees; jemalloc is "
        "the fastest that frees, 1.41x [1.41, 1.41] as fast as glibc (whole run: 33.2 ms vs. "
        "46.6 ms), but takes 10 % [10, 10] more peak memory (6.60 MiB vs. 6.00 MiB); its "
        "p99.9 of free in steady is 2.28x [2.28, 2.28] higher than that of glibc.");
    fake_session_free(f);
}

static void failed_and_partial_ones_take_no_part(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    assert_mentions(f, "pool", false); /* 2.25 ns/op: fastest of all, but it left work out */
    assert_mentions(f, "broken", false);
    f->backends[FAKE_ARENA].status = AB_BACKEND_TIMEOUT;
    assert_says(
        f, "jemalloc is 1.41x [1.41, 1.41] as fast as glibc (whole run: 33.2 ms vs. 46.6 ms); its "
           "p99.9 of free in steady is 2.28x [2.28, 2.28] higher than that of glibc.");
    fake_session_free(f);
}

/* The long phase decides, however much faster the short one is: no mean of ratios. */
static void the_time_of_the_whole_run_decides(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    for (uint32_t i = 0; i < f->s.n_results; i++) {
        struct ab_result *r = &f->results[i];
        if (r->backend == FAKE_ARENA && r->op == AB_OP_ALL)
            r->ns_per_op = r->n_ops > 1000000 ? 40 : 1;
    }
    assert_mentions(f, "jemalloc is 1.41x [1.41, 1.41] as fast as glibc", true);
    assert_mentions(f, "arena", false); /* 40 times as fast in drain, and slowest of all */
    fake_session_free(f);
}

/* What was given back in one call is not "never freed", and the peak is what was measured. */
static void an_arena_that_was_reset_frees(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    fake_session_set_peak(f, FAKE_GLIBC, 2.5 * (1 << 20));
    fake_session_set_peak(f, FAKE_ARENA, 2.6 * (1 << 20));
    assert_mentions(f, "at about the same peak memory (2.60 MiB vs. 2.50 MiB), but never frees",
                    true);
    for (uint32_t i = 0; i < f->s.n_results; i++)
        if (f->results[i].backend == FAKE_ARENA && f->results[i].op == AB_OP_RESIZE)
            f->results[i].op = AB_OP_RESET;
    assert_says(
        f,
        "arena is 6.15x [6.15, 6.15] as fast as glibc (whole run: 7.58 ms vs. 46.6 ms), at about "
        "the same peak memory (2.60 MiB vs. 2.50 MiB).");
    fake_session_free(f);
}

static void less_memory_is_said(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    fake_session_keep(f, FAKE_ARENA);
    fake_session_set_peak(f, FAKE_GLIBC, 8 << 20);
    fake_session_set_peak(f, FAKE_JEMALLOC, 6 << 20);
    assert_mentions(f, ", with 25 % [25, 25] less peak memory (6.00 MiB vs. 8.00 MiB)", true);
    fake_session_free(f);
}

static void null_never_wins(void **state)
{
    static const char *const names[] = {"null", "null:x=1"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct fake_session *f = fake_session_of(8);
        strcpy(f->backends[FAKE_ARENA].name, names[i]);
        assert_mentions(f, "null", false);
        assert_mentions(f, "jemalloc is 1.41x", true);
        strcpy(f->backends[FAKE_ARENA].name, "nullable");
        assert_mentions(f, "nullable is 6.15x", true);
        fake_session_free(f);
    }
}

static void a_difference_within_the_spread_is_none(void **state)
{
    static const double glibc[3] = {20, 21, 22}, mixed[3] = {19, 22, 21}, same[3] = {20.1, 21, 22};
    (void)state;
    struct fake_session *f = fake_session_of(8);
    fake_session_keep(f, FAKE_ARENA);
    fake_session_set_ns(f, FAKE_GLIBC, glibc);
    fake_session_set_ns(f, FAKE_JEMALLOC, mixed); /* faster in two rounds of three */
    assert_mentions(f, "no clear difference between glibc and jemalloc (whole run: ", true);
    assert_mentions(f, "as fast", false);
    fake_session_set_ns(f, FAKE_JEMALLOC, same);
    assert_mentions(f, "no clear difference", true);
    fake_session_free(f);
}

/* Rounds differ by a factor of two, but always in favour of the same one. */
static void drift_that_hits_all_alike_hides_nothing(void **state)
{
    static const double glibc[3] = {20, 30, 40}, faster[3] = {16, 24, 32};
    (void)state;
    struct fake_session *f = fake_session_of(8);
    fake_session_keep(f, FAKE_ARENA);
    fake_session_set_ns(f, FAKE_GLIBC, glibc);
    fake_session_set_ns(f, FAKE_JEMALLOC, faster);
    assert_mentions(f, "jemalloc is 1.25x [1.25, 1.25] as fast as glibc", true);
    fake_session_free(f);
}

/* The eight ratios are 1.03, 1.05 and 1.07 over and over: the interval is that of the signed-rank
 * test, which leaves out the 5 smallest and largest of 36 Walsh averages. */
static void an_interval_is_that_of_the_rounds(void **state)
{
    static const double glibc[3] = {20, 20, 20}, faster[3] = {20 / 1.03, 20 / 1.05, 20 / 1.07};
    (void)state;
    struct fake_session *f = fake_session_of(8);
    fake_session_keep(f, FAKE_ARENA);
    fake_session_set_ns(f, FAKE_GLIBC, glibc);
    fake_session_set_ns(f, FAKE_JEMALLOC, faster);
    assert_mentions(f, "jemalloc is 1.05x [1.03, 1.06] as fast as glibc", true);
    fake_session_free(f);
}

static void another_base_can_be_named(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    f->s.base = "jemalloc";
    assert_mentions(f, "arena is 4.37x [4.37, 4.37] as fast as jemalloc", true);
    fake_session_free(f);
}

static void a_base_without_numbers_is_no_base(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    f->s.base = "scudo"; /* absent: the fastest is set against the second */
    assert_mentions(f, "arena is 4.37x [4.37, 4.37] as fast as jemalloc", true);
    fake_session_free(f);
}

static void when_glibc_is_fastest_it_is_said(void **state)
{
    static const double fast[3] = {2, 2, 2};
    (void)state;
    struct fake_session *f = fake_session_of(8);
    fake_session_keep(f, FAKE_ARENA);
    fake_session_set_ns(f, FAKE_GLIBC, fast);
    assert_mentions(f, "glibc is 7.93x [7.89, 8.01] as fast as jemalloc", true);
    fake_session_free(f);
}

static void two_leaders_too_close_are_named_before_the_distance(void **state)
{
    static const double like_arena[3] = {3.6, 3.4, 3.5}, arena[3] = {3.5, 3.5, 3.5};
    (void)state;
    struct fake_session *f = fake_session_of(8);
    fake_session_set_ns(f, FAKE_ARENA, arena);
    fake_session_set_ns(f, FAKE_JEMALLOC, like_arena);
    assert_mentions(f, ", the fastest two (whole run: ", true);
    assert_mentions(f, "jemalloc is 6.37x [6.20, 6.63] as fast as glibc", true);
    fake_session_free(f);
}

static void one_alone_just_states_its_figures(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    fake_session_keep(f, FAKE_JEMALLOC);
    assert_says(f, "glibc: 46.6 ms for the whole run.");
    fake_session_set_peak(f, FAKE_GLIBC, 312 << 20);
    f->backends[FAKE_GLIBC].never_frees = true;
    assert_says(f, "glibc: 46.6 ms for the whole run, peak memory 312 MiB; it never frees.");
    fake_session_free(f);
}

/* Five rounds that all agree are no proof, however far apart the two are. */
static void below_six_rounds_nothing_is_clear(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    fake_session_keep(f, FAKE_ARENA);
    f->s.n_rounds = 5;
    f->s.is_complete = false;
    assert_says(
        f, "no clear difference between jemalloc and glibc (whole run: 33.2 ms vs. "
           "46.6 ms); 5 rounds cannot distinguish a difference from noise, at least 6 are needed; "
           "the run was not completed.");
    fake_session_free(f);
}

static void nothing_to_compare_is_said(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    fake_session_keep(f, FAKE_GLIBC);
    assert_says(f, "No back end has comparable results.");
    fake_session_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_winner_and_its_price_are_named),
        cmocka_unit_test(failed_and_partial_ones_take_no_part),
        cmocka_unit_test(null_never_wins),
        cmocka_unit_test(a_difference_within_the_spread_is_none),
        cmocka_unit_test(drift_that_hits_all_alike_hides_nothing),
        cmocka_unit_test(an_interval_is_that_of_the_rounds),
        cmocka_unit_test(another_base_can_be_named),
        cmocka_unit_test(a_base_without_numbers_is_no_base),
        cmocka_unit_test(when_glibc_is_fastest_it_is_said),
        cmocka_unit_test(two_leaders_too_close_are_named_before_the_distance),
        cmocka_unit_test(one_alone_just_states_its_figures),
        cmocka_unit_test(below_six_rounds_nothing_is_clear),
        cmocka_unit_test(the_time_of_the_whole_run_decides),
        cmocka_unit_test(an_arena_that_was_reset_frees),
        cmocka_unit_test(less_memory_is_said),
        cmocka_unit_test(nothing_to_compare_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
