/* SPDX-License-Identifier: MIT
 *
 * Pictures: ticks, coordinates, and labels that do not touch, read off the SVG that was written.
 * tests: plot.c plot_axis.c latency_curve.c
 */
#include "report/html/latency_curve.h"
#include "report/html/plot.h"
#include "result/shown.h"
#include "support/cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXTS_MAX = 200, FONT = 12 };

/* ---- texts of a picture ---- */

static double attribute(const char *tag, const char *name)
{
    char wanted[32];
    snprintf(wanted, sizeof wanted, " %s=\"", name);
    const char *at = strstr(tag, wanted);
    return at == NULL ? NAN : strtod(at + strlen(wanted), NULL);
}

/* The boxes of all <text>, with the width that the writer counts on. */
static size_t boxes_of(const char *svg, struct ab_box boxes[TEXTS_MAX])
{
    size_t n = 0;
    for (const char *at = svg; (at = strstr(at, "<text")) != NULL; at++) {
        char text[200] = "", tag[300] = "";
        assert_true(n < TEXTS_MAX);
        assert_int_equal(sscanf(at, "%299[^>]>%199[^<]", tag, text), 2);
        double width = ab_axis_text_width(text, FONT), x = attribute(tag, "x");
        double left = strstr(tag, "=\"end\"") != NULL      ? x - width
                      : strstr(tag, "=\"middle\"") != NULL ? x - width / 2
                                                           : x;
        double y = attribute(tag, "y");
        boxes[n++] = (struct ab_box){left, y - 9, left + width, y + 2};
    }
    return n;
}

static void assert_apart(const char *svg, double width, double height)
{
    struct ab_box b[TEXTS_MAX];
    size_t n = boxes_of(svg, b);
    for (size_t i = 0; i < n; i++) {
        if (b[i].left < -0.1 || b[i].right > width + 0.1 || b[i].top < -0.1 ||
            b[i].bottom > height + 0.1)
            fail_msg("text %zu leaves the picture: %.1f … %.1f", i, b[i].left, b[i].right);
        for (size_t k = 0; k < i; k++)
            if (b[i].left < b[k].right && b[k].left < b[i].right && b[i].top < b[k].bottom &&
                b[k].top < b[i].bottom)
                fail_msg("texts %zu and %zu overlap in %s", k, i, svg);
    }
}

/* ---- axes ---- */

struct ends {
    double low, high;
};

static const struct ends all_ends[] = {{0, 1},       {0, 0},         {1, 1e9},      {25, 31},
                                       {3e6, 3.1e6}, {0.97, 1.4},    {-0.3, 0.2},   {NAN, NAN},
                                       {0, 4e9},     {1e-3, 5e12},   {5, 5},        {0, 1e-9},
                                       {17, 90},     {INFINITY, -1}, {1e15, 1.1e15}};

static void draw_axes(struct ab_html *h, struct ends ends, enum ab_axis_scale scale,
                      enum ab_axis_unit unit, struct ab_plot *p)
{
    *p = (struct ab_plot){0};
    p->x = (struct ab_axis){
        .scale = scale, .low = ends.low, .high = ends.high, .unit = unit, .title = "a title of x"};
    p->y = p->x;
    p->y.title = "a title of y";
    ab_plot_begin(p, h, &(struct ab_figure){.title = "t", .description = "d", .left = 90});
    ab_plot_end(p);
}

static void test_axes(void **state)
{
    struct ab_format_guard guard;
    (void)state;
    ab_format_begin(&guard);
    for (size_t i = 0; i < sizeof all_ends / sizeof all_ends[0]; i++)
        for (unsigned scale = 0; scale < 2; scale++)
            for (unsigned unit = 0; unit < AB_AXIS_QUANTILE; unit++) {
                char *text = NULL;
                size_t n = 0, n_labels = 0;
                struct ab_html h = {.to = open_memstream(&text, &n)};
                struct ab_plot p;
                draw_axes(&h, all_ends[i], scale, unit, &p);
                fclose(h.to);
                assert_null(strstr(text, "nan"));
                assert_null(strstr(text, "inf"));
                assert_apart(text, p.width, p.height);
                for (unsigned k = 0; k < p.x.n_ticks; k++) {
                    n_labels += p.x.is_labelled[k];
                    assert_true(k == 0 || p.x.ticks[k] > p.x.ticks[k - 1]);
                }
                if (n_labels < 2)
                    fail_msg("%zu labels between %g and %g", n_labels, p.x.low, p.x.high);
                free(text);
            }
    ab_format_end(&guard);
}

/* The text of a tick is its value, not one that is near. */
static void test_ticks_are_what_they_say(void **state)
{
    static const struct {
        struct ends ends;
        enum ab_axis_unit unit;
        double of_unit;
    } all[] = {{{17.1, 17.3}, AB_AXIS_BYTES, 1 << 20}, {{130, 131}, AB_AXIS_BYTES, 1 << 20},
               {{5.1, 5.6}, AB_AXIS_BYTES, 1 << 10},   {{10.01, 10.09}, AB_AXIS_TIME, 1e6},
               {{100.1, 101}, AB_AXIS_TIME, 1e3},      {{0, 21}, AB_AXIS_BYTES, 1 << 20}};
    struct ab_format_guard guard;
    (void)state;
    ab_format_begin(&guard);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct ab_axis a = {.low = all[i].ends.low * all[i].of_unit,
                            .high = all[i].ends.high * all[i].of_unit,
                            .unit = all[i].unit,
                            .to = 300};
        ab_axis_set_ticks(&a, false, true);
        assert_in_range(a.n_ticks, 2, 12);
        for (unsigned k = 0; k < a.n_ticks; k++) {
            char text[64];
            double shown = strtod(ab_axis_tick(text, sizeof text, a.unit, a.ticks[k]), NULL);
            if (fabs(shown * all[i].of_unit - a.ticks[k]) > 1e-9 * a.ticks[k])
                fail_msg("%s is written at %g", text, a.ticks[k] / all[i].of_unit);
        }
    }
    ab_format_end(&guard);
}

static void test_scales(void **state)
{
    struct ab_axis a = {.low = 10, .high = 1000, .scale = AB_SCALE_LOG, .from = 0, .to = 200};
    (void)state;
    assert_float_equal(ab_axis_at(&a, 100), 100, 1e-9);
    assert_float_equal(ab_axis_at(&a, -1), 0, 1e-9);
    assert_float_equal(ab_axis_at(&a, 1e6), 200, 1e-9);
    a = (struct ab_axis){.low = 0, .high = 0.999, .scale = AB_SCALE_PERCENTILE, .to = 300};
    assert_float_equal(ab_axis_at(&a, 0.9), 100, 1e-6);
    assert_float_equal(ab_axis_at(&a, 0.99), 200, 1e-6);
    a = (struct ab_axis){.low = -1, .high = 1, .from = 100, .to = 0};
    assert_float_equal(ab_axis_at(&a, 0.5), 25, 1e-9);
}

static void test_texts_of_values(void **state)
{
    static const struct {
        enum ab_axis_unit unit;
        double value;
        const char *text, *tick;
    } all[] = {{AB_AXIS_TIME, 100, "100 ns", "100 ns"},
               {AB_AXIS_TIME, 1500, "1.50 µs", "1.5 µs"},
               {AB_AXIS_TIME, 18e6, "18.0 ms", "18 ms"},
               {AB_AXIS_TIME, 0, "0 ns", "0"},
               {AB_AXIS_TIME, NAN, "n/a", "n/a"},
               {AB_AXIS_BYTES, 64 << 20, "64.0 MiB", "64 MiB"},
               {AB_AXIS_COUNT, 12500, "12.5 k", "12.5 k"},
               {AB_AXIS_FACTOR, 1.25, "1.25×", "1.25×"},
               {AB_AXIS_FACTOR, 1.2, "1.20×", "1.20×"},
               {AB_AXIS_CHANGE, 0.05, "+5.00 %", "+5 %"},
               {AB_AXIS_CHANGE, 0.000713, "+0.07 %", "+0.07 %"},
               {AB_AXIS_FACTOR, 3113, "3.11 k×", "3.11 k×"},
               {AB_AXIS_CHANGE, -0.3, "-30.0 %", "-30 %"},
               {AB_AXIS_RATIO, 1, "+0.00 %", "0"},
               {AB_AXIS_RATIO, 0.5, "-50.0 %", "-50 %"},
               {AB_AXIS_RATIO, 3.2, "+220 %", "+220 %"},
               {AB_AXIS_RATIO, 3113, "+311200 %", "+311200 %"},
               {AB_AXIS_TIME, 90e9, "90.0 s", "90 s"},
               {AB_AXIS_TIME, 900e9, "15 min", "15 min"},
               {AB_AXIS_TIME, 5400e9, "1.5 h", "1.5 h"},
               {AB_AXIS_TIME, 259200e9, "3 d", "3 d"},
               {AB_AXIS_QUANTILE, 0.999, "99.9 %", "99.9 %"}};
    struct ab_format_guard guard;
    (void)state;
    ab_format_begin(&guard);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        char text[64];
        assert_string_equal(ab_axis_text(text, sizeof text, all[i].unit, all[i].value),
                            all[i].text);
        assert_string_equal(ab_axis_tick(text, sizeof text, all[i].unit, all[i].value),
                            all[i].tick);
    }
    ab_format_end(&guard);
}

/* ---- what is drawn ---- */

static void test_lines(void **state)
{
    static const struct ab_point points[] = {{0, 0},   {0.5, 0},   {0.5, 1},
                                             {NAN, 0}, {0.6, 0.5}, {1, 1}};
    char *text = NULL;
    size_t n = 0;
    struct ab_html h = {.to = open_memstream(&text, &n)};
    struct ab_plot p = {.x = {.high = 1}, .y = {.high = 1}};
    (void)state;
    ab_plot_begin(&p, &h, &(struct ab_figure){.title = "t", .description = "d"});
    p.x.from = 0;
    p.x.to = 100;
    p.y.from = 50;
    p.y.to = 0;
    ab_plot_line(
        &p, (struct ab_paint){.colour = AB_COLOUR_S1, .dash = "9 3", .series = 2, .title = "<n>"},
        points, 6);
    ab_plot_end(&p);
    fclose(h.to);
    assert_non_null(strstr(text,
                           "<g class=\"s1\" color=\"#d55e00\" data-s=\"2\">"
                           "<title>&lt;n&gt;</title><path fill=\"none\" stroke=\"currentColor\" "
                           "stroke-width=\"1.6\" stroke-dasharray=\"9 3\" "
                           "d=\"M0 50h50v-50M60 25l40-25\"/></g>"));
    free(text);
}

/* Thirty dots in one corner: all labels that are written are apart, and the first ones are there. */
static void test_labels_keep_apart(void **state)
{
    char *text = NULL;
    size_t n = 0, n_labels = 0;
    struct ab_html h = {.to = open_memstream(&text, &n)};
    struct ab_plot p = {.x = {.high = 1}, .y = {.high = 1}};
    struct ab_paint paint = {.colour = AB_COLOUR_S0};
    (void)state;
    ab_plot_begin(&p, &h, &(struct ab_figure){.title = "t", .description = "d"});
    for (int i = 0; i < 30; i++)
        ab_plot_label(&p, paint, (struct ab_point){0.9 + 0.001 * i, 0.9}, "an_allocator");
    ab_plot_end(&p);
    fclose(h.to);
    for (const char *at = text; (at = strstr(at, ">an_allocator<")) != NULL; at++)
        n_labels++;
    assert_in_range(n_labels, 5, 30);
    assert_apart(text, p.width, p.height);
    free(text);
}

/* ---- curves ---- */

/* Every point of a curve is what the histogram says of its q; the sure part ends where ten are left. */
static void test_curve(void **state)
{
    struct ab_hdr *hdr = malloc(sizeof *hdr);
    struct ab_latency_curve *c = malloc(sizeof *c);
    (void)state;
    assert_true(hdr != NULL && c != NULL);
    ab_hdr_init(hdr);
    ab_latency_curve_make(hdr, 100, 0, c);
    assert_int_equal(c->n, 0);
    for (uint64_t i = 1; i <= 10000; i++)
        ab_hdr_record(hdr, i < 5000 ? 20 : i);
    ab_latency_curve_make(hdr, 200, 0, c);
    assert_in_range(c->n, 50, 201);
    for (size_t i = 0; i < c->n; i++) {
        assert_int_equal((uint64_t)c->points[i].y, ab_hdr_quantile(hdr, c->points[i].x));
        assert_true(i == 0 || c->points[i].x >= c->points[i - 1].x);
    }
    assert_float_equal(c->points[c->n - 1].x, 0.9999, 1e-9);
    double behind = 10000 * (1 - c->points[c->n_sure - 1].x);
    assert_true(behind >= 10 - 1e-6 && behind < 11);
    ab_hdr_init(hdr);
    ab_hdr_record(hdr, 5);
    ab_latency_curve_make(hdr, 24, 0, c);
    assert_int_equal(c->n_sure, 0);
    free(hdr);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_axes),   cmocka_unit_test(test_ticks_are_what_they_say),
        cmocka_unit_test(test_scales), cmocka_unit_test(test_texts_of_values),
        cmocka_unit_test(test_lines),  cmocka_unit_test(test_labels_keep_apart),
        cmocka_unit_test(test_curve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
