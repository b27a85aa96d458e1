/* SPDX-License-Identifier: MIT
 *
 * All numbers that are measured, out of the tables of metrics: unit, which direction is good, and
 * how a gate names them.
 */
#include "cli/list/list_metrics.h"

#include "cli/list/list_output.h"
#include "report/json.h"
#include "result/memory_dist.h"
#include "result/result_fields.h"
#include "stats/metric.h"
#include "stats/metric/metric_dist.h"
#include "stats/metric/metric_iterations.h"

#include <stdio.h>
#include <string.h>

enum { DOC_COLUMN = 6 };

struct metric { /* one row */
    const char *group, *name, *unit, *doc;
    enum ab_field_better better;
    char gate[96];
};

typedef void visit(void *user, const struct metric *m);

static const char *better_name(enum ab_field_better better)
{
    static const char *const names[] = {
        [AB_FIELD_LOWER] = "lower", [AB_FIELD_HIGHER] = "higher", [AB_FIELD_NEITHER] = ""};
    return names[better];
}

static void walk_fields(visit *f, void *user)
{
    static const char *const forms[AB_FIELD_GROUP_COUNT] = {
        [AB_FIELD_EACH] = "PHASE/OP/",       [AB_FIELD_QUANTILE] = "PHASE/OP/",
        [AB_FIELD_TAIL] = "PHASE/OP/",       [AB_FIELD_ALL] = "PHASE/all/",
        [AB_FIELD_PROGRAM] = "program/all/",
    };
    for (size_t i = 0; i < ab_field_count; i++) {
        const struct ab_field *field = &ab_fields[i];
        struct metric m = {field->group == AB_FIELD_PROGRAM ? "program" : "time and ops",
                           field->name,
                           field->unit,
                           field->doc,
                           field->better,
                           ""};
        snprintf(m.gate, sizeof m.gate, "%s%s", forms[field->group], field->name);
        f(user, &m);
    }
}

/* A gate may leave "_bytes" out, and "_ratio" of percentiles over the ops. */
static void visit_memory(visit *f, void *user, const struct ab_memory_field *field,
                         const char *place, const char *optional, const char *group)
{
    const char *cut = strstr(field->name, optional);
    int n = cut != NULL ? (int)(cut - field->name) : (int)strlen(field->name);
    struct metric m = {group, field->name, field->unit, field->doc, field->better, ""};
    snprintf(m.gate, sizeof m.gate, "PHASE/%s/%.*s%s", place, n, field->name,
             cut != NULL ? cut + strlen(optional) : "");
    f(user, &m);
}

static void walk_iterations(visit *f, void *user)
{
    for (size_t i = 0; i < AB_ITERATION_FIELDS; i++) {
        const struct ab_iteration_field *field = &ab_iteration_fields[i];
        struct metric m = {"time in the allocator per iteration",
                           field->name,
                           field->unit,
                           field->doc,
                           AB_FIELD_LOWER,
                           ""};
        snprintf(m.gate, sizeof m.gate, "PHASE/ITERATION/%s", field->name);
        f(user, &m);
    }
}

static void walk(visit *f, void *user)
{
    walk_fields(f, user);
    walk_iterations(f, user);
    for (size_t i = 0; i < ab_memory_field_count; i++)
        visit_memory(f, user, &ab_memory_fields[i], "memory", "_bytes", "memory");
    for (size_t i = 0; i < AB_DRAIN_COUNT; i++)
        visit_memory(f, user, &ab_drain_fields[i], "end", "_bytes", "memory after the last phase");
    for (size_t i = 0; i < AB_DIST_FIELDS; i++)
        visit_memory(f, user, &ab_dist_fields[i], "memory", "_ratio",
                     "memory over the ops of a phase");
}

struct printing {
    const char *group;
    bool is_verbose;
};

static void print_metric(void *user, const struct metric *m)
{
    struct printing *p = user;
    if (p->group == NULL || strcmp(p->group, m->group) != 0)
        printf("%s%s\n", p->group != NULL ? "\n" : "", m->group);
    p->group = m->group;
    printf("  %-41s %-14s %s\n", m->gate, m->unit, better_name(m->better));
    if (p->is_verbose)
        ab_list_print_entry("", DOC_COLUMN, m->doc);
}

struct document {
    struct ab_json w;
    json_t *items;
};

static void add_metric(void *user, const struct metric *m)
{
    struct document *d = user;
    json_t *o = json_object();
    ab_json_put(&d->w, o, "name", ab_json_string(m->name));
    ab_json_put(&d->w, o, "group", ab_json_string(m->group));
    ab_json_put(&d->w, o, "unit", ab_json_string(m->unit));
    ab_json_put(&d->w, o, "better", ab_json_string(better_name(m->better)));
    ab_json_put(&d->w, o, "gate", ab_json_string(m->gate));
    ab_json_put(&d->w, o, "meaning", ab_json_string(m->doc));
    ab_json_append(&d->w, d->items, o);
}

enum ab_status ab_list_metrics(const struct ab_options *o, struct ab_err *err)
{
    struct printing printing = {.is_verbose = o->is_verbose};
    struct document d = {.items = json_array()};
    if (o->json == NULL || strcmp(o->json, "-") != 0) {
        printf("  %-41s %-14s %s\n", "as a gate names it", "unit", "better is");
        walk(print_metric, &printing);
        puts("\nPHASE: a measured phase, or *. OP: alloc, alloc_zeroed, alloc_aligned, resize,\n"
             "free, reset, access, all. ITERATION: the name in 'each', or scope of a replay\n"
             "with --each. allocbench run my.yaml --gate 'serve/alloc/p99 < 2us'");
    }
    if (o->json == NULL) {
        json_decref(d.items);
        return AB_OK;
    }
    walk(add_metric, &d);
    json_t *document = json_object();
    ab_json_put(&d.w, document, "schema", ab_json_string("allocbench-metrics/1"));
    ab_json_put(&d.w, document, "metrics", d.items);
    return ab_list_write(o->json, document, d.w.is_short_of_memory, err);
}
