/* SPDX-License-Identifier: MIT
 *
 * Checks that the recorder can be loaded into the command, and makes and removes the folder of its
 * spool.
 */
#include "cli/record/launch.h"

#include "core/text.h"
#include "program/program_file.h"
#include "record/relay.h"
#include "runner/spawn.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* LD_PRELOAD splits at spaces and colons and expands '$': then a library is named by a link in the
 * folder. Only then: what the command leaves running in the background outlives the folder,
 * and ld.so would complain to it of a recorder that is gone. */
static enum ab_status alias_library(const struct ab_launch *l, const char *name, char path[4096],
                                    struct ab_err *err)
{
    char alias[PATH_MAX];
    if (strpbrk(path, " :;,$\t\n") == NULL)
        return AB_OK;
    snprintf(alias, sizeof alias, "%s/%s", l->folder, name);
    if (symlink(path, alias) != 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot write in %s", l->folder);
    snprintf(path, 4096, "%s", alias);
    return AB_OK;
}

enum ab_status ab_launch_mark_frames(struct ab_launch *l, struct ab_err *err)
{
    AB_TRY(ab_companion_path(AB_FRAMES_NAME, l->frames, sizeof l->frames, err));
    return alias_library(l, "frames.so", l->frames, err);
}

/* The command may change its folder: the path has to be a whole one. */
static enum ab_status make_named_folder(struct ab_launch *l, const char *path, struct ab_err *err)
{
    char whole[PATH_MAX], shown[512];
    ab_text_printable(shown, sizeof shown, path);
    if (mkdir(path, 0700) != 0)
        return ab_fail_errno(err, AB_USAGE, "cannot create the folder %s for the spool", shown);
    bool has_path = realpath(path, whole) != NULL && strlen(whole) <= sizeof l->folder - 64;
    if (!has_path) {
        rmdir(path);
        return ab_fail(err, AB_USAGE, "the path of %s is too long for a spool", shown);
    }
    snprintf(l->folder, sizeof l->folder, "%.*s", (int)sizeof l->folder - 1, whole);
    return AB_OK;
}

static enum ab_status make_folder(struct ab_launch *l, struct ab_err *err)
{
    const char *places[] = {getenv("TMPDIR"), "/tmp", "/var/tmp"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (places[i] == NULL || strpbrk(places[i], " :;,$\t\n") != NULL || places[i][0] != '/' ||
            strlen(places[i]) > sizeof l->folder - 64)
            continue;
        snprintf(l->folder, sizeof l->folder, "%s/allocbench-XXXXXX", places[i]);
        if (mkdtemp(l->folder) != NULL)
            return AB_OK;
    }
    l->folder[0] = 0;
    return ab_fail_errno(err, AB_SYSTEM,
                         "cannot create a folder for the spool in $TMPDIR, /tmp or /var/tmp");
}

/* Within the private one; for processes of whatever user. */
static enum ab_status make_open_folder(struct ab_launch *l, struct ab_err *err)
{
    snprintf(l->spool, sizeof l->spool, "%s/%s", l->folder, AB_SPOOL_FOLDER);
    if (mkdir(l->spool, 0700) != 0 || chmod(l->spool, 0777) != 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot write in %s", l->folder);
    snprintf(l->part, sizeof l->part, "%s/%s", l->folder, AB_LIVE_CONVERTER_PART);
    return AB_OK;
}

static const struct ab_program_use recording = {
    .done = "recorded",
    .loaded = "the recorder",
    .needs = "the recorder needs glibc",
};

enum ab_status ab_launch_check(const char *path, struct ab_err *err)
{
    return ab_program_file_check(path, &recording, err);
}

enum ab_status ab_launch_prepare(const char *command, const char *spool, struct ab_launch *out,
                                 int *exit_code, struct ab_err *err)
{
    struct ab_launch l = {.folder = ""};
    *exit_code = AB_LAUNCH_NOT_FOUND;
    if (!ab_program_file_find(command, l.program, sizeof l.program)) {
        bool is_there = strchr(command, '/') != NULL && access(command, F_OK) == 0;
        if (is_there)
            *exit_code = AB_LAUNCH_CANNOT_RUN;
        return ab_fail(err, AB_USAGE, is_there ? "%s is not executable" : "%s: no such program",
                       AB_SHOWN(512, command));
    }
    *exit_code = AB_LAUNCH_FAILED;
    enum ab_status status = ab_launch_check(l.program, err);
    if (status == AB_OK)
        status = ab_companion_path(AB_RECORDER_NAME, l.recorder, sizeof l.recorder, err);
    if (status != AB_OK)
        return status;
    ab_launch_hold_signals(&l);
    status = spool != NULL ? make_named_folder(&l, spool, err) : make_folder(&l, err);
    if (status == AB_OK)
        status = make_open_folder(&l, err);
    if (status != AB_OK || (status = alias_library(&l, "recorder.so", l.recorder, err)) != AB_OK)
        ab_launch_clean(&l);
    else
        *out = l;
    return status;
}

static void remove_folder(const char *path)
{
    DIR *folder = path[0] == 0 ? NULL : opendir(path);
    if (folder == NULL)
        return;
    for (struct dirent *e; (e = readdir(folder)) != NULL;)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlinkat(dirfd(folder), e->d_name, 0);
    closedir(folder);
    rmdir(path);
}

void ab_launch_clean(struct ab_launch *l)
{
    ab_live_converter_close(l->along);
    l->along = NULL;
    ab_relay_close(l->relay);
    l->relay = NULL;
    if (!l->is_kept) {
        remove_folder(l->spool);
        remove_folder(l->folder);
    }
    l->folder[0] = l->spool[0] = 0;
    ab_launch_drop_signals(l);
}
