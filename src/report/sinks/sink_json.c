/* SPDX-License-Identifier: MIT
 *
 * The JSON document, schema allocbench/2: results/allocbench-2.schema.json says what is in it,
 * results/README.md what it means. Built whole, then written: key order is the order of the code
 * below. What is not known is null, never 0, never missing.
 */
#include "base/bits.h"
#include "report/checks_json.h"
#include "report/checksum.h"
#include "report/format.h"
#include "report/heaps/heaps_json.h"
#include "report/json.h"
#include "report/sinks/json_rounds.h"
#include "report/sinks/sinks.h"
#include "report/view/growth.h"
#include "result/memory_dist.h"
#include "result/result.h"
#include "result/result_fields.h"
#include "result/session.h"
#include "stats/metric.h"

#include <math.h>
#include <stdio.h>
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

/* A stored result keeps what measured it. */
static json_t *tool(const struct ab_session *s)
{
    json_t *o = json_object();
    ab_json_put(o, "version",
                ab_json_string(s->tool.version != NULL ? s->tool.version : AB_VERSION));
    ab_json_put(o, "compiler",
                ab_json_string(s->tool.compiler != NULL ? s->tool.compiler : COMPILER));
    ab_json_put(o, "flags", ab_json_string(s->tool.flags != NULL ? s->tool.flags : AB_FLAGS));
    return o;
}

static json_t *tape_facts(const struct ab_session *s)
{
    json_t *o = json_object(), *kinds = json_array();
    ab_json_put(o, "n_ops", ab_json_integer(s->n_tape_ops));
    ab_json_put(o, "n_slots", ab_json_integer(s->n_slots));
    ab_json_put(o, "lanes", ab_json_integer(s->facts.lanes));
    ab_json_put(o, "largest_bytes", ab_json_integer(s->facts.largest_bytes));
    ab_json_put(o, "largest_align", ab_json_integer(s->facts.largest_align));
    ab_json_put(o, "live_peak_blocks", ab_json_integer(s->facts.live_peak_blocks));
    ab_json_put(o, "live_peak_bytes", ab_json_integer(s->facts.live_peak_bytes));
    ab_json_put(o, "total_blocks", ab_json_integer(s->facts.total_blocks));
    ab_json_put(o, "total_bytes", ab_json_integer(s->facts.total_bytes));
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        if ((s->facts.kinds >> k & 1) != 0)
            ab_json_append(kinds, ab_json_string(ab_result_op_name(k)));
    ab_json_put(o, "kinds", kinds);
    return o;
}

/* Writes machines and parts of a result. */

/* "2/4" */
static json_t *shard(struct ab_run_shard x)
{
    char text[32];
    snprintf(text, sizeof text, "%u/%u", x.index, x.count);
    return x.count > 0 ? ab_json_string(text) : json_null();
}

static json_t *parts(const struct ab_session *s)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < s->n_parts; i++) {
        json_t *o = json_object();
        ab_json_put(o, "file", ab_json_string(s->parts[i].file));
        ab_json_put(o, "sha256", ab_json_string(s->parts[i].sha256));
        ab_json_put(o, "shard", shard(s->parts[i].shard));
        ab_json_put(o, "host", ab_json_integer(s->parts[i].host));
        ab_json_put(o, "n_rounds", ab_json_integer(s->parts[i].n_rounds));
        ab_json_append(list, o);
    }
    return list;
}

static json_t *known(uint64_t n)
{
    return n == 0 ? json_null() : ab_json_integer(n);
}

static json_t *host(const struct ab_host *h)
{
    json_t *o = json_object();
    ab_json_put(o, "fingerprint", ab_json_string(h->fingerprint));
    ab_json_put(o, "name", ab_json_string(h->name));
    ab_json_put(o, "cpu", ab_json_string(h->cpu));
    ab_json_put(o, "cpus_online", known(h->cpus_online));
    ab_json_put(o, "cpus_allowed", known(h->cpus_allowed));
    ab_json_put(o, "kernel", ab_json_string(h->kernel));
    ab_json_put(o, "libc", ab_json_string(h->libc));
    ab_json_put(o, "os", ab_json_string(h->os));
    ab_json_put(o, "governor", ab_json_string(h->governor));
    ab_json_put(o, "virt", ab_json_string(h->virt));
    ab_json_put(o, "thp", ab_json_string(h->thp));
    ab_json_put(o, "aslr", ab_json_string(h->aslr));
    ab_json_put(o, "memory_bytes", known(h->memory_bytes));
    ab_json_put(o, "page_bytes", known(h->page_bytes));
    ab_json_put(o, "load_1min", ab_json_real(h->load_1min));
    return o;
}

static json_t *hosts(const struct ab_session *s)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < s->n_hosts; i++)
        ab_json_append(list, host(&s->hosts[i]));
    return list;
}

/* "shard" of the configuration `o`, and "parts" of what was merged. */
static void json_put_parts(json_t *o, const struct ab_session *s)
{
    ab_json_put(o, "shard", shard(s->shard));
    if (s->n_parts > 0)
        ab_json_put(o, "parts", parts(s));
}

/* "host", and "hosts" where there are several. */
static void json_put_hosts(json_t *o, const struct ab_session *s)
{
    ab_json_put(o, "host", host(&s->host));
    if (s->n_hosts > 1)
        ab_json_put(o, "hosts", hosts(s));
}

static json_t *config(const struct ab_session *s)
{
    json_t *o = json_object(), *settings = json_array(), *phases = json_array();
    ab_json_put(o, "kind", ab_json_string(s->kind));
    ab_json_put(o, "name", ab_json_string(s->name));
    ab_json_put(o, "about", ab_json_string(s->about));
    ab_json_put(o, "path", ab_json_string(s->config_path));
    ab_json_put(o, "sha256", ab_json_string(s->config_sha256));
    ab_json_put(o, "text", ab_json_string(s->config_text));
    ab_json_put(o, "tape_sha256", ab_json_string(s->tape_sha256));
    ab_json_put(o, "tape", tape_facts(s));
    for (uint32_t i = 0; i < s->n_phases; i++)
        ab_json_append(phases, ab_json_string(s->phases[i]));
    ab_json_put(o, "phases", phases);
    for (size_t i = 0; s->settings != NULL && s->settings[i] != NULL; i++)
        ab_json_append(settings, ab_json_string(s->settings[i]));
    ab_json_put(o, "settings", settings);
    ab_json_put(o, "command_line", ab_json_string(s->command_line));
    ab_json_put(o, "rounds_planned", ab_json_integer(s->n_rounds_planned));
    ab_json_put(o, "passes", ab_json_passes(&s->passes));
    ab_json_put(o, "stopping", ab_json_stopping(&s->stopping));
    ab_json_put(o, "resumed_from", ab_json_string(s->resumed_from));
    ab_json_put(o, "rounds_resumed", ab_json_integer(s->n_rounds_resumed));
    ab_json_put(o, "cpu", s->cpu < 0 ? json_null() : json_integer(s->cpu));
    json_put_parts(o, s);
    json_t *cpus = json_array();
    for (uint32_t i = 0; i < s->n_cpus; i++)
        ab_json_append(cpus, json_integer(s->cpus[i]));
    ab_json_put(o, "cpus", cpus);
    ab_json_put(o, "order", ab_json_string(ab_order_names[s->is_strict]));
    ab_json_put(o, "window", ab_json_integer(s->window));
    ab_json_put(o, "window_given", json_boolean(s->is_window_given));
    ab_json_put(o, "n_edges", ab_json_integer(s->n_edges));
    ab_json_put(o, "n_remote", ab_json_integer(s->n_remote));
    ab_json_put(o, "base", ab_json_string(s->base));
    return o;
}

/* Objects of the document that report/sinks/sink_json.c puts together. */

/* null where it was not asked for */
static json_t *counting_json(const struct ab_counting *c)
{
    if (!c->is_asked)
        return json_null();
    json_t *o = json_object();
    ab_json_put(o, "method", ab_json_string(c->method));
    ab_json_put(o, "n_ops", c->n_ops == 0 ? json_null() : ab_json_integer(c->n_ops));
    ab_json_put(o, "reason", ab_json_string(c->reason));
    return o;
}

static json_t *null_cost_json(const struct ab_null_cost *n)
{
    json_t *o = json_object();
    ab_json_put(o, "phase", ab_json_string(n->phase));
    ab_json_put(o, "boundary", ab_json_string(n->boundary));
    ab_json_put(o, "placement", ab_json_string(n->placement));
    ab_json_put(o, "round", ab_json_integer(n->round));
    ab_json_put(o, "n_ops", ab_json_integer(n->n_ops));
    ab_json_put(o, "ns_per_op", ab_json_real(n->ns_per_op));
    ab_json_put(o, "wall_ns_per_op", ab_json_real(n->wall_ns_per_op));
    ab_json_put(o, "latency_pass_ns_per_op", ab_json_real(n->latency_pass_ns_per_op));
    ab_json_put(o, "floor_ns", ab_json_real(n->floor_ns));
    ab_json_put(o, "instr_per_op", ab_json_real(n->instr_per_op));
    return o;
}

static json_t *timer(const struct ab_session *s)
{
    json_t *o = json_object(), *nulls = json_array();
    ab_json_put(o, "source", ab_json_string(s->timer.source));
    ab_json_put(o, "ns_per_tick", ab_json_real(s->timer.ns_per_tick));
    ab_json_put(o, "floor_ns", ab_json_real(s->timer.floor_ns));
    ab_json_put(o, "quantum_ns", ab_json_real(s->timer.quantum_ns));
    for (uint32_t i = 0; i < s->n_nulls; i++)
        ab_json_append(nulls, null_cost_json(&s->nulls[i]));
    ab_json_put(o, "null", nulls);
    return o;
}

static json_t *noise(const struct ab_session *s)
{
    if (!(s->noise.runs > 0))
        return json_null();
    json_t *o = json_object();
#define PUT(name) ab_json_put(o, #name, ab_json_real(s->noise.name));
    AB_NOISE_FIELDS(PUT)
#undef PUT
    return o;
}

static void append_parts(json_t *list, const char *s, size_t n, char separator)
{
    char part[sizeof((struct ab_backend_info *)0)->settings];
    for (size_t i = 0, begin = 0; i <= n; i++) {
        if (i < n && s[i] != separator)
            continue;
        snprintf(part, sizeof part, "%.*s", (int)(i - begin), s + begin);
        if (i > begin)
            ab_json_append(list, ab_json_string(part));
        begin = i + 1;
    }
}

/* "keep=8:spare=0{A=b;C=d}": one text a setting. */
static json_t *settings(const char *s)
{
    json_t *list = json_array();
    size_t n = strcspn(s, "{"), all = strlen(s);
    append_parts(list, s, n, ':');
    if (n < all && s[all - 1] == '}')
        append_parts(list, s + n + 1, all - n - 2, ';');
    return list;
}

static json_t *growth(const struct ab_view_growth *g)
{
    json_t *o = json_object();
    ab_json_put(o, "bytes_per_million_ops", ab_json_real(g->bytes));
    ab_json_put(o, "over_ops", ab_json_real(g->over_ops));
    ab_json_put(o, "reason", ab_json_string(g->why));
    return o;
}

static json_t *backend(const struct ab_session *s, uint32_t i)
{
    const struct ab_backend_info *b = &s->backends[i];
    const struct ab_view_growth rises = ab_view_growth_of(s, i, AB_VIEW_ALL_ROUNDS);
    json_t *o = json_object();
    ab_json_put(o, "name", ab_json_string(b->name));
    ab_json_put(o, "version", ab_json_string(b->version));
    ab_json_put(o, "path", ab_json_string(b->path));
    ab_json_put(o, "build_id", ab_json_string(b->build_id));
    ab_json_put(o, "status", ab_json_string(ab_backend_status_name(b->status)));
    ab_json_put(o, "reason", ab_json_string(b->reason));
    ab_json_put(o, "boundary", ab_json_string(b->boundary));
    ab_json_put(o, "settings", settings(b->settings));
    ab_json_put(o, "never_frees", json_boolean(b->never_frees));
    ab_json_put(o, "has_reset", json_boolean(b->has_reset));
    ab_json_put(o, "was_named", json_boolean(b->was_named));
    if (b->is_verified)
        ab_json_put(o, "verified", json_true());
    ab_json_put(o, "package", ab_json_string(b->package));
    ab_json_put(o, "caveat", ab_json_string(b->caveat));
    ab_json_put(o, "uncounted", ab_json_string(b->uncounted));
    ab_json_put(o, "map", ab_json_mapping(b));
    if (s->n_timelines > 0)
        ab_json_put(o, "growth", growth(&rises));
    return o;
}

static json_t *round_entry(const struct ab_session *s, const struct ab_round *b)
{
    json_t *o = json_object(), *order = json_array();
    ab_json_put(o, "index", ab_json_integer(b->index));
    for (uint32_t i = 0; i < b->n_order; i++)
        if (b->order[i] < s->n_backends)
            ab_json_append(order, ab_json_string(s->backends[b->order[i]].name));
    ab_json_put(o, "order", order);
    if (s->n_hosts > 1)
        ab_json_put(o, "host", ab_json_integer(b->host));
    return o;
}

/* The numbers of one group, in the order of result_fields.def. */
static void put_fields(json_t *o, const struct ab_result *r, enum ab_field_group group)
{
    for (size_t i = 0; i < ab_field_count; i++) {
        const struct ab_field *f = &ab_fields[i];
        if (f->group == group)
            ab_json_put(o, f->json_key,
                        f->type == AB_FIELD_U64 ? ab_json_integer(ab_field_u64(f, r))
                                                : ab_json_real(ab_field_f64(f, r)));
    }
}

static json_t *tail(const struct ab_result *r)
{
    if (r->tail_n == 0)
        return json_null();
    json_t *o = json_object(), *worst = json_array();
    put_fields(o, r, AB_FIELD_TAIL);
    for (uint32_t i = 0; i < r->n_worst && i < AB_WORST_MAX; i++) {
        json_t *op = json_object();
        ab_json_put(op, "position", ab_json_integer(r->worst[i].position));
        ab_json_put(op, "size", ab_json_integer(r->worst[i].size));
        ab_json_put(op, "ns", ab_json_real(r->worst[i].ns));
        if (r->worst[i].iteration > 0)
            ab_json_put(op, "iteration", ab_json_integer(r->worst[i].iteration));
        ab_json_append(worst, op);
    }
    ab_json_put(o, "worst", worst);
    return o;
}

static json_t *result(const struct ab_session *s, const struct ab_result *r)
{
    json_t *o = json_object(), *quantiles = json_object();
    ab_json_put(o, "backend", ab_json_string(s->backends[r->backend].name));
    ab_json_put(o, "phase", ab_json_string(r->phase));
    ab_json_put(o, "op", ab_json_string(ab_result_op_name(r->op)));
    ab_json_put(o, "round", ab_json_integer(r->round));
    put_fields(o, r, AB_FIELD_EACH);
    put_fields(quantiles, r, AB_FIELD_QUANTILE);
    ab_json_put(o, "quantiles", quantiles);
    bool is_elsewhere = s->is_histogram_merged && ab_hdr_total(r->hdr) == 0;
    ab_json_put(o, "hdr_v2", is_elsewhere ? json_null() : ab_json_histogram(r->hdr));
    if (r->op == AB_OP_ALL)
        put_fields(o, r, AB_FIELD_ALL);
    if (r->op == AB_OP_ALL && !isnan(r->wait_percent))
        ab_json_put(o, "is_waiting", json_boolean(ab_result_is_waiting(r)));
    ab_json_put(o, "tail", tail(r));
    if (ab_session_is_exec(s)) {
        json_t *program = json_object();
        put_fields(program, r, AB_FIELD_PROGRAM);
        ab_json_put(o, "program", program);
    }
    return o;
}

static json_t *memory(const struct ab_session *s, const struct ab_memory *m)
{
    json_t *o = json_object(), *drained = json_object();
    ab_json_put(o, "backend", ab_json_string(s->backends[m->backend].name));
    ab_json_put(o, "phase", ab_json_string(m->phase));
    ab_json_put(o, "round", ab_json_integer(m->round));
    ab_json_put(o, "at", ab_json_string(ab_memory_at_names[m->at]));
    ab_json_put(o, "position",
                isnan(m->requested_bytes) ? json_null() : ab_json_integer(m->position));
    for (size_t i = 0; i < ab_memory_field_count; i++)
        ab_json_put(o, ab_memory_fields[i].name,
                    ab_json_real(ab_memory_value(&ab_memory_fields[i], m)));
    for (unsigned i = 0; i < AB_DRAIN_COUNT; i++)
        ab_json_put(drained, ab_drain_names[i], ab_json_real(m->drained_bytes[i]));
    ab_json_put(o, "drained_bytes", drained);
    if (s->backends[m->backend].n_heaps > 0)
        ab_json_put(o, "heaps", ab_json_heap_memory(s, m));
    ab_json_put(o, "reason", ab_json_string(m->reason));
    return o;
}

static json_t *externals(const struct ab_timeline *t)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < t->n; i++)
        ab_json_append(list, ab_json_real(t->points[i].external_bytes));
    return list;
}

static json_t *timeline(const struct ab_session *s, const struct ab_timeline *t)
{
    json_t *o = json_object(), *points = json_array();
    ab_json_put(o, "backend", ab_json_string(s->backends[t->backend].name));
    ab_json_put(o, "round", ab_json_integer(t->round));
    for (uint32_t i = 0; i < t->n; i++) {
        json_t *point = json_array();
        ab_json_append(point, ab_json_integer(t->points[i].position));
        ab_json_append(point, ab_json_real(t->points[i].requested_bytes));
        ab_json_append(point, ab_json_real(t->points[i].usable_bytes));
        ab_json_append(point, ab_json_real(t->points[i].footprint_bytes));
        ab_json_append(points, point);
    }
    ab_json_put(o, "points", points);
    ab_json_put(o, "external", externals(t));
    return o;
}

static json_t *distribution(const struct ab_session *s, const struct ab_memory_dist *d)
{
    json_t *o = json_object();
    const struct ab_memory_dist_kind_info *kind = &ab_memory_dists[d->kind];
    ab_json_put(o, "backend", ab_json_string(s->backends[d->backend].name));
    ab_json_put(o, "phase", ab_json_string(d->phase));
    ab_json_put(o, "round", ab_json_integer(d->round));
    ab_json_put(o, "metric", ab_json_string(kind->name));
    ab_json_put(o, "unit", ab_json_string(kind->unit));
    ab_json_put(o, "n_ops", ab_json_integer(d->n_ops));
    ab_json_put(o, "n_samples", ab_json_integer(d->n_samples));
    ab_json_put(o, "n", ab_json_integer(d->hdr != NULL ? ab_hdr_total(d->hdr) : 0));
    ab_json_put(o, "overflow", ab_json_integer(d->hdr != NULL ? d->hdr->overflow : 0));
    for (unsigned i = 0; i < AB_DIST_STATS; i++)
        ab_json_put(o, ab_dist_stat_names[i], ab_json_real(ab_memory_dist_value(d, i)));
    ab_json_put(o, "step", ab_json_real(kind->step));
    bool is_empty = d->hdr == NULL || ab_hdr_total(d->hdr) == 0;
    ab_json_put(o, "highest", is_empty ? json_null() : ab_json_integer(d->hdr->max));
    ab_json_put(o, "hdr_v2", is_empty ? json_null() : ab_json_histogram(d->hdr));
    ab_json_put(o, "reason", ab_json_string(d->reason));
    return o;
}

/* The lists of the memory pass. */
static void put_memory(json_t *o, const struct ab_session *s)
{
    json_t *records = json_array(), *dists = json_array(), *timelines = json_array();
    for (uint32_t i = 0; i < s->n_dists; i++)
        if (ab_session_has_numbers(s, s->dists[i].backend))
            ab_json_append(dists, distribution(s, &s->dists[i]));
    for (uint32_t i = 0; i < s->n_memory; i++)
        if (ab_session_has_numbers(s, s->memory[i].backend))
            ab_json_append(records, memory(s, &s->memory[i]));
    for (uint32_t i = 0; i < s->n_timelines; i++)
        if (ab_session_has_numbers(s, s->timelines[i].backend))
            ab_json_append(timelines, timeline(s, &s->timelines[i]));
    ab_json_put(o, "memory", records);
    ab_json_put(o, "memory_distributions", dists);
    ab_json_put(o, "timelines", timelines);
}

static json_t *size_class(const struct ab_session *s, const struct ab_size_class *c)
{
    json_t *o = json_object();
    uint64_t n = ab_hdr_total(c->hdr);
    ab_json_put(o, "backend", ab_json_string(s->backends[c->backend].name));
    ab_json_put(o, "phase", ab_json_string(c->phase));
    ab_json_put(o, "op", ab_json_string(ab_result_op_name(c->op)));
    ab_json_put(o, "round", ab_json_integer(c->round));
    ab_json_put(o, "le_bytes",
                c->log2 < 63 ? ab_json_integer(UINT64_C(1) << c->log2) : json_null());
    ab_json_put(o, "n", ab_json_integer(n));
    ab_json_put(o, "overflow", ab_json_integer(c->hdr->overflow));
    ab_json_put(o, "p50", ab_json_real(ab_result_quantile(c->hdr, 0.5)));
    ab_json_put(o, "p90", ab_json_real(ab_result_quantile(c->hdr, 0.9)));
    ab_json_put(o, "p99", ab_json_real(ab_result_quantile(c->hdr, 0.99)));
    ab_json_put(o, "p99.9", ab_json_real(ab_result_quantile(c->hdr, 0.999)));
    ab_json_put(o, "max", n > 0 ? ab_json_integer(c->hdr->max) : json_null());
    ab_json_put(o, "hdr_v2", ab_json_histogram(c->hdr));
    return o;
}

/* Writes the overview of a trace. Only what is not 0 of blocks by size and lifetime is listed. */

static json_t *blocks(const struct ab_overview *o)
{
    json_t *list = json_array();
    for (unsigned size = 0; size < AB_OVERVIEW_CLASSES; size++)
        for (unsigned life = 0; life <= AB_OVERVIEW_CLASSES; life++) {
            if (o->blocks[size][life] == 0)
                continue;
            json_t *cell = json_object();
            ab_json_put(cell, "le_bytes", ab_json_integer(UINT64_C(1) << size));
            ab_json_put(cell, "le_calls",
                        life < AB_OVERVIEW_CLASSES ? ab_json_integer(UINT64_C(1) << life)
                                                   : json_null());
            ab_json_put(cell, "n", ab_json_integer(o->blocks[size][life]));
            ab_json_append(list, cell);
        }
    return list;
}

static json_t *live(const struct ab_overview *o)
{
    json_t *curve = json_object(), *low = json_array(), *high = json_array();
    for (uint32_t i = 0; i < o->n_steps; i++) {
        ab_json_append(low, ab_json_integer(o->live[i].low));
        ab_json_append(high, ab_json_integer(o->live[i].high));
    }
    ab_json_put(curve, "step_calls", ab_json_integer(o->step_calls));
    ab_json_put(curve, "low", low);
    ab_json_put(curve, "high", high);
    return curve;
}

static json_t *threads(const struct ab_overview *o)
{
    json_t *list = json_array();
    for (uint32_t row = 0; row < o->n_rows; row++) {
        json_t *one = json_object(), *freed = json_array();
        for (uint32_t i = 0; i < o->n_rows; i++)
            ab_json_append(freed, ab_json_integer(o->freed[row][i]));
        ab_json_put(one, "thread",
                    o->thread[row] == AB_OVERVIEW_OTHERS ? json_null()
                                                         : json_integer(o->thread[row]));
        ab_json_put(one, "freed_by", freed);
        ab_json_put(one, "never_freed", ab_json_integer(o->freed[row][o->n_rows]));
        ab_json_append(list, one);
    }
    return list;
}

/* null where there is none. */
static json_t *json_overview(const struct ab_overview *overview)
{
    if (overview == NULL)
        return json_null();
    json_t *o = json_object();
    ab_json_put(o, "n_calls", ab_json_integer(overview->n_calls));
    ab_json_put(o, "n_threads", ab_json_integer(overview->n_threads));
    ab_json_put(o, "blocks", blocks(overview));
    ab_json_put(o, "live", live(overview));
    ab_json_put(o, "threads", threads(overview));
    return o;
}

/* "BIN:COUNT,COUNT …" from the first bin that is not empty to the last; null where none is known. */
static json_t *json_window_counts(const struct ab_window *window)
{
    char text[AB_WINDOW_BINS * 11 + 16];
    unsigned first = 0, end = AB_WINDOW_BINS;
    while (end > 0 && window->counts[end - 1] == 0)
        end--;
    if (end == 0)
        return json_null();
    while (window->counts[first] == 0)
        first++;
    size_t n = (size_t)snprintf(text, sizeof text, "%u:", first);
    for (unsigned i = first; i < end; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%u", i > first ? "," : "",
                              window->counts[i]);
    return json_string(text);
}

static json_t *window(const struct ab_session *s, const struct ab_window *x)
{
    json_t *o = json_object();
    ab_json_put(o, "backend", ab_json_string(s->backends[x->backend].name));
    ab_json_put(o, "phase", ab_json_string(x->phase));
    ab_json_put(o, "round", ab_json_integer(x->round));
    ab_json_put(o, "begin", ab_json_integer(x->begin));
    ab_json_put(o, "end", ab_json_integer(x->end));
    ab_json_put(o, "n", ab_json_integer(x->n));
    ab_json_put(o, "p50", ab_json_real(x->p50));
    ab_json_put(o, "p99", ab_json_real(x->p99));
    ab_json_put(o, "max", ab_json_real(x->max));
    ab_json_put(o, "counts", json_window_counts(x));
    return o;
}

/* Latency in depth: by size, over time, by heap. */
static void put_depth(json_t *o, const struct ab_session *s)
{
    json_t *classes = json_array(), *windows = json_array();
    for (uint32_t i = 0; i < s->n_size_classes; i++)
        if (ab_session_has_numbers(s, s->size_classes[i].backend))
            ab_json_append(classes, size_class(s, &s->size_classes[i]));
    for (uint32_t i = 0; i < s->n_windows; i++)
        if (ab_session_has_numbers(s, s->windows[i].backend))
            ab_json_append(windows, window(s, &s->windows[i]));
    ab_json_put(o, "size_classes", classes);
    ab_json_put(o, "windows", windows);
    ab_json_put(o, "heaps", ab_json_heaps(s));
}

/* The last key: of all that stands before it. */
static void put_checksum(json_t *o)
{
    char text[AB_CHECKSUM_BYTES];
    ab_checksum_make(o, text);
    ab_json_put(o, AB_CHECKSUM_KEY, ab_json_string(text));
}

/* Records of iterations as JSON. */

static json_t *worst(const struct ab_iterations *x)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < x->n_worst; i++) {
        json_t *o = json_object();
        ab_json_put(o, "iteration", ab_json_integer(x->worst[i].iteration));
        ab_json_put(o, "lane", ab_json_integer(x->worst[i].lane));
        ab_json_put(o, "ns", ab_json_integer(x->worst[i].ns));
        ab_json_append(list, o);
    }
    return list;
}

static json_t *stretches(const struct ab_iterations *x)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < x->n_stretches; i++)
        ab_json_append(list, ab_json_integer(x->stretches[i]));
    return list;
}

static json_t *iterations(const struct ab_session *s, const struct ab_iterations *x)
{
    json_t *o = json_object();
    bool is_empty = ab_hdr_total(x->hdr) == 0;
    ab_json_put(o, "backend", ab_json_string(s->backends[x->backend].name));
    ab_json_put(o, "phase", ab_json_string(x->phase));
    ab_json_put(o, "round", ab_json_integer(x->round));
    ab_json_put(o, "name", ab_json_string(x->name));
    ab_json_put(o, "budget_ns", ab_json_real(x->budget_ns));
    ab_json_put(o, "n", ab_json_integer(x->n));
    ab_json_put(o, "overflow", ab_json_integer(x->hdr->overflow));
    ab_json_put(o, "n_over_budget", ab_json_integer(x->n_over_budget));
    ab_json_put(o, "n_scheduler", ab_json_integer(x->n_scheduler));
    ab_json_put(o, "n_calls", ab_json_integer(x->n_calls));
    ab_json_put(o, "n_calls_most", ab_json_integer(x->n_calls_most));
    ab_json_put(o, "call_ns", ab_json_real(x->call_ns));
    ab_json_put(o, "p50", ab_json_real(x->p50));
    ab_json_put(o, "p99", ab_json_real(x->p99));
    ab_json_put(o, "max", ab_json_real(x->max));
    ab_json_put(o, "worst", worst(x));
    ab_json_put(o, "stretch", ab_json_integer(x->stretch));
    ab_json_put(o, "stretches", stretches(x));
    ab_json_put(o, "hdr_v2", is_empty ? json_null() : ab_json_histogram(x->hdr));
    ab_json_put(o, "reason", ab_json_string(x->reason));
    return o;
}

/* o.iterations; of work without iterations there is none. */
static void iterations_json(json_t *o, const struct ab_session *s)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < s->n_iterations; i++)
        if (ab_session_has_numbers(s, s->iterations[i].backend))
            ab_json_append(list, iterations(s, &s->iterations[i]));
    if (json_array_size(list) > 0)
        ab_json_put(o, "iterations", list);
    else
        json_decref(list);
}

/* Ratios of what the tables show, in the direction of the metric: of times, below 1 is faster (the
 * tables show the reciprocal, a speed). Written from the rounds and not read back: whoever reads
 * the rounds computes the same. */

struct pair {
    const struct ab_session *s;
    uint32_t backend, base;
};

static json_t *ratio(const struct pair *p, const char *phase, const char *metric,
                     const struct ab_effect *e)
{
    json_t *o = json_object();
    ab_json_put(o, "backend", ab_json_string(p->s->backends[p->backend].name));
    ab_json_put(o, "base", ab_json_string(p->s->backends[p->base].name));
    ab_json_put(o, "phase", ab_json_string(phase));
    ab_json_put(o, "metric", ab_json_string(metric));
    ab_json_put(o, "ratio", ab_json_real(e->ratio));
    ab_json_put(o, "low", ab_json_real(e->low));
    ab_json_put(o, "high", ab_json_real(e->high));
    ab_json_put(o, "method", ab_json_string(ab_effect_method_names[e->method]));
    ab_json_put(o, "rounds", ab_json_integer(e->n_new));
    return o;
}

static void add_pair(const struct pair *p, json_t *list)
{
    struct ab_effect time = ab_session_speed(p->s, p->base, p->backend, NULL);
    struct ab_effect rss = ab_session_rss_ratio(p->s, p->backend, p->base);
    ab_json_append(list, ratio(p, NULL, "time", &time));
    ab_json_append(list, ratio(p, NULL, "rss_peak_bytes", &rss));
    for (uint32_t i = 0; i < p->s->n_phases; i++) {
        time = ab_session_speed(p->s, p->base, p->backend, p->s->phases[i]);
        ab_json_append(list, ratio(p, p->s->phases[i], "ns_per_op", &time));
    }
}

/* An array, empty where there is nothing to compare with. */
static json_t *json_ratios(const struct ab_session *session)
{
    json_t *list = json_array();
    struct pair p = {session, 0, ab_session_base(session)};
    for (; p.base < session->n_backends && p.backend < session->n_backends; p.backend++)
        if (p.backend != p.base && ab_backend_is_comparable(&session->backends[p.backend]))
            add_pair(&p, list);
    return list;
}

static json_t *document(const struct ab_session *s)
{
    json_t *o = json_object(), *backends = json_array(), *rounds = json_array();
    json_t *results = json_array();
    ab_json_put(o, "schema", ab_json_string("allocbench/2"));
    ab_json_put(o, "tool", tool(s));
    ab_json_put(o, "complete", json_boolean(s->is_complete));
    ab_json_put(o, "config", config(s));
    ab_json_put(o, "seed", ab_json_integer(s->seed));
    json_put_hosts(o, s);
    ab_json_put(o, "timer", timer(s));
    ab_json_put(o, "counting", counting_json(&s->counting));
    ab_json_put(o, "noise", noise(s));
    if (s->is_histogram_merged)
        ab_json_put(o, AB_HISTOGRAMS_KEY, ab_json_string(AB_HISTOGRAMS_MERGED));
    for (uint32_t i = 0; i < s->n_backends; i++)
        ab_json_append(backends, backend(s, i));
    ab_json_put(o, "backends", backends);
    for (uint32_t i = 0; i < s->n_rounds; i++)
        ab_json_append(rounds, round_entry(s, &s->rounds[i]));
    ab_json_put(o, "rounds", rounds);
    for (uint32_t i = 0; i < s->n_results; i++)
        if (ab_session_has_numbers(s, s->results[i].backend))
            ab_json_append(results, result(s, &s->results[i]));
    ab_json_put(o, "results", results);
    put_depth(o, s);
    put_memory(o, s);
    iterations_json(o, s);
    ab_json_put(o, "trace_overview", json_overview(s->overview));
    ab_json_put(o, "ratios", json_ratios(s));
    ab_json_put(o, "gates", ab_gates_json(s));
    ab_json_put(o, "claims", ab_claims_json(s));
    ab_json_put(o, "comparison", ab_comparison_json(s->comparison));
    put_checksum(o);
    return o;
}

bool ab_sink_json(FILE *to, const struct ab_session *session)
{
    struct ab_format_guard guard;
    ab_format_begin(&guard);
    ab_json_write(document(session), to, 12);
    ab_format_end(&guard);
    return true;
}
