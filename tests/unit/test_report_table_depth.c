/* SPDX-License-Identifier: MIT */
/* tests: time_grids.c */
#include "report/table/sink_table.h"
#include "result/numbers.h"

#include "result/shown.h"
#include "support/report_session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void write_table(FILE *to, const struct ab_session *s, void *style)
{
    struct ab_format_guard guard;
    ab_format_begin(&guard);
    struct ab_view view;
    ab_view_make(s, &view);
    ab_table_places(to, &view, AB_TERMINAL_DEPTH, AB_TERMINAL_DEPTH,
                    *(struct ab_table_style *)style);
    ab_view_fini(&view);
    ab_format_end(&guard);
}

static char *table(struct fake_session *f, unsigned width)
{
    struct ab_table_style style = {
        .width = width, .utf8 = true, .topics = ab_topic_words_up_to(AB_LEVEL_RARE)};
    return fake_capture(write_table, &f->s, &style);
}

/* The values 1 … 1,000 ns once each, as the only alloc of glibc in round 0: ranks are values. */
static void percentiles_of_a_round_have_intervals(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    for (uint32_t i = 0; i < f->s.n_results; i++) {
        struct ab_result *r = &f->results[i];
        if (r->backend != FAKE_GLIBC || r->op != AB_OP_ALLOC || r->round != 0)
            continue;
        ab_hdr_init(r->hdr);
        for (uint64_t v = 1; v <= 1000; v++)
            ab_hdr_record(r->hdr, v);
    }
    char *text = table(f, 80);
    assert_non_null(strstr(text, "steady: percentiles of the first round"));
    assert_non_null(strstr(text, "500 [473, 528]"));
    assert_non_null(strstr(text, "990 [984, 997]"));
    assert_null(strstr(text, "999 [")); /* p99.9 of 1,000 is not known */
    assert_null(strstr(text, "broken"));
    for (const char *line = text; *line != 0; line = strchr(line, '\n') + 1) {
        size_t n = strcspn(line, "\n");
        assert_true(n <= 80);
    }
    free(text);
    fake_session_free(f);
}

static void without_rounds_there_are_none(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    f->s.n_rounds = 0;
    char *text = table(f, 80);
    assert_null(strstr(text, "first round"));
    free(text);
    fake_session_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentiles_of_a_round_have_intervals),
        cmocka_unit_test(without_rounds_there_are_none),
    };
    return cmocka_run_group_tests_name("table_depth", tests, NULL, NULL);
}
