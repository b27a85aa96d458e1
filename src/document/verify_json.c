/* SPDX-License-Identifier: MIT
 *
 * Writes the document of `verify --json`; results/keys.csv describes its fields.
 */
#include "document/verify_json.h"

#include "document/record_table.h"

static const struct ab_member crash_members[] = {
    AB_CHARS("call", struct ab_crash_text, call),
    AB_CHARS("memory", struct ab_crash_text, memory),
    AB_CHARS("function", struct ab_crash_text, function),
};
AB_TABLE(crash, struct ab_crash_text);

static const char *const kinds[] = {"required", "info"};

static bool is_required(const void *line, const void *context)
{
    (void)context;
    return !((const struct ab_verify_line *)line)->is_info;
}

static json_t *write_text(const struct ab_writing *x)
{
    const struct ab_verify_line *l = x->record;
    const char *key = l->verdict == AB_VERIFY_INFO ? "answer" : "reason";
    ab_json_put(x->o, key, ab_json_string(l->text));
    return NULL;
}

static const struct ab_member line_members[] = {
    AB_TEXT("check", struct ab_verify_line, check),
    AB_TEXT("rule", struct ab_verify_line, rule),
    AB_NAME("kind", struct ab_verify_line, is_info, 2, .names = kinds),
    AB_NAME("verdict", struct ab_verify_line, verdict, 0, .name = ab_verify_verdict_name),
    AB_WHOLE("work", struct ab_verify_line, work, INT64_MAX, 0, .has = is_required),
    AB_TEXT("unit", struct ab_verify_line, unit),
    {.type = AB_IS_RULE, .write = write_text},
    AB_MEMBER(PART, NULL, struct ab_verify_line, crash, .record = &crash_record),
    AB_TEXT("repeat", struct ab_verify_line, repeat),
};
AB_TABLE(line, struct ab_verify_line);

static json_t *write_status(const struct ab_writing *x)
{
    const struct ab_verify_backend *b = x->record;
    return ab_json_string(b->info->status == AB_BACKEND_OK
                              ? ab_verify_status_name(b)
                              : ab_backend_status_name(b->info->status));
}

/* Writes no checks for a back end that could not be verified. */
static json_t *write_checks(const struct ab_writing *x)
{
    const struct ab_verify_session *v = x->context;
    const struct ab_verify_backend *b = x->record;
    json_t *list = json_array();
    for (uint32_t i = 0; b->info->status == AB_BACKEND_OK && i < v->n_lines; i++)
        ab_json_append(list, ab_record_json(&line_record, &b->lines[i], v));
    return list;
}

static const struct ab_member info_members[] = {
    AB_CHARS("name", struct ab_backend_info, name),
    AB_TEXT("boundary", struct ab_backend_info, boundary),
    AB_CHARS("version", struct ab_backend_info, version),
    AB_CHARS("path", struct ab_backend_info, path),
};
AB_TABLE(info, struct ab_backend_info);

static json_t *write_reason(const struct ab_writing *x)
{
    return ab_json_string(((const struct ab_verify_backend *)x->record)->info->reason);
}

static const struct ab_member backend_members[] = {
    AB_MEMBER(PART, NULL, struct ab_verify_backend, info, .record = &info_record,
              .flags = AB_POINTER),
    {.key = "status", .type = AB_IS_RULE, .write = write_status},
    {.key = "reason", .type = AB_IS_RULE, .write = write_reason},
    AB_WHOLE("failed", struct ab_verify_backend, n_failed, UINT32_MAX, 0),
    AB_WHOLE("not_proven", struct ab_verify_backend, n_not_proven, UINT32_MAX, 0),
    AB_MEMBER(PART, NULL, struct ab_verify_backend, crash, .record = &crash_record),
    AB_TEXT("repeat", struct ab_verify_backend, repeat),
    {.key = "checks", .type = AB_IS_RULE, .write = write_checks},
};
AB_TABLE(backend, struct ab_verify_backend);

static const struct ab_member members[] = {
    AB_FIXED("schema", "allocbench-verify/1"),
    AB_WHOLE("seed", struct ab_verify_session, seed, INT64_MAX, 0),
    AB_TEXT("work", struct ab_verify_session, work_name),
    AB_LIST("backends", struct ab_verify_session, backends, n_backends, UINT32_MAX,
            .record = &backend_record),
};
static const struct ab_record record = AB_RECORD_OF(struct ab_verify_session, members);

void ab_verify_json(FILE *to, const struct ab_verify_session *v)
{
    ab_json_write(ab_record_json(&record, v, v), to, 0);
}
