/* SPDX-License-Identifier: MIT
 *
 * Objects of the document that report/sinks/sink_json.c puts together.
 */
#include "report/counts/counting_json.h"

json_t *ab_counting_json(struct ab_json *w, const struct ab_counting *c)
{
    if (!c->is_asked)
        return json_null();
    json_t *o = json_object();
    ab_json_put(w, o, "method", ab_json_string(c->method));
    ab_json_put(w, o, "n_ops", c->n_ops == 0 ? json_null() : ab_json_integer(c->n_ops));
    ab_json_put(w, o, "reason", ab_json_string(c->reason));
    return o;
}

json_t *ab_null_cost_json(struct ab_json *w, const struct ab_null_cost *n)
{
    json_t *o = json_object();
    ab_json_put(w, o, "phase", ab_json_string(n->phase));
    ab_json_put(w, o, "boundary", ab_json_string(n->boundary));
    ab_json_put(w, o, "placement", ab_json_string(n->placement));
    ab_json_put(w, o, "round", ab_json_integer(n->round));
    ab_json_put(w, o, "n_ops", ab_json_integer(n->n_ops));
    ab_json_put(w, o, "ns_per_op", ab_json_real(n->ns_per_op));
    ab_json_put(w, o, "wall_ns_per_op", ab_json_real(n->wall_ns_per_op));
    ab_json_put(w, o, "latency_pass_ns_per_op", ab_json_real(n->latency_pass_ns_per_op));
    ab_json_put(w, o, "floor_ns", ab_json_real(n->floor_ns));
    ab_json_put(w, o, "instr_per_op", ab_json_real(n->instr_per_op));
    return o;
}
