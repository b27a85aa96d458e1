/* SPDX-License-Identifier: MIT
 *
 * The calibration file: written whole, read as any file that somebody may have changed.
 */
#include "report/calibration.h"

#include "report/json.h"
#include "report/read/json_in.h"

#include <math.h>
#include <string.h>

#define SCHEMA "allocbench-calibration/1"

enum { FILE_MAX_BYTES = 1 << 20, MEMORY_MAX_BYTES = 16 << 20, ROUNDS_MOST = 1000000 };

void ab_calibration_name(const char *fingerprint, char *buf, size_t cap)
{
    snprintf(buf, cap, "calibration-%.12s.json", fingerprint);
}

static json_t *entries(const struct ab_noise_levels *noise)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < noise->n; i++) {
        json_t *o = json_object();
        ab_json_put(o, "op", ab_json_string(noise->entries[i].op));
        ab_json_put(o, "metric", ab_json_string(noise->entries[i].metric));
        ab_json_put(o, "p95", ab_json_real(noise->entries[i].p95));
        ab_json_append(list, o);
    }
    return list;
}

void ab_calibration_write(FILE *to, const struct ab_calibration *c)
{
    json_t *o = json_object(), *host = json_object();
    ab_json_put(o, "schema", ab_json_string(SCHEMA));
    ab_json_put(o, "date", ab_json_string(c->date));
    ab_json_put(o, "version", ab_json_string(c->version));
    ab_json_put(host, "fingerprint", ab_json_string(c->fingerprint));
    ab_json_put(host, "cpu", ab_json_string(c->cpu));
    ab_json_put(host, "kernel", ab_json_string(c->kernel));
    ab_json_put(o, "host", host);
    ab_json_put(o, "workload", ab_json_string(c->workload));
    ab_json_put(o, "tape_sha256", ab_json_string(c->tape_sha256));
    ab_json_put(o, "rounds", ab_json_integer(c->noise.rounds));
    ab_json_put(o, "rounds_measured", ab_json_integer(c->noise.n_rounds));
    ab_json_put(o, "noise", entries(&c->noise));
    ab_json_write(o, to, 6);
}

static void check_schema(struct ab_json_reader *r, const struct ab_json_node *document)
{
    if (!json_is_object(document->json) || strcmp(ab_json_text(r, document, "schema"), SCHEMA) != 0)
        ab_json_fail(r, document, "is not a calibration: its schema is not \"" SCHEMA "\"");
}

static void read_noise(struct ab_json_reader *r, const struct ab_json_node *document,
                       struct ab_noise_levels *noise)
{
    struct ab_json_node list = ab_json_array(r, document, "noise");
    size_t n = ab_json_count(r, &list, AB_NOISE_MAX);
    for (size_t i = 0; i < n && r->status == AB_OK; i++) {
        struct ab_json_node o = ab_json_item_object(r, &list, i);
        struct ab_noise_entry *e = &noise->entries[noise->n++];
        ab_json_text_into(r, &o, "op", e->op, sizeof e->op);
        ab_json_text_into(r, &o, "metric", e->metric, sizeof e->metric);
        e->p95 = ab_json_number(r, &o, "p95");
        if (!(e->p95 >= 0))
            ab_json_fail(r, &o, "has no p95 of at least 0");
    }
}

enum ab_status ab_calibration_read(const char *path, struct ab_calibration *out, struct ab_err *err)
{
    json_t *json = NULL;
    enum ab_status status = ab_json_load(path, FILE_MAX_BYTES, MEMORY_MAX_BYTES, &json, err);
    if (status != AB_OK)
        return status;
    struct ab_calibration c = {.noise = {.n = 0}};
    struct ab_json_reader r = {.file = path, .err = err};
    struct ab_json_node document = {.json = json};
    check_schema(&r, &document);
    struct ab_json_node host = ab_json_object(&r, &document, "host");
    ab_json_text_into(&r, &document, "date", c.date, sizeof c.date);
    ab_json_text_into(&r, &document, "version", c.version, sizeof c.version);
    ab_json_text_into(&r, &host, "fingerprint", c.fingerprint, sizeof c.fingerprint);
    ab_json_text_into(&r, &host, "cpu", c.cpu, sizeof c.cpu);
    ab_json_text_into(&r, &host, "kernel", c.kernel, sizeof c.kernel);
    ab_json_text_into(&r, &document, "workload", c.workload, sizeof c.workload);
    ab_json_text_into(&r, &document, "tape_sha256", c.tape_sha256, sizeof c.tape_sha256);
    c.noise.rounds = (uint32_t)ab_json_whole(&r, &document, "rounds", ROUNDS_MOST, 0);
    c.noise.n_rounds = (uint32_t)ab_json_whole(&r, &document, "rounds_measured", ROUNDS_MOST, 0);
    read_noise(&r, &document, &c.noise);
    ab_json_free(json);
    if (r.status == AB_OK)
        *out = c;
    return r.status;
}
