/* SPDX-License-Identifier: MIT
 *
 * Changes in per cent, verdicts as sentences, and sentences out of the table of explain.
 * tests: words.c verdicts.c
 */
#include "answer/verdicts.h"
#include "answer/words.h"
#include "explain/explain.h"
#include "result/numbers.h"
#include "result/shown.h"

#include "support/cmocka.h"
#include "support/report_screen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void changes_are_in_per_cent_in_one_direction(void **state)
{
    static const struct {
        double ratio;
        const char *change, *words;
    } cases[] = {{1.074, "+7.4 %", "7.4 % more"},   {0.27, "-73.0 %", "73.0 % less"},
                 {3.2, "+220 %", "220 % more"},     {0.99999, "+0.0 %", "as much"},
                 {1.00001, "+0.0 %", "as much"},    {1.9994, "+99.9 %", "99.9 % more"},
                 {0, "-100 %", "100 % less"},       {NAN, "-", NULL},
                 {1e300, "+1000000000000 %", NULL}, {INFINITY, "-", NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[64];
        assert_string_equal(ab_view_change(text, sizeof text, cases[i].ratio), cases[i].change);
        if (cases[i].words != NULL)
            assert_string_equal(ab_view_change_words(text, sizeof text, cases[i].ratio),
                                cases[i].words);
    }
}

static void an_interval_is_there_only_where_it_is_known(void **state)
{
    struct ab_effect e = {.ratio = 1.03, .low = 0.95, .high = 1.11, .method = AB_EFFECT_UNPAIRED};
    char text[64];
    (void)state;
    assert_string_equal(ab_view_change_interval(text, sizeof text, &e), "[-5.0, +11.0]");
    e.high = NAN;
    assert_string_equal(ab_view_change_interval(text, sizeof text, &e), "");
    e.method = AB_EFFECT_EXACT;
    e.low = e.high = e.ratio;
    assert_string_equal(ab_view_change_interval(text, sizeof text, &e), "exact");
}

/* ---- verdicts ---- */

static struct ab_checked cell_of(const char *name, enum ab_verdict verdict, double ratio)
{
    return (struct ab_checked){
        .backend = name,
        .base_backend = name,
        .metric = "time",
        .unit = "ns",
        .base = 1e6,
        .now = 1e6 * ratio,
        .effect = {.ratio = ratio, .low = ratio - 0.01, .high = ratio + 0.01},
        .bound = verdict == AB_VERDICT_NOT_EVALUATED ? (double)NAN : 0.05,
        .verdict = verdict};
}

static void the_gravest_verdict_is_said_first(void **state)
{
    struct screen *base = screen_new(1), *now = screen_new(1);
    struct ab_checked cells[] = {cell_of("glibc", AB_VERDICT_PASS, 1.01),
                                 cell_of("jemalloc", AB_VERDICT_FAIL, 1.2),
                                 cell_of("\033mine", AB_VERDICT_NOT_EVALUATED, NAN)};
    struct ab_comparison c = {
        .base = &base->s, .now = &now->s, .cells = cells, .n_cells = 3, .is_joint = true};
    struct ab_view_texts texts = {0};
    struct ab_view_verdicts v;
    (void)state;
    ab_view_verdicts_make(&c, &texts, &v);
    assert_int_equal(v.n_sentences, 3);
    assert_string_equal(v.sentences[0], "\\x1bmine cannot be compared: it failed.");
    assert_string_equal(v.sentences[1], "jemalloc takes 20.0 % more time [+19.0, +21.0]: regressed "
                                        "(limit +5 %).");
    assert_string_equal(v.sentences[2],
                        "glibc takes 1.0 % more time [+0.0, +2.0]: ok (limit +5 %).");
    assert_string_equal(v.counts, "1 failed, 1 regressed, 1 ok, judged jointly");
    assert_non_null(strstr(v.noise, "(base) and +-"));
    assert_non_null(strstr(v.noise, "; same machine"));
    ab_view_texts_fini(&texts);
    screen_free(base);
    screen_free(now);
}

static void many_of_one_kind_are_said_together(void **state)
{
    struct screen *x = screen_new(1);
    struct ab_checked cells[12];
    struct ab_comparison c = {.base = &x->s, .now = &x->s, .cells = cells, .n_cells = 12};
    struct ab_view_texts texts = {0};
    struct ab_view_verdicts v;
    (void)state;
    for (unsigned i = 0; i < 12; i++)
        cells[i] = cell_of("glibc", AB_VERDICT_PASS, 1);
    ab_view_verdicts_make(&c, &texts, &v);
    assert_int_equal(v.n_sentences, 1);
    assert_string_equal(v.sentences[0], "12 back ends: ok (limit +5 %).");
    x->nulls[0].ns_per_op *= 3; /* the harness alone varied */
    ab_view_verdicts_make(&c, &texts, &v);
    assert_non_null(strstr(v.noise, "the machine was busy"));
    c.n_cells = 0;
    ab_view_verdicts_make(&c, &texts, &v);
    assert_int_equal(v.n_sentences, 0);
    assert_string_equal(v.counts, "no verdict");
    ab_view_texts_fini(&texts);
    screen_free(x);
}

/* ---- terms ---- */

static void terms_are_those_of_explain(void **state)
{
    static const char *const words[] = {"live", "retained", NULL};
    struct ab_explanation e;
    struct ab_text t = {0};
    (void)state;
    assert_true(ab_explain_find("internal", &e));
    assert_true(ab_view_term_add(&t, "internal"));
    assert_int_equal(strncmp(t.s, e.what, strlen(e.what)), 0);
    assert_non_null(strstr(t.s, e.formula));
    ab_text_fini(&t);
    assert_false(ab_view_term_add(&t, "no such word"));
    assert_null(t.s);
    ab_view_terms_legend(&t, words);
    assert_non_null(strstr(t.s,
                           "live: The bytes that the program has requested and not freed, "
                           "on resident pages. retained: Resident pages without any live block"));
    assert_null(strstr(t.s, "The same for every")); /* the second sentence */
    ab_text_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_are_in_per_cent_in_one_direction),
        cmocka_unit_test(an_interval_is_there_only_where_it_is_known),
        cmocka_unit_test(the_gravest_verdict_is_said_first),
        cmocka_unit_test(many_of_one_kind_are_said_together),
        cmocka_unit_test(terms_are_those_of_explain),
    };
    return cmocka_run_group_tests_name("words", tests, NULL, NULL);
}
