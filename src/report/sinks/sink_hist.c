/* SPDX-License-Identifier: MIT
 *
 * Writes every histogram as CSV, one row per counter that is not empty. Other tools can plot or
 * merge it without a decoder of HDR V2.
 */
#include "report/sinks/sinks.h"
#include "result/numbers.h"

#include "report/csv.h"
#include "result/shown.h"

#include <inttypes.h>
#include <math.h>

struct rows {
    const struct ab_session *session;
    uint32_t backend, round;
    const char *phase;
    const char *op;
    /* True if the rows are of one round, even if results have merged histograms */
    bool is_of_round;
    int log2; /* size class; -1 = all sizes */
};

static void begin_row(FILE *to, const struct rows *rows)
{
    ab_csv_run(to, rows->session, rows->backend);
    /* an empty cell means all rounds */
    if (rows->is_of_round || !rows->session->is_histogram_merged)
        fprintf(to, "%" PRIu32, rows->round);
    fputc(',', to);
    ab_csv_backend(to, rows->session, rows->backend);
    fputc(',', to);
    ab_csv_text(to, rows->phase);
    fprintf(to, ",%s,", rows->op);
    if (rows->log2 >= 0)
        fprintf(to, "%.0f", ldexp(1, rows->log2)); /* exact, even for 2^64 */
}

static void put_rows(FILE *to, const struct rows *rows, const struct ab_hdr *hdr)
{
    uint64_t cumulative = 0;
    for (uint32_t i = 0; i < AB_HDR_COUNTS; i++) {
        if (hdr->counts[i] == 0)
            continue;
        cumulative += hdr->counts[i];
        begin_row(to, rows);
        fprintf(to, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, ab_hdr_low(i), ab_hdr_high(i),
                hdr->counts[i], cumulative);
        ab_csv_end_row(to, rows->session, rows->backend);
    }
}

void ab_sink_hist(FILE *to, const struct ab_session *s)
{
    struct ab_format_guard guard;
    ab_format_begin(&guard);
    fputs("run,round,backend,phase,op,le_bytes,low_ns,high_ns,count,cumulative", to);
    ab_csv_end_header(to, s);
    for (uint32_t i = 0; i < s->n_results; i++) {
        const struct ab_result *r = &s->results[i];
        if (ab_session_has_numbers(s, r->backend))
            put_rows(to,
                     &(struct rows){s, r->backend, r->round, r->phase, ab_result_op_name(r->op),
                                    false, -1},
                     r->hdr);
    }
    for (uint32_t i = 0; i < s->n_size_classes; i++) {
        const struct ab_size_class *c = &s->size_classes[i];
        if (ab_session_has_numbers(s, c->backend))
            put_rows(to,
                     &(struct rows){s, c->backend, c->round, c->phase, ab_result_op_name(c->op),
                                    false, (int)c->log2},
                     c->hdr);
    }
    for (uint32_t i = 0; i < s->n_iterations; i++) {
        const struct ab_iterations *x = &s->iterations[i];
        if (ab_session_has_numbers(s, x->backend))
            put_rows(to,
                     &(struct rows){s, x->backend, x->round, x->phase, AB_TAG_ITERATION, true, -1},
                     x->hdr);
    }
    ab_format_end(&guard);
}
