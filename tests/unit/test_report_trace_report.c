/* SPDX-License-Identifier: MIT
 *
 * The page of a trace: hostile names stay text, its size is bounded, what is not there is said.
 * tests: page_trace.c
 */
#include "report/html/page_trace.h"

#include "support/cmocka.h"

#include <stdlib.h>
#include <string.h>

static const char hostile[] = "</title></svg><script>alert('&\"')</script>\x1b[2J\xff";
static const char hostile_text[] =
    "&lt;/title&gt;&lt;/svg&gt;&lt;script&gt;alert(&#39;&amp;&quot;&#39;)"
    "&lt;/script&gt;\\x1b[2J\\xff";

static char *page_of(const struct ab_trace_report *r, size_t *n)
{
    char *text = NULL;
    FILE *to = open_memstream(&text, n);
    ab_trace_report_write(to, r);
    fclose(to);
    assert_int_equal(strlen(text), *n);
    return text;
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    for (; (text = strstr(text, what)) != NULL; text++)
        n++;
    return n;
}

static struct ab_flame *flame_of(const char *name, uint64_t value)
{
    const char *const stack[] = {"main", name};
    struct ab_flame *f = ab_flame_open();
    ab_flame_add(f, stack, 2, value);
    return f;
}

static void hostile_names_stay_text(void **state)
{
    struct ab_overview overview = {.n_calls = 4, .step_calls = 1, .n_steps = 1};
    struct ab_trace_report_fact facts[2] = {{"program", ""}, {"left out", ""}};
    struct ab_trace_report_site site = {.calls = 2, .bytes = 2048, .median_life = 7};
    struct ab_stacks stacks = {.by_calls = flame_of(hostile, 3)};
    struct ab_trace_report r = {.title = hostile,
                                .about = hostile,
                                .facts = facts,
                                .n_facts = 2,
                                .overview = &overview,
                                .sites = &site,
                                .n_sites = 1,
                                .stacks = &stacks,
                                .scope_facts = facts,
                                .n_scope_facts = 2};
    size_t n;
    (void)state;
    overview.blocks[4][2] = 1;
    snprintf(facts[0].text, sizeof facts[0].text, "%s", hostile);
    snprintf(site.frames[0], sizeof site.frames[0], "%s", hostile);
    snprintf(site.frames[1], sizeof site.frames[1], "%s", hostile);
    char *text = page_of(&r, &n);
    assert_true(count(text, hostile_text) >= 7); /* title twice, about, facts twice, frames twice */
    assert_int_equal(count(text, "<script>"), 1);
    assert_int_equal(count(text, "</script>"), 1);
    assert_null(strchr(text, 0x1b));
    assert_null(strchr(text, 0xff));
    assert_null(strstr(text, "left out"));
    assert_non_null(strstr(text, "<td class=\"n\" data-v=\"2048\">2.00 KiB</td>"));
    assert_non_null(strstr(text, "<td class=\"n\" data-v=\"7\">≤ 7</td>"));
    assert_non_null(strstr(text, ": 3 calls, 100 %</title>"));
    assert_int_equal(count(text, "<figure"), 3); /* live memory, sizes, calls */
    assert_int_equal(count(text, "<figure"), count(text, "</figure>"));
    free(text);
    ab_stacks_fini(&stacks);
}

/* A million call sites, 3300 boxes that could be seen: fewer are drawn, and their sum is the box below
 * them. */
static void many_sites_make_a_small_page(void **state)
{
    enum { MANY = 1000000 };
    struct ab_stacks stacks = {.by_bytes = ab_flame_open()};
    char name[80], *text = NULL;
    const char *const stack[] = {"main", name, "<&>"};
    size_t n;
    (void)state;
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "function_%u<&>&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&", i);
        ab_flame_add(stacks.by_bytes, stack, i % 2 == 0 ? 2 : 3,
                     1 + (i < 1000   ? 3500
                          : i < 2200 ? 2200
                                     : 0));
    }
    struct ab_html h = {.to = open_memstream(&text, &n)};
    ab_flame_figures(&h, &stacks, "glibc");
    fclose(h.to);
    assert_int_equal(count(text, "<figure"), 1);
    assert_in_range(count(text, "<rect"), 1500, AB_FLAME_BOXES);
    assert_in_range(n, 100000, 3000000);
    assert_non_null(
        strstr(text, "<title>main: 6.81 MiB, 100 %</title>")); /* 1e6 + 3.5e6 + 2.64e6 */
    free(text);
    ab_stacks_fini(&stacks);
}

static void what_is_not_there_is_said(void **state)
{
    struct ab_overview overview = {0};
    struct ab_stacks stacks = {0};
    struct ab_trace_report r = {.title = "empty.abt",
                                .overview = &overview,
                                .why_no_sites = "n/a: no call sites",
                                .stacks = &stacks};
    size_t n;
    (void)state;
    char *text = page_of(&r, &n);
    assert_non_null(strstr(text, "<p>n/a: no call sites</p>"));
    assert_null(strstr(text, "<section id=\"flame\">"));
    assert_null(strstr(text, "<a href=\"#flame\">"));
    assert_int_equal(count(text, "<figure"), 0);
    free(text);
}

/* Ten scopes, two a step: the highest and the least of both. */
static void scopes_are_drawn_step_by_step(void **state)
{
    struct ab_overview overview = {0};
    struct ab_stacks stacks = {0};
    struct ab_trace_report_step steps[5] = {
        {1, 4, 100, 512}, {2, 2, 200, 200}, {0, 0, 0, 0}, {3, 3, 300, 300}, {1, 1, 100, 100}};
    struct ab_trace_report r = {.title = "t",
                                .overview = &overview,
                                .why_no_sites = "n/a",
                                .stacks = &stacks,
                                .n_scopes = 10,
                                .steps = steps,
                                .n_steps = 5,
                                .step_scopes = 2};
    size_t n;
    (void)state;
    char *text = page_of(&r, &n);
    assert_int_equal(count(text, "<figure"), 2);
    assert_non_null(strstr(text, "data-x=\"linear count 0 10 68 494\""));
    assert_non_null(strstr(text, "data-y=\"linear count 0 4 "));
    assert_non_null(strstr(text, "data-y=\"linear bytes 0 512 "));
    /* 10 scopes are 426 px: the first step is at 1, the highest in it is the top at 24. */
    assert_non_null(strstr(text, "d=\"M110.6 24"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_names_stay_text),
        cmocka_unit_test(many_sites_make_a_small_page),
        cmocka_unit_test(what_is_not_there_is_said),
        cmocka_unit_test(scopes_are_drawn_step_by_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
