/* SPDX-License-Identifier: MIT
 *
 * Writes CSV in long form: one row per number, so that a new number needs no new column. Numbers of
 * a memory record have the moment of the reading in the column `op`.
 */
#include "core/text.h"
#include "report/sinks/sinks.h"
#include "result/numbers.h"

#include "base/bits.h"
#include "report/csv.h"
#include "result/memory_dist.h"
#include "result/result_fields.h"
#include "result/shown.h"
#include "stats/growth.h"
#include "stats/metric.h"
#include "stats/pin_groups.h"

#include <inttypes.h>
#include <math.h>

/* Returns the position of the back end in its round, 1 = first; 0 = unknown. */
static uint32_t order_of(const struct ab_session *s, uint32_t backend, uint32_t round)
{
    for (uint32_t b = 0; b < s->n_rounds; b++) {
        if (s->rounds[b].index != round)
            continue;
        for (uint32_t i = 0; i < s->rounds[b].n_order; i++)
            if (s->rounds[b].order[i] == backend)
                return i + 1;
    }
    return 0;
}

/* The first cells, which all rows of one record share. */
struct row {
    const struct ab_session *session;
    uint32_t backend, round, order;
    const char *phase, *op;
};

static struct row row_of(const struct ab_session *s, uint32_t backend, uint32_t round,
                         const char *phase, const char *op)
{
    return (struct row){s, backend, round, order_of(s, backend, round), phase, op};
}

static void end_row(FILE *to, const struct row *row, const char *unit)
{
    fprintf(to, ",%s,", unit);
    ab_csv_text(to, row->session->name);
    ab_csv_end_row(to, row->session, row->backend);
}

static void begin_row(FILE *to, const struct row *row, const char *prefix, const char *metric)
{
    ab_csv_run(to, row->session, row->backend);
    fprintf(to, "%" PRIu32 ",", row->round);
    if (row->order > 0)
        fprintf(to, "%" PRIu32, row->order);
    fputc(',', to);
    ab_csv_backend(to, row->session, row->backend);
    fputc(',', to);
    ab_csv_text(to, row->phase);
    fprintf(to, ",%s,%s", row->op, prefix);
    ab_csv_text(to, metric);
    fputc(',', to);
}

static void put_number(FILE *to, const struct row *row, const char *metric, double value,
                       const char *unit)
{
    if (!isfinite(value))
        return;
    begin_row(to, row, "", metric);
    ab_csv_number(to, value);
    end_row(to, row, unit);
}

/* Writes the numbers that belong to no phase: the time of all measured phases together, and the
 * growth. */
static void put_whole(FILE *to, const struct ab_session *s, uint32_t backend, uint32_t round)
{
    struct row time = row_of(s, backend, round, "", "all"),
               ops = row_of(s, backend, round, "", "ops");
    put_number(to, &time, "time", ab_session_time_of_round(s, backend, NULL, round), "ns");
    put_number(to, &ops, "growth", ab_growth_of(s, backend, round).bytes, "bytes_per_million_ops");
}

static void put_result(FILE *to, const struct ab_session *s, const struct ab_result *r)
{
    struct row row = row_of(s, r->backend, r->round, r->phase, ab_result_op_name(r->op));
    for (uint32_t i = 0; i < s->n_named; i++)
        if (ab_field_exists(s->named[i], r))
            put_number(to, &row, s->named[i]->name, ab_field_f64(s->named[i], r),
                       s->named[i]->unit);
    for (size_t i = 0; i < ab_field_count; i++) {
        const struct ab_field *f = &ab_fields[i];
        if (!ab_field_exists(f, r))
            continue;
        begin_row(to, &row, "", f->name);
        if (f->type == AB_FIELD_U64)
            fprintf(to, "%" PRIu64, ab_field_u64(f, r));
        else
            ab_csv_number(to, ab_field_f64(f, r));
        end_row(to, &row, f->unit);
    }
}

/* Writes a number of a heap as "heap:NAME:KEY". A key has no colon, but the name may have one. */
static void put_of_heap(FILE *to, const struct row *row, uint32_t heap, const char *key,
                        double value, const char *unit)
{
    char metric[192];
    AB_FIT(metric, "heap:%s:%s", row->session->backends[row->backend].heaps[heap].name, key);
    put_number(to, row, metric, value, unit);
}

static void put_heap_part(FILE *to, const struct ab_session *s, const struct ab_heap_part *p)
{
    struct row row = row_of(s, p->backend, p->round, p->phase, ab_result_op_name(p->op));
    const uint64_t n = ab_hdr_total(p->hdr);
    put_of_heap(to, &row, p->heap, "n_calls", (double)p->n_calls, "ops");
    put_of_heap(to, &row, p->heap, "n", (double)n, "ops");
    put_of_heap(to, &row, p->heap, "time_ns", p->time_ns, "ns");
    put_of_heap(to, &row, p->heap, "mean", n > 0 ? ab_hdr_mean(p->hdr) : (double)NAN, "ns");
    for (unsigned q = 0; q < AB_QUANTILE_COUNT; q++)
        put_of_heap(to, &row, p->heap, ab_quantile_names[q],
                    ab_result_quantile(p->hdr, ab_quantile_values[q]), "ns");
    put_of_heap(to, &row, p->heap, "max", n > 0 ? (double)p->hdr->max : (double)NAN, "ns");
    if (p->op != AB_OP_ALL)
        return;
    put_of_heap(to, &row, p->heap, "live_peak_blocks", (double)p->live_peak_blocks, "blocks");
    put_of_heap(to, &row, p->heap, "live_peak_bytes", (double)p->live_peak_bytes, "bytes");
}

static void put_heap_memory(FILE *to, const struct row *row, const struct ab_memory *m)
{
    for (uint32_t h = 0; h < row->session->backends[m->backend].n_heaps; h++) {
        const struct ab_heap_memory *x = &m->heaps[h];
#define PUT(member) put_of_heap(to, row, h, #member, x->member, "bytes");
        AB_HEAP_MEMORY_FIELDS(PUT)
#undef PUT
        for (unsigned i = 0; i < AB_DRAIN_COUNT; i++) {
            char key[32];
            AB_FIT(key, "drained_%s", ab_drain_names[i]);
            put_of_heap(to, row, h, key, x->drained_bytes[i], "bytes");
        }
    }
}

static void put_memory(FILE *to, const struct ab_session *s, const struct ab_memory *m)
{
    struct row row = row_of(s, m->backend, m->round, m->phase, ab_memory_at_names[m->at]);
    for (size_t i = 0; i < ab_memory_field_count; i++) {
        put_number(to, &row, ab_memory_fields[i].name, ab_memory_value(&ab_memory_fields[i], m),
                   ab_memory_fields[i].unit);
    }
    for (unsigned i = 0; i < AB_DRAIN_COUNT; i++)
        if (isfinite(m->drained_bytes[i])) {
            begin_row(to, &row, "drained_", ab_drain_names[i]);
            ab_csv_number(to, m->drained_bytes[i]);
            end_row(to, &row, "bytes");
        }
    put_heap_memory(to, &row, m);
}

/* Writes numbers such as "external_ratio.p99", with "ops" in the column `op`. */
static void put_dist(FILE *to, const struct ab_session *s, const struct ab_memory_dist *d)
{
    struct row row = row_of(s, d->backend, d->round, d->phase, "ops");
    for (unsigned i = 0; i < AB_DIST_STATS; i++) {
        char metric[48];
        AB_FIT(metric, "%s.%s", ab_memory_dists[d->kind].name, ab_dist_stat_names[i]);
        put_number(to, &row, metric, ab_memory_dist_value(d, i), ab_memory_dists[d->kind].unit);
    }
}

/* Writes the numbers of iterations. The column `op` always has the same word, because the program
 * may give iterations the name of an op. */
static void put_iterations(FILE *to, const struct ab_session *s, const struct ab_iterations *x)
{
    struct row row = row_of(s, x->backend, x->round, x->phase, AB_TAG_ITERATION);
    const struct {
        const char *name, *unit;
        double value;
    } more[] = {{"n", "iterations", (double)x->n},
                {"overflow", "iterations", (double)x->hdr->overflow},
                {"n_scheduler", "iterations", (double)x->n_scheduler},
                {"n_calls", "calls", (double)x->n_calls},
                {"n_calls_most", "calls", (double)x->n_calls_most},
                {"call_ns", "ns", x->call_ns},
                {"budget_ns", "ns", x->budget_ns}};
    for (size_t i = 0; i < AB_ITERATION_FIELDS + AB_ARRAY_LEN(more); i++) {
        size_t k = i - AB_ITERATION_FIELDS;
        bool is_field = i < AB_ITERATION_FIELDS;
        put_number(to, &row, is_field ? ab_iteration_fields[i].name : more[k].name,
                   is_field ? ab_iteration_field_value(x, &ab_iteration_fields[i]) : more[k].value,
                   is_field ? ab_iteration_fields[i].unit : more[k].unit);
    }
}

/* Writes the numbers of a group of blocks that pins pages. The column `op` has the moment. The
 * metric begins with the name of the group, a function and its source line: "FUNCTION
 * (FILE:LINE)/pinned". */
static void put_pin(FILE *to, const struct ab_session *s, const struct ab_pin *pin)
{
    char what[sizeof pin->function + sizeof pin->file + 32], name[sizeof what + 32];
    struct row row = row_of(s, pin->backend, pin->round, pin->phase, pin->at);
    ab_pin_name(pin, what, sizeof what);
    for (size_t i = 0; i < AB_PIN_FIELDS; i++) {
        AB_FIT(name, "%s/%s", what, ab_pin_fields[i].name);
        put_number(to, &row, name,
                   *(const double *)(const void *)((const char *)pin + ab_pin_fields[i].offset),
                   ab_pin_fields[i].unit);
    }
}

void ab_sink_csv(FILE *to, const struct ab_session *session)
{
    struct ab_format_guard guard;
    ab_format_begin(&guard);
    fputs("run,round,order,backend,phase,op,metric,value,unit,workload", to);
    ab_csv_end_header(to, session);
    for (uint32_t b = 0; b < session->n_backends; b++)
        for (uint32_t i = 0; i < session->n_rounds && ab_session_has_numbers(session, b); i++)
            put_whole(to, session, b, session->rounds[i].index);
#define PUT(list, put) \
    for (uint32_t i = 0; i < session->n_##list; i++) \
        if (ab_session_has_numbers(session, session->list[i].backend)) \
            put(to, session, &session->list[i]);
    PUT(results, put_result)
    PUT(heap_parts, put_heap_part)
    PUT(memory, put_memory)
    PUT(dists, put_dist)
    PUT(iterations, put_iterations)
    PUT(pins, put_pin)
#undef PUT
    ab_format_end(&guard);
}
