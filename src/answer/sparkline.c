/* SPDX-License-Identifier: MIT
 *
 * Draws a histogram or a series of numbers as one line of block characters.
 */
#include "answer/sparkline.h"

#include <math.h>
#include <string.h>

#define LEAST_SHARE 1e-4

void ab_sparkline_begin(struct ab_sparkline_range *range)
{
    *range = (struct ab_sparkline_range){.low = INFINITY, .high = 0};
}

void ab_sparkline_widen(struct ab_sparkline_range *range, const struct ab_hdr *hdr)
{
    uint32_t first = ab_hdr_first(hdr), end = ab_hdr_end(hdr);
    while (first < end && hdr->counts[first] == 0)
        first++; /* ab_hdr_first may be below the first counter above 0 */
    if (first == end)
        return;
    double low = fmax(1, (double)ab_hdr_low(first));
    double high = fmax(1, (double)ab_hdr_quantile(hdr, 0.9999));
    range->low = fmin(range->low, low);
    range->high = fmax(range->high, high);
}

const char *ab_sparkline_mark(unsigned level, bool utf8)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const plain[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
    return utf8 ? blocks[level] : plain[level];
}

const char *ab_sparkline_bar(char *buf, double columns, bool utf8)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    unsigned whole = (unsigned)columns, rest = (unsigned)((columns - whole) * 8);
    buf[0] = 0;
    for (unsigned i = 0; i < whole; i++)
        strcat(buf, utf8 ? "█" : "#");
    if (utf8)
        strcat(buf, eighths[whole == 0 && rest == 0 && columns > 0 ? 1 : rest]);
    else if (columns - whole >= 0.5 || (whole == 0 && columns > 0))
        strcat(buf, columns - whole >= 0.5 ? "#" : ".");
    return buf;
}

static void add_level(char *cell, unsigned level, bool utf8)
{
    const char *mark = ab_sparkline_mark(level, utf8);
    if (strlen(cell) + strlen(mark) < AB_CELL_BYTES)
        strcat(cell, mark);
}

static unsigned cell_of(double x, const struct ab_sparkline_range *range, unsigned n)
{
    double at = log(fmax(x, range->low) / range->low) / log(range->high / range->low);
    return at >= 1 ? n - 1 : (unsigned)(at * n);
}

const char *ab_sparkline_hdr(char cell[AB_CELL_BYTES], const struct ab_hdr *hdr,
                             const struct ab_sparkline_range *range, unsigned n, bool utf8)
{
    double shares[AB_SPARKLINE_MOST] = {0};
    double total = (double)ab_hdr_total(hdr);
    cell[0] = 0;
    if (total == 0 || !(range->high > range->low) || n > AB_SPARKLINE_MOST)
        return cell;
    for (uint32_t i = ab_hdr_first(hdr), end = ab_hdr_end(hdr); i < end; i++)
        if (hdr->counts[i] > 0)
            shares[cell_of((double)ab_hdr_low(i), range, n)] += (double)hdr->counts[i] / total;
    for (unsigned i = 0; i < n; i++) {
        double height = shares[i] > 0 ? 1 - log(shares[i]) / log(LEAST_SHARE) : -1;
        add_level(cell,
                  height < 0 ? shares[i] > 0 : 1 + (unsigned)(height * (AB_SPARKLINE_LEVELS - 1)),
                  utf8);
    }
    return cell;
}

const char *ab_sparkline_series(char cell[AB_CELL_BYTES], const double *values, unsigned n,
                                double most, bool utf8)
{
    cell[0] = 0;
    for (unsigned i = 0; i < n && i < AB_SPARKLINE_MOST; i++) {
        double height = most > 0 && isfinite(values[i]) ? fmin(1, fmax(0, values[i] / most)) : NAN;
        unsigned level = isnan(height) ? 0
                         : height == 0 ? 1
                                       : (unsigned)ceil(height * AB_SPARKLINE_LEVELS);
        add_level(cell, level, utf8);
    }
    return cell;
}
