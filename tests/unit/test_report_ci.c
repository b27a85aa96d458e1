/* SPDX-License-Identifier: MIT
 *
 * The forms for CI services, from a session with gates and a comparison that are written by hand.
 * tests: findings.c sink_markdown.c series.c sink_benchmark_json.c
 * tests: sink_github.c sink_junit.c
 */
#include "answer/findings.h"
#include "answer/topics.h"
#include "report/sinks/sinks.h"
#include "result/numbers.h"

#include "base/bits.h"
#include "stats/compare.h"
#include "support/report_locale.h"
#include "support/report_session.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct ab_checked some_gates[] = {
    {.text = "steady/alloc/p99 < 2us",
     .place = "./web.yaml:31:5",
     .backend = "glibc",
     .verdict = AB_VERDICT_PASS,
     .effect.ratio = 126,
     .bound = 2000,
     .unit = "ns"},
    {.text = "arena:steady/memory/rss_peak < 1.5x live",
     .place = "./web.yaml:32:5",
     .backend = "arena",
     .verdict = AB_VERDICT_FAIL,
     .effect.ratio = 3.04,
     .bound = 1.5,
     .against = AB_AGAINST_LIVE,
     .status = AB_GATE},
    {.text = "pool:steady/all/ops_per_s > 20M",
     .place = "--gate",
     .backend = "pool",
     .verdict = AB_VERDICT_NOT_EVALUATED,
     .effect.ratio = NAN,
     .bound = 2e7,
     .unit = "1/s",
     .status = AB_GATE,
     .reason = "pool is partial: cannot resize"},
    {.text = "steady/alloc/p99 < 2us",
     .place = "./web.yaml:31:5",
     .backend = "scudo",
     .verdict = AB_VERDICT_SKIPPED,
     .effect.ratio = NAN,
     .bound = 2000,
     .unit = "ns",
     .reason = "scudo is absent: not installed"},
    {.text = "steady/all/ns_per_op < +10%",
     .place = "web.yaml:33:5",
     .backend = "jemalloc",
     .verdict = AB_VERDICT_FAIL,
     .effect.ratio = 1.2,
     .effect.low = 1.15,
     .effect.high = 1.25,
     .bound = 1.1,
     .against = AB_AGAINST_BASELINE,
     .is_warning = true},
    {.text = "steady/all/ns_per_op < +1%",
     .place = "web.yaml:34:5",
     .backend = "jemalloc",
     .verdict = AB_VERDICT_INCONCLUSIVE,
     .effect.ratio = 1.02,
     .effect.low = 0.95,
     .effect.high = 1.25,
     .bound = 1.01,
     .against = AB_AGAINST_BASELINE,
     .rounds_needed = 40},
};

static const struct ab_checked some_cells[] = {
    {.backend = "glibc",
     .base_backend = "glibc",
     .metric = "time",
     .unit = "ns",
     .base = 4.1e6,
     .now = 4.12e6,
     .effect = {.ratio = 1.005, .low = 0.996, .high = 1.013, .n_base = 10, .n_new = 10},
     .bound = 0.05,
     .verdict = AB_VERDICT_PASS},
    {.backend = "jemalloc",
     .base_backend = "glibc",
     .metric = "time",
     .unit = "ns",
     .base = 4.1e6,
     .now = 7.134e6,
     .effect = {.ratio = 1.74, .low = 1.69, .high = 1.8, .n_base = 10, .n_new = 10},
     .bound = 0.05,
     .verdict = AB_VERDICT_FAIL},
    {.backend = "jemalloc",
     .base_backend = "glibc",
     .phase = "steady",
     .op = "alloc",
     .metric = "p99",
     .unit = "ns",
     .base = 100,
     .now = 130,
     .effect = {.ratio = 1.3, .low = 1.2, .high = 1.4, .n_base = 10, .n_new = 10},
     .bound = NAN,
     .verdict = AB_VERDICT_PASS},
    {.backend = "arena",
     .base_backend = "glibc",
     .metric = "time",
     .unit = "ns",
     .base = 4.1e6,
     .now = 4.2e6,
     .effect = {.ratio = 1.03, .low = 0.97, .high = 1.09, .n_base = 6, .n_new = 6},
     .bound = 0.05,
     .verdict = AB_VERDICT_INCONCLUSIVE,
     .rounds_needed = 40},
    {.backend = "broken",
     .base_backend = "glibc",
     .metric = "time",
     .unit = "ns",
     .base = 4.1e6,
     .now = NAN,
     .effect = {.ratio = NAN, .low = NAN, .high = NAN},
     .bound = 0.05,
     .verdict = AB_VERDICT_NOT_EVALUATED,
     .reason = "broken crashed in the new result"},
};

static struct ab_checked gates[AB_ARRAY_LEN(some_gates)];
static struct ab_checked cells[AB_ARRAY_LEN(some_cells)];
static struct ab_comparison comparison;

static struct fake_session *judged_session(void)
{
    struct fake_session *f = fake_session_new();
    memcpy(gates, some_gates, sizeof gates);
    memcpy(cells, some_cells, sizeof cells);
    comparison = (struct ab_comparison){.base = &f->s,
                                        .now = &f->s,
                                        .base_label = "results/main.json",
                                        .cells = cells,
                                        .n_cells = AB_ARRAY_LEN(cells)};
    fake_session_set_peak(f, FAKE_GLIBC, 0x1p22);
    f->s.tool.version = "VERSION";
    f->s.start = 1767323045;
    f->s.gates = gates;
    f->s.n_gates = AB_ARRAY_LEN(gates);
    f->s.comparison = &comparison;
    return f;
}

static const struct {
    enum ab_sink_id id;
    const char *golden;
} forms[] = {
    {AB_SINK_JUNIT, "ci.xml"},
    {AB_SINK_MARKDOWN, "ci.md"},
    {AB_SINK_GITHUB, "ci-github.txt"},
    {AB_SINK_BENCHMARK_JSON, "ci-benchmark.json"},
};

static void write_form(FILE *to, const struct ab_session *s, void *user)
{
    ab_sinks[*(const enum ab_sink_id *)user].write(to, s);
}

static char *form(const struct fake_session *f, enum ab_sink_id id)
{
    return fake_capture(write_form, &f->s, &id);
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = strstr(text, what); at != NULL; at = strstr(at + 1, what))
        n++;
    return n;
}

/* Leaves out resizes, and frees except those of glibc, so that a page with all topics stays short.
 * These results move behind the others, where fake_session_free() finds them. */
static void keep_few_calls(struct fake_session *f)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->s.n_results; i++) {
        struct ab_result r = f->results[i];
        if (r.op == AB_OP_RESIZE || (r.op == AB_OP_FREE && r.backend != FAKE_GLIBC))
            continue;
        f->results[i] = f->results[n];
        f->results[n++] = r;
    }
    f->s.n_results = n;
}

static void look_as_they_should(void **state)
{
    (void)state;
    for (size_t i = 0; i < AB_ARRAY_LEN(forms); i++) {
        struct fake_session *f = judged_session();
        if (forms[i].id == AB_SINK_MARKDOWN)
            keep_few_calls(f);
        char *text = form(f, forms[i].id);
        fake_assert_golden(forms[i].golden, text);
        assert_null(strstr(text, "nan"));
        free(text);
        fake_session_free(f);
    }
}

static void a_decimal_comma_changes_nothing(void **state)
{
    (void)state;
    if (!fake_german_locale())
        skip();
    look_as_they_should(state);
    setlocale(LC_ALL, "C");
}

static void what_fails_the_command_comes_first(void **state)
{
    (void)state;
    struct fake_session *f = judged_session();
    struct ab_findings all;
    ab_findings_make(&f->s, &all);
    for (size_t i = 1; i < all.n; i++)
        assert_true(all.items[i - 1].outcome <= all.items[i].outcome);
    assert_string_equal(all.items[0].verdict, "regressed");
    assert_int_equal(all.counts[AB_OUTCOME_FAILED], 2);  /* the cell, the gate */
    assert_int_equal(all.counts[AB_OUTCOME_ERROR], 3);   /* cell, gate, back end broken */
    assert_int_equal(all.counts[AB_OUTCOME_WARNED], 2);  /* the gate that warns, pool */
    assert_int_equal(all.counts[AB_OUTCOME_SKIPPED], 4); /* cell, two gates, scudo */
    ab_findings_fini(&all);
    fake_session_free(f);
}

static void another_machine_warns_only(void **state)
{
    (void)state;
    struct fake_session *f = judged_session();
    struct ab_findings all;
    comparison.is_advisory = true;
    strcpy(comparison.advisory, "the kernels differ");
    ab_findings_make(&f->s, &all);
    assert_int_equal(all.counts[AB_OUTCOME_FAILED], 1);
    ab_findings_fini(&all);
    comparison.is_strict = true;
    ab_findings_make(&f->s, &all);
    assert_int_equal(all.counts[AB_OUTCOME_FAILED], 3); /* the cell, the gate, the advice itself */
    ab_findings_fini(&all);
    comparison.is_strict = false;
    char *text = form(f, AB_SINK_GITHUB);
    assert_non_null(strstr(text, "::warning title=allocbench comparison%3A time of the whole run"));
    assert_non_null(strstr(text, "advisory and fails nothing: the kernels differ"));
    free(text);
    fake_session_free(f);
}

/* What a name, a gate or a reason may hold at worst. */
static const char hostile[] = "a]]>b<c|d\ne%f\033[2Jg&h\"i`j\xff\xef\xbf\xbf,k:l\r";

static void add_hostility(struct fake_session *f)
{
    strcpy(f->backends[FAKE_JEMALLOC].name, hostile);
    strcpy(f->backends[FAKE_BROKEN].reason, hostile);
    strcpy(gates[2].reason, hostile);
    gates[1].text = hostile;
    gates[1].place = "a\n]]><|%b:c.yaml:7:9";
    cells[1].backend = hostile;
    cells[1].phase = "steady";
    cells[1].iteration = hostile;
    f->s.command_line = hostile;
    f->s.name = hostile;
}

/* Every line of a table has the cells of its head: a '|' in a text is not one. */
static void assert_tables_are_whole(const char *text)
{
    char *copy = strdup(text), *rest = NULL;
    size_t n_head = 0;
    for (char *line = strtok_r(copy, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        size_t n = 0;
        for (const char *c = line; *c != 0; c++)
            n += *c == '|' && (c == line || c[-1] != '\\');
        n_head = line[0] != '|' ? 0 : n_head == 0 ? n : n_head;
        assert_int_equal(n, n_head);
    }
    free(copy);
}

static void hostile_names_break_nothing(void **state)
{
    (void)state;
    struct fake_session *f = judged_session();
    add_hostility(f);
    for (size_t i = 0; i < AB_ARRAY_LEN(forms); i++) {
        char *text = form(f, forms[i].id);
        for (const char *c = text; *c != 0; c++)
            assert_true((unsigned char)*c >= 0x20 || *c == '\n');
        free(text);
    }
    char *xml = form(f, AB_SINK_JUNIT), *page = form(f, AB_SINK_MARKDOWN);
    char *lines = form(f, AB_SINK_GITHUB);
    assert_null(strstr(xml, "]]>"));
    assert_null(strstr(xml, "b<c"));
    assert_null(strstr(xml, "\xef\xbf\xbf"));
    assert_non_null(strstr(xml, "a]]&gt;b&lt;c|d\\x0ae%f\\x1b[2Jg&amp;h&quot;i`j"));
    assert_null(strstr(page, "b<c"));
    assert_tables_are_whole(page);
    for (const char *line = lines; *line != 0; line = strchr(line, '\n') + 1)
        assert_true(strncmp(line, "::error ", 8) == 0 || strncmp(line, "::warning ", 10) == 0);
    assert_non_null(strstr(lines, "file=a\\x0a]]><|%25b%3Ac.yaml,line=7,col=9,"));
    free(xml);
    free(page);
    free(lines);
    fake_session_free(f);
}

static void expect_markdown(const char *text, const char *wanted)
{
    struct ab_text t = {0};
    ab_sinks_markdown_text(&t, text);
    assert_string_equal(t.s, wanted);
    ab_text_fini(&t);
}

static void a_name_is_no_markup_in_markdown(void **state)
{
    (void)state;
    expect_markdown("<b>x</b> [go](http://a.b)", "&lt;b&gt;x&lt;/b&gt; \\[go\\](http\\://a.b)");
    expect_markdown("www.a.b", "www\\.a.b");
    expect_markdown("- x", "\\- x");
    expect_markdown("---", "\\---");
    expect_markdown("--rounds 10", "--rounds 10");
    expect_markdown("12. x 3. y", "12\\. x 3. y");
    expect_markdown("arena-1.5 = 2", "arena-1.5 = 2");
}

/* The moment of a list of owners is a mark of a trace, or what a result says. */
static void titles_are_no_markup_in_markdown(void **state)
{
    (void)state;
    struct fake_session *f = judged_session();
    struct ab_pin pin = {.backend = FAKE_GLIBC,
                         .phase = "steady",
                         .at = "<b>x</b> [go](http://a.b)",
                         .function = "f",
                         .pinned_bytes = 4096,
                         .retained_bytes = 0,
                         .blocks = 1};
    f->s.pins = &pin;
    f->s.n_pins = 1;
    char *page = form(f, AB_SINK_MARKDOWN);
    f->s.pins = NULL;
    f->s.n_pins = 0;
    assert_non_null(strstr(page, "who pins the pages at &lt;b&gt;x"));
    assert_null(strstr(page, "<b>"));
    assert_null(strstr(page, "[go]("));
    free(page);
    fake_session_free(f);
}

static char *grid_text(const struct ab_grid *g)
{
    struct ab_text t = {0};
    ab_sinks_markdown_grid(&t, g);
    return t.s;
}

static void a_note_stands_below_its_table(void **state)
{
    (void)state;
    struct fake_session *f = judged_session();
    struct ab_grid g = {.session = &f->s,
                        .columns = {{"a"}, {NULL}},
                        .n_columns = 2,
                        .note = "  not shown: <b>\nsecond line"};
    ab_grid_add(&g, "row", "");
    char *text = grid_text(&g);
    assert_string_equal(text, "|  | a |\n|---|---:|\n| row |  |\n\nnot shown: &lt;b&gt;\n\n"
                              "second line\n\n");
    free(text);
    g.note_column = 2; /* a column that is not shown */
    text = grid_text(&g);
    assert_null(strstr(text, "second line"));
    free(text);
    ab_grid_fini(&g);
    fake_session_free(f);
}

static void no_reading_is_shown_below_the_floor_of_the_clock(void **state)
{
    static const enum ab_grid_kind kinds[] = {AB_GRID_NS, AB_GRID_CALL};
    (void)state;
    struct fake_session *f = judged_session();
    f->s.timer.floor_ns = 20;
    for (size_t i = 0; i < AB_ARRAY_LEN(kinds); i++) {
        struct ab_grid g = {.session = &f->s, .columns = {{"a"}, {"b"}}, .n_columns = 2};
        ab_grid_add(&g, "row", "");
        ab_grid_put(&g, 0, kinds[i], 12, NULL);
        ab_grid_put(&g, 1, kinds[i], 120, NULL);
        char *text = grid_text(&g);
        assert_non_null(strstr(text, "| row | &lt;20 ns | 120 ns |"));
        free(text);
        ab_grid_fini(&g);
    }
    fake_session_free(f);
}

static struct ab_checked *many_gates(struct fake_session *f, uint32_t n)
{
    struct ab_checked *many = calloc(n, sizeof *many);
    assert_non_null(many);
    for (uint32_t i = 0; i < n; i++)
        many[i] = some_gates[1];
    f->s.gates = many;
    f->s.n_gates = n;
    f->s.comparison = NULL;
    return many;
}

static void github_shows_ten_of_a_kind(void **state)
{
    (void)state;
    for (uint32_t n = 9; n <= 30; n += 21) { /* and one back end that crashed */
        struct fake_session *f = judged_session();
        struct ab_checked *many = many_gates(f, n);
        char *text = form(f, AB_SINK_GITHUB);
        assert_int_equal(count(text, "::error "), 10);
        assert_true((strstr(text, "::and 22 more") != NULL) == (n == 30));
        free(text);
        free(many);
        fake_session_free(f);
    }
}

static void a_summary_is_never_too_long_for_github(void **state)
{
    (void)state;
    struct fake_session *f = judged_session();
    struct ab_checked *many = many_gates(f, 20000);
    char *text = form(f, AB_SINK_MARKDOWN);
    assert_true(strlen(text) > 800000 && strlen(text) < 900000);
    assert_int_equal(count(text, "<details>"), count(text, "</details>"));
    assert_non_null(strstr(text, " rows are left out: "));
    assert_tables_are_whole(text);
    free(text);
    free(many);
    fake_session_free(f);
}

static void the_machine_is_described_once(void **state)
{
    (void)state;
    struct fake_session *f = judged_session();
    char *text = form(f, AB_SINK_MARKDOWN);
    assert_int_equal(count(text, f->s.host.cpu), 1);
    assert_int_equal(count(text, f->s.command_line), 1);
    assert_int_equal(count(text, f->s.tape_sha256), 1);
    assert_non_null(strstr(text, "| base | "));
    free(text);
    fake_session_free(f);
}

/* Rows of tables, without their heads and headings. */
static size_t count_rows(const char *text)
{
    return count(text, "\n| ") - count(text, "\n|---") - count(text, "\n| **");
}

static void what_is_left_out_are_rows(void **state)
{
    enum { MANY = 20000 };
    (void)state;
    size_t n_rows[2], n_left = 0;
    for (unsigned i = 0; i < 2; i++) {
        struct fake_session *f = judged_session();
        struct ab_checked *many = many_gates(f, i == 0 ? 1 : MANY);
        char *text = form(f, AB_SINK_MARKDOWN), *left = strstr(text, " rows are left out: ");
        n_rows[i] = count_rows(text);
        while (left != NULL && left[-1] >= '0' && left[-1] <= '9')
            left--;
        n_left += left != NULL ? strtoul(left, NULL, 10) : 0;
        free(text);
        free(many);
        fake_session_free(f);
    }
    assert_int_equal(n_rows[1] + n_left, n_rows[0] + MANY - 1);
}

static void what_is_not_known_is_left_out(void **state)
{
    (void)state;
    struct fake_session *f = judged_session();
    double none[3] = {NAN, INFINITY, 4};
    fake_session_set_ns(f, FAKE_GLIBC, none);
    for (uint32_t i = 0; i < f->s.n_results; i++)
        if (f->results[i].backend == FAKE_JEMALLOC)
            f->results[i].cpu_ns_per_op = NAN;
    for (size_t i = 0; i < AB_ARRAY_LEN(forms); i++) {
        char *text = form(f, forms[i].id);
        assert_null(strstr(text, "nan"));
        assert_null(strstr(text, "inf"));
        assert_null(strstr(text, "\": null"));
        free(text);
    }
    fake_session_free(f);
}

static void an_interrupted_run_is_an_error(void **state)
{
    (void)state;
    struct fake_session *f = judged_session();
    f->s.is_complete = false;
    f->s.n_rounds_planned = 8;
    char *text = form(f, AB_SINK_JUNIT);
    assert_non_null(strstr(text, "The run was interrupted: 3 of 8 rounds are complete."));
    free(text);
    fake_session_free(f);
}

/* The finding of a gate that is written there. */
static void expect_place(const char *place, const char *file, uint32_t line, uint32_t column)
{
    struct fake_session *f = fake_session_new();
    struct ab_checked gate = some_gates[1];
    struct ab_findings all;
    gate.place = place;
    f->s.gates = &gate;
    f->s.n_gates = 1;
    ab_findings_make(&f->s, &all);
    for (size_t i = 0; i < all.n; i++) {
        if (strcmp(all.items[i].kind, "gate") != 0)
            continue;
        assert_int_equal(all.items[i].file.s == NULL, file == NULL);
        if (file != NULL)
            assert_string_equal(all.items[i].file.s, file);
        assert_true(all.items[i].line == line && all.items[i].column == column);
    }
    ab_findings_fini(&all);
    fake_session_free(f);
}

static void places_are_taken_apart_from_their_end(void **state)
{
    (void)state;
    expect_place("a:b.yaml:31:5", "a:b.yaml", 31, 5);
    static const char *const none[] = {"--gate", "", ":1:2", "a:1", "a:1:x", "a:0:1", "a:1:2:"};
    for (size_t i = 0; i < AB_ARRAY_LEN(none); i++)
        expect_place(none[i], NULL, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(look_as_they_should),
        cmocka_unit_test(a_decimal_comma_changes_nothing),
        cmocka_unit_test(what_fails_the_command_comes_first),
        cmocka_unit_test(another_machine_warns_only),
        cmocka_unit_test(hostile_names_break_nothing),
        cmocka_unit_test(a_name_is_no_markup_in_markdown),
        cmocka_unit_test(titles_are_no_markup_in_markdown),
        cmocka_unit_test(a_note_stands_below_its_table),
        cmocka_unit_test(what_is_left_out_are_rows),
        cmocka_unit_test(the_machine_is_described_once),
        cmocka_unit_test(no_reading_is_shown_below_the_floor_of_the_clock),
        cmocka_unit_test(github_shows_ten_of_a_kind),
        cmocka_unit_test(a_summary_is_never_too_long_for_github),
        cmocka_unit_test(what_is_not_known_is_left_out),
        cmocka_unit_test(an_interrupted_run_is_an_error),
        cmocka_unit_test(places_are_taken_apart_from_their_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
