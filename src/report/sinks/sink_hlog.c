/* SPDX-License-Identifier: MIT
 *
 * Writes HdrHistogram's interval log, format 1.3, like its Java library: one line per histogram.
 * Its tag is BACKEND.PHASE.OP, BACKEND.PHASE.iteration, or BACKEND.PHASE.METRIC for memory over the
 * ops. An interval stands for a round, by its index: round 3 begins at second 3 and lasts one
 * second. Real times are not used, because the passes of a round are not contiguous.
 */
#include "report/sinks/sinks.h"
#include "result/numbers.h"

#include "result/memory_dist.h"
#include "result/shown.h"

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
    /* short lines, because HdrHistogram_c reads only 128 bytes of a comment */
    fprintf(to,
            "#[Written by allocbench]\n"
            "#[Histograms are of ns. Interval_Max is in ms (ns / 1000000).]\n"
            "#[Tags that end with a memory metric: of ops, in bytes or 0.0001 of the live bytes.]\n"
            "#[An interval is a round: its index is the start, its length is 1.]\n"
            "#[Histogram log format version 1.3]\n"
            "#[StartTime: %.3f (seconds since epoch), %s]\n"
            "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
            "\"Interval_Compressed_Histogram\"\n",
            (double)start, date);
}

/* Returns the highest recorded value as HDR V2 can express it: the upper edge of the last counter
 * in use. */
static uint64_t highest(const struct ab_hdr *hdr)
{
    for (uint32_t i = AB_HDR_COUNTS; i-- > 0;)
        if (hdr->counts[i] > 0)
            return ab_hdr_high(i);
    return 0;
}

static void put_interval(FILE *to, const char *tag, uint32_t round, uint32_t n_rounds,
                         const struct ab_hdr *hdr)
{
    char *encoded = NULL;
    struct ab_err err;
    if (ab_hdr_encode(hdr, &encoded, &err) != AB_OK)
        return; /* more than 2^63 - 1 values: the format cannot hold them */
    fprintf(to, "Tag=%s,%" PRIu32 ".000,%" PRIu32 ".000,%.3f,%s\n", tag, round, n_rounds,
            (double)highest(hdr) / 1e6, encoded);
    free(encoded);
}

static void put_result(FILE *to, const struct ab_session *s, const struct ab_result *r)
{
    char tag[AB_TAG_BYTES];
    uint32_t n_rounds = s->is_histogram_merged ? s->n_rounds : 1;
    if (!ab_session_has_numbers(s, r->backend) || r->n == 0 ||
        (s->is_histogram_merged && ab_hdr_total(r->hdr) == 0))
        return;
    ab_sink_tag(tag, s->backends[r->backend].name, r->phase, ab_result_op_name(r->op));
    put_interval(to, tag, r->round, n_rounds, r->hdr);
}

static void put_dist(FILE *to, const struct ab_session *s, const struct ab_memory_dist *d)
{
    char tag[AB_TAG_BYTES];
    if (!ab_session_has_numbers(s, d->backend) || d->hdr == NULL || ab_hdr_total(d->hdr) == 0)
        return;
    ab_sink_tag(tag, s->backends[d->backend].name, d->phase, ab_memory_dists[d->kind].name);
    put_interval(to, tag, d->round, 1, d->hdr);
}

static void put_iterations(FILE *to, const struct ab_session *s, const struct ab_iterations *x)
{
    char tag[AB_TAG_BYTES];
    if (!ab_session_has_numbers(s, x->backend) || ab_hdr_total(x->hdr) == 0)
        return;
    ab_sink_tag(tag, s->backends[x->backend].name, x->phase, AB_TAG_ITERATION);
    put_interval(to, tag, x->round, 1, x->hdr);
}

/* Writes the rounds in order, because readers expect ascending intervals. */
void ab_sink_hlog(FILE *to, const struct ab_session *s)
{
    struct ab_format_guard guard;
    ab_format_begin(&guard);
    put_head(to, s->start);
    for (uint32_t b = 0; b < s->n_rounds; b++) {
        for (uint32_t i = 0; i < s->n_results; i++)
            if (s->results[i].round == s->rounds[b].index)
                put_result(to, s, &s->results[i]);
        for (uint32_t i = 0; i < s->n_dists; i++)
            if (s->dists[i].round == s->rounds[b].index)
                put_dist(to, s, &s->dists[i]);
        for (uint32_t i = 0; i < s->n_iterations; i++)
            if (s->iterations[i].round == s->rounds[b].index)
                put_iterations(to, s, &s->iterations[i]);
    }
    ab_format_end(&guard);
}
