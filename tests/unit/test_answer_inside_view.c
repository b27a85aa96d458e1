/* SPDX-License-Identifier: MIT
 *
 * What is said about CPU time inside and outside of the allocator: medians, differences with their
 * intervals, and claims only where an interval leaves out 0.
 * tests: inside_view.c
 */
#include "answer/inside_view.h"
#include "result/numbers.h"

#include "answer/answer.h"
#include "answer/topics.h"
#include "support/cmocka.h"
#include "support/report_screen.h"

#include <math.h>
#include <string.h>

enum { GLIBC, JEMALLOC };

/* Of a million calls; glibc has 20 ms inside and 80 ms outside. `noise` ns, another in each round. */
static void set_inside(struct screen *x, double in, double out, double noise, double plain_factor)
{
    for (uint32_t i = 0; i < x->s.n_results; i++) {
        struct ab_result *r = &x->results[i];
        bool is_base = r->backend == GLIBC;
        double own = noise * (((double)((r->round * 5 + r->backend * 3) % 7)) - 3);
        if (r->backend > JEMALLOC)
            continue;
        r->n_calls = 1e6;
        r->interposer_ns = 2e6;
        r->inside_ns = (is_base ? 20e6 : 20e6 + in) + own;
        r->outside_ns = (is_base ? 80e6 : 80e6 + out) - own / 2;
        r->inside_ns_per_call = r->inside_ns / r->n_calls;
        r->cpu_ns = (r->inside_ns + r->outside_ns) * plain_factor;
    }
}

static const char *sentence_of(struct screen *x, char *buf, size_t cap, bool is_check)
{
    struct ab_view view;
    const char *found = NULL;
    ab_view_make(&x->s, &view);
    if (is_check)
        found = ab_inside_check(&view, buf, cap);
    for (uint32_t i = 0; i < view.ranking.n_rows && !is_check; i++)
        if (view.ranking.rows[i].backend == JEMALLOC)
            found = ab_inside_sentence(&view, i, buf, cap);
    ab_view_fini(&view);
    return found;
}

static void what_is_shown_adds_up(void **state)
{
    struct ab_inside_part part[AB_INSIDE_PARTS];
    (void)state;
    struct screen *x = screen_new_exec();
    set_inside(x, -5e6, -3e6, 1e5, 1);
    ab_inside_of(&x->s, JEMALLOC, GLIBC, part);
    const struct ab_effect *sum = &part[AB_INSIDE_SUM].change;
    assert_true(fabs(part[AB_INSIDE_IN].change.ratio + 5e6) < 1e6);
    assert_true(sum->ratio == part[AB_INSIDE_IN].change.ratio + part[AB_INSIDE_OUT].change.ratio);
    assert_true(sum->low <= sum->ratio && sum->ratio <= sum->high);
    assert_true(part[AB_INSIDE_SUM].value.ratio ==
                part[AB_INSIDE_IN].value.ratio + part[AB_INSIDE_OUT].value.ratio);
    for (unsigned i = 0; i < AB_INSIDE_PARTS; i++)
        assert_true(ab_inside_is_clear(&part[i].change) &&
                    part[i].value.low <= part[i].value.ratio);
    ab_inside_of(&x->s, GLIBC, GLIBC, part);
    assert_true(isnan(part[AB_INSIDE_IN].change.ratio));
    assert_false(ab_inside_is_clear(&part[AB_INSIDE_IN].change));
    assert_true(isfinite(part[AB_INSIDE_IN].value.low));
    screen_free(x);
}

static void only_what_is_clear_is_claimed(void **state)
{
    static const struct {
        double in, out;
        const char *says;
    } cases[] = {
        {-5e6, -3e6, "ms in malloc and "},
        {-5e6, 3e6, " less in malloc, "},
        {-5e6, 0, " less in malloc, outside no clear difference."},
        {0, 5e6, ": in malloc no clear difference, "},
        {-5e6, 5e6, "no clear difference in CPU time: "},
        {0, 0, "no clear difference in CPU time, nor inside or outside of malloc alone."},
    };
    char buf[600];
    (void)state;
    struct screen *x = screen_new_exec();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        set_inside(x, cases[i].in, cases[i].out, 2e5, 1);
        assert_non_null(sentence_of(x, buf, sizeof buf, false));
        assert_non_null(strstr(buf, cases[i].says));
    }
    for (uint32_t i = 0; i < x->s.n_results; i++) /* too few rounds for an interval */
        if (x->results[i].round >= 4)
            x->results[i].inside_ns = NAN;
    assert_null(sentence_of(x, buf, sizeof buf, false));
    screen_free(x);
}

static void an_interposer_that_changes_the_program_is_named(void **state)
{
    char buf[800];
    (void)state;
    struct screen *x = screen_new_exec();
    assert_null(sentence_of(x, buf, sizeof buf, true));
    set_inside(x, -5e6, -3e6, 1e5, 1.01);
    assert_non_null(sentence_of(x, buf, sizeof buf, true));
    assert_non_null(
        strstr(buf, "up to 2.00 ms per run (2 ns per call, including its start). This is 2.2 %"));
    assert_non_null(strstr(buf, "within 2 % or the interval"));
    set_inside(x, -5e6, -3e6, 1e5, 0.95);
    assert_non_null(strstr(sentence_of(x, buf, sizeof buf, true), "jemalloc 5.3 % more ["));
    set_inside(x, -5e6, -3e6, 1e5, 1.05);
    assert_non_null(strstr(sentence_of(x, buf, sizeof buf, true), "jemalloc 4.8 % less ["));
    screen_free(x);
}

/* Places of calls: the ten with the most time are shown. */
static void places_that_are_left_out_are_counted(void **state)
{
    enum { N = 13 };
    struct ab_call_site sites[N] = {{.n = 0}};
    struct ab_view view;
    struct ab_grid g;
    (void)state;
    struct screen *x = screen_new_exec();
    for (unsigned i = 0; i < N; i++) {
        sites[i] = (struct ab_call_site){
            .backend = GLIBC, .line = i + 1, .n = 100, .all_calls = 100, .inside_ns = 1e6};
        strcpy(sites[i].function, "parse");
    }
    x->s.call_sites = sites;
    ab_view_make(&x->s, &view);
    for (uint32_t n = 10; n <= N; n += 3) {
        x->s.n_call_sites = n;
        assert_true(ab_call_sites_grid(&(struct ab_topic_at){.view = &view}, &g));
        assert_int_equal(g.n_rows, 11);
        if (n == 10)
            assert_null(g.note);
        else
            assert_string_equal(g.note, "(not shown: 3 places with less time in malloc)");
        ab_grid_fini(&g);
    }
    x->s.call_sites = NULL;
    x->s.n_call_sites = 0;
    ab_view_fini(&view);
    screen_free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_shown_adds_up),
        cmocka_unit_test(only_what_is_clear_is_claimed),
        cmocka_unit_test(places_that_are_left_out_are_counted),
        cmocka_unit_test(an_interposer_that_changes_the_program_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
