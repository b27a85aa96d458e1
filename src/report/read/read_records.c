/* SPDX-License-Identifier: MIT
 *
 * The lists of numbers of a result. What they refer to (back ends, phases, rounds) was read before
 * and has to exist; histograms are decoded and have to hold what the record says.
 */
#include "report/read/read_records.h"

#include "base/bits.h"
#include "core/memory.h"
#include "core/text.h"
#include "result/result_fields.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what records refer to ---- */

const char *ab_stored_phase(struct ab_stored_reader *r, const struct ab_json_node *o)
{
    char shown[160];
    struct ab_json_node at = {.parent = o, .key = "phase"};
    const char *name = ab_json_text(&r->json, o, "phase");
    for (uint32_t i = 0; i < r->session->n_phases && r->json.status == AB_OK; i++)
        if (strcmp(r->session->phases[i], name) == 0)
            return r->session->phases[i];
    ab_json_fail(&r->json, &at, "\"%s\" is not among config.phases",
                 ab_text_printable(shown, sizeof shown, name));
    return "";
}

static int by_index(const void *key, const void *round)
{
    uint32_t a = *(const uint32_t *)key, b = ((const struct ab_round *)round)->index;
    return (a > b) - (a < b);
}

uint32_t ab_stored_round(struct ab_stored_reader *r, const struct ab_json_node *o)
{
    const struct ab_session *s = r->session;
    struct ab_json_node at = {.parent = o, .key = "round"};
    uint32_t index = (uint32_t)ab_json_whole(&r->json, o, "round", UINT32_MAX - 1, UINT32_MAX);
    if (s->n_rounds == 0 ||
        bsearch(&index, s->rounds, s->n_rounds, sizeof s->rounds[0], by_index) == NULL)
        ab_json_fail(&r->json, &at, "no round has this index");
    return index;
}

unsigned ab_stored_op(struct ab_stored_reader *r, const struct ab_json_node *o)
{
    const char *names[AB_OP_ALL + 1];
    for (unsigned k = 0; k <= AB_OP_ALL; k++)
        names[k] = ab_result_op_name(k);
    return (unsigned)ab_json_one_of(&r->json, o, "op", names, AB_ARRAY_LEN(names));
}

/* ---- histograms ---- */

static struct ab_hdr *new_histogram(struct ab_stored_reader *r)
{
    struct ab_hdr *hdr = r->json.status == AB_OK ? ab_hdr_new() : NULL;
    if (hdr == NULL && r->json.status == AB_OK)
        r->json.status = ab_fail(r->json.err, AB_SYSTEM, "out of memory for the result");
    return hdr;
}

/* Of a histogram only a few pages are in use, and they are what the bound counts. */
static void count_pages(struct ab_stored_reader *r, const struct ab_hdr *hdr)
{
    enum { PAGE_COUNTS = 4096 / sizeof(uint64_t) };
    uint64_t bytes = 4096;
    for (uint32_t i = ab_hdr_first(hdr), page = UINT32_MAX; i < ab_hdr_end(hdr); i++)
        if (hdr->counts[i] != 0) {
            bytes += i / PAGE_COUNTS != page ? 4096 : 0;
            page = i / PAGE_COUNTS;
        }
    r->hdr_bytes_left -= bytes < r->hdr_bytes_left ? bytes : r->hdr_bytes_left;
}

/* The text is dropped from the document: it is the bulk of it. */
static struct ab_hdr *read_histogram(struct ab_stored_reader *r, const struct ab_json_node *o)
{
    struct ab_err why;
    struct ab_json_node at = {.parent = o, .key = "hdr_v2"};
    const char *text = ab_json_text(&r->json, o, "hdr_v2");
    struct ab_hdr *hdr = new_histogram(r);
    if (hdr == NULL)
        return NULL;
    if (ab_hdr_decode_into_empty(text, hdr, r->room, &why) != AB_OK)
        ab_json_fail(&r->json, &at, "%s", why.text);
    else if (r->hdr_bytes_left == 0)
        ab_json_fail(&r->json, &at, "the histograms need more than %" PRIu64 " MiB of memory",
                     AB_STORED_HISTOGRAMS_MAX >> 20);
    if (r->json.status != AB_OK) {
        free(hdr);
        return NULL;
    }
    json_object_del(o->json, "hdr_v2");
    count_pages(r, hdr);
    return hdr;
}

struct ab_hdr *ab_stored_histogram(struct ab_stored_reader *r, const struct ab_json_node *o,
                                   uint64_t n)
{
    struct ab_json_node n_at = {.parent = o, .key = "n"};
    struct ab_hdr *hdr = read_histogram(r, o);
    uint64_t total = hdr != NULL ? ab_hdr_total(hdr) : n;
    if (total != n)
        ab_json_fail(&r->json, &n_at, "is %" PRIu64 ", but hdr_v2 holds %" PRIu64 " values", n,
                     total);
    return hdr;
}

/* Of all rounds, or (null) none because another record has it. */
static struct ab_hdr *merged_histogram(struct ab_stored_reader *r, const struct ab_json_node *o)
{
    if (!json_is_null(json_object_get(o->json, "hdr_v2")))
        return read_histogram(r, o);
    return new_histogram(r);
}

void ab_stored_refine_max(struct ab_hdr *hdr, uint64_t max)
{
    if (max <= hdr->max && max <= AB_HDR_HIGHEST && ab_hdr_index(max) == ab_hdr_index(hdr->max))
        hdr->max = max;
}

const char *ab_stored_boundary(struct ab_json_reader *r, const struct ab_json_node *o)
{
    return ab_boundary_names[ab_json_one_of(r, o, "boundary", ab_boundary_names,
                                            AB_BOUNDARY_COUNT)];
}

/* ---- nulls ---- */

void ab_stored_nulls(struct ab_stored_reader *r, const struct ab_json_node *timer)
{
    struct ab_session *s = r->session;
    struct ab_json_reader *j = &r->json;
    struct ab_json_node list = ab_json_array(j, timer, "null");
    size_t n = ab_json_count(j, &list, AB_STORED_RECORDS_MAX);
    s->nulls = ab_stored_records(r, n, sizeof s->nulls[0]);
    for (size_t i = 0; i < n && j->status == AB_OK; i++) {
        struct ab_json_node o = ab_json_item_object(j, &list, i);
        struct ab_null_cost *cost = &s->nulls[s->n_nulls++];
        cost->phase = ab_stored_phase(r, &o);
        cost->boundary = ab_stored_boundary(j, &o);
        if (ab_json_has(j, &o, "placement"))
            ab_json_text_into(j, &o, "placement", cost->placement, sizeof cost->placement);
        cost->round = ab_stored_round(r, &o);
        cost->n_ops = ab_json_whole(j, &o, "n_ops", INT64_MAX, UINT64_MAX);
        cost->ns_per_op = ab_json_number(j, &o, "ns_per_op");
        cost->wall_ns_per_op = ab_json_has(j, &o, "wall_ns_per_op")
                                   ? ab_json_number(j, &o, "wall_ns_per_op")
                                   : (double)NAN;
        cost->latency_pass_ns_per_op = ab_json_number(j, &o, "latency_pass_ns_per_op");
        cost->floor_ns = ab_json_number(j, &o, "floor_ns");
        cost->instr_per_op = ab_json_has(j, &o, "instr_per_op")
                                 ? ab_json_number(j, &o, "instr_per_op")
                                 : (double)NAN;
        cost->iteration_call_ns = NAN;
    }
    s->cap_nulls = s->n_nulls;
}

/* ---- results ---- */

/* The numbers of one group, from where sink_json.c puts them. */
static void read_fields(struct ab_stored_reader *r, const struct ab_json_node *o,
                        struct ab_result *result, enum ab_field_group group)
{
    for (size_t i = 0; i < ab_field_count; i++) {
        const struct ab_field *f = &ab_fields[i];
        void *to = (char *)result + f->offset;
        if (f->group != group)
            continue;
        bool is_there = f->since == AB_FIELD_ALWAYS || ab_json_has(&r->json, o, f->json_key);
        if (f->type == AB_FIELD_U64)
            *(uint64_t *)to = !is_there
                                  ? UINT64_MAX
                                  : ab_json_whole(&r->json, o, f->json_key, INT64_MAX, UINT64_MAX);
        else
            *(double *)to = is_there ? ab_json_number(&r->json, o, f->json_key) : (double)NAN;
    }
}

/* Of kind "exec" only. */
static void read_program(struct ab_stored_reader *r, const struct ab_json_node *record,
                         struct ab_result *result)
{
    if (!ab_json_has(&r->json, record, "program"))
        return;
    struct ab_json_node o = ab_json_object(&r->json, record, "program");
    read_fields(r, &o, result, AB_FIELD_PROGRAM);
}

static void read_tail(struct ab_stored_reader *r, const struct ab_json_node *record,
                      struct ab_result *result)
{
    struct ab_json_reader *j = &r->json;
    if (j->status != AB_OK || json_is_null(json_object_get(record->json, "tail")))
        return;
    struct ab_json_node o = ab_json_object(j, record, "tail");
    read_fields(r, &o, result, AB_FIELD_TAIL);
    if (result->tail_n == 0)
        ab_json_fail(j, &o, "has no ops: must be null");
    struct ab_json_node list = ab_json_array(j, &o, "worst");
    size_t n = ab_json_count(j, &list, AB_WORST_MAX);
    for (size_t i = 0; i < n; i++) {
        struct ab_json_node op = ab_json_item_object(j, &list, i);
        struct ab_worst_op *worst = &result->worst[result->n_worst++];
        worst->position = (uint32_t)ab_json_whole(j, &op, "position", UINT32_MAX, UINT32_MAX);
        worst->size = ab_json_whole(j, &op, "size", INT64_MAX, UINT64_MAX);
        worst->ns = ab_json_number(j, &op, "ns");
        if (ab_json_has(j, &op, "iteration"))
            worst->iteration = (uint32_t)ab_json_whole(j, &op, "iteration", UINT32_MAX, 0);
    }
}

/* V2 knows only the counters that hold the extremes. */
static void refine_histogram(struct ab_hdr *hdr, const struct ab_result *result)
{
    hdr->overflow = result->overflow;
    if (hdr->min <= AB_HDR_HIGHEST && result->min >= (double)hdr->min &&
        result->min <= (double)ab_hdr_high(ab_hdr_index(hdr->min)))
        hdr->min = (uint64_t)result->min;
}

static void read_result(struct ab_stored_reader *r, const struct ab_json_node *o,
                        struct ab_result *result)
{
    result->backend = ab_stored_backend(r, o, "backend");
    result->phase = ab_stored_phase(r, o);
    result->op = ab_stored_op(r, o);
    result->round = ab_stored_round(r, o);
    read_fields(r, o, result, AB_FIELD_EACH);
    struct ab_json_node quantiles = ab_json_object(&r->json, o, "quantiles");
    read_fields(r, &quantiles, result, AB_FIELD_QUANTILE);
    ab_fields_forget(result, AB_FIELD_ALL);
    ab_fields_forget(result, AB_FIELD_PROGRAM);
    if (result->op == AB_OP_ALL)
        read_fields(r, o, result, AB_FIELD_ALL);
    read_program(r, o, result);
    read_tail(r, o, result);
    result->hdr = r->session->is_histogram_merged ? merged_histogram(r, o)
                                                  : ab_stored_histogram(r, o, result->n);
    if (result->hdr != NULL)
        refine_histogram(result->hdr, result);
}

/* Merged ones hold what the rounds timed together. */
static void check_merged(struct ab_stored_reader *r, const struct ab_json_node *list)
{
    const struct ab_session *s = r->session;
    uint64_t said = 0, held = 0;
    for (uint32_t i = 0; i < s->n_results && r->json.status == AB_OK; i++) {
        said += s->results[i].n;
        held += ab_hdr_total(s->results[i].hdr);
    }
    if (s->is_histogram_merged && said != held)
        ab_json_fail(&r->json, list, "have %" PRIu64 " timed ops, but histograms of %" PRIu64, said,
                     held);
}

/* Everything but the numbers, as one key. */
static int by_identity(const void *a, const void *b)
{
    const struct ab_result *x = *(const struct ab_result *const *)a;
    const struct ab_result *y = *(const struct ab_result *const *)b;
    if (x->backend != y->backend)
        return x->backend < y->backend ? -1 : 1;
    if (x->round != y->round)
        return x->round < y->round ? -1 : 1;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    return (x->phase > y->phase) - (x->phase < y->phase); /* of one list: same pointer, same name */
}

static void check_unique(struct ab_stored_reader *r, const struct ab_json_node *list)
{
    struct ab_session *s = r->session;
    const struct ab_result **sorted = ab_stored_records(r, s->n_results, sizeof sorted[0]);
    for (uint32_t i = 0; i < s->n_results && sorted != NULL; i++)
        sorted[i] = &s->results[i];
    if (sorted != NULL)
        qsort(sorted, s->n_results, sizeof sorted[0], by_identity);
    for (uint32_t i = 1; i < s->n_results && sorted != NULL; i++)
        if (by_identity(&sorted[i - 1], &sorted[i]) == 0) {
            struct ab_json_node at = ab_json_item(list, (size_t)(sorted[i] - s->results));
            ab_json_fail(&r->json, &at, "is a second result for %s, phase %s, op %s, round %u",
                         s->backends[sorted[i]->backend].name, sorted[i]->phase,
                         ab_result_op_name(sorted[i]->op), sorted[i]->round);
        }
    free(sorted);
}

void ab_stored_results(struct ab_stored_reader *r, const struct ab_json_node *document)
{
    struct ab_session *s = r->session;
    struct ab_json_node list = ab_json_array(&r->json, document, "results");
    size_t n = ab_json_count(&r->json, &list, AB_STORED_RECORDS_MAX);
    s->results = ab_stored_records(r, n, sizeof s->results[0]);
    for (size_t i = 0; i < n && r->json.status == AB_OK; i++) {
        struct ab_json_node o = ab_json_item_object(&r->json, &list, i);
        read_result(r, &o, &s->results[s->n_results++]);
    }
    s->cap_results = s->n_results;
    check_merged(r, &list);
    check_unique(r, &list);
}

void *ab_stored_records(struct ab_stored_reader *r, size_t n, size_t bytes)
{
    if (r->json.status != AB_OK || n == 0)
        return NULL;
    void *p = ab_alloc_zeroed(n, bytes);
    return p;
}

uint32_t ab_stored_backend_named(struct ab_stored_reader *r, const struct ab_json_node *at,
                                 const char *name)
{
    char shown[160];
    for (uint32_t i = 0; i < r->session->n_backends; i++)
        if (strcmp(r->session->backends[i].name, name) == 0)
            return i;
    ab_json_fail(&r->json, at, "\"%s\" is not among the back ends",
                 ab_text_printable(shown, sizeof shown, name));
    return 0;
}

uint32_t ab_stored_backend(struct ab_stored_reader *r, const struct ab_json_node *o,
                           const char *key)
{
    struct ab_json_node at = {.parent = o, .key = key};
    const char *name = ab_json_text(&r->json, o, key);
    return r->json.status == AB_OK ? ab_stored_backend_named(r, &at, name) : 0;
}
