/* SPDX-License-Identifier: MIT
 *
 * Means over workloads, on sessions whose ratios are known, and gates on them.
 * tests: stats/suite_means.c document/suite_document.c suite_view.c suite_forms.c
 */
#include "result/numbers.h"
#include "stats/suite_means.h"

#include "answer/suite_view.h"
#include "document/suite_document.h"
#include "report/sinks/sinks.h"
#include "report/suite/suite_forms.h"
#include "support/cmocka.h"
#include "support/report_session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 12 };

#define assert_near(a, b, most) assert_true(fabs((a) - (b)) <= (most))

/* glibc takes 10 ns an op, jemalloc `ns` in rounds 0, 1, 2 and again; peaks of 1 MiB and `peak`. */
static struct fake_session *work(const double ns[3], double peak)
{
    static const double base[3] = {10, 10, 10};
    struct fake_session *f = fake_session_of(ROUNDS);
    fake_session_keep(f, FAKE_ARENA);
    fake_session_set_ns(f, FAKE_GLIBC, base);
    fake_session_set_ns(f, FAKE_JEMALLOC, ns);
    fake_session_set_peak(f, FAKE_GLIBC, 1 << 20);
    fake_session_set_peak(f, FAKE_JEMALLOC, peak);
    f->s.is_complete = true;
    for (uint32_t i = 0; i < f->s.n_results; i++)
        f->results[i].n_ops = 1000000; /* enough to be timed */
    return f;
}

struct two { /* workloads */
    struct fake_session *a, *b;
    struct ab_suite_work works[3];
    struct ab_suite_figures f;
};

static void make(struct two *t, const double a[3], const double b[3])
{
    *t = (struct two){.a = work(a, 2 << 20), .b = work(b, 1 << 19)};
    t->works[0] = (struct ab_suite_work){"a", "a.yaml", &t->a->s, "", 0};
    t->works[1] = (struct ab_suite_work){"b", "b.yaml", &t->b->s, "", 0};
    t->works[2] = (struct ab_suite_work){"c", "c.yaml", NULL, "broken", 0};
    ab_suite_figures_make(t->works, 3, NULL, &t->f);
}

static void end(struct two *t)
{
    ab_suite_figures_fini(&t->f);
    fake_session_free(t->a);
    fake_session_free(t->b);
}

static const struct ab_suite_row *row(const struct two *t, const char *name)
{
    for (uint32_t i = 0; i < t->f.n_rows; i++)
        if (strcmp(t->f.rows[i].name, name) == 0)
            return &t->f.rows[i];
    return NULL;
}

static void the_mean_is_geometric_and_exact_where_nothing_varies(void **state)
{
    (void)state;
    struct two t;
    make(&t, (const double[3]){20, 20, 20}, (const double[3]){8, 8, 8});
    const struct ab_suite_row *j = row(&t, "jemalloc"), *g = row(&t, "glibc");
    assert_int_equal(t.f.n_rows, 2);
    assert_true(g->is_base);
    assert_int_equal(t.f.n_counted[AB_SUITE_TIME], 2);
    assert_near(j->mean[AB_SUITE_TIME].ratio, sqrt(2 * 0.8), 1e-9);
    assert_near(j->mean[AB_SUITE_TIME].low, sqrt(2 * 0.8), 1e-9);
    assert_near(j->mean[AB_SUITE_TIME].high, sqrt(2 * 0.8), 1e-9);
    assert_near(j->mean[AB_SUITE_MEMORY].ratio, 1, 1e-9); /* 2 and 0.5 */
    assert_near(g->mean[AB_SUITE_TIME].ratio, 1, 1e-12);
    assert_int_equal(g->mean[AB_SUITE_TIME].rank, 1);
    assert_int_equal(j->mean[AB_SUITE_TIME].rank, 2);
    assert_int_equal(j->better, 0); /* glibc is faster, and as large */
    assert_int_equal(g->better, UINT32_MAX);
    assert_string_equal(t.f.why[2], "broken");
    end(&t);
}

/* The formula of the header, written out again: t(22) = 1.7171 from a table. */
static void the_interval_comes_from_the_rounds(void **state)
{
    (void)state;
    struct two t;
    const double x[3] = {20, 22, 18};
    make(&t, x, x);
    double mean = (log(2) + log(2.2) + log(1.8)) / 3, sum = 0;
    for (int i = 0; i < 3; i++)
        sum += 4 * pow(log(x[i] / 10) - mean, 2);
    double v = M_PI / 2 * sum / (ROUNDS - 1) / ROUNDS, half = 1.7171 * sqrt(2 * v) / 2;
    const struct ab_suite_mean *m = &row(&t, "jemalloc")->mean[AB_SUITE_TIME];
    assert_near(m->freedom, 22, 1e-9); /* two alike: twice eleven */
    assert_near(m->ratio, 2, 1e-9);
    assert_near(m->low, 2 * exp(-half), 1e-4);
    assert_near(m->high, 2 * exp(half), 1e-4);
    end(&t);
}

static void only_what_all_have_finished_counts(void **state)
{
    (void)state;
    struct two t;
    make(&t, (const double[3]){20, 20, 20}, (const double[3]){8, 8, 8});
    ab_suite_figures_fini(&t.f);
    t.b->backends[FAKE_JEMALLOC].status = AB_BACKEND_CRASHED;
    ab_suite_figures_make(t.works, 3, NULL, &t.f);
    assert_int_equal(t.f.n_counted[AB_SUITE_TIME], 1);
    assert_near(row(&t, "jemalloc")->mean[AB_SUITE_TIME].ratio, 2, 1e-9);
    assert_string_equal(t.f.why[1], "jemalloc: crashed");
    ab_suite_figures_fini(&t.f);
    t.a->s.is_complete = false;
    ab_suite_figures_make(t.works, 3, NULL, &t.f);
    assert_int_equal(t.f.n_counted[AB_SUITE_TIME], 0);
    assert_true(isnan(row(&t, "jemalloc")->mean[AB_SUITE_TIME].ratio));
    assert_string_equal(t.f.why[0], "interrupted");
    end(&t);
}

static void another_base_turns_the_ratios(void **state)
{
    (void)state;
    struct two t;
    make(&t, (const double[3]){20, 20, 20}, (const double[3]){8, 8, 8});
    ab_suite_figures_fini(&t.f);
    ab_suite_figures_make(t.works, 3, "jemalloc", &t.f);
    assert_near(row(&t, "glibc")->mean[AB_SUITE_TIME].ratio, 1 / sqrt(2 * 0.8), 1e-9);
    assert_true(row(&t, "jemalloc")->is_base);
    end(&t);
}

static struct ab_combination combinations[2] = {{.values = "n=1"}, {.values = "n=2"}};

/* What were arena and pool are glibc and jemalloc with n=2, half and three times as long. */
static void give_values(struct fake_session *f)
{
    static const char *const names[] = {"glibc", "jemalloc", "glibc", "jemalloc"};
    fake_session_set_ns(f, FAKE_ARENA, (const double[3]){5, 5, 5});
    fake_session_set_ns(f, FAKE_POOL, (const double[3]){15, 15, 15});
    f->s.n_backends = 4;
    f->s.combinations = combinations;
    f->s.n_combinations = 2;
    for (uint32_t i = 0; i < 4; i++) {
        struct ab_backend_info *b = &f->backends[i];
        snprintf(b->name, sizeof b->name, "%s", names[i]);
        b->status = AB_BACKEND_OK;
        b->combination = i / 2;
        ab_backend_set_values(b, combinations[i / 2].values);
    }
}

static void each_combination_of_values_counts_by_itself(void **state)
{
    (void)state;
    struct two t;
    make(&t, (const double[3]){20, 20, 20}, (const double[3]){8, 8, 8});
    ab_suite_figures_fini(&t.f);
    give_values(t.b);
    t.works[2] = t.works[1];
    t.works[2].combination = 1;
    ab_suite_figures_make(t.works, 3, NULL, &t.f);
    assert_int_equal(t.f.n_rows, 2);
    assert_int_equal(t.f.n_counted[AB_SUITE_TIME], 3);
    assert_near(row(&t, "jemalloc")->mean[AB_SUITE_TIME].ratio, cbrt(2 * 0.8 * 3), 1e-9);
    ab_suite_figures_fini(&t.f);
    for (uint32_t i = 0; i < t.b->s.n_results; i++)
        if (t.b->results[i].backend == FAKE_ARENA || t.b->results[i].backend == FAKE_POOL)
            t.b->results[i].n_ops = 10; /* n=2 alone cannot be timed */
    ab_suite_figures_make(t.works, 3, NULL, &t.f);
    assert_string_equal(t.f.why[1], "");
    assert_string_equal(t.f.why[2], "too little work");
    t.b->s.combinations = NULL;
    t.b->s.n_combinations = 0;
    end(&t);
}

static const char *wrong(const char *text)
{
    static struct ab_gate_error error;
    const char *known[] = {"glibc", "jemalloc"};
    struct ab_gate gate;
    return ab_suite_gate_parse(text, known, 2, &gate, &error) ? "" : error.text;
}

static void gates_on_means_are_told_from_others(void **state)
{
    (void)state;
    assert_true(ab_suite_gate_is_mean("mean/all/ns_per_op < 1.05x base"));
    assert_true(ab_suite_gate_is_mean(" jemalloc:mean/memory/rss_peak_bytes < 2x glibc"));
    assert_false(ab_suite_gate_is_mean("work/all/ns_per_op < 1.05x mean/"));
    assert_false(ab_suite_gate_is_mean("meaning/all/ns_per_op < 1x glibc"));
    assert_string_equal(wrong("mean/all/ns_per_op < 1.05x base"), "");
    assert_string_equal(wrong("jemalloc:mean/memory/rss_peak_bytes < 2x glibc"), "");
    assert_string_equal(wrong("jemalloc:mean/memory/peak < 2x glibc"), "");
    assert_non_null(strstr(wrong("mean/alloc/p99 < 2x base"), "a mean over workloads is of"));
    assert_non_null(
        strstr(wrong("mean/all/ns_per_op < 20ns"), "is a ratio: write a bound such as"));
    assert_non_null(strstr(wrong("mean/all/ns_per_op < 2x glibcc"), "did you mean 'glibc'"));
}

static enum ab_verdict verdict(const struct two *t, const char *text, const char **backend)
{
    const char *known[] = {"glibc", "jemalloc"};
    struct ab_gate_error error;
    struct ab_gate gate;
    uint32_t n;
    assert_true(ab_suite_gate_parse(text, known, 2, &gate, &error));
    struct ab_checked *list = ab_suite_gates_judge(&t->f, &gate, 1, &n);
    assert_int_equal(n, 1);
    enum ab_verdict v = list[0].verdict;
    *backend = list[0].backend;
    free(list);
    return v;
}

static void gates_on_means_are_judged(void **state)
{
    (void)state;
    struct two t;
    const char *name;
    make(&t, (const double[3]){20, 22, 18}, (const double[3]){20, 22, 18}); /* 2 [1.93, 2.07] */
    assert_int_equal(verdict(&t, "mean/all/ns_per_op < 2.2x base", &name), AB_VERDICT_PASS);
    assert_string_equal(name, "jemalloc");
    assert_int_equal(verdict(&t, "mean/all/ns_per_op < 1.5x base", &name), AB_VERDICT_FAIL);
    assert_int_equal(verdict(&t, "mean/all/ns_per_op < 2.01x glibc", &name),
                     AB_VERDICT_INCONCLUSIVE);
    assert_int_equal(verdict(&t, "glibc:mean/all/ns_per_op < 0.6x jemalloc", &name),
                     AB_VERDICT_PASS);
    assert_string_equal(name, "glibc");
    assert_int_equal(verdict(&t, "glibc:mean/all/ns_per_op < 0.4x jemalloc", &name),
                     AB_VERDICT_FAIL);
    end(&t);
}

/* ---- the document, and what is drawn of it ---- */

static void make_suite(struct ab_suite *s, const struct two *t)
{
    *s = (struct ab_suite){.kind = AB_SESSION_WORKLOAD, .command_line = "allocbench run", .n = 3};
    s->items = calloc(4, sizeof s->items[0]);
    s->items[0] = (struct ab_suite_item){.name = "a", .path = "a.yaml"};
    s->items[1] = (struct ab_suite_item){.name = "b\033[31m<b>", .path = "b.yaml"};
    s->items[2] = (struct ab_suite_item){.name = "c", .path = "c.yaml", .reason = "broken"};
    ab_suite_item_take(&s->items[0], &t->a->s);
    ab_suite_item_take(&s->items[1], &t->b->s);
    s->is_complete = true;
    ab_suite_settle(s);
}

static void assert_suite_says(const struct two *t, const char *wanted)
{
    struct ab_suite s;
    struct ab_suite_view v;
    make_suite(&s, t);
    ab_suite_view_make(&s, &v);
    char all[2000] = "";
    for (unsigned i = 0; i < v.n_sentences; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s ", v.sentences[i]);
    if (strstr(all, wanted) == NULL)
        fail_msg("'%s' is not in: %s", wanted, all);
    ab_suite_view_fini(&v);
    ab_suite_fini(&s);
}

/* Half the time; memory four times as much in one workload, and half in the other. */
static void the_sentence_speaks_of_time_and_memory(void **state)
{
    (void)state;
    struct two t;
    make(&t, (const double[3]){5, 5, 5}, (const double[3]){5, 5, 5});
    assert_suite_says(&t,
                      "jemalloc is 2.00x faster than glibc in the geometric mean of 2 workloads, "
                      "at about the same peak memory.");
    end(&t);
}

static void write_document(FILE *to, const struct ab_session *s, void *user)
{
    (void)s;
    ab_suite_write(to, user);
}

static void a_document_read_and_written_again_is_the_same(void **state)
{
    (void)state;
    char path[] = "/tmp/suite-XXXXXX";
    struct two t;
    struct ab_suite s, again;
    struct ab_err err;
    make(&t, (const double[3]){20, 22, 18}, (const double[3]){8, 8, 8});
    make_suite(&s, &t);
    assert_string_equal(s.items[0].reason, "");
    char *text = fake_capture(write_document, NULL, &s);
    FILE *f = fdopen(mkstemp(path), "w");
    fputs(text, f);
    fclose(f);
    assert_int_equal(ab_suite_read_unaltered(path, &again, &err), AB_OK);
    assert_int_equal(again.n, 3);
    assert_near(again.figures.rows[0].mean[AB_SUITE_TIME].ratio,
                s.figures.rows[0].mean[AB_SUITE_TIME].ratio, 1e-9);
    char *more = fake_capture(write_document, NULL, &again);
    assert_string_equal(text, more);
    ab_suite_fini(&again);
    *strstr(text, "\"broken\"") = '!';
    f = fopen(path, "w");
    fputs(text, f);
    fclose(f);
    assert_int_equal(ab_suite_read_unaltered(path, &again, &err), AB_INPUT);
    remove(path);
    free(text);
    free(more);
    ab_suite_fini(&s);
    end(&t);
}

static void write_table(FILE *to, const struct ab_session *s, void *user)
{
    (void)s;
    ab_suite_table(to, user, (struct ab_table_style){.width = 80, .utf8 = true});
}

static void write_csv(FILE *to, const struct ab_session *s, void *user)
{
    (void)s;
    ab_suite_csv(to, user);
}

static void write_markdown(FILE *to, const struct ab_session *s, void *user)
{
    (void)s;
    ab_suite_markdown(to, user);
}

static void write_html(FILE *to, const struct ab_session *s, void *user)
{
    (void)s;
    ab_suite_html(to, user);
}

static void write_junit(FILE *to, const struct ab_session *s, void *user)
{
    (void)s;
    ab_suite_junit(to, user);
}

static void forms_are_what_the_golden_files_hold(void **state)
{
    (void)state;
    struct two t;
    struct ab_suite s;
    make(&t, (const double[3]){20, 22, 18}, (const double[3]){8, 8, 8});
    make_suite(&s, &t);
    char *table = fake_capture(write_table, NULL, &s), *csv = fake_capture(write_csv, NULL, &s),
         *markdown = fake_capture(write_markdown, NULL, &s),
         *html = fake_capture(write_html, NULL, &s);
    fake_assert_golden("suite.txt", table);
    fake_assert_golden("suite.csv", csv);
    fake_assert_golden("suite.md", markdown);
    char *junit = fake_capture(write_junit, NULL, &s);
    assert_non_null(strstr(junit, "<testsuite name=\"c\" tests=\"1\" failures=\"0\" errors=\"1\""));
    assert_non_null(strstr(junit, ">There is no result: broken</error>"));
    assert_null(strstr(junit, "<b>"));
    free(junit);
    assert_null(strstr(html, "<b>"));
    assert_null(strstr(html, "\033"));
    assert_non_null(strstr(html, "<svg"));
    assert_non_null(strstr(html, "Time against memory"));
    assert_non_null(
        strstr(html, "<span class=\"soft\">[1.23, 1.30]</span>")); /* as on the other pages */
    free(table);
    free(csv);
    free(markdown);
    free(html);
    ab_suite_fini(&s);
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mean_is_geometric_and_exact_where_nothing_varies),
        cmocka_unit_test(the_interval_comes_from_the_rounds),
        cmocka_unit_test(only_what_all_have_finished_counts),
        cmocka_unit_test(another_base_turns_the_ratios),
        cmocka_unit_test(each_combination_of_values_counts_by_itself),
        cmocka_unit_test(gates_on_means_are_told_from_others),
        cmocka_unit_test(gates_on_means_are_judged),
        cmocka_unit_test(the_sentence_speaks_of_time_and_memory),
        cmocka_unit_test(a_document_read_and_written_again_is_the_same),
        cmocka_unit_test(forms_are_what_the_golden_files_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
