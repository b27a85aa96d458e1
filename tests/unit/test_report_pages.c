/* SPDX-License-Identifier: MIT
 *
 * The pages of a report about memory, time, sizes, slow calls and the trace: what they say can be
 * computed from the session, names stay text, and what is not known is said to be not known. And
 * the pictures as files.
 * tests: report.c plot.c page_memory.c page_over_time.c page_sizes.c page_slowest.c
 * tests: page_trace.c pictures.c conditions.c
 * tests: report_pages.c
 */
#include "report/html/report.h"
#include "report/html/report_pages.h"
#include "report/sinks/sinks.h"
#include "result/numbers.h"
#include "support/cmocka.h"
#include "support/report_depth.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ab_html_text *pages;

static void make(struct fake_depth *d)
{
    pages = ab_report_pages(&d->f->s, NULL);
    assert_non_null(pages);
}

static void forget(void)
{
    for (size_t i = 0; i < ab_n_pages; i++)
        free(pages[i].text);
    free(pages);
}

static const char *page(const char *id)
{
    for (size_t i = 0; i < ab_n_pages; i++)
        if (strcmp(ab_pages[i].id, id) == 0)
            return pages[i].text;
    fail_msg("no page %s", id);
    return "";
}

static unsigned count(const char *in, const char *what)
{
    unsigned n = 0;
    for (const char *at = in; (at = strstr(at, what)) != NULL; at += strlen(what))
        n++;
    return n;
}

/* Two back ends worked and have time lines; the one that crashed has them as well. */
static void memory_is_drawn_for_each_back_end_that_worked(void **state)
{
    (void)state;
    struct fake_depth *d = fake_depth_new();
    make(d);
    const char *text = page("memory");
    assert_int_equal(count(text, "<figcaption>glibc"), 1);
    assert_int_equal(count(text, "<figcaption>jemalloc"), 1);
    assert_int_equal(count(text, "<figcaption>broken"), 0);
    assert_int_equal(count(text, "<title>retained</title>"), 2);
    assert_int_equal(count(text, "<title>parts not known</title>"),
                     2); /* and what they sum up to */
    assert_int_equal(count(text, "<p class=\"soft\">Parts not known: "), 1);
    assert_int_equal(count(text, "Memory after everything was freed"), 1);
    assert_int_equal(count(text, ">immediately<"), 2);
    assert_int_equal(count(text, ">after 0.1 s<"), 2);
    assert_int_equal(count(text, ">purged<"), 0);
    forget();
    fake_depth_free(d);
}

/* No part is drawn as 0 because it is not known. */
static void a_footprint_that_is_not_split_is_one_area(void **state)
{
    (void)state;
    struct fake_depth *d = fake_depth_new();
    for (uint32_t i = 0; i < d->f->s.n_timelines; i++)
        for (uint32_t k = 0; k < FAKE_POINTS; k++)
            d->points[i][k].usable_bytes = d->points[i][k].external_bytes = NAN;
    make(d);
    assert_null(strstr(page("memory"), "nan"));
    assert_int_equal(count(page("memory"), "<title>live</title>"), 0);
    assert_int_equal(count(page("memory"), "<title>retained</title>"), 0);
    assert_int_equal(count(page("memory"), "<title>parts not known</title>"), 2);
    forget();
    fake_depth_free(d);
}

static void a_map_of_time_needs_the_bins(void **state)
{
    (void)state;
    struct fake_depth *d = fake_depth_new();
    make(d);
    assert_int_equal(count(page("over-time"), "<figure"), 2);
    assert_true(count(page("over-time"), "fill-opacity") >= 4);
    forget();
    for (uint32_t i = 0; i < d->f->s.n_windows; i++)
        memset(d->windows[i].counts, 0, sizeof d->windows[i].counts);
    make(d);
    assert_int_equal(strlen(page("over-time")), 0);
    forget();
    fake_depth_free(d);
}

/* A class of 4,500 ops over three rounds has a p99, one of 18 nothing; one that is so for all has no
 * row. */
static void sizes_have_percentiles_as_far_as_samples_go(void **state)
{
    (void)state;
    for (unsigned is_all = 0; is_all < 2; is_all++) {
        struct fake_depth *d = fake_depth_new();
        for (uint32_t i = 0; i < d->f->s.n_size_classes; i++)
            if (d->classes[i].op == AB_OP_ALLOC && d->classes[i].log2 == 7 &&
                (is_all == 1 || d->classes[i].backend == FAKE_GLIBC)) {
                ab_hdr_init(d->classes[i].hdr);
                for (unsigned k = 0; k < 6; k++)
                    ab_hdr_record(d->classes[i].hdr, 100);
            }
        make(d);
        const char *text = page("sizes");
        assert_int_equal(count(text, ">9 - 16 B<"), 1);
        assert_int_equal(count(text, ">65 - 128 B<"), 1 - is_all);
        assert_int_equal(count(text, ">too few<"), 1 - is_all);
        if (is_all == 1) /* 4500 of 4518 ops that were timed */
            assert_int_equal(count(text, ">99.60 %<"), 1);
        forget();
        fake_depth_free(d);
    }
}

static void a_trace_has_a_page_and_a_workload_none(void **state)
{
    (void)state;
    struct fake_depth *d = fake_depth_new();
    make(d);
    const char *text = page("trace");
    assert_int_equal(count(text, "<figure"), 3);
    assert_int_equal(count(text, ">never freed</text>"), 1);
    assert_int_equal(count(text, ">others</text>"), 1);
    forget();
    d->f->s.overview = NULL;
    make(d);
    assert_int_equal(strlen(page("trace")), 0);
    forget();
    fake_depth_free(d);
}

static void hostile_names_stay_text(void **state)
{
    (void)state;
    static const char *const ids[] = {"memory", "over-time", "sizes", "slowest", "trace"};
    struct fake_depth *d = fake_depth_new();
    strcpy(d->f->backends[FAKE_GLIBC].name, "</svg></script><img src=x onerror=y>\"'\033[2J");
    make(d);
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        assert_null(strstr(page(ids[i]), "<img"));
        assert_null(strstr(page(ids[i]), "</script>"));
        assert_null(strchr(page(ids[i]), '\033'));
    }
    assert_non_null(strstr(page("memory"), "&lt;img"));
    forget();
    fake_depth_free(d);
}

/* ---- as files ---- */

static void remove_folder(const char *folder, unsigned *n_svg)
{
    DIR *dir = opendir(folder);
    struct dirent *e;
    char path[600];
    while ((e = readdir(dir)) != NULL)
        if (e->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
            *n_svg += strstr(e->d_name, ".svg") != NULL;
            unlink(path);
        }
    closedir(dir);
    rmdir(folder);
}

static void each_picture_is_a_file_that_stands_alone(void **state)
{
    (void)state;
    char folder[] = "/tmp/ab-figures-XXXXXX", path[64], text[4096] = "";
    struct fake_depth *d = fake_depth_new();
    struct ab_err err = {.text = ""};
    unsigned n_svg = 0, wanted = 0;
    strcpy(d->f->backends[FAKE_JEMALLOC].name, "../../x/y");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(ab_figures_prepare(folder, &err), AB_OK);
    assert_int_equal(ab_sink_svg(folder, &d->f->s, &err), AB_OK);
    assert_int_equal(ab_sink_svg(folder, &d->f->s, &err), AB_OK); /* in place of the first ones */
    snprintf(path, sizeof path, "%s/memory-x-y.svg", folder);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_true(fread(text, 1, sizeof text - 1, f) > 500);
    fclose(f);
    assert_non_null(strstr(text, "xmlns=\"http://www.w3.org/2000/svg\""));
    assert_non_null(strstr(text, "<title>../../x/y</title>"));
    assert_non_null(strstr(text, "fill=\"#fff\""));
    make(d);
    for (size_t i = 0; i < ab_n_pages; i++)
        wanted += count(pages[i].text, "<figure");
    forget();
    remove_folder(folder, &n_svg);
    assert_true(wanted > 6);
    assert_int_equal(n_svg, wanted);
    fake_depth_free(d);
}

static char *read_picture(const char *folder, const char *name)
{
    char path[600];
    char *text = calloc(1, 1 << 18);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    assert_non_null(text);
    if (f == NULL)
        fail_msg("no %s", name);
    assert_true(fread(text, 1, (1 << 18) - 1, f) > 0);
    fclose(f);
    return text;
}

/* On a page there is one legend for all pictures; a file has its own, below what it was high. */
static void a_picture_that_stands_alone_says_who_is_who(void **state)
{
    (void)state;
    static const char *const names[] = {"latency-steady-alloc.svg", "memory-glibc.svg",
                                        "slowest-where-the-slowest-calls-are.svg"};
    static const char *const entries[][2] = {
        {">glibc</text>", ">jemalloc</text>"},
        {">live</text>", ">retained</text>"},
        {">glibc</text>", ">jemalloc</text>"},
    };
    char folder[] = "/tmp/ab-figures-XXXXXX", *report = NULL;
    struct fake_depth *d = fake_depth_new();
    struct ab_err err = {.text = ""};
    unsigned n_svg = 0;
    size_t n;
    for (uint32_t i = 0; i < d->f->s.n_results; i++)
        if (d->f->results[i].op == AB_OP_ALLOC) {
            d->f->results[i].n_worst = 1;
            d->f->results[i].worst[0] = (struct ab_worst_op){5000, 77, 64, 0};
        }
    assert_non_null(mkdtemp(folder));
    assert_int_equal(ab_sink_svg(folder, &d->f->s, &err), AB_OK);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *text = read_picture(folder, names[i]);
        assert_int_equal(count(text, entries[i][0]), 1);
        assert_int_equal(count(text, entries[i][1]), 1);
        free(text);
    }
    FILE *to = open_memstream(&report, &n);
    ab_report_write(to, &d->f->s, NULL, 0);
    fclose(to);
    assert_null(strstr(report, ">retained</text>"));
    free(report);
    remove_folder(folder, &n_svg);
    fake_depth_free(d);
}

/* "heap", "heap" and "heap 2" are three files. */
static void no_two_pictures_have_one_name(void **state)
{
    (void)state;
    char folder[] = "/tmp/ab-figures-XXXXXX";
    struct fake_depth *d = fake_depth_new();
    struct ab_err err = {.text = ""};
    unsigned n_svg = 0, wanted = 0;
    strcpy(d->f->backends[FAKE_GLIBC].name, "heap!");
    strcpy(d->f->backends[FAKE_JEMALLOC].name, "heap?");
    strcpy(d->f->backends[FAKE_ARENA].name, "heap 2");
    for (uint32_t i = 0; i < d->f->s.n_timelines; i++)
        d->lines[i].backend = d->lines[i].backend == FAKE_BROKEN ? FAKE_ARENA : d->lines[i].backend;
    make(d);
    for (size_t i = 0; i < ab_n_pages; i++)
        wanted += count(pages[i].text, "<figure");
    forget();
    assert_non_null(mkdtemp(folder));
    assert_int_equal(ab_sink_svg(folder, &d->f->s, &err), AB_OK);
    free(read_picture(folder, "memory-heap.svg"));
    free(read_picture(folder, "memory-heap-2.svg"));
    free(read_picture(folder, "memory-heap-3.svg"));
    remove_folder(folder, &n_svg);
    assert_int_equal(n_svg, wanted);
    fake_depth_free(d);
}

/* The one that did other work is called so wherever it is shown, and is in the ranking. */
static void what_is_out_of_the_comparison_says_so(void **state)
{
    (void)state;
    struct fake_depth *d = fake_depth_new();
    make(d);
    assert_int_equal(count(page("summary"), "pool (partial)</span>"), 1);
    assert_int_equal(count(page("summary"), "<td>not compared</td>"), 1);
    assert_true(count(page("time"), "pool (partial)") >= 3);
    assert_true(count(page("latency"), "pool (partial)") >= 2);
    assert_int_equal(count(page("summary"), "broken"), count(page("summary"), "Failed:"));
    forget();
    fake_depth_free(d);
}

/* jemalloc is faster than glibc, which was asked for first. */
static void all_pages_have_the_order_of_the_ranking(void **state)
{
    (void)state;
    static const char *const ids[] = {"summary", "time", "latency", "over-time", "memory", "sizes"};
    struct fake_depth *d = fake_depth_new();
    make(d);
    assert_true(FAKE_GLIBC < FAKE_JEMALLOC);
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        const char *table = strstr(page(ids[i]), strcmp(ids[i], "summary") == 0 ? "<tbody" : "<");
        const char *first = strstr(table, "jemalloc"), *second = strstr(table, "glibc");
        if (first == NULL || second == NULL || first > second)
            fail_msg("other order on %s", ids[i]);
    }
    forget();
    fake_depth_free(d);
}

/* Each number is in one place: the ranking has the columns of the terminal, what stays after free is
 * beside its bars, and so is the time per operation. */
static void no_number_is_there_twice(void **state)
{
    (void)state;
    struct fake_depth *d = fake_depth_new();
    make(d);
    assert_int_equal(count(page("summary"), "<th scope=\"col\""), 6);
    assert_int_equal(count(page("time"), "<table"), 0);
    assert_int_equal(count(page("time"), ">~15.2 ns</text>"), 1);
    assert_int_equal(count(page("time"), ">21.5 ns</text>"), 1);
    assert_int_equal(count(page("memory"), "after free"), 1); /* what the word means */
    forget();
    fake_depth_free(d);
}

static void the_scatter_begins_at_no_memory(void **state)
{
    (void)state;
    struct fake_depth *d = fake_depth_new();
    make(d);
    assert_int_equal(count(page("summary"), "data-y=\"linear bytes 0 "), 1);
    assert_int_equal(count(page("summary"), "data-x=\"log time "), 1);
    assert_int_equal(count(page("summary"), "whole run, log scale (left is faster)<"), 1);
    forget();
    fake_depth_free(d);
}

/* A tail of 12 ns, where the clock tells 20 ns at best, is not a number to be read. */
static void what_is_below_the_floor_is_not_a_number(void **state)
{
    (void)state;
    struct fake_depth *d = fake_depth_new();
    d->f->s.timer.floor_ns = 1e7;
    make(d);
    assert_true(count(page("summary"), "<td class=\"n\">&lt;10.0 ms</td>") >= 2);
    forget();
    fake_depth_free(d);
}

/* Back ends behind the heap's boundary and behind malloc's have a harness each. */
static void each_boundary_has_its_harness(void **state)
{
    (void)state;
    struct fake_depth *d = fake_depth_new();
    make(d);
    const char *text = page("time");
    assert_int_equal(count(text, "gray: harness 0.90 ns (malloc), 1 ns (heap)</text>"),
                     d->f->s.n_phases);
    assert_true(count(text, "<title>harness alone: ") >= 2 * d->f->s.n_phases);
    forget();
    for (uint32_t b = 0; b < d->f->s.n_backends; b++)
        d->f->backends[b].boundary = "malloc";
    make(d);
    text = page("time");
    assert_int_equal(count(text, "gray: harness 0.90 ns</text>"), d->f->s.n_phases);
    assert_int_equal(count(text, "<title>harness alone: "), d->f->s.n_phases);
    forget();
    fake_depth_free(d);
}

static void a_folder_that_cannot_be_is_refused_at_once(void **state)
{
    (void)state;
    struct ab_err err = {.text = ""};
    assert_int_equal(ab_figures_prepare("/proc/none/here", &err), AB_USAGE);
    assert_non_null(strstr(err.text, "--svg: cannot make the folder"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_drawn_for_each_back_end_that_worked),
        cmocka_unit_test(a_footprint_that_is_not_split_is_one_area),
        cmocka_unit_test(a_map_of_time_needs_the_bins),
        cmocka_unit_test(sizes_have_percentiles_as_far_as_samples_go),
        cmocka_unit_test(a_trace_has_a_page_and_a_workload_none),
        cmocka_unit_test(hostile_names_stay_text),
        cmocka_unit_test(each_picture_is_a_file_that_stands_alone),
        cmocka_unit_test(a_picture_that_stands_alone_says_who_is_who),
        cmocka_unit_test(no_two_pictures_have_one_name),
        cmocka_unit_test(what_is_out_of_the_comparison_says_so),
        cmocka_unit_test(all_pages_have_the_order_of_the_ranking),
        cmocka_unit_test(no_number_is_there_twice),
        cmocka_unit_test(the_scatter_begins_at_no_memory),
        cmocka_unit_test(what_is_below_the_floor_is_not_a_number),
        cmocka_unit_test(each_boundary_has_its_harness),
        cmocka_unit_test(a_folder_that_cannot_be_is_refused_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
