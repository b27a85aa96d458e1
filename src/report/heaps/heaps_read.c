/* SPDX-License-Identifier: MIT
 *
 * `backends[].map` and `heaps[]` of a stored result, which may be hostile.
 */
#include "report/heaps/heaps_read.h"

#include "core/text.h"

#include <math.h>
#include <string.h>

void ab_stored_mapping(struct ab_json_reader *r, const struct ab_json_node *backend,
                       struct ab_backend_info *b)
{
    if (!ab_json_has(r, backend, "map") || json_is_null(json_object_get(backend->json, "map")))
        return;
    struct ab_json_node o = ab_json_object(r, backend, "map");
    struct ab_json_node list = ab_json_array(r, &o, "heaps");
    size_t n = ab_json_count(r, &list, AB_PLACEMENT_HEAPS_MAX);
    ab_json_text_into(r, &o, "rules", b->map, sizeof b->map);
    if (ab_json_has(r, &o, "placement"))
        ab_json_text_into(r, &o, "placement", b->rules.placement, sizeof b->rules.placement);
    for (size_t i = 0; i < n && r->status == AB_OK; i++) {
        struct ab_mapped_heap *heap = &b->heaps[b->n_heaps++];
        struct ab_json_node item = ab_json_item_object(r, &list, i);
        ab_json_text_into(r, &item, "name", heap->name, sizeof heap->name);
        if (ab_json_has(r, &item, "keys"))
            ab_json_text_into(r, &item, "keys", heap->keys, sizeof heap->keys);
        if (ab_json_has(r, &item, "version"))
            ab_json_text_into(r, &item, "version", heap->version, sizeof heap->version);
        if (ab_json_has(r, &item, "build_id"))
            ab_json_text_into(r, &item, "build_id", heap->build_id, sizeof heap->build_id);
        heap->n_requests = ab_json_whole(r, &item, "n_requests", INT64_MAX, 0);
        heap->requested_bytes = ab_json_whole(r, &item, "requested_bytes", INT64_MAX, 0);
        heap->live_peak_blocks = ab_json_whole(r, &item, "live_peak_blocks", INT64_MAX, 0);
        heap->live_peak_bytes = ab_json_whole(r, &item, "live_peak_bytes", INT64_MAX, 0);
    }
    struct ab_json_node requests = ab_json_array_if_any(r, &o, "rule_requests");
    n = ab_json_count(r, &requests, AB_PLACEMENT_RULES_MAX);
    for (size_t i = 0; i < n && r->status == AB_OK; i++) {
        struct ab_json_node item = ab_json_item(&requests, i);
        json_int_t n_requests = json_is_integer(item.json) ? json_integer_value(item.json) : -1;
        if (n_requests < 0)
            ab_json_fail(r, &item, "must be a whole number, 0 or more");
        b->rules.n_requests[b->rules.n++] = (uint64_t)n_requests;
    }
}

static uint32_t find_heap(struct ab_stored_reader *r, const struct ab_json_node *o,
                          uint32_t backend)
{
    struct ab_json_node at = {.parent = o, .key = "heap"};
    const char *name = ab_json_text(&r->json, o, "heap");
    char shown[160];
    if (r->json.status != AB_OK)
        return 0;
    const struct ab_backend_info *b = &r->session->backends[backend];
    for (uint32_t h = 0; h < b->n_heaps; h++)
        if (strcmp(b->heaps[h].name, name) == 0)
            return h;
    ab_json_fail(&r->json, &at, "\"%s\" is not among the heaps of %s",
                 ab_text_printable(shown, sizeof shown, name), b->name);
    return 0;
}

static void read_memory(struct ab_json_reader *r, const struct ab_json_node *o,
                        struct ab_heap_memory *m)
{
#define READ(member) m->member = ab_json_number(r, o, #member);
    AB_HEAP_MEMORY_FIELDS(READ)
#undef READ
    struct ab_json_node drained = ab_json_object(r, o, "drained_bytes");
    for (unsigned i = 0; i < AB_DRAIN_COUNT; i++)
        m->drained_bytes[i] = ab_json_number(r, &drained, ab_drain_names[i]);
}

static void forget_memory(struct ab_heap_memory *m)
{
#define FORGET(member) m->member = NAN;
    AB_HEAP_MEMORY_FIELDS(FORGET)
#undef FORGET
    for (unsigned i = 0; i < AB_DRAIN_COUNT; i++)
        m->drained_bytes[i] = NAN;
}

void ab_stored_heap_memory(struct ab_stored_reader *r, const struct ab_json_node *record,
                           struct ab_memory *m)
{
    for (uint32_t h = 0; h < AB_PLACEMENT_HEAPS_MAX; h++)
        forget_memory(&m->heaps[h]);
    struct ab_json_node list = ab_json_array_if_any(&r->json, record, "heaps");
    size_t n = ab_json_count(&r->json, &list, AB_PLACEMENT_HEAPS_MAX);
    for (size_t i = 0; i < n && r->json.status == AB_OK; i++) {
        struct ab_json_node o = ab_json_item_object(&r->json, &list, i);
        uint32_t heap = find_heap(r, &o, m->backend);
        if (r->json.status == AB_OK)
            read_memory(&r->json, &o, &m->heaps[heap]);
    }
}

static void read_part(struct ab_stored_reader *r, const struct ab_json_node *o,
                      struct ab_heap_part *p)
{
    p->backend = ab_stored_backend(r, o, "backend");
    p->heap = find_heap(r, o, p->backend);
    p->phase = ab_stored_phase(r, o);
    p->op = ab_stored_op(r, o);
    p->round = ab_stored_round(r, o);
    p->n_calls = ab_json_whole(&r->json, o, "n_calls", INT64_MAX, 0);
    p->time_ns = ab_json_number(&r->json, o, "time_ns");
    p->live_peak_blocks = ab_json_whole(&r->json, o, "live_peak_blocks", INT64_MAX, 0);
    p->live_peak_bytes = ab_json_whole(&r->json, o, "live_peak_bytes", INT64_MAX, 0);
    uint64_t n = ab_json_whole(&r->json, o, "n", INT64_MAX, UINT64_MAX);
    uint64_t overflow = ab_json_whole(&r->json, o, "overflow", INT64_MAX, 0);
    uint64_t max = ab_json_whole(&r->json, o, "max", INT64_MAX, UINT64_MAX);
    p->hdr = ab_stored_histogram(r, o, n);
    if (p->hdr == NULL)
        return;
    p->hdr->overflow = overflow;
    ab_stored_refine_max(p->hdr, max);
}

void ab_stored_heaps(struct ab_stored_reader *r, const struct ab_json_node *document)
{
    struct ab_session *s = r->session;
    struct ab_json_node list = ab_json_array_if_any(&r->json, document, "heaps");
    size_t n = ab_json_count(&r->json, &list, AB_STORED_RECORDS_MAX);
    s->heap_parts = ab_stored_records(r, n, sizeof s->heap_parts[0]);
    for (size_t i = 0; i < n && r->json.status == AB_OK; i++) {
        struct ab_json_node o = ab_json_item_object(&r->json, &list, i);
        read_part(r, &o, &s->heap_parts[s->n_heap_parts++]);
    }
    s->cap_heap_parts = s->n_heap_parts;
}
