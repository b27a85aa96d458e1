/* SPDX-License-Identifier: MIT
 *
 * The histograms as CSV rows: complete, in order, adding up to what the session holds.
 */
#include "report/sinks/sinks.h"
#include "result/numbers.h"
#include "support/cmocka.h"
#include "support/report_depth.h"
#include "support/report_locale.h"

#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

static void write_hist(FILE *to, const struct ab_session *s, void *user)
{
    (void)user;
    ab_sink_hist(to, s);
}

static char *hist(const struct fake_depth *d)
{
    return fake_capture(write_hist, &d->f->s, NULL);
}

/* The n-th cell of a row without quotes, as text up to its comma. */
static const char *cell(const char *row, unsigned n)
{
    while (n-- > 0)
        row = strchr(row, ',') + 1;
    return row;
}

static void assert_rows(char *text, uint64_t *all_sizes, uint64_t *by_size)
{
    char *rest = NULL, *row = strtok_r(text, "\n", &rest);
    const char *last = "";
    uint64_t seen = 0;
    assert_string_equal(row, "run,round,backend,phase,op,le_bytes,low_ns,high_ns,count,"
                             "cumulative\r");
    while ((row = strtok_r(NULL, "\n", &rest)) != NULL) {
        uint64_t low, high, count, cumulative;
        assert_int_equal(row[strlen(row) - 1], '\r');
        assert_int_equal(sscanf(cell(row, 6), "%" SCNu64 ",%" SCNu64 ",%" SCNu64 ",%" SCNu64, &low,
                                &high, &count, &cumulative),
                         4);
        assert_true(count > 0 && low <= high);
        assert_int_equal(ab_hdr_index(low), ab_hdr_index(high));
        size_t n_key = (size_t)(cell(row, 6) - row);
        seen = count + (strncmp(last, row, n_key) == 0 ? seen : 0); /* else a new histogram */
        assert_int_equal(seen, cumulative);
        last = row;
        *(cell(row, 5)[0] == ',' ? all_sizes : by_size) += count;
    }
}

static void rows_add_up_to_the_histograms(void **state)
{
    (void)state;
    struct fake_depth *d = fake_depth_new();
    uint64_t all_sizes = 0, by_size = 0, wanted_all = 0, wanted_size = 0;
    char *text = hist(d);
    assert_rows(text, &all_sizes, &by_size);
    for (uint32_t i = 0; i < d->f->s.n_results; i++)
        if (ab_session_has_numbers(&d->f->s, d->f->s.results[i].backend))
            wanted_all += ab_hdr_total(d->f->s.results[i].hdr);
    for (uint32_t i = 0; i < d->f->s.n_size_classes; i++)
        if (ab_session_has_numbers(&d->f->s, d->classes[i].backend))
            wanted_size += ab_hdr_total(d->classes[i].hdr);
    assert_int_equal(all_sizes, wanted_all);
    assert_int_equal(by_size, wanted_size);
    assert_true(wanted_size > 0);
    free(text);
    fake_depth_free(d);
}

static void sizes_are_powers_of_two_and_failed_back_ends_are_left_out(void **state)
{
    (void)state;
    struct fake_depth *d = fake_depth_new();
    char *text = hist(d);
    assert_non_null(strstr(text, ",0,glibc,steady,alloc,,41,41,"));
    assert_non_null(strstr(text, ",0,glibc,steady,alloc,16,40,40,214,214\r\n"));
    assert_non_null(strstr(text, ",1,jemalloc,steady,alloc,128,"));
    assert_non_null(strstr(text, ",glibc,steady,free,18446744073709551616,"));
    assert_null(strstr(text, "broken"));
    free(text);
    fake_depth_free(d);
}

static void names_are_quoted_and_numbers_have_points_in_every_locale(void **state)
{
    (void)state;
    struct fake_depth *d = fake_depth_new();
    strcpy(d->f->backends[FAKE_GLIBC].name, "=a,\"b\"");
    char *text = hist(d);
    assert_non_null(strstr(text, ",0,\"'=a,\"\"b\"\"\",steady,alloc,16,40,40,214,214\r\n"));
    if (fake_german_locale()) {
        char *german = hist(d);
        assert_string_equal(german, text);
        free(german);
        setlocale(LC_ALL, "C");
    }
    free(text);
    fake_depth_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_add_up_to_the_histograms),
        cmocka_unit_test(sizes_are_powers_of_two_and_failed_back_ends_are_left_out),
        cmocka_unit_test(names_are_quoted_and_numbers_have_points_in_every_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
