/* SPDX-License-Identifier: MIT */
#include "cli/commands.h"
#include "core/text.h"
#include "core/units.h"
#include "report/sink.h"
#include "trace/reader.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { BATCH = 1024 };

static const char *const op_names[AB_EVENT_KIND_COUNT] = {"alloc", "alloc_zeroed", "alloc_aligned",
                                                          "resize", "free"};

static enum ab_status read_all(const char *path, struct ab_trace_info *out, struct ab_err *err)
{
    struct ab_trace_reader *r;
    static struct ab_event events[BATCH];
    enum ab_status status = ab_trace_open(path, &r, err);
    if (status != AB_OK)
        return status;
    for (size_t n = 1; status == AB_OK && n > 0;)
        status = ab_trace_next(r, events, BATCH, &n, err);
    if (status == AB_OK)
        *out = *ab_trace_reader_info(r);
    ab_trace_close(r);
    return status;
}

static void put(json_t *o, const char *name, uint64_t value)
{
    json_object_set_new(o, name, value > INT64_MAX ? json_null() : json_integer((json_int_t)value));
}

static bool write_json(FILE *to, const struct ab_trace_info *i)
{
    json_t *o = json_object(), *ops = json_object();
    char program[1024];
    if (o == NULL || ops == NULL) {
        json_decref(o);
        json_decref(ops);
        return false;
    }
    ab_text_printable(program, sizeof program, i->program);
    json_object_set_new(o, "program", program[0] != 0 ? json_string(program) : json_null());
    put(o, "events", i->events);
    put(o, "threads", i->threads);
    put(o, "live_peak_bytes", i->live_peak_bytes);
    put(o, "live_peak_blocks", i->live_peak_blocks);
    for (unsigned k = 0; k < AB_EVENT_KIND_COUNT; k++)
        put(ops, op_names[k], i->ops[k]);
    json_object_set_new(o, "ops", ops);
    put(o, "failed", i->failed);
    put(o, "live_end_bytes", i->live_end_bytes);
    put(o, "live_end_blocks", i->live_end_blocks);
    put(o, "total_bytes", i->total_bytes);
    put(o, "file_bytes", i->file_bytes);
    bool is_whole = json_dumpf(o, to, JSON_INDENT(2)) == 0;
    json_decref(o);
    fputc('\n', to);
    return is_whole;
}

static void print_info(const struct ab_trace_info *i)
{
    char a[32], b[1024];
    printf("program    %s\n", i->program[0] != 0
                                  ? ab_text_printable(b, sizeof b, i->program) : "unknown");
    printf("events     %llu in %s (%.3f bytes each)\n", (unsigned long long)i->events,
           ab_units_bytes(a, sizeof a, (double)i->file_bytes),
           (double)i->file_bytes / (double)(i->events > 0 ? i->events : 1));
    printf("threads    %llu\n", (unsigned long long)i->threads);
    for (unsigned k = 0; k < AB_EVENT_KIND_COUNT; k++)
        if (i->ops[k] > 0)
            printf("%-14s %llu\n", op_names[k], (unsigned long long)i->ops[k]);
    if (i->failed > 0)
        printf("failed     %llu of these\n", (unsigned long long)i->failed);
    printf("live peak  %s", ab_units_bytes(a, sizeof a, (double)i->live_peak_bytes));
    printf(" (%llu bytes), at most %llu blocks\n", (unsigned long long)i->live_peak_bytes,
           (unsigned long long)i->live_peak_blocks);
    printf("live at the end  %s in %llu blocks\n",
           ab_units_bytes(a, sizeof a, (double)i->live_end_bytes),
           (unsigned long long)i->live_end_blocks);
    printf("requested  %s in all\n", ab_units_bytes(a, sizeof a, (double)i->total_bytes));
}

static enum ab_status write_json_file(const char *path, const struct ab_trace_info *info,
                                      struct ab_err *err)
{
    struct ab_output out;
    enum ab_status status = ab_output_open(path, &out, err);
    if (status != AB_OK)
        return status;
    if (!write_json(out.to, info)) {
        ab_output_abandon(&out);
        return ab_fail(err, AB_SYSTEM, "cannot write '%s'", path);
    }
    return ab_output_commit(&out, err);
}

enum ab_status ab_cmd_trace(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    static const char *const words[] = {"info"};
    struct ab_trace_info info;
    char shown[256];
    (void)exit_code;
    if (o->n_args == 0)
        return ab_fail(err, AB_USAGE, "trace what? allocbench trace info TRACE.abt");
    if (strcmp(o->args[0], "info") != 0)
        return ab_fail(err, AB_USAGE, "trace %s: unknown%s; this version knows: info",
                       ab_text_printable(shown, sizeof shown, o->args[0]),
                       ab_text_nearest(o->args[0], words, 1) != NULL ? "; did you mean info?" : "");
    if (o->n_args != 2)
        return ab_fail(err, AB_USAGE, "trace info takes one trace");
    enum ab_status status = read_all(o->args[1], &info, err);
    if (status != AB_OK)
        return status;
    if (o->json != NULL)
        status = write_json_file(o->json, &info, err);
    if (o->json == NULL || strcmp(o->json, "-") != 0)
        print_info(&info);
    return status;
}
