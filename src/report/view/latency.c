/* SPDX-License-Identifier: MIT
 *
 * Merges the histograms of all rounds into cells, and those of calls that return a block over all
 * phases into one distribution.
 */
#include "report/view/latency.h"

#include "core/grow.h"
#include "core/memory.h"
#include "stats/aggregate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a kind in one round. The tail pass times all of them; without one there is only a sample. */
static double ops_of(const struct ab_session *s, uint32_t backend, const char *phase, unsigned op)
{
    uint64_t all = 0, timed = 0;
    for (uint32_t i = 0; i < s->n_results; i++) {
        const struct ab_result *r = &s->results[i];
        if (r->op != op || (backend != UINT32_MAX && r->backend != backend) ||
            !ab_session_has_numbers(s, r->backend) || strcmp(r->phase, phase) != 0)
            continue;
        all = r->tail_n > all ? r->tail_n : all;
        timed = r->n > timed ? r->n : timed;
    }
    return (double)(all > 0 ? all : timed);
}

/* ---- columns ---- */

static void add_columns(const struct ab_session *s, struct ab_view_latency *out)
{
    size_t cap = 0;
    double sum = 0;
    for (uint32_t p = 0; p < s->n_phases; p++)
        for (unsigned op = 0; op < AB_OP_KIND_COUNT; op++) {
            if (!ab_session_has_op(s, s->phases[p], op))
                continue;
            AB_GROW(out->columns, cap, out->n_columns);
            double n_ops = ops_of(s, UINT32_MAX, s->phases[p], op);
            out->columns[out->n_columns++] = (struct ab_view_latency_column){p, op, n_ops, 0};
            sum += n_ops;
        }
    for (uint32_t i = 0; i < out->n_columns && sum > 0; i++)
        out->columns[i].share = out->columns[i].n_ops / sum;
}

/* ---- cells ---- */

static double slowest_that_repeats(const struct ab_view_slowest *slowest, uint32_t backend,
                                   const struct ab_view_latency_column *column)
{
    double most = NAN;
    for (uint32_t i = 0; i < slowest->n_calls; i++) {
        const struct ab_view_slow_call *call = &slowest->calls[i];
        if (call->backend == backend && call->phase == column->phase && call->op == column->op &&
            call->repeats)
            most = fmax(most, call->ns);
    }
    return most;
}

static void fill_cell(const struct ab_session *s, uint32_t backend,
                      const struct ab_view_latency_column *column,
                      const struct ab_view_slowest *slowest, struct ab_hdr *hdr,
                      struct ab_view_latency_cell *cell)
{
    struct ab_merged m = ab_session_merge(s, backend, s->phases[column->phase], column->op, hdr);
    cell->n = m.n;
    for (unsigned q = 0; q < AB_QUANTILE_COUNT; q++)
        cell->quantiles[q] = ab_result_quantile(hdr, ab_quantile_values[q]);
    cell->max_ns = m.max;
    cell->max_repeated_ns = slowest_that_repeats(slowest, backend, column);
    cell->is_max_single = isfinite(m.max) && !(m.max <= 2 * cell->max_repeated_ns);
}

void ab_view_latency_make(const struct ab_session *s, const struct ab_view_slowest *slowest,
                          struct ab_view_latency *out)
{
    struct ab_hdr *hdr = ab_alloc(sizeof *hdr);
    *out = (struct ab_view_latency){.n_backends = s->n_backends, .floor_ns = s->timer.floor_ns};
    add_columns(s, out);
    out->cells = ab_alloc_zeroed((size_t)s->n_backends * out->n_columns + 1, sizeof *out->cells);
    for (uint32_t b = 0; b < s->n_backends; b++)
        for (uint32_t c = 0; c < out->n_columns; c++)
            fill_cell(s, b, &out->columns[c], slowest, hdr,
                      &out->cells[(size_t)b * out->n_columns + c]);
    free(hdr);
}

void ab_view_latency_fini(struct ab_view_latency *l)
{
    free(l->columns);
    free(l->cells);
    *l = (struct ab_view_latency){0};
}

const struct ab_view_latency_cell *ab_view_latency_at(const struct ab_view_latency *l,
                                                      uint32_t backend, uint32_t column)
{
    return &l->cells[(size_t)backend * l->n_columns + column];
}

/* ---- calls that return a block ---- */

static const unsigned allocations[] = {AB_OP_ALLOC, AB_OP_ALLOC_ZEROED, AB_OP_ALLOC_ALIGNED,
                                       AB_OP_RESIZE};

struct mixture {
    double *counts;      /* of AB_HDR_COUNTS, each sample by what it stands for */
    double total, above; /* above: longer than any counter */
    uint64_t n;          /* samples */
};

static void add(const struct ab_hdr *hdr, double n_ops, struct mixture *m)
{
    uint64_t n = ab_hdr_total(hdr) + hdr->overflow;
    if (n == 0 || !(n_ops > 0))
        return;
    for (uint32_t i = ab_hdr_first(hdr), end = ab_hdr_end(hdr); i < end; i++)
        if (hdr->counts[i] > 0)
            m->counts[i] += (double)hdr->counts[i] * n_ops / (double)n;
    m->above += (double)hdr->overflow * n_ops / (double)n;
    m->total += n_ops;
    m->n += n;
}

/* The rule of single histograms: n/a where fewer than this many samples are above it. */
static double quantile(const struct mixture *m, double q)
{
    double sum = 0;
    if (m->n == 0 || (double)m->n * (1 - q) < AB_QUANTILE_MIN_SAMPLES_BEHIND - 1e-6)
        return NAN;
    for (uint32_t i = 0; i < AB_HDR_COUNTS; i++) {
        sum += m->counts[i];
        if (sum >= q * m->total * (1 - 1e-12))
            return (double)ab_hdr_high(i);
    }
    return NAN;
}

void ab_view_latency_of_allocation(const struct ab_session *s, uint32_t backend,
                                   const double *quantiles, unsigned n, double *ns)
{
    struct ab_hdr *hdr = ab_alloc(sizeof *hdr);
    struct mixture m = {.counts = ab_alloc_zeroed(AB_HDR_COUNTS, sizeof *m.counts)};
    for (uint32_t p = 0; p < s->n_phases; p++)
        for (unsigned i = 0; i < sizeof allocations / sizeof *allocations; i++) {
            ab_session_merge(s, backend, s->phases[p], allocations[i], hdr);
            add(hdr, ops_of(s, backend, s->phases[p], allocations[i]), &m);
        }
    for (unsigned i = 0; i < n; i++)
        ns[i] = quantile(&m, quantiles[i]);
    free(m.counts);
    free(hdr);
}
