/* SPDX-License-Identifier: MIT
 *
 * What the latency pass left in a result besides the results: size classes and windows. Results of
 * earlier versions have neither.
 */
#include "report/read/read_depth.h"

#include "base/bits.h"
#include "report/read/read_overview.h"

static unsigned read_log2(struct ab_stored_reader *r, const struct ab_json_node *o)
{
    struct ab_json_node at = {.parent = o, .key = "le_bytes"};
    uint64_t bytes = ab_json_whole(&r->json, o, "le_bytes", INT64_MAX, 0);
    if (bytes == 0)
        return AB_SIZE_CLASS_COUNT - 1; /* null: more than JSON's integers hold */
    if (!ab_is_pow2(bytes))
        ab_json_fail(&r->json, &at, "must be a power of two");
    return ab_log2(bytes);
}

static void read_size_class(struct ab_stored_reader *r, const struct ab_json_node *o,
                            struct ab_size_class *c)
{
    c->backend = ab_stored_backend(r, o, "backend");
    c->phase = ab_stored_phase(r, o);
    c->op = ab_stored_op(r, o);
    c->round = ab_stored_round(r, o);
    c->log2 = read_log2(r, o);
    uint64_t n = ab_json_whole(&r->json, o, "n", INT64_MAX, UINT64_MAX);
    uint64_t overflow = ab_json_whole(&r->json, o, "overflow", INT64_MAX, 0);
    uint64_t max = ab_json_whole(&r->json, o, "max", INT64_MAX, UINT64_MAX);
    c->hdr = ab_stored_histogram(r, o, n);
    if (c->hdr == NULL)
        return;
    c->hdr->overflow = overflow;
    ab_stored_refine_max(c->hdr, max);
}

static void read_size_classes(struct ab_stored_reader *r, const struct ab_json_node *document)
{
    struct ab_session *s = r->session;
    struct ab_json_node list = ab_json_array_if_any(&r->json, document, "size_classes");
    size_t n = ab_json_count(&r->json, &list, AB_STORED_RECORDS_MAX);
    s->size_classes = ab_stored_records(r, n, sizeof s->size_classes[0]);
    for (size_t i = 0; i < n && r->json.status == AB_OK; i++) {
        struct ab_json_node o = ab_json_item_object(&r->json, &list, i);
        read_size_class(r, &o, &s->size_classes[s->n_size_classes++]);
    }
    s->cap_size_classes = s->n_size_classes;
}

static void read_window(struct ab_stored_reader *r, const struct ab_json_node *o,
                        struct ab_window *w)
{
    struct ab_json_node end = {.parent = o, .key = "end"};
    w->backend = ab_stored_backend(r, o, "backend");
    w->phase = ab_stored_phase(r, o);
    w->round = ab_stored_round(r, o);
    w->begin = (uint32_t)ab_json_whole(&r->json, o, "begin", UINT32_MAX, 0);
    w->end = (uint32_t)ab_json_whole(&r->json, o, "end", UINT32_MAX, 0);
    w->n = ab_json_whole(&r->json, o, "n", INT64_MAX, UINT64_MAX);
    w->p50 = ab_json_number(&r->json, o, "p50");
    w->p99 = ab_json_number(&r->json, o, "p99");
    w->max = ab_json_number(&r->json, o, "max");
    ab_stored_window_counts(r, o, w);
    if (w->end < w->begin)
        ab_json_fail(&r->json, &end, "is before its begin");
}

static void read_windows(struct ab_stored_reader *r, const struct ab_json_node *document)
{
    struct ab_session *s = r->session;
    struct ab_json_node list = ab_json_array_if_any(&r->json, document, "windows");
    size_t n = ab_json_count(&r->json, &list, AB_STORED_RECORDS_MAX);
    s->windows = ab_stored_records(r, n, sizeof s->windows[0]);
    for (size_t i = 0; i < n && r->json.status == AB_OK; i++) {
        struct ab_json_node o = ab_json_item_object(&r->json, &list, i);
        read_window(r, &o, &s->windows[s->n_windows++]);
    }
    s->cap_windows = s->n_windows;
}

void ab_stored_depth(struct ab_stored_reader *r, const struct ab_json_node *document)
{
    read_size_classes(r, document);
    read_windows(r, document);
}
