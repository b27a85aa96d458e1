/* SPDX-License-Identifier: MIT
 *
 * `list`: chooses the topic, or says which there are.
 */
#include "cli/cmd_list.h"
#include "allocators/builtin.h"
#include "app/named_workload.h"
#include "app/options.h"
#include "backend/defaults.h"
#include "backend/presets.h"
#include "backend/sweep.h"
#include "base/bits.h"
#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/list_backends_json.h"
#include "core/status.h"
#include "core/text.h"
#include "report/json.h"
#include "report/output.h"
#include "report/table/table.h"
#include "result/memory_dist.h"
#include "result/result_fields.h"
#include "stats/metric.h"
#include "stats/metric_dist.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lists what -b can name here. Nothing is loaded: versions are those of packages and paths, and a
 * missing one is shown as such. */

enum { NAME_WIDTH = 16 };

/* A further line about the back end above. */
static void print_label(const char *label)
{
    printf("  %-*s %-8s ", NAME_WIDTH, "", label);
}

/* Prints the rows that --sweep makes of it. */
static void print_sweep(const char *name)
{
    size_t n;
    const struct ab_sweep_row *rows = ab_sweep_rows(name, &n);
    for (size_t i = 1; i < n; i++) {
        print_label(i == 1 ? "sweep" : "");
        printf("%s: %s\n", rows[i].settings, rows[i].says);
    }
}

static void print_library(const struct ab_preset *p, const struct ab_selection *s, bool is_verbose)
{
    char path[4096 + 64];
    ab_text_printable(path, sizeof path, s->path);
    printf("  %-*s ", NAME_WIDTH, p->name);
    if (s->state == AB_SELECTION_ABSENT)
        printf("%-19s package %s\n", "absent", p->package);
    else if (s->state != AB_SELECTION_OK)
        printf("%-19s %s %s\n", "wrong library", path, s->reason);
    else
        printf("%-19s %s\n", s->version[0] != 0 ? s->version : "version unknown",
               path[0] != 0 ? path : "built into libc");
    if (!is_verbose)
        return;
    print_label("is");
    printf("%s\n", p->summary);
    print_label("package");
    printf("%s\n", p->package);
    if (s->build_id[0] != 0) {
        print_label("build id");
        printf("%s\n", s->build_id);
    }
    print_label("settings");
    printf("'%s{VARIABLE=VALUE;…}'\n", p->name);
    print_sweep(p->name);
}

static void print_traits(const struct ab_backend *b)
{
    const char *between = "";
    print_label("traits");
    if ((b->traits & AB_TRAIT_THREAD_SAFE) == 0) {
        printf("%s", b->thread_enter != NULL ? "one heap per thread" : "single-threaded");
        between = ", ";
    }
    for (const struct ab_trait_words *t = ab_list_traits; t->name != NULL; t++)
        if ((b->traits & t->trait) != 0) {
            printf("%s%s", between, t->text);
            between = ", ";
        }
    putchar('\n');
}

static void print_missing(const struct ab_backend *b)
{
    const struct ab_hook *hook;
    bool is_whole = true;
    for (size_t i = 0; (hook = ab_list_hook(i)) != NULL; i++) {
        if (ab_list_has_hook(b, hook))
            continue;
        if (is_whole)
            print_label("without");
        printf("%s%s", is_whole ? "" : ", ", hook->name);
        is_whole = false;
    }
    if (!is_whole)
        putchar('\n');
}

static void print_params(const struct ab_backend *b)
{
    char def[32], allowed[128];
    for (size_t i = 0; i < b->n_params; i++) {
        const struct ab_param *p = &b->params[i];
        print_label(i == 0 ? "settings" : "");
        printf(":%s=%s (%s) %s\n", p->name, ab_list_value(def, sizeof def, p, p->def),
               ab_list_allowed(allowed, sizeof allowed, p), p->help);
    }
}

/* The rule for those that are measured where none is named. */
static void print_default(void)
{
    char text[1024];
    puts("\nwithout -b (and without a list in the workload)");
    puts("  each installed library; tcmalloc_minimal only where there is no other tcmalloc");
    for (size_t i = 0; i < ab_default_count(); i++) {
        const struct ab_default *d = ab_default_at(i);
        snprintf(text, sizeof text, "  %s: %s%s", d->name, d->is_suited != NULL ? "where " : "",
                 d->rule);
        ab_table_prose(stdout, (struct ab_table_style){.width = 80}, AB_PLAIN, text);
    }
}

static void print_all(const struct ab_listing *l, bool is_verbose)
{
    puts("libraries (malloc boundary)");
    for (size_t i = 0; i < ab_preset_count(); i++)
        print_library(ab_preset_at(i), &l->presets[i].items[0], is_verbose);
    puts("\nbuilt in (heap boundary)");
    for (size_t i = 0; i < ab_builtin_count(); i++) {
        const struct ab_backend *b = ab_builtin_at(i);
        printf("  %-*s %s\n", NAME_WIDTH, b->name, b->summary);
        if (is_verbose) {
            print_traits(b);
            print_missing(b);
            print_params(b);
            print_sweep(b->name);
        }
    }
    print_default();
    puts("\nand any library by its path: one that defines the malloc family, or " AB_BACKEND_SYMBOL
         ",\nor the same functions with a prefix: ./libmi.so:prefix=mi_");
}

static enum ab_status write_json(const char *path, const struct ab_listing *l, struct ab_err *err)
{
    struct ab_output out;
    AB_TRY(ab_output_open(path, &out, err));
    ab_list_json(out.to, l);
    return ab_output_commit(&out, err);
}

/* A topic of `list`: prints on standard output, and writes --json. */
static enum ab_status list_backends(const struct ab_options *o, struct ab_err *err)
{
    struct ab_listing listing = {.presets = {{0}}};
    enum ab_status status = AB_OK;
    for (size_t i = 0; i < ab_preset_count() && status == AB_OK; i++)
        status = ab_selection_parse(&ab_preset_at(i)->name, 1, NULL, &listing.presets[i], err);
    if (status == AB_OK && o->json != NULL)
        status = write_json(o->json, &listing, err);
    if (status == AB_OK && (o->json == NULL || strcmp(o->json, "-") != 0))
        print_all(&listing, o->is_verbose);
    for (size_t i = 0; i < ab_preset_count(); i++)
        ab_selection_list_fini(&listing.presets[i]);
    return status;
}

/* All numbers that are measured, out of the tables of metrics: unit, which direction is good, and
 * how a gate names them. */

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

/* Output shared by the topics of `list`: a JSON file, and lines that are not too wide. */

enum { WIDTH = 80 };

/* Writes the document to the file `path`, - is standard output; takes it. */
static enum ab_status list_write(const char *path, json_t *document, struct ab_err *err)
{
    struct ab_output out;
    enum ab_status status = ab_output_open(path, &out, err);
    if (status != AB_OK) {
        json_decref(document);
        return status;
    }
    ab_json_write(document, out.to, 0);
    return ab_output_commit(&out, err);
}

/* One entry: `head`, then `text` beside it from column `indent` on, in lines of at most 80
 * characters. */
static void list_print_entry(const char *head, int indent, const char *text)
{
    int column = printf("%s", head);
    while (*text != 0) {
        int n = (int)strcspn(text, " ");
        if (column > indent && column + 1 + n > WIDTH) {
            putchar('\n');
            column = 0;
        }
        int gap = column >= indent ? 1 : indent - column;
        column += printf("%*s%.*s", gap, "", n, text);
        text += n;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void print_metric(void *user, const struct metric *m)
{
    struct printing *p = user;
    if (p->group == NULL || strcmp(p->group, m->group) != 0)
        printf("%s%s\n", p->group != NULL ? "\n" : "", m->group);
    p->group = m->group;
    printf("  %-41s %-14s %s\n", m->gate, m->unit, better_name(m->better));
    if (p->is_verbose)
        list_print_entry("", DOC_COLUMN, m->doc);
}

struct document {
    json_t *items;
};

static void add_metric(void *user, const struct metric *m)
{
    struct document *d = user;
    json_t *o = json_object();
    ab_json_put(o, "name", ab_json_string(m->name));
    ab_json_put(o, "group", ab_json_string(m->group));
    ab_json_put(o, "unit", ab_json_string(m->unit));
    ab_json_put(o, "better", ab_json_string(better_name(m->better)));
    ab_json_put(o, "gate", ab_json_string(m->gate));
    ab_json_put(o, "meaning", ab_json_string(m->doc));
    ab_json_append(d->items, o);
}

/* A topic of `list`: prints on standard output, and writes --json. */
static enum ab_status list_metrics(const struct ab_options *o, struct ab_err *err)
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
    ab_json_put(document, "schema", ab_json_string("allocbench-metrics/1"));
    ab_json_put(document, "metrics", d.items);
    return list_write(o->json, document, err);
}

/* The workloads that come with allocbench, each with the first sentence of the comment that its file
 * begins with. */

enum { NAME_COLUMNS = 24, SENTENCE_MOST = 400 };

/* Appends a line without "# " and its end; false at the first line that is no such comment. */
static bool add_line(char *out, size_t cap, char *line)
{
    if (line[0] != '#')
        return false;
    char *text = line + 1 + strspn(line + 1, " ");
    text[strcspn(text, "\r\n")] = 0;
    if (*text == 0)
        return false;
    ab_text_join(out, cap, " ", text);
    return true;
}

/* To the first ". " or its end: of a name such as "part 2: …" or "p99.9" it is none. */
static void cut_sentence(char *text)
{
    char *end = strstr(text, ". ");
    if (end != NULL)
        *end = 0;
    size_t n = strlen(text);
    while (n > 0 && strchr(".: ", text[n - 1]) != NULL)
        text[--n] = 0;
}

/* "" where the file cannot be read or begins with no comment. */
static void read_summary(const char *path, char *out, size_t cap)
{
    char line[512], text[SENTENCE_MOST] = "";
    FILE *f = fopen(path, "re");
    for (int i = 0; f != NULL && i < 8 && fgets(line, sizeof line, f) != NULL; i++)
        if (!add_line(text, sizeof text, line))
            break;
    if (f != NULL)
        fclose(f);
    cut_sentence(text);
    ab_text_printable(out, cap, text);
}

static json_t *entry(const char *name, const char *path, const char *summary)
{
    json_t *o = json_object();
    ab_json_put(o, "name", ab_json_string(name));
    ab_json_put(o, "path", ab_json_string(path));
    ab_json_put(o, "summary", ab_json_string(summary));
    return o;
}

static void print_entry(const char *name, const char *summary)
{
    char head[128];
    snprintf(head, sizeof head, "  @%s", AB_SHOWN(64, name));
    list_print_entry(head, NAME_COLUMNS, summary);
}

static enum ab_status list_names(const struct ab_options *o, const struct ab_workload_names *list,
                                 struct ab_err *err)
{
    json_t *document = json_object(), *items = json_array();
    bool is_shown = o->json == NULL || strcmp(o->json, "-") != 0;
    ab_json_put(document, "schema", ab_json_string("allocbench-workloads/1"));
    for (size_t i = 0; i < list->n; i++) {
        char summary[4 * SENTENCE_MOST];
        char *path = ab_workload_names_path(list, list->names[i]);
        read_summary(path, summary, sizeof summary);
        ab_json_append(items, entry(list->names[i], path, summary));
        if (is_shown)
            print_entry(list->names[i], summary);
        free(path);
    }
    ab_json_put(document, "workloads", items);
    if (is_shown)
        printf("\nallocbench run @NAME; the files are in %s\n", AB_SHOWN(512, list->folder));
    if (o->json != NULL)
        return list_write(o->json, document, err);
    json_decref(document);
    return AB_OK;
}

/* A topic of `list`: prints on standard output, and writes --json. */
static enum ab_status list_workloads(const struct ab_options *o, struct ab_err *err)
{
    struct ab_workload_names list;
    AB_TRY(ab_workload_names(&list, err));
    enum ab_status status = list_names(o, &list, err);
    ab_workload_names_fini(&list);
    return status;
}

static const struct {
    const char *name, *what;
    enum ab_status (*list)(const struct ab_options *o, struct ab_err *err);
} topics[] = {
    {"backends", "allocators that can be measured here", list_backends},
    {"workloads", "those that come with allocbench", list_workloads},
    {"metrics", "units, and how gates name them", list_metrics},
};

const char *ab_list_topic(size_t i)
{
    return i < AB_ARRAY_LEN(topics) ? topics[i].name : NULL;
}

enum ab_status ab_cmd_list(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    const char *names[AB_ARRAY_LEN(topics)];
    (void)exit_code;
    if (o->n_args == 0 && o->json == NULL) {
        for (size_t i = 0; i < AB_ARRAY_LEN(topics); i++)
            printf("allocbench list %-11s %s\n", topics[i].name, topics[i].what);
        return AB_OK;
    }
    if (o->n_args != 1)
        return ab_fail(err, AB_USAGE,
                       "list takes one topic: allocbench list backends|workloads|metrics");
    for (size_t i = 0; i < AB_ARRAY_LEN(topics); i++)
        if (strcmp(o->args[0], names[i] = topics[i].name) == 0)
            return topics[i].list(o, err);
    const char *nearest = ab_text_nearest(o->args[0], names, AB_ARRAY_LEN(topics));
    const char *shown = AB_SHOWN(128, o->args[0]);
    if (nearest != NULL)
        return ab_fail(err, AB_USAGE, "list: \"%s\" is not a topic of list; did you mean \"%s\"?",
                       shown, nearest);
    return ab_fail(err, AB_USAGE,
                   "list: \"%s\" is not a topic of list; allowed: backends, workloads, metrics",
                   shown);
}
