/* SPDX-License-Identifier: MIT
 *
 * Writes and reads calibration files. A file that is read may have been changed by hand.
 */
#include "document/calibration.h"

#include "document/record_table.h"

#include <string.h>

#define SCHEMA "allocbench-calibration/1"

enum { FILE_MAX_BYTES = 1 << 20, MEMORY_MAX_BYTES = 16 << 20, ROUNDS_MOST = 1000000 };

void ab_calibration_name(const char *fingerprint, char *buf, size_t cap)
{
    snprintf(buf, cap, "calibration-%.12s.json", fingerprint);
}

static void check_entry(const struct ab_reading *x)
{
    if (!(((const struct ab_noise_entry *)x->record)->p95 >= 0))
        ab_json_fail(x->r, x->o, "has no p95 of at least 0");
}

static const struct ab_member entry_members[] = {
    AB_CHARS("op", struct ab_noise_entry, op),
    AB_CHARS("metric", struct ab_noise_entry, metric),
    AB_NUMBER("p95", struct ab_noise_entry, p95),
};
AB_TABLE(entry, struct ab_noise_entry, .check = check_entry);

static const struct ab_member host_members[] = {
    AB_CHARS("fingerprint", struct ab_calibration, fingerprint),
    AB_CHARS("cpu", struct ab_calibration, cpu),
    AB_CHARS("kernel", struct ab_calibration, kernel),
};
AB_TABLE(host, struct ab_calibration);

static void check_schema(const struct ab_reading *x)
{
    if (!json_is_object(x->o->json) || strcmp(ab_json_text(x->r, x->o, x->m->key), SCHEMA) != 0)
        ab_json_fail(x->r, x->o, "is not a calibration: its schema is not \"" SCHEMA "\"");
}

static const struct ab_member members[] = {
    AB_FIXED("schema", SCHEMA, .read = check_schema),
    AB_CHARS("date", struct ab_calibration, date),
    AB_CHARS("version", struct ab_calibration, version),
    AB_RECORD_HERE("host", &host_record),
    AB_CHARS("workload", struct ab_calibration, workload),
    AB_CHARS("tape_sha256", struct ab_calibration, tape_sha256),
    AB_WHOLE("rounds", struct ab_calibration, noise.rounds, ROUNDS_MOST, 0),
    AB_WHOLE("rounds_measured", struct ab_calibration, noise.n_rounds, ROUNDS_MOST, 0),
    AB_ARRAY("noise", struct ab_calibration, noise.entries, noise.n, AB_NOISE_MAX,
             .record = &entry_record),
};
static const struct ab_record record = AB_RECORD_OF(struct ab_calibration, members);

void ab_calibration_write(FILE *to, const struct ab_calibration *c)
{
    ab_json_write(ab_record_json(&record, c, NULL), to, 6);
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
    ab_record_read(&r, &document, &record, &c, NULL);
    ab_json_free(json);
    if (r.status == AB_OK)
        *out = c;
    return r.status;
}
