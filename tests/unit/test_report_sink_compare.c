/* SPDX-License-Identifier: MIT
 *
 * A comparison as terminals of several widths show it, and as JSON.
 * tests: checks_json.c
 */
#include "document/checks_json.h"
#include "report/table/sink_checks.h"
#include "result/numbers.h"

#include "support/report_session.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct ab_effect none = {.ratio = NAN, .low = NAN, .high = NAN, .sd = NAN};

/* One cell of each kind. */
static void fill(struct ab_checked cells[9])
{
    struct ab_effect slow = {1.074, 1.059, 1.088, 0.01, 0.001, 1, 10, 10, AB_EFFECT_UNPAIRED};
    struct ab_effect wide = {1.03, 0.95, 1.11, 0.1, 0.3, 0.7, 10, 10, AB_EFFECT_UNPAIRED};
    struct ab_effect tail = {3.2, 2.8, 3.6, 0.1, 0.001, 1, 10, 10, AB_EFFECT_UNPAIRED};
    struct ab_effect step = {1.024, 0.99, 1.05, 0.01, 0.001, 1, 10, 10, AB_EFFECT_UNPAIRED};
    struct ab_effect same = {1, 1, 1, 0, 1, 1, 10, 10, AB_EFFECT_EXACT};
    struct ab_checked all[9] = {
        {"glibc", "glibc", NULL, NULL, "time", "ns", 7.7e6, 8.27e6, slow, 0.05, AB_VERDICT_FAIL,
         .n_confirm = 10, .confirm = 1.08},
        {"glibc", "glibc", "steady", NULL, "ns_per_op", "ns", 21.5, 23.1, slow, NAN,
         AB_VERDICT_PASS, .reason = ""},
        {"glibc", "glibc", "steady", "alloc", "p50", "ns", 42, 43, step, NAN, AB_VERDICT_PASS,
         .reason = "the difference is below two steps of the clock"},
        {"glibc", "glibc", "steady", "alloc", "p99.9", "ns", 1310, 4192, tail, NAN, AB_VERDICT_PASS,
         .reason = ""},
        {"glibc", "glibc", "steady", "free", "p99.9", "ns", NAN, 871, none, NAN, AB_VERDICT_PASS,
         .reason = ""},
        {"glibc", "glibc", NULL, NULL, "rss_peak_bytes", "bytes", 3 << 20, 3 << 20, same, NAN,
         AB_VERDICT_PASS, .reason = ""},
        {"slab:threads=sharded", "slab:threads=sharded", NULL, NULL, "time", "ns", 6.3e6, 6.5e6,
         wide, 0.05, AB_VERDICT_INCONCLUSIVE, .rounds_needed = 28},
        {"\x1b[31mmine", "\x1b[31mmine", NULL, NULL, "time", "ns", NAN, NAN, none, NAN,
         AB_VERDICT_NOT_EVALUATED, .reason = "in the new result it is crashed: SIGSEGV in free"},
        {"pool",
         "glibc",
         NULL,
         NULL,
         "time",
         "ns",
         7.7e6,
         2.1e6,
         {0.2727, 0.26, 0.28, 0.01, 1, 0.001, 10, 10, AB_EFFECT_PAIRED},
         0.05,
         AB_VERDICT_IMPROVED,
         .reason = ""},
    };
    memcpy(cells, all, sizeof all);
}

struct fixture {
    struct fake_session *base, *now;
    struct ab_checked cells[9];
    char notes[2][AB_COMPARE_NOTE_BYTES];
    struct ab_comparison c;
};

static int set_up(void **state)
{
    struct fixture *x = calloc(1, sizeof *x);
    x->base = fake_session_new();
    x->now = fake_session_of(8);
    fill(x->cells);
    strcpy(x->notes[0], "glibc, build id: 11aa, now 22bb");
    strcpy(x->notes[1], "transparent huge pages: madvise, now never (--thp)");
    x->c = (struct ab_comparison){
        .base = &x->base->s,
        .now = &x->now->s,
        .base_label = "baseline main",
        .now_label = "results/new.json",
        .cells = x->cells,
        .n_cells = 9,
        .notes = x->notes,
        .n_notes = 2,
        .is_advisory = true,
        .advisory = "another machine or system: kernel Linux 6.1, now Linux 6.12",
    };
    *state = x;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *x = *state;
    fake_session_free(x->base);
    fake_session_free(x->now);
    free(x);
    return 0;
}

struct look {
    const struct ab_comparison *c;
    struct ab_table_style style;
};

static void print(FILE *to, const struct ab_session *s, void *user)
{
    const struct look *look = user;
    (void)s;
    ab_sink_compare(to, look->c, look->style);
}

static void looks_as_it_should(void **state)
{
    struct fixture *x = *state;
    static const struct {
        const char *name;
        struct ab_table_style style;
    } looks[] = {
        {"screen-compare-60.txt", {.width = 60, .utf8 = true}},
        {"screen-compare-80.txt", {.width = 80, .utf8 = true}},
        {"screen-compare-pipe.txt", {.width = 80}},
    };
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        struct look look = {&x->c, looks[i].style};
        char *text = fake_capture(print, &x->now->s, &look);
        fake_assert_golden(looks[i].name, text);
        assert_null(strchr(text, 0x1b));
        free(text);
    }
}

static void a_long_table_leaves_out_what_does_not_differ(void **state)
{
    struct fixture *x = *state;
    struct ab_checked *many = calloc(40, sizeof *many);
    for (unsigned i = 0; i < 40; i++)
        many[i] = x->cells[i == 0 ? 0 : i == 1 ? 3 : 2]; /* judged, worse, nothing */
    x->c.cells = many;
    x->c.n_cells = 40;
    struct look look = {&x->c, {.width = 100, .utf8 = true}};
    char *text = fake_capture(print, &x->now->s, &look);
    assert_non_null(strstr(text, "-v lists 38 unchanged percentiles"));
    assert_null(strstr(text, "p50"));
    assert_non_null(strstr(text, "p99.9"));
    free(text);
    look.style.is_verbose = true;
    text = fake_capture(print, &x->now->s, &look);
    assert_non_null(strstr(text, "p50"));
    free(text);
    free(many);
}

static void write_json(FILE *to, const struct ab_session *s, void *user)
{
    (void)s;
    ab_comparisons_write(to, user, 1, 1);
}

static void json_has_all_and_null_for_what_is_not_known(void **state)
{
    struct fixture *x = *state;
    char *text = fake_capture(write_json, &x->now->s, &x->c);
    json_t *o = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    json_t *c = json_array_get(json_object_get(o, "comparisons"), 0);
    json_t *cells = json_object_get(c, "cells");
    assert_string_equal(json_string_value(json_object_get(o, "schema")), "allocbench-compare/1");
    assert_int_equal(json_array_size(cells), 9);
    json_t *first = json_array_get(cells, 0), *failed = json_array_get(cells, 7);
    assert_string_equal(json_string_value(json_object_get(first, "verdict")), "regressed");
    assert_true(json_real_value(json_object_get(first, "ratio")) == 1.074);
    assert_int_equal(json_integer_value(json_object_get(first, "confirm_rounds")), 10);
    assert_true(json_is_null(json_object_get(failed, "ratio")));
    assert_string_equal(json_string_value(json_object_get(failed, "verdict")), "failed");
    json_t *shown = json_array_get(cells, 3);
    assert_true(json_is_null(json_object_get(shown, "verdict")));
    assert_string_equal(json_string_value(json_object_get(shown, "direction")), "worse");
    assert_int_equal(json_array_size(json_object_get(c, "notes")), 2);
    json_decref(o);
    free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(looks_as_it_should),
        TEST(a_long_table_leaves_out_what_does_not_differ),
        TEST(json_has_all_and_null_for_what_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
