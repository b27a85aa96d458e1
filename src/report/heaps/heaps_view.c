/* SPDX-License-Identifier: MIT
 *
 * Adds up the parts of a mapped row over its rounds.
 */
#include "report/heaps/heaps_view.h"

#include "report/view/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Shares of a time of which more than this is unclear are not known. */
static const double most_unclear = 0.1;

struct sums {
    struct ab_heap_row row;
    bool is_there;
    double net_ns; /* NaN = nothing was timed */
};

/* To time nothing takes as long as the floor: what is left is the call's. Where that is less than the
 * clock's step it may be as much as the step: *unclear_ns grows by that. */
static double net_time(const struct ab_session *s, const struct ab_heap_part *p, double *unclear_ns)
{
    double mean = ab_hdr_total(p->hdr) > 0 ? ab_hdr_mean(p->hdr) : (double)NAN;
    double floor_ns = isnan(s->timer.floor_ns) ? 0 : s->timer.floor_ns;
    double step_ns = isnan(s->timer.quantum_ns) ? floor_ns : s->timer.quantum_ns;
    if (!(mean > 0) || isnan(p->time_ns))
        return p->time_ns;
    double net_ns = fmax(mean - floor_ns, 0), n_calls = p->time_ns / mean;
    *unclear_ns += net_ns < step_ns ? n_calls * step_ns : 0;
    return n_calls * net_ns;
}

static bool is_of(const struct ab_heap_part *p, uint32_t backend, const char *phase)
{
    return p->backend == backend && strcmp(p->phase, phase) == 0;
}

static void add_parts(const struct ab_session *s, uint32_t backend, const char *phase,
                      struct sums *sums, double *unclear_ns)
{
    for (uint32_t i = 0; i < s->n_heap_parts; i++) {
        const struct ab_heap_part *p = &s->heap_parts[i];
        struct sums *to = &sums[p->heap];
        if (!is_of(p, backend, phase))
            continue;
        if (p->op != AB_OP_ALL) {
            to->net_ns = ab_heap_time_sum(to->net_ns, net_time(s, p, unclear_ns));
            continue;
        }
        to->is_there = true;
        to->row.n_calls = p->n_calls; /* the same in each round */
        to->row.live_peak_blocks = p->live_peak_blocks;
        to->row.live_peak_bytes = p->live_peak_bytes;
    }
}

void ab_heaps_latency(const struct ab_session *s, uint32_t backend, const char *phase,
                      uint32_t heap, unsigned op, struct ab_hdr *hdr)
{
    ab_hdr_init(hdr);
    for (uint32_t i = 0; i < s->n_heap_parts; i++) {
        const struct ab_heap_part *p = &s->heap_parts[i];
        if (p->heap == heap && p->op == op && is_of(p, backend, phase))
            ab_hdr_merge(hdr, p->hdr);
    }
}

double ab_heaps_rest(const struct ab_session *s, const struct ab_memory *m)
{
    double rest = m->footprint_bytes;
    for (uint32_t h = 0; h < s->backends[m->backend].n_heaps; h++)
        rest -= m->heaps[h].footprint_bytes;
    return rest;
}

static void add_quantiles(const struct ab_session *s, uint32_t backend, const char *phase,
                          struct ab_hdr *hdr, struct ab_heap_row *row)
{
    ab_heaps_latency(s, backend, phase, row->heap, AB_OP_ALL, hdr);
    row->p50 = ab_result_quantile(hdr, 0.5);
    row->p99 = ab_result_quantile(hdr, 0.99);
}

static int by_calls(const void *a, const void *b)
{
    uint64_t x = ((const struct ab_heap_row *)a)->n_calls;
    uint64_t y = ((const struct ab_heap_row *)b)->n_calls;
    return (x < y) - (x > y);
}

uint32_t ab_heaps_view(const struct ab_session *s, uint32_t backend, const char *phase,
                       struct ab_hdr *scratch, struct ab_heap_row rows[AB_PLACEMENT_HEAPS_MAX])
{
    struct sums sums[AB_PLACEMENT_HEAPS_MAX];
    double calls = 0, time = 0, unclear_ns = 0;
    uint32_t n = 0;
    for (uint32_t h = 0; h < AB_PLACEMENT_HEAPS_MAX; h++)
        sums[h] = (struct sums){.row.heap = h, .net_ns = NAN};
    add_parts(s, backend, phase, sums, &unclear_ns);
    for (uint32_t h = 0; h < AB_PLACEMENT_HEAPS_MAX; h++) {
        calls += (double)sums[h].row.n_calls;
        time = ab_heap_time_sum(time, sums[h].net_ns);
    }
    const struct ab_memory *m = ab_view_memory_typical(s, backend, phase, AB_AT_FOOTPRINT_PEAK);
    bool is_clear = time > 0 && unclear_ns <= most_unclear * time;
    for (uint32_t h = 0; h < AB_PLACEMENT_HEAPS_MAX; h++) {
        if (!sums[h].is_there)
            continue;
        rows[n] = sums[h].row;
        rows[n].call_share = calls > 0 ? (double)rows[n].n_calls / calls : (double)NAN;
        rows[n].memory = m != NULL ? &m->heaps[h] : NULL;
        rows[n].time_share = is_clear ? sums[h].net_ns / time : (double)NAN;
        add_quantiles(s, backend, phase, scratch, &rows[n++]);
    }
    qsort(rows, n, sizeof rows[0], by_calls);
    return n;
}
