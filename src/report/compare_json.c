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
static json_t *relative(struct ab_json *w, const struct ab_cell *c)
{
    json_t *o = json_object();
    ab_json_put(w, o, "witnesses", ab_json_string(c->witnesses));
    ab_json_put(w, o, "machine_ratio", ab_json_real(c->machine_ratio));
    ab_json_put(w, o, "ratio", ab_json_real(c->relative.ratio));
    ab_json_put(w, o, "low", ab_json_real(c->relative.low));
    ab_json_put(w, o, "high", ab_json_real(c->relative.high));
    return o;
}

static json_t *cell(struct ab_json *w, const struct ab_cell *c)
{
    json_t *o = json_object();
    ab_json_put(w, o, "backend", ab_json_string(c->backend));
    ab_json_put(w, o, "base_backend", ab_json_string(c->base_backend));
    ab_json_put(w, o, "phase", ab_json_string(c->phase));
    ab_json_put(w, o, "op", ab_json_string(c->op));
    if (c->iteration != NULL)
        ab_json_put(w, o, "iteration", ab_json_string(c->iteration));
    ab_json_put(w, o, "metric", ab_json_string(c->metric));
    ab_json_put(w, o, "unit", ab_json_string(c->unit));
    ab_json_put(w, o, "base", ab_json_real(c->base));
    ab_json_put(w, o, "new", ab_json_real(c->now));
    ab_json_put(w, o, "ratio", ab_json_real(c->effect.ratio));
    ab_json_put(w, o, "low", ab_json_real(c->effect.low));
    ab_json_put(w, o, "high", ab_json_real(c->effect.high));
    ab_json_put(w, o, "method", ab_json_string(ab_effect_method_name(c->effect.method)));
    ab_json_put(w, o, "n_base", ab_json_integer(c->effect.n_base));
    ab_json_put(w, o, "n_new", ab_json_integer(c->effect.n_new));
    if (ab_cell_judged_effect(c) != &c->effect)
        ab_json_put(w, o, "relative", relative(w, c));
    ab_json_put(w, o, "limit", ab_json_real(c->limit));
    ab_json_put(w, o, "verdict",
                ab_cell_is_judged(c) ? ab_json_string(ab_verdict_name(c->verdict)) : json_null());
    ab_json_put(w, o, "direction",
                ab_cell_is_judged(c) ? json_null() : ab_json_string(ab_cell_word(c)));
    ab_json_put(w, o, "rounds_needed", rounds_needed(c->rounds_needed));
    ab_json_put(w, o, "confirm_rounds", ab_json_integer(c->n_confirm));
    ab_json_put(w, o, "confirm_ratio", ab_json_real(c->confirm_ratio));
    ab_json_put(w, o, "reason", ab_json_string(c->reason));
    return o;
}

json_t *ab_comparison_json(struct ab_json *w, const struct ab_comparison *c)
{
    if (c == NULL)
        return json_null();
    json_t *o = json_object(), *cells = json_array(), *notes = json_array();
    ab_json_put(w, o, "base", ab_json_string(c->base_label));
    ab_json_put(w, o, "new", ab_json_string(c->now_label));
    ab_json_put(w, o, "tape_sha256", ab_json_string(c->now->tape_sha256));
    ab_json_put(w, o, "advisory", ab_json_string(c->advisory));
    for (uint32_t i = 0; i < c->n_notes; i++)
        ab_json_append(w, notes, ab_json_string(c->notes[i]));
    ab_json_put(w, o, "notes", notes);
    if (c->is_joint)
        ab_json_put(w, o, "jointly", json_true());
    for (uint32_t i = 0; i < c->n_cells; i++)
        ab_json_append(w, cells, cell(w, &c->cells[i]));
    ab_json_put(w, o, "cells", cells);
    return o;
}

static json_t *gate(struct ab_json *w, const struct ab_session *s, const struct ab_gate_result *g)
{
    json_t *o = json_object();
    ab_json_put(w, o, "gate", ab_json_string(g->text));
    ab_json_put(w, o, "place", ab_json_string(g->place));
    ab_json_put(w, o, "backend",
                g->backend < s->n_backends ? ab_json_string(s->backends[g->backend].name)
                                           : json_null());
    ab_json_put(w, o, "verdict", ab_json_string(ab_gate_verdict_name(g->verdict)));
    ab_json_put(w, o, "exit_code", ab_json_integer((uint64_t)ab_status_exit_code(g->status)));
    ab_json_put(w, o, "value", ab_json_real(g->value));
    ab_json_put(w, o, "bound", ab_json_real(g->bound));
    ab_json_put(w, o, "unit", ab_json_string(g->unit));
    ab_json_put(w, o, "reason", ab_json_string(g->reason));
    ab_json_put(w, o, "low", ab_json_real(g->low));
    ab_json_put(w, o, "high", ab_json_real(g->high));
    ab_json_put(w, o, "level", ab_json_string(g->is_warning ? "warn" : "error"));
    ab_json_put(w, o, "confirm_rounds", ab_json_integer(g->n_confirm));
    ab_json_put(w, o, "confirm_value",
                g->n_confirm > 0 ? ab_json_real(g->confirm_value) : json_null());
    ab_json_put(w, o, "rounds_needed", rounds_needed(g->rounds_needed));
    return o;
}

json_t *ab_gates_json(struct ab_json *w, const struct ab_session *s)
{
    json_t *gates = json_array();
    for (uint32_t i = 0; i < s->n_gates; i++)
        ab_json_append(w, gates, gate(w, s, &s->gates[i]));
    return gates;
}

bool ab_comparisons_write(FILE *to, const struct ab_comparison *comparisons, size_t n,
                          int exit_code)
{
    struct ab_json w = {false};
    struct ab_format_guard guard;
    json_t *o = json_object(), *list = json_array();
    ab_format_begin(&guard);
    ab_json_put(&w, o, "schema", ab_json_string("allocbench-compare/1"));
    ab_json_put(&w, o, "version", ab_json_string(AB_VERSION));
    ab_json_put(&w, o, "exit_code", ab_json_integer((uint64_t)exit_code));
    for (size_t i = 0; i < n; i++) {
        json_t *one = ab_comparison_json(&w, &comparisons[i]);
        ab_json_put(&w, one, "gates", ab_gates_json(&w, comparisons[i].now));
        ab_json_append(&w, list, one);
    }
    ab_json_put(&w, o, "comparisons", list);
    bool ok = ab_json_write(&w, o, to, 12);
    ab_format_end(&guard);
    return ok;
}
