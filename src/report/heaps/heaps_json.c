/* SPDX-License-Identifier: MIT
 *
 * `backends[].map` and `heaps[]` of a result.
 */
#include "report/heaps/heaps_json.h"

json_t *ab_json_mapping(const struct ab_backend_info *b)
{
    if (b->n_heaps == 0)
        return json_null();
    json_t *o = json_object(), *list = json_array(), *requests = json_array();
    ab_json_put(o, "rules", ab_json_string(b->map));
    ab_json_put(o, "placement", ab_json_string(b->rules.placement));
    for (uint32_t h = 0; h < b->n_heaps; h++) {
        const struct ab_mapped_heap *heap = &b->heaps[h];
        json_t *item = json_object();
        ab_json_put(item, "name", ab_json_string(heap->name));
        ab_json_put(item, "keys", ab_json_string(heap->keys));
        ab_json_put(item, "version", ab_json_string(heap->version));
        ab_json_put(item, "build_id", ab_json_string(heap->build_id));
        ab_json_put(item, "n_requests", ab_json_integer(heap->n_requests));
        ab_json_put(item, "requested_bytes", ab_json_integer(heap->requested_bytes));
        ab_json_put(item, "live_peak_blocks", ab_json_integer(heap->live_peak_blocks));
        ab_json_put(item, "live_peak_bytes", ab_json_integer(heap->live_peak_bytes));
        ab_json_append(list, item);
    }
    ab_json_put(o, "heaps", list);
    for (uint32_t i = 0; i < b->rules.n; i++)
        ab_json_append(requests, ab_json_integer(b->rules.n_requests[i]));
    ab_json_put(o, "rule_requests", requests);
    return o;
}

static json_t *heap_part(const struct ab_session *s, const struct ab_heap_part *p)
{
    json_t *o = json_object();
    const struct ab_backend_info *b = &s->backends[p->backend];
    uint64_t n = ab_hdr_total(p->hdr);
    bool is_all = p->op == AB_OP_ALL;
    ab_json_put(o, "backend", ab_json_string(b->name));
    ab_json_put(o, "heap", ab_json_string(b->heaps[p->heap].name));
    ab_json_put(o, "phase", ab_json_string(p->phase));
    ab_json_put(o, "op", ab_json_string(ab_result_op_name(p->op)));
    ab_json_put(o, "round", ab_json_integer(p->round));
    ab_json_put(o, "n_calls", ab_json_integer(p->n_calls));
    ab_json_put(o, "time_ns", ab_json_real(p->time_ns));
    ab_json_put(o, "live_peak_blocks", is_all ? ab_json_integer(p->live_peak_blocks) : json_null());
    ab_json_put(o, "live_peak_bytes", is_all ? ab_json_integer(p->live_peak_bytes) : json_null());
    ab_json_put(o, "n", ab_json_integer(n));
    ab_json_put(o, "overflow", ab_json_integer(p->hdr->overflow));
    ab_json_put(o, "mean", n > 0 ? ab_json_real(ab_hdr_mean(p->hdr)) : json_null());
    for (unsigned q = 0; q < AB_QUANTILE_COUNT; q++)
        ab_json_put(o, ab_quantile_names[q],
                    ab_json_real(ab_result_quantile(p->hdr, ab_quantile_values[q])));
    ab_json_put(o, "max", n > 0 ? ab_json_integer(p->hdr->max) : json_null());
    ab_json_put(o, "hdr_v2", ab_json_histogram(p->hdr));
    return o;
}

static json_t *memory_of(const char *name, const struct ab_heap_memory *m)
{
    json_t *o = json_object(), *drained = json_object();
    ab_json_put(o, "heap", ab_json_string(name));
#define PUT(member) ab_json_put(o, #member, ab_json_real(m->member));
    AB_HEAP_MEMORY_FIELDS(PUT)
#undef PUT
    for (unsigned i = 0; i < AB_DRAIN_COUNT; i++)
        ab_json_put(drained, ab_drain_names[i], ab_json_real(m->drained_bytes[i]));
    ab_json_put(o, "drained_bytes", drained);
    return o;
}

json_t *ab_json_heap_memory(const struct ab_session *s, const struct ab_memory *m)
{
    const struct ab_backend_info *b = &s->backends[m->backend];
    json_t *list = json_array();
    for (uint32_t h = 0; h < b->n_heaps; h++)
        ab_json_append(list, memory_of(b->heaps[h].name, &m->heaps[h]));
    return list;
}

json_t *ab_json_heaps(const struct ab_session *s)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < s->n_heap_parts; i++)
        if (ab_session_has_numbers(s, s->heap_parts[i].backend))
            ab_json_append(list, heap_part(s, &s->heap_parts[i]));
    return list;
}
