/* SPDX-License-Identifier: MIT
 *
 * The document of `verify --json`: results/README.md tells its fields.
 */
#include "report/verify_json.h"

#include "report/json.h"

static json_t *known(const char *text)
{
    return ab_json_string(text != NULL && text[0] != 0 ? text : NULL);
}

static void put_crash(json_t *o, const struct ab_crash_text *c, const char *repeat)
{
    ab_json_put(o, "call", known(c->call));
    ab_json_put(o, "memory", known(c->memory));
    ab_json_put(o, "function", known(c->function));
    ab_json_put(o, "repeat", known(repeat));
}

static json_t *line(const struct ab_verify_line *l)
{
    json_t *o = json_object();
    ab_json_put(o, "check", ab_json_string(l->check));
    ab_json_put(o, "rule", ab_json_string(l->rule));
    ab_json_put(o, "kind", ab_json_string(l->is_info ? "info" : "required"));
    ab_json_put(o, "verdict", ab_json_string(ab_verify_verdict_name(l->verdict)));
    ab_json_put(o, "work", l->is_info ? json_null() : ab_json_integer(l->work));
    ab_json_put(o, "unit", ab_json_string(l->unit));
    ab_json_put(o, l->verdict == AB_VERIFY_INFO ? "answer" : "reason", ab_json_string(l->text));
    put_crash(o, &l->crash, l->repeat);
    return o;
}

static json_t *backend(const struct ab_verify_session *v, const struct ab_verify_backend *b)
{
    json_t *o = json_object(), *lines = json_array();
    bool is_verified = b->info->status == AB_BACKEND_OK;
    for (uint32_t i = 0; is_verified && i < v->n_lines; i++)
        ab_json_append(lines, line(&b->lines[i]));
    ab_json_put(o, "name", ab_json_string(b->info->name));
    ab_json_put(o, "boundary", ab_json_string(b->info->boundary));
    ab_json_put(o, "version", ab_json_string(b->info->version));
    ab_json_put(o, "path", ab_json_string(b->info->path));
    ab_json_put(o, "status",
                ab_json_string(is_verified ? ab_verify_status_name(b)
                                           : ab_backend_status_name(b->info->status)));
    ab_json_put(o, "reason", ab_json_string(b->info->reason));
    ab_json_put(o, "failed", ab_json_integer(b->n_failed));
    ab_json_put(o, "not_proven", ab_json_integer(b->n_not_proven));
    put_crash(o, &b->crash, b->repeat);
    ab_json_put(o, "checks", lines);
    return o;
}

void ab_verify_json(FILE *to, const struct ab_verify_session *v)
{
    json_t *o = json_object(), *list = json_array();
    ab_json_put(o, "schema", ab_json_string("allocbench-verify/1"));
    ab_json_put(o, "seed", ab_json_integer(v->seed));
    ab_json_put(o, "work", ab_json_string(v->work_name));
    for (uint32_t i = 0; i < v->n_backends; i++)
        ab_json_append(list, backend(v, &v->backends[i]));
    ab_json_put(o, "backends", list);
    ab_json_write(o, to, 0);
}
