/* SPDX-License-Identifier: MIT
 *
 * What the memory pass left in a result: records, distributions and time lines.
 */
#include "report/read/read_memory.h"

#include "base/bits.h"
#include "report/heaps/heaps_read.h"
#include "result/memory_dist.h"
#include "result/result_fields.h"

#include <math.h>

/* ---- records ---- */

static void read_drained(struct ab_json_reader *r, const struct ab_json_node *record,
                         struct ab_memory *m)
{
    struct ab_json_node o = ab_json_object(r, record, "drained_bytes");
    for (unsigned i = 0; i < AB_DRAIN_COUNT; i++)
        m->drained_bytes[i] = ab_json_number(r, &o, ab_drain_names[i]);
}

static void read_record(struct ab_stored_reader *r, const struct ab_json_node *o,
                        struct ab_memory *m)
{
    m->backend = ab_stored_backend(r, o, "backend");
    m->phase = ab_stored_phase(r, o);
    m->round = ab_stored_round(r, o);
    m->at = (enum ab_memory_at)ab_json_one_of(&r->json, o, "at", ab_memory_at_names, AB_AT_COUNT);
    m->position = (uint32_t)ab_json_whole(&r->json, o, "position", UINT32_MAX, 0);
    for (size_t i = 0; i < ab_memory_field_count; i++)
        *(double *)((char *)m + ab_memory_fields[i].offset) = ab_json_number(
            &r->json, o, ab_memory_fields[i].name);
    read_drained(&r->json, o, m);
    ab_stored_heap_memory(r, o, m);
    ab_json_text_into(&r->json, o, "reason", m->reason, sizeof m->reason);
}

static void read_records(struct ab_stored_reader *r, const struct ab_json_node *document)
{
    struct ab_session *s = r->session;
    struct ab_json_node list = ab_json_array(&r->json, document, "memory");
    size_t n = ab_json_count(&r->json, &list, AB_STORED_RECORDS_MAX);
    s->memory = ab_stored_records(r, n, sizeof s->memory[0]);
    for (size_t i = 0; i < n && r->json.status == AB_OK; i++) {
        struct ab_json_node o = ab_json_item_object(&r->json, &list, i);
        read_record(r, &o, &s->memory[s->n_memory++]);
    }
    s->cap_memory = s->n_memory;
}

/* ---- time lines ---- */

/* [position, live, usable, footprint] */
static void read_point(struct ab_json_reader *r, const struct ab_json_node *at,
                       struct ab_timeline_point *point)
{
    double x[4] = {0};
    for (size_t i = 0; i < AB_ARRAY_LEN(x) && json_array_size(at->json) == AB_ARRAY_LEN(x); i++) {
        const json_t *item = json_array_get(at->json, i);
        bool is_number = json_is_number(item) || (json_is_null(item) && i > 0);
        if (!is_number || (i == 0 && (!json_is_integer(item) || json_integer_value(item) < 0 ||
                                      json_integer_value(item) > UINT32_MAX)))
            ab_json_fail(r, at, "must be a position and three numbers");
        x[i] = json_is_null(item) ? (double)NAN : json_number_value(item);
    }
    if (json_array_size(at->json) != AB_ARRAY_LEN(x))
        ab_json_fail(r, at, "must be a position and three numbers");
    if (r->status == AB_OK)
        *point = (struct ab_timeline_point){(uint32_t)x[0], x[1], x[2], x[3], NAN};
}

/* One a point; older results have none. */
static void read_externals(struct ab_json_reader *r, const struct ab_json_node *o,
                           struct ab_timeline *t)
{
    if (!ab_json_has(r, o, "external"))
        return;
    struct ab_json_node list = ab_json_array(r, o, "external");
    size_t n = ab_json_count(r, &list, AB_STORED_RECORDS_MAX);
    if (n != t->n)
        ab_json_fail(r, &list, "must be one number a point");
    for (size_t i = 0; i < n && r->status == AB_OK; i++) {
        const json_t *item = json_array_get(list.json, i);
        struct ab_json_node at = ab_json_item(&list, i);
        if (!json_is_number(item) && !json_is_null(item))
            ab_json_fail(r, &at, "must be a number or null");
        t->points[i].external_bytes = json_is_number(item) ? json_number_value(item) : NAN;
    }
}

static void read_timeline(struct ab_stored_reader *r, const struct ab_json_node *o,
                          struct ab_timeline *t)
{
    t->backend = ab_stored_backend(r, o, "backend");
    t->round = ab_stored_round(r, o);
    struct ab_json_node list = ab_json_array(&r->json, o, "points");
    size_t n = ab_json_count(&r->json, &list, AB_STORED_POINTS_MAX);
    t->points = ab_stored_records(r, n, sizeof t->points[0]);
    for (size_t i = 0; i < n && r->json.status == AB_OK; i++) {
        struct ab_json_node at = ab_json_item(&list, i);
        read_point(&r->json, &at, &t->points[i]);
        if (i > 0 && t->points[i].position < t->points[i - 1].position)
            ab_json_fail(&r->json, &at, "position %u is not ascending", t->points[i].position);
        t->n++;
    }
    if (r->json.status == AB_OK)
        read_externals(&r->json, o, t);
}

static void read_timelines(struct ab_stored_reader *r, const struct ab_json_node *document)
{
    struct ab_session *s = r->session;
    struct ab_json_node list = ab_json_array_if_any(&r->json, document, "timelines");
    size_t n = ab_json_count(&r->json, &list, AB_STORED_RECORDS_MAX);
    s->timelines = ab_stored_records(r, n, sizeof s->timelines[0]);
    for (size_t i = 0; i < n && r->json.status == AB_OK; i++) {
        struct ab_json_node o = ab_json_item_object(&r->json, &list, i);
        read_timeline(r, &o, &s->timelines[s->n_timelines++]);
    }
    s->cap_timelines = s->n_timelines;
}

/* ---- distributions ---- */

/* null where nothing is known; else it has to be consistent with what is said of it. */
static void read_histogram(struct ab_stored_reader *r, const struct ab_json_node *o,
                           struct ab_memory_dist *d)
{
    struct ab_json_node at = {.parent = o, .key = "n"};
    uint64_t n = ab_json_whole(&r->json, o, "n", INT64_MAX, UINT64_MAX);
    uint64_t overflow = ab_json_whole(&r->json, o, "overflow", INT64_MAX, 0);
    uint64_t highest = ab_json_whole(&r->json, o, "highest", INT64_MAX, UINT64_MAX);
    if (r->json.status == AB_OK && (n > d->n_ops || overflow > d->n_ops - n || d->n_samples > n))
        ab_json_fail(&r->json, &at, "does not go with n_ops, n_samples and overflow");
    if (r->json.status != AB_OK || n == 0)
        return;
    d->hdr = ab_stored_histogram(r, o, n);
    if (d->hdr == NULL)
        return;
    d->hdr->overflow = overflow;
    ab_stored_refine_max(d->hdr, highest);
}

static void read_dist(struct ab_stored_reader *r, const struct ab_json_node *o,
                      struct ab_memory_dist *d)
{
    d->backend = ab_stored_backend(r, o, "backend");
    d->phase = ab_stored_phase(r, o);
    d->round = ab_stored_round(r, o);
    d->kind = (enum ab_memory_dist_kind)ab_json_one_of(&r->json, o, "metric", ab_memory_dist_names,
                                                       AB_DIST_COUNT);
    d->n_ops = ab_json_whole(&r->json, o, "n_ops", UINT32_MAX, UINT64_MAX);
    d->n_samples = ab_json_whole(&r->json, o, "n_samples", UINT32_MAX, UINT64_MAX);
    ab_json_text_into(&r->json, o, "reason", d->reason, sizeof d->reason);
    read_histogram(r, o, d);
}

static void read_dists(struct ab_stored_reader *r, const struct ab_json_node *document)
{
    struct ab_session *s = r->session;
    struct ab_json_node list = ab_json_array_if_any(&r->json, document, "memory_distributions");
    size_t n = ab_json_count(&r->json, &list, AB_STORED_RECORDS_MAX);
    s->dists = ab_stored_records(r, n, sizeof s->dists[0]);
    for (size_t i = 0; i < n && r->json.status == AB_OK; i++) {
        struct ab_json_node o = ab_json_item_object(&r->json, &list, i);
        read_dist(r, &o, &s->dists[s->n_dists++]);
    }
    s->cap_dists = s->n_dists;
}

void ab_stored_memory(struct ab_stored_reader *r, const struct ab_json_node *document)
{
    read_records(r, document);
    read_dists(r, document);
    read_timelines(r, document);
}
