/* SPDX-License-Identifier: MIT
 *
 * The document of `verify --json`: results/README.md tells its fields.
 */
#include "report/verify_json.h"

#include "report/json_out.h"

#include <jansson.h>

static json_t *line(const struct ab_verify_line *l)
{
    json_t *o = json_object();
    json_t *work = l->is_matrix ? json_null() : json_integer((json_int_t)l->work);
    bool ok = ab_json_put_text(o, "check", l->check) && ab_json_put_text(o, "rule", l->rule) &&
              ab_json_put_text(o, "kind", l->is_matrix ? "matrix" : "gate") &&
              ab_json_put_text(o, "verdict", ab_verify_verdict_name(l->verdict)) &&
              ab_json_put(o, "work", work) &&
              ab_json_put_text(o, "unit", l->unit) &&
              ab_json_put_text(o, l->verdict == AB_VERIFY_TOLD ? "answer" : "reason", l->text);
    if (ok)
        return o;
    json_decref(o);
    return NULL;
}

static json_t *backend(const struct ab_verify_session *v, const struct ab_verify_backend *b)
{
    json_t *o = json_object(), *lines = json_array();
    bool is_verified = b->info->status == AB_BACKEND_OK, ok = true;
    for (uint32_t i = 0; is_verified && i < v->n_lines; i++)
        ok = json_array_append_new(lines, line(&b->lines[i])) == 0 && ok;
    const char *status = is_verified ? ab_verify_status_name(b)
                                     : ab_backend_status_name(b->info->status);
    ok = ab_json_put_text(o, "name", b->info->name) &&
         ab_json_put_text(o, "boundary", b->info->boundary) &&
         ab_json_put_text(o, "version", b->info->version) &&
         ab_json_put_text(o, "path", b->info->path) && ab_json_put_text(o, "status", status) &&
         ab_json_put_text(o, "reason", b->info->reason) &&
         ab_json_put(o, "failed", json_integer((json_int_t)b->n_failed)) &&
         ab_json_put(o, "vacuous", json_integer((json_int_t)b->n_vacuous)) && ok;
    ok = ab_json_put(o, "checks", lines) && ok;
    if (ok)
        return o;
    json_decref(o);
    return NULL;
}

bool ab_verify_json(FILE *to, const struct ab_verify_session *v)
{
    json_t *o = json_object(), *list = json_array();
    bool ok = ab_json_put_text(o, "schema", "allocbench-verify/1") &&
              ab_json_put(o, "seed", json_integer((json_int_t)v->seed)) &&
              ab_json_put_text(o, "work", v->work_name);
    for (uint32_t i = 0; i < v->n_backends; i++)
        ok = json_array_append_new(list, backend(v, &v->backends[i])) == 0 && ok;
    ok = ab_json_put(o, "backends", list) && ok;
    ok = ok && json_dumpf(o, to, JSON_INDENT(2)) == 0 && fputc('\n', to) != EOF;
    json_decref(o);
    return ok;
}
