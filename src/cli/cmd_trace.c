/* SPDX-License-Identifier: MIT
 *
 * trace info: the totals of a trace, after every event of it has been read and checked.
 */
#include "cli/commands.h"
#include "cli/one_file.h"
#include "core/text.h"
#include "core/units.h"
#include "report/sink.h"
#include "trace/reader.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 4096 };

static enum ab_status read_info(const char *path, struct ab_trace_info *out, struct ab_err *err)
{
    struct ab_trace_reader *r = NULL;
    enum ab_status status = ab_trace_open(path, &r, err);
    if (status != AB_OK)
        return status;
    struct ab_event *events = malloc(BATCH * sizeof events[0]);
    if (events == NULL)
        status = ab_fail(err, AB_SYSTEM, "out of memory");
    for (size_t n = 1; status == AB_OK && n > 0;)
        status = ab_trace_next(r, events, BATCH, &n, err);
    if (status == AB_OK)
        *out = *ab_trace_reader_info(r);
    free(events);
    ab_trace_close(r);
    return status;
}

static const char *event_name(unsigned kind)
{
    static const char *const names[AB_EVENT_KIND_COUNT] = {
        [AB_EVENT_ALLOC] = "alloc",
        [AB_EVENT_ALLOC_ZEROED] = "alloc_zeroed",
        [AB_EVENT_ALLOC_ALIGNED] = "alloc_aligned",
        [AB_EVENT_RESIZE] = "resize",
        [AB_EVENT_FREE] = "free",
    };
    return names[kind];
}

static void add_number(json_t *object, const char *name, uint64_t value)
{
    json_object_set_new(object, name,
                        value <= INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value));
}

static enum ab_status write_json(const struct ab_trace_info *info, const char *to,
                                 struct ab_err *err)
{
    struct ab_output output = {0};
    char program[4 * sizeof info->program + 1];
    json_t *root = json_object(), *ops = json_object();
    enum ab_status status = ab_output_open(to, &output, err);
    if (status != AB_OK)
        goto out;
    add_number(root, "events", info->events);
    add_number(root, "threads", info->threads);
    add_number(root, "live_peak_bytes", info->live_peak_bytes);
    add_number(root, "live_peak_blocks", info->live_peak_blocks);
    for (unsigned k = 0; k < AB_EVENT_KIND_COUNT; k++)
        add_number(ops, event_name(k), info->ops[k]);
    json_object_set(root, "ops", ops);
    add_number(root, "failed", info->failed);
    add_number(root, "total_bytes", info->total_bytes);
    add_number(root, "live_end_blocks", info->live_end_blocks);
    add_number(root, "live_end_bytes", info->live_end_bytes);
    add_number(root, "slots", info->slots);
    add_number(root, "file_bytes", info->file_bytes);
    json_object_set_new(root, "program",
                        json_string(ab_text_printable(program, sizeof program, info->program)));
    if (json_dumpf(root, output.to, JSON_INDENT(2)) != 0 || fputc('\n', output.to) == EOF)
        status = ab_fail(err, AB_SYSTEM, "cannot write '%s'", to);
    else
        status = ab_output_commit(&output, err);
out:
    ab_output_abandon(&output);
    json_decref(ops);
    json_decref(root);
    return status;
}

static void print_count(const char *name, uint64_t value)
{
    printf("  %-16s %12llu\n", name, (unsigned long long)value); /* exact: to be compared */
}

static void print_table(const struct ab_trace_info *i, const char *path)
{
    char shown[512], program[4 * sizeof i->program + 1], bytes[32];
    printf("%s", ab_text_printable(shown, sizeof shown, path));
    if (i->program[0] != 0)
        printf(": %s", ab_text_printable(program, sizeof program, i->program));
    printf("\n");
    print_count("events", i->events);
    for (unsigned k = 0; k < AB_EVENT_KIND_COUNT; k++)
        if (i->ops[k] > 0) {
            char name[32];
            snprintf(name, sizeof name, "  %s", event_name(k));
            print_count(name, i->ops[k]);
        }
    if (i->failed > 0)
        print_count("failed", i->failed);
    print_count("threads", i->threads);
    print_count("live peak blocks", i->live_peak_blocks);
    printf("  %-16s %12s\n", "live peak bytes",
           ab_units_bytes(bytes, sizeof bytes, (double)i->live_peak_bytes));
    printf("  %-16s %12s\n", "bytes in all",
           ab_units_bytes(bytes, sizeof bytes, (double)i->total_bytes));
    print_count("live at the end", i->live_end_blocks);
    printf("  %-16s %12s  %.2f bytes/event\n", "file",
           ab_units_bytes(bytes, sizeof bytes, (double)i->file_bytes),
           i->events > 0 ? (double)i->file_bytes / (double)i->events : 0.0);
}

static enum ab_status check_word(const struct ab_options *o, struct ab_err *err)
{
    static const char *const words[] = {"info"};
    char shown[128];
    if (o->n_args == 0)
        return ab_fail(err, AB_USAGE, "trace what? allocbench trace info FILE.abt");
    if (strcmp(o->args[0], words[0]) == 0)
        return AB_OK;
    const char *near = ab_text_nearest(o->args[0], words, 1);
    ab_text_printable(shown, sizeof shown, o->args[0]);
    return near != NULL ? ab_fail(err, AB_USAGE, "trace %s: did you mean trace %s?", shown, near)
                        : ab_fail(err, AB_USAGE, "trace %s: only trace info FILE.abt is there",
                                  shown);
}

enum ab_status ab_cmd_trace(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    (void)exit_code;
    const char *path;
    struct ab_trace_info info;
    struct ab_options rest = *o;
    enum ab_status status = check_word(o, err);
    if (status != AB_OK)
        return status;
    rest.args++;
    rest.n_args--;
    if ((status = ab_one_file(&rest, "a trace", "trace info", &path, err)) != AB_OK ||
        (status = read_info(path, &info, err)) != AB_OK)
        return status;
    if (o->json != NULL)
        status = write_json(&info, o->json, err);
    if (status == AB_OK && (o->json == NULL || strcmp(o->json, "-") != 0))
        print_table(&info, path);
    return status;
}
