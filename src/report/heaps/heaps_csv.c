/* SPDX-License-Identifier: MIT
 *
 * The name of a metric ends in the first key of the JSON; no key has a colon, a heap's name may.
 */
#include "report/heaps/heaps_csv.h"

#include <math.h>
#include <stdio.h>

struct sink {
    ab_heap_number *put;
    void *context;
    const char *heap;
};

static void put(const struct sink *to, const char *key, double value, const char *unit)
{
    char metric[192];
    if (!isfinite(value))
        return;
    snprintf(metric, sizeof metric, "heap:%s:%s", to->heap, key);
    to->put(to->context, metric, value, unit);
}

void ab_heap_part_numbers(const struct ab_session *s, const struct ab_heap_part *p,
                          ab_heap_number *put_number, void *context)
{
    const struct sink to = {put_number, context, s->backends[p->backend].heaps[p->heap].name};
    const uint64_t n = ab_hdr_total(p->hdr);
    put(&to, "n_calls", (double)p->n_calls, "ops");
    put(&to, "n", (double)n, "ops");
    put(&to, "time_ns", p->time_ns, "ns");
    put(&to, "mean", n > 0 ? ab_hdr_mean(p->hdr) : (double)NAN, "ns");
    for (unsigned q = 0; q < AB_QUANTILE_COUNT; q++)
        put(&to, ab_quantile_names[q], ab_result_quantile(p->hdr, ab_quantile_values[q]), "ns");
    put(&to, "max", n > 0 ? (double)p->hdr->max : (double)NAN, "ns");
    if (p->op != AB_OP_ALL)
        return;
    put(&to, "live_peak_blocks", (double)p->live_peak_blocks, "blocks");
    put(&to, "live_peak_bytes", (double)p->live_peak_bytes, "bytes");
}

void ab_heap_memory_numbers(const struct ab_session *s, const struct ab_memory *m,
                            ab_heap_number *put_number, void *context)
{
    const struct ab_backend_info *b = &s->backends[m->backend];
    for (uint32_t h = 0; h < b->n_heaps; h++) {
        const struct ab_heap_memory *x = &m->heaps[h];
        const struct sink to = {put_number, context, b->heaps[h].name};
#define PUT(member) put(&to, #member, x->member, "bytes");
        AB_HEAP_MEMORY_FIELDS(PUT)
#undef PUT
        for (unsigned i = 0; i < AB_DRAIN_COUNT; i++) {
            char key[32];
            snprintf(key, sizeof key, "drained_%s", ab_drain_names[i]);
            put(&to, key, x->drained_bytes[i], "bytes");
        }
    }
}
