/* SPDX-License-Identifier: MIT
 *
 * Formats numbers with three significant digits and a fitting unit. The decimal point is always a
 * point, whatever the locale.
 */
#include "core/units_show.h"

#include "base/bits.h"
#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static char *print_scaled(char *buf, size_t cap, double v, const char *const *names, size_t n_names,
                          double step)
{
    size_t i = 0;
    while (i + 1 < n_names && fabs(v) >= step * 0.9995) {
        v /= step;
        i++;
    }
    int decimals = i == 0 && v == nearbyint(v) ? 0 : fabs(v) < 9.995 ? 2 : fabs(v) < 99.95 ? 1 : 0;
    char number[400];
    AB_FIT(number, "%.*f", decimals, v);
    size_t digits = strspn(number, "-0123456789");
    /* replaces the locale's decimal point, which may have several bytes */
    if (number[digits] != 0 && isfinite(v)) {
        size_t radix = strcspn(number + digits, "0123456789");
        number[digits] = '.';
        memmove(number + digits + 1, number + digits + radix, strlen(number + digits + radix) + 1);
    }
    snprintf(buf, cap, "%s%s%s", number, names[i][0] != 0 ? " " : "", names[i]);
    return buf;
}

static const char *const byte_units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

const char *ab_units_bytes(char *buf, size_t cap, double bytes)
{
    return print_scaled(buf, cap, bytes, byte_units, 5, 1024);
}

const char *ab_units_exact(char *buf, size_t cap, uint64_t bytes, const char *between)
{
    size_t i = 0;
    for (; bytes > 0 && bytes % 1024 == 0; i++)
        bytes /= 1024;
    snprintf(buf, cap, "%llu%s%s", (unsigned long long)bytes, between,
             i == 0 && between[0] == 0 ? "" : byte_units[i]);
    return buf;
}

const char *ab_units_time(char *buf, size_t cap, double ns)
{
    static const char *const names[] = {"ns", "us", "ms", "s"};
    return print_scaled(buf, cap, ns, names, AB_ARRAY_LEN(names), 1000);
}

const struct ab_span_unit ab_span_units[AB_SPAN_UNITS] = {
    {"days", "d", 24 * 3600e9, 48 * 3600e9, 48 * 3600e9},
    {"h", "h", 3600e9, 2 * 3600e9, 3600e9},
    {"min", "min", 60e9, 120e9, 120e9},
};

const char *ab_units_span(char *buf, size_t cap, double ns, bool is_in_picture)
{
    static const char *const names[] = {"ns", "µs", "ms", "s"};
    for (const struct ab_span_unit *u = ab_span_units; u < ab_span_units + AB_SPAN_UNITS; u++)
        if (ns >= (is_in_picture ? u->picture_least_ns : u->least_ns)) {
            snprintf(buf, cap, "%.3g %s", ns / u->ns, is_in_picture ? u->letter : u->name);
            return buf;
        }
    return is_in_picture ? print_scaled(buf, cap, ns, names, AB_ARRAY_LEN(names), 1000)
                         : ab_units_time(buf, cap, ns);
}

const char *ab_units_count(char *buf, size_t cap, double n)
{
    static const char *const names[] = {"", "k", "M", "G", "T"};
    return print_scaled(buf, cap, n, names, AB_ARRAY_LEN(names), 1000);
}
