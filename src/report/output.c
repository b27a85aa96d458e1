/* SPDX-License-Identifier: MIT
 *
 * Output files that appear whole or not at all; how they are made is temporary.h's business.
 */
#include "report/output.h"

#include "core/memory.h"
#include "report/files/standard_output.h"
#include "report/files/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *kind_of_file(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "a directory";
    case S_IFLNK:
        return "a symbolic link";
    case S_IFIFO:
        return "a FIFO";
    case S_IFSOCK:
        return "a socket";
    default:
        return "a device";
    }
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static enum ab_status open_directory(const char *path, int *out, struct ab_err *err)
{
    const char *base = base_name(path);
    if (*base == 0)
        return ab_fail(err, AB_USAGE, "cannot write '%s': not a file name", path);
    size_t n = (size_t)(base - path);
    char *directory = n == 0 ? ab_strdup(".") : ab_strndup(path, n);
    if (directory == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(directory);
    if (fd < 0)
        return ab_fail_errno(err, AB_USAGE, "cannot write '%s': its folder", path);
    *out = fd;
    return AB_OK;
}

/* Sets *mode to what the new file shall have: of the old one, else what the umask leaves. */
static enum ab_status check_target(int directory, const char *path, mode_t *mode,
                                   struct ab_err *err)
{
    struct stat st;
    const char *base = base_name(path);
    if (fstatat(directory, base, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno != ENOENT)
            return ab_fail_errno(err, AB_USAGE, "cannot write '%s'", path);
        mode_t mask = umask(0);
        umask(mask);
        *mode = 0666 & ~mask;
        return AB_OK;
    }
    if (!S_ISREG(st.st_mode))
        return ab_fail(err, AB_USAGE,
                       "cannot write '%s': it is %s; allowed are a new name, a regular file, "
                       "or - for standard output",
                       path, kind_of_file(st.st_mode));
    if (faccessat(directory, base, W_OK, AT_EACCESS) != 0)
        return ab_fail_errno(err, AB_USAGE, "cannot replace '%s'", path);
    *mode = st.st_mode & 0777;
    return AB_OK;
}

/* Undoes what there is of an output that could not be opened. */
static void drop(struct ab_output *o, int fd)
{
    if (o->to != NULL)
        fclose(o->to);
    else if (fd >= 0)
        close(fd);
    if (o->directory >= 0)
        close(o->directory);
    free(o->path);
    free(o->temporary);
}

/* What is open goes to *o; false with errno when there is no memory for it. */
static bool keep(struct ab_output *o, int fd, const char *path, const char *name)
{
    o->path = ab_strdup(path);
    o->temporary = name[0] != 0 ? ab_strdup(name) : NULL;
    o->to = fdopen(fd, "w");
    return o->to != NULL && (name[0] == 0) == (o->temporary == NULL);
}

static enum ab_status open_file(const char *path, struct ab_output *out, struct ab_err *err)
{
    char name[AB_TEMPORARY_NAME];
    mode_t mode = 0;
    struct ab_output o = {.directory = -1};
    int fd = -1;
    enum ab_status status = open_directory(path, &o.directory, err);
    if (status == AB_OK)
        status = check_target(o.directory, path, &mode, err);
    if (status != AB_OK)
        goto out;
    fd = ab_temporary_create(o.directory, 0600, name);
    if (fd < 0) {
        status = ab_fail_errno(err, AB_USAGE, "cannot write '%s'", path);
        goto out;
    }
    if (fchmod(fd, mode) != 0 || !keep(&o, fd, path, name)) {
        status = ab_fail_errno(err, AB_SYSTEM, "cannot write '%s'", path);
        ab_temporary_remove(o.directory, name);
        goto out;
    }
    *out = o;
out:
    if (status != AB_OK)
        drop(&o, fd);
    return status;
}

enum ab_status ab_output_open(const char *path, struct ab_output *out, struct ab_err *err)
{
    if (strcmp(path, "-") != 0)
        return open_file(path, out, err);
    enum ab_status status = ab_standard_output_check(err);
    if (status == AB_OK)
        *out = (struct ab_output){.to = stdout, .directory = -1};
    return status;
}

/* A folder that cannot be synced (some network and FUSE file systems say EINVAL) is no reason to
 * fail: the file itself is safe and in place. */
static bool sync_directory(int directory)
{
    return fsync(directory) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP;
}

/* All is in the file: 0, or an errno. A stream does not keep why an earlier write failed: one more
 * byte in a file that will not be kept finds it out. */
static int flush_file(struct ab_output *out)
{
    errno = 0;
    if (fflush(out->to) == 0 && !ferror(out->to) && (out->is_draft || fsync(fileno(out->to)) == 0))
        return 0;
    if (errno == 0 && write(fileno(out->to), "", 1) >= 0)
        return EIO;
    return errno;
}

/* Ends the output, which has its name when reason is 0. */
static enum ab_status end_file(struct ab_output *out, int reason, const char *what,
                               struct ab_err *err)
{
    enum ab_status status = AB_OK;
    if (reason == 0) {
        free(out->temporary); /* no longer its name: what follows only closes */
        out->temporary = NULL;
        reason = out->is_draft || sync_directory(out->directory) ? 0 : errno;
    }
    errno = reason;
    if (reason != 0)
        status = ab_fail_errno(err, AB_SYSTEM, "cannot %s", what);
    ab_output_abandon(out);
    return status;
}

enum ab_status ab_output_commit(struct ab_output *out, struct ab_err *err)
{
    if (out->to == NULL)
        return AB_OK;
    if (out->path == NULL) {
        *out = (struct ab_output){0};
        return ab_standard_output_flush(err);
    }
    char what[1200];
    int reason = flush_file(out);
    if (reason == 0)
        reason = ab_temporary_replace(fileno(out->to), out->directory, out->temporary,
                                      base_name(out->path));
    snprintf(what, sizeof what, "write '%s'", out->path);
    return end_file(out, reason, what, err);
}

void ab_output_abandon(struct ab_output *out)
{
    if (out->to != NULL && out->path != NULL) {
        fclose(out->to);
        ab_temporary_remove(out->directory, out->temporary);
        close(out->directory);
        free(out->path);
        free(out->temporary);
    }
    *out = (struct ab_output){0};
}

/* ---- files that must be new ---- */

enum ab_status ab_output_open_new(const char *folder, struct ab_output *out, struct ab_err *err)
{
    char name[AB_TEMPORARY_NAME];
    int fd = -1;
    struct ab_output o = {.directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    enum ab_status status = AB_SYSTEM;
    if (o.directory >= 0)
        fd = ab_temporary_create(o.directory, 0666, name);
    if (fd < 0) {
        status = ab_fail_errno(err, AB_USAGE, "cannot write to '%s'", folder);
        goto out;
    }
    if (keep(&o, fd, folder, name)) {
        *out = o;
        return AB_OK;
    }
    status = ab_fail_errno(err, AB_SYSTEM, "cannot write to '%s'", folder);
    ab_temporary_remove(o.directory, name);
out:
    drop(&o, fd);
    return status;
}

static int name_new(const struct ab_output *out, const char *name)
{
    return ab_temporary_name(fileno(out->to), out->directory, out->temporary, name);
}

enum ab_status ab_output_commit_new(struct ab_output *out, const char *stem, char *name, size_t cap,
                                    struct ab_err *err)
{
    enum { NAMES_MAX = 10000 };
    char what[512];
    int reason = flush_file(out);
    if (reason == 0)
        reason = EEXIST;
    for (int i = 1; reason == EEXIST && i < NAMES_MAX; i++) {
        if (i == 1)
            snprintf(name, cap, "%s.json", stem);
        else
            snprintf(name, cap, "%s-%d.json", stem, i);
        reason = name_new(out, name);
    }
    snprintf(what, sizeof what, "store the result in '%s'", out->path);
    return end_file(out, reason, what, err);
}

enum ab_status ab_output_commit_as(struct ab_output *out, const char *name, struct ab_err *err)
{
    char what[1200];
    int reason = flush_file(out);
    if (reason == 0)
        reason = name_new(out, name);
    snprintf(what, sizeof what, "write %s in '%s'", name, out->path);
    return end_file(out, reason, what, err);
}

enum ab_status ab_output_commit_over(struct ab_output *out, const char *name, struct ab_err *err)
{
    char what[1200];
    int reason = flush_file(out);
    if (reason == 0)
        reason = ab_temporary_replace(fileno(out->to), out->directory, out->temporary, name);
    snprintf(what, sizeof what, "write %s in '%s'", name, out->path);
    return end_file(out, reason, what, err);
}

/* ---- two that are one ---- */

static bool is_same_target(const struct ab_output *a, const struct ab_output *b)
{
    struct stat x, y;
    return fstatat(a->directory, base_name(a->path), &x, AT_SYMLINK_NOFOLLOW) == 0 &&
           fstatat(b->directory, base_name(b->path), &y, AT_SYMLINK_NOFOLLOW) == 0 &&
           x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool ab_output_is_same(const struct ab_output *a, const struct ab_output *b)
{
    struct stat x, y;
    if (a->to == NULL || b->to == NULL || a->path == NULL || b->path == NULL)
        return a->to != NULL && a->to == b->to;
    if (strcmp(base_name(a->path), base_name(b->path)) == 0 && fstat(a->directory, &x) == 0 &&
        fstat(b->directory, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino)
        return true;
    return is_same_target(a, b);
}

bool ab_output_replaces(const struct ab_output *out, const char *path)
{
    struct stat x, y;
    return out->to != NULL && out->path != NULL && strcmp(path, "-") != 0 && stat(path, &x) == 0 &&
           fstatat(out->directory, base_name(out->path), &y, AT_SYMLINK_NOFOLLOW) == 0 &&
           x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}
