/* SPDX-License-Identifier: MIT
 *
 * Percentile distributions: byte for byte what HdrHistogram for Java printed of the same
 * histograms (tests/golden/hdr).
 */
#include "report/sinks/sinks.h"
#include "result/numbers.h"
#include "support/cmocka.h"
#include "support/hdr_golden.h"
#include "support/report_locale.h"
#include "support/report_session.h"

#include <glob.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

static void write_hgrm(FILE *to, const struct ab_session *s, void *user)
{
    (void)s;
    ab_sink_hgrm(to, user);
}

static char *read_whole(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t cap = 0;
    assert_non_null(file);
    assert_true(getdelim(&text, &cap, 0, file) > 0);
    fclose(file);
    return text;
}

/* Goldens are read before the locale changes: they have points. */
static void assert_golden_hgrms(bool is_german)
{
    glob_t found;
    size_t n;
    struct hdr_golden *golden = hdr_golden_load(&n);
    assert_int_equal(glob("tests/golden/hdr/*.hgrm", 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, n); /* both lists are sorted by name */
    if (is_german && !fake_german_locale())
        skip();
    for (size_t i = 0; i < n; i++) {
        char *wanted = read_whole(found.gl_pathv[i]);
        char *text = fake_capture(write_hgrm, NULL, &golden[i].hdr);
        if (strcmp(text, wanted) != 0)
            fail_msg("%s is not what comes:\n%s", found.gl_pathv[i], text);
        free(text);
        free(wanted);
    }
    globfree(&found);
    setlocale(LC_ALL, "C");
    hdr_golden_free(golden, n);
}

static void prints_what_java_prints(void **state)
{
    (void)state;
    assert_golden_hgrms(false);
}

static void prints_it_in_every_locale(void **state)
{
    (void)state;
    assert_golden_hgrms(true);
}

/* A mean of 177.0715, as near as a double comes, is a half of the last digit: Java says 177.072,
 * where printf looks at the binary value, which is less. */
static void halves_are_rounded_up(void **state)
{
    (void)state;
    struct ab_hdr *hdr = calloc(1, sizeof *hdr);
    ab_hdr_init(hdr);
    hdr_golden_fill(hdr, "177x1857 178x143");
    char *text = fake_capture(write_hgrm, NULL, hdr), printed[32];
    snprintf(printed, sizeof printed, "%.3f", ab_hdr_mean(hdr));
    assert_true(ab_hdr_mean(hdr) == 177.0715);
    assert_string_equal(printed, "177.071");
    assert_non_null(strstr(text, "#[Mean    =      177.072,"));
    free(text);
    free(hdr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_what_java_prints),
        cmocka_unit_test(prints_it_in_every_locale),
        cmocka_unit_test(halves_are_rounded_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
