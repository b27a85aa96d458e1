/* SPDX-License-Identifier: MIT
 *
 * The list of gates and the table of claims, as terminals of several widths show them.
 */
#include "report/table/sink_checks.h"
#include "result/numbers.h"

#include "base/bits.h"
#include "result/shown.h"
#include "support/report_session.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct ab_checked gates[] = {
    {.text = "steady/alloc/p99 < 2us",
     .place = "web.yaml:31:5",
     .backend = "glibc",
     .verdict = AB_VERDICT_PASS,
     .effect.ratio = 126,
     .bound = 2000,
     .unit = "ns",
     .status = AB_OK,
     .reason = "",
     .effect.low = NAN,
     .effect.high = NAN},
    {.text = "steady/alloc/p99 < 2us",
     .place = "web.yaml:31:5",
     .backend = "scudo",
     .verdict = AB_VERDICT_SKIPPED,
     .effect.ratio = NAN,
     .bound = 2000,
     .unit = "ns",
     .status = AB_OK,
     .reason = "scudo is absent: not installed",
     .effect.low = NAN,
     .effect.high = NAN},
    {.text = "arena:steady/memory/rss_peak < 1.5x live",
     .place = "web.yaml:32:5",
     .backend = "arena",
     .verdict = AB_VERDICT_FAIL,
     .effect.ratio = 3.04,
     .bound = 1.5,
     .against = AB_AGAINST_LIVE,
     .status = AB_GATE,
     .reason = "",
     .effect.low = NAN,
     .effect.high = NAN},
    {.text = "jemalloc:steady/all/ns_per_op < 0.01x glibc",
     .place = "web.yaml:33:5",
     .backend = "jemalloc",
     .verdict = AB_VERDICT_PASS,
     .effect.ratio = 0.00709,
     .bound = 0.01,
     .base_backend = "glibc",
     .against = AB_AGAINST_BACKEND,
     .status = AB_OK,
     .reason = "the difference is below the floor",
     .effect.low = NAN,
     .effect.high = NAN},
    {.text = "pool:steady/all/ops_per_s > 20M",
     .place = "--gate",
     .backend = "pool",
     .verdict = AB_VERDICT_NOT_EVALUATED,
     .effect.ratio = NAN,
     .bound = 2e7,
     .unit = "1/s",
     .status = AB_GATE,
     .reason = "pool is partial: cannot resize",
     .effect.low = NAN,
     .effect.high = NAN},
    {.text = "mimalloc:steady/all/ops_per_s > 20M",
     .place = "--gate",
     .backend = NULL,
     .verdict = AB_VERDICT_NOT_EVALUATED,
     .effect.ratio = NAN,
     .bound = 2e7,
     .unit = "1/s",
     .status = AB_GATE,
     .reason = "this run has no mimalloc",
     .effect.low = NAN,
     .effect.high = NAN},
    {.text = "steady/memory/overhead_peak < 1.25",
     .place = "--gate",
     .backend = "glibc",
     .verdict = AB_VERDICT_PASS,
     .effect.ratio = 1.125,
     .bound = 1.25,
     .against = AB_AGAINST_LIVE,
     .status = AB_OK,
     .reason = "",
     .effect.low = NAN,
     .effect.high = NAN},
    {.text = "steady/memory/rss_peak < 64MiB",
     .place = "--gate",
     .backend = "glibc",
     .verdict = AB_VERDICT_FAIL,
     .effect.ratio = 0x1p27,
     .bound = 0x1p26,
     .unit = "bytes",
     .status = AB_GATE,
     .reason = "",
     .effect.low = NAN,
     .effect.high = NAN},
    {.text = "steady/alloc/p99 < +10%",
     .place = "web.yaml:34:5",
     .backend = "glibc",
     .verdict = AB_VERDICT_INCONCLUSIVE,
     .effect.ratio = 1.08,
     .bound = 1.1,
     .against = AB_AGAINST_BASELINE,
     .status = AB_INCONCLUSIVE,
     .reason = "",
     .effect.low = 0.97,
     .effect.high = 1.2,
     .rounds_needed = 24},
    {.text = "steady/free/p99 < +10%",
     .place = "web.yaml:35:5",
     .backend = "glibc",
     .verdict = AB_VERDICT_FAIL,
     .effect.ratio = 1.31,
     .bound = 1.1,
     .against = AB_AGAINST_BASELINE,
     .status = AB_OK,
     .reason = "",
     .effect.low = 1.27,
     .effect.high = 1.36,
     .is_warning = true},
    {.text = "arena:steady/free/p50 < +10%",
     .place = "web.yaml:36:5",
     .backend = "arena",
     .verdict = AB_VERDICT_FAIL,
     .effect.ratio = 1.21,
     .bound = 1.1,
     .against = AB_AGAINST_BASELINE,
     .status = AB_GATE,
     .reason = "",
     .effect.low = 1.2,
     .effect.high = 1.22,
     .n_confirm = 8,
     .confirm = 1.2},
};

static struct ab_checked claims[] = {
    {.text = "arena:steady/all/ns_per_op = 0.0958x glibc",
     .place = "web.yaml:40:5",
     .says = "10.44x faster",
     .source = "Memory Magic, part 2",
     .phase = "steady",
     .op = "all",
     .metric = "ns_per_op",
     .backend = "arena",
     .base_backend = "glibc",
     .bound = 0.0958,
     .effect = {.ratio = 0.1628, .low = NAN, .high = NAN, .n_new = 3},
     .low = 0.16,
     .high = 0.165,
     .relative = {.ratio = 0.0612, .low = NAN, .high = NAN}},
    {.text = "arena:drain/all/ns_per_op = 0.00000279x glibc",
     .place = "web.yaml:41:5",
     .says = "",
     .source = "Memory Magic, part 2",
     .phase = "drain",
     .op = "all",
     .metric = "ns_per_op",
     .backend = "arena",
     .base_backend = "glibc",
     .bound = 0.00000279,
     .effect = {.ratio = NAN, .low = NAN, .high = NAN},
     .low = NAN,
     .high = NAN,
     .relative = {.ratio = NAN, .low = NAN, .high = NAN},
     .reason = "arena not in this run"},
    {.text = "jemalloc:steady/all/ops_per_s = 2x glibc",
     .place = "web.yaml:42:5",
     .says = "twice",
     .source = "a talk",
     .phase = "steady",
     .op = "all",
     .metric = "ops_per_s",
     .backend = "jemalloc",
     .base_backend = "glibc",
     .is_higher_better = true,
     .bound = 2,
     .effect = {.ratio = 1.41, .low = 1.38, .high = 1.44, .n_new = 8},
     .low = 1.2,
     .high = 1.5,
     .relative = {.ratio = NAN, .low = NAN, .high = NAN}},
};

static void write_lists(FILE *to, const struct ab_session *s, void *style)
{
    ab_sink_gates(to, s, *(struct ab_table_style *)style);
    ab_sink_claims(to, s, *(struct ab_table_style *)style);
}

static char *lists(struct fake_session *f, unsigned width, bool color, bool utf8)
{
    struct ab_table_style style = {.width = width, .color = color, .utf8 = utf8};
    f->s.gates = gates;
    f->s.n_gates = AB_ARRAY_LEN(gates);
    f->s.claims = claims;
    f->s.n_claims = AB_ARRAY_LEN(claims);
    return fake_capture(write_lists, &f->s, &style);
}

static void assert_fits(const char *text, unsigned width)
{
    struct ab_format_guard guard;
    ab_format_begin(&guard);
    char *copy = strdup(text), *rest = NULL;
    for (char *line = strtok_r(copy, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        assert_true(ab_format_width(line) <= width);
        assert_true(line[strlen(line) - 1] != ' ');
    }
    ab_format_end(&guard);
    free(copy);
}

static void look_as_they_should(void **state)
{
    static const struct {
        unsigned width;
        bool utf8;
        const char *golden;
    } cases[] = {
        {60, true, "screen-gates-60.txt"},
        {80, true, "screen-gates-80.txt"},
        {80, false, "screen-gates-pipe.txt"},
    };
    (void)state;
    struct fake_session *f = fake_session_new();
    for (size_t i = 0; i < AB_ARRAY_LEN(cases); i++) {
        char *text = lists(f, cases[i].width, false, cases[i].utf8);
        assert_fits(text, cases[i].width);
        for (const char *s = text; *s != 0 && !cases[i].utf8; s++)
            assert_true((unsigned char)*s < 0x80);
        fake_assert_golden(cases[i].golden, text);
        free(text);
    }
    fake_session_free(f);
}

static void what_is_bad_stands_out_by_more_than_its_colour(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    char *plain = lists(f, 120, false, true), *colored = lists(f, 120, true, true);
    assert_null(strchr(plain, '\033'));
    assert_non_null(strstr(colored, "\033[1m  steady/memory/rss_peak"));
    assert_non_null(strstr(plain, "< 1.5x live         FAILED"));
    assert_null(strstr(colored, "\033[1m  steady/memory/overhead_peak"));
    free(plain);
    free(colored);
    fake_session_free(f);
}

static void a_session_without_them_shows_nothing(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    struct ab_table_style style = {.width = 80};
    char *text = fake_capture(write_lists, &f->s, &style);
    assert_string_equal(text, "");
    free(text);
    fake_session_free(f);
}

static void a_hostile_place_cannot_move_the_cursor(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    const char *before = gates[2].place;
    gates[2].place = "\033[2Jx.yaml:1:1";
    char *text = lists(f, 120, false, true);
    gates[2].place = before;
    assert_null(strchr(text, '\033'));
    free(text);
    fake_session_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(look_as_they_should),
        cmocka_unit_test(what_is_bad_stands_out_by_more_than_its_colour),
        cmocka_unit_test(a_session_without_them_shows_nothing),
        cmocka_unit_test(a_hostile_place_cannot_move_the_cursor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
