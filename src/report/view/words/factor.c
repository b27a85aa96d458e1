/* SPDX-License-Identifier: MIT
 *
 * Turns a ratio so that it is 1 or more, and says which way.
 */
#include "report/view/words/factor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct ab_view_factor ab_view_factor_of(const struct ab_effect *ratio)
{
    struct ab_view_factor f = {.times = ratio->ratio, .low = ratio->low, .high = ratio->high};
    f.is_clear = ab_effect_is_clear(ratio);
    if (!(ratio->ratio < 1))
        return f;
    f.is_less = true;
    f.times = 1 / ratio->ratio;
    f.low = 1 / ratio->high;
    f.high = 1 / ratio->low;
    return f;
}

const char *ab_view_factor_words(char *buf, size_t cap, const struct ab_view_factor *factor,
                                 const char *more, const char *less)
{
    char times[AB_CELL_BYTES];
    if (isfinite(factor->times))
        snprintf(buf, cap, "%s%sx %s", factor->is_clear ? "" : "~",
                 ab_format_ratio(times, factor->times), factor->is_less ? less : more);
    else
        snprintf(buf, cap, "-");
    return buf;
}

const char *ab_view_factor_text(char buf[AB_CELL_BYTES], const struct ab_view_factor *factor,
                                const char *more, const char *less)
{
    char text[AB_CELL_BYTES];
    ab_format_effect(text, factor->times, factor->low, factor->high);
    size_t n = strcspn(text, " ");
    if (isfinite(factor->times))
        snprintf(buf, AB_CELL_BYTES, "%s%.*s %s%.40s", factor->is_clear ? "" : "~", (int)n, text,
                 factor->is_less ? less : more, text + n);
    else
        snprintf(buf, AB_CELL_BYTES, "-");
    return buf;
}

const char *ab_view_factor_interval(char *buf, size_t cap, const struct ab_view_factor *factor)
{
    char low[AB_CELL_BYTES], high[AB_CELL_BYTES];
    if (isfinite(factor->low) && isfinite(factor->high))
        snprintf(buf, cap, "[%s, %s]", ab_format_ratio(low, factor->low),
                 ab_format_ratio(high, factor->high));
    else
        snprintf(buf, cap, "%s", "");
    return buf;
}
