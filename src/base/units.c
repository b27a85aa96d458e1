/* SPDX-License-Identifier: MIT
 *
 * Parses numbers without stdio and libm, because the worker uses this to read the parameters of
 * plug-ins.
 */
#include "base/units.h"

#include "base/bits.h"

#include <stdbool.h>
#include <string.h>

struct unit {
    const char *name;
    double factor;
};

static const struct unit count_units[] = {
    {"", 1}, {"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12},
};
static const struct unit byte_units[] = {
    {"", 1},         {"B", 1},        {"k", 1e3},      {"K", 1e3},      {"M", 1e6},  {"G", 1e9},
    {"T", 1e12},     {"KB", 1e3},     {"kB", 1e3},     {"MB", 1e6},     {"GB", 1e9}, {"TB", 1e12},
    {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40},
};
static const struct unit time_units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
static const struct unit fraction_units[] = {{"", 1}, {"%", 0.01}};

static const struct kind {
    const struct unit *units;
    size_t n_units;
    bool whole;
    const char *bad_unit;
} kinds[] = {
    [AB_UNIT_COUNT] = {count_units, AB_ARRAY_LEN(count_units), true,
                       "unknown unit; expected a count such as 20000, 1e6, 1_000_000 or 20M"},
    [AB_UNIT_BYTES] = {byte_units, AB_ARRAY_LEN(byte_units), true,
                       "unknown unit; expected a size such as 64, 4KiB, 1MB or 2GiB"},
    [AB_UNIT_TIME] = {time_units, AB_ARRAY_LEN(time_units), true,
                      "a time needs a unit: ns, us, ms or s"},
    [AB_UNIT_FRACTION] = {fraction_units, AB_ARRAY_LEN(fraction_units), false,
                          "expected a fraction such as 0.25 or 25%"},
    [AB_UNIT_BYTES_REAL] = {byte_units, AB_ARRAY_LEN(byte_units), false,
                            "unknown unit; expected a size such as 64, 4KiB, 1MB or 2GiB"},
    [AB_UNIT_TIME_REAL] = {time_units, AB_ARRAY_LEN(time_units), false,
                           "a time needs a unit: ns, us, ms or s"},
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Copies decimal digits without the single underscores that may stand between them; advances *i
 * past them. */
static const char *read_digits(const char *s, size_t n, size_t *i, char *dst, size_t *used,
                               size_t cap)
{
    size_t first = *i;
    for (; *i < n && (is_digit(s[*i]) || s[*i] == '_'); (*i)++) {
        if (s[*i] == '_') {
            if (*i == first || *i + 1 >= n || !is_digit(s[*i + 1]) || s[*i - 1] == '_')
                return "misplaced '_' in a number";
            continue;
        }
        if (*used + 1 >= cap)
            return "number too long";
        dst[(*used)++] = s[*i];
    }
    return *i == first ? "not a number" : NULL;
}

/* Converts decimal digits and an exponent to a double, without strtod, which depends on the
 * locale. */
static double text_to_double(const char *digits, size_t n_digits, int exponent)
{
    long double v = 0;
    for (size_t i = 0; i < n_digits; i++)
        v = v * 10 + (digits[i] - '0');
    for (; exponent > 0; exponent--)
        v *= 10;
    long double scale = 1;
    for (; exponent < 0; exponent++)
        scale *= 10;
    return (double)(v / scale);
}

static const char *read_exponent(const char *s, size_t n, size_t *i, int *exponent)
{
    size_t j = *i + 1;
    bool negative = j < n && s[j] == '-';
    if (j < n && (s[j] == '-' || s[j] == '+'))
        j++;
    if (j >= n || !is_digit(s[j]))
        return NULL; /* a unit follows, not an exponent */
    int e = 0;
    for (; j < n && is_digit(s[j]); j++)
        if ((e = e * 10 + (s[j] - '0')) > 400)
            return "number out of range";
    *exponent += negative ? -e : e;
    *i = j;
    return NULL;
}

/* Computes digits * factor exactly, also above 2^53, from where on a double is not exact. `n` is at
 * most 19. Returns false if the result overflows. */
static bool digits_to_whole(const char *digits, size_t n, uint64_t factor, uint64_t *out)
{
    uint64_t whole = 0;
    for (size_t i = 0; i < n; i++)
        whole = whole * 10 + (uint64_t)(digits[i] - '0');
    return !__builtin_mul_overflow(whole, factor, out);
}

/* Rounds to the nearest whole number; 0 ≤ v < 2^63. */
static double rounded(double v)
{
    return (double)(uint64_t)(v + 0.5);
}

const char *ab_units_parse(const char *s, size_t n, enum ab_unit_kind kind, struct ab_number *out)
{
    char digits[64];
    size_t i = 0, used = 0;
    int exponent = 0;
    if (n == 0)
        return "empty; expected a number";
    if (s[0] == '-')
        return "must not be negative";
    const char *bad = read_digits(s, n, &i, digits, &used, sizeof digits);
    if (bad != NULL)
        return bad;
    if (used > 1 && digits[0] == '0')
        return "leading zero; numbers are decimal";
    if (used == 1 && digits[0] == '0' && i < n && (s[i] == 'x' || s[i] == 'X'))
        return "hexadecimal is not supported; numbers are decimal";
    if (i < n && s[i] == '.') {
        size_t before = used;
        i++;
        if ((bad = read_digits(s, n, &i, digits, &used, sizeof digits)) != NULL)
            return "digits are missing after '.'";
        exponent -= (int)(used - before);
    }
    if (i < n && (s[i] == 'e' || s[i] == 'E') && (bad = read_exponent(s, n, &i, &exponent)) != NULL)
        return bad;
    const struct kind *k = &kinds[kind];
    const struct unit *unit = NULL;
    for (size_t u = 0; u < k->n_units && unit == NULL; u++)
        if (strlen(k->units[u].name) == n - i && memcmp(k->units[u].name, s + i, n - i) == 0)
            unit = &k->units[u];
    double number = text_to_double(digits, used, exponent);
    if (unit == NULL && (kind == AB_UNIT_TIME || kind == AB_UNIT_TIME_REAL) && i == n &&
        number == 0)
        unit = &k->units[0];
    if (unit == NULL)
        return k->bad_unit;
    double value = number * unit->factor;
    uint64_t whole = 0;
    bool is_exact = k->whole && exponent == 0 && used <= 19 &&
                    digits_to_whole(digits, used, (uint64_t)unit->factor, &whole);
    if (!__builtin_isfinite(value) || (is_exact ? whole >= UINT64_C(1) << 63 : value >= 0x1p63))
        return "number out of range";
    if (k->whole && __builtin_fabs(value - rounded(value)) > 1e-9 * value)
        return kind == AB_UNIT_COUNT ? "must be a whole number"
                                     : "must be a whole number of its smallest unit";
    out->value = value;
    out->whole = is_exact ? whole : (uint64_t)rounded(value);
    return NULL;
}
