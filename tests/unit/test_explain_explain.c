/* SPDX-License-Identifier: MIT */
#include "explain/explain.h"
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

static bool is_same(const char *a, size_t n, const char *b)
{
    return strlen(b) == n && strncasecmp(a, b, n) == 0;
}

/* The i-th spelling of an explanation; n is its length. NULL past the last. */
static const char *spelling(const struct ab_explanation *e, size_t i, size_t *n)
{
    const char *s = i == 0 ? e->word : e->synonyms;
    for (size_t k = 1; k < i; k++) {
        s = strstr(s, ", ");
        if (s == NULL)
            return NULL;
        s += 2;
    }
    const char *end = i == 0 ? NULL : strstr(s, ", ");
    *n = end != NULL ? (size_t)(end - s) : strlen(s);
    return *n > 0 ? s : NULL;
}

static void each_number_of_a_result_is_explained(void **state)
{
    (void)state;
    struct ab_explanation e;
    for (size_t i = 0; i < ab_field_count; i++) {
        assert_true(ab_explain_find(ab_fields[i].name, &e));
        assert_string_equal(e.number, ab_fields[i].name);
        assert_string_equal(e.unit, ab_fields[i].unit);
        if (strcmp(e.what, ab_fields[i].doc) != 0)
            assert_string_equal(e.number_is, ab_fields[i].doc);
    }
    for (size_t i = 0; i < ab_memory_field_count; i++)
        assert_true(ab_explain_find(ab_memory_fields[i].name, &e));
}

static void all_have_a_meaning_and_none_a_mark_of_a_form(void **state)
{
    (void)state;
    struct ab_explanation e;
    size_t n = 0;
    for (; ab_explain_at(n, &e); n++) {
        const char *texts[] = {e.word, e.synonyms, e.what, e.formula, e.todo, e.see};
        assert_true(strlen(e.what) > 3);
        assert_true(e.group < AB_EXPLAIN_GROUP_COUNT);
        for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
            if (strpbrk(texts[i], "\"|@*\n") != NULL)
                fail_msg("%s: %s", e.word, texts[i]);
    }
    assert_true(n > 100);
    assert_false(ab_explain_at(n + 1, &e));
}

static void no_spelling_is_there_twice(void **state)
{
    (void)state;
    struct ab_explanation a, b;
    const char *s, *t;
    size_t n, m;
    for (size_t i = 0; ab_explain_at(i, &a); i++)
        for (size_t j = 0; j <= i && ab_explain_at(j, &b); j++)
            for (size_t k = 0; (s = spelling(&a, k, &n)) != NULL; k++)
                for (size_t l = 0; (t = spelling(&b, l, &m)) != NULL; l++)
                    if ((i != j || l < k) && n == m && strncasecmp(s, t, n) == 0)
                        fail_msg("%.*s: %s and %s", (int)n, s, a.word, b.word);
}

/* What `see` names is a word, or a document. */
static void references_lead_somewhere(void **state)
{
    (void)state;
    struct ab_explanation e, other;
    for (size_t i = 0; ab_explain_at(i, &e); i++) {
        char see[400], *rest = NULL;
        snprintf(see, sizeof see, "%s", e.see);
        for (char *one = strtok_r(see, ",", &rest); one != NULL; one = strtok_r(NULL, ",", &rest)) {
            one += *one == ' ';
            if (strstr(one, ".md") == NULL && !ab_explain_find(one, &other))
                fail_msg("%s: see %s", e.word, one);
        }
    }
}

static void a_word_is_found_however_it_is_spelled(void **state)
{
    (void)state;
    static const struct {
        const char *given, *word;
    } cases[] = {{"p99", "p99"},
                 {"P99", "p99"},
                 {"rss_peak_bytes", "peak"},
                 {"RSS peak", "peak"},
                 {"ns/op", "ns_per_op"},
                 {"ns-per-op", "ns_per_op"},
                 {"tilde", "~"},
                 {"after purge", "after free"},
                 {"worse", "worse"},
                 {"@last", "last"},
                 {"harness alone", "harness"},
                 {"growth at constant live bytes", "growth"},
                 {"minor page faults", "faults_minor"},
                 {"tail_n", "tail_n"},
                 {"by heap", "by heap"},
                 {"--each", "iteration"},
                 {"missed", "iteration"},
                 {"scopes", "scope"},
                 {"marks", "mark"},
                 {"call sites", "call site"}};
    struct ab_explanation e;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(ab_explain_find(cases[i].given, &e));
        assert_true(is_same(e.word, strlen(e.word), cases[i].word));
    }
    assert_false(ab_explain_find("", &e));
    assert_false(ab_explain_find("p9", &e));
    assert_false(ab_explain_find("p999", &e));
}

static void the_nearest_spelling_is_offered(void **state)
{
    (void)state;
    char near[64];
    assert_string_equal(ab_explain_nearest("retianed", near, sizeof near), "retained");
    assert_string_equal(ab_explain_nearest("rss_paek", near, sizeof near), "rss_peak");
    assert_null(ab_explain_nearest("xyzzyxyzzy", near, sizeof near));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_number_of_a_result_is_explained),
        cmocka_unit_test(all_have_a_meaning_and_none_a_mark_of_a_form),
        cmocka_unit_test(no_spelling_is_there_twice),
        cmocka_unit_test(references_lead_somewhere),
        cmocka_unit_test(a_word_is_found_however_it_is_spelled),
        cmocka_unit_test(the_nearest_spelling_is_offered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
