/* SPDX-License-Identifier: MIT
 *
 * Implements `list`: prints a topic, or the list of topics.
 */
#include "cli/cmd_list.h"
#include "app/catalogue.h"
#include "app/named_workload.h"
#include "base/bits.h"
#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/document.h"
#include "cli/options.h"
#include "core/status.h"
#include "core/text.h"
#include "core/units_show.h"
#include "document/session_record.h"
#include "report/table/table.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80 };

/* Prints one entry: `head`, then `text` from column `indent` on, in lines of at most 80
 * characters. */
static void print_lines(const char *head, int indent, const char *text)
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

/* ---- backends ----
 *
 * Lists the names that -b knows on this machine, without loading any library. Versions are found
 * from packages and paths. Missing libraries are marked. */

enum { NAME_WIDTH = 16 };

/* Optional functions of a back end. A function that performs an op has the name of the op. */
static const struct hook {
    const char *name;
    size_t offset; /* offset in struct ab_backend */
} hooks[] = {
    {"alloc_zeroed", offsetof(struct ab_backend, alloc_zeroed)},
    {"alloc_aligned", offsetof(struct ab_backend, alloc_aligned)},
    {"resize", offsetof(struct ab_backend, resize)},
    {"free", offsetof(struct ab_backend, free)},
    {"reset", offsetof(struct ab_backend, reset)},
    {"usable_size", offsetof(struct ab_backend, usable_size)},
    {"purge", offsetof(struct ab_backend, purge)},
    {"stats", offsetof(struct ab_backend, stats)},
};

static const struct {
    uint64_t trait;          /* enum ab_trait */
    const char *name, *text; /* name in JSON, text on the screen */
} traits[] = {
    {AB_TRAIT_THREAD_SAFE, "thread_safe", "multithreaded"},
    {AB_TRAIT_FIXED_SIZE, "fixed_size", "one block size only"},
    {AB_TRAIT_MOVES, "moves", "blocks may move (handles)"},
    {AB_TRAIT_REMOTE_FREE, "remote_free", "cross-thread frees"},
    {AB_TRAIT_NO_FREE, "never_frees", "frees only on reset"},
    {AB_TRAIT_DETECTS_MISUSE, "detects_misuse", "detects invalid frees"},
    {AB_TRAIT_REPEATABLE, "repeatable", "repeatable"},
    {AB_TRAIT_WEARS, "wears", "slots retire after N reuses"},
};

static bool has_hook(const struct ab_backend *b, const struct hook *hook)
{
    void (*f)(void);
    memcpy(&f, (const char *)b + hook->offset, sizeof f);
    return f != NULL;
}

/* Writes a value exactly as -b reads it: "64KiB", "on", "auto". Returns buf. */
static const char *value_text(char *buf, size_t cap, const struct ab_param *p, uint64_t value)
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

/* Writes the allowed values: "0 to 1TiB", "on, off", "auto, mutex". Returns buf. */
static const char *allowed_text(char *buf, size_t cap, const struct ab_param *p)
{
    char least[32], most[32];
    size_t used = 0;
    snprintf(buf, cap, "on, off");
    for (size_t i = 0; p->type == AB_PARAM_CHOICE && p->choices[i] != NULL && used < cap; i++)
        used += (size_t)snprintf(buf + used, cap - used, "%s%s", i > 0 ? ", " : "", p->choices[i]);
    if (p->type == AB_PARAM_BYTES || p->type == AB_PARAM_COUNT)
        snprintf(buf, cap, "%s to %s", value_text(least, sizeof least, p, p->min),
                 value_text(most, sizeof most, p, p->max));
    return buf;
}

static json_t *write_default(const struct ab_writing *x)
{
    char text[64];
    const struct ab_param *p = x->record;
    return ab_json_string(value_text(text, sizeof text, p, p->def));
}

static bool is_number(const void *param, const void *context)
{
    const struct ab_param *p = param;
    (void)context;
    return p->type == AB_PARAM_BYTES || p->type == AB_PARAM_COUNT;
}

static json_t *write_bound(const struct ab_writing *x)
{
    uint64_t n = *(const uint64_t *)x->p;
    return ab_json_integer(n > INT64_MAX ? INT64_MAX : n);
}

static const char *const types[] = {"bytes", "count", "bool", "choice"};

static const struct ab_member param_members[] = {
    AB_TEXT("name", struct ab_param, name),
    AB_NAME("type", struct ab_param, type, AB_ARRAY_LEN(types), .names = types),
    AB_WRITTEN("default", write_default),
    AB_RULE("min", struct ab_param, min, .write = write_bound, .has = is_number),
    AB_RULE("max", struct ab_param, max, .write = write_bound, .has = is_number),
    AB_MEMBER(LIST, "choices", struct ab_param, choices, .values = AB_IS_TEXT,
              .stride = sizeof(const char *), .flags = AB_ENDS),
    AB_TEXT("help", struct ab_param, help),
};
AB_TABLE(param, struct ab_param);

static json_t *write_hooks(const struct ab_writing *x)
{
    json_t *served = json_array();
    ab_json_append(served, ab_json_string("alloc"));
    for (size_t i = 0; i < AB_ARRAY_LEN(hooks); i++)
        if (has_hook(x->record, &hooks[i]))
            ab_json_append(served, ab_json_string(hooks[i].name));
    return served;
}

static json_t *write_traits(const struct ab_writing *x)
{
    json_t *promises = json_array();
    for (size_t i = 0; i < AB_ARRAY_LEN(traits); i++)
        if ((*(const uint64_t *)x->p & traits[i].trait) != 0)
            ab_json_append(promises, ab_json_string(traits[i].name));
    return promises;
}

static const struct ab_member builtin_members[] = {
    AB_TEXT("summary", struct ab_backend, summary),
    AB_RULE("traits", struct ab_backend, traits, .write = write_traits),
    AB_WRITTEN("hooks", write_hooks),
    AB_LIST("params", struct ab_backend, params, n_params, UINT32_MAX, .record = &param_record),
};
AB_TABLE(builtin, struct ab_backend);

#define FOUND(member) AB_CHARS(#member, struct ab_selection, member)
static const struct ab_member found_members[] = {AB_EACH(FOUND, reason, version, path, build_id)};
AB_TABLE(found, struct ab_selection);

static const struct ab_member preset_members[] = {
    AB_TEXT("package", struct ab_preset, package),
    AB_TEXT("summary", struct ab_preset, summary),
};
AB_TABLE(preset, struct ab_preset);

static const struct ab_member sweep_members[] = {
    AB_TEXT("backend", struct ab_sweep_row, spelling),
    AB_TEXT("says", struct ab_sweep_row, says),
};
AB_TABLE(sweep, struct ab_sweep_row);

#define ENTRY(member) AB_TEXT(#member, struct ab_listed_backend, member)
#define PART(member, table) \
    AB_MEMBER(PART, NULL, struct ab_listed_backend, member, .record = (table), .flags = AB_POINTER)

static const struct ab_member entry_members[] = {
    AB_EACH(ENTRY, name, kind, boundary, status),
    PART(found, &found_record),
    PART(preset, &preset_record),
    PART(builtin, &builtin_record),
    AB_TEXT("default", struct ab_listed_backend, by_default),
    AB_LIST("sweep", struct ab_listed_backend, sweep, n_sweep, UINT32_MAX, .record = &sweep_record),
};
AB_TABLE(entry, struct ab_listed_backend);

static json_t *backends_document(const struct ab_backend_list *list)
{
    json_t *items = json_array();
    for (size_t i = 0; i < list->n; i++)
        ab_json_append(items, ab_record_json(&entry_record, &list->items[i], NULL));
    return ab_document_list("allocbench-backends/1", "backends", items);
}

/* Begins a further line about the back end whose first line was printed last. */
static void print_label(const char *label)
{
    printf("  %-*s %-8s ", NAME_WIDTH, "", label);
}

/* Prints the rows that --sweep makes of one back end. */
static void print_sweep(const struct ab_listed_backend *e)
{
    for (size_t i = 1; i < e->n_sweep; i++) {
        print_label(i == 1 ? "sweep" : "");
        printf("%s: %s\n", e->sweep[i].settings, e->sweep[i].says);
    }
}

static void print_library(const struct ab_listed_backend *e, bool is_verbose)
{
    char path[4096 + 64];
    const struct ab_preset *p = e->preset;
    const struct ab_selection *s = e->found;
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
    print_sweep(e);
}

static void print_traits(const struct ab_backend *b)
{
    const char *between = "";
    print_label("traits");
    if ((b->traits & AB_TRAIT_THREAD_SAFE) == 0) {
        printf("%s", b->thread_enter != NULL ? "one heap per thread" : "single-threaded");
        between = ", ";
    }
    for (size_t i = 0; i < AB_ARRAY_LEN(traits); i++)
        if ((b->traits & traits[i].trait) != 0) {
            printf("%s%s", between, traits[i].text);
            between = ", ";
        }
    putchar('\n');
}

static void print_missing(const struct ab_backend *b)
{
    bool is_whole = true;
    for (size_t i = 0; i < AB_ARRAY_LEN(hooks); i++) {
        if (has_hook(b, &hooks[i]))
            continue;
        if (is_whole)
            print_label("without");
        printf("%s%s", is_whole ? "" : ", ", hooks[i].name);
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
        printf(":%s=%s (%s) %s\n", p->name, value_text(def, sizeof def, p, p->def),
               allowed_text(allowed, sizeof allowed, p), p->help);
    }
}

/* Prints which back ends are measured if none is named. */
static void print_default(const struct ab_backend_list *list)
{
    char text[1024];
    puts("\nwithout -b (and without a list in the workload)");
    puts("  each installed library; tcmalloc_minimal only where there is no other tcmalloc");
    for (size_t i = 0; i < list->n_defaults; i++) {
        const struct ab_default *d = &list->defaults[i];
        snprintf(text, sizeof text, "  %s: %s%s", d->name, d->is_suited != NULL ? "where " : "",
                 d->rule);
        ab_table_prose(stdout, (struct ab_table_style){.width = 80}, AB_PLAIN, text);
    }
}

static void print_builtin(const struct ab_listed_backend *e, bool is_verbose)
{
    printf("  %-*s %s\n", NAME_WIDTH, e->name, e->builtin->summary);
    if (!is_verbose)
        return;
    print_traits(e->builtin);
    print_missing(e->builtin);
    print_params(e->builtin);
    print_sweep(e);
}

static void print_backends(const struct ab_backend_list *list, bool is_verbose)
{
    size_t i = 0;
    puts("libraries (malloc boundary)");
    for (; i < list->n && list->items[i].preset != NULL; i++)
        print_library(&list->items[i], is_verbose);
    puts("\nbuilt in (heap boundary)");
    for (; i < list->n; i++)
        print_builtin(&list->items[i], is_verbose);
    print_default(list);
    puts(
        "\nand any library given by its path, if it defines the malloc family, or " AB_BACKEND_SYMBOL
        ",\nor the same functions with a prefix: ./libmi.so:prefix=mi_");
}

static enum ab_status show_backends(void *user, const struct ab_backend_list *list,
                                    struct ab_err *err)
{
    const struct ab_options *o = user;
    AB_TRY(ab_document_write(o, backends_document(list), 0, err));
    if (ab_document_leaves_stdout(o))
        print_backends(list, o->is_verbose);
    return AB_OK;
}

static enum ab_status list_backends(const struct ab_options *o, struct ab_err *err)
{
    return ab_backends_list(show_backends, (void *)(uintptr_t)o, err);
}

/* ---- metrics ----
 * Lists all metrics from their tables: unit, better direction, and the name in gates. */

enum { DOC_COLUMN = 6 };

static const char *const directions[] = {
    [AB_FIELD_LOWER] = "lower", [AB_FIELD_HIGHER] = "higher", [AB_FIELD_NEITHER] = ""};

static const struct ab_member metric_members[] = {
    AB_TEXT("name", struct ab_listed_metric, name),
    AB_TEXT("group", struct ab_listed_metric, group),
    AB_TEXT("unit", struct ab_listed_metric, unit),
    AB_NAME("better", struct ab_listed_metric, better, AB_ARRAY_LEN(directions),
            .names = directions),
    AB_CHARS("gate", struct ab_listed_metric, gate),
    AB_TEXT("meaning", struct ab_listed_metric, doc),
};
AB_TABLE(metric, struct ab_listed_metric);

static void print_metrics(const struct ab_metric_list *list, bool is_verbose)
{
    const char *group = NULL;
    printf("  %-41s %-14s %s\n", "as a gate names it", "unit", "better is");
    for (size_t i = 0; i < list->n; i++) {
        const struct ab_listed_metric *m = &list->items[i];
        if (group == NULL || strcmp(group, m->group) != 0)
            printf("%s%s\n", group != NULL ? "\n" : "", m->group);
        group = m->group;
        printf("  %-41s %-14s %s\n", m->gate, m->unit, directions[m->better]);
        if (is_verbose)
            print_lines("", DOC_COLUMN, m->doc);
    }
    puts("\nPHASE: a measured phase, or *. OP: alloc, alloc_zeroed, alloc_aligned, resize,\n"
         "free, reset, access, all. ITERATION: the name in 'each', or scope of a replay\n"
         "with --each. allocbench run my.yaml --gate 'serve/alloc/p99 < 2us'");
}

static json_t *metrics_document(const struct ab_metric_list *list)
{
    json_t *items = json_array();
    for (size_t i = 0; i < list->n; i++)
        ab_json_append(items, ab_record_json(&metric_record, &list->items[i], NULL));
    return ab_document_list("allocbench-metrics/1", "metrics", items);
}

static enum ab_status list_metrics(const struct ab_options *o, struct ab_err *err)
{
    struct ab_metric_list list = {0};
    ab_metrics_list(&list);
    if (ab_document_leaves_stdout(o))
        print_metrics(&list, o->is_verbose);
    enum ab_status status = ab_document_write(o, metrics_document(&list), 0, err);
    free(list.items);
    return status;
}

/* ---- workloads ----
 * Lists the workloads that come with allocbench, each with the first sentence of the comment at the
 * beginning of its file. */

enum { NAME_COLUMNS = 24, SENTENCE_MOST = 400 };

/* Appends a comment line without "# " and newline. Returns false if the line is no comment. */
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

/* Cuts the text after its first sentence, at ". " or at the end. Names such as "p99.9" do not end a
 * sentence. */
static void cut_sentence(char *text)
{
    char *end = strstr(text, ". ");
    if (end != NULL)
        *end = 0;
    size_t n = strlen(text);
    while (n > 0 && strchr(".: ", text[n - 1]) != NULL)
        text[--n] = 0;
}

/* Reads the comment at the beginning of a file; "" if there is none or the file is unreadable. */
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

struct workload {
    const char *name;
    char *path;
    char summary[4 * SENTENCE_MOST];
};
static const struct ab_member workload_members[] = {
    AB_TEXT("name", struct workload, name),
    AB_TEXT("path", struct workload, path),
    AB_CHARS("summary", struct workload, summary),
};
AB_TABLE(workload, struct workload);

static void print_entry(const char *name, const char *summary)
{
    char head[128];
    snprintf(head, sizeof head, "  @%s", AB_SHOWN(64, name));
    print_lines(head, NAME_COLUMNS, summary);
}

/* Prints the group's name before the first workload of a folder. */
static void print_group(const struct ab_workload_names *list, size_t i)
{
    const char *slash = strchr(list->names[i], '/');
    size_t length = slash != NULL ? (size_t)(slash - list->names[i]) + 1 : 0;
    if (length == 0 || (i > 0 && strncmp(list->names[i - 1], list->names[i], length) == 0))
        return;
    size_t n = 0;
    while (i + n < list->n && strncmp(list->names[i + n], list->names[i], length) == 0)
        n++;
    char name[NAME_COLUMNS * 4];
    snprintf(name, sizeof name, "%.*s", (int)length - 1, list->names[i]);
    printf("  @%s: %zu workloads in one table\n", AB_SHOWN(64, name), n);
}

static enum ab_status list_names(const struct ab_options *o, const struct ab_workload_names *list,
                                 struct ab_err *err)
{
    json_t *items = json_array();
    for (size_t i = 0; i < list->n; i++) {
        struct workload w = {list->names[i], ab_workload_names_path(list, list->names[i]), ""};
        read_summary(w.path, w.summary, sizeof w.summary);
        ab_json_append(items, ab_record_json(&workload_record, &w, NULL));
        if (ab_document_leaves_stdout(o))
            print_group(list, i);
        if (ab_document_leaves_stdout(o))
            print_entry(w.name, w.summary);
        free(w.path);
    }
    if (ab_document_leaves_stdout(o))
        printf("\nallocbench run @NAME; the files are in %s\n", AB_SHOWN(512, list->folder));
    return ab_document_write(o, ab_document_list("allocbench-workloads/1", "workloads", items), 0,
                             err);
}

static enum ab_status list_workloads(const struct ab_options *o, struct ab_err *err)
{
    struct ab_workload_names list;
    AB_TRY(ab_workload_names(&list, err));
    enum ab_status status = list_names(o, &list, err);
    ab_workload_names_fini(&list);
    return status;
}

/* ---- schema ---- */

enum { SCHEMA_WIDTH = 100 };

static void print_json(FILE *to, const json_t *value, unsigned indent, size_t column);

/* Prints each member of an object in a line of its own, and the items of a list in as many lines as
 * they need. */
static void print_members(FILE *to, const json_t *value, unsigned indent)
{
    const char *key;
    json_t *member;
    size_t i = 0, column = SCHEMA_WIDTH;
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
    {
        fprintf(to, "%s\n%*s\"%s\": ", i++ > 0 ? "," : "", (int)indent, "", key);
        print_json(to, member, indent, indent + strlen(key) + 4);
    }
    for (i = 0; i < json_array_size(value); i++) {
        char *text = json_dumps(json_array_get(value, i), JSON_ENCODE_ANY);
        bool is_new_line = column + strlen(text) + 2 > SCHEMA_WIDTH;
        fprintf(to, "%s", i > 0 ? "," : "");
        column = (is_new_line ? indent : column + 2) + strlen(text);
        if (is_new_line)
            fprintf(to, "\n%*s", (int)indent, "");
        fprintf(to, "%s%s", is_new_line ? "" : " ", text);
        free(text);
    }
}

/* Prints a value in one line if it fits. */
static void print_json(FILE *to, const json_t *value, unsigned indent, size_t column)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY);
    bool is_object = json_is_object(value);
    if (column + strlen(text) < SCHEMA_WIDTH || (!is_object && !json_is_array(value))) {
        fputs(text, to);
    } else {
        fputs(is_object ? "{" : "[", to);
        print_members(to, value, indent + 2);
        fprintf(to, "\n%*s%s", (int)indent, "", is_object ? "}" : "]");
    }
    free(text);
}

static enum ab_status list_schema(const struct ab_options *o, struct ab_err *err)
{
    json_t *schema = ab_session_schema();
    if (ab_document_leaves_stdout(o)) {
        print_json(stdout, schema, 0, 0);
        putchar('\n');
    }
    return ab_document_write(o, schema, 0, err);
}

const struct ab_list_topic ab_list_topics[] = {
    {"backends", "allocators that can be measured here", list_backends},
    {"workloads", "workloads that come with allocbench", list_workloads},
    {"metrics", "all numbers: unit, and name for gates", list_metrics},
    {"schema", "JSON Schema of results: every key, and its meaning", list_schema},
};

const size_t ab_list_topic_count = AB_ARRAY_LEN(ab_list_topics);

enum ab_status ab_cmd_list(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    const char *names[AB_ARRAY_LEN(ab_list_topics)];
    (void)exit_code;
    if (o->n_args == 0 && o->json == NULL) {
        for (size_t i = 0; i < AB_ARRAY_LEN(ab_list_topics); i++)
            printf("allocbench list %-11s %s\n", ab_list_topics[i].name, ab_list_topics[i].what);
        return AB_OK;
    }
    if (o->n_args != 1)
        return ab_fail(err, AB_USAGE,
                       "list takes one topic: allocbench list backends|workloads|metrics|schema");
    if (strcmp(o->args[0], "allocators") == 0)
        return list_backends(o, err);
    for (size_t i = 0; i < AB_ARRAY_LEN(ab_list_topics); i++)
        if (strcmp(o->args[0], names[i] = ab_list_topics[i].name) == 0)
            return ab_list_topics[i].list(o, err);
    const char *nearest = ab_text_nearest(o->args[0], names, AB_ARRAY_LEN(ab_list_topics));
    const char *shown = AB_SHOWN(128, o->args[0]);
    if (nearest != NULL)
        return ab_fail(err, AB_USAGE, "list: \"%s\" is not a topic of list; did you mean \"%s\"?",
                       shown, nearest);
    return ab_fail(
        err, AB_USAGE,
        "list: \"%s\" is not a topic of list; allowed: backends (or allocators), workloads, metrics, "
        "schema",
        shown);
}
