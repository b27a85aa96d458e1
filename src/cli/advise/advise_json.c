/* SPDX-License-Identifier: MIT
 *
 * The document of `advise --json`. What is not known is null.
 */
#include "cli/advise/advise.h"

#include "cli/advise/advise_rules.h"
#include "report/json.h"

#include <math.h>

static json_t *scope_or_null(uint64_t scope)
{
    return scope == AB_ADVICE_NEVER ? json_null() : ab_json_integer(scope);
}

static json_t *survivors(const struct ab_advice_group *g)
{
    json_t *list = json_array();
    for (size_t i = 0; i < g->n_survivors && i < AB_ADVICE_SURVIVORS; i++) {
        json_t *o = json_object();
        ab_json_put(o, "bytes", ab_json_integer(g->survivors[i].size));
        ab_json_put(o, "born", ab_json_integer(g->survivors[i].born));
        ab_json_put(o, "died", scope_or_null(g->survivors[i].died));
        ab_json_append(list, o);
    }
    return list;
}

static json_t *sizes(const struct ab_advice_group *g)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < g->n_sizes && i < AB_ADVICE_SIZES; i++) {
        json_t *o = json_object();
        ab_json_put(o, "bytes", ab_json_integer(g->sizes[i].bytes));
        ab_json_put(o, "calls", ab_json_integer(g->sizes[i].calls));
        ab_json_append(list, o);
    }
    return list;
}

static void put_numbers(json_t *o, const struct ab_advice *a, const struct ab_advice_group *g)
{
    bool has_scopes = a->n_scopes > 0;
    const struct {
        const char *name;
        uint64_t value;
        bool is_known;
    } numbers[] = {
        {"calls", g->calls, true},
        {"resizes", g->resizes, true},
        {"frees", g->frees, true},
        {"never_freed", g->never_freed, true},
        {"bytes", g->bytes, true},
        {"size_least", g->size_least, true},
        {"size_most", g->size_most, true},
        {"align_most", g->align_most, true},
        {"live_most_blocks", g->live_most_blocks, true},
        {"live_most_bytes", g->live_most_bytes, true},
        {"scope_most_blocks", g->scope_most_blocks, has_scopes},
        {"scope_most_bytes", g->scope_most_bytes, has_scopes},
        {"in_scope", g->in_scope, has_scopes},
        {"in_next", g->in_next, has_scopes},
        {"later", g->later, has_scopes},
        {"n_survivors", g->n_survivors, has_scopes},
        {"outlived_nested", g->n_stragglers, has_scopes},
        {"outlived_nested_size", g->straggler_size, g->n_stragglers > 0},
        {"youngest_first", g->lifo, true},
        {"freed_by_another_thread", g->remote, true},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        ab_json_put(o, numbers[i].name,
                    numbers[i].is_known ? ab_json_integer(numbers[i].value) : json_null());
}

static json_t *lives(const struct ab_advice_group *g)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < AB_ADVICE_LIVES; i++) {
        if (g->lives[i] == 0)
            continue;
        json_t *o = json_object();
        ab_json_put(o, "to",
                    i + 1 == AB_ADVICE_LIVES ? json_null()
                                             : ab_json_integer((UINT64_C(1) << i) - 1));
        ab_json_put(o, "blocks", ab_json_integer(g->lives[i]));
        ab_json_append(list, o);
    }
    return list;
}

static json_t *group(const struct ab_advice *a, const struct ab_advice_group *g)
{
    json_t *o = json_object();
    ab_json_put(o, "rule", ab_json_string(g->key));
    ab_json_put(o, "function", ab_json_string(g->function));
    ab_json_put(o, "file", ab_json_string(g->file));
    ab_json_put(o, "line", g->line > 0 ? json_integer(g->line) : json_null());
    ab_json_put(o, "module", ab_json_string(g->module));
    ab_json_put(o, "call", ab_json_string(ab_advice_call_name(g->call)));
    ab_json_put(o, "kind", ab_json_string(ab_advice_kind_name(g->kind)));
    ab_json_put(o, "why", ab_json_string(g->why));
    ab_json_put(o, "heap",
                g->heap != AB_ADVICE_NO_HEAP ? ab_json_string(a->heaps[g->heap].name)
                                             : json_null());
    put_numbers(o, a, g);
    ab_json_put(o, "sizes", sizes(g));
    ab_json_put(o, "has_more_sizes", json_boolean(g->n_sizes > AB_ADVICE_SIZES));
    ab_json_put(o, "lifetimes", lives(g));
    ab_json_put(o, "survivors", survivors(g));
    ab_json_put(o, "nearly_scoped", json_boolean(ab_advise_is_nearly_scoped(g)));
    return o;
}

static json_t *row(const struct ab_advised_row *r)
{
    json_t *o = json_object();
    ab_json_put(o, "name", ab_json_string(r->name));
    ab_json_put(o, "reason", ab_json_string(r->reason));
    ab_json_put(o, "time_ns", ab_json_real(r->is_measured ? r->time_ns : (double)NAN));
    ab_json_put(o, "memory_bytes", ab_json_real(r->is_measured ? r->memory_bytes : (double)NAN));
    ab_json_put(o, "base_time_ns", ab_json_real(r->is_measured ? r->base_time_ns : (double)NAN));
    ab_json_put(o, "base_memory_bytes",
                ab_json_real(r->is_measured ? r->base_memory_bytes : (double)NAN));
    ab_json_put(o, "speed", ab_json_real(r->is_measured ? r->speed.ratio : (double)NAN));
    ab_json_put(o, "speed_low", ab_json_real(r->is_measured ? r->speed.low : (double)NAN));
    ab_json_put(o, "speed_high", ab_json_real(r->is_measured ? r->speed.high : (double)NAN));
    return o;
}

static json_t *heap(const struct ab_advise_view *v, size_t i)
{
    const struct ab_advice_heap *h = &v->advice->heaps[i];
    char what[80], proposal[80];
    bool is_used = (v->measured->used >> i & 1) != 0;
    json_t *o = json_object();
    ab_json_put(o, "name", ab_json_string(h->name));
    ab_json_put(o, "what", ab_json_string(ab_advise_what(h, what, sizeof what)));
    ab_json_put(o, "proposal", ab_json_string(ab_advise_proposal(h, proposal, sizeof proposal)));
    ab_json_put(o, "kind", ab_json_string(ab_advice_kind_name(h->kind)));
    ab_json_put(o, "backend", ab_json_string(h->backend));
    ab_json_put(o, "advised", json_boolean(is_used));
    ab_json_put(o, "refusal",
                is_used ? json_null() : ab_json_string(ab_advise_refusal(v->measured, i)));
    ab_json_put(o, "by_memory",
                json_boolean(is_used && !ab_advised_is_gain(&v->measured->heaps[i])));
    ab_json_put(o, "calls", ab_json_integer(h->calls));
    ab_json_put(o, "size_most", ab_json_integer(h->size_most));
    ab_json_put(o, "align", ab_json_integer(h->align));
    ab_json_put(o, "most_blocks", ab_json_integer(h->most_blocks));
    ab_json_put(o, "most_bytes", ab_json_integer(h->most_bytes));
    ab_json_put(o, "capacity_blocks",
                h->capacity_blocks > 0 ? ab_json_integer(h->capacity_blocks) : json_null());
    ab_json_put(o, "capacity_bytes",
                h->capacity_bytes > 0 ? ab_json_integer(h->capacity_bytes) : json_null());
    ab_json_put(o, "nested_scopes",
                h->kind == AB_ADVICE_NESTED ? ab_json_integer(h->n_nested) : json_null());
    ab_json_put(o, "threads", ab_json_string(ab_advice_is_shared(h) ? "local" : "one"));
    ab_json_put(o, "freed_by_another_thread", ab_json_integer(h->n_remote));
    ab_json_put(o, "alone", row(&v->measured->heaps[i]));
    return o;
}

static json_t *scopes(const struct ab_advice *a)
{
    json_t *o = json_object();
    ab_json_put(o, "n", ab_json_integer(a->n_scopes));
    ab_json_put(o, "from",
                a->n_scopes == 0 ? json_null() : ab_json_string(a->is_marked ? "marks" : "found"));
    ab_json_put(o, "threads",
                a->n_scope_threads > 0 ? ab_json_integer(a->n_scope_threads) : json_null());
    return o;
}

static json_t *of_scopes(const struct ab_advised_scopes *x)
{
    json_t *o = json_object();
    ab_json_put(o, "worst_ns", ab_json_real(x->is_known ? x->worst_ns : (double)NAN));
    ab_json_put(o, "rounds", x->is_known ? ab_json_integer(x->n_rounds) : json_null());
    ab_json_put(o, "n", x->is_known ? ab_json_integer(x->n) : json_null());
    ab_json_put(o, "n_over_budget", x->is_known ? ab_json_integer(x->n_missed) : json_null());
    ab_json_put(o, "n_scheduler", x->is_known ? ab_json_integer(x->n_scheduler) : json_null());
    ab_json_put(o, "hdr_v2", x->hdr != NULL ? ab_json_histogram(x->hdr) : json_null());
    ab_json_put(o, "overflow", x->hdr != NULL ? ab_json_integer(x->hdr->overflow) : json_null());
    ab_json_put(o, "reason", ab_json_string(x->reason));
    return o;
}

static json_t *budget(const struct ab_advise_view *v)
{
    if (v->budget == NULL)
        return json_null();
    json_t *o = json_object();
    ab_json_put(o, "before", of_scopes(&v->budget->before));
    ab_json_put(o, "after", v->measured->used != 0 ? of_scopes(&v->budget->after) : json_null());
    return o;
}

/* null: there were no nested scopes to decide on. */
static json_t *nesting(const struct ab_advised_nested *n)
{
    if (n == NULL || !n->is_asked)
        return json_null();
    json_t *o = json_object();
    ab_json_put(o, "taken", json_boolean(n->is_taken));
    ab_json_put(o, "by_memory", json_boolean(n->by_memory));
    ab_json_put(o, "flat", row(&n->flat));
    ab_json_put(o, "nested", row(&n->nested));
    return o;
}

static void put_measured(json_t *o, const struct ab_advise_view *v)
{
    json_t *heaps = json_array(), *generals = json_array();
    for (size_t i = 0; i < v->advice->n_heaps; i++)
        ab_json_append(heaps, heap(v, i));
    for (size_t i = 0; i < v->measured->n_generals; i++)
        ab_json_append(generals, row(&v->measured->generals[i]));
    ab_json_put(o, "base", row(&v->measured->base));
    ab_json_put(o, "heaps", heaps);
    ab_json_put(o, "together",
                (v->measured->used | v->measured->small) != 0 ? row(&v->measured->together)
                                                              : json_null());
    ab_json_put(o, "compiled",
                v->measured->has_compiled ? row(&v->measured->compiled) : json_null());
    ab_json_put(o, "generals", generals);
    ab_json_put(o, "nesting", nesting(v->nested));
}

/* A time of a whole replay divided by `units` is that of a scope, or of a million calls. */
static void put_answer(json_t *o, const struct ab_advise_view *v)
{
    struct ab_text line = {0};
    ab_advise_answer(v, &line);
    ab_json_put(o, "answer", ab_json_string(ab_advised_answer(v->measured)));
    ab_json_put(o, "answer_text", ab_json_string(line.s));
    ab_json_put(o, "by_memory", json_boolean(v->measured->by_memory));
    ab_json_put(o, "unit", ab_json_string(ab_advise_unit(v->advice)));
    ab_json_put(o, "units", ab_json_real(1 / ab_advise_unit_time(v->advice, 1)));
    ab_text_fini(&line);
}

json_t *ab_advise_document(const struct ab_advise_view *v)
{
    const struct ab_advice *a = v->advice;
    json_t *o = json_object(), *groups = json_array();
    struct ab_text rules = ab_advise_rules(a, v->measured->used, v->base);
    for (size_t i = 0; i < a->n_groups; i++)
        ab_json_append(groups, group(a, &a->groups[i]));
    ab_json_put(o, "schema", ab_json_string("allocbench-advice/1"));
    ab_json_put(o, "trace", ab_json_string(v->trace));
    ab_json_put(o, "program", ab_json_string(a->program));
    ab_json_put(o, "calls", ab_json_integer(a->calls));
    ab_json_put(o, "events", ab_json_integer(a->n_events));
    ab_json_put(o, "measured_events", ab_json_integer(a->n_before_end));
    ab_json_put(o, "threads", ab_json_integer(a->n_threads));
    ab_json_put(o, "scopes", scopes(a));
    ab_json_put(o, "by", ab_json_string(a->has_sites ? "site" : "size"));
    ab_json_put(o, "budget_ns", v->budget_ns > 0 ? ab_json_real(v->budget_ns) : json_null());
    ab_json_put(o, "budget", budget(v));
    ab_json_put(o, "rounds", ab_json_integer(v->measured->n_rounds));
    ab_json_put(o, "limit", ab_json_real(v->measured->limit));
    put_answer(o, v);
    ab_json_put(o, "map", ab_json_string(rules.s));
    put_measured(o, v);
    ab_json_put(o, "groups", groups);
    ab_text_fini(&rules);
    return o;
}

void ab_advise_write_json(FILE *to, json_t *document)
{
    ab_json_write(json_incref(document), to, 12);
}
