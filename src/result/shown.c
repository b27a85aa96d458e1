/* SPDX-License-Identifier: MIT
 *
 * Formats numbers, counts and names as cells of a table: short, independent of the locale, and
 * measured in terminal columns.
 */
#include "result/shown.h"

#include "core/text.h"
#include "core/units_show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

void ab_format_begin(struct ab_format_guard *guard)
{
    guard->ours = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0);
    if (guard->ours == (locale_t)0)
        guard->ours = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    guard->before = guard->ours != (locale_t)0 ? uselocale(guard->ours) : (locale_t)0;
}

void ab_format_end(struct ab_format_guard *guard)
{
    if (guard->ours == (locale_t)0)
        return;
    uselocale(guard->before);
    freelocale(guard->ours);
}

/* Removes the blank in "1.31 us", because table cells have no room for it. */
static char *join(char *s)
{
    char *to = s;
    for (const char *from = s; *from != 0; from++)
        if (*from != ' ')
            *to++ = *from;
    *to = 0;
    return s;
}

static void print_ns(char *buf, size_t cap, double ns)
{
    ab_units_time(buf, cap, ns);
    join(buf);
    size_t n = strlen(buf);
    /* without the unit, because ns is the unit of the table */
    if (n > 2 && strcmp(buf + n - 2, "ns") == 0)
        buf[n - 2] = 0;
}

const char *ab_format_ns(char buf[AB_CELL_BYTES], double ns, double floor_ns)
{
    if (!isfinite(ns)) {
        snprintf(buf, AB_CELL_BYTES, "-");
    } else if (ns < floor_ns) {
        buf[0] = '<';
        print_ns(buf + 1, AB_CELL_BYTES - 1, floor_ns);
    } else {
        print_ns(buf, AB_CELL_BYTES, ns);
    }
    return buf;
}

const char *ab_format_ratio(char buf[AB_CELL_BYTES], double ratio)
{
    if (!isfinite(ratio))
        snprintf(buf, AB_CELL_BYTES, "-");
    else
        snprintf(buf, AB_CELL_BYTES, "%.*f",
                 ratio < 9.995   ? 2
                 : ratio < 99.95 ? 1
                                 : 0,
                 fmin(ratio, 1e12));
    return buf;
}

const char *ab_format_effect(char buf[AB_CELL_BYTES], double ratio, double low, double high)
{
    char middle[AB_CELL_BYTES], from[AB_CELL_BYTES], to[AB_CELL_BYTES];
    bool is_beside_one = (low > 1 && low < 1.005) || (high < 1 && high >= 0.995);
    ab_format_ratio(middle, ratio);
    if (is_beside_one && ratio < 9.995 && high < 9.995) /* with two decimals, "1.00" would look as
                                                           if the interval contained 1 */
        snprintf(buf, AB_CELL_BYTES, "%.3fx [%.3f, %.3f]", ratio, low, high);
    else if (!isfinite(ratio))
        snprintf(buf, AB_CELL_BYTES, "-");
    else if (!isfinite(low) || !isfinite(high))
        snprintf(buf, AB_CELL_BYTES, "%.16sx", middle);
    else
        snprintf(buf, AB_CELL_BYTES, "%.16sx [%.16s, %.16s]", middle, ab_format_ratio(from, low),
                 ab_format_ratio(to, high));
    return buf;
}

const char *ab_format_size_class(char buf[AB_CELL_BYTES], unsigned log2)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    unsigned high = log2 / 10, low = log2 > 0 ? (log2 - 1) / 10 : 0;
    unsigned from = log2 > 0 ? 1U << (log2 - 1) % 10 : 0, to = 1U << log2 % 10;
    if (high == 0)
        snprintf(buf, AB_CELL_BYTES, "%u - %u B", log2 > 0 ? from + 1 : 0, to);
    else
        snprintf(buf, AB_CELL_BYTES, ">%u%s%s - %u %s", from, low != high ? " " : "",
                 low != high ? units[low] : "", to, units[high]);
    return buf;
}

const char *ab_format_count(char buf[AB_CELL_BYTES], double n)
{
    if (!isfinite(n))
        snprintf(buf, AB_CELL_BYTES, "-");
    else
        join((char *)ab_units_count(buf, AB_CELL_BYTES, n));
    return buf;
}

const char *ab_format_share(char buf[AB_CELL_BYTES], double share, const char *between)
{
    if (isnan(share))
        snprintf(buf, AB_CELL_BYTES, "-");
    else if (share > 0 && share < 0.0005)
        snprintf(buf, AB_CELL_BYTES, "<0.1%s%%", between);
    else
        snprintf(buf, AB_CELL_BYTES, "%.1f%s%%", 100 * share, between);
    return buf;
}

double ab_format_ns_of_unit(const char *unit)
{
    return strcmp(unit, "ns") == 0   ? 1
           : strcmp(unit, "us") == 0 ? 1e3
           : strcmp(unit, "ms") == 0 ? 1e6
           : strcmp(unit, "s") == 0  ? 1e9
                                     : 0;
}

const char *ab_format_value(char buf[AB_CELL_BYTES], double value, const char *unit)
{
    char ratio[AB_CELL_BYTES];
    if (!isfinite(value))
        snprintf(buf, AB_CELL_BYTES, "-");
    else if (ab_format_ns_of_unit(unit) > 0)
        ab_units_time(buf, AB_CELL_BYTES, value * ab_format_ns_of_unit(unit));
    else if (strcmp(unit, "bytes") == 0)
        ab_units_bytes(buf, AB_CELL_BYTES, value);
    else if (strcmp(unit, "percent") == 0)
        snprintf(buf, AB_CELL_BYTES, "%.1f %%", fmin(value, 1e12));
    else if (strncmp(unit, "x ", 2) == 0 && value > 0 && value < 0.0995)
        snprintf(buf, AB_CELL_BYTES, "%.3gx", value);
    else if (strncmp(unit, "x ", 2) == 0)
        snprintf(buf, AB_CELL_BYTES, "%.20sx", ab_format_ratio(ratio, value));
    else
        ab_units_count(buf, AB_CELL_BYTES, value);
    return buf;
}

const char *ab_format_backend(char *dst, size_t cap, const struct ab_backend_info *b)
{
    bool is_aside = ab_backend_status_is_aside(b->status);
    snprintf(dst, cap, "%s%s%s%s", ab_backend_label(b), is_aside ? " (" : "",
             is_aside ? ab_backend_status_name(b->status) : "", is_aside ? ")" : "");
    return dst;
}

/* Returns the number of bytes of the character at s. *columns receives the number of its columns; 0
 * = a character that must not be shown. */
static size_t next_character(const char *s, unsigned *columns)
{
    wchar_t c;
    mbstate_t state = {0};
    size_t n = mbrtowc(&c, s, strlen(s), &state);
    if (n == 0 || n > strlen(s)) {
        *columns = 0;
        return 1;
    }
    int width = wcwidth(c);
    *columns = width > 0 ? (unsigned)width : 0;
    return n;
}

unsigned ab_format_width(const char *s)
{
    unsigned total = 0, columns;
    for (; *s != 0; s += next_character(s, &columns), total += columns) {
    }
    return total;
}

/* Copies as much of s as fits into `width` columns and `cap` bytes. Returns false if something was
 * left out. */
static bool copy_label(char *dst, size_t cap, const char *s, unsigned width, bool utf8)
{
    size_t used = 0;
    unsigned total = 0;
    while (*s != 0) {
        unsigned columns;
        size_t n = next_character(s, &columns);
        bool as_is = columns > 0 && (utf8 || (*s > 0x1f && *s < 0x7f));
        columns = as_is ? columns : 1;
        size_t bytes = as_is ? n : 1;
        if (total + columns > width || used + bytes + 1 > cap)
            break;
        memcpy(dst + used, as_is ? s : "?", bytes);
        used += bytes;
        total += columns;
        s += n;
    }
    dst[used] = 0;
    return *s == 0;
}

const char *ab_format_label(char *dst, size_t cap, const char *s, unsigned width, bool utf8)
{
    char printable[2048];
    const char *dots = utf8 ? "\u2026" : "..";
    unsigned n_dots = utf8 ? 1 : 2;
    ab_text_printable(printable, sizeof printable, s);
    if (copy_label(dst, cap, printable, width, utf8) || width <= n_dots || cap <= strlen(dots) + 1)
        return dst;
    copy_label(dst, cap - strlen(dots), printable, width - n_dots, utf8);
    strcat(dst, dots);
    return dst;
}

/* Returns the number of columns that copy_label uses for the character at s. *n receives the number
 * of its bytes. */
static unsigned shown_columns(const char *s, size_t *n, bool utf8)
{
    unsigned columns;
    *n = next_character(s, &columns);
    return columns > 0 && (utf8 || (unsigned char)*s < 0x7f) ? columns : 1;
}

/* Returns the longest end of `s` that takes at most `width` columns. */
static const char *last_columns(const char *s, unsigned width, bool utf8)
{
    unsigned total = 0;
    size_t n;
    for (const char *p = s; *p != 0; p += n)
        total += shown_columns(p, &n, utf8);
    for (; total > width; s += n)
        total -= shown_columns(s, &n, utf8);
    return s;
}

const char *ab_format_name(char *dst, size_t cap, const char *s, unsigned width, bool utf8)
{
    char printable[2048];
    unsigned n_dots = utf8 ? 1 : 2, end = width > n_dots ? (width - n_dots) / 2 : 0;
    ab_text_printable(printable, sizeof printable, s);
    if (copy_label(dst, cap, printable, width, utf8) || end == 0 || cap < 4u * width + 4)
        return ab_format_label(dst, cap, s, width, utf8);
    copy_label(dst, cap, printable, width - n_dots - end, utf8);
    strcat(dst, utf8 ? "\u2026" : "..");
    size_t used = strlen(dst);
    copy_label(dst + used, cap - used, last_columns(printable, end, utf8), end, utf8);
    return dst;
}
