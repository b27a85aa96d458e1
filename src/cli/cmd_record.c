/* SPDX-License-Identifier: MIT */
#include "cli/commands.h"
#include "cli/launch.h"
#include "core/text.h"
#include "core/units.h"
#include "record/convert.h"
#include "report/sink.h"

#include <string.h>
#include <unistd.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static const char *stop_text(uint32_t stop)
{
    switch (stop) {
    case AB_SPOOL_NO_SPACE:
        return "the disk is full";
    case AB_SPOOL_FILE_LIMIT:
        return "the limit on file sizes (ulimit -f) was reached";
    case AB_SPOOL_NO_MEMORY:
        return "the spool could not be mapped";
    case AB_SPOOL_NO_FILE:
        return "the program can no longer open the spool (chroot, another user, no descriptors)";
    default:
        return NULL;
    }
}

/* Nothing that is missing from the trace goes unsaid. */
static void print_summary(const char *path, const struct ab_convert_report *r)
{
    char bytes[32], peak[32];
    fprintf(stderr, "allocbench: %s: %llu events, live peak %s in %llu blocks, "
                    "%s (%.3f bytes an event)\n",
            path, (unsigned long long)r->info.events,
            ab_units_bytes(peak, sizeof peak, (double)r->info.live_peak_bytes),
            (unsigned long long)r->info.live_peak_blocks,
            ab_units_bytes(bytes, sizeof bytes, (double)r->info.file_bytes),
            (double)r->info.file_bytes / (double)r->info.events);
    if (r->n_images > 1)
        fprintf(stderr, "allocbench: the process replaced its program %u times (exec); the last "
                        "one is what was kept\n", r->n_images - 1);
    if (r->n_foreign > 0)
        fprintf(stderr, "allocbench: %llu frees or resizes of blocks that no recorded call had "
                        "given out were left out\n", (unsigned long long)r->n_foreign);
    if (r->n_reused > 0)
        fprintf(stderr, "allocbench: %llu blocks were given back by a way that cannot be seen; "
                        "their frees were put in\n", (unsigned long long)r->n_reused);
    if (r->n_unfinished > 0)
        fprintf(stderr, "allocbench: %llu calls were cut off by the end of the program\n",
                (unsigned long long)r->n_unfinished);
}

static enum ab_status explain_nothing(const struct ab_convert_report *r, const char *program,
                                      struct ab_err *err)
{
    if (r->n_images > 0)
        return err->status;
    return ab_fail(err, AB_INPUT,
                   "%s: not one call of malloc was seen. It may bring its own malloc, or start "
                   "its real work in another process: record that program itself", program);
}

static enum ab_status keep(const struct ab_launch *l, struct ab_output *out, bool is_quiet,
                           const char *path, struct ab_err *err)
{
    struct ab_convert_report report;
    char shown[512];
    enum ab_status status = ab_convert(l->folder, base_name(l->program), out->to, &report, err);
    ab_text_printable(shown, sizeof shown, path);
    if (status != AB_OK)
        return explain_nothing(&report, base_name(l->program), err);
    if (stop_text(report.stop) != NULL)
        return ab_fail(err, AB_SYSTEM, "recording stopped after %llu events: %s; no trace is "
                       "written", (unsigned long long)report.info.events, stop_text(report.stop));
    if (report.info.events == 0)
        return ab_fail(err, AB_INPUT, "no event is whole; no trace is written");
    status = ab_output_commit(out, err);
    if (status == AB_OK && !is_quiet)
        print_summary(shown, &report);
    return status;
}

enum ab_status ab_cmd_record(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_launch launch = {.folder = ""};
    struct ab_output out = {0};
    char path[512];
    int command_code = 0;
    *exit_code = AB_LAUNCH_FAILED;
    if (o->n_args == 0)
        return ab_fail(err, AB_USAGE, "record what? allocbench record -o app.abt -- ./app …");
    snprintf(path, sizeof path, "%s.abt", base_name(o->args[0]));
    const char *name = o->output != NULL ? o->output : path;
    if (strcmp(name, "-") == 0)
        return ab_fail(err, AB_USAGE, "standard output belongs to the command; name a file");
    enum ab_status status = ab_launch_prepare(o->args[0], &launch, exit_code, err);
    if (status == AB_OK)
        status = ab_output_open(name, &out, err);
    if (status == AB_OK &&
        (status = ab_launch_run(&launch, o->args, &command_code, err)) != AB_OK)
        *exit_code = command_code;
    if (status == AB_OK)
        status = keep(&launch, &out, o->is_quiet, name, err);
    ab_output_abandon(&out);
    ab_launch_clean(&launch);
    if (status == AB_OK)
        *exit_code = command_code;
    return status;
}
