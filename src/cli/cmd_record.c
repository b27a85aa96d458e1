/* SPDX-License-Identifier: MIT
 *
 * record: the command's exit status is ours; failures of our own are 125 to 127.
 */
#include "cli/commands.h"
#include "core/units.h"
#include "record/convert.h"
#include "record/launch.h"
#include "record/target.h"
#include "report/sink.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static enum ab_status open_output(const struct ab_options *o, struct ab_output *out,
                                  struct ab_err *err)
{
    char name[512];
    if (o->output != NULL && strcmp(o->output, "-") == 0)
        return ab_fail(err, AB_USAGE,
                       "record -o -: standard output is the command's; name a file");
    snprintf(name, sizeof name, "%s.abt", base_name(o->args[0]));
    return ab_output_open(o->output != NULL ? o->output : name, out, err);
}

static void print_summary(const struct ab_conversion *c, const char *path)
{
    const struct ab_trace_info *i = &c->info;
    char events[32], blocks[32], peak[32];
    fprintf(stderr,
            "allocbench: %s: %s events of %s, live peak %s in %s blocks, %.2f bytes/event\n", path,
            ab_units_count(events, sizeof events, (double)i->events), i->program,
            ab_units_bytes(peak, sizeof peak, (double)i->live_peak_bytes),
            ab_units_count(blocks, sizeof blocks, (double)i->live_peak_blocks),
            (double)i->file_bytes / (double)i->events);
    if (c->n_images > 1)
        fprintf(stderr, "allocbench: the command executed %u programs one after another; the trace "
                "is that of the last, %s\n", c->n_images, i->program);
}

/* Not silenced by --quiet: the trace is less than what the program did. */
static void print_gaps(const struct ab_conversion *c)
{
    if (c->unseen > 0)
        fprintf(stderr, "allocbench: left out %llu frees and resizes of blocks that were allocated "
                "by ways that cannot be recorded\n", (unsigned long long)c->unseen);
    if (c->lost > 0)
        fprintf(stderr, "allocbench: left out %llu calls that did not come to their end\n",
                (unsigned long long)c->lost);
}

static enum ab_status run_and_convert(const struct ab_options *o, const char *program,
                                      struct ab_output *output, int *exit_code,
                                      struct ab_err *err)
{
    struct ab_launch launch;
    struct ab_conversion c;
    char path[PATH_MAX];
    enum ab_status status = ab_launch_begin(&launch, err);
    if (status != AB_OK ||
        (status = ab_launch_run(&launch, program, (char *const *)o->args, exit_code, err)) != AB_OK)
        goto out;
    snprintf(path, sizeof path, "%s", output->path);
    if ((status = ab_spool_convert(launch.dir, output->to, &c, err)) != AB_OK ||
        (status = ab_output_commit(output, err)) != AB_OK) {
        *exit_code = AB_RECORD_FAILED;
        goto out;
    }
    if (!o->is_quiet)
        print_summary(&c, path);
    print_gaps(&c);
out:
    ab_launch_end(&launch);
    return status;
}

enum ab_status ab_cmd_record(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_output output = {0};
    char program[PATH_MAX];
    *exit_code = AB_RECORD_FAILED;
    if (o->n_args == 0)
        return ab_fail(err, AB_USAGE,
                       "record needs a command: allocbench record -o FILE.abt -- COMMAND …");
    enum ab_status status =
        ab_target_find(o->args[0], program, sizeof program, exit_code, err);
    if (status != AB_OK)
        return status;
    *exit_code = AB_RECORD_FAILED;
    if ((status = open_output(o, &output, err)) == AB_OK)
        status = run_and_convert(o, program, &output, exit_code, err);
    ab_output_abandon(&output); /* does nothing to one that is committed */
    return status;
}
