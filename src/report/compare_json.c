/* SPDX-License-Identifier: MIT
 *
 * Cells, notes and gates of comparisons as JSON. What is not known is null.
 */
#include "report/compare_json.h"

#include "report/format.h"

/* Not known and never are both null. */
static json_t *rounds_needed(uint32_t n)
{
    return n == 0 || n == UINT32_MAX ? json_null() : ab_json_integer(n);
}

/* By the witnesses, which are the same build in both results. */
static json_t *relative(const struct ab_cell *c)
{
    json_t *o = json_object();
    ab_json_put(o, "witnesses", ab_json_string(c->witnesses));
    ab_json_put(o, "machine_ratio", ab_json_real(c->machine_ratio));
    ab_json_put(o, "ratio", ab_json_real(c->relative.ratio));
    ab_json_put(o, "low", ab_json_real(c->relative.low));
    ab_json_put(o, "high", ab_json_real(c->relative.high));
    return o;
}

static json_t *cell(const struct ab_cell *c)
{
    json_t *o = json_object();
    ab_json_put(o, "backend", ab_json_string(c->backend));
    ab_json_put(o, "base_backend", ab_json_string(c->base_backend));
    ab_json_put(o, "phase", ab_json_string(c->phase));
    ab_json_put(o, "op", ab_json_string(c->op));
    if (c->iteration != NULL)
        ab_json_put(o, "iteration", ab_json_string(c->iteration));
    ab_json_put(o, "metric", ab_json_string(c->metric));
    ab_json_put(o, "unit", ab_json_string(c->unit));
    ab_json_put(o, "base", ab_json_real(c->base));
    ab_json_put(o, "new", ab_json_real(c->now));
    ab_json_put(o, "ratio", ab_json_real(c->effect.ratio));
    ab_json_put(o, "low", ab_json_real(c->effect.low));
    ab_json_put(o, "high", ab_json_real(c->effect.high));
    ab_json_put(o, "method", ab_json_string(ab_effect_method_name(c->effect.method)));
    ab_json_put(o, "n_base", ab_json_integer(c->effect.n_base));
    ab_json_put(o, "n_new", ab_json_integer(c->effect.n_new));
    if (ab_cell_judged_effect(c) != &c->effect)
        ab_json_put(o, "relative", relative(c));
    ab_json_put(o, "limit", ab_json_real(c->limit));
    ab_json_put(o, "verdict",
                ab_cell_is_judged(c) ? ab_json_string(ab_verdict_name(c->verdict)) : json_null());
    ab_json_put(o, "direction",
                ab_cell_is_judged(c) ? json_null() : ab_json_string(ab_cell_word(c)));
    ab_json_put(o, "rounds_needed", rounds_needed(c->rounds_needed));
    ab_json_put(o, "confirm_rounds", ab_json_integer(c->n_confirm));
    ab_json_put(o, "confirm_ratio", ab_json_real(c->confirm_ratio));
    ab_json_put(o, "reason", ab_json_string(c->reason));
    return o;
}

json_t *ab_comparison_json(const struct ab_comparison *c)
{
    if (c == NULL)
        return json_null();
    json_t *o = json_object(), *cells = json_array(), *notes = json_array();
    ab_json_put(o, "base", ab_json_string(c->base_label));
    ab_json_put(o, "new", ab_json_string(c->now_label));
    ab_json_put(o, "tape_sha256", ab_json_string(c->now->tape_sha256));
    ab_json_put(o, "advisory", ab_json_string(c->advisory));
    for (uint32_t i = 0; i < c->n_notes; i++)
        ab_json_append(notes, ab_json_string(c->notes[i]));
    ab_json_put(o, "notes", notes);
    if (c->is_joint)
        ab_json_put(o, "jointly", json_true());
    for (uint32_t i = 0; i < c->n_cells; i++)
        ab_json_append(cells, cell(&c->cells[i]));
    ab_json_put(o, "cells", cells);
    return o;
}

static json_t *gate(const struct ab_session *s, const struct ab_gate_result *g)
{
    json_t *o = json_object();
    ab_json_put(o, "gate", ab_json_string(g->text));
    ab_json_put(o, "place", ab_json_string(g->place));
    ab_json_put(o, "backend",
                g->backend < s->n_backends ? ab_json_string(s->backends[g->backend].name)
                                           : json_null());
    ab_json_put(o, "verdict", ab_json_string(ab_gate_verdict_name(g->verdict)));
    ab_json_put(o, "exit_code", ab_json_integer((uint64_t)ab_status_exit_code(g->status)));
    ab_json_put(o, "value", ab_json_real(g->value));
    ab_json_put(o, "bound", ab_json_real(g->bound));
    ab_json_put(o, "unit", ab_json_string(g->unit));
    ab_json_put(o, "reason", ab_json_string(g->reason));
    ab_json_put(o, "low", ab_json_real(g->low));
    ab_json_put(o, "high", ab_json_real(g->high));
    ab_json_put(o, "level", ab_json_string(g->is_warning ? "warn" : "error"));
    ab_json_put(o, "confirm_rounds", ab_json_integer(g->n_confirm));
    ab_json_put(o, "confirm_value",
                g->n_confirm > 0 ? ab_json_real(g->confirm_value) : json_null());
    ab_json_put(o, "rounds_needed", rounds_needed(g->rounds_needed));
    return o;
}

json_t *ab_gates_json(const struct ab_session *s)
{
    json_t *gates = json_array();
    for (uint32_t i = 0; i < s->n_gates; i++)
        ab_json_append(gates, gate(s, &s->gates[i]));
    return gates;
}

bool ab_comparisons_write(FILE *to, const struct ab_comparison *comparisons, size_t n,
                          int exit_code)
{
    struct ab_format_guard guard;
    json_t *o = json_object(), *list = json_array();
    ab_format_begin(&guard);
    ab_json_put(o, "schema", ab_json_string("allocbench-compare/1"));
    ab_json_put(o, "version", ab_json_string(AB_VERSION));
    ab_json_put(o, "exit_code", ab_json_integer((uint64_t)exit_code));
    for (size_t i = 0; i < n; i++) {
        json_t *one = ab_comparison_json(&comparisons[i]);
        ab_json_put(one, "gates", ab_gates_json(comparisons[i].now));
        ab_json_append(list, one);
    }
    ab_json_put(o, "comparisons", list);
    ab_json_write(o, to, 12);
    ab_format_end(&guard);
    return true;
}
