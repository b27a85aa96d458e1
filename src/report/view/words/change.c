/* SPDX-License-Identifier: MIT
 *
 * Changes in per cent.
 */
#include "report/view/words/change.h"

#include <math.h>
#include <stdio.h>

static const double most = 1e12; /* per cent: what hostile results hold fits into a cell */

/* One decimal while it says something; never "-0.0". */
static const char *format_percent(char *buf, size_t cap, double ratio, bool has_sign)
{
    double percent = fmin(100 * (ratio - 1), most);
    if (fabs(percent) < 0.05)
        percent = 0;
    if (!has_sign)
        percent = fabs(percent);
    snprintf(buf, cap, has_sign ? "%+.*f" : "%.*f", fabs(percent) < 99.95 ? 1 : 0, percent);
    return buf;
}

const char *ab_view_change(char *buf, size_t cap, double ratio)
{
    char percent[32];
    if (isfinite(ratio))
        snprintf(buf, cap, "%s %%", format_percent(percent, sizeof percent, ratio, true));
    else
        snprintf(buf, cap, "-");
    return buf;
}

const char *ab_view_change_interval(char *buf, size_t cap, const struct ab_effect *e)
{
    char low[32], high[32];
    if (e->method == AB_EFFECT_EXACT && e->low == e->high)
        snprintf(buf, cap, "exact");
    else if (isnan(e->low) || isnan(e->high))
        snprintf(buf, cap, "%s", "");
    else
        snprintf(buf, cap, "[%s, %s]", format_percent(low, sizeof low, e->low, true),
                 format_percent(high, sizeof high, e->high, true));
    return buf;
}

const char *ab_view_change_words(char *buf, size_t cap, double ratio)
{
    char percent[32];
    if (fabs(100 * (ratio - 1)) < 0.05)
        snprintf(buf, cap, "as much");
    else
        snprintf(buf, cap, "%s %% %s", format_percent(percent, sizeof percent, ratio, false),
                 ratio > 1 ? "more" : "less");
    return buf;
}
