/* SPDX-License-Identifier: MIT
 *
 * Memory and latency over the op clock, as CSV.
 */
#include "report/sinks/sinks.h"
#include "result/numbers.h"
#include "support/cmocka.h"
#include "support/report_depth.h"
#include "support/report_locale.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void write_timeline(FILE *to, const struct ab_session *s, void *user)
{
    (void)user;
    ab_sink_timeline(to, s);
}

static char *timeline(const struct fake_depth *d)
{
    return fake_capture(write_timeline, &d->f->s, NULL);
}

static void looks_as_it_should(void **state)
{
    (void)state;
    struct fake_depth *d = fake_depth_new();
    char *text = timeline(d);
    fake_assert_golden("timeline.csv", text);
    assert_null(strstr(text, "broken"));
    assert_null(strstr(text, "nan")); /* jemalloc has no usable size, first windows no p99 */
    assert_null(strstr(text, ",jemalloc,usable,"));
    assert_null(strstr(text, ",p99,500,"));
    free(text);
    fake_depth_free(d);
}

/* The position is the time of the work in ns; what is not known has no row. */
static void memory_over_time_has_rows_by_ns(void **state)
{
    (void)state;
    struct fake_depth *d = fake_depth_new();
    struct ab_over_time row = {.backend = FAKE_GLIBC,
                               .round = 1,
                               .phase = d->f->s.phases[0],
                               .time_ns = UINT64_C(3600000000001),
                               .live_bytes = 10,
                               .resident_bytes = 4096,
                               .external_bytes = NAN,
                               .retained_bytes = NAN,
                               .lazyfree_bytes = 0};
    d->f->s.over_time = &row;
    d->f->s.n_over_time = 1;
    char *text = timeline(d);
    assert_non_null(strstr(text, ",1,glibc,time/resident,3600000000001,4096,bytes"));
    assert_non_null(strstr(text, ",1,glibc,time/lazyfree,3600000000001,0,bytes"));
    assert_null(strstr(text, "time/retained"));
    free(text);
    d->f->s.over_time = NULL;
    d->f->s.n_over_time = 0;
    fake_depth_free(d);
}

static void decimals_are_points_in_every_locale(void **state)
{
    (void)state;
    if (!fake_german_locale())
        skip();
    struct fake_depth *d = fake_depth_new();
    char *text = timeline(d);
    assert_non_null(strstr(text, ",p99,1500,101.5,ns\r\n"));
    fake_assert_golden("timeline.csv", text);
    free(text);
    fake_depth_free(d);
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looks_as_it_should),
        cmocka_unit_test(memory_over_time_has_rows_by_ns),
        cmocka_unit_test(decimals_are_points_in_every_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
