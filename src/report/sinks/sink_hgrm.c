/* SPDX-License-Identifier: MIT
 *
 * Writes one histogram as text for HdrHistogram's plotters: its distribution by percentile, with
 * five ticks each time the distance to 100 % halves. It equals the output of the Java library for
 * ns and a ratio of 1 byte for byte, so it contains no line of our own.
 */
#include "report/sinks/sinks.h"

#include "result/shown.h"

#include <inttypes.h>
#include <math.h>

enum { TICKS = 5 };

/* Makes printf round like Java. Java rounds halves of the shortest decimal up, printf rounds the
 * binary value to even. For the next larger double, both agree. */
static double half_up(double x)
{
    return nextafter(x, INFINITY);
}

static void put_row(FILE *to, uint64_t value, double level, uint64_t cumulative)
{
    fprintf(to, "%12.3f %2.12f %10" PRIu64 " %14.2f\n", (double)value, half_up(level / 100),
            cumulative, half_up(1 / (1 - level / 100)));
}

static double next_level(double level)
{
    double halvings = floor(log(100 / (100 - level)) / log(2)) + 1;
    return level + 100 / (TICKS * exp2(halvings));
}

static void put_rows(FILE *to, const struct ab_hdr *hdr, uint64_t total)
{
    uint64_t cumulative = 0;
    double level = 0;
    for (uint32_t i = 0; cumulative < total; i++) {
        if (hdr->counts[i] == 0)
            continue;
        cumulative += hdr->counts[i];
        double reached = 100 * (double)cumulative / (double)total;
        /* for the last counter: one row of a level, then the row of 100 % */
        for (bool is_more = true; is_more && reached >= level; level = next_level(level)) {
            put_row(to, ab_hdr_high(i), level, cumulative);
            is_more = cumulative < total;
        }
        if (cumulative == total)
            fprintf(to, "%12.3f %2.12f %10" PRIu64 "\n", (double)ab_hdr_high(i), 1.0, cumulative);
    }
}

static double figure(double x)
{
    return isnan(x) ? 0 : half_up(x);
}

void ab_sink_hgrm(FILE *to, const struct ab_hdr *hdr)
{
    struct ab_format_guard guard;
    uint64_t total = ab_hdr_total(hdr), max = 0;
    for (uint32_t i = 0; i < AB_HDR_COUNTS; i++)
        max = hdr->counts[i] > 0 ? ab_hdr_high(i) : max;
    ab_format_begin(&guard);
    fprintf(to, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
    put_rows(to, hdr, total);
    fprintf(to, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n", figure(ab_hdr_mean(hdr)),
            figure(ab_hdr_stddev(hdr)));
    fprintf(to, "#[Max     = %12.3f, Total count    = %12" PRIu64 "]\n", (double)max, total);
    fprintf(to, "#[Buckets = %12d, SubBuckets     = %12d]\n", AB_HDR_BUCKETS, AB_HDR_SUB_BUCKETS);
    ab_format_end(&guard);
}
