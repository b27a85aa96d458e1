/* SPDX-License-Identifier: MIT
 *
 * Lists the names in the tables of all modules.
 */
#include "app/catalogue.h"

#include "allocators/builtin.h"
#include "app/backend_choice.h"
#include "base/bits.h"
#include "core/alloc.h"
#include "core/text.h"
#include "exchange/intake.h"
#include "result/memory_dist.h"
#include "runner/run_checks.h"
#include "stats/metric.h"

#include <stdlib.h>
#include <string.h>

static const char *backend_name(size_t i)
{
    size_t n = ab_preset_count();
    return i < n                        ? ab_preset_at(i)->name
           : i < n + ab_builtin_count() ? ab_builtin_at(i - n)->name
                                        : NULL;
}

const char *ab_catalogue_name(enum ab_names what, size_t i)
{
    switch (what) {
    case AB_NAMES_BACKENDS:
        return backend_name(i);
    case AB_NAMES_SWEEPS:
        return ab_sweep_name(i);
    case AB_NAMES_CHECKS:
        return ab_verify_check_name((uint32_t)i);
    case AB_NAMES_FORMATS:
        return ab_format_at(i) != NULL ? ab_format_at(i)->name : NULL;
    }
    return NULL;
}

bool ab_catalogue_has(enum ab_names what, const char *name)
{
    const char *other;
    for (size_t i = 0; (other = ab_catalogue_name(what, i)) != NULL; i++)
        if (strcmp(other, name) == 0)
            return true;
    return false;
}

/* ---- list of back ends ---- */

/* Returns the text that says when a built-in is measured by default; NULL = never. */
static const char *default_of(const char *name)
{
    for (size_t i = 0; i < ab_default_count(); i++)
        if (strcmp(ab_default_at(i)->name, name) == 0)
            return ab_default_at(i)->rule;
    return NULL;
}

static void add_backend(struct ab_backend_list *list, struct ab_listed_backend e,
                        const char *otherwise)
{
    const char *rule = default_of(e.name);
    if (e.by_default == NULL)
        e.by_default = rule != NULL ? rule : otherwise;
    e.sweep = ab_sweep_rows(e.name, &e.n_sweep);
    list->items[list->n++] = e;
}

static void add_library(struct ab_backend_list *list, const struct ab_preset *p,
                        const struct ab_selection *s)
{
    struct ab_backend_info info = {.name = ""};
    ab_case_describe(s, &info);
    struct ab_listed_backend e = {.name = p->name,
                                  .kind = "library",
                                  .boundary = ab_boundary_names[AB_BOUNDARY_MALLOC],
                                  .status = ab_backend_status_name(info.status),
                                  .found = s,
                                  .preset = p,
                                  .by_default = ab_default_has_library(p) ? "where it is installed"
                                                                          : NULL};
    add_backend(list, e, "in place of another");
}

static void add_builtin(struct ab_backend_list *list, const struct ab_backend *b)
{
    struct ab_listed_backend e = {.name = b->name,
                                  .kind = "builtin",
                                  .boundary = ab_boundary_names[AB_BOUNDARY_HEAP],
                                  .status = ab_backend_status_name(AB_BACKEND_OK),
                                  .builtin = b};
    add_backend(list, e, "never");
}

enum ab_status ab_backends_list(ab_take_backends *take, void *user, struct ab_err *err)
{
    size_t n = ab_preset_count(), n_builtins = ab_builtin_count();
    struct ab_selection_list *found = ab_alloc_zeroed(n, sizeof found[0]);
    struct ab_backend_list list = {.items = ab_alloc_zeroed(n + n_builtins, sizeof list.items[0]),
                                   .defaults = ab_default_at(0),
                                   .n_defaults = ab_default_count()};
    enum ab_status status = AB_OK;
    for (size_t i = 0; i < n && status == AB_OK; i++) {
        status = ab_selection_parse(&ab_preset_at(i)->name, 1, NULL, &found[i], err);
        if (status == AB_OK)
            add_library(&list, ab_preset_at(i), &found[i].items[0]);
    }
    for (size_t i = 0; i < n_builtins; i++)
        add_builtin(&list, ab_builtin_at(i));
    if (status == AB_OK)
        status = take(user, &list, err);
    for (size_t i = 0; i < n; i++)
        ab_selection_list_fini(&found[i]);
    free(found);
    free(list.items);
    return status;
}

/* ---- metrics ---- */

static struct ab_listed_metric *add_metric(struct ab_metric_list *list, struct ab_listed_metric m)
{
    AB_GROW(list->items, list->cap, list->n);
    list->items[list->n] = m;
    return &list->items[list->n++];
}

static void add_fields(struct ab_metric_list *list)
{
    static const char *const forms[AB_FIELD_GROUP_COUNT] = {
        [AB_FIELD_EACH] = "PHASE/OP/",       [AB_FIELD_QUANTILE] = "PHASE/OP/",
        [AB_FIELD_TAIL] = "PHASE/OP/",       [AB_FIELD_ALL] = "PHASE/all/",
        [AB_FIELD_PROGRAM] = "program/all/", [AB_FIELD_INSIDE] = "program/OP/",
    };
    for (size_t i = 0; i < ab_field_count; i++) {
        const struct ab_field *f = &ab_fields[i];
        const char *group = f->group == AB_FIELD_PROGRAM || f->group == AB_FIELD_INSIDE
                                ? "program"
                                : "time and ops";
        struct ab_listed_metric *m = add_metric(
            list, (struct ab_listed_metric){group, f->name, f->unit, f->doc, f->better, ""});
        AB_FIT(m->gate, "%s%s", forms[f->group], f->name);
    }
}

/* Adds the metrics of a kind. Gates may omit parts of the names of these metrics. */
static void add_kind(struct ab_metric_list *list, const struct ab_metric_kind *kind)
{
    for (size_t i = 0; i < kind->n; i++) {
        const struct ab_number_field *f = &kind->fields[i];
        const char *optional = kind->optional[false];
        const char *cut = optional != NULL ? strstr(f->name, optional) : NULL;
        int n = cut != NULL ? (int)(cut - f->name) : (int)strlen(f->name);
        struct ab_listed_metric *m = add_metric(
            list, (struct ab_listed_metric){kind->title, f->name, f->unit, f->doc, f->better, ""});
        AB_FIT(m->gate, "PHASE/%s/%.*s%s", kind->place != NULL ? kind->place : "ITERATION", n,
               f->name, cut != NULL ? cut + strlen(optional) : "");
    }
}

void ab_metrics_list(struct ab_metric_list *list)
{
    add_fields(list);
    for (size_t i = 0; i < ab_metric_kind_count; i++)
        if (ab_metric_kinds[i].title != NULL)
            add_kind(list, &ab_metric_kinds[i]);
}

/* ---- words that a gate may have ---- */

struct words {
    ab_take_word *take;
    void *user;
};

static bool is_op(const char *op, size_t n)
{
    for (unsigned k = 0; k <= AB_OP_ALL; k++)
        if (strlen(ab_result_op_name(k)) == n && strncmp(op, ab_result_op_name(k), n) == 0)
            return true;
    return false;
}

static void take_ops(const struct words *o)
{
    for (unsigned op = 0; op <= AB_OP_ALL; op++)
        o->take(o->user, ab_result_op_name(op), "/");
    o->take(o->user, "memory", "/");
    for (size_t k = 0; k < ab_metric_kind_count; k++)
        if (ab_metric_kinds[k].place != NULL && !ab_metric_kinds[k].is_of_memory)
            o->take(o->user, ab_metric_kinds[k].place, "/");
}

static bool is_memory_op(const char *op, size_t n)
{
    for (unsigned at = 0; at < AB_AT_COUNT; at++)
        if (strlen(ab_memory_at_names[at]) == n && strncmp(op, ab_memory_at_names[at], n) == 0)
            return true;
    return n == strlen("memory") && strncmp(op, "memory", n) == 0;
}

static void take_results(const struct words *o, bool is_all)
{
    for (size_t i = 0; i < ab_field_count; i++)
        if (is_all ||
            (ab_fields[i].group != AB_FIELD_ALL && ab_fields[i].group != AB_FIELD_PROGRAM))
            o->take(o->user, ab_fields[i].name, "");
}

/* Passes to `take` the fields that may follow the word `op` in a gate. A word that is not an op is
 * the name of a phase's iterations. */
static void take_numbers(const struct words *o, const char *op, size_t n)
{
    bool is_any = false;
    for (size_t k = 0; k <= ab_metric_kind_count; k++) {
        const struct ab_metric_kind *kind =
            &ab_metric_kinds[k < ab_metric_kind_count ? k : AB_METRIC_ITERATION];
        bool follows = k == ab_metric_kind_count ? !is_any
                       : kind->place == NULL     ? false
                       : kind->is_of_memory
                           ? is_memory_op(op, n)
                           : strlen(kind->place) == n && strncmp(op, kind->place, n) == 0;
        is_any = is_any || follows;
        for (size_t i = 0; follows && i < kind->n; i++)
            o->take(o->user, kind->fields[i].name, "");
    }
}

void ab_gate_words(const char *op, size_t n, ab_take_word *take, void *user)
{
    const struct words words = {take, user};
    if (op == NULL)
        take_ops(&words);
    else if (is_op(op, n))
        take_results(&words, n == 3 && strncmp(op, "all", 3) == 0);
    else
        take_numbers(&words, op, n);
}
