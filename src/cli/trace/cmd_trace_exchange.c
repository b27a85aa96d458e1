/* SPDX-License-Identifier: MIT
 *
 * `trace import` and `trace export FORMAT`: files of other tools. What a trace, or the other format,
 * cannot hold is said on standard error.
 */
#include "cli/trace/cmd_trace.h"
#include "core/text.h"
#include "exchange/formats.h"

static void say(uint64_t n, const char *one, const char *many)
{
    if (n > 0)
        fprintf(stderr, "allocbench: %llu %s\n", (unsigned long long)n, n == 1 ? one : many);
}

static void print_import(const char *path, const struct ab_intake_report *r)
{
    const struct ab_trace_info *info = &r->info;
    fprintf(stderr, "allocbench: %s: %llu events of %llu thread%s, from %llu calls\n",
            AB_SHOWN(600, path), (unsigned long long)info->events,
            (unsigned long long)info->threads, info->threads == 1 ? "" : "s",
            (unsigned long long)(r->n_calls + r->n_other_process));
    say(r->n_unknown_frees, "free left out: its block is not live, it was freed or never seen",
        "frees left out: their blocks are not live, they were freed or never seen");
    say(r->n_null_frees, "free of NULL left out", "frees of NULL left out");
    say(r->n_unknown_resizes,
        "resize of a block that is not live: taken as an allocation, unless it gave none",
        "resizes of blocks that are not live: taken as allocations, unless they gave none");
    say(r->n_reused, "free added: its address was given out again without one",
        "frees added: their addresses were given out again without one");
    say(r->n_guessed,
        "free may be of another block of the same size and place: the file does not say",
        "frees may be of other blocks of the same size and place: the file does not say");
    say(r->n_late, "time before that of the event before was raised to it",
        "times before those of the events before were raised to them");
    say(r->n_other_process, "call of another process left out",
        "calls of other processes left out");
    if (r->is_cut)
        fputs("allocbench: the end of the file is missing\n", stderr);
}

enum ab_status ab_trace_cmd_import(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_trace_watch watch = {.path = o->args[2]};
    struct ab_import import = {.path = o->args[2], .is_partial = o->is_partial, .user = &watch};
    struct ab_output out = {0};
    struct ab_intake_report report;
    (void)exit_code;
    AB_TRY(ab_format_find(o->args[1], &import.format, err));
    AB_TRY(ab_trace_open_output(o, "import", 2, &out, err));
    ab_progress_begin(&watch.line, o->is_quiet);
    import.to = out.to;
    import.progress = watch.line.is_on ? ab_trace_watch_show : NULL;
    enum ab_status status = ab_import(&import, &report, err);
    ab_trace_watch_end(&watch);
    if (status == AB_OK)
        status = ab_output_commit(&out, err);
    if (status == AB_OK && !o->is_quiet)
        print_import(o->output, &report);
    ab_output_abandon(&out);
    return status;
}

static void print_export(const char *path, const struct ab_format *format,
                         const struct ab_outlet_report *r)
{
    fprintf(stderr, "allocbench: %s: %llu calls\n", AB_SHOWN(600, path),
            (unsigned long long)r->n_written);
    say(r->n_split, "resize became a free and an allocation: the format has none",
        "resizes became a free and an allocation each: the format has none");
    say(r->n_released, "resize to 0 that freed its block became a free: the format has none",
        "resizes to 0 that freed their blocks became frees: the format has none");
    say(r->n_failed, "failed call left out: the format has none",
        "failed calls left out: the format has none");
    say(r->n_plain, "zeroed or aligned allocation became a plain one: the format has none",
        "zeroed or aligned allocations became plain ones: the format has none");
    if (r->n_threads > 0)
        fprintf(stderr, "allocbench: the %llu threads became one: %s has none\n",
                (unsigned long long)r->n_threads, format->name);
    if (r->has_lost_times)
        fprintf(stderr, "allocbench: the times are left out: %s has none\n", format->name);
}

static enum ab_status check_export(const struct ab_options *o, const struct ab_format **format,
                                   struct ab_err *err)
{
    if (o->n_args < 3)
        return ab_fail(err, AB_USAGE,
                       "trace export -o needs a format: allocbench trace export FORMAT TRACE.abt");
    AB_TRY(ab_format_find(o->args[1], format, err));
    if (o->csv != NULL || o->live_csv != NULL)
        return ab_fail(err, AB_USAGE, "trace export takes either FORMAT and -o, or --csv");
    if (o->has_events)
        return ab_fail(err, AB_USAGE,
                       "trace export %s does not take --events: calls on blocks from before them "
                       "would name blocks that are not in the file; trace cut makes a part without",
                       (*format)->name);
    if (o->output == NULL)
        return ab_fail(err, AB_USAGE, "trace export %s needs -o: the file to write",
                       (*format)->name);
    return AB_OK;
}

enum ab_status ab_trace_export_format(const struct ab_options *o, struct ab_err *err)
{
    const struct ab_format *format;
    struct ab_trace_watch watch;
    struct ab_walk walk = {0};
    struct ab_output out = {0};
    struct ab_outlet_report report;
    AB_TRY(check_export(o, &format, err));
    AB_TRY(ab_trace_open_file(o, 2, o->output, &out, err));
    ab_trace_watch_begin(&watch, o, o->args[2], &walk);
    enum ab_status status = ab_export(&walk, format, out.to, &report, err);
    ab_trace_watch_end(&watch);
    if (status == AB_OK)
        status = ab_output_commit(&out, err);
    if (status == AB_OK && !o->is_quiet)
        print_export(o->output, format, &report);
    ab_output_abandon(&out);
    return status;
}
