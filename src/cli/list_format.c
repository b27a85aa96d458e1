/* SPDX-License-Identifier: MIT
 *
 * How `list backends` spells hooks, parameters and their ranges, and its JSON document.
 */
#include "cli/list_format.h"

#include "allocators/builtin.h"
#include "backend/presets.h"
#include "base/bits.h"
#include "cli/benchmark/cases.h"
#include "report/json_out.h"

#include <jansson.h>
#include <string.h>

static const struct ab_hook hooks[] = {
    {"alloc_zeroed", offsetof(struct ab_backend, alloc_zeroed)},
    {"alloc_aligned", offsetof(struct ab_backend, alloc_aligned)},
    {"resize", offsetof(struct ab_backend, resize)},
    {"free", offsetof(struct ab_backend, free)},
    {"reset", offsetof(struct ab_backend, reset)},
    {"usable_size", offsetof(struct ab_backend, usable_size)},
    {"purge", offsetof(struct ab_backend, purge)},
    {"stats", offsetof(struct ab_backend, stats)},
};

const struct ab_trait_words ab_list_traits[] = {
    {AB_TRAIT_THREAD_SAFE, "thread_safe", "multithreaded"},
    {AB_TRAIT_FIXED_SIZE, "fixed_size", "one block size only"},
    {AB_TRAIT_MOVES, "moves", "blocks may move (handles)"},
    {AB_TRAIT_REMOTE_FREE, "remote_free", "cross-thread frees"},
    {AB_TRAIT_NO_FREE, "never_frees", "frees only on reset"},
    {AB_TRAIT_DETECTS_MISUSE, "detects_misuse", "detects invalid frees"},
    {AB_TRAIT_REPEATABLE, "repeatable", "repeatable"},
    {AB_TRAIT_WEARS, "wears", "slots retire after N reuses"},
    {0, NULL, NULL},
};

const struct ab_hook *ab_list_hook(size_t i)
{
    return i < AB_ARRAY_LEN(hooks) ? &hooks[i] : NULL;
}

bool ab_list_has_hook(const struct ab_backend *b, const struct ab_hook *hook)
{
    void (*f)(void);
    memcpy(&f, (const char *)b + hook->offset, sizeof f);
    return f != NULL;
}

static const char *spell_bytes(char *buf, size_t cap, uint64_t bytes)
{
    static const char *const units[] = {"", "KiB", "MiB", "GiB", "TiB"};
    size_t u = 0;
    while (bytes > 0 && bytes % 1024 == 0 && u + 1 < AB_ARRAY_LEN(units)) {
        bytes /= 1024;
        u++;
    }
    snprintf(buf, cap, "%llu%s", (unsigned long long)bytes, units[u]);
    return buf;
}

const char *ab_list_value(char *buf, size_t cap, const struct ab_param *p, uint64_t value)
{
    switch (p->type) {
    case AB_PARAM_BYTES:
        return spell_bytes(buf, cap, value);
    case AB_PARAM_BOOL:
        snprintf(buf, cap, "%s", value != 0 ? "on" : "off");
        break;
    case AB_PARAM_CHOICE:
        snprintf(buf, cap, "%s", p->choices[value]);
        break;
    case AB_PARAM_COUNT:
        snprintf(buf, cap, "%llu", (unsigned long long)value);
        break;
    }
    return buf;
}

const char *ab_list_allowed(char *buf, size_t cap, const struct ab_param *p)
{
    char least[32], most[32];
    size_t used = 0;
    snprintf(buf, cap, "on, off");
    for (size_t i = 0; p->type == AB_PARAM_CHOICE && p->choices[i] != NULL && used < cap; i++)
        used += (size_t)snprintf(buf + used, cap - used, "%s%s", i > 0 ? ", " : "", p->choices[i]);
    if (p->type == AB_PARAM_BYTES || p->type == AB_PARAM_COUNT)
        snprintf(buf, cap, "%s to %s", ab_list_value(least, sizeof least, p, p->min),
                 ab_list_value(most, sizeof most, p, p->max));
    return buf;
}

/* ---- the document; a member that fails to be made makes the whole fail ---- */

static json_t *whole(uint64_t n)
{
    return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

static json_t *library(const struct ab_preset *p, const struct ab_selection *s)
{
    json_t *o = json_object();
    bool ok = ab_json_put_text(o, "name", p->name) && ab_json_put_text(o, "kind", "library") &&
              ab_json_put_text(o, "boundary", ab_boundary_names[AB_BOUNDARY_MALLOC]) &&
               ab_json_put_text(o, "status", ab_backend_status_name(ab_case_status(s))) &&
              ab_json_put_text(o, "reason", s->reason) &&
               ab_json_put_text(o, "version", s->version) &&
              ab_json_put_text(o, "path", s->path) &&
               ab_json_put_text(o, "build_id", s->build_id) &&
              ab_json_put_text(o, "package", p->package) &&
               ab_json_put_text(o, "summary", p->summary);
    if (ok)
        return o;
    json_decref(o);
    return NULL;
}

static json_t *param(const struct ab_param *p)
{
    static const char *const types[] = {"bytes", "count", "bool", "choice"};
    bool is_number = p->type == AB_PARAM_BYTES || p->type == AB_PARAM_COUNT, ok = true;
    char def[64];
    json_t *o = json_object(), *choices = json_array();
    for (size_t i = 0; p->type == AB_PARAM_CHOICE && p->choices[i] != NULL; i++)
        ok = json_array_append_new(choices, ab_json_printable(p->choices[i])) == 0 && ok;
    ok = ab_json_put_text(o, "name", p->name) && ab_json_put_text(o, "type", types[p->type]) &&
         ab_json_put_text(o, "default", ab_list_value(def, sizeof def, p, p->def)) &&
         ab_json_put(o, "min", is_number ? whole(p->min) : json_null()) &&
         ab_json_put(o, "max", is_number ? whole(p->max) : json_null()) && ok;
    ok = ab_json_put(o, "choices", choices) && ab_json_put_text(o, "help", p->help) && ok;
    if (ok)
        return o;
    json_decref(o);
    return NULL;
}

static bool put_traits(json_t *o, const struct ab_backend *b)
{
    json_t *list = json_array();
    bool ok = true;
    for (const struct ab_trait_words *t = ab_list_traits; t->name != NULL; t++)
        if ((b->traits & t->trait) != 0)
            ok = json_array_append_new(list, ab_json_printable(t->name)) == 0 && ok;
    return ab_json_put(o, "traits", list) && ok;
}

static bool put_hooks(json_t *o, const struct ab_backend *b)
{
    json_t *list = json_array();
    bool ok = json_array_append_new(list, ab_json_printable("alloc")) == 0;
    for (size_t i = 0; i < AB_ARRAY_LEN(hooks); i++)
        if (ab_list_has_hook(b, &hooks[i]))
            ok = json_array_append_new(list, ab_json_printable(hooks[i].name)) == 0 && ok;
    return ab_json_put(o, "hooks", list) && ok;
}

static json_t *builtin(const struct ab_backend *b)
{
    json_t *o = json_object(), *params = json_array();
    bool ok = ab_json_put_text(o, "name", b->name) && ab_json_put_text(o, "kind", "builtin") &&
              ab_json_put_text(o, "boundary", ab_boundary_names[AB_BOUNDARY_HEAP]) &&
              ab_json_put_text(o, "status", ab_backend_status_names[AB_BACKEND_OK]) &&
              ab_json_put_text(o, "summary", b->summary) && put_traits(o, b) && put_hooks(o, b);
    for (size_t i = 0; i < b->n_params; i++)
        ok = json_array_append_new(params, param(&b->params[i])) == 0 && ok;
    ok = ab_json_put(o, "params", params) && ok;
    if (ok)
        return o;
    json_decref(o);
    return NULL;
}

bool ab_list_json(FILE *to, const struct ab_listing *listing)
{
    json_t *o = json_object(), *list = json_array();
    bool ok = ab_json_put_text(o, "schema", "allocbench-backends/1");
    for (size_t i = 0; i < ab_preset_count(); i++)
        ok = json_array_append_new(list, library(ab_preset_at(i), &listing->presets[i].items[0])) ==
                 0 && ok;
    for (size_t i = 0; i < ab_builtin_count(); i++)
        ok = json_array_append_new(list, builtin(ab_builtin_at(i))) == 0 && ok;
    ok = ab_json_put(o, "backends", list) && ok;
    if (ok) /* what cannot be written, the stream remembers */
        ok = (json_dumpf(o, to, JSON_INDENT(2)) == 0 && fputc('\n', to) != EOF) || ferror(to);
    json_decref(o);
    return ok;
}
