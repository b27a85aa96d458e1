/* SPDX-License-Identifier: MIT
 *
 * How `list backends` spells hooks, parameters and their ranges, and its JSON document.
 */
#include "cli/list_backends_json.h"

#include "allocators/builtin.h"
#include "app/backend_choice.h"
#include "backend/defaults.h"
#include "backend/presets.h"
#include "backend/sweep.h"
#include "base/bits.h"
#include "core/units_show.h"
#include "report/json.h"

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

const char *ab_list_value(char *buf, size_t cap, const struct ab_param *p, uint64_t value)
{
    switch (p->type) {
    case AB_PARAM_BYTES:
        return ab_units_exact(buf, cap, value, "");
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

/* ---- the document ---- */

static json_t *whole(uint64_t n)
{
    return ab_json_integer(n > INT64_MAX ? INT64_MAX : n);
}

/* Is it measured where none is named, and what --sweep makes of it? */
static void put_choice(json_t *o, const char *name, const char *by_default)
{
    size_t n;
    const struct ab_sweep_row *rows = ab_sweep_rows(name, &n);
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *row = json_object();
        ab_json_put(row, "backend", ab_json_string(rows[i].spelling));
        ab_json_put(row, "says", ab_json_string(rows[i].says));
        ab_json_append(list, row);
    }
    ab_json_put(o, "default", ab_json_string(by_default));
    ab_json_put(o, "sweep", list);
}

/* NULL = it is in no rule. */
static const char *default_of(const char *name)
{
    for (size_t i = 0; i < ab_default_count(); i++)
        if (strcmp(ab_default_at(i)->name, name) == 0)
            return ab_default_at(i)->rule;
    return NULL;
}

static json_t *library(const struct ab_preset *p, const struct ab_selection *s)
{
    json_t *o = json_object();
    ab_json_put(o, "name", ab_json_string(p->name));
    ab_json_put(o, "kind", ab_json_string("library"));
    ab_json_put(o, "boundary", ab_json_string(ab_boundary_names[AB_BOUNDARY_MALLOC]));
    ab_json_put(o, "status", ab_json_string(ab_backend_status_name(ab_case_status(s))));
    ab_json_put(o, "reason", ab_json_string(s->reason));
    ab_json_put(o, "version", ab_json_string(s->version));
    ab_json_put(o, "path", ab_json_string(s->path));
    ab_json_put(o, "build_id", ab_json_string(s->build_id));
    ab_json_put(o, "package", ab_json_string(p->package));
    ab_json_put(o, "summary", ab_json_string(p->summary));
    const char *own = default_of(p->name);
    put_choice(o, p->name,
               ab_default_has_library(p) ? "where it is installed"
               : own != NULL             ? own
                                         : "in place of another");
    return o;
}

static json_t *param(const struct ab_param *p)
{
    static const char *const types[] = {"bytes", "count", "bool", "choice"};
    bool is_number = p->type == AB_PARAM_BYTES || p->type == AB_PARAM_COUNT;
    char def[64];
    json_t *o = json_object(), *choices = json_array();
    for (size_t i = 0; p->type == AB_PARAM_CHOICE && p->choices[i] != NULL; i++)
        ab_json_append(choices, ab_json_string(p->choices[i]));
    ab_json_put(o, "name", ab_json_string(p->name));
    ab_json_put(o, "type", ab_json_string(types[p->type]));
    ab_json_put(o, "default", ab_json_string(ab_list_value(def, sizeof def, p, p->def)));
    ab_json_put(o, "min", is_number ? whole(p->min) : json_null());
    ab_json_put(o, "max", is_number ? whole(p->max) : json_null());
    ab_json_put(o, "choices", choices);
    ab_json_put(o, "help", ab_json_string(p->help));
    return o;
}

static json_t *builtin(const struct ab_backend *b)
{
    json_t *o = json_object(), *params = json_array(), *traits = json_array();
    json_t *served = json_array();
    ab_json_append(served, ab_json_string("alloc"));
    for (size_t i = 0; i < AB_ARRAY_LEN(hooks); i++)
        if (ab_list_has_hook(b, &hooks[i]))
            ab_json_append(served, ab_json_string(hooks[i].name));
    for (const struct ab_trait_words *t = ab_list_traits; t->name != NULL; t++)
        if ((b->traits & t->trait) != 0)
            ab_json_append(traits, ab_json_string(t->name));
    for (size_t i = 0; i < b->n_params; i++)
        ab_json_append(params, param(&b->params[i]));
    ab_json_put(o, "name", ab_json_string(b->name));
    ab_json_put(o, "kind", ab_json_string("builtin"));
    ab_json_put(o, "boundary", ab_json_string(ab_boundary_names[AB_BOUNDARY_HEAP]));
    ab_json_put(o, "status", ab_json_string(ab_backend_status_name(AB_BACKEND_OK)));
    ab_json_put(o, "summary", ab_json_string(b->summary));
    ab_json_put(o, "traits", traits);
    ab_json_put(o, "hooks", served);
    ab_json_put(o, "params", params);
    const char *by_default = default_of(b->name);
    put_choice(o, b->name, by_default != NULL ? by_default : "never");
    return o;
}

void ab_list_json(FILE *to, const struct ab_listing *listing)
{
    json_t *o = json_object(), *list = json_array();
    ab_json_put(o, "schema", ab_json_string("allocbench-backends/1"));
    for (size_t i = 0; i < ab_preset_count(); i++)
        ab_json_append(list, library(ab_preset_at(i), &listing->presets[i].items[0]));
    for (size_t i = 0; i < ab_builtin_count(); i++)
        ab_json_append(list, builtin(ab_builtin_at(i)));
    ab_json_put(o, "backends", list);
    ab_json_write(o, to, 0);
}
