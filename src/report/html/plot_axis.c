/* SPDX-License-Identifier: MIT
 *
 * Axes: texts of values, scales and ticks. Linear steps are 1, 2 or 5 times a power of ten, or a
 * power of two. Log axes have the powers of ten, and 2 and 5 times these if there is room.
 */
#include "report/html/plot.h"

#include "base/bits.h"
#include "core/units_show.h"
#include "result/shown.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TICK_PX = 32, LABEL_GAP_PX = 4, FONT_PX = 14 }; /* FONT_PX: font of small screens */
#define QUANTILE_LAST (1 - 1e-7) /* matches AB_VIEW_NINES_MOST: quantiles above it are drawn here */

/* ---- labels ---- */

/* Drops trailing zeros of the number at the start of s: "1.50 ms" becomes "1.5 ms". */
static char *trim(char *s)
{
    size_t n = strcspn(s, " %");
    char *point = memchr(s, '.', n);
    if (point == NULL)
        return s;
    char *end = s + n;
    while (end[-1] == '0')
        end--;
    if (end - 1 == point)
        end--;
    memmove(end, s + n, strlen(s + n) + 1);
    return s;
}

/* Writes "24.6×" or "3.11 k×". */
static void put_factor(char *buf, size_t cap, double x)
{
    char count[64];
    if (x < 999.5)
        snprintf(buf, cap, "%.*f×", x < 9.995 ? 2 : x < 99.95 ? 1 : 0, x);
    else
        snprintf(buf, cap, "%s×", ab_units_count(count, sizeof count, x));
}

static void put_percent(char *buf, size_t cap, double x)
{
    double percent = 100 * x;
    if (fabs(percent) < 99.95) /* limits the decimals, because nothing is known as precisely as
                                  "+0.0713 %" */
        snprintf(buf, cap, "%+.*f %%", fabs(percent) < 9.995 ? 2 : 1, percent);
    else
        snprintf(buf, cap, fabs(percent) < 1e6 ? "%+.0f %%" : "%+.3g %%", percent);
}

const char *ab_axis_text(char *buf, size_t cap, enum ab_axis_unit unit, double value)
{
    if (isnan(value))
        snprintf(buf, cap, "n/a");
    else if (unit == AB_AXIS_TIME)
        ab_units_span(buf, cap, value, true);
    else if (unit == AB_AXIS_BYTES)
        ab_units_bytes(buf, cap, value);
    else if (unit == AB_AXIS_FACTOR)
        put_factor(buf, cap, value);
    else if (unit == AB_AXIS_CHANGE)
        put_percent(buf, cap, value);
    else if (unit == AB_AXIS_RATIO)
        ab_axis_text(buf, cap, AB_AXIS_CHANGE, value - 1);
    else if (unit == AB_AXIS_QUANTILE)
        snprintf(buf, cap, "%.8g %%", 100 * value);
    else
        ab_units_count(buf, cap, value);
    return buf;
}

const char *ab_axis_tick(char *buf, size_t cap, enum ab_axis_unit unit, double value)
{
    if (value == (unit == AB_AXIS_RATIO ? 1 : 0))
        snprintf(buf, cap, "0");
    else
        ab_axis_text(buf, cap, unit, value);
    return trim(buf);
}

double ab_axis_text_width(const char *text, double size)
{
    return 0.6 * size * ab_format_width(text);
}

/* ---- scale ---- */

static double scaled(const struct ab_axis *a, double value)
{
    if (a->scale == AB_SCALE_LOG)
        return log10(value > 0 ? value : a->low);
    if (a->scale == AB_SCALE_PERCENTILE)
        return -log10(1 - fmin(fmax(value, 0), QUANTILE_LAST));
    return value;
}

double ab_axis_at(const struct ab_axis *a, double value)
{
    double low = scaled(a, a->low), high = scaled(a, a->high);
    double part = (scaled(a, value) - low) / (high - low);
    return a->from + fmin(fmax(part, 0), 1) * (a->to - a->from);
}

/* ---- ticks ---- */

static void add_tick(struct ab_axis *a, double value, bool is_labelled)
{
    double slack = 1e-9 * (fabs(a->high) + fabs(a->low));
    if (a->n_ticks == AB_AXIS_TICKS || value < a->low - slack || value > a->high + slack)
        return;
    a->ticks[a->n_ticks] = value;
    a->is_labelled[a->n_ticks++] = is_labelled;
}

/* Returns the smallest readable step that is at least `least`. */
static double step_of(double least, bool is_binary)
{
    if (is_binary && least >= 1)
        return exp2(ceil(log2(least)));
    double ten = pow(10, floor(log10(least)));
    double part = least / ten;
    return ten * (part <= 1.0001 ? 1 : part <= 2.0001 ? 2 : part <= 5.0001 ? 5 : 10);
}

/* Like step_of for long times: no tenths of minutes, hours and days. */
static double long_step(double least)
{
    static const double seconds[] = {30,   60,   120,   300,   600,   900,  1800,
                                     3600, 7200, 10800, 21600, 43200, 86400};
    for (size_t i = 0; i < AB_ARRAY_LEN(seconds); i++)
        if (least <= seconds[i] * 1e9 * 1.0001)
            return seconds[i] * 1e9;
    return step_of(least / 86400e9, false) * 86400e9;
}

/* Returns the smallest step at which ticks differ in their text, which has three digits. */
static double least_step(const struct ab_axis *a)
{
    double most = fmax(fabs(a->low), fabs(a->high));
    if (most == 0 || a->unit != AB_AXIS_BYTES)
        return most == 0 ? 0 : pow(10, floor(log10(most)) - 2);
    double unit = pow(1024, fmin(fmax(0, floor(log2(most) / 10 + 1e-9)), 4)), n = most / unit;
    return unit * (n < 9.995 ? 0.25 : n < 99.95 ? 0.5 : 1);
}

static void set_linear(struct ab_axis *a, double room, bool is_widened)
{
    double least = fmax((a->high - a->low) / fmax(2, room), least_step(a));
    bool is_long = a->unit == AB_AXIS_TIME &&
                   a->high >= ab_span_units[AB_SPAN_UNITS - 1].picture_least_ns;
    double step = is_long ? long_step(least) : step_of(least, a->unit == AB_AXIS_BYTES);
    if (is_widened) {
        a->low = step * floor(a->low / step + 1e-9);
        a->high = step * ceil(a->high / step - 1e-9);
    }
    for (double i = ceil(a->low / step - 1e-9); i * step <= a->high + step * 1e-9; i++)
        add_tick(a, i * step + 0.0, true); /* adding 0.0 turns -0 into 0 */
}

static void set_log(struct ab_axis *a, double room, bool is_widened)
{
    static const double parts[] = {1, 2, 5};
    if (is_widened) {
        a->low /= 1.12;
        a->high *= 1.12;
    }
    double decades = log10(a->high / a->low);
    if (decades < 0.6) { /* too few decades for ticks at 1, 2 and 5 */
        set_linear(a, fmin(room, 5), false);
        return;
    }
    int every = (int)fmax(1, ceil(decades / fmax(2, room)));
    int first = (int)floor(log10(a->low)), last = (int)ceil(log10(a->high));
    bool has_parts = decades * 3 <= room + 1;
    for (int e = first; e <= last; e++)
        for (unsigned i = 0; i < (has_parts ? AB_ARRAY_LEN(parts) : 1); i++)
            if (e % every == 0)
                add_tick(a, parts[i] * pow(10, e), true);
}

static void set_percentile(struct ab_axis *a)
{
    static const double all[] = {0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999};
    for (unsigned i = 0; i < AB_ARRAY_LEN(all); i++)
        add_tick(a, all[i], true);
}

static void drop_labels(struct ab_axis *a, bool is_horizontal)
{
    double taken = -INFINITY;
    for (unsigned i = 0; i < a->n_ticks; i++) {
        char text[64];
        double at = is_horizontal ? ab_axis_at(a, a->ticks[i]) : -ab_axis_at(a, a->ticks[i]);
        double half = is_horizontal
                          ? ab_axis_text_width(
                                ab_axis_tick(text, sizeof text, a->unit, a->ticks[i]), FONT_PX) /
                                2
                          : FONT_PX * 0.6;
        a->is_labelled[i] = at - half >= taken;
        if (a->is_labelled[i])
            taken = at + half + (is_horizontal ? LABEL_GAP_PX : 2);
    }
}

/* Replaces ends between which no picture can be drawn. */
static void mend_ends(struct ab_axis *a)
{
    if (!isfinite(a->low) || !isfinite(a->high) || (a->scale == AB_SCALE_LOG && a->high <= 0)) {
        a->low = a->scale == AB_SCALE_LOG ? 1 : 0;
        a->high = a->scale == AB_SCALE_LOG ? 10 : 1;
    }
    if (a->scale == AB_SCALE_LOG && a->low <= 0)
        a->low = a->high / 10;
    if (a->high - a->low <= 1e-12 * fabs(a->high)) {
        double slack = a->high == 0 ? 1 : 0.1 * fabs(a->high);
        a->low -= a->low == 0 ? 0 : slack;
        a->high += slack;
    }
}

void ab_axis_set_ticks(struct ab_axis *a, bool is_horizontal, bool is_widened)
{
    double room = fabs(a->to - a->from) / (is_horizontal ? 2.5 * TICK_PX : TICK_PX);
    mend_ends(a);
    a->n_ticks = 0;
    if (a->scale == AB_SCALE_LOG)
        set_log(a, room, is_widened);
    else if (a->scale == AB_SCALE_PERCENTILE)
        set_percentile(a);
    else
        set_linear(a, room, is_widened);
    drop_labels(a, is_horizontal);
}
