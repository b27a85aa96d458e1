/* SPDX-License-Identifier: MIT */
#include "cli/commands.h"
#include "cli/launch.h"
#include "core/text.h"
#include "core/units.h"
#include "record/convert.h"
#include "report/sink.h"

#include <limits.h>
#include <stdlib.h>
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
    case AB_SPOOL_NO_SLOT:
        return "more than 65,536 threads at once";
    default:
        return NULL;
    }
}

/* Nothing that is missing from the trace goes unsaid. */
static void print_summary(const char *path, const struct ab_convert_report *r)
{
    char bytes[32], peak[32];
    fprintf(stderr, "allocbench: %s: %llu events of %llu thread%s, live peak %s in %llu blocks, "
                    "%s (%.3f bytes an event)\n",
            path, (unsigned long long)r->info.events, (unsigned long long)r->info.threads,
            r->info.threads == 1 ? "" : "s",
            ab_units_bytes(peak, sizeof peak, (double)r->info.live_peak_bytes),
            (unsigned long long)r->info.live_peak_blocks,
            ab_units_bytes(bytes, sizeof bytes, (double)r->info.file_bytes),
            (double)r->info.file_bytes / (double)r->info.events);
    if (r->n_repairs > 0)
        fprintf(stderr, "allocbench: the stamps of %llu calls were in an impossible order and were "
                        "repaired, the farthest %llu ticks apart\n",
                (unsigned long long)r->n_repairs, (unsigned long long)r->repair_ticks_max);
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

/* One image into an output that is open; committed when it is whole. */
static enum ab_status convert(const char *folder, const struct ab_spool_entry *image,
                              struct ab_output *out, const char *path, bool is_quiet,
                              struct ab_err *err)
{
    struct ab_convert_report report;
    char shown[512];
    enum ab_status status = ab_convert(folder, image, out->to, &report, NULL, NULL, err);
    ab_text_printable(shown, sizeof shown, path);
    if (status != AB_OK)
        return status;
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

/* The image that is the command's: of its process the last that recorded anything; −1 = none. */
static int find_main(const struct ab_spool_entry *images, size_t n, uint32_t pid,
                     uint32_t *n_programs)
{
    int found = -1;
    for (size_t i = 0; i < n; i++)
        if (images[i].image.pid == pid && images[i].n_events > 0) {
            found = (int)i;
            (*n_programs)++;
        }
    return found;
}

/* "app.abt" of process 17 is "app.17.abt", of its second program "app.17.1.abt". */
static void follow_path(char *out, size_t cap, const char *path, const struct ab_spool_entry *image)
{
    const char *dot = strrchr(base_name(path), '.');
    size_t stem = dot != NULL ? (size_t)(dot - path) : strlen(path);
    char generation[16] = "";
    if (image->generation > 0)
        snprintf(generation, sizeof generation, ".%u", image->generation);
    snprintf(out, cap, "%.*s.%u%s%s", (int)stem, path, image->image.pid, generation,
             path + stem);
}

static enum ab_status keep_children(const struct ab_launch *l,
                                    const struct ab_spool_entry *images, size_t n, int main_image,
                                    const struct ab_options *o, const char *path,
                                    struct ab_err *err)
{
    enum ab_status status = AB_OK;
    for (size_t i = 0; i < n && status == AB_OK; i++) {
        struct ab_output out = {0};
        char name[PATH_MAX];
        if ((int)i == main_image || images[i].n_events == 0)
            continue;
        follow_path(name, sizeof name, path, &images[i]);
        status = ab_output_open(name, &out, err);
        if (status == AB_OK)
            status = convert(l->folder, &images[i], &out, name, o->is_quiet, err);
        ab_output_abandon(&out);
    }
    return status;
}

static enum ab_status keep(const struct ab_launch *l, struct ab_output *out,
                           const struct ab_options *o, const char *path, struct ab_err *err)
{
    struct ab_spool_entry *images = NULL;
    size_t n = 0;
    uint32_t n_programs = 0;
    enum ab_status status = ab_spool_list(l->folder, &images, &n, err);
    if (status != AB_OK)
        return status;
    int at = find_main(images, n, (uint32_t)l->pid, &n_programs);
    if (at < 0 && !(o->is_following && n > 0))
        status = ab_fail(err, AB_INPUT,
                         "%s: not one call of malloc was seen. It may bring its own malloc, or "
                         "start its real work in another process: --follow records that too",
                         base_name(l->program));
    else if (at >= 0)
        status = convert(l->folder, &images[at], out, path, o->is_quiet, err);
    if (status == AB_OK && o->is_following)
        status = keep_children(l, images, n, at, o, path, err);
    else if (status == AB_OK && n_programs > 1 && !o->is_quiet)
        fprintf(stderr, "allocbench: the process replaced its program %u time%s (exec); the last "
                        "one is what was kept (--follow keeps each)\n", n_programs - 1,
                n_programs == 2 ? "" : "s");
    free(images);
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
    launch.takes_children = o->is_following;
    if (status == AB_OK)
        status = ab_output_open(name, &out, err);
    if (status == AB_OK &&
        (status = ab_launch_run(&launch, o->args, &command_code, err)) != AB_OK)
        *exit_code = command_code;
    if (status == AB_OK)
        status = keep(&launch, &out, o, name, err);
    ab_output_abandon(&out);
    ab_launch_clean(&launch);
    if (status == AB_OK)
        *exit_code = command_code;
    return status;
}
