/* SPDX-License-Identifier: MIT
 *
 * The writer of HTML: what comes from outside stays text, and colours can be read and told apart.
 * tests: frame.c palette.c
 */
#include "report/html/frame.h"
#include "report/html/html.h"
#include "report/html/palette.h"
#include "support/cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *written(void (*write)(struct ab_html *h))
{
    char *text = NULL;
    size_t n = 0;
    struct ab_html h = {.to = open_memstream(&text, &n)};
    write(&h);
    fclose(h.to);
    return text;
}

static void assert_written(void (*write)(struct ab_html *h), const char *expected)
{
    char *text = written(write);
    assert_string_equal(text, expected);
    free(text);
}

static void write_hostile(struct ab_html *h)
{
    ab_html_f(h, "<a title=\"%s\">%s</a>", "\" onload='x'&", "</script><img src=x onerror=y>");
}

static void write_bytes(struct ab_html *h)
{
    ab_html_text(h, "\x1b[31m red\n \xff \xc3\x28 \xe2\x80\xae µ");
}

static void write_lines(struct ab_html *h)
{
    ab_html_lines(h, "a: <1>\n\tb: \x07\n");
}

static void write_numbers(struct ab_html *h)
{
    const char *volatile nothing = NULL;
    ab_html_f(h, "%.2f %.1f %.1f %.3g %5d|%02u|%zu|%llu%% %s", 12.50, 3.0, -0.04, 1e-9, -7, 3u,
              (size_t)9, 1ull << 40, nothing);
}

static void write_long(struct ab_html *h)
{
    char text[3000];
    memset(text, '<', sizeof text - 1);
    text[sizeof text - 1] = 0;
    ab_html_text(h, text);
}

static void test_escapes(void **state)
{
    (void)state;
    assert_written(write_hostile,
                   "<a title=\"&quot; onload=&#39;x&#39;&amp;\">&lt;/script&gt;&lt;img "
                   "src=x onerror=y&gt;</a>");
    assert_written(write_bytes, "\\x1b[31m red\\x0a \\xff \\xc3( \\xe2\\x80\\xae µ");
    assert_written(write_lines, "a: &lt;1&gt;\n\tb: \\x07\n");
    char *text = written(write_long);
    assert_int_equal(strlen(text), 4 * 2999);
    free(text);
}

static void test_numbers(void **state)
{
    (void)state;
    assert_written(write_numbers, "12.5 3 0 1e-09    -7|03|9|1099511627776% ");
}

/* SHA-256 of nothing and of "abc" (FIPS 180-4), in base64. */
static void test_digest(void **state)
{
    (void)state;
    char digest[AB_ASSET_DIGEST_BYTES];
    ab_asset_digest(&(struct ab_asset){"", 0}, 1, digest);
    assert_string_equal(digest, "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    ab_asset_digest((const struct ab_asset[]){{"a", 1}, {"bc", 2}}, 2, digest);
    assert_string_equal(digest, "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
}

static void test_assets_do_not_end_their_element(void **state)
{
    (void)state;
    struct ab_asset all[] = {ab_asset_style(), ab_asset_script()};
    for (size_t i = 0; i < 2; i++) {
        assert_true(all[i].n > 1000);
        assert_null(memmem(all[i].text, all[i].n, "</", 2));
        assert_null(memmem(all[i].text, all[i].n, "<!--", 4));
        assert_null(memmem(all[i].text, all[i].n, "url(", 4));
        assert_null(memmem(all[i].text, all[i].n, "http", 4));
    }
}

/* ---- colours ---- */

/* WCAG 2.1: relative luminance, contrast. */
static double luminance(const char *hex)
{
    static const double weights[] = {0.2126, 0.7152, 0.0722};
    double sum = 0;
    assert_int_equal(strlen(hex), 7);
    for (int i = 0; i < 3; i++) {
        char part[3] = {hex[1 + 2 * i], hex[2 + 2 * i], 0};
        double c = (double)strtol(part, NULL, 16) / 255;
        sum += weights[i] * (c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
    return sum;
}

static double contrast(const char *a, const char *b)
{
    double x = luminance(a), y = luminance(b);
    return (fmax(x, y) + 0.05) / (fmin(x, y) + 0.05);
}

static double least_contrast(enum ab_colour on, enum ab_colour colour)
{
    return fmin(contrast(ab_colours[on].light, ab_colours[colour].light),
                contrast(ab_colours[on].dark, ab_colours[colour].dark));
}

static void test_contrast(void **state)
{
    static const enum ab_colour texts[] = {AB_COLOUR_INK,  AB_COLOUR_SOFT, AB_COLOUR_LINK,
                                           AB_COLOUR_GOOD, AB_COLOUR_BAD,  AB_COLOUR_WARN};
    static const enum ab_colour grounds[] = {AB_COLOUR_PAPER, AB_COLOUR_RAISED, AB_COLOUR_FLOOR};
    (void)state;
    assert_true(fabs(contrast("#000000", "#ffffff") - 21) < 1e-9);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        for (size_t k = 0; k < sizeof grounds / sizeof grounds[0]; k++)
            if (least_contrast(grounds[k], texts[i]) < 4.5)
                fail_msg("text %s on %s: %.2f", ab_colours[texts[i]].class_name,
                         ab_colours[grounds[k]].class_name, least_contrast(grounds[k], texts[i]));
    for (unsigned c = AB_COLOUR_HEAT; c < AB_COLOUR_COUNT; c++)
        if (least_contrast(AB_COLOUR_PAPER, c) < 3)
            fail_msg("%s: %.2f", ab_colours[c].class_name, least_contrast(AB_COLOUR_PAPER, c));
}

/* Names of the style sheet's variables are the palette's. */
static void test_style_knows_its_colours(void **state)
{
    (void)state;
    struct ab_asset style = ab_asset_style();
    for (const char *at = style.text;
         (at = memmem(at, (size_t)(style.text + style.n - at), "var(--", 6)) != NULL;) {
        char name[32] = "";
        bool is_known = false;
        sscanf(at += 6, "%31[a-z0-9]", name);
        for (unsigned c = 0; c < AB_COLOUR_COUNT; c++)
            is_known = is_known || strcmp(ab_colours[c].class_name, name) == 0;
        if (!is_known)
            fail_msg("the style sheet uses --%s", name);
    }
}

static void test_series(void **state)
{
    enum { MANY = AB_SERIES_COLOURS * AB_SERIES_DASHES };
    static const char *const few[] = {"zz", "jemalloc{A=1}", "glibc", "jemalloc", "glibc"};
    struct ab_series_style style[MANY];
    char room[MANY][16];
    const char *names[MANY];
    (void)state;
    ab_palette_assign(few, 5, style);
    assert_int_equal(style[2].colour, AB_COLOUR_S0);
    assert_int_equal(style[3].colour, AB_COLOUR_S1);
    assert_true(style[1].colour != AB_COLOUR_S1);
    assert_memory_equal(&style[2], &style[4], sizeof style[0]);
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(room[i], sizeof room[i], "lib%u", i);
        names[i] = room[i];
    }
    ab_palette_assign(names, MANY, style);
    for (unsigned i = 0; i < MANY; i++)
        for (unsigned k = 0; k < i; k++)
            if (style[i].colour == style[k].colour && style[i].dash == style[k].dash)
                fail_msg("%s and %s are drawn alike", names[i], names[k]);
    for (unsigned i = 0; i < AB_SERIES_COLOURS; i++)
        for (unsigned k = 0; k < i; k++)
            assert_true(style[i].colour != style[k].colour);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_escapes),  cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_digest),   cmocka_unit_test(test_assets_do_not_end_their_element),
        cmocka_unit_test(test_contrast), cmocka_unit_test(test_style_knows_its_colours),
        cmocka_unit_test(test_series),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
