/* SPDX-License-Identifier: MIT */
#include "answer/progress_text.h"
#include "result/numbers.h"

#include "result/shown.h"
#include "support/report_session.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct ab_progress_view seventh = {.round = 7,
                                                .n_rounds = 10,
                                                .backend = "mimalloc",
                                                .what = "latency",
                                                .share = 0.68,
                                                .left_s = 8};

static const char *line(const struct ab_progress_view *v, unsigned width, bool utf8)
{
    static char buf[AB_PROGRESS_BYTES];
    return ab_progress_text_line(buf, v, width, utf8);
}

static void it_says_what_runs_and_how_long_it_takes(void **state)
{
    (void)state;
    assert_string_equal(line(&seventh, 79, false),
                        "round 7 of 10  mimalloc, latency  68 %  8 s left");
    struct ab_progress_view v = seventh;
    v.stage = "replay 1 of 4";
    assert_string_equal(line(&v, 79, false),
                        "replay 1 of 4: round 7 of 10  mimalloc, latency  68 %  8 s left");
    v.round = 0;
    assert_string_equal(line(&v, 79, false), "replay 1 of 4: mimalloc, latency  68 %  8 s left");
    v.stage = "stage 2 of 4: placements, memory";
    assert_string_equal(line(&v, 79, false),
                        "stage 2 of 4: placements, memory: mimalloc, latency  68 %  8 s left");
    v = seventh;
    v.is_about = true;
    v.left_s = 300;
    assert_string_equal(line(&v, 79, false),
                        "round 7 of about 10  mimalloc, latency  68 %  5 min left");
    v.n_rounds = 0;
    v.share = v.left_s = NAN;
    assert_string_equal(line(&v, 79, false), "round 7  mimalloc, latency");
    v.round = 0;
    v.what = "pre-flight";
    assert_string_equal(line(&v, 79, false), "mimalloc, pre-flight");
}

static void a_bar_takes_the_room_that_is_left(void **state)
{
    (void)state;
    const char *wide = line(&seventh, 79, true);
    assert_non_null(strstr(wide, "mimalloc, latency  ████████"));
    assert_non_null(strstr(wide, "68 %  8 s left"));
    assert_null(strstr(line(&seventh, 50, true), "█"));
}

/* Whatever the name, whatever the width, it does not wrap. */
static void no_line_is_wider_than_the_terminal(void **state)
{
    static const char *const names[] = {
        "a", "jemalloc{MALLOC_CONF=dirty_decay_ms:0,muzzy_decay_ms:0,background_thread:true}",
        "naïve-größe-größe-größe-größe-größe-größe", "\033[31mred\nline"};
    (void)state;
    for (unsigned width = 10; width <= 200; width++)
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            for (int utf8 = 0; utf8 < 2; utf8++) {
                struct ab_progress_view v = seventh;
                v.backend = names[i];
                const char *text = line(&v, width, utf8);
                if (ab_format_width(text) > width || strpbrk(text, "\033\n") != NULL)
                    fail_msg("%u columns: '%s'", width, text);
            }
}

/* The time is given up before the name becomes unreadable, and the share last. */
static void a_long_name_is_cut_before_the_figures_go(void **state)
{
    (void)state;
    struct ab_progress_view v = seventh;
    v.backend = "jemalloc{MALLOC_CONF=dirty_decay_ms:0}";
    const char *text = line(&v, 50, false);
    assert_non_null(strstr(text, "round 7 of 10  jemalloc"));
    assert_non_null(strstr(text, ", latency  68 %  8 s left"));
    text = line(&v, 39, false);
    assert_non_null(strstr(text, ", latency  68 %"));
    assert_null(strstr(text, "left"));
}

static void so_far_ranks_by_the_whole_run(void **state)
{
    char buf[AB_PROGRESS_BYTES];
    (void)state;
    struct fake_session *f = fake_session_of(8);
    assert_string_equal(ab_progress_text_so_far(buf, &f->s, 79, false),
                        "so far:  arena 6.15x  jemalloc 1.41x  glibc 1");
    assert_string_equal(ab_progress_text_so_far(buf, &f->s, 40, false),
                        "so far:  arena 6.15x  jemalloc 1.41x");
    assert_string_equal(ab_progress_text_so_far(buf, &f->s, 30, false), ""); /* one says nothing */
    fake_session_free(f);
    f = fake_session_of(3); /* too few rounds to be sure */
    assert_string_equal(ab_progress_text_so_far(buf, &f->s, 79, false),
                        "so far:  arena ~6.15x  jemalloc ~1.41x  glibc 1");
    f->backends[FAKE_ARENA].status = f->backends[FAKE_JEMALLOC].status = AB_BACKEND_CRASHED;
    assert_string_equal(ab_progress_text_so_far(buf, &f->s, 79, false), "");
    fake_session_free(f);
}

/* 2 M ops and 90 k, in this round a little below 21.5 and 40.25 ns: 22.1 ns an op. */
static void a_finished_round_is_one_line_of_a_log(void **state)
{
    char buf[AB_PROGRESS_BYTES];
    (void)state;
    struct fake_session *f = fake_session_of(3);
    struct ab_progress_view v = {.round = 3, .n_rounds = 10, .share = 0.3, .left_s = 28};
    assert_string_equal(
        ab_progress_text_round(buf, &f->s, &v, 12.2, 200),
        "[ 3/10] 12 s, 28 s left  glibc 22.1 ns  jemalloc 15.7 ns  arena 3.59 ns  pool 2.30 ns"
        "  broken crashed"); /* scudo is not there, or left out */
    assert_string_equal(
        ab_progress_text_round(buf, &f->s, &v, 12.2, 80),
        "[ 3/10] 12 s, 28 s left  glibc 22.1 ns  jemalloc 15.7 ns  arena 3.59 ns ...");
    v = (struct ab_progress_view){.round = 3, .n_rounds = 12, .is_about = true, .left_s = NAN};
    assert_non_null(strstr(ab_progress_text_round(buf, &f->s, &v, 0, 80), "[ 3/~12] 0 s  glibc"));
    v.n_rounds = 0;
    assert_non_null(strstr(ab_progress_text_round(buf, &f->s, &v, 0, 80), "[ 3] 0 s  glibc"));
    v.stage = "replay 1 of 4";
    assert_string_equal(ab_progress_text_round(buf, &f->s, &v, 0, 50),
                        "replay 1 of 4 [ 3] 0 s  glibc 22.1 ns ...");
    fake_session_free(f);
}

static int begin(void **state)
{
    static struct ab_format_guard guard;
    ab_format_begin(&guard);
    *state = &guard;
    return 0;
}

static int end(void **state)
{
    ab_format_end(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_says_what_runs_and_how_long_it_takes),
        cmocka_unit_test(a_bar_takes_the_room_that_is_left),
        cmocka_unit_test(no_line_is_wider_than_the_terminal),
        cmocka_unit_test(a_long_name_is_cut_before_the_figures_go),
        cmocka_unit_test(so_far_ranks_by_the_whole_run),
        cmocka_unit_test(a_finished_round_is_one_line_of_a_log),
    };
    return cmocka_run_group_tests_name("progress_text", tests, begin, end);
}
