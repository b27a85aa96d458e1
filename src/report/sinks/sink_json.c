/* SPDX-License-Identifier: MIT
 *
 * The JSON document, schema allocbench/2: results/allocbench-2.schema.json says what is in it,
 * results/README.md what it means. Built whole, then written: key order is the order of the code
 * below. What is not known is null, never 0, never missing.
 */
#include "report/sinks/sinks.h"
#include "result/session.h"

#include "base/bits.h"
#include "core/text.h"
#include "result/result_fields.h"
#include "report/format.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifndef AB_FLAGS
#define AB_FLAGS "" /* the Makefile may say how it compiled */
#endif
#if defined(__clang__)
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif

/* A document under construction. Jansson says by return values that memory ran out; it is noted
 * here once and asked for at the end, and an incomplete document is never written. */
struct writer {
    bool is_short_of_memory;
};

static void put(struct writer *w, json_t *object, const char *key, json_t *value)
{
    if (value == NULL || json_object_set_new(object, key, value) != 0)
        w->is_short_of_memory = true;
}

static void append(struct writer *w, json_t *array, json_t *value)
{
    if (value == NULL || json_array_append_new(array, value) != 0)
        w->is_short_of_memory = true;
}

/* Strings from outside need not be UTF-8; JSON has to be. */
static json_t *text(const char *s)
{
    if (s == NULL || *s == 0)
        return json_null();
    json_t *value = json_string(s);
    if (value != NULL)
        return value;
    size_t cap = 4 * strlen(s) + 1;
    char *printable = malloc(cap);
    if (printable == NULL)
        return NULL;
    value = json_string(ab_text_printable(printable, cap, s));
    free(printable);
    return value;
}

/* Integers stay integers: exact, and without ".0". Values jansson cannot hold are unknown
 * (AB_UNKNOWN is one of them). */
static json_t *whole(uint64_t n)
{
    return n <= INT64_MAX ? json_integer((json_int_t)n) : json_null();
}

static json_t *number(double x)
{
    x = ab_number_settle(x); /* 21.0000000000001 is told as 21, hence a whole number */
    if (!isfinite(x))
        return json_null();
    if (fabs(x) < 0x1p53 && x == nearbyint(x))
        return json_integer((json_int_t)x);
    return json_real(x);
}

/* A stored result keeps what measured it. */
static json_t *tool(struct writer *w, const struct ab_session *s)
{
    json_t *o = json_object();
    put(w, o, "version", text(s->tool.version != NULL ? s->tool.version : AB_VERSION));
    put(w, o, "compiler", text(s->tool.compiler != NULL ? s->tool.compiler : COMPILER));
    put(w, o, "flags", text(s->tool.flags != NULL ? s->tool.flags : AB_FLAGS));
    return o;
}

static json_t *tape_facts(struct writer *w, const struct ab_session *s)
{
    json_t *o = json_object(), *kinds = json_array();
    put(w, o, "n_ops", whole(s->n_tape_ops));
    put(w, o, "n_slots", whole(s->n_slots));
    put(w, o, "lanes", whole(s->facts.lanes));
    put(w, o, "largest_bytes", whole(s->facts.largest_bytes));
    put(w, o, "largest_align", whole(s->facts.largest_align));
    put(w, o, "live_peak_blocks", whole(s->facts.live_peak_blocks));
    put(w, o, "live_peak_bytes", whole(s->facts.live_peak_bytes));
    put(w, o, "total_blocks", whole(s->facts.total_blocks));
    put(w, o, "total_bytes", whole(s->facts.total_bytes));
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        if ((s->facts.kinds >> k & 1) != 0)
            append(w, kinds, text(ab_result_op_name(k)));
    put(w, o, "kinds", kinds);
    return o;
}

static json_t *config(struct writer *w, const struct ab_session *s)
{
    json_t *o = json_object(), *settings = json_array(), *phases = json_array();
    put(w, o, "kind", text(s->kind));
    put(w, o, "name", text(s->name));
    put(w, o, "about", text(s->about));
    put(w, o, "path", text(s->config_path));
    put(w, o, "sha256", text(s->config_sha256));
    put(w, o, "text", text(s->config_text));
    put(w, o, "tape_sha256", text(s->tape_sha256));
    put(w, o, "tape", tape_facts(w, s));
    for (uint32_t i = 0; i < s->n_phases; i++)
        append(w, phases, text(s->phases[i]));
    put(w, o, "phases", phases);
    for (size_t i = 0; s->settings != NULL && s->settings[i] != NULL; i++)
        append(w, settings, text(s->settings[i]));
    put(w, o, "settings", settings);
    put(w, o, "command_line", text(s->command_line));
    put(w, o, "rounds_planned", whole(s->n_rounds_planned));
    put(w, o, "resumed_from", text(s->resumed_from));
    put(w, o, "rounds_resumed", whole(s->n_rounds_resumed));
    put(w, o, "cpu", s->cpu < 0 ? json_null() : json_integer(s->cpu));
    json_t *cpus = json_array();
    for (uint32_t i = 0; i < s->n_cpus; i++)
        append(w, cpus, json_integer(s->cpus[i]));
    put(w, o, "cpus", cpus);
    put(w, o, "order", text(ab_order_names[s->is_strict]));
    put(w, o, "window", whole(s->window));
    put(w, o, "window_given", json_boolean(s->is_window_given));
    put(w, o, "n_edges", whole(s->n_edges));
    put(w, o, "n_remote", whole(s->n_remote));
    return o;
}

static json_t *known(uint64_t n)
{
    return n == 0 ? json_null() : whole(n);
}

static json_t *host(struct writer *w, const struct ab_host *h)
{
    json_t *o = json_object();
    put(w, o, "fingerprint", text(h->fingerprint));
    put(w, o, "cpu", text(h->cpu));
    put(w, o, "cpus_online", known(h->cpus_online));
    put(w, o, "cpus_allowed", known(h->cpus_allowed));
    put(w, o, "kernel", text(h->kernel));
    put(w, o, "libc", text(h->libc));
    put(w, o, "os", text(h->os));
    put(w, o, "governor", text(h->governor));
    put(w, o, "virt", text(h->virt));
    put(w, o, "thp", text(h->thp));
    put(w, o, "aslr", text(h->aslr));
    put(w, o, "memory_bytes", known(h->memory_bytes));
    put(w, o, "page_bytes", known(h->page_bytes));
    put(w, o, "load_1min", number(h->load_1min));
    return o;
}

static json_t *null_cost(struct writer *w, const struct ab_null_cost *n)
{
    json_t *o = json_object();
    put(w, o, "phase", text(n->phase));
    put(w, o, "boundary", text(n->boundary));
    put(w, o, "round", whole(n->round));
    put(w, o, "n_ops", whole(n->n_ops));
    put(w, o, "ns_per_op", number(n->ns_per_op));
    put(w, o, "wall_ns_per_op", number(n->wall_ns_per_op));
    put(w, o, "latency_pass_ns_per_op", number(n->latency_pass_ns_per_op));
    put(w, o, "floor_ns", number(n->floor_ns));
    return o;
}

static json_t *timer(struct writer *w, const struct ab_session *s)
{
    json_t *o = json_object(), *nulls = json_array();
    put(w, o, "source", text(s->timer.source));
    put(w, o, "ns_per_tick", number(s->timer.ns_per_tick));
    put(w, o, "floor_ns", number(s->timer.floor_ns));
    put(w, o, "quantum_ns", number(s->timer.quantum_ns));
    for (uint32_t i = 0; i < s->n_nulls; i++)
        append(w, nulls, null_cost(w, &s->nulls[i]));
    put(w, o, "null", nulls);
    return o;
}

static void append_parts(struct writer *w, json_t *list, const char *s, size_t n, char separator)
{
    char part[sizeof ((struct ab_backend_info *)0)->settings];
    for (size_t i = 0, begin = 0; i <= n; i++) {
        if (i < n && s[i] != separator)
            continue;
        snprintf(part, sizeof part, "%.*s", (int)(i - begin), s + begin);
        if (i > begin)
            append(w, list, text(part));
        begin = i + 1;
    }
}

/* "keep=8:spare=0{A=b;C=d}": one text a setting. */
static json_t *settings(struct writer *w, const char *s)
{
    json_t *list = json_array();
    size_t n = strcspn(s, "{"), all = strlen(s);
    append_parts(w, list, s, n, ':');
    if (n < all && s[all - 1] == '}')
        append_parts(w, list, s + n + 1, all - n - 2, ';');
    return list;
}

static json_t *backend(struct writer *w, const struct ab_backend_info *b)
{
    json_t *o = json_object();
    put(w, o, "name", text(b->name));
    put(w, o, "version", text(b->version));
    put(w, o, "path", text(b->path));
    put(w, o, "build_id", text(b->build_id));
    put(w, o, "status", text(ab_backend_status_name(b->status)));
    put(w, o, "reason", text(b->reason));
    put(w, o, "boundary", text(b->boundary));
    put(w, o, "settings", settings(w, b->settings));
    put(w, o, "never_frees", json_boolean(b->never_frees));
    put(w, o, "has_reset", json_boolean(b->has_reset));
    put(w, o, "was_named", json_boolean(b->was_named));
    put(w, o, "package", text(b->package));
    put(w, o, "caveat", text(b->caveat));
    return o;
}

static json_t *round_entry(struct writer *w, const struct ab_session *s, const struct ab_round *b)
{
    json_t *o = json_object(), *order = json_array();
    put(w, o, "index", whole(b->index));
    for (uint32_t i = 0; i < b->n_order; i++)
        if (b->order[i] < s->n_backends)
            append(w, order, text(s->backends[b->order[i]].name));
    put(w, o, "order", order);
    return o;
}

/* The numbers of one group, in the order of result_fields.def. */
static void put_fields(struct writer *w, json_t *o, const struct ab_result *r,
                       enum ab_field_group group)
{
    for (size_t i = 0; i < ab_field_count; i++) {
        const struct ab_field *f = &ab_fields[i];
        if (f->group == group)
            put(w, o, f->json_key,
                f->type == AB_FIELD_U64 ? whole(ab_field_u64(f, r)) : number(ab_field_f64(f, r)));
    }
}

static json_t *tail(struct writer *w, const struct ab_result *r)
{
    if (r->tail_n == 0)
        return json_null();
    json_t *o = json_object(), *worst = json_array();
    put_fields(w, o, r, AB_FIELD_TAIL);
    for (uint32_t i = 0; i < r->n_worst && i < AB_WORST_MAX; i++) {
        json_t *op = json_object();
        put(w, op, "position", whole(r->worst[i].position));
        put(w, op, "size", r->worst[i].size == AB_SIZE_UNKNOWN ? json_null()
                                                              : whole(r->worst[i].size));
        put(w, op, "ns", number(r->worst[i].ns));
        append(w, worst, op);
    }
    put(w, o, "worst", worst);
    return o;
}

static json_t *histogram(const struct ab_hdr *h)
{
    char *encoded = NULL;
    struct ab_err err;
    if (ab_hdr_encode(h, &encoded, &err) != AB_OK)
        return NULL;
    json_t *value = json_string(encoded);
    free(encoded);
    return value;
}

static json_t *result(struct writer *w, const struct ab_session *s, const struct ab_result *r)
{
    json_t *o = json_object(), *quantiles = json_object();
    put(w, o, "backend", text(s->backends[r->backend].name));
    put(w, o, "phase", text(r->phase));
    put(w, o, "op", text(ab_result_op_name(r->op)));
    put(w, o, "round", whole(r->round));
    put_fields(w, o, r, AB_FIELD_EACH);
    put_fields(w, quantiles, r, AB_FIELD_QUANTILE);
    put(w, o, "quantiles", quantiles);
    put(w, o, "hdr_v2", histogram(r->hdr));
    if (r->op == AB_OP_ALL)
        put_fields(w, o, r, AB_FIELD_ALL);
    if (r->op == AB_OP_ALL && !isnan(r->wait_percent))
        put(w, o, "is_waiting", json_boolean(ab_result_is_waiting(r)));
    put(w, o, "tail", tail(w, r));
    return o;
}

static json_t *memory(struct writer *w, const struct ab_session *s, const struct ab_memory *m)
{
    json_t *o = json_object(), *drained = json_object();
    put(w, o, "backend", text(s->backends[m->backend].name));
    put(w, o, "phase", text(m->phase));
    put(w, o, "round", whole(m->round));
    put(w, o, "at", text(ab_memory_at_names[m->at]));
    put(w, o, "position", isnan(m->requested_bytes) ? json_null() : whole(m->position));
    for (size_t i = 0; i < ab_memory_field_count; i++)
        put(w, o, ab_memory_fields[i].name, number(ab_memory_value(&ab_memory_fields[i], m)));
    for (unsigned i = 0; i < AB_DRAIN_COUNT; i++)
        put(w, drained, ab_drain_names[i], number(m->drained_bytes[i]));
    put(w, o, "drained_bytes", drained);
    put(w, o, "reason", text(m->reason));
    return o;
}

static json_t *timeline(struct writer *w, const struct ab_session *s, const struct ab_timeline *t)
{
    json_t *o = json_object(), *points = json_array();
    put(w, o, "backend", text(s->backends[t->backend].name));
    put(w, o, "round", whole(t->round));
    for (uint32_t i = 0; i < t->n; i++) {
        json_t *point = json_array();
        append(w, point, whole(t->points[i].position));
        append(w, point, number(t->points[i].requested_bytes));
        append(w, point, number(t->points[i].usable_bytes));
        append(w, point, number(t->points[i].footprint_bytes));
        append(w, points, point);
    }
    put(w, o, "points", points);
    return o;
}

/* Both lists of the memory pass. */
static void put_memory(struct writer *w, json_t *o, const struct ab_session *s)
{
    json_t *records = json_array(), *timelines = json_array();
    for (uint32_t i = 0; i < s->n_memory; i++)
        if (ab_session_has_numbers(s, s->memory[i].backend))
            append(w, records, memory(w, s, &s->memory[i]));
    for (uint32_t i = 0; i < s->n_timelines; i++)
        if (ab_session_has_numbers(s, s->timelines[i].backend))
            append(w, timelines, timeline(w, s, &s->timelines[i]));
    put(w, o, "memory", records);
    put(w, o, "timelines", timelines);
}

static json_t *name_of(const struct ab_session *s, uint32_t backend)
{
    return backend < s->n_backends ? text(s->backends[backend].name) : json_null();
}

static json_t *gate(struct writer *w, const struct ab_session *s, const struct ab_gate_result *g)
{
    json_t *o = json_object();
    put(w, o, "gate", text(g->text));
    put(w, o, "place", text(g->place));
    put(w, o, "backend", name_of(s, g->backend));
    put(w, o, "verdict", text(ab_gate_verdict_name(g->verdict)));
    put(w, o, "exit_code", whole((uint64_t)ab_status_exit_code(g->status)));
    put(w, o, "value", number(g->value));
    put(w, o, "bound", number(g->bound));
    put(w, o, "unit", text(g->unit));
    put(w, o, "reason", text(g->reason));
    return o;
}

static json_t *claim(struct writer *w, const struct ab_claim_result *c)
{
    json_t *o = json_object();
    put(w, o, "claim", text(c->text));
    put(w, o, "place", text(c->place));
    put(w, o, "says", text(c->says));
    put(w, o, "source", text(c->source));
    put(w, o, "backend", text(c->backend));
    put(w, o, "base", text(c->base));
    put(w, o, "phase", text(c->phase));
    put(w, o, "op", text(c->op));
    put(w, o, "stat", text(c->stat));
    put(w, o, "claimed", number(c->claimed));
    put(w, o, "measured", number(c->measured));
    put(w, o, "low", number(c->low));
    put(w, o, "high", number(c->high));
    put(w, o, "n_rounds", whole(c->n_rounds));
    put(w, o, "reason", text(c->reason));
    return o;
}

static void put_verdicts(struct writer *w, json_t *o, const struct ab_session *s)
{
    json_t *gates = json_array(), *claims = json_array();
    for (uint32_t i = 0; i < s->n_gates; i++)
        append(w, gates, gate(w, s, &s->gates[i]));
    for (uint32_t i = 0; i < s->n_claims; i++)
        append(w, claims, claim(w, &s->claims[i]));
    put(w, o, "gates", gates);
    put(w, o, "claims", claims);
}

static json_t *size_class(struct writer *w, const struct ab_session *s,
                          const struct ab_size_class *c)
{
    json_t *o = json_object();
    uint64_t n = ab_hdr_total(c->hdr);
    put(w, o, "backend", text(s->backends[c->backend].name));
    put(w, o, "phase", text(c->phase));
    put(w, o, "op", text(ab_result_op_name(c->op)));
    put(w, o, "round", whole(c->round));
    put(w, o, "le_bytes", c->log2 < 63 ? whole(UINT64_C(1) << c->log2) : json_null());
    put(w, o, "n", whole(n));
    put(w, o, "overflow", whole(c->hdr->overflow));
    put(w, o, "p50", number(ab_result_quantile(c->hdr, 0.5)));
    put(w, o, "p90", number(ab_result_quantile(c->hdr, 0.9)));
    put(w, o, "p99", number(ab_result_quantile(c->hdr, 0.99)));
    put(w, o, "p99.9", number(ab_result_quantile(c->hdr, 0.999)));
    put(w, o, "max", n > 0 ? whole(c->hdr->max) : json_null());
    put(w, o, "hdr_v2", histogram(c->hdr));
    return o;
}

static json_t *window(struct writer *w, const struct ab_session *s, const struct ab_window *x)
{
    json_t *o = json_object();
    put(w, o, "backend", text(s->backends[x->backend].name));
    put(w, o, "phase", text(x->phase));
    put(w, o, "round", whole(x->round));
    put(w, o, "begin", whole(x->begin));
    put(w, o, "end", whole(x->end));
    put(w, o, "n", whole(x->n));
    put(w, o, "p50", number(x->p50));
    put(w, o, "p99", number(x->p99));
    put(w, o, "max", number(x->max));
    return o;
}

/* Latency in depth: by size, over time. */
static void put_depth(struct writer *w, json_t *o, const struct ab_session *s)
{
    json_t *classes = json_array(), *windows = json_array();
    for (uint32_t i = 0; i < s->n_size_classes; i++)
        if (ab_session_has_numbers(s, s->size_classes[i].backend))
            append(w, classes, size_class(w, s, &s->size_classes[i]));
    for (uint32_t i = 0; i < s->n_windows; i++)
        if (ab_session_has_numbers(s, s->windows[i].backend))
            append(w, windows, window(w, s, &s->windows[i]));
    put(w, o, "size_classes", classes);
    put(w, o, "windows", windows);
}

static json_t *document(struct writer *w, const struct ab_session *s)
{
    json_t *o = json_object(), *backends = json_array(), *rounds = json_array();
    json_t *results = json_array();
    put(w, o, "schema", text("allocbench/2"));
    put(w, o, "tool", tool(w, s));
    put(w, o, "complete", json_boolean(s->is_complete));
    put(w, o, "config", config(w, s));
    put(w, o, "seed", whole(s->seed));
    put(w, o, "host", host(w, &s->host));
    put(w, o, "timer", timer(w, s));
    for (uint32_t i = 0; i < s->n_backends; i++)
        append(w, backends, backend(w, &s->backends[i]));
    put(w, o, "backends", backends);
    for (uint32_t i = 0; i < s->n_rounds; i++)
        append(w, rounds, round_entry(w, s, &s->rounds[i]));
    put(w, o, "rounds", rounds);
    for (uint32_t i = 0; i < s->n_results; i++)
        if (ab_session_has_numbers(s, s->results[i].backend))
            append(w, results, result(w, s, &s->results[i]));
    put(w, o, "results", results);
    put_depth(w, o, s);
    put_memory(w, o, s);
    put_verdicts(w, o, s);
    return o;
}

bool ab_sink_json(FILE *to, const struct ab_session *session)
{
    struct writer w = {false};
    struct ab_format_guard guard;
    ab_format_begin(&guard);
    json_t *o = document(&w, session);
    if (!w.is_short_of_memory &&
        json_dumpf(o, to, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) != 0 && !ferror(to))
        w.is_short_of_memory = true;
    fputc('\n', to);
    json_decref(o);
    ab_format_end(&guard);
    return !w.is_short_of_memory;
}
