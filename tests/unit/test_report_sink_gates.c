/* SPDX-License-Identifier: MIT
 *
 * The list of gates and the table of claims, as terminals of several widths show them.
 */
#include "report/table/sink_claims.h"
#include "report/table/sink_gates.h"

#include "base/bits.h"
#include "report/format.h"
#include "support/report_session.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct ab_gate_result gates[] = {
    {"steady/alloc/p99 < 2us", "web.yaml:31:5", FAKE_GLIBC, AB_GATE_PASS, 126, 2000, "ns", AB_OK,
     "", .low = NAN, .high = NAN},
    {"steady/alloc/p99 < 2us", "web.yaml:31:5", FAKE_SCUDO, AB_GATE_SKIPPED, NAN, 2000, "ns", AB_OK,
     "scudo is absent: not installed", .low = NAN, .high = NAN},
    {"arena:steady/memory/rss_peak < 1.5x live", "web.yaml:32:5", FAKE_ARENA, AB_GATE_FAIL, 3.04,
     1.5, "x live", AB_GATE, "", .low = NAN, .high = NAN},
    {"jemalloc:steady/all/ns_per_op < 0.01x glibc", "web.yaml:33:5", FAKE_JEMALLOC, AB_GATE_PASS,
     0.00709, 0.01, "x glibc", AB_OK, "the difference is below the floor", .low = NAN, .high = NAN},
    {"pool:steady/all/ops_per_s > 20M", "--gate", FAKE_POOL, AB_GATE_NOT_EVALUATED, NAN, 2e7, "1/s",
     AB_GATE, "pool is partial: cannot resize", .low = NAN, .high = NAN},
    {"mimalloc:steady/all/ops_per_s > 20M", "--gate", UINT32_MAX, AB_GATE_NOT_EVALUATED, NAN, 2e7,
     "1/s", AB_GATE, "this run has no mimalloc", .low = NAN, .high = NAN},
    {"steady/memory/overhead_peak < 1.25", "--gate", FAKE_GLIBC, AB_GATE_PASS, 1.125, 1.25,
     "x live", AB_OK, "", .low = NAN, .high = NAN},
    {"steady/memory/rss_peak < 64MiB", "--gate", FAKE_GLIBC, AB_GATE_FAIL, 0x1p27, 0x1p26, "bytes",
     AB_GATE, "", .low = NAN, .high = NAN},
    {"steady/alloc/p99 < +10%", "web.yaml:34:5", FAKE_GLIBC, AB_GATE_INCONCLUSIVE, 1.08, 1.1,
     "x baseline", AB_INCONCLUSIVE, "", .low = 0.97, .high = 1.2, .rounds_needed = 24},
    {"steady/free/p99 < +10%", "web.yaml:35:5", FAKE_GLIBC, AB_GATE_FAIL, 1.31, 1.1, "x baseline",
     AB_OK, "", .low = 1.27, .high = 1.36, .is_warning = true},
    {"arena:steady/free/p50 < +10%", "web.yaml:36:5", FAKE_ARENA, AB_GATE_FAIL, 1.21, 1.1,
     "x baseline", AB_GATE, "", .low = 1.2, .high = 1.22, .n_confirm = 8, .confirm_value = 1.2},
};

static struct ab_claim_result claims[] = {
    {"arena:steady/all/ns_per_op = 0.0958x glibc",
     "web.yaml:40:5",
     "10.44x faster",
     "Memory Magic, part 2",
     "steady",
     "all",
     "ns_per_op",
     "arena",
     "glibc",
     false,
     0.0958,
     0.1628,
     0.16,
     0.165,
     NAN,
     NAN,
     0.0612,
     NAN,
     NAN,
     3,
     ""},
    {"arena:drain/all/ns_per_op = 0.00000279x glibc",
     "web.yaml:41:5",
     "",
     "Memory Magic, part 2",
     "drain",
     "all",
     "ns_per_op",
     "arena",
     "glibc",
     false,
     0.00000279,
     NAN,
     NAN,
     NAN,
     NAN,
     NAN,
     NAN,
     NAN,
     NAN,
     0,
     "arena not in this run"},
    {"jemalloc:steady/all/ops_per_s = 2x glibc",
     "web.yaml:42:5",
     "twice",
     "a talk",
     "steady",
     "all",
     "ops_per_s",
     "jemalloc",
     "glibc",
     true,
     2,
     1.41,
     1.2,
     1.5,
     1.38,
     1.44,
     NAN,
     NAN,
     NAN,
     8,
     ""},
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
        {60, true, "screen-gates-60.txt"},    {80, true, "screen-gates-80.txt"},
        {80, false, "screen-gates-pipe.txt"}, {100, true, "screen-gates-100.txt"},
        {140, true, "screen-gates-140.txt"},
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
