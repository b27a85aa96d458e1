/* SPDX-License-Identifier: MIT */
/* tests: csv.c json.c sinks.c */
#include "report/sinks/sinks.h"
#include "result/numbers.h"

#include "result/result_fields.h"
#include "support/report_depth.h"
#include "support/report_locale.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void write_csv(FILE *to, const struct ab_session *s, void *user)
{
    (void)user;
    ab_sink_csv(to, s);
}

static char *csv(const struct fake_session *f)
{
    return fake_capture(write_csv, &f->s, NULL);
}

static void looks_as_it_should(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    char *text = csv(f);
    fake_assert_golden("session.csv", text);
    free(text);
    fake_session_free(f);
}

static void failed_back_ends_have_no_rows(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    char *text = csv(f);
    assert_null(strstr(text, "broken"));
    assert_null(strstr(text, "scudo"));
    assert_non_null(strstr(text, ",pool,"));
    free(text);
    fake_session_free(f);
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = strstr(text, what); at != NULL; at = strstr(at + 1, what))
        n++;
    return n;
}

static void a_number_that_does_not_exist_has_no_row(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    double none[3] = {NAN, INFINITY, 4};
    fake_session_set_ns(f, FAKE_GLIBC, none);
    char *text = csv(f);
    assert_int_equal(count(text, "nan"), 0);
    assert_int_equal(count(text, "inf"), 0);
    assert_int_equal(count(text, ",glibc,steady,all,ns_per_op,"), 1);
    assert_int_equal(count(text, ",alloc,ns_per_op,"), 0);        /* throughput is of the phase */
    assert_int_equal(count(text, ",glibc,drain,free,p99.9,"), 0); /* too few samples */
    free(text);
    fake_session_free(f);
}

static void order_is_the_place_in_the_round(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    char *text = csv(f);
    assert_non_null(strstr(text, "\n3f9c1a2b4d5e-9007199254740993,1,2,glibc,"));
    assert_non_null(strstr(text, "\n3f9c1a2b4d5e-9007199254740993,2,5,glibc,"));
    f->s.n_rounds = 0;
    free(text);
    text = csv(f);
    assert_non_null(strstr(text, "\n3f9c1a2b4d5e-9007199254740993,1,,glibc,"));
    free(text);
    fake_session_free(f);
}

static void assert_cell(const char *name, const char *cell)
{
    struct fake_session *f = fake_session_new();
    char wanted[256];
    snprintf(f->backends[0].name, sizeof f->backends[0].name, "%s", name);
    snprintf(wanted, sizeof wanted, ",0,1,%s,steady,alloc,n,20000,ops,web-cache\r\n", cell);
    char *text = csv(f);
    if (strstr(text, wanted) == NULL)
        fail_msg("'%s' should become %s", name, cell);
    free(text);
    fake_session_free(f);
}

static void hostile_names_are_quoted_and_defused(void **state)
{
    (void)state;
    assert_cell("=cmd()", "'=cmd()");
    assert_cell("+1", "'+1");
    assert_cell("-1", "'-1");
    assert_cell("@sum", "'@sum");
    assert_cell("@map", "@map");
    assert_cell("@map12", "@map12");
    assert_cell("@map2(A1)", "'@map2(A1)");
    assert_cell("a,b", "\"a,b\"");
    assert_cell("say \"hi\"", "\"say \"\"hi\"\"\"");
    assert_cell("=\"a\",b", "\"'=\"\"a\"\",b\"");
    assert_cell("\033[31mred\n", "\\x1b[31mred\\x0a");
    assert_cell("slab:threads=sharded", "slab:threads=sharded");
}

static void decimals_are_points_in_every_locale(void **state)
{
    (void)state;
    if (!fake_german_locale()) {
        print_message("no German locale and no localedef: not tested\n");
        skip();
    }
    struct fake_session *f = fake_session_new();
    char number[32];
    snprintf(number, sizeof number, "%.1f", 0.5);
    assert_string_equal(number, "0,5");
    char *text = csv(f);
    fake_assert_golden("session.csv", text);
    snprintf(number, sizeof number, "%.1f", 0.5);
    assert_string_equal(number, "0,5"); /* and the program's locale is as it was */
    free(text);
    fake_session_free(f);
    setlocale(LC_ALL, "C");
}

static void memory_rows_have_their_place_as_op(void **state)
{
    (void)state;
    struct fake_depth *d = fake_depth_new();
    char *text = csv(d->f);
    assert_non_null(
        strstr(text, ",0,1,glibc,drain,footprint_peak,internal_bytes,4096.5,bytes,web-cache\r\n"));
    assert_non_null(
        strstr(text, ",2,4,jemalloc,drain,live_peak,live_bytes,12289.5,bytes,web-cache\r\n"));
    assert_non_null(strstr(text, ",1,2,glibc,drain,end,drained_0.1s,16384,bytes,web-cache\r\n"));
    assert_null(strstr(text, "drained_10s")); /* n/a */
    assert_null(strstr(text, ",retained_bytes,"));
    assert_null(strstr(text, "broken"));
    assert_int_equal(count(text, "\n"), count(text, ",steady,") + count(text, ",drain,") +
                                            count(text, ",,all,time,") + 1);
    assert_int_equal(count(text, ",glibc,,all,time,"), 3);
    assert_int_equal(count(text, ",glibc,drain,end,"), 3 * (ab_memory_field_count - 1 + 2));
    free(text);
    fake_depth_free(d);
}

static void every_row_has_ten_cells(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    char *text = csv(f), *rest = NULL;
    for (char *row = strtok_r(text, "\n", &rest); row != NULL; row = strtok_r(NULL, "\n", &rest)) {
        assert_int_equal(row[strlen(row) - 1], '\r');
        assert_int_equal(count(row, ","), 9);
    }
    free(text);
    fake_session_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looks_as_it_should),
        cmocka_unit_test(failed_back_ends_have_no_rows),
        cmocka_unit_test(a_number_that_does_not_exist_has_no_row),
        cmocka_unit_test(order_is_the_place_in_the_round),
        cmocka_unit_test(hostile_names_are_quoted_and_defused),
        cmocka_unit_test(decimals_are_points_in_every_locale),
        cmocka_unit_test(memory_rows_have_their_place_as_op),
        cmocka_unit_test(every_row_has_ten_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
