/* SPDX-License-Identifier: MIT
 *
 * `trace import FORMAT`: files of other tools. What a trace cannot hold is said on standard error.
 */
#include "cli/trace/cmd_trace.h"
#include "core/text.h"
#include "exchange/intake.h"

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
