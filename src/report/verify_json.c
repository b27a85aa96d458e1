/* SPDX-License-Identifier: MIT
 *
 * The document of `verify --json`: results/README.md tells its fields.
 */
#include "core/text.h"
#include "report/verify.h"

#include <jansson.h>

static bool put(json_t *o, const char *key, json_t *value)
{
    return value != NULL && json_object_set_new(o, key, value) == 0;
}

static json_t *text(const char *s)
{
    char printable[3 * 4096];
    if (s == NULL || s[0] == 0)
        return json_null();
    return json_string(ab_text_printable(printable, sizeof printable, s));
}

static json_t *line(const struct ab_verify_line *l)
{
    json_t *o = json_object();
    bool ok = put(o, "check", text(l->check)) && put(o, "rule", text(l->rule)) &&
              put(o, "kind", text(l->is_matrix ? "matrix" : "gate")) &&
              put(o, "verdict", text(ab_verify_verdict_name(l->verdict))) &&
              put(o, "work", l->is_matrix ? json_null() : json_integer((json_int_t)l->work)) &&
              put(o, "unit", text(l->unit)) &&
              put(o, l->verdict == AB_VERIFY_TOLD ? "answer" : "reason", text(l->text));
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
    ok = put(o, "name", text(b->info->name)) && put(o, "boundary", text(b->info->boundary)) &&
         put(o, "version", text(b->info->version)) && put(o, "path", text(b->info->path)) &&
         put(o, "status", text(!is_verified       ? ab_backend_status_name(b->info->status)
                               : b->n_failed == 0 ? "conforming"
                                                  : "nonconforming")) &&
         put(o, "reason", text(b->info->reason)) &&
         put(o, "failed", json_integer((json_int_t)b->n_failed)) && ok;
    ok = put(o, "checks", lines) && ok;
    if (ok)
        return o;
    json_decref(o);
    return NULL;
}

bool ab_verify_json(FILE *to, const struct ab_verify_session *v)
{
    json_t *o = json_object(), *list = json_array();
    bool ok = put(o, "schema", text("allocbench-verify/1")) &&
              put(o, "seed", json_integer((json_int_t)v->seed)) &&
              put(o, "work", text(v->work_name));
    for (uint32_t i = 0; i < v->n_backends; i++)
        ok = json_array_append_new(list, backend(v, &v->backends[i])) == 0 && ok;
    ok = put(o, "backends", list) && ok;
    ok = ok && json_dumpf(o, to, JSON_INDENT(2)) == 0 && fputc('\n', to) != EOF;
    json_decref(o);
    return ok;
}
