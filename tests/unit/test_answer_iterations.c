/* SPDX-License-Identifier: MIT
 *
 * Time per iteration as it is shown: what is n/a has the reason of that number, and budgets of stored
 * results are those that a command takes.
 */
#include "base/bits.h"
#include "document/read_result.h"
#include "report/html/latency_curve.h"
#include "report/html/report.h"
#include "report/html/report_pages.h"
#include "report/sinks/sinks.h"
#include "report/table/sink_table.h"
#include "result/merge/merge_rounds.h"
#include "result/numbers.h"
#include "support/cmocka.h"
#include "support/report_session.h"
#include "support/stored_text.h"

#include <stdlib.h>
#include <string.h>

enum { N = 1200 };
static struct fake_session *f;
static struct ab_iterations records[2];

/* Of glibc all miss the budget; those of jemalloc take no more than in the null back end. */
static int set_up(void **state)
{
    (void)state;
    f = fake_session_new();
    for (uint32_t b = 0; b < AB_ARRAY_LEN(records); b++) {
        struct ab_iterations *x = &records[b];
        *x = (struct ab_iterations){.backend = b,
                                    .phase = f->s.phases[0],
                                    .name = "frame",
                                    .budget_ns = 1000,
                                    .call_ns = 25,
                                    .n = N,
                                    .n_over_budget = b == FAKE_GLIBC ? N : 0,
                                    .n_calls = 10 * N,
                                    .hdr = ab_hdr_new()};
        for (unsigned k = 0; k < N; k++)
            ab_hdr_record(x->hdr, b == FAKE_GLIBC ? 2000 + k : 0);
        ab_iterations_summarise(x);
    }
    f->s.iterations = records;
    f->s.n_iterations = AB_ARRAY_LEN(records);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (unsigned i = 0; i < AB_ARRAY_LEN(records); i++)
        free(records[i].hdr);
    f->s.iterations = NULL;
    f->s.n_iterations = 0;
    fake_session_free(f);
    return 0;
}

static void write_table(FILE *to, const struct ab_session *s, void *user)
{
    (void)user;
    struct ab_view view;
    ab_view_make(s, &view);
    ab_table_places(to, &view, AB_TERMINAL_ITERATIONS, AB_TERMINAL_ITERATIONS,
                    (struct ab_table_style){.width = 200});
    ab_view_fini(&view);
}

static void write_markdown(FILE *to, const struct ab_session *s, void *user)
{
    (void)user;
    ab_sink_markdown(to, s);
}

static void the_summary_says_what_was_subtracted(void **state)
{
    (void)state;
    char *text = fake_capture(write_markdown, &f->s, NULL);
    assert_non_null(strstr(text,
                           "\n\nnet: the time of the same calls in the null back end is "
                           "subtracted; missed: iterations that took more than the budget of 1"));
    free(text);
}

static void the_table_says_why_a_number_is_not_there(void **state)
{
    (void)state;
    char *table = fake_capture(write_table, &f->s, NULL);
    assert_non_null(strstr(table, " 1200 (100%) "));
    assert_non_null(strstr(table, "no more than the same calls take in the null back end"));
    assert_null(strstr(table, "1,000 iterations"));
    assert_null(strstr(table, "needs"));
    free(table);
    records[FAKE_JEMALLOC].n = 20;
    ab_hdr_init(records[FAKE_JEMALLOC].hdr);
    for (unsigned k = 0; k < 20; k++)
        ab_hdr_record(records[FAKE_JEMALLOC].hdr, 100);
    table = fake_capture(write_table, &f->s, NULL);
    assert_non_null(strstr(table, "p99 needs 1000 iterations, there are 20"));
    free(table);
}

/* 300 iterations in stretches of three, of which the 7th was the slowest of the only round. */
static void the_page_draws_them_one_after_the_other(void **state)
{
    (void)state;
    struct ab_iterations *x = &records[FAKE_GLIBC];
    struct ab_html_text *pages = NULL;
    for (unsigned is_known = 0; is_known < 2; is_known++) {
        for (uint32_t i = 0; i < f->s.n_results; i++)
            if (strcmp(f->results[i].phase, x->phase) == 0) {
                f->results[i].n_worst = 1;
                f->results[i].worst[0] = (struct ab_worst_op){5000, 77, 64, is_known ? 7 : 0};
            }
        if (is_known) {
            x->stretch = 3;
            x->n_stretches = 100;
            for (unsigned i = 0; i < 100; i++)
                x->stretches[i] = i == 50 ? AB_NO_TIME : 2000 + i;
            x->n_worst = 1;
            x->worst[0] = (struct ab_iteration_time){3199, 7, 0};
            f->s.n_rounds = 1;
        }
        pages = ab_report_pages(&f->s, NULL);
        assert_non_null(pages);
        for (size_t i = 0; i < ab_n_pages; i++) {
            if (strcmp(ab_pages[i].id, "iterations") == 0) {
                const char *picture = strstr(pages[i].text, "one frame after the other");
                assert_int_equal(picture != NULL, is_known);
                assert_true(!is_known || strstr(picture, "frame 7: 3.2") != NULL);
                assert_true(!is_known || strstr(picture, ", 1 of 1<") != NULL);
            }
            if (strcmp(ab_pages[i].id, "slowest") == 0)
                assert_int_equal(strstr(pages[i].text, ", frame 7</td>") != NULL, is_known);
            free(pages[i].text);
        }
        free(pages);
    }
}

static void so_does_the_page(void **state)
{
    (void)state;
    struct ab_html_text *pages = ab_report_pages(&f->s, NULL);
    assert_non_null(pages);
    for (size_t i = 0; i < ab_n_pages; i++) {
        if (strcmp(ab_pages[i].id, "iterations") == 0) {
            assert_non_null(strstr(pages[i].text, ">1200 (100 %)<"));
            assert_non_null(strstr(pages[i].text, "title=\"no more than the same calls take in the "
                                                  "null back end\">n/a<"));
            assert_non_null(strstr(
                pages[i].text,
                "<p class=\"soft\">net: the time of the same calls in the "
                "null back end is subtracted; missed: iterations that took more than the budget of 1"));
        }
        free(pages[i].text);
    }
    free(pages);
}

static void write_json(FILE *to, const struct ab_session *s, void *user)
{
    (void)user;
    ab_sink_json(to, s);
}

static void budgets_that_no_command_takes_are_refused(void **state)
{
    (void)state;
    static const double budgets[] = {1, 6e10, 0, -5, 1e300};
    for (unsigned i = 0; i < AB_ARRAY_LEN(budgets); i++) {
        struct ab_err err = {.text = ""};
        struct ab_stored stored;
        records[0].budget_ns = budgets[i];
        char *json = fake_capture(write_json, &f->s, NULL);
        enum ab_status status = read_text(json, strlen(json), &stored, &err);
        assert_int_equal(status, i < 2 ? AB_OK : AB_INPUT);
        if (status == AB_OK)
            ab_stored_fini(&stored);
        else
            assert_non_null(strstr(err.text, "iterations[0].budget_ns: must be from 1ns to 60s"));
        free(json);
    }
}

/* 20 phases with iterations of 50 back ends: their curves share the points of a report. */
static void many_curves_have_few_points_each(void **state)
{
    (void)state;
    static char names[20][8];
    static const char *phases[AB_ARRAY_LEN(names)];
    static struct ab_iterations x[AB_ARRAY_LEN(names)];
    struct ab_session s = {.n_backends = 50, .n_phases = AB_ARRAY_LEN(names), .phases = phases};
    for (unsigned i = 0; i < AB_ARRAY_LEN(names); i++) {
        snprintf(names[i], sizeof names[i], "p%u", i);
        phases[i] = x[i].phase = names[i];
    }
    assert_int_equal(ab_latency_points(&s), AB_VIEW_CURVE_POINTS);
    s.iterations = x;
    s.n_iterations = AB_ARRAY_LEN(x);
    size_t points = ab_latency_points(&s);
    assert_in_range(points, AB_CURVE_POINTS_LEAST, 60000 / (20 * 50));
}

/* What a page writes of a curve is bounded by the points of the report. */
static void points_bound_the_page(void **state)
{
    (void)state;
    static struct ab_latency_curve curve;
    ab_latency_curve_make(records[FAKE_GLIBC].hdr, 30, 0, &curve);
    assert_in_range(curve.n, 2, 31);
    ab_latency_curve_make(records[FAKE_GLIBC].hdr, AB_VIEW_CURVE_POINTS, 0, &curve);
    assert_true(curve.n > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_summary_says_what_was_subtracted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_table_says_why_a_number_is_not_there, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(so_does_the_page, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_page_draws_them_one_after_the_other, set_up, tear_down),
        cmocka_unit_test(many_curves_have_few_points_each),
        cmocka_unit_test_setup_teardown(points_bound_the_page, set_up, tear_down),
        cmocka_unit_test_setup_teardown(budgets_that_no_command_takes_are_refused, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests_name("iterations", tests, NULL, NULL);
}
