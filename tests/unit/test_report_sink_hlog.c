/* SPDX-License-Identifier: MIT
 *
 * The interval log, against a golden file that Java has rewritten byte for byte (make interop does
 * the same with a real run), and the names in it.
 */
#include "report/sinks/sinks.h"
#include "result/numbers.h"
#include "support/cmocka.h"
#include "support/report_depth.h"
#include "support/report_locale.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

static void write_hlog(FILE *to, const struct ab_session *s, void *user)
{
    (void)user;
    ab_sink_hlog(to, s);
}

static char *hlog(const struct fake_session *f)
{
    struct ab_session s = f->s;
    s.start = 1700000000;
    return fake_capture(write_hlog, &s, NULL);
}

static void looks_as_it_should(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    char *text = hlog(f);
    fake_assert_golden("session.hlog", text);
    free(text);
    fake_session_free(f);
}

static void is_the_same_in_every_locale(void **state)
{
    (void)state;
    if (!fake_german_locale())
        skip();
    struct fake_session *f = fake_session_new();
    char *text = hlog(f);
    fake_assert_golden("session.hlog", text);
    free(text);
    fake_session_free(f);
    setlocale(LC_ALL, "C");
}

static void each_line_decodes_to_its_histogram(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    struct ab_hdr *back = malloc(sizeof *back);
    struct ab_err err;
    char *text = hlog(f), *rest = NULL;
    uint32_t n = 0;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        if (line[0] == '#' || line[0] == '"') {
            assert_true(strlen(line) < 128); /* what HdrHistogram_c reads of a comment */
            continue;
        }
        while (n < f->s.n_results && !ab_session_has_numbers(&f->s, f->results[n].backend))
            n++;
        assert_int_equal(ab_hdr_decode(strrchr(line, ',') + 1, back, &err), AB_OK);
        assert_memory_equal(back->counts, f->results[n].hdr->counts, sizeof back->counts);
        n++;
    }
    assert_true(n > 20);
    free(back);
    free(text);
    fake_session_free(f);
}

static void memory_over_the_ops_has_tags_of_its_own(void **state)
{
    (void)state;
    struct fake_depth *d = fake_depth_new();
    struct ab_hdr *back = malloc(sizeof *back);
    struct ab_err err;
    char *text = hlog(d->f), *rest = NULL;
    unsigned n = 0, n_lines = 0;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        if (strstr(line, "_ratio,") == NULL && strstr(line, "_bytes,") == NULL &&
            strstr(line, ".overhead,") == NULL)
            continue;
        while (n < d->f->s.n_dists &&
               (d->dists[n].hdr == NULL || !ab_session_has_numbers(&d->f->s, d->dists[n].backend)))
            n++;
        assert_true(n < d->f->s.n_dists);
        assert_int_equal(ab_hdr_decode(strrchr(line, ',') + 1, back, &err), AB_OK);
        assert_memory_equal(back->counts, d->dists[n].hdr->counts, sizeof back->counts);
        n++;
        n_lines++;
    }
    assert_int_equal(n_lines, 2 * 3 * (AB_DIST_COUNT - 1)); /* retained bytes are not known */
    free(back);
    free(text);
    fake_depth_free(d);
}

static void assert_tag(const char *backend, const char *phase, const char *wanted)
{
    char tag[AB_TAG_BYTES];
    assert_string_equal(ab_sink_tag(tag, backend, phase, "all"), wanted);
}

static void tags_are_plain_and_no_two_are_the_same(void **state)
{
    (void)state;
    assert_tag("slab:threads=sharded", "steady", "slab:threads=sharded.steady.all");
    assert_tag("a,b c/d", "x", "a%2Cb%20c%2Fd.x.all");
    assert_tag("..", "x", "%2E..x.all");
    assert_tag("a", "b.c", "a.b%2Ec.all");
    assert_tag("a.b", "c", "a.b.c.all");
    assert_tag("100%", "\n\xff", "100%25.%0A%FF.all");
}

static void a_tag_of_any_name_fits(void **state)
{
    (void)state;
    char backend[128], phase[4096], tag[AB_TAG_BYTES];
    memset(backend, '\n', sizeof backend - 1);
    memset(phase, '/', sizeof phase - 1);
    backend[sizeof backend - 1] = phase[sizeof phase - 1] = 0;
    ab_sink_tag(tag, backend, phase, "alloc");
    assert_true(strlen(tag) < AB_TAG_BYTES);
    assert_non_null(strstr(tag, ".alloc"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looks_as_it_should),
        cmocka_unit_test(is_the_same_in_every_locale),
        cmocka_unit_test(each_line_decodes_to_its_histogram),
        cmocka_unit_test(memory_over_the_ops_has_tags_of_its_own),
        cmocka_unit_test(tags_are_plain_and_no_two_are_the_same),
        cmocka_unit_test(a_tag_of_any_name_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
