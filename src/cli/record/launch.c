/* SPDX-License-Identifier: MIT
 *
 * Finds the command, refuses what the recorder cannot be loaded into, and makes and removes the
 * folder of its spool.
 */
#include "cli/record/launch.h"

#include "backend/elf.h"
#include "core/text.h"
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
#include <sys/xattr.h>
#include <unistd.h>

enum { SCRIPT_DEPTH_MAX = 4 };

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* As execvp looks: a word with a '/' is a path, others are searched for. */
bool ab_launch_find(const char *command, char *out, size_t cap)
{
    if (strchr(command, '/') != NULL) {
        snprintf(out, cap, "%s", command);
        return is_program(out);
    }
    const char *path = getenv("PATH");
    for (const char *p = path != NULL ? path : "/usr/local/bin:/usr/bin:/bin"; *p != 0;) {
        size_t n = strcspn(p, ":");
        snprintf(out, cap, "%.*s%s%s", (int)n, p, n > 0 ? "/" : "./", command);
        if (is_program(out))
            return true;
        p += n + (p[n] == ':');
    }
    return false;
}

/* "#!interpreter" of a script; false when it is none. */
static bool read_interpreter(const char *path, char *out, size_t cap)
{
    char line[PATH_MAX + 2] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, line, sizeof line - 1);
    if (fd >= 0)
        close(fd);
    if (n < 3 || line[0] != '#' || line[1] != '!')
        return false;
    line[n] = 0;
    char *begin = line + 2 + strspn(line + 2, " \t");
    begin[strcspn(begin, " \t\n")] = 0;
    snprintf(out, cap, "%s", begin);
    return true;
}

static enum ab_status refuse_privileged(const char *path, const char *shown, struct ab_err *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return ab_fail_errno(err, AB_USAGE, "cannot read %s", shown);
    if (((st.st_mode & S_ISUID) != 0 && st.st_uid != geteuid()) ||
        ((st.st_mode & S_ISGID) != 0 && st.st_gid != getegid()))
        return ab_fail(err, AB_USAGE,
                       "%s is setuid or setgid: the system does not preload the recorder into it",
                       shown);
    if (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
        return ab_fail(err, AB_USAGE,
                       "%s has file capabilities: the system does not preload the recorder into it",
                       shown);
    return AB_OK;
}

/* What cannot be read is taken for one: ab_elf_read says why. */
static bool is_elf(const char *path)
{
    char magic[4] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 4 : read(fd, magic, sizeof magic);
    if (fd < 0)
        return true;
    close(fd);
    return n == 4 && memcmp(magic, "\177ELF", 4) == 0;
}

enum ab_status ab_launch_check(const char *path, struct ab_err *err)
{
    char real[PATH_MAX], shown[512], interpreter[256];
    struct ab_elf elf;
    struct ab_err why;
    ab_text_printable(shown, sizeof shown, path);
    snprintf(real, sizeof real, "%s", path);
    for (int depth = 0; read_interpreter(real, real, sizeof real); depth++) {
        if (depth == SCRIPT_DEPTH_MAX)
            return ab_fail(err, AB_USAGE, "%s: nested scripts", shown);
        if (access(real, X_OK) != 0)
            return ab_fail_errno(err, AB_USAGE, "%s cannot be run: its interpreter %s", shown,
                                 ab_text_printable(interpreter, sizeof interpreter, real));
    }
    if (!is_elf(real))
        return ab_fail(err, AB_USAGE,
                       "%s is neither a program nor a script whose first line names "
                       "an interpreter (#!)",
                       shown);
    if (ab_elf_read(real, NULL, 0, &elf, &why) != AB_OK)
        return ab_fail(err, AB_USAGE, "%s cannot be recorded: it %s", shown, why.text);
    if (elf.interp[0] == 0)
        return ab_fail(err, AB_USAGE, "%s is statically linked: the recorder cannot be preloaded",
                       shown);
    if (strstr(elf.interp, "musl") != NULL)
        return ab_fail(err, AB_USAGE, "%s uses musl, the recorder needs glibc", shown);
    return refuse_privileged(real, shown, err);
}

/* LD_PRELOAD splits at spaces and colons and expands '$': then the recorder is named by a link in
 * the folder. Only then: what the command leaves running in the background outlives the folder,
 * and ld.so would complain to it of a recorder that is gone. */
static enum ab_status alias_recorder(struct ab_launch *l, struct ab_err *err)
{
    char alias[PATH_MAX];
    if (strpbrk(l->recorder, " :;,$\t\n") == NULL)
        return AB_OK;
    snprintf(alias, sizeof alias, "%s/recorder.so", l->folder);
    if (symlink(l->recorder, alias) != 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot write in %s", l->folder);
    snprintf(l->recorder, sizeof l->recorder, "%s", alias);
    return AB_OK;
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
    return AB_OK;
}

enum ab_status ab_launch_prepare(const char *command, const char *spool, struct ab_launch *out,
                                 int *exit_code, struct ab_err *err)
{
    struct ab_launch l = {.folder = ""};
    *exit_code = AB_LAUNCH_NOT_FOUND;
    if (!ab_launch_find(command, l.program, sizeof l.program)) {
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
    if (status != AB_OK || (status = alias_recorder(&l, err)) != AB_OK)
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
    ab_relay_close(l->relay);
    l->relay = NULL;
    if (!l->is_kept) {
        remove_folder(l->spool);
        remove_folder(l->folder);
    }
    l->folder[0] = l->spool[0] = 0;
    ab_launch_drop_signals(l);
}
