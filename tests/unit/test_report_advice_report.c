/* SPDX-License-Identifier: MIT
 *
 * The page of an advice: its numbers are those of the document, hostile names stay text, what is
 * not known is n/a.
 */
#include "report/html/advice/advice_report.h"
#include "result/hdr.h"

#include "support/cmocka.h"

#include <stdlib.h>
#include <string.h>

static const char hostile[] = "</pre></title></svg><script>alert('&\"')</script>\x1b[2J";
static const char hostile_text[] =
    "&lt;/pre&gt;&lt;/title&gt;&lt;/svg&gt;&lt;script&gt;alert(&#39;&amp;&quot;&#39;)"
    "&lt;/script&gt;\\x1b[2J";

static char *page_of(const struct ab_advice_report *r)
{
    char *text = NULL;
    size_t n;
    FILE *to = open_memstream(&text, &n);
    assert_true(ab_advice_report_write(to, r));
    fclose(to);
    assert_int_equal(strlen(text), n);
    return text;
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    for (; (text = strstr(text, what)) != NULL; text++)
        n++;
    return n;
}

static void expect(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("no \"%s\" in\n%s", part, text);
}

static json_t *row_of(const char *name, double time, double low, double high)
{
    return json_pack("{s:s, s:n, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "name", name, "reason",
                     "time_ns", time, "base_time_ns", 3000.0, "memory_bytes", 2048.0,
                     "base_memory_bytes", 4096.0, "speed", 3000.0 / time, "speed_low", low,
                     "speed_high", high);
}

static json_t *group_of(const char *function, int line, const char *heap)
{
    json_t *g = json_pack("{s:s, s:s, s:i, s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:b, s:[]}",
                          "function", function, "file", "game.c", "line", line, "rule", "site:x",
                          "kind", "frame", "why", "too few calls", "calls", 50, "size_least", 16,
                          "size_most", 32, "live_most_bytes", 64, "never_freed", 1, "nearly_scoped",
                          0, "survivors");
    json_object_set_new(g, "heap", heap != NULL ? json_string(heap) : json_null());
    return g;
}

static json_t *heap_of(const char *name, bool is_advised, json_t *alone)
{
    json_t *h = json_pack("{s:s, s:s, s:s, s:b, s:b, s:i, s:o}", "name", name, "what",
                          "dies in its scope", "proposal", "arena, 128 KiB", "advised", is_advised,
                          "by_memory", 0, "calls", 50, "alone", alone);
    json_object_set_new(h, "refusal", is_advised ? json_null() : json_string("no clear gain"));
    return h;
}

/* 10 scopes; heap A is advised, B is not. */
static json_t *document_of(void)
{
    return json_pack(
        "{s:s, s:s, s:s, s:i, s:i, s:{s:i, s:s}, s:s, s:n, s:n, s:i, s:f, s:s, s:i, s:o, s:[o, o], "
        "s:o, s:[o], s:[o, o, o]}",
        "trace", "game.abt", "answer_text", "3.00x as fast by 1 heap.", "program", "game", "calls",
        150, "threads", 1, "scopes", "n", 10, "from", "found", "by", "site", "budget", "budget_ns",
        "rounds", 6, "limit", 0.05, "unit", "scope", "units", 10, "base",
        row_of("glibc", 3000, 1, 1), "heaps", heap_of("A", true, row_of("@map", 1000, 2.5, 3.5)),
        heap_of("B", false, row_of("@map2", 2900, 0.9, 1.1)), "together",
        row_of("@map", 1000, 2.5, 3.5), "generals", row_of("jemalloc", 1500, 1.9, 2.1), "groups",
        group_of("draw", 88, "A"), group_of("spawn", 120, "B"), group_of("load", 140, NULL));
}

static void numbers_are_those_of_the_document(void **state)
{
    (void)state;
    json_t *d = document_of();
    const struct ab_advice_report r = {d, "*=glibc\n", "int x;\n", NULL};
    char *text = page_of(&r);
    expect(text, "Advice: 3.00x as fast by 1 heap.");
    expect(text, "<td class=\"n\">300 ns</td><td class=\"n\">100 ns</td>"
                 "<td class=\"n\">3.00x [2.50, 3.50]</td>"
                 "<td class=\"n\">4.00 KiB</td><td class=\"n\">2.00 KiB</td>");
    expect(text, "<td>arena, 128 KiB</td>");
    expect(text, "malloc (keep)<br><span class=\"few\">arena, 128 KiB: no clear gain</span>");
    expect(text, "game.c:88 draw");
    expect(text, "<td>A: frame</td>");
    expect(text, "<td>B: arena, 128 KiB: no clear gain</td>");
    expect(text, "<td>too few calls</td>");
    expect(text, "*=glibc\n</pre>");
    expect(text, "int x;\n</pre>");
    assert_null(strstr(text, "id=\"budget\""));
    assert_null(strstr(text, "id=\"flame\""));
    assert_null(strstr(text, "id=\"survivors\""));
    assert_int_equal(count(text, "<figure"), 2); /* time, memory */
    free(text);
    json_decref(d);
}

static void survivors_are_named_with_file_and_line(void **state)
{
    (void)state;
    json_t *d = document_of(), *g = json_array_get(json_object_get(d, "groups"), 2);
    json_object_set_new(g, "nearly_scoped", json_true());
    json_object_set_new(g, "n_survivors", json_integer(2));
    json_object_set_new(g, "survivors",
                        json_pack("[{s:i, s:i, s:i}, {s:i, s:i, s:n}]", "bytes", 96, "born", 41,
                                  "died", 43, "bytes", 96, "born", 204, "died"));
    const struct ab_advice_report r = {d, "", NULL, NULL};
    char *text = page_of(&r);
    expect(text, "<code>game.c:140 load</code></th><td class=\"n\">96 B</td>"
                 "<td class=\"n\">41</td><td class=\"n\">43</td><td class=\"n\">2 of 50</td>"
                 "<td>malloc</td>");
    expect(text, "<td class=\"n\">204</td><td class=\"n\">never</td>");
    expect(text, "Code: none");
    free(text);
    json_decref(d);
}

/* Ten scopes take 1 to 10 us; the budget is a line. */
static void a_budget_has_a_curve_and_its_line(void **state)
{
    (void)state;
    json_t *d = document_of();
    struct ab_hdr *hdr = ab_hdr_new();
    char *encoded = NULL;
    struct ab_err err;
    for (unsigned i = 1; i <= 10; i++)
        ab_hdr_record(hdr, i * 1000);
    assert_int_equal(ab_hdr_encode(hdr, &encoded, &err), AB_OK);
    json_object_set_new(d, "budget_ns", json_integer(8000));
    json_object_set_new(d, "budget",
                        json_pack("{s:{s:f, s:i, s:i, s:i, s:s, s:i, s:n}, s:{s:n, s:s}}", "before",
                                  "worst_ns", 10000.0, "n", 10, "n_over_budget", 2, "n_scheduler",
                                  1, "hdr_v2", encoded, "overflow", 0, "reason", "after", "hdr_v2",
                                  "reason", "it crashed"));
    const struct ab_advice_report r = {d, "", NULL, NULL};
    char *text = page_of(&r);
    expect(text, "2 of 10 (20 %)");
    expect(text, "10.0 us");
    expect(text, "<td colspan=\"3\">n/a: it crashed</td>");
    expect(text, ">budget 8 µs<");
    assert_int_equal(count(text, "<figure"), 3);
    free(text);
    free(encoded);
    free(hdr);
    json_decref(d);
}

static void what_is_not_known_is_said(void **state)
{
    (void)state;
    json_t *d = document_of(), *row = json_object_get(d, "together");
    json_object_set_new(row, "speed_low", json_null());
    json_object_set_new(row, "speed_high", json_null());
    row = json_array_get(json_object_get(d, "generals"), 0);
    json_object_set_new(row, "time_ns", json_null());
    json_object_set_new(row, "reason", json_string("it timed out"));
    json_object_set_new(row, "memory_bytes", json_null());
    const struct ab_advice_report r = {d, "", NULL, NULL};
    char *text = page_of(&r);
    expect(text, "3.00x (too few rounds)");
    expect(text, "<td colspan=\"5\">not measured: it timed out</td>");
    free(text);
    json_decref(d);
}

static void hostile_names_stay_text(void **state)
{
    (void)state;
    json_t *d = document_of();
    static const char *const keys[] = {"trace", "program", "answer_text"};
    for (unsigned i = 0; i < 3; i++)
        json_object_set_new(d, keys[i], json_string(hostile));
    json_object_set_new(json_array_get(json_object_get(d, "groups"), 0), "function",
                        json_string(hostile));
    json_object_set_new(json_array_get(json_object_get(d, "groups"), 2), "why",
                        json_string(hostile));
    json_object_set_new(json_array_get(json_object_get(d, "generals"), 0), "name",
                        json_string(hostile));
    const char *const stack[] = {hostile};
    struct ab_stacks stacks = {.by_calls = ab_flame_open()};
    assert_true(ab_flame_add_kind(stacks.by_calls, stack, 1, 3, 1));
    const struct ab_advice_report r = {d, hostile, hostile, &stacks};
    char *text = page_of(&r);
    assert_true(count(text, hostile_text) >= 9);
    assert_int_equal(count(text, "<script>"), 1);
    assert_null(strchr(text, 0x1b));
    expect(text, "fill=\"#56b4e9\""); /* heap A */
    free(text);
    ab_stacks_fini(&stacks);
    json_decref(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_those_of_the_document),
        cmocka_unit_test(survivors_are_named_with_file_and_line),
        cmocka_unit_test(a_budget_has_a_curve_and_its_line),
        cmocka_unit_test(what_is_not_known_is_said),
        cmocka_unit_test(hostile_names_stay_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
