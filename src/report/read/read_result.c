/* SPDX-License-Identifier: MIT
 *
 * The frame of a result: what was run, where, on which back ends, in which rounds. The lists of
 * numbers are read in read_records.c, once all that they refer to is known.
 */
#include "report/read/read_result.h"

#include "base/bits.h"
#include "base/limits.h"
#include "core/text.h"
#include "report/heaps/heaps_read.h"
#include "report/read/read_html.h"
#include "report/read/read_overview.h"
#include "report/read/read_records.h"
#include "report/read/read_rounds.h"
#include "result/memory_dist.h"
#include "result/merge/merge_rounds.h"
#include "result/merge/shard.h"
#include "result/result_fields.h"
#include "result/session.h"
#include "stats/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA_FAMILY "allocbench/"
#define SCHEMA SCHEMA_FAMILY "2"
#define SCHEMA_OLD SCHEMA_FAMILY "1"

static void check_schema(struct ab_json_reader *r, const struct ab_json_node *document)
{
    char shown[64];
    struct ab_json_node schema = {json_object_get(document->json, "schema"), document, "schema", 0};
    const char *name = json_string_value(schema.json);
    if (name == NULL)
        ab_json_fail(r, document,
                     "is not an allocbench result: it has no \"schema\": "
                     "\"" SCHEMA "\"");
    else if (strcmp(name, SCHEMA) == 0)
        return;
    else if (strcmp(name, SCHEMA_OLD) == 0)
        ab_json_fail(r, &schema,
                     "is \"" SCHEMA_OLD "\", of an older allocbench with other names "
                     "and memory counts; this build "
                     "(" AB_VERSION ") reads " SCHEMA ": run the "
                     "measurement "
                     "again");
    else if (strncmp(name, SCHEMA_FAMILY, strlen(SCHEMA_FAMILY)) == 0)
        ab_json_fail(r, &schema,
                     "is \"%s\", this build (" AB_VERSION ") reads " SCHEMA
                     "; a newer allocbench may read it",
                     ab_text_printable(shown, sizeof shown, name));
    else
        ab_json_fail(r, &schema, "is \"%s\", must be " SCHEMA,
                     ab_text_printable(shown, sizeof shown, name));
}

/* A list of strings that ends with NULL; NULL after an error. */
static const char **read_texts(struct ab_stored_reader *r, const struct ab_json_node *o,
                               const char *key, uint32_t *n_out)
{
    struct ab_json_node list = ab_json_array(&r->json, o, key);
    size_t n = ab_json_count(&r->json, &list, AB_STORED_PHASES_MAX);
    const char **texts = ab_stored_records(r, n + 1, sizeof texts[0]);
    for (size_t i = 0; i < n && texts != NULL; i++) {
        struct ab_json_node item = ab_json_item(&list, i);
        texts[i] = json_is_null(item.json) ? "" : json_string_value(item.json);
        if (texts[i] == NULL)
            ab_json_fail(&r->json, &item, "must be a string");
    }
    *n_out = (uint32_t)n;
    return texts;
}

static void read_kinds(struct ab_json_reader *r, const struct ab_json_node *tape,
                       struct ab_facts *facts)
{
    struct ab_json_node list = ab_json_array(r, tape, "kinds");
    size_t n = ab_json_count(r, &list, AB_OP_KIND_COUNT);
    for (size_t i = 0; i < n; i++) {
        struct ab_json_node item = ab_json_item(&list, i);
        const char *name = json_string_value(item.json);
        unsigned k = 0;
        while (name != NULL && k < AB_OP_KIND_COUNT && strcmp(name, ab_result_op_name(k)) != 0)
            k++;
        if (name == NULL || k == AB_OP_KIND_COUNT)
            ab_json_fail(r, &item, "must be the name of an op");
        else
            facts->kinds |= 1u << k;
    }
}

static void read_tape(struct ab_json_reader *r, const struct ab_json_node *config,
                      struct ab_session *s)
{
    struct ab_json_node o = ab_json_object(r, config, "tape");
    struct ab_facts *f = &s->facts;
    s->n_tape_ops = ab_json_whole(r, &o, "n_ops", INT64_MAX, UINT64_MAX);
    s->n_slots = (uint32_t)ab_json_whole(r, &o, "n_slots", UINT32_MAX, 0);
    f->lanes = (uint32_t)ab_json_whole(r, &o, "lanes", UINT32_MAX, 0);
    f->largest_bytes = ab_json_whole(r, &o, "largest_bytes", INT64_MAX, UINT64_MAX);
    f->largest_align = ab_json_whole(r, &o, "largest_align", INT64_MAX, UINT64_MAX);
    f->live_peak_blocks = ab_json_whole(r, &o, "live_peak_blocks", INT64_MAX, UINT64_MAX);
    f->live_peak_bytes = ab_json_whole(r, &o, "live_peak_bytes", INT64_MAX, UINT64_MAX);
    f->total_blocks = ab_json_whole(r, &o, "total_blocks", INT64_MAX, UINT64_MAX);
    f->total_bytes = ab_json_whole(r, &o, "total_bytes", INT64_MAX, UINT64_MAX);
    read_kinds(r, &o, f);
}

/* Keys that the first version did not write are 0 there. */
static void read_resumption(struct ab_json_reader *r, const struct ab_json_node *config,
                            struct ab_session *s)
{
    if (!ab_json_has(r, config, "resumed_from"))
        return;
    const char *from = ab_json_text(r, config, "resumed_from");
    s->resumed_from = from[0] != 0 ? from : NULL;
    s->n_rounds_resumed = (uint32_t)ab_json_whole(r, config, "rounds_resumed", UINT32_MAX, 0);
}

static void read_cpus(struct ab_stored_reader *r, const struct ab_json_node *config,
                      struct ab_stored *out)
{
    struct ab_json_node list = ab_json_array(&r->json, config, "cpus");
    size_t n = ab_json_count(&r->json, &list, AB_STORED_CPUS_MAX);
    r->session->cpus = out->cpus = ab_stored_records(r, n, sizeof out->cpus[0]);
    for (size_t i = 0; i < n && r->json.status == AB_OK; i++) {
        struct ab_json_node item = ab_json_item(&list, i);
        json_int_t cpu = json_is_integer(item.json) ? json_integer_value(item.json) : -1;
        if (cpu < 0 || cpu > INT32_MAX)
            ab_json_fail(&r->json, &item, "must be the number of a CPU");
        else
            out->cpus[r->session->n_cpus++] = (int)cpu;
    }
}

/* What lanes do; the first version knew one lane. */
static void read_lanes(struct ab_stored_reader *r, const struct ab_json_node *config,
                       struct ab_stored *out)
{
    struct ab_session *s = r->session;
    if (!ab_json_has(&r->json, config, "cpus"))
        return;
    read_cpus(r, config, out);
    s->is_strict = ab_json_one_of(&r->json, config, "order", ab_order_names, 2) == 1;
    s->window = (uint32_t)ab_json_whole(&r->json, config, "window", UINT32_MAX, 0);
    s->is_window_given = !ab_json_has(&r->json, config, "window_given") ||
                         ab_json_flag(&r->json, config, "window_given");
    s->n_edges = ab_json_whole(&r->json, config, "n_edges", INT64_MAX, UINT64_MAX);
    s->n_remote = ab_json_whole(&r->json, config, "n_remote", INT64_MAX, UINT64_MAX);
    const char *base = ab_json_has(&r->json, config, "base")
                           ? ab_json_text(&r->json, config, "base")
                           : "";
    s->base = base[0] != 0 ? base : NULL;
}

/* Reads shard, parts and machines of a result. */

static struct ab_run_shard read_shard(struct ab_json_reader *r, const struct ab_json_node *o)
{
    struct ab_json_node at = {.parent = o, .key = "shard"};
    const char *text = ab_json_has(r, o, "shard") ? ab_json_text(r, o, "shard") : "";
    struct ab_run_shard x = {0};
    char again[32];
    if (text[0] == 0)
        return x;
    if (sscanf(text, "%5u/%5u", &x.index, &x.count) == 2 && x.index >= 1 && x.index <= x.count &&
        x.count <= AB_SHARDS_MAX) {
        snprintf(again, sizeof again, "%u/%u", x.index, x.count);
        if (strcmp(again, text) == 0)
            return x;
    }
    ab_json_fail(r, &at, "must be a part of a number, such as \"1/4\"");
    return (struct ab_run_shard){0};
}

static void read_part(struct ab_json_reader *r, const struct ab_json_node *o, struct ab_part *part)
{
    part->file = ab_json_text(r, o, "file");
    ab_json_text_into(r, o, "sha256", part->sha256, sizeof part->sha256);
    part->shard = read_shard(r, o);
    part->host = (uint32_t)ab_json_whole(r, o, "host", UINT32_MAX, 0);
    part->n_rounds = (uint32_t)ab_json_whole(r, o, "n_rounds", UINT32_MAX, 0);
}

/* session->shard and parts, of the object config. */
static void stored_shard(struct ab_stored_reader *r, const struct ab_json_node *config)
{
    struct ab_session *s = r->session;
    s->shard = read_shard(&r->json, config);
    struct ab_json_node list = ab_json_array_if_any(&r->json, config, "parts");
    size_t n = ab_json_count(&r->json, &list, AB_SHARDS_MAX);
    s->parts = ab_stored_records(r, n, sizeof s->parts[0]);
    for (size_t i = 0; i < n && r->json.status == AB_OK; i++) {
        struct ab_json_node o = ab_json_item_object(&r->json, &list, i);
        read_part(&r->json, &o, &s->parts[s->n_parts++]);
    }
}

/* session->hosts; each is read by read_host. */
static void stored_hosts(struct ab_stored_reader *r, const struct ab_json_node *document,
                         void (*read_host)(struct ab_json_reader *r, const struct ab_json_node *o,
                                           struct ab_host *h))
{
    struct ab_session *s = r->session;
    struct ab_json_node list = ab_json_array_if_any(&r->json, document, "hosts");
    size_t n = ab_json_count(&r->json, &list, AB_SHARDS_MAX);
    s->hosts = ab_stored_records(r, n, sizeof s->hosts[0]);
    for (size_t i = 0; i < n && r->json.status == AB_OK; i++) {
        struct ab_json_node o = ab_json_item_object(&r->json, &list, i);
        read_host(&r->json, &o, &s->hosts[s->n_hosts++]);
    }
    for (uint32_t i = 0; i < s->n_parts && r->json.status == AB_OK; i++)
        if (s->parts[i].host >= ab_session_host_count(s))
            ab_json_fail(&r->json, document, "config.parts[%u].host is not among the hosts", i);
}

/* Index of hosts; 0 where there is one machine. */
static uint32_t stored_round_host(struct ab_stored_reader *r, const struct ab_json_node *round)
{
    struct ab_json_node at = {.parent = round, .key = "host"};
    uint32_t host = 0;
    if (ab_json_has(&r->json, round, "host"))
        host = (uint32_t)ab_json_whole(&r->json, round, "host", UINT32_MAX, 0);
    if (host >= ab_session_host_count(r->session))
        ab_json_fail(&r->json, &at, "is not among the hosts");
    return r->json.status == AB_OK ? host : 0;
}

static void read_config(struct ab_stored_reader *r, const struct ab_json_node *document,
                        struct ab_stored *out)
{
    struct ab_json_reader *j = &r->json;
    struct ab_session *s = r->session;
    struct ab_json_node o = ab_json_object(j, document, "config");
    uint32_t n_settings;
    s->kind = ab_json_text(j, &o, "kind");
    s->name = ab_json_text(j, &o, "name");
    s->about = ab_json_text(j, &o, "about");
    s->config_path = ab_json_text(j, &o, "path");
    s->config_sha256 = ab_json_text(j, &o, "sha256");
    s->config_text = ab_json_text(j, &o, "text");
    s->tape_sha256 = ab_json_text(j, &o, "tape_sha256");
    s->command_line = ab_json_text(j, &o, "command_line");
    s->n_rounds_planned = (uint32_t)ab_json_whole(j, &o, "rounds_planned", UINT32_MAX, 0);
    s->cpu = (int32_t)(uint32_t)ab_json_whole(j, &o, "cpu", INT32_MAX, UINT32_MAX);
    ab_stored_passes(j, &o, &s->passes);
    ab_stored_stopping(j, &o, &s->stopping);
    read_resumption(j, &o, s);
    stored_shard(r, &o);
    read_lanes(r, &o, out);
    read_tape(j, &o, s);
    s->phases = out->phases = read_texts(r, &o, "phases", &s->n_phases);
    s->settings = out->settings = read_texts(r, &o, "settings", &n_settings);
}

static void read_tool(struct ab_json_reader *r, const struct ab_json_node *document,
                      struct ab_session *s)
{
    struct ab_json_node o = ab_json_object(r, document, "tool");
    s->tool.version = ab_json_text(r, &o, "version");
    s->tool.compiler = ab_json_text(r, &o, "compiler");
    s->tool.flags = ab_json_text(r, &o, "flags");
}

static void read_host(struct ab_json_reader *r, const struct ab_json_node *o, struct ab_host *h)
{
#define TEXT(member) ab_json_text_into(r, o, #member, h->member, sizeof h->member)
    TEXT(fingerprint);
    TEXT(cpu);
    TEXT(kernel);
    TEXT(libc);
    TEXT(os);
    TEXT(governor);
    TEXT(virt);
    TEXT(thp);
    TEXT(aslr);
    h->cpus_online = (uint32_t)ab_json_whole(r, o, "cpus_online", UINT32_MAX, 0);
    h->cpus_allowed = (uint32_t)ab_json_whole(r, o, "cpus_allowed", UINT32_MAX, 0);
    h->memory_bytes = ab_json_whole(r, o, "memory_bytes", INT64_MAX, 0);
    h->page_bytes = ab_json_whole(r, o, "page_bytes", INT64_MAX, 0);
    h->load_1min = ab_json_number(r, o, "load_1min");
    if (ab_json_has(r, o, "name"))
        TEXT(name);
#undef TEXT
}

static void read_timer(struct ab_stored_reader *r, const struct ab_json_node *document)
{
    struct ab_session *s = r->session;
    struct ab_json_node o = ab_json_object(&r->json, document, "timer");
    s->timer.source = ab_json_text(&r->json, &o, "source");
    s->timer.ns_per_tick = ab_json_number(&r->json, &o, "ns_per_tick");
    s->timer.floor_ns = ab_json_number(&r->json, &o, "floor_ns");
    s->timer.quantum_ns = ab_json_number(&r->json, &o, "quantum_ns");
    s->timer.window_ns = NAN;
    ab_stored_nulls(r, &o);
}

/* Null where it was not asked for, missing in older results. */
static void read_counting(struct ab_json_reader *r, const struct ab_json_node *document,
                          struct ab_counting *c)
{
    if (!ab_json_has(r, document, "counting") ||
        json_is_null(json_object_get(document->json, "counting")))
        return;
    struct ab_json_node o = ab_json_object(r, document, "counting");
    c->is_asked = true;
    ab_json_text_into(r, &o, "method", c->method, sizeof c->method);
    ab_json_text_into(r, &o, "reason", c->reason, sizeof c->reason);
    c->n_ops = ab_json_whole(r, &o, "n_ops", INT64_MAX, 0);
}

/* Older ones do not have it, and null is that nothing is known. */
static void read_noise(struct ab_stored_reader *r, const struct ab_json_node *document)
{
    if (!ab_json_has(&r->json, document, "noise") ||
        json_is_null(json_object_get(document->json, "noise")))
        return;
    struct ab_json_node o = ab_json_object(&r->json, document, "noise");
#define READ(name) r->session->noise.name = ab_json_number(&r->json, &o, #name);
    AB_NOISE_FIELDS(READ)
#undef READ
}

static void read_backend(struct ab_json_reader *r, const struct ab_json_node *o,
                         struct ab_backend_info *b)
{
    ab_json_text_into(r, o, "name", b->name, sizeof b->name);
    ab_json_text_into(r, o, "version", b->version, sizeof b->version);
    ab_json_text_into(r, o, "path", b->path, sizeof b->path);
    ab_json_text_into(r, o, "build_id", b->build_id, sizeof b->build_id);
    ab_json_text_into(r, o, "reason", b->reason, sizeof b->reason);
    ab_json_text_into(r, o, "package", b->package, sizeof b->package);
    b->status = (enum ab_backend_status)ab_json_one_of(r, o, "status", ab_backend_status_names,
                                                       AB_BACKEND_STATUS_COUNT);
    b->boundary = ab_json_text(r, o, "boundary")[0] == 0 ? NULL : ab_stored_boundary(r, o);
    strcpy(b->settings, ab_backend_settings(b->name)); /* the list beside it is for others */
    b->never_frees = ab_json_flag(r, o, "never_frees");
    b->has_reset = ab_json_has(r, o, "has_reset") && ab_json_flag(r, o, "has_reset");
    b->was_named = ab_json_flag(r, o, "was_named");
    b->is_verified = ab_json_has(r, o, "verified") && ab_json_flag(r, o, "verified");
    if (ab_json_has(r, o, "caveat"))
        ab_json_text_into(r, o, "caveat", b->caveat, sizeof b->caveat);
    if (ab_json_has(r, o, "uncounted"))
        ab_json_text_into(r, o, "uncounted", b->uncounted, sizeof b->uncounted);
    ab_stored_mapping(r, o, b);
    if (b->name[0] == 0)
        ab_json_fail(r, o, "has no name");
}

static void read_backends(struct ab_stored_reader *r, const struct ab_json_node *document)
{
    struct ab_session *s = r->session;
    struct ab_json_node list = ab_json_array(&r->json, document, "backends");
    size_t n = ab_json_count(&r->json, &list, AB_STORED_BACKENDS_MAX);
    s->backends = ab_stored_records(r, n, sizeof s->backends[0]);
    for (size_t i = 0; i < n && r->json.status == AB_OK; i++) {
        struct ab_json_node o = ab_json_item_object(&r->json, &list, i);
        read_backend(&r->json, &o, &s->backends[i]);
        for (size_t k = 0; k < i; k++)
            if (strcmp(s->backends[k].name, s->backends[i].name) == 0)
                ab_json_fail(&r->json, &o, "has the name of backends[%zu]", k);
        s->n_backends++;
    }
}

static void read_order(struct ab_stored_reader *r, const struct ab_json_node *round,
                       struct ab_round *out)
{
    struct ab_json_node list = ab_json_array(&r->json, round, "order");
    size_t n = ab_json_count(&r->json, &list, r->session->n_backends);
    uint32_t *order = ab_stored_records(r, n, sizeof order[0]);
    for (size_t i = 0; i < n && r->json.status == AB_OK; i++) {
        struct ab_json_node item = ab_json_item(&list, i);
        const char *name = json_string_value(item.json);
        if (name == NULL)
            ab_json_fail(&r->json, &item, "must be the name of a back end");
        else
            order[i] = ab_stored_backend_named(r, &item, name);
        for (size_t k = 0; k < i; k++)
            if (order[k] == order[i])
                ab_json_fail(&r->json, &item, "ran twice in its round");
    }
    out->order = order;
    out->n_order = (uint32_t)n;
}

static void read_rounds(struct ab_stored_reader *r, const struct ab_json_node *document)
{
    struct ab_session *s = r->session;
    struct ab_json_node list = ab_json_array(&r->json, document, "rounds");
    size_t n = ab_json_count(&r->json, &list, AB_STORED_ROUNDS_MAX);
    s->rounds = ab_stored_records(r, n, sizeof s->rounds[0]);
    for (size_t i = 0; i < n && r->json.status == AB_OK; i++) {
        struct ab_json_node o = ab_json_item_object(&r->json, &list, i);
        struct ab_round *b = &s->rounds[s->n_rounds++];
        b->index = (uint32_t)ab_json_whole(&r->json, &o, "index", UINT32_MAX - 1, 0);
        if (i > 0 && b->index <= s->rounds[i - 1].index)
            ab_json_fail(&r->json, &o, "index %u is not ascending", b->index);
        read_order(r, &o, b);
        b->host = stored_round_host(r, &o);
    }
    s->cap_rounds = s->n_rounds;
}

/* Each round has its own, unless the document says otherwise. */
static void read_histograms(struct ab_json_reader *r, const struct ab_json_node *document,
                            struct ab_session *s)
{
    static const char *const ways[] = {AB_HISTOGRAMS_MERGED};
    if (!ab_json_has(r, document, AB_HISTOGRAMS_KEY))
        return;
    ab_json_one_of(r, document, AB_HISTOGRAMS_KEY, ways, 1);
    s->is_histogram_merged = true;
}

/* What the latency pass left in a result besides the results: size classes and windows. Results of
 * earlier versions have neither. */

static unsigned read_log2(struct ab_stored_reader *r, const struct ab_json_node *o)
{
    struct ab_json_node at = {.parent = o, .key = "le_bytes"};
    uint64_t bytes = ab_json_whole(&r->json, o, "le_bytes", INT64_MAX, 0);
    if (bytes == 0)
        return AB_SIZE_CLASS_COUNT - 1; /* null: more than JSON's integers hold */
    if (!ab_is_pow2(bytes))
        ab_json_fail(&r->json, &at, "must be a power of two");
    return ab_log2(bytes);
}

static void read_size_class(struct ab_stored_reader *r, const struct ab_json_node *o,
                            struct ab_size_class *c)
{
    c->backend = ab_stored_backend(r, o, "backend");
    c->phase = ab_stored_phase(r, o);
    c->op = ab_stored_op(r, o);
    c->round = ab_stored_round(r, o);
    c->log2 = read_log2(r, o);
    uint64_t n = ab_json_whole(&r->json, o, "n", INT64_MAX, UINT64_MAX);
    uint64_t overflow = ab_json_whole(&r->json, o, "overflow", INT64_MAX, 0);
    uint64_t max = ab_json_whole(&r->json, o, "max", INT64_MAX, UINT64_MAX);
    c->hdr = ab_stored_histogram(r, o, n);
    if (c->hdr == NULL)
        return;
    c->hdr->overflow = overflow;
    ab_stored_refine_max(c->hdr, max);
}

static void read_size_classes(struct ab_stored_reader *r, const struct ab_json_node *document)
{
    struct ab_session *s = r->session;
    struct ab_json_node list = ab_json_array_if_any(&r->json, document, "size_classes");
    size_t n = ab_json_count(&r->json, &list, AB_STORED_RECORDS_MAX);
    s->size_classes = ab_stored_records(r, n, sizeof s->size_classes[0]);
    for (size_t i = 0; i < n && r->json.status == AB_OK; i++) {
        struct ab_json_node o = ab_json_item_object(&r->json, &list, i);
        read_size_class(r, &o, &s->size_classes[s->n_size_classes++]);
    }
    s->cap_size_classes = s->n_size_classes;
}

static void read_window(struct ab_stored_reader *r, const struct ab_json_node *o,
                        struct ab_window *w)
{
    struct ab_json_node end = {.parent = o, .key = "end"};
    w->backend = ab_stored_backend(r, o, "backend");
    w->phase = ab_stored_phase(r, o);
    w->round = ab_stored_round(r, o);
    w->begin = (uint32_t)ab_json_whole(&r->json, o, "begin", UINT32_MAX, 0);
    w->end = (uint32_t)ab_json_whole(&r->json, o, "end", UINT32_MAX, 0);
    w->n = ab_json_whole(&r->json, o, "n", INT64_MAX, UINT64_MAX);
    w->p50 = ab_json_number(&r->json, o, "p50");
    w->p99 = ab_json_number(&r->json, o, "p99");
    w->max = ab_json_number(&r->json, o, "max");
    ab_stored_window_counts(r, o, w);
    if (w->end < w->begin)
        ab_json_fail(&r->json, &end, "is before its begin");
}

static void read_windows(struct ab_stored_reader *r, const struct ab_json_node *document)
{
    struct ab_session *s = r->session;
    struct ab_json_node list = ab_json_array_if_any(&r->json, document, "windows");
    size_t n = ab_json_count(&r->json, &list, AB_STORED_RECORDS_MAX);
    s->windows = ab_stored_records(r, n, sizeof s->windows[0]);
    for (size_t i = 0; i < n && r->json.status == AB_OK; i++) {
        struct ab_json_node o = ab_json_item_object(&r->json, &list, i);
        read_window(r, &o, &s->windows[s->n_windows++]);
    }
    s->cap_windows = s->n_windows;
}

static void stored_depth(struct ab_stored_reader *r, const struct ab_json_node *document)
{
    read_size_classes(r, document);
    read_windows(r, document);
}

/* Records of iterations; older results, and those of work without iterations, have none. */

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

static void stored_iterations(struct ab_stored_reader *r, const struct ab_json_node *document)
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

/* What the memory pass left in a result: records, distributions and time lines. */

/* ---- records ---- */

static void read_drained(struct ab_json_reader *r, const struct ab_json_node *record,
                         struct ab_memory *m)
{
    struct ab_json_node o = ab_json_object(r, record, "drained_bytes");
    for (unsigned i = 0; i < AB_DRAIN_COUNT; i++)
        m->drained_bytes[i] = ab_json_number(r, &o, ab_drain_names[i]);
}

static void read_memory_read_record(struct ab_stored_reader *r, const struct ab_json_node *o,
                                    struct ab_memory *m)
{
    m->backend = ab_stored_backend(r, o, "backend");
    m->phase = ab_stored_phase(r, o);
    m->round = ab_stored_round(r, o);
    m->at = (enum ab_memory_at)ab_json_one_of(&r->json, o, "at", ab_memory_at_names, AB_AT_COUNT);
    m->position = (uint32_t)ab_json_whole(&r->json, o, "position", UINT32_MAX, 0);
    for (size_t i = 0; i < ab_memory_field_count; i++)
        *(double *)((char *)m + ab_memory_fields[i].offset) = ab_json_number(
            &r->json, o, ab_memory_fields[i].name);
    read_drained(&r->json, o, m);
    ab_stored_heap_memory(r, o, m);
    ab_json_text_into(&r->json, o, "reason", m->reason, sizeof m->reason);
}

static void read_records(struct ab_stored_reader *r, const struct ab_json_node *document)
{
    struct ab_session *s = r->session;
    struct ab_json_node list = ab_json_array(&r->json, document, "memory");
    size_t n = ab_json_count(&r->json, &list, AB_STORED_RECORDS_MAX);
    s->memory = ab_stored_records(r, n, sizeof s->memory[0]);
    for (size_t i = 0; i < n && r->json.status == AB_OK; i++) {
        struct ab_json_node o = ab_json_item_object(&r->json, &list, i);
        read_memory_read_record(r, &o, &s->memory[s->n_memory++]);
    }
    s->cap_memory = s->n_memory;
}

/* ---- time lines ---- */

/* [position, live, usable, footprint] */
static void read_point(struct ab_json_reader *r, const struct ab_json_node *at,
                       struct ab_timeline_point *point)
{
    double x[4] = {0};
    for (size_t i = 0; i < AB_ARRAY_LEN(x) && json_array_size(at->json) == AB_ARRAY_LEN(x); i++) {
        const json_t *item = json_array_get(at->json, i);
        bool is_number = json_is_number(item) || (json_is_null(item) && i > 0);
        if (!is_number || (i == 0 && (!json_is_integer(item) || json_integer_value(item) < 0 ||
                                      json_integer_value(item) > UINT32_MAX)))
            ab_json_fail(r, at, "must be a position and three numbers");
        x[i] = json_is_null(item) ? (double)NAN : json_number_value(item);
    }
    if (json_array_size(at->json) != AB_ARRAY_LEN(x))
        ab_json_fail(r, at, "must be a position and three numbers");
    if (r->status == AB_OK)
        *point = (struct ab_timeline_point){(uint32_t)x[0], x[1], x[2], x[3], NAN};
}

/* One a point; older results have none. */
static void read_externals(struct ab_json_reader *r, const struct ab_json_node *o,
                           struct ab_timeline *t)
{
    if (!ab_json_has(r, o, "external"))
        return;
    struct ab_json_node list = ab_json_array(r, o, "external");
    size_t n = ab_json_count(r, &list, AB_STORED_RECORDS_MAX);
    if (n != t->n)
        ab_json_fail(r, &list, "must be one number a point");
    for (size_t i = 0; i < n && r->status == AB_OK; i++) {
        const json_t *item = json_array_get(list.json, i);
        struct ab_json_node at = ab_json_item(&list, i);
        if (!json_is_number(item) && !json_is_null(item))
            ab_json_fail(r, &at, "must be a number or null");
        t->points[i].external_bytes = json_is_number(item) ? json_number_value(item) : NAN;
    }
}

static void read_timeline(struct ab_stored_reader *r, const struct ab_json_node *o,
                          struct ab_timeline *t)
{
    t->backend = ab_stored_backend(r, o, "backend");
    t->round = ab_stored_round(r, o);
    struct ab_json_node list = ab_json_array(&r->json, o, "points");
    size_t n = ab_json_count(&r->json, &list, AB_STORED_POINTS_MAX);
    t->points = ab_stored_records(r, n, sizeof t->points[0]);
    for (size_t i = 0; i < n && r->json.status == AB_OK; i++) {
        struct ab_json_node at = ab_json_item(&list, i);
        read_point(&r->json, &at, &t->points[i]);
        if (i > 0 && t->points[i].position < t->points[i - 1].position)
            ab_json_fail(&r->json, &at, "position %u is not ascending", t->points[i].position);
        t->n++;
    }
    if (r->json.status == AB_OK)
        read_externals(&r->json, o, t);
}

static void read_timelines(struct ab_stored_reader *r, const struct ab_json_node *document)
{
    struct ab_session *s = r->session;
    struct ab_json_node list = ab_json_array_if_any(&r->json, document, "timelines");
    size_t n = ab_json_count(&r->json, &list, AB_STORED_RECORDS_MAX);
    s->timelines = ab_stored_records(r, n, sizeof s->timelines[0]);
    for (size_t i = 0; i < n && r->json.status == AB_OK; i++) {
        struct ab_json_node o = ab_json_item_object(&r->json, &list, i);
        read_timeline(r, &o, &s->timelines[s->n_timelines++]);
    }
    s->cap_timelines = s->n_timelines;
}

/* ---- distributions ---- */

/* null where nothing is known; else it has to be consistent with what is said of it. */
static void read_memory_read_histogram(struct ab_stored_reader *r, const struct ab_json_node *o,
                                       struct ab_memory_dist *d)
{
    struct ab_json_node at = {.parent = o, .key = "n"};
    uint64_t n = ab_json_whole(&r->json, o, "n", INT64_MAX, UINT64_MAX);
    uint64_t overflow = ab_json_whole(&r->json, o, "overflow", INT64_MAX, 0);
    uint64_t highest = ab_json_whole(&r->json, o, "highest", INT64_MAX, UINT64_MAX);
    if (r->json.status == AB_OK && (n > d->n_ops || overflow > d->n_ops - n || d->n_samples > n))
        ab_json_fail(&r->json, &at, "does not go with n_ops, n_samples and overflow");
    if (r->json.status != AB_OK || n == 0)
        return;
    d->hdr = ab_stored_histogram(r, o, n);
    if (d->hdr == NULL)
        return;
    d->hdr->overflow = overflow;
    ab_stored_refine_max(d->hdr, highest);
}

static void read_dist(struct ab_stored_reader *r, const struct ab_json_node *o,
                      struct ab_memory_dist *d)
{
    d->backend = ab_stored_backend(r, o, "backend");
    d->phase = ab_stored_phase(r, o);
    d->round = ab_stored_round(r, o);
    d->kind = (enum ab_memory_dist_kind)ab_json_one_of(&r->json, o, "metric", ab_memory_dist_names,
                                                       AB_DIST_COUNT);
    d->n_ops = ab_json_whole(&r->json, o, "n_ops", UINT32_MAX, UINT64_MAX);
    d->n_samples = ab_json_whole(&r->json, o, "n_samples", UINT32_MAX, UINT64_MAX);
    ab_json_text_into(&r->json, o, "reason", d->reason, sizeof d->reason);
    read_memory_read_histogram(r, o, d);
}

static void read_dists(struct ab_stored_reader *r, const struct ab_json_node *document)
{
    struct ab_session *s = r->session;
    struct ab_json_node list = ab_json_array_if_any(&r->json, document, "memory_distributions");
    size_t n = ab_json_count(&r->json, &list, AB_STORED_RECORDS_MAX);
    s->dists = ab_stored_records(r, n, sizeof s->dists[0]);
    for (size_t i = 0; i < n && r->json.status == AB_OK; i++) {
        struct ab_json_node o = ab_json_item_object(&r->json, &list, i);
        read_dist(r, &o, &s->dists[s->n_dists++]);
    }
    s->cap_dists = s->n_dists;
}

static void stored_memory(struct ab_stored_reader *r, const struct ab_json_node *document)
{
    read_records(r, document);
    read_dists(r, document);
    read_timelines(r, document);
}

static void read_document(struct ab_stored_reader *r, struct ab_stored *out)
{
    struct ab_json_node document = {.json = out->document};
    struct ab_session *s = r->session;
    if (!json_is_object(document.json))
        ab_json_fail(&r->json, &document, "is not an allocbench result: not an object");
    check_schema(&r->json, &document);
    s->is_complete = ab_json_flag(&r->json, &document, "complete");
    s->seed = ab_json_whole(&r->json, &document, "seed", INT64_MAX, UINT64_MAX);
    read_tool(&r->json, &document, s);
    read_config(r, &document, out);
    struct ab_json_node host = ab_json_object(&r->json, &document, "host");
    read_host(&r->json, &host, &s->host);
    stored_hosts(r, &document, read_host);
    read_backends(r, &document);
    read_rounds(r, &document);
    read_timer(r, &document);
    read_counting(&r->json, &document, &s->counting);
    read_noise(r, &document);
    read_histograms(&r->json, &document, s);
    ab_stored_results(r, &document);
    stored_depth(r, &document);
    ab_stored_heaps(r, &document);
    stored_iterations(r, &document);
    stored_memory(r, &document);
    s->overview = out->overview = ab_stored_overview(r, &document);
}

enum ab_status ab_stored_read(const char *path, struct ab_stored *out, struct ab_err *err)
{
    struct ab_stored stored = {0};
    json_t *document = NULL;
    bool is_page = ab_html_is_page(path);
    enum ab_status status = (is_page ? ab_html_load : ab_json_load)(
        path, AB_STORED_FILE_MAX, AB_STORED_DOCUMENT_MAX, &document, err);
    if (status != AB_OK)
        return status;
    stored.document = document;
    stored.checksum = ab_checksum_take(document);
    struct ab_stored_reader r = {.json = {.file = path, .err = err},
                                 .session = &stored.session,
                                 .room = ab_hdr_room_new(),
                                 .hdr_bytes_left = AB_STORED_HISTOGRAMS_MAX};
    if (r.room == NULL)
        r.json.status = ab_fail(err, AB_SYSTEM, "out of memory for the result");
    read_document(&r, &stored);
    free(r.room);
    if (r.json.status == AB_OK)
        *out = stored;
    else
        ab_stored_fini(&stored);
    return r.json.status;
}

enum ab_status ab_stored_read_unaltered(const char *path, struct ab_stored *out, struct ab_err *err)
{
    struct ab_stored stored;
    AB_TRY(ab_stored_read(path, &stored, err));
    if (stored.checksum == AB_CHECKSUM_WRONG) {
        ab_stored_fini(&stored);
        return ab_fail(err, AB_INPUT,
                       "%s was altered after it was written: its checksum does not match; "
                       "measure again, or take an unaltered copy",
                       AB_SHOWN(512, path));
    }
    *out = stored;
    return AB_OK;
}

void ab_stored_fini(struct ab_stored *stored)
{
    if (stored->comparison != NULL)
        ab_comparison_fini(stored->comparison);
    free(stored->comparison);
    free(stored->compared_with);
    ab_session_fini(&stored->session);
    free(stored->session.backends);
    free(stored->session.gates);
    free(stored->phases);
    free(stored->settings);
    free(stored->cpus);
    free(stored->overview);
    ab_json_free(stored->document);
    *stored = (struct ab_stored){0};
}
