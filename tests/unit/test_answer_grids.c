/* SPDX-License-Identifier: MIT
 *
 * Screens of whole sessions: what they look like at each width, how long they are, and that every
 * derived figure on them follows from the others.
 * tests: cmd_exec.c program_run.c table.c program_session.c
 * tests: grid.c memory_view.c answer_grids.c notes.c sink_table.c
 */
#include "answer/topics.h"
#include "report/table/sink_table.h"
#include "result/numbers.h"
#include "result/shown.h"

#include "support/cmocka.h"
#include "support/report_screen.h"
#include "support/report_session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_table(FILE *to, const struct ab_session *s, void *style)
{
    ab_sink_table(to, s, *(struct ab_table_style *)style);
}

static char *draw_as(const struct screen *x, unsigned width, bool utf8, unsigned topics)
{
    struct ab_table_style style = {.width = width, .utf8 = utf8, .topics = topics};
    return fake_capture(write_table, &x->s, &style);
}

static char *draw(const struct screen *x, unsigned width)
{
    return draw_as(x, width, true, 0);
}

static unsigned count_lines(const char *text, unsigned width)
{
    struct ab_format_guard guard;
    char *copy = strdup(text), *end;
    unsigned n = 0;
    ab_format_begin(&guard);
    for (char *line = copy; (end = strchr(line, '\n')) != NULL; line = end + 1, n++) {
        *end = 0;
        assert_true(ab_format_width(line) <= width);
    }
    ab_format_end(&guard);
    free(copy);
    return n;
}

static void check(const struct screen *x, const char *what, unsigned width)
{
    char name[80], *text = draw(x, width);
    snprintf(name, sizeof name, "screen-%s-%u.txt", what, width);
    count_lines(text, width);
    fake_assert_golden(name, text);
    free(text);
}

/* In a pipe of a program without a locale. */
static void check_pipe(const struct screen *x, const char *what)
{
    char name[80], *text = draw_as(x, 80, false, 0);
    snprintf(name, sizeof name, "screen-%s-pipe.txt", what);
    count_lines(text, 80);
    for (const char *s = text; *s != 0; s++)
        assert_true((unsigned char)*s < 0x80);
    fake_assert_golden(name, text);
    free(text);
}

static void check_topic(const struct screen *x, const char *what, unsigned topics)
{
    char name[80], *text = draw_as(x, 80, true, topics);
    snprintf(name, sizeof name, "screen-%s-80.txt", what);
    count_lines(text, 80);
    fake_assert_golden(name, text);
    free(text);
}

static void check_all(const struct screen *x, const char *what)
{
    check_pipe(x, what);
    check(x, what, 60);
    check(x, what, 80);
    for (unsigned width = 100; width <= 140; width += 40) {
        char *text = draw(x, width);
        count_lines(text, width);
        free(text);
    }
}

/* ---- sessions ---- */

static void a_run_of_four_by_four(void **state)
{
    (void)state;
    struct screen *x = screen_new(4);
    check_all(x, "run");
    char *text = draw(x, 80);
    assert_in_range(count_lines(text, 80), 20, 40);
    assert_null(strstr(text, "not shown"));
    free(text);
    screen_free(x);
}

static void threads(void **state)
{
    (void)state;
    struct screen *x = screen_new(2);
    x->s.name = "pipeline";
    x->s.facts.lanes = 3;
    for (uint32_t i = 0; i < x->s.n_results; i++) {
        x->results[i].wait_percent = x->results[i].op == AB_OP_ALL ? 42 : NAN;
        x->results[i].quiet_percent = NAN;
    }
    check_all(x, "threads");
    screen_free(x);
}

static void a_replay(void **state)
{
    static const char *const replay[] = {"replay"};
    (void)state;
    struct screen *x = screen_new(2);
    x->s.kind = AB_SESSION_TRACE;
    x->s.name = "svc.abt";
    x->s.phases = replay;
    x->s.n_phases = 1;
    for (uint32_t i = 0; i < x->s.n_results; i++)
        x->results[i].phase = x->results[i].phase[0] == 'c' ? "replay" : "fill";
    for (uint32_t i = 0; i < x->s.n_memory; i++)
        x->memory[i].phase = x->memory[i].phase[0] == 'c' ? "replay" : "fill";
    for (uint32_t i = 0; i < x->s.n_nulls; i++)
        x->nulls[i].phase = x->nulls[i].phase[0] == 'c' ? "replay" : "fill";
    check_all(x, "replay");
    screen_free(x);
}

/* The harness itself varies, one library under two names is now faster, now slower. */
static void a_noisy_run(void **state)
{
    (void)state;
    struct screen *x = screen_new(1);
    x->s.name = "churn";
    x->s.n_backends = 2;
    snprintf(x->backends[0].name, sizeof x->backends[0].name, "mine");
    snprintf(x->backends[1].name, sizeof x->backends[1].name, "mine2");
    for (uint32_t i = 0; i < x->s.n_results; i++) {
        struct ab_result *r = &x->results[i];
        if (r->op != AB_OP_ALL)
            continue;
        r->ns_per_op = 10 * (1 + (r->round * 5 + r->backend * 3) % 7);
        r->quiet_percent = 0;
        r->cpu_ns_per_op = r->ns_per_op / 2.1;
        r->switches_involuntary = 3;
    }
    x->nulls[2].ns_per_op = 7.36;
    check_all(x, "noisy");
    char *text = draw(x, 80);
    assert_non_null(strstr(text, "\nNo verdict: this machine is too busy.\n"));
    assert_non_null(strstr(text, "\nwarning: the harness overhead varied by 194 %"));
    free(text);
    screen_free(x);
}

static void a_back_end_that_failed(void **state)
{
    (void)state;
    struct screen *x = screen_new(4);
    x->backends[2].status = AB_BACKEND_CRASHED;
    snprintf(x->backends[2].name, sizeof x->backends[2].name, "./libmine.so");
    snprintf(x->backends[2].path, sizeof x->backends[2].path, "/home/u/libmine.so");
    snprintf(x->backends[2].reason, sizeof x->backends[2].reason,
             "SIGSEGV in free, op 812 of phase churn");
    x->backends[2].package[0] = 0;
    check_all(x, "failed");
    screen_free(x);
}

static void an_interrupted_run(void **state)
{
    (void)state;
    struct screen *x = screen_new(4);
    x->s.is_complete = false;
    x->s.n_rounds = 2;
    check_all(x, "interrupted");
    screen_free(x);
}

static void a_real_program(void **state)
{
    (void)state;
    struct screen *x = screen_new_exec();
    check_all(x, "exec");
    screen_free(x);
}

static void what_v_adds(void **state)
{
    (void)state;
    struct screen *x = screen_new(4);
    screen_add_sizes(x);
    check_topic(x, "time", AB_TOPIC_TIME);
    check_topic(x, "size", AB_TOPIC_SIZE);
    check_topic(x, "worst", AB_TOPIC_WORST);
    check_topic(x, "memory", AB_TOPIC_MEMORY);
    screen_free(x);
}

/* ---- a reader who reckons ---- */

/* Numbers of a row of the table whose heading begins with `heading`; how many. "~1.78x faster [1.2,
 * 3]" are three. */
static unsigned read_row(const char *text, const char *heading, const char *name, double *x,
                         unsigned most)
{
    char wanted[100];
    unsigned n = 0;
    const char *table = strstr(text, heading);
    snprintf(wanted, sizeof wanted, "\n  %s ", name);
    const char *row = table != NULL ? strstr(table, wanted) : NULL;
    assert_non_null(row);
    for (const char *s = row + strlen(wanted); *s != '\n' && n < most;) {
        char *end;
        double value = strtod(s, &end);
        bool is_number = end > s && strchr("0123456789", *s) != NULL;
        if (is_number)
            x[n++] = value;
        s = is_number ? end : s + 1;
    }
    return n;
}

static const char *const rows[SCREEN_BACKENDS] = {"glibc", "jemalloc", "tcmalloc", "mimalloc"};

/* Half of the last digit of a number of three digits, in parts of it. */
static const double rounding = 0.006;

static void close_to(double got, double wanted, const char *what)
{
    if (!(fabs(got / wanted - 1) <= 2 * rounding))
        fail_msg("%s: %g is not %g", what, got, wanted);
}

/* The whole run is the sum over the phases of ops by ns per op; a ratio is that of two whole runs. */
static void times_and_ratios_can_be_reckoned(void **state)
{
    static const double n_ops[] = {20000, 400000, 30000, 20000};
    (void)state;
    struct screen *x = screen_new(4);
    char *text = draw(x, 80);
    double base[8], ranking[8], phases[8];
    read_row(text, "whole run", "glibc", base, 8);
    for (unsigned b = 0; b < SCREEN_BACKENDS; b++) {
        double sum = 0;
        assert_int_equal(read_row(text, "time per op, ns", rows[b], phases, 4), 4);
        for (unsigned p = 0; p < 4; p++)
            sum += phases[p] * n_ops[p] / 1e6;
        unsigned n = read_row(text, "whole run", rows[b], ranking, 8);
        close_to(ranking[0], sum, "whole run in ms");
        if (b == 0)
            continue;
        assert_int_equal(n, 7); /* time, ratio, its interval, two percentiles, peak */
        close_to(ranking[1], base[0] / ranking[0], "ratio");
        assert_true(ranking[2] <= ranking[1] && ranking[1] <= ranking[3]);
    }
    free(text);
    screen_free(x);
}

/* Bytes add up to the last digit; "x live" is the peak by the live bytes of the title. */
static void bytes_can_be_reckoned(void **state)
{
    (void)state;
    struct screen *x = screen_new(4);
    char *text = draw(x, 80);
    double live = strtod(strstr(text, "up to ") + 6, NULL), m[8], ranking[8];
    for (unsigned b = 0; b < SCREEN_BACKENDS; b++) {
        assert_int_equal(read_row(text, "memory, MiB", rows[b], m, 8), 7);
        assert_true(fabs(m[0] + m[1] + m[2] + m[3] - m[4]) < 0.001);
        close_to(m[5], m[4] / live, "x live");
        unsigned n = read_row(text, "whole run", rows[b], ranking, 8);
        close_to(ranking[n - 1], m[4], "peak of the ranking");
    }
    free(text);
    screen_free(x);
}

/* "takes 8 % more memory" follows from the two peaks, "1.76x" from the two times. */
static void the_headline_can_be_reckoned(void **state)
{
    (void)state;
    struct screen *x = screen_new(4);
    char *text = draw(x, 80), name[32];
    double times, low, high, percent, best[8], base[8];
    const char *line = strchr(text, '\n') + 1;
    assert_int_equal(
        sscanf(line,
               "%31s is %lfx [%lf, %lf] faster than glibc over the whole run, but takes "
               "%lf %% more",
               name, &times, &low, &high, &percent),
        5);
    unsigned n = read_row(text, "whole run", name, best, 8);
    unsigned n_base = read_row(text, "whole run", "glibc", base, 8);
    close_to(times, base[0] / best[0], "headline");
    assert_true(fabs(100 * (best[n - 1] / base[n_base - 1] - 1) - percent) <= 1);
    free(text);
    screen_free(x);
}

/* The labels are settings; what they change most has its column. */
static void a_sweep_shows_what_stays_after_free(void **state)
{
    static const char *const settings[SCREEN_BACKENDS] = {
        "", "{MALLOC_CONF=dirty_decay_ms:0,muzzy_decay_ms:0}",
        "{MALLOC_CONF=background_thread:true}", "{MALLOC_CONF=metadata_thp:auto}"};
    (void)state;
    struct screen *x = screen_new(1);
    for (unsigned b = 0; b < SCREEN_BACKENDS; b++)
        snprintf(x->backends[b].name, sizeof x->backends[b].name, "jemalloc%s", settings[b]);
    ab_backends_set_labels(x->backends, SCREEN_BACKENDS);
    check_all(x, "sweep");
    screen_free(x);
}

/* One row of each section of a program follows from two others; what the headline says is the row of
 * the ranking, in the same words. */
static void a_program_can_be_reckoned(void **state)
{
    static const char *const sections[] = {"wall time", "peak memory", "mean memory"};
    (void)state;
    struct screen *x = screen_new_exec();
    char *text = draw(x, 80), words[80];
    double base[8], row[8];
    read_row(text, "CPU time", "glibc", base, 8);
    for (unsigned b = 1; b < SCREEN_BACKENDS; b++) {
        assert_int_equal(read_row(text, "CPU time", rows[b], row, 8), 5);
        close_to(row[1], base[0] / row[0], "times faster");
        assert_true(row[2] <= row[1] && row[1] <= row[3]);
        snprintf(words, sizeof words, "%s is %.2fx [%.2f, %.2f] faster", rows[b], row[1], row[2],
                 row[3]);
        if (strncmp(strchr(text, '\n') + 1, rows[b], strlen(rows[b])) == 0)
            assert_non_null(strstr(text, words));
        for (unsigned i = 0; i < sizeof sections / sizeof *sections; i++) {
            double of_base[8], of_row[8];
            read_row(text, sections[i], "glibc", of_base, 8);
            assert_true(read_row(text, sections[i], rows[b], of_row, 8) >= 2);
            double factor = of_row[0] / of_base[0];
            if (!(fabs(of_row[1] - 100 * fabs(factor - 1)) <= 200 * rounding * factor))
                fail_msg("%s: %g %% is not that of %g", sections[i], of_row[1], factor);
        }
    }
    free(text);
    screen_free(x);
}

/* A word wrapped in a sentence is a blank. */
static void unwrap(char *text)
{
    for (char *at; (at = strstr(text, "\n  ")) != NULL;)
        memmove(at, at + 2, strlen(at + 2) + 1);
    for (char *at; (at = strstr(text, "  ")) != NULL;)
        memmove(at, at + 1, strlen(at + 1) + 1);
}

/* More columns than there is room for: those that are left out are named, at each width. */
static void nothing_goes_silently(void **state)
{
    static const char *const columns[] = {
        "whole run", "p99",    "p99.9",    "peak",     "fill",     "churn", "grow",      "drain",
        "alloc",     "resize", "internal", "external", "retained", "live",  "after free"};
    (void)state;
    struct screen *x = screen_new(4);
    for (unsigned width = 40; width <= 140; width += 5) {
        char *text = draw(x, width);
        count_lines(text, width);
        unwrap(text);
        for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
            if (strstr(text, columns[i]) == NULL)
                fail_msg("%s is gone at %u columns", columns[i], width);
        free(text);
    }
    screen_free(x);
}

/* Markdown has no width that limits the columns. */
static void markdown_has_all_columns(void **state)
{
    (void)state;
    static bool (*const grids[])(const struct ab_topic_at *, struct ab_grid *) = {ab_phases_grid,
                                                                                  ab_calls_grid};
    static const char *const phases[] = {"a", "b", "c", "d", "e", "f",
                                         "g", "h", "i", "j", "k", "l"};
    struct screen *x = screen_new(4);
    struct ab_format_guard guard;
    struct ab_view view;
    struct ab_grid g;
    for (uint32_t i = 0; i < x->s.n_results; i++)
        for (uint32_t p = 0; p < 4; p++)
            if (strcmp(x->results[i].phase, x->s.phases[p]) == 0) {
                x->results[i].phase = phases[4 * (x->results[i].round % 3) + p];
                break;
            }
    x->s.phases = phases;
    x->s.n_phases = 12;
    ab_format_begin(&guard);
    ab_view_make(&x->s, &view);
    for (size_t i = 0; i < sizeof grids / sizeof grids[0]; i++) {
        assert_true(grids[i](&(struct ab_topic_at){.view = &view}, &g));
        assert_int_equal(g.n_columns, 8);
        assert_memory_equal(g.note, "  (not shown: ", 14);
        assert_non_null(strstr(g.note, "; -v time)"));
        ab_grid_fini(&g);
        assert_true(grids[i](&(struct ab_topic_at){.view = &view, .surface = AB_MARKDOWN}, &g));
        assert_true(g.n_columns >= 12);
        assert_null(g.note);
        ab_grid_fini(&g);
    }
    ab_view_fini(&view);
    ab_format_end(&guard);
    screen_free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_of_four_by_four),
        cmocka_unit_test(markdown_has_all_columns),
        cmocka_unit_test(a_sweep_shows_what_stays_after_free),
        cmocka_unit_test(threads),
        cmocka_unit_test(a_replay),
        cmocka_unit_test(a_noisy_run),
        cmocka_unit_test(a_back_end_that_failed),
        cmocka_unit_test(an_interrupted_run),
        cmocka_unit_test(a_real_program),
        cmocka_unit_test(what_v_adds),
        cmocka_unit_test(times_and_ratios_can_be_reckoned),
        cmocka_unit_test(bytes_can_be_reckoned),
        cmocka_unit_test(the_headline_can_be_reckoned),
        cmocka_unit_test(a_program_can_be_reckoned),
        cmocka_unit_test(nothing_goes_silently),
    };
    return cmocka_run_group_tests_name("answer", tests, NULL, NULL);
}
