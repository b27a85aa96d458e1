/* SPDX-License-Identifier: MIT
 *
 * Computes the latency of calls from the merged histograms of all rounds. Merges all calls that
 * return a block, over all phases, into one distribution. Also finds the slowest calls and
 * iterations.
 */
#include "answer/latency.h"

#include "core/alloc.h"
#include "core/median.h"
#include "result/numbers.h"
#include "result/passes.h"
#include "stats/metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the number of calls of one kind in one round. Without a tail pass, which times every
 * call, returns the number of timed calls. `backend` UINT32_MAX = the most of any back end. */
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
    double *counts; /* AB_HDR_COUNTS counters; each sample is weighted by the number of calls
                            that it represents */
    /* total: number of calls; above: number of calls that took longer than the counters reach */
    double total, above;
    uint64_t n; /* number of samples */
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

/* Returns a quantile of the mixture; NaN = too few samples are above it, as for single
 * histograms. */
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

/* ---- the slowest calls and iterations, joined over the rounds ---- */

/* An entry in the list of slowest calls, or iterations, of one round. */
struct sighting {
    uint32_t backend, phase;
    unsigned op;
    uint32_t position, iteration, round;
    uint64_t size;
    double ns;
};

static int by_place(const void *a, const void *b)
{
    const struct sighting *x = a, *y = b;
    if (x->backend != y->backend)
        return x->backend < y->backend ? -1 : 1;
    if (x->phase != y->phase)
        return x->phase < y->phase ? -1 : 1;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    if (x->iteration != y->iteration)
        return x->iteration < y->iteration ? -1 : 1;
    return (x->round > y->round) - (x->round < y->round);
}

static bool is_same_place(const struct sighting *x, const struct sighting *y)
{
    return x->backend == y->backend && x->phase == y->phase && x->op == y->op &&
           x->position == y->position && x->iteration == y->iteration;
}

static int by_weight(const void *a, const void *b)
{
    const struct ab_view_slow_call *x = a, *y = b;
    if (x->backend != y->backend)
        return x->backend < y->backend ? -1 : 1;
    if (x->repeats != y->repeats)
        return x->repeats ? -1 : 1;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    if (x->phase != y->phase)
        return x->phase < y->phase ? -1 : 1;
    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    return (x->iteration > y->iteration) - (x->iteration < y->iteration);
}

static uint32_t phase_of(const struct ab_session *s, const char *name)
{
    uint32_t p = 0;
    while (p < s->n_phases && strcmp(s->phases[p], name) != 0)
        p++;
    return p;
}

static size_t collect(const struct ab_session *s, struct sighting *list)
{
    size_t n = 0;
    for (uint32_t i = 0; i < s->n_results; i++) {
        const struct ab_result *r = &s->results[i];
        uint32_t phase = phase_of(s, r->phase);
        if (r->op == AB_OP_ALL || phase == s->n_phases || !ab_session_has_numbers(s, r->backend))
            continue;
        for (uint32_t k = 0; k < r->n_worst; k++) {
            const struct ab_worst_op *op = &r->worst[k];
            if (isfinite(op->ns) && op->position != UINT32_MAX)
                list[n++] = (struct sighting){.backend = r->backend,
                                              .phase = phase,
                                              .op = r->op,
                                              .position = op->position,
                                              .iteration = op->iteration,
                                              .round = r->round,
                                              .size = op->size,
                                              .ns = op->ns};
        }
    }
    return n;
}

static size_t collect_iterations(const struct ab_session *s, struct sighting *list)
{
    size_t n = 0;
    for (uint32_t i = 0; i < s->n_iterations; i++) {
        const struct ab_iterations *x = &s->iterations[i];
        uint32_t phase = phase_of(s, x->phase);
        if (phase == s->n_phases || !ab_session_has_numbers(s, x->backend))
            continue;
        for (uint32_t k = 0; k < x->n_worst; k++)
            list[n++] = (struct sighting){.backend = x->backend,
                                          .phase = phase,
                                          .op = x->worst[k].lane,
                                          .iteration = x->worst[k].iteration,
                                          .round = x->round,
                                          .size = AB_SIZE_UNKNOWN,
                                          .ns = (double)x->worst[k].ns};
    }
    return n;
}

/* Joins the n sightings of one call or iteration. If a round has two of them, from the latency and
 * the tail pass, the slower one counts. `n_rounds` is 0 for calls. For iterations, it is the number
 * of rounds, and rounds without a sighting count as 0 ns: many iterations are among the slowest of
 * a round by chance. */
static struct ab_view_slow_call join(const struct sighting *list, size_t n, uint32_t n_rounds,
                                     double *x)
{
    struct ab_view_slow_call call = {.backend = list->backend,
                                     .phase = list->phase,
                                     .op = list->op,
                                     .position = list->position,
                                     .iteration = list->iteration,
                                     .size = AB_SIZE_UNKNOWN};
    for (size_t i = 0; i < n; i++) {
        if (list[i].size != AB_SIZE_UNKNOWN)
            call.size = list[i].size;
        call.max_ns = fmax(call.max_ns, list[i].ns);
        if (i > 0 && list[i].round == list[i - 1].round)
            x[call.n_seen - 1] = fmax(x[call.n_seen - 1], list[i].ns);
        else
            x[call.n_seen++] = list[i].ns;
    }
    size_t n_x = call.n_seen;
    while (n_x < n_rounds)
        x[n_x++] = 0;
    call.ns = ab_median(x, n_x);
    call.repeats = n_rounds > 0 ? 2 * call.n_seen > n_rounds : call.n_seen >= 2;
    return call;
}

static void join_all(const struct sighting *list, size_t n, uint32_t n_rounds, double *x,
                     struct ab_view_slowest *out)
{
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && is_same_place(&list[i], &list[end]); end++) {
        }
        AB_GROW(out->calls, out->cap_calls, out->n_calls);
        out->calls[out->n_calls++] = join(list + i, end - i, n_rounds, x);
    }
}

static void make(const struct ab_session *s, bool of_iterations, struct ab_view_slowest *out)
{
    size_t most = of_iterations ? (size_t)s->n_iterations * AB_ITERATIONS_WORST_MAX
                                : (size_t)s->n_results * AB_WORST_MAX;
    *out = (struct ab_view_slowest){.n_rounds = ab_pass_round_count(s, AB_PASS_TAIL)};
    struct sighting *list = ab_alloc((most + 1) * sizeof *list);
    double *x = ab_alloc((most + out->n_rounds + 1) * sizeof *x);
    size_t n = of_iterations ? collect_iterations(s, list) : collect(s, list);
    qsort(list, n, sizeof *list, by_place);
    join_all(list, n, of_iterations ? out->n_rounds : 0, x, out);
    if (out->n_calls > 0)
        qsort(out->calls, out->n_calls, sizeof *out->calls, by_weight);
    free(list);
    free(x);
}

void ab_view_slowest_make(const struct ab_session *s, struct ab_view_slowest *out)
{
    make(s, false, out);
}

void ab_view_slow_iterations_make(const struct ab_session *s, struct ab_view_slowest *out)
{
    make(s, true, out);
}

void ab_view_slowest_fini(struct ab_view_slowest *x)
{
    free(x->calls);
    *x = (struct ab_view_slowest){0};
}
