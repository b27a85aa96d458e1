/* SPDX-License-Identifier: MIT
 *
 * Records of iterations as JSON.
 */
#include "report/iterations/iterations_json.h"

static json_t *worst(struct ab_json *w, const struct ab_iterations *x)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < x->n_worst; i++) {
        json_t *o = json_object();
        ab_json_put(w, o, "iteration", ab_json_integer(x->worst[i].iteration));
        ab_json_put(w, o, "lane", ab_json_integer(x->worst[i].lane));
        ab_json_put(w, o, "ns", ab_json_integer(x->worst[i].ns));
        ab_json_append(w, list, o);
    }
    return list;
}

static json_t *stretches(struct ab_json *w, const struct ab_iterations *x)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < x->n_stretches; i++)
        ab_json_append(w, list, ab_json_integer(x->stretches[i]));
    return list;
}

static json_t *iterations(struct ab_json *w, const struct ab_session *s,
                          const struct ab_iterations *x)
{
    json_t *o = json_object();
    bool is_empty = ab_hdr_total(x->hdr) == 0;
    ab_json_put(w, o, "backend", ab_json_string(s->backends[x->backend].name));
    ab_json_put(w, o, "phase", ab_json_string(x->phase));
    ab_json_put(w, o, "round", ab_json_integer(x->round));
    ab_json_put(w, o, "name", ab_json_string(x->name));
    ab_json_put(w, o, "budget_ns", ab_json_real(x->budget_ns));
    ab_json_put(w, o, "n", ab_json_integer(x->n));
    ab_json_put(w, o, "overflow", ab_json_integer(x->hdr->overflow));
    ab_json_put(w, o, "n_over_budget", ab_json_integer(x->n_over_budget));
    ab_json_put(w, o, "n_scheduler", ab_json_integer(x->n_scheduler));
    ab_json_put(w, o, "n_calls", ab_json_integer(x->n_calls));
    ab_json_put(w, o, "n_calls_most", ab_json_integer(x->n_calls_most));
    ab_json_put(w, o, "call_ns", ab_json_real(x->call_ns));
    ab_json_put(w, o, "p50", ab_json_real(x->p50));
    ab_json_put(w, o, "p99", ab_json_real(x->p99));
    ab_json_put(w, o, "max", ab_json_real(x->max));
    ab_json_put(w, o, "worst", worst(w, x));
    ab_json_put(w, o, "stretch", ab_json_integer(x->stretch));
    ab_json_put(w, o, "stretches", stretches(w, x));
    ab_json_put(w, o, "hdr_v2", is_empty ? json_null() : ab_json_histogram(x->hdr));
    ab_json_put(w, o, "reason", ab_json_string(x->reason));
    return o;
}

void ab_iterations_json(struct ab_json *w, json_t *o, const struct ab_session *s)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < s->n_iterations; i++)
        if (ab_session_has_numbers(s, s->iterations[i].backend))
            ab_json_append(w, list, iterations(w, s, &s->iterations[i]));
    if (json_array_size(list) > 0)
        ab_json_put(w, o, "iterations", list);
    else
        json_decref(list);
}
