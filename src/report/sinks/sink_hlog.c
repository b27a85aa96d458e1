/* SPDX-License-Identifier: MIT
 *
 * HdrHistogram's interval log, format 1.3, as its Java library writes it: a line a histogram, of
 * the tag BACKEND.PHASE.OP. An interval is a round; since the passes of a round are not one
 * stretch of time, it is told by its index: round 3 begins at second 3 and lasts one second.
 */
#include "report/sinks/sink_tag.h"
#include "report/sinks/sinks.h"

#include "report/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void put_head(FILE *to, time_t start)
{
    char date[64] = "";
    struct tm utc;
    if (gmtime_r(&start, &utc) != NULL)
        strftime(date, sizeof date, "%a %b %d %H:%M:%S UTC %Y", &utc);
    /* Lines of comments are short because HdrHistogram_c reads 128 bytes of them. */
    fprintf(to,
            "#[Written by allocbench]\n"
            "#[Histograms are of ns. Interval_Max is in ms (ns / 1000000).]\n"
            "#[An interval is a round: its index is the start, its length is 1.]\n"
            "#[Histogram log format version 1.3]\n"
            "#[StartTime: %.3f (seconds since epoch), %s]\n"
            "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
            "\"Interval_Compressed_Histogram\"\n",
            (double)start, date);
}

/* The highest value that V2 tells: the upper edge of the last counter in use. */
static uint64_t highest(const struct ab_hdr *hdr)
{
    for (uint32_t i = AB_HDR_COUNTS; i-- > 0;)
        if (hdr->counts[i] > 0)
            return ab_hdr_high(i);
    return 0;
}

static bool put_interval(FILE *to, const struct ab_session *s, const struct ab_result *r)
{
    char tag[AB_TAG_BYTES], *encoded = NULL;
    struct ab_err err;
    if (ab_hdr_encode(r->hdr, &encoded, &err) != AB_OK)
        return false;
    fprintf(to, "Tag=%s,%" PRIu32 ".000,1.000,%.3f,%s\n",
            ab_sink_tag(tag, s->backends[r->backend].name, r->phase, r->op), r->round,
            (double)highest(r->hdr) / 1e6, encoded);
    free(encoded);
    return true;
}

/* Readers want intervals to ascend. */
bool ab_sink_hlog(FILE *to, const struct ab_session *s)
{
    struct ab_format_guard guard;
    bool is_whole = true;
    ab_format_begin(&guard);
    put_head(to, s->start);
    for (uint32_t b = 0; b < s->n_rounds; b++)
        for (uint32_t i = 0; i < s->n_results && is_whole; i++) {
            const struct ab_result *r = &s->results[i];
            if (r->round == s->rounds[b].index && ab_session_has_numbers(s, r->backend) && r->n > 0)
                is_whole = put_interval(to, s, r);
        }
    ab_format_end(&guard);
    return is_whole;
}
