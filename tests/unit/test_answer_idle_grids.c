/* SPDX-License-Identifier: MIT
 * tests: idle_grids.c report_pages_courses.c
 *
 * Memory over the time of the work, as tables on the terminal, in Markdown and as pictures.
 */
#include "answer/topics.h"
#include "report/sinks/sinks.h"
#include "report/table/sink_table.h"
#include "result/numbers.h"
#include "result/shown.h"
#include "support/cmocka.h"
#include "support/report_session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define S UINT64_C(1000000000)
enum { CYCLES = 24, PER_CYCLE = 3, BACKENDS = 2 };

static struct ab_over_time rows[BACKENDS * CYCLES * PER_CYCLE];

/* Each 10 min a burst of 100 MiB of which 10 stay; glibc keeps 60 MiB, jemalloc 1 MiB more with each. */
static void attach(struct ab_session *s)
{
    static const double resident[BACKENDS][PER_CYCLE] = {{105, 100, 60}, {110, 50, 20}};
    s->over_time = rows;
    s->n_over_time = 0;
    for (uint32_t b = 0; b < BACKENDS; b++)
        for (uint32_t i = 0; i < CYCLES * PER_CYCLE; i++) {
            uint32_t k = i % PER_CYCLE;
            double more = b == FAKE_JEMALLOC ? i / PER_CYCLE : 0;
            rows[s->n_over_time++] = (struct ab_over_time){
                .backend = b,
                .phase = "drain",
                .time_ns = i / PER_CYCLE * 600 * S + (k == 0   ? 0
                                                      : k == 1 ? 1
                                                               : 61) *
                                                         S,
                .idle = k == 0   ? AB_IDLE_NOT
                        : k == 1 ? AB_IDLE_BEGIN
                                 : AB_IDLE_END,
                .live_bytes = (k == 0 ? 100 : 10) * 0x1p20,
                .resident_bytes = (resident[b][k] + more) * 0x1p20,
                .external_bytes = 2 * 0x1p20,
                .retained_bytes = (resident[b][k] + more - (k == 0 ? 102 : 12)) * 0x1p20,
                .lazyfree_bytes = NAN};
        }
}

static void detach(struct fake_session *f)
{
    f->s.over_time = NULL;
    f->s.n_over_time = 0;
    fake_session_free(f);
}

static bool make(bool (*topic)(const struct ab_topic_at *, struct ab_grid *),
                 const struct ab_session *s, struct ab_grid *g)
{
    const struct ab_view view = {.session = s};
    return topic(&(struct ab_topic_at){.view = &view}, g);
}

static void stretches_have_rows_and_growth_a_verdict(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    struct ab_grid g;
    attach(&f->s);
    assert_true(make(ab_over_time_grid, &f->s, &g));
    assert_int_equal(g.n_rows,
                     2 * (1 + BACKENDS)); /* the first, which is the longest, and the last */
    assert_string_equal(g.rows[0].label, "drain 60.0 s");
    assert_string_equal(g.rows[0].tail, " 1/24, not shown: 2 to 23");
    assert_string_equal(g.rows[3].tail, " 24/24");
    assert_true(g.rows[1].cells[1].value == 100 * 0x1p20); /* at its begin */
    assert_true(g.rows[1].cells[5].value == 60 * 0x1p20);  /* at its end */
    assert_true(g.rows[1].cells[7].value == 60e9);         /* 105 - 90 / 2 are 60 */
    assert_true(isnan(g.rows[1].cells[8].value));
    ab_grid_fini(&g);
    assert_true(make(ab_growth_grid, &f->s, &g));
    assert_string_equal(g.rows[1].cells[0].text, "steady");
    assert_string_equal(g.rows[2].cells[0].text, "retained (pages without blocks)");
    assert_true(fabs(g.rows[2].cells[1].value / 0x1p20 - 6) < 1e-6);
    assert_string_equal(g.rows[2].cells[4].text, "2.02 h to 3.85 h");
    ab_grid_fini(&g);
    detach(f);
}

/* The table of the peak cannot answer why memory does not come back. */
static void what_an_idle_stretch_holds_is_said_and_split(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    struct ab_grid g;
    struct ab_view v;
    attach(&f->s);
    assert_true(make(ab_over_time_grid, &f->s, &g));
    assert_string_equal(g.columns[12].title, "retained");
    assert_true(g.rows[1].cells[10].value == 10 * 0x1p20); /* live */
    assert_true(g.rows[1].cells[11].value == 2 * 0x1p20);  /* external */
    assert_true(g.rows[1].cells[12].value == 48 * 0x1p20); /* retained, at the end */
    ab_grid_fini(&g);
    ab_view_make(&f->s, &v);
    bool is_said = false;
    for (unsigned i = 0; i < ab_view_sentences(&v)->headline.n_sentences; i++)
        is_said = is_said || strcmp(ab_view_sentences(&v)->headline.sentences[i],
                                    "At the end of the longest idle stretch glibc holds 60.0 MiB: "
                                    "48.0 MiB are free pages, which a trim returns, and 12.0 MiB "
                                    "are pages that contain live blocks (10.0 MiB live).") == 0;
    assert_true(is_said);
    ab_view_fini(&v);
    detach(f);
}

/* Of stretches of a few seconds there is no reading after a minute, and no column for it. */
static void readings_that_no_stretch_has_have_no_column(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    struct ab_grid g;
    attach(&f->s);
    for (uint32_t i = 0; i < f->s.n_over_time; i++)
        if (rows[i].idle == AB_IDLE_END)
            rows[i].time_ns -= 55 * S;
    assert_true(make(ab_over_time_grid, &f->s, &g));
    assert_null(g.columns[4].title); /* +60 s */
    assert_null(g.columns[4].in_html);
    ab_grid_fini(&g);
    detach(f);
}

static void print_markdown(FILE *to, const struct ab_session *s, void *user)
{
    (void)user;
    ab_sink_markdown(to, s);
}

/* The reason is the true one: live bytes are constant, but jemalloc grows no more at the end. */
static void growth_that_is_not_known_has_its_reason(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    struct ab_grid g;
    attach(&f->s);
    for (uint32_t i = 0; i < f->s.n_over_time; i++) {
        uint32_t cycle = i % (CYCLES * PER_CYCLE) / PER_CYCLE;
        if (rows[i].backend == FAKE_JEMALLOC)
            rows[i].resident_bytes -= ((cycle > 20 ? cycle - 20 : 0) - (cycle % 3 == 1 ? 0.7 : 0)) *
                                      0x1p20;
    }
    assert_true(make(ab_growth_grid, &f->s, &g));
    assert_string_equal(g.rows[2].cells[0].text, "not known (it grew, then no more)");
    ab_grid_fini(&g);
    for (uint32_t i = 0; i < f->s.n_over_time; i++)
        if (rows[i].backend == FAKE_JEMALLOC) {
            rows[i].idle = AB_IDLE_NOT;
            rows[i].live_bytes = (i % 7 + 1) * 0x1p22;
        }
    assert_true(make(ab_growth_grid, &f->s, &g));
    assert_string_equal(g.rows[2].cells[0].text, "not known (live bytes vary)");
    ab_grid_fini(&g);
    detach(f);
}

/* Live bytes of jemalloc grow, in a place that is known. */
static void where_it_leaks_is_said_on_each_surface(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    struct ab_pin pins[2];
    struct ab_view view;
    attach(&f->s);
    for (uint32_t i = 0; i < f->s.n_over_time; i++)
        if (rows[i].backend == FAKE_JEMALLOC) {
            double more = i % (CYCLES * PER_CYCLE) / PER_CYCLE * 0x1p20;
            rows[i].live_bytes += more;
            rows[i].retained_bytes -= more;
        }
    for (unsigned i = 0; i < 2; i++) {
        pins[i] = (struct ab_pin){.backend = FAKE_JEMALLOC,
                                  .phase = "drain",
                                  .group = AB_PIN_SITE,
                                  .function = "keep",
                                  .file = "server.c",
                                  .line = 88,
                                  .pinned_bytes = 4096,
                                  .live_bytes = (1 + i) * 0x1p23,
                                  .blocks = 1};
        strcpy(pins[i].at, ab_pin_moment_names[i == 0 ? AB_PIN_HALF_TIME : AB_PIN_END]);
    }
    f->s.pins = pins;
    f->s.n_pins = 2;
    ab_view_make(&f->s, &view);
    for (unsigned surface = 0; surface < AB_SURFACE_COUNT; surface++) {
        struct ab_grid g;
        static const char words[] = "live bytes grow in keep (server.c:88) by 8.00 MiB, in the "
                                    "second half of the time.";
        assert_true(ab_growth_grid(&(struct ab_topic_at){.view = &view, .surface = surface}, &g));
        assert_int_equal(g.remark != NULL, surface != AB_PAGE);
        assert_int_equal(g.sentences.n, surface == AB_PAGE);
        assert_string_equal(g.remark != NULL ? g.remark : g.sentences.items[0], words);
        ab_grid_fini(&g);
    }
    char *text = fake_capture(print_markdown, &f->s, NULL);
    assert_non_null(strstr(text, "live bytes grow in keep (server.c:88) by 8.00 MiB"));
    free(text);
    ab_view_fini(&view);
    f->s.pins = NULL;
    f->s.n_pins = 0;
    detach(f);
}

static void work_without_times_has_neither(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    struct ab_grid g;
    assert_false(make(ab_over_time_grid, &f->s, &g));
    ab_grid_fini(&g);
    assert_false(make(ab_growth_grid, &f->s, &g));
    ab_grid_fini(&g);
    fake_session_free(f);
}

static void print_all(FILE *to, const struct ab_session *s, void *user)
{
    (void)user;
    struct ab_table_style style = {.width = 80};
    ab_sink_table(to, s, style);
    ab_sink_markdown(to, s);
}

static void terminals_and_markdown_show_them(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    attach(&f->s);
    char *text = fake_capture(print_all, &f->s, NULL);
    assert_non_null(strstr(text, "drain 60.0 s"));
    assert_non_null(strstr(text, "retained (pages without blocks)"));
    assert_non_null(strstr(text, "| jemalloc | drain, 24 of 24, 60.0 s |"));
    free(text);
    detach(f);
}

static void print_html(FILE *to, const struct ab_session *s, void *user)
{
    (void)user;
    ab_sink_html(to, s);
}

static void the_report_has_the_picture_and_the_tables(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    attach(&f->s);
    char *text = fake_capture(print_html, &f->s, NULL);
    const char *picture = strstr(text, "Resident memory over time");
    assert_non_null(picture);
    assert_non_null(strstr(picture, "time of the work"));
    assert_non_null(strstr(picture, ">2 h<")); /* on the axis */
    assert_non_null(strstr(picture, ">retained (pages without blocks)<"));
    assert_non_null(strstr(picture, "Resident memory while idle"));
    free(text);
    detach(f);
}

/* Growth over less than half a minute is not known. */
static void the_report_of_short_work_has_no_picture_of_growth(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    attach(&f->s);
    for (uint32_t i = 0; i < f->s.n_over_time; i++)
        rows[i].time_ns /= 1000;
    char *text = fake_capture(print_html, &f->s, NULL);
    assert_null(strstr(text, "Resident memory over time"));
    assert_non_null(strstr(text, "Resident memory while idle"));
    free(text);
    detach(f);
}

/* A line for each back end and one of what is live, over ns; of a stretch the largest. */
static void pictures_have_lines_over_time(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    struct ab_view view;
    attach(&f->s);
    ab_view_make(&f->s, &view);
    const struct ab_view_pictures *p = ab_view_pictures(&view);
    assert_int_equal(p->n_courses, BACKENDS);
    assert_true(p->courses_end.x == (23 * 600 + 61) * 1e9);
    assert_true(p->courses_end.y == (110 + 23) * 0x1p20);
    assert_true(p->live.n > CYCLES && p->live.points[0].y == 100 * 0x1p20);
    ab_view_fini(&view);
    detach(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stretches_have_rows_and_growth_a_verdict),
        cmocka_unit_test(what_an_idle_stretch_holds_is_said_and_split),
        cmocka_unit_test(readings_that_no_stretch_has_have_no_column),
        cmocka_unit_test(growth_that_is_not_known_has_its_reason),
        cmocka_unit_test(where_it_leaks_is_said_on_each_surface),
        cmocka_unit_test(work_without_times_has_neither),
        cmocka_unit_test(terminals_and_markdown_show_them),
        cmocka_unit_test(the_report_has_the_picture_and_the_tables),
        cmocka_unit_test(the_report_of_short_work_has_no_picture_of_growth),
        cmocka_unit_test(pictures_have_lines_over_time),
    };
    return cmocka_run_group_tests_name("idle_grids", tests, NULL, NULL);
}
