/* SPDX-License-Identifier: MIT
 *
 * The frame of a result: what was run, where, on which back ends, in which rounds. The lists of
 * numbers are read in read_records.c, once all that they refer to is known.
 */
#include "report/read/read_result.h"

#include "core/text.h"
#include "report/heaps/heaps_read.h"
#include "report/read/read_depth.h"
#include "report/read/read_html.h"
#include "report/read/read_iterations.h"
#include "report/read/read_memory.h"
#include "report/read/read_overview.h"
#include "report/read/read_parts.h"
#include "report/read/read_records.h"
#include "report/read/read_rounds.h"
#include "result/session.h"
#include "stats/compare.h"

#include <math.h>
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
    ab_stored_shard(r, &o);
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
        b->host = ab_stored_round_host(r, &o);
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
    ab_stored_hosts(r, &document, read_host);
    read_backends(r, &document);
    read_rounds(r, &document);
    read_timer(r, &document);
    read_counting(&r->json, &document, &s->counting);
    read_noise(r, &document);
    read_histograms(&r->json, &document, s);
    ab_stored_results(r, &document);
    ab_stored_depth(r, &document);
    ab_stored_heaps(r, &document);
    ab_stored_iterations(r, &document);
    ab_stored_memory(r, &document);
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
