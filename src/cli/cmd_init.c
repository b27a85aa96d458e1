/* SPDX-License-Identifier: MIT
 *
 * Implements `init`: writes a first workload, and a workflow for CI. Never replaces a file.
 */
#include "base/bits.h"
#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/scaffolds.h"
#include "core/embed.h"
#include "core/output.h"
#include "core/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Embedded files that `init` writes. Each has about 25 lines, so that users can edit it without
 * knowing the language. */
AB_EMBED(frame, "configs/init/frame.yaml")
AB_EMBED(server, "configs/init/server.yaml")
AB_EMBED(churn, "configs/init/churn.yaml")
AB_EMBED(pipeline, "configs/init/pipeline.yaml")
AB_EMBED(ci, "configs/init/allocbench-ci.yaml")
AB_EMBED(workflow, "configs/init/allocbench.yml")

const struct ab_scaffold ab_scaffolds[] = {
    {"frame", {".", "frame.yaml", frame}, {".", "", NULL}},
    {"server", {".", "server.yaml", server}, {".", "", NULL}},
    {"churn", {".", "churn.yaml", churn}, {".", "", NULL}},
    {"pipeline", {".", "pipeline.yaml", pipeline}, {".", "", NULL}},
    {"ci", {".", "allocbench-ci.yaml", ci}, {".github/workflows", "allocbench.yml", workflow}},
};
const size_t ab_scaffold_count = AB_ARRAY_LEN(ab_scaffolds);

enum { NAMES_MAX = 16 };

/* Writes the list of all names to buf. Returns buf. */
static const char *list_names(char *buf, size_t cap)
{
    buf[0] = 0;
    for (size_t i = 0; i < ab_scaffold_count; i++)
        ab_text_join(buf, cap, ", ", ab_scaffolds[i].name);
    return buf;
}

static enum ab_status find(const char *name, const struct ab_scaffold **out, struct ab_err *err)
{
    const char *names[NAMES_MAX] = {NULL};
    char list[256];
    size_t n = 0;
    for (; n < ab_scaffold_count && n < NAMES_MAX; n++) {
        names[n] = ab_scaffolds[n].name;
        if (strcmp(name, names[n]) == 0) {
            *out = &ab_scaffolds[n];
            return AB_OK;
        }
    }
    const char *nearest = ab_text_nearest(name, names, n);
    const char *shown = AB_SHOWN(128, name);
    if (nearest != NULL)
        return ab_fail(err, AB_USAGE, "init: no scaffold is called \"%s\"; did you mean \"%s\"?",
                       shown, nearest);
    return ab_fail(err, AB_USAGE, "init: no scaffold is called \"%s\"; there are %s", shown,
                   list_names(list, sizeof list));
}

/* Fails if the file exists. It is called for both files before either is written. */
static enum ab_status check_free(const struct ab_scaffold_file *file, struct ab_err *err)
{
    char path[256];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", file->folder, file->name);
    const char *shown = strncmp(path, "./", 2) == 0 ? path + 2 : path;
    if (lstat(path, &st) == 0)
        return ab_fail(err, AB_USAGE, "init: %s already exists and is not replaced", shown);
    return errno == ENOENT || errno == ENOTDIR
               ? AB_OK
               : ab_fail_errno(err, AB_USAGE, "init: cannot look at %s", shown);
}

/* Creates each level of a relative path. */
static enum ab_status make_folders(const char *folder, struct ab_err *err)
{
    char path[256];
    size_t n = strlen(folder);
    for (size_t i = 1; i <= n; i++) {
        if (folder[i] != '/' && folder[i] != 0)
            continue;
        snprintf(path, sizeof path, "%.*s", (int)i, folder);
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return ab_fail_errno(err, AB_USAGE, "init: cannot create the folder %s", path);
    }
    return AB_OK;
}

static enum ab_status write_file(const struct ab_scaffold_file *file, struct ab_err *err)
{
    struct ab_output out;
    AB_TRY(make_folders(file->folder, err));
    AB_TRY(ab_output_open_new(file->folder, &out, err));
    fputs(file->text, out.to);
    AB_TRY(ab_output_commit_as(&out, file->name, err));
    printf("wrote %s%s%s\n", strcmp(file->folder, ".") == 0 ? "" : file->folder,
           strcmp(file->folder, ".") == 0 ? "" : "/", file->name);
    return AB_OK;
}

enum ab_status ab_cmd_init(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    const struct ab_scaffold *scaffold = NULL;
    char list[256];
    (void)exit_code;
    if (o->n_args != 1)
        return ab_fail(err, AB_USAGE, "init needs one of %s: allocbench init %s",
                       list_names(list, sizeof list), ab_scaffolds[0].name);
    AB_TRY(find(o->args[0], &scaffold, err));
    bool has_second = scaffold->second.text != NULL;
    AB_TRY(check_free(&scaffold->main, err));
    if (has_second)
        AB_TRY(check_free(&scaffold->second, err));
    AB_TRY(write_file(&scaffold->main, err));
    if (has_second)
        AB_TRY(write_file(&scaffold->second, err));
    printf("next: allocbench check %s\n      allocbench run %s%s\n", scaffold->main.name,
           scaffold->main.name,
           has_second ? " -b glibc,old=./old/libmine.so,new=./libmine.so --base old" : "");
    if (has_second)
        printf("      allocbench calibrate %s\n", scaffold->main.name);
    return AB_OK;
}
