/* SPDX-License-Identifier: MIT
 *
 * Records of iterations; older results, and those of work without iterations, have none.
 */
#include "report/read/read_iterations.h"

#include "base/limits.h"
#include "result/merge/merge_iterations.h"

#include <math.h>

/* null where no iteration was timed that it could hold; else it has to hold as many as the record
 * says. */
static void read_histogram(struct ab_stored_reader *r, const struct ab_json_node *o,
                           struct ab_iterations *x)
{
    double max = ab_json_number(&r->json, o, "max");
    uint64_t overflow = ab_json_whole(&r->json, o, "overflow", UINT32_MAX, 0);
    struct ab_json_node at = {.parent = o, .key = "overflow"};
    if (r->json.status == AB_OK && overflow > x->n)
        ab_json_fail(&r->json, &at, "is more than n");
    if (r->json.status != AB_OK)
        return;
    uint64_t n = x->n - overflow;
    x->hdr = n > 0 ? ab_stored_histogram(r, o, n) : ab_hdr_new();
    if (x->hdr == NULL)
        return;
    x->hdr->overflow = overflow;
    if (n > 0 && max >= 0)
        ab_stored_refine_max(x->hdr, (uint64_t)fmin(max, 1e18));
    ab_iterations_summarise(x);
}

/* Older results do not have them. */
static void read_worst(struct ab_stored_reader *r, const struct ab_json_node *o,
                       struct ab_iterations *x)
{
    struct ab_json_node list = ab_json_array_if_any(&r->json, o, "worst");
    size_t n = ab_json_count(&r->json, &list, AB_ITERATIONS_WORST_MAX);
    for (size_t i = 0; i < n && r->json.status == AB_OK; i++) {
        struct ab_json_node item = ab_json_item_object(&r->json, &list, i);
        struct ab_iteration_time *t = &x->worst[x->n_worst++];
        t->iteration = (uint32_t)ab_json_whole(&r->json, &item, "iteration", UINT32_MAX, 0);
        t->lane = (uint32_t)ab_json_whole(&r->json, &item, "lane", AB_LANES_MAX - 1, 0);
        t->ns = ab_json_whole(&r->json, &item, "ns", INT64_MAX, 0);
    }
}

static void read_stretches(struct ab_stored_reader *r, const struct ab_json_node *o,
                           struct ab_iterations *x)
{
    struct ab_json_node list = ab_json_array_if_any(&r->json, o, "stretches");
    size_t n = ab_json_count(&r->json, &list, AB_STRETCHES_MAX);
    if (n > 0)
        x->stretch = (uint32_t)ab_json_whole(&r->json, o, "stretch", UINT32_MAX / AB_STRETCHES_MAX,
                                             0);
    for (size_t i = 0; i < n && r->json.status == AB_OK; i++) {
        struct ab_json_node item = ab_json_item(&list, i);
        bool is_whole = json_is_integer(item.json) && json_integer_value(item.json) >= 0;
        if (!is_whole && !json_is_null(item.json))
            ab_json_fail(&r->json, &item, "must be a whole number or null");
        x->stretches[x->n_stretches++] = is_whole ? (uint64_t)json_integer_value(item.json)
                                                  : AB_NO_TIME;
    }
}

static void read_record(struct ab_stored_reader *r, const struct ab_json_node *o,
                        struct ab_iterations *x)
{
    struct ab_json_node over = {.parent = o, .key = "n_over_budget"},
                        budget = {.parent = o, .key = "budget_ns"};
    x->backend = ab_stored_backend(r, o, "backend");
    x->phase = ab_stored_phase(r, o);
    x->round = ab_stored_round(r, o);
    ab_json_text_into(&r->json, o, "name", x->name, sizeof x->name);
    x->budget_ns = ab_json_number(&r->json, o, "budget_ns");
    if (r->json.status == AB_OK && (x->budget_ns < 1 || x->budget_ns > AB_ITERATION_BUDGET_MOST_NS))
        ab_json_fail(&r->json, &budget, AB_ITERATION_BUDGET_RANGE);
    x->n = ab_json_whole(&r->json, o, "n", UINT32_MAX, UINT64_MAX);
    x->n_over_budget = ab_json_whole(&r->json, o, "n_over_budget", UINT32_MAX, UINT64_MAX);
    x->n_scheduler = ab_json_whole(&r->json, o, "n_scheduler", UINT32_MAX, UINT64_MAX);
    x->n_calls = ab_json_whole(&r->json, o, "n_calls", INT64_MAX, UINT64_MAX);
    x->n_calls_most = ab_json_whole(&r->json, o, "n_calls_most", INT64_MAX, x->n_calls);
    x->call_ns = ab_json_number(&r->json, o, "call_ns");
    ab_json_text_into(&r->json, o, "reason", x->reason, sizeof x->reason);
    if (r->json.status == AB_OK && x->n_over_budget > x->n)
        ab_json_fail(&r->json, &over, "is more than n");
    read_worst(r, o, x);
    read_stretches(r, o, x);
    if (r->json.status == AB_OK)
        read_histogram(r, o, x);
}

void ab_stored_iterations(struct ab_stored_reader *r, const struct ab_json_node *document)
{
    struct ab_session *s = r->session;
    struct ab_json_node list = ab_json_array_if_any(&r->json, document, "iterations");
    size_t n = ab_json_count(&r->json, &list, AB_STORED_RECORDS_MAX);
    s->iterations = ab_stored_records(r, n, sizeof s->iterations[0]);
    for (size_t i = 0; i < n && r->json.status == AB_OK; i++) {
        struct ab_json_node o = ab_json_item_object(&r->json, &list, i);
        read_record(r, &o, &s->iterations[s->n_iterations++]);
    }
    s->cap_iterations = s->n_iterations;
}
