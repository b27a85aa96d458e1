/* SPDX-License-Identifier: MIT
 *
 * Rows of values of params: what is one back end, what is compared with what, and their table.
 * tests: by_value.c page_by_value.c
 */
#include "answer/topics.h"
#include "answer/warnings.h"
#include "report/html/report_pages.h"
#include "result/numbers.h"
#include "result/session.h"

#include "support/cmocka.h"
#include "support/report_session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct ab_combination combinations[2] = {{.values = "n=10", .n_ops = 5},
                                                {.values = "n=200", .n_ops = 50}};

/* glibc and jemalloc with n=10; what was arena and pool are the same with n=200. */
static struct fake_session *make(void)
{
    static const char *const names[] = {"glibc", "jemalloc", "glibc", "jemalloc"};
    struct fake_session *f = fake_session_new();
    fake_session_keep(f, 4);
    f->s.n_backends = 4;
    f->s.combinations = combinations;
    f->s.n_combinations = 2;
    for (uint32_t i = 0; i < 4; i++) {
        struct ab_backend_info *b = &f->backends[i];
        memset(b->name, 0, sizeof b->name);
        strcpy(b->name, names[i]);
        b->status = AB_BACKEND_OK;
        b->combination = i / 2;
        ab_backend_set_values(b, combinations[i / 2].values);
    }
    return f;
}

static void release(struct fake_session *f)
{
    f->s.combinations = NULL;
    f->s.n_combinations = 0;
    fake_session_free(f);
}

static void a_row_has_its_own_name_and_that_of_its_values(void **state)
{
    struct fake_session *f = make();
    (void)state;
    assert_string_equal(f->backends[3].name, "jemalloc n=200");
    assert_string_equal(AB_OWN_NAME(&f->backends[3]), "jemalloc");
    assert_true(ab_backend_is_named(&f->backends[3], "jemalloc"));
    assert_false(ab_backend_is_named(&f->backends[3], "jemalloc n=200"));
    assert_int_equal(ab_session_row(&f->s, 1, 2), 3);
    assert_int_equal(ab_session_row(&f->s, 3, 0), 1);
    release(f);
}

static void the_base_and_the_harness_are_of_the_same_values(void **state)
{
    struct fake_session *f = make();
    (void)state;
    assert_int_equal(ab_session_base_of(&f->s, 1), 0);
    assert_int_equal(ab_session_base_of(&f->s, 3), 2);
    assert_int_not_equal(ab_session_harness(&f->s, 0), ab_session_harness(&f->s, 2));
    f->backends[2].status = AB_BACKEND_CRASHED;
    assert_int_equal(ab_session_base_of(&f->s, 3), 3); /* never that of other values */
    release(f);
}

static void a_column_has_the_numbers_of_its_value(void **state)
{
    struct fake_session *f = make();
    struct ab_by_value_of run = {AB_BY_VALUE_PHASE, 0};
    struct ab_view v;
    struct ab_grid g;
    (void)state;
    ab_view_make(&f->s, &v);
    assert_int_equal(ab_view_by_value(&v)->n_names, 2);
    assert_int_equal(ab_view_by_value(&v)->n_values, 2);
    assert_true(ab_view_by_value(&v)->is_number);
    assert_true(ab_view_by_value(&v)->x[1] == 200);
    for (uint32_t row = 0; row < 4; row++)
        assert_true(ab_view_by_value_at(&v, row % 2, row / 2, run) ==
                    ab_view_phases_at(ab_view_phases(&v), row, 0)->ns_per_op.median);
    assert_true(ab_by_value_phase_grid(&(struct ab_topic_at){.view = &v}, &g));
    assert_int_equal(g.n_columns, 2);
    assert_string_equal(g.columns[1].title, "200");
    assert_string_equal(g.rows[0].label, "n");
    assert_string_equal(g.rows[2].label, "jemalloc");
    assert_non_null(strstr(g.title, "by n"));
    ab_grid_fini(&g);
    ab_view_fini(&v);
    release(f);
}

/* More combinations than a screen or a page has rows for. */
static void markdown_has_a_row_for_each_combination(void **state)
{
    enum { N = 40 };
    static char values[N][8];
    static struct ab_combination many[N];
    struct fake_session *f = make();
    struct ab_view v;
    (void)state;
    for (unsigned i = 0; i < N; i++) {
        snprintf(values[i], sizeof values[i], "n=%u", i);
        many[i] = (struct ab_combination){.n_ops = 5};
        snprintf(many[i].values, sizeof many[i].values, "%s", values[i]);
    }
    f->s.combinations = many;
    f->s.n_combinations = N;
    ab_view_make(&f->s, &v);
    for (unsigned surface = 0; surface < AB_SURFACE_COUNT; surface++) {
        struct ab_grid g;
        assert_true(ab_by_value_phase_grid(
            &(struct ab_topic_at){.view = &v, .surface = surface, .phase = f->s.phases[0]}, &g));
        assert_int_equal(g.n_rows, 1 + (surface == AB_MARKDOWN ? N : 30));
        if (surface == AB_MARKDOWN)
            assert_null(g.note);
        else
            assert_string_equal(g.note, "(not shown: 10 combinations, 0 back ends; --csv, "
                                        "--markdown)");
        ab_grid_fini(&g);
    }
    ab_view_fini(&v);
    release(f);
}

/* More phases than a page has pictures for. */
static void markdown_has_a_table_for_each_phase(void **state)
{
    static const char *phases[] = {"steady", "fill",   "steady", "fill",   "steady",
                                   "fill",   "steady", "fill",   "steady", "fill"};
    enum { N = sizeof phases / sizeof phases[0] };
    struct fake_session *f = make();
    struct ab_view v;
    (void)state;
    phases[0] = phases[2] = phases[4] = phases[6] = phases[8] = f->s.phases[0];
    phases[1] = phases[3] = phases[5] = phases[7] = phases[9] = f->s.phases[1];
    f->s.phases = phases;
    f->s.n_phases = N;
    ab_view_make(&f->s, &v);
    for (unsigned surface = AB_PAGE; surface <= AB_MARKDOWN; surface++)
        for (uint32_t i = 0; i < N; i++) {
            struct ab_topic_at at = {
                .view = &v, .surface = surface, .phase = phases[i], .phase_index = i};
            struct ab_grid g = {0};
            assert_int_equal(ab_by_value_phase_grid(&at, &g),
                             surface == AB_MARKDOWN || i < AB_PAGE_PHASES);
            assert_int_equal(g.closing.n, surface == AB_PAGE && i == AB_PAGE_PHASES - 1);
            if (g.closing.n > 0)
                assert_string_equal(g.closing.items[0],
                                    "(not shown: 2 other phases; --csv, --markdown)");
            ab_grid_fini(&g);
        }
    ab_view_fini(&v);
    release(f);
}

static void the_ranking_goes_by_combination(void **state)
{
    struct fake_session *f = make();
    struct ab_view v;
    (void)state;
    ab_view_make(&f->s, &v);
    assert_int_equal(v.ranking.n_ranked, 4);
    for (uint32_t i = 0; i < 4; i++) {
        const struct ab_view_rank *rank = &v.ranking.rows[i];
        assert_int_equal(rank->combination, i / 2);
        assert_int_equal(rank->is_base, strncmp(rank->name, "glibc", 5) == 0);
    }
    ab_view_fini(&v);
    release(f);
}

static void a_session_without_lists_has_no_such_table(void **state)
{
    struct fake_session *f = fake_session_new();
    struct ab_view v;
    struct ab_grid g;
    (void)state;
    ab_view_make(&f->s, &v);
    assert_int_equal(ab_view_by_value(&v)->n_values, 0);
    assert_false(ab_by_value_phase_grid(&(struct ab_topic_at){.view = &v}, &g));
    ab_grid_fini(&g);
    ab_view_fini(&v);
    fake_session_free(f);
}

static void too_little_work_is_of_one_combination(void **state)
{
    struct fake_session *f = make();
    struct ab_view_texts texts = {0};
    struct ab_view_warnings w;
    (void)state;
    for (uint32_t i = 0; i < f->s.n_results; i++)
        f->results[i].n_ops = f->results[i].backend < 2 ? 1000000 : 10;
    ab_view_warnings_make(&f->s, &texts, &w);
    const struct ab_view_warning *little = ab_view_warnings_find(&w, "little-work");
    assert_non_null(little);
    assert_memory_equal(little->text, "n=200: too little work: ", 24);
    ab_view_warnings_fini(&w);
    ab_view_texts_fini(&texts);
    release(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_has_its_own_name_and_that_of_its_values),
        cmocka_unit_test(the_base_and_the_harness_are_of_the_same_values),
        cmocka_unit_test(a_column_has_the_numbers_of_its_value),
        cmocka_unit_test(markdown_has_a_row_for_each_combination),
        cmocka_unit_test(markdown_has_a_table_for_each_phase),
        cmocka_unit_test(the_ranking_goes_by_combination),
        cmocka_unit_test(too_little_work_is_of_one_combination),
        cmocka_unit_test(a_session_without_lists_has_no_such_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
