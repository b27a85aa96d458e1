/* SPDX-License-Identifier: MIT
 *
 * Turns a ratio so that it is 1 or more, and says which way.
 */
#include "report/view/words/factor.h"

#include "report/format.h"

#include <math.h>
#include <stdio.h>

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
