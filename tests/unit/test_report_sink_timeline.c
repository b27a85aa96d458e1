/* SPDX-License-Identifier: MIT
 *
 * Memory and latency over the op clock, as CSV.
 */
#include "report/sinks/sinks.h"
#include "support/cmocka.h"
#include "support/report_depth.h"
#include "support/report_locale.h"

#include <locale.h>
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
        cmocka_unit_test(decimals_are_points_in_every_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
