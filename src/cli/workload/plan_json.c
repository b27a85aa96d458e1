/* SPDX-License-Identifier: MIT
 *
 * The document of `check --json`, in the order of the screen.
 */
#include "cli/workload/plan_json.h"

#include "report/json.h"
#include "report/sinks/json_rounds.h"

#include <math.h>

static json_t *phase(struct ab_json *w, const struct ab_phase *p)
{
    json_t *o = json_object(), *ops = json_object();
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        if (p->n_ops[k] > 0)
            ab_json_put(w, ops, ab_op_kind_name(k), ab_json_integer(p->n_ops[k]));
    ab_json_put(w, o, "name", ab_json_string(p->name));
    ab_json_put(w, o, "measured", json_boolean(p->is_measured));
    ab_json_put(w, o, "ops", ops);
    ab_json_put(w, o, "touched_pages", ab_json_integer(p->touched_pages));
    return o;
}

static json_t *phases(struct ab_json *w, const struct ab_tape *tape)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < tape->n_phases; i++)
        ab_json_append(w, list, phase(w, &tape->phases[i]));
    return list;
}

static json_t *cost(struct ab_json *w, const struct ab_check_plan *plan)
{
    const struct ab_session_cost *c = plan->cost;
    json_t *o = json_object(), *names = json_array();
    for (size_t i = 0; i < plan->n_backends; i++)
        ab_json_append(w, names, ab_json_string(plan->backends[i]));
    ab_json_put(w, o, "backends", names);
    ab_json_put(w, o, "rounds", ab_json_integer(c->rounds));
    ab_json_put(w, o, "processes", ab_json_integer(c->processes));
    ab_json_put(w, o, "processes_total", ab_json_integer(c->processes_total));
    ab_json_put(w, o, "passes", ab_json_passes(w, plan->passes));
    ab_json_put(w, o, "time_ns", ab_json_real(c->n_backends > 0 ? c->ns : (double)NAN));
    ab_json_put(w, o, "memory_bytes", ab_json_integer(c->bytes));
    return o;
}

static json_t *lints(struct ab_json *w, const struct ab_check_plan *plan)
{
    json_t *list = json_array();
    for (size_t i = 0; i < plan->lints->n; i++) {
        const struct ab_lint *lint = &plan->lints->items[i];
        json_t *o = json_object();
        ab_json_put(w, o, "id", ab_json_string(lint->id));
        ab_json_put(w, o, "file", ab_json_string(ab_lint_file(plan->workload)));
        ab_json_put(w, o, "line", ab_json_integer(lint->line));
        ab_json_put(w, o, "column", ab_json_integer(lint->col));
        ab_json_put(w, o, "message", ab_json_string(lint->text));
        ab_json_append(w, list, o);
    }
    return list;
}

static json_t *params(struct ab_json *w, const struct ab_check_plan *plan)
{
    json_t *list = json_array();
    for (const char *const *p = ab_workload_params(plan->workload); *p != NULL; p++)
        ab_json_append(w, list, ab_json_string(*p));
    return list;
}

bool ab_check_plan_write(FILE *to, const struct ab_check_plan *plan)
{
    struct ab_json w = {false};
    const struct ab_facts *facts = &plan->tape->facts;
    json_t *o = json_object();
    ab_json_put(&w, o, "schema", ab_json_string("allocbench-check/1"));
    ab_json_put(&w, o, "name", ab_json_string(ab_workload_name(plan->workload)));
    ab_json_put(&w, o, "about", ab_json_string(ab_workload_about(plan->workload)));
    ab_json_put(&w, o, "seed", ab_json_integer(ab_workload_seed(plan->workload)));
    ab_json_put(&w, o, "params", params(&w, plan));
    ab_json_put(&w, o, "tape_sha256", ab_json_string(plan->tape->sha256));
    ab_json_put(&w, o, "lanes", ab_json_integer(facts->lanes));
    ab_json_put(&w, o, "phases", phases(&w, plan->tape));
    ab_json_put(&w, o, "live_peak_bytes", ab_json_integer(facts->live_peak_bytes));
    ab_json_put(&w, o, "live_peak_blocks", ab_json_integer(facts->live_peak_blocks));
    ab_json_put(&w, o, "total_bytes", ab_json_integer(facts->total_bytes));
    ab_json_put(&w, o, "gates", ab_json_integer(plan->n_gates));
    ab_json_put(&w, o, "claims", ab_json_integer(plan->n_claims));
    ab_json_put(&w, o, "lints", lints(&w, plan));
    ab_json_put(&w, o, "cost", cost(&w, plan));
    return ab_json_write(&w, o, to, 0);
}
