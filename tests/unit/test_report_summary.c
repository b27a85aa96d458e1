/* SPDX-License-Identifier: MIT */
#include "report/summary.h"

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

static void the_winner_and_its_price_are_told(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    assert_says(f, "arena is 6.17x as fast as glibc (ns/op over 2 phases), but never frees: "
                   "312 MiB taken for a live peak of 4.10 MiB; jemalloc is the fastest that "
                   "frees, 1.39x as fast as glibc, p99.9 of free in steady 2.28x glibc's.");
    fake_session_free(f);
}

static void failed_and_partial_ones_take_no_part(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    assert_mentions(f, "pool", false); /* 2.25 ns/op: fastest of all, but it left work out */
    assert_mentions(f, "broken", false);
    f->backends[FAKE_ARENA].status = AB_BACKEND_TIMEOUT;
    assert_says(f, "jemalloc is 1.39x as fast as glibc (ns/op over 2 phases), "
                   "p99.9 of free in steady 2.28x glibc's.");
    fake_session_free(f);
}

static void null_never_wins(void **state)
{
    static const char *const names[] = {"null", "null:x=1"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct fake_session *f = fake_session_new();
        strcpy(f->backends[FAKE_ARENA].name, names[i]);
        assert_mentions(f, "null", false);
        assert_mentions(f, "jemalloc is 1.39x", true);
        strcpy(f->backends[FAKE_ARENA].name, "nullable");
        assert_mentions(f, "nullable is 6.17x", true);
        fake_session_free(f);
    }
}

static void a_difference_within_the_spread_is_none(void **state)
{
    static const double glibc[3] = {20, 21, 22}, mixed[3] = {19, 22, 21}, same[3] = {20.1, 21, 22};
    (void)state;
    struct fake_session *f = fake_session_new();
    fake_session_keep(f, FAKE_ARENA);
    fake_session_set_ns(f, FAKE_GLIBC, glibc);
    fake_session_set_ns(f, FAKE_JEMALLOC, mixed); /* faster in two blocks of three */
    assert_mentions(f, "no clear difference between jemalloc and glibc (ns/op over 2 phases)",
                    true);
    assert_mentions(f, "as fast", false);
    fake_session_set_ns(f, FAKE_JEMALLOC, same);
    assert_mentions(f, "no clear difference", true);
    fake_session_free(f);
}

/* Blocks differ by a factor of two, but always in favour of the same one. */
static void drift_that_hits_all_alike_hides_nothing(void **state)
{
    static const double glibc[3] = {20, 30, 40}, faster[3] = {16, 24, 32};
    (void)state;
    struct fake_session *f = fake_session_new();
    fake_session_keep(f, FAKE_ARENA);
    fake_session_set_ns(f, FAKE_GLIBC, glibc);
    fake_session_set_ns(f, FAKE_JEMALLOC, faster);
    assert_mentions(f, "jemalloc is 1.25x as fast as glibc", true);
    fake_session_free(f);
}

static void when_glibc_is_fastest_it_is_said(void **state)
{
    static const double fast[3] = {2, 2, 2};
    (void)state;
    struct fake_session *f = fake_session_new();
    fake_session_keep(f, FAKE_ARENA);
    fake_session_set_ns(f, FAKE_GLIBC, fast);
    assert_mentions(f, "glibc is 10.6x as fast as jemalloc", true);
    fake_session_free(f);
}

static void two_leaders_too_close_are_named_before_the_distance(void **state)
{
    static const double like_arena[3] = {3.6, 3.4, 3.5}, arena[3] = {3.5, 3.5, 3.5};
    (void)state;
    struct fake_session *f = fake_session_new();
    fake_session_set_ns(f, FAKE_ARENA, arena);
    fake_session_set_ns(f, FAKE_JEMALLOC, like_arena);
    assert_mentions(f, ", the fastest two (ns/op over 2 phases)", true);
    assert_mentions(f, "x as fast as glibc", true);
    fake_session_free(f);
}

static void one_alone_just_states_its_figures(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    fake_session_keep(f, FAKE_JEMALLOC);
    assert_says(f, "glibc: 29.4 ns per op, 34.0 M ops/s (ns/op over 2 phases).");
    f->backends[FAKE_GLIBC].never_frees = true;
    f->s.n_phases = 1;
    assert_says(f, "glibc: 21.5 ns per op, 46.5 M ops/s (ns/op in steady); it never frees: "
                   "312 MiB taken for a live peak of 4.10 MiB.");
    fake_session_free(f);
}

static void few_blocks_are_admitted(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    fake_session_keep(f, FAKE_ARENA);
    f->s.n_blocks = 1;
    f->s.is_complete = false;
    assert_mentions(f, "(ns/op over 2 phases, 1 block: the spread is unknown)", true);
    assert_mentions(f, "; the run was not completed.", true);
    static const double slightly[3] = {20, 20, 20}, less[3] = {19, 19, 19};
    fake_session_set_ns(f, FAKE_GLIBC, slightly);
    fake_session_set_ns(f, FAKE_JEMALLOC, less);
    assert_mentions(f, "no clear difference", true); /* 5 % of one block is nothing */
    fake_session_free(f);
}

static void nothing_to_compare_is_said(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    fake_session_keep(f, FAKE_GLIBC);
    assert_says(f, "No back end has numbers that can be compared.");
    fake_session_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_winner_and_its_price_are_told),
        cmocka_unit_test(failed_and_partial_ones_take_no_part),
        cmocka_unit_test(null_never_wins),
        cmocka_unit_test(a_difference_within_the_spread_is_none),
        cmocka_unit_test(drift_that_hits_all_alike_hides_nothing),
        cmocka_unit_test(when_glibc_is_fastest_it_is_said),
        cmocka_unit_test(two_leaders_too_close_are_named_before_the_distance),
        cmocka_unit_test(one_alone_just_states_its_figures),
        cmocka_unit_test(few_blocks_are_admitted),
        cmocka_unit_test(nothing_to_compare_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
