/* SPDX-License-Identifier: MIT */
#include "report/table/sink_table.h"

#include "support/cmocka.h"
#include "support/report_screen.h"
#include "support/report_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct printing {
    const struct ab_traces *traces;
    struct ab_table_style style;
};

static void print(FILE *to, const struct ab_session *s, void *user)
{
    const struct printing *p = user;
    (void)s;
    ab_sink_traces(to, p->traces, p->style);
}

static char *draw(const struct ab_traces *traces, unsigned width)
{
    struct printing p = {traces, {.width = width, .utf8 = true}};
    return fake_capture(print, NULL, &p);
}

/* Three traces: one as it should be, one with a back end that crashed, one without a result. */
static struct ab_traces three(void)
{
    struct ab_traces traces = {0};
    struct screen *x = screen_new(2);
    x->s.kind = "trace";
    x->s.name = "svc.abt";
    ab_traces_add(&traces, &x->s);
    x->s.name = "batch\033[31m.abt";
    x->backends[2].status = AB_BACKEND_CRASHED;
    ab_traces_add(&traces, &x->s);
    screen_free(x); /* what is kept is a copy */
    ab_traces_add_failed(&traces, "cut.abt");
    return traces;
}

static void each_trace_has_its_ranking_or_says_that_there_is_none(void **state)
{
    (void)state;
    struct ab_traces traces = three();
    char *text = draw(&traces, 80);
    fake_assert_golden("traces.txt", text);
    free(text);
    ab_traces_fini(&traces);
    assert_int_equal(traces.n, 0);
}

static void a_narrow_terminal_leaves_out_the_peak_and_says_so(void **state)
{
    (void)state;
    struct ab_traces traces = three();
    char *text = draw(&traces, 48);
    assert_non_null(strstr(text, "(not shown: peak)"));
    for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
        assert_true(end - line <= 48 + 8); /* a dash or dots of more bytes than columns */
    free(text);
    ab_traces_fini(&traces);
}

/* 100 ops a phase take some microseconds: its ratios are not shown, and it counts in no sentence. */
static void add_short(struct ab_traces *traces)
{
    struct screen *x = screen_new(2);
    x->s.kind = "trace";
    x->s.name = "short.abt";
    for (uint32_t i = 0; i < x->s.n_results; i++)
        x->results[i].n_ops = 100;
    ab_traces_add(traces, &x->s);
    screen_free(x);
}

static void a_trace_with_too_little_work_is_not_compared(void **state)
{
    (void)state;
    struct ab_traces traces = three();
    add_short(&traces);
    char *text = draw(&traces, 80);
    assert_non_null(strstr(text, "in 2 of 2 traces"));
    assert_null(strstr(strstr(text, "short.abt"), "faster"));
    assert_non_null(strstr(text, "\n-: too little work for a comparison\n"));
    free(text);
    ab_traces_fini(&traces);
    add_short(&traces);
    text = draw(&traces, 80);
    assert_non_null(strstr(text, "No trace has enough work for a comparison."));
    free(text);
    ab_traces_fini(&traces);
}

static void nothing_is_an_empty_table(void **state)
{
    (void)state;
    struct ab_traces traces = {0};
    char *text = draw(&traces, 80);
    assert_string_equal(text, "0 traces\n");
    free(text);
    ab_traces_fini(&traces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_trace_has_its_ranking_or_says_that_there_is_none),
        cmocka_unit_test(a_narrow_terminal_leaves_out_the_peak_and_says_so),
        cmocka_unit_test(a_trace_with_too_little_work_is_not_compared),
        cmocka_unit_test(nothing_is_an_empty_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
