/* SPDX-License-Identifier: MIT
 *
 * The whole report: hostile names stay text, nothing is fetched, every page is in the navigation,
 * and a large session makes a small file.
 * tests: frame.c page_compare.c page_environment.c latency_curve.c page_summary.c page_time.c
 */
#include "report/html/report.h"
#include "report/html/report_pages.h"
#include "result/numbers.h"
#include "stats/compare.h"
#include "support/cmocka.h"
#include "support/report_depth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *report_of(const struct ab_session *s, const struct ab_comparison *c, size_t *n)
{
    char *text = NULL;
    FILE *to = open_memstream(&text, n);
    ab_report_write(to, s, &c, c != NULL ? 1 : 0);
    assert_int_equal(fclose(to), 0);
    return text;
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    for (; (text = strstr(text, what)) != NULL; text++)
        n++;
    return n;
}

static void assert_harmless(const char *text)
{
    assert_null(strstr(text, "<img"));
    assert_null(strchr(text, 0x1b));
    assert_null(strstr(text, " src=\""));
    assert_null(strstr(text, " style="));
    assert_null(strstr(text, "xlink"));
    assert_int_equal(count(text, "http://"), count(text, "xmlns=\"http://www.w3.org/2000/svg\""));
    assert_null(strstr(text, "https://"));
    assert_int_equal(count(text, "href="), count(text, "href=\"#"));
    assert_int_equal(count(text, "<script"), count(text, "</script>"));
}

static void test_pages(void **state)
{
    struct fake_depth *d = fake_depth_new();
    struct ab_comparison c;
    size_t n;
    (void)state;
    ab_compare_backends(&d->f->s, FAKE_GLIBC, 0.05, &c);
    char *text = report_of(&d->f->s, &c, &n);
    assert_int_equal(strlen(text), n);
    assert_harmless(text);
    size_t n_pages = 0;
    for (size_t i = 0; i < ab_n_pages; i++) {
        char section[80], link[80];
        snprintf(section, sizeof section, "<section id=\"%s\">", ab_pages[i].id);
        snprintf(link, sizeof link, "<a href=\"#%s\">", ab_pages[i].id);
        assert_int_equal(count(text, section), count(text, link));
        n_pages += count(text, section);
    }
    assert_true(n_pages >= 5);
    assert_int_equal(count(text, "<section id=\"compare\""), 1);
    assert_int_equal(count(text, "<figure"), count(text, "</figure>"));
    assert_int_equal(count(text, "<svg"), count(text, "</svg>"));
    free(text);
    ab_comparison_fini(&c);
    fake_depth_free(d);
}

/* As in the terminal: per cent, however large, also beside the axis. */
static void test_changes_are_per_cent(void **state)
{
    struct fake_depth *d = fake_depth_new();
    struct ab_comparison c;
    size_t n;
    (void)state;
    ab_compare_backends(&d->f->s, FAKE_GLIBC, 0.05, &c);
    for (uint32_t i = 0; i < c.n_cells; i++) {
        struct ab_effect *e = &c.cells[i].effect;
        *e = (struct ab_effect){.ratio = 3.2, .low = 3, .high = 3.5, .method = e->method};
    }
    char *text = report_of(&d->f->s, &c, &n);
    char *page = strstr(text, "<section id=\"compare\""), *end = strstr(page, "</section>");
    assert_non_null(end);
    *end = 0;
    assert_true(count(page, ">+220 %<") >= c.n_cells);
    assert_true(count(page, ">[+200, +250]<") > 0);
    assert_non_null(strstr(page, ">+100 %<")); /* of the axis */
    assert_null(strstr(page, "×"));
    free(text);
    ab_comparison_fini(&c);
    fake_depth_free(d);
}

/* A name that ends the script, one that moves the cursor, one that is no UTF-8. */
static void test_hostile(void **state)
{
    static const char *const names[] = {"</script><img src=x onerror=alert(1)>",
                                        "\x1b[2Jred\xff\"'><b>", "jemalloc&amp;"};
    struct fake_session *f = fake_session_new();
    size_t n;
    (void)state;
    for (unsigned b = 0; b < 3; b++)
        snprintf(f->backends[b].name, sizeof f->backends[b].name, "%s", names[b]);
    f->s.name = names[0];
    f->s.about = names[1];
    f->s.command_line = names[1];
    f->s.config_text = "<img src=x>\n\x1b[2J";
    char *text = report_of(&f->s, NULL, &n);
    assert_harmless(text);
    assert_non_null(strstr(text, "<h1>&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;</h1>"));
    assert_non_null(strstr(text, "jemalloc&amp;amp;"));
    assert_non_null(strstr(text, "\\x1b[2Jred\\xff&quot;&#39;&gt;&lt;b&gt;"));
    free(text);
    fake_session_free(f);
}

/* A session in which nothing was measured has no picture, and is no error. */
static void test_empty(void **state)
{
    struct fake_session *f = fake_session_new();
    size_t n;
    (void)state;
    fake_session_keep(f, 0);
    f->s.n_results = f->s.n_nulls = 0;
    char *text = report_of(&f->s, NULL, &n);
    assert_null(strstr(text, "<figure"));
    assert_non_null(strstr(text, "<section id=\"environment\""));
    free(text);
    fake_session_free(f);
}

/* ---- a large one ---- */

enum { PHASES = 64, BACKENDS = 12, ROUNDS = 2, OPS = 4, HISTOGRAMS = 16 };

struct large {
    struct ab_session s;
    struct ab_backend_info backends[BACKENDS];
    struct ab_round rounds[ROUNDS];
    struct ab_result results[PHASES * BACKENDS * ROUNDS * OPS];
    char names[PHASES][24];
    const char *phases[PHASES];
    struct ab_hdr hdr[HISTOGRAMS]; /* shared: each result has one of these */
};

static void fill_histograms(struct large *l)
{
    uint64_t x = 42;
    for (unsigned i = 0; i < HISTOGRAMS; i++) {
        ab_hdr_init(&l->hdr[i]);
        for (unsigned k = 0; k < 200000; k++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            double u = (double)(x >> 11) / 9007199254740992.0;
            ab_hdr_record(&l->hdr[i], (uint64_t)((20 + i) * pow(1 - u, -0.6)));
        }
    }
}

static struct large *large_new(const struct fake_session *like)
{
    static const unsigned ops[OPS] = {AB_OP_ALLOC, AB_OP_RESIZE, AB_OP_FREE, AB_OP_ALL};
    struct large *l = calloc(1, sizeof *l);
    assert_non_null(l);
    fill_histograms(l);
    l->s = like->s;
    l->s.backends = l->backends;
    l->s.n_backends = BACKENDS;
    l->s.rounds = l->rounds;
    l->s.n_rounds = l->s.n_rounds_planned = ROUNDS;
    l->s.results = l->results;
    l->s.n_results = 0;
    l->s.n_nulls = 0;
    l->s.phases = l->phases;
    l->s.n_phases = PHASES;
    l->s.facts.lanes = 256;
    for (unsigned b = 0; b < BACKENDS; b++) {
        l->backends[b] = like->backends[FAKE_GLIBC];
        snprintf(l->backends[b].name, sizeof l->backends[b].name, b == 0 ? "glibc" : "lib%u", b);
    }
    for (unsigned p = 0; p < PHASES; p++) {
        snprintf(l->names[p], sizeof l->names[p], "phase %u of a long name", p);
        l->phases[p] = l->names[p];
    }
    for (unsigned i = 0; i < PHASES * BACKENDS * ROUNDS * OPS; i++) {
        unsigned op = i % OPS, p = i / OPS % PHASES, b = i / OPS / PHASES % BACKENDS;
        struct ab_result *r = &l->results[l->s.n_results++];
        *r = like->results[0];
        r->phase = l->phases[p];
        r->backend = b;
        r->op = ops[op];
        r->round = i / OPS / PHASES / BACKENDS;
        r->hdr = &l->hdr[(i * 7 + b) % HISTOGRAMS];
        r->n = 200000;
        r->ns_per_op = op == OPS - 1 ? 20.0 + b + r->round : (double)NAN;
        r->n_worst = 0;
    }
    return l;
}

static void test_large(void **state)
{
    struct fake_session *like = fake_session_new();
    struct large *l = large_new(like);
    struct ab_comparison c;
    size_t n, n_compared;
    (void)state;
    l->s.embed = AB_EMBED_NONE;
    char *text = report_of(&l->s, NULL, &n);
    print_message("64 phases, 12 back ends: %zu KiB\n", n >> 10);
    assert_true(n < 3u << 20);
    assert_int_equal(count(text, "Latency of alloc in phase"), PHASES);
    free(text);
    ab_compare_backends(&l->s, 0, 0.05, &c);
    text = report_of(&l->s, &c, &n_compared);
    print_message("and compared with one of them: %zu KiB\n", n_compared >> 10);
    assert_true(n_compared < 3u << 20);
    assert_non_null(strstr(text, "more without a clear difference"));
    assert_harmless(text);
    free(text);
    ab_comparison_fini(&c);
    free(l);
    fake_session_free(like);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages),   cmocka_unit_test(test_changes_are_per_cent),
        cmocka_unit_test(test_hostile), cmocka_unit_test(test_empty),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
