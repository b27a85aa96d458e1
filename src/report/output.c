/* SPDX-License-Identifier: MIT
 *
 * Output files that appear whole or not at all. The temporary file lies in the target's folder,
 * because only there a rename is atomic; its name does not contain the target's, which may be as
 * long as names can be. A process that is killed leaves ".allocbench-….tmp" behind, never half a
 * result.
 */
#include "report/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
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
        return ab_fail(err, AB_USAGE, "cannot write '%s': not the name of a file", path);
    size_t n = (size_t)(base - path);
    char *directory = n == 0 ? strdup(".") : strndup(path, n);
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

/* Creates a file of an unused name; the name goes to `name`. -1 with errno on failure. */
static int create_temporary(int directory, char *name, size_t cap)
{
    int fd = -1;
    for (int attempt = 0; attempt < 16 && fd < 0; attempt++) {
        unsigned long long random;
        if (getrandom(&random, sizeof random, 0) != sizeof random)
            return -1;
        snprintf(name, cap, ".allocbench-%016llx.tmp", random);
        fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST)
            return -1;
    }
    return fd;
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

static enum ab_status open_file(const char *path, struct ab_output *out, struct ab_err *err)
{
    char name[64];
    mode_t mode = 0;
    struct ab_output o = {.directory = -1};
    int fd = -1;
    enum ab_status status = open_directory(path, &o.directory, err);
    if (status == AB_OK)
        status = check_target(o.directory, path, &mode, err);
    if (status != AB_OK)
        goto out;
    fd = create_temporary(o.directory, name, sizeof name);
    if (fd < 0) {
        status = ab_fail_errno(err, AB_USAGE, "cannot write '%s'", path);
        goto out;
    }
    o.path = strdup(path);
    o.temporary = strdup(name);
    o.to = fchmod(fd, mode) == 0 ? fdopen(fd, "w") : NULL;
    if (o.path == NULL || o.temporary == NULL || o.to == NULL) {
        status = ab_fail_errno(err, AB_SYSTEM, "cannot write '%s'", path);
        unlinkat(o.directory, name, 0);
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
    if (fcntl(STDOUT_FILENO, F_GETFD) < 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot write to standard output");
    *out = (struct ab_output){.to = stdout, .directory = -1};
    return AB_OK;
}

static enum ab_status commit_stdout(struct ab_output *out, struct ab_err *err)
{
    errno = 0;
    bool failed = fflush(out->to) != 0 || ferror(out->to);
    *out = (struct ab_output){0};
    if (!failed)
        return AB_OK;
    if (errno == 0) /* it failed earlier, and the stream did not keep why */
        return ab_fail(err, AB_SYSTEM, "cannot write to standard output");
    return ab_fail_errno(err, AB_SYSTEM, "cannot write to standard output");
}

/* A folder that cannot be synced (some network and FUSE file systems say EINVAL) is no reason to
 * fail: the file itself is safe and in place. */
static bool sync_directory(int directory)
{
    return fsync(directory) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP;
}

enum ab_status ab_output_commit(struct ab_output *out, struct ab_err *err)
{
    if (out->to == NULL)
        return AB_OK;
    if (out->path == NULL)
        return commit_stdout(out, err);
    errno = 0;
    bool written = fflush(out->to) == 0 && !ferror(out->to) && fsync(fileno(out->to)) == 0;
    int reason = errno;
    if (fclose(out->to) != 0 && written) {
        written = false;
        reason = errno;
    }
    out->to = NULL;
    if (written && renameat(out->directory, out->temporary, out->directory,
                            base_name(out->path)) == 0) {
        written = sync_directory(out->directory);
        reason = errno;
    } else {
        reason = written ? errno : reason;
        written = false;
        unlinkat(out->directory, out->temporary, 0);
    }
    enum ab_status status = AB_OK;
    errno = reason == 0 ? EIO : reason;
    if (!written)
        status = ab_fail_errno(err, AB_SYSTEM, "cannot write '%s'", out->path);
    close(out->directory);
    free(out->path);
    free(out->temporary);
    *out = (struct ab_output){0};
    return status;
}

void ab_output_abandon(struct ab_output *out)
{
    if (out->to != NULL && out->path != NULL) {
        fclose(out->to);
        if (out->temporary != NULL)
            unlinkat(out->directory, out->temporary, 0);
        close(out->directory);
        free(out->path);
        free(out->temporary);
    }
    *out = (struct ab_output){0};
}

/* ---- files that must be new ---- */

/* A file without a name is given one through /proc; where either is missing, a temporary name. */
static int create_nameless(int directory, char *name, size_t cap)
{
    int fd = -1;
    name[0] = 0;
    if (access("/proc/self/fd", X_OK) == 0)
        fd = openat(directory, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
    return fd >= 0 ? fd : create_temporary(directory, name, cap);
}

enum ab_status ab_output_open_new(const char *folder, struct ab_output *out, struct ab_err *err)
{
    char name[64];
    int fd = -1;
    struct ab_output o = {.directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    enum ab_status status = AB_SYSTEM;
    if (o.directory >= 0)
        fd = create_nameless(o.directory, name, sizeof name);
    if (fd < 0) {
        status = ab_fail_errno(err, AB_USAGE, "cannot write to '%s'", folder);
        goto out;
    }
    o.path = strdup(folder);
    o.temporary = name[0] != 0 ? strdup(name) : NULL;
    o.to = fdopen(fd, "w");
    if (o.to != NULL && o.path != NULL && (name[0] == 0) == (o.temporary == NULL)) {
        *out = o;
        return AB_OK;
    }
    status = ab_fail_errno(err, AB_SYSTEM, "cannot write to '%s'", folder);
    if (name[0] != 0)
        unlinkat(o.directory, name, 0);
out:
    drop(&o, fd);
    return status;
}

/* 0, or an errno; EEXIST when the name is taken. */
static int give_name(const struct ab_output *out, const char *name)
{
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", fileno(out->to));
    if (out->temporary == NULL)
        return linkat(AT_FDCWD, self, out->directory, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
    if (linkat(out->directory, out->temporary, out->directory, name, 0) == 0) {
        unlinkat(out->directory, out->temporary, 0);
        return 0;
    }
    if (errno == EEXIST)
        return errno;
    return renameat2(out->directory, out->temporary, out->directory, name, RENAME_NOREPLACE) == 0
               ? 0
               : errno; /* FAT has no links */
}

/* 0, or an errno: all is in the file. */
static int flush_new(struct ab_output *out)
{
    errno = 0;
    bool written = fflush(out->to) == 0 && !ferror(out->to) && fsync(fileno(out->to)) == 0;
    return written ? 0 : errno != 0 ? errno : EIO;
}

/* Ends the output, which has its name when reason is 0. */
static enum ab_status end_new(struct ab_output *out, int reason, const char *what,
                              struct ab_err *err)
{
    enum ab_status status = AB_OK;
    if (reason == 0 && !sync_directory(out->directory))
        reason = errno;
    if (reason == 0) {
        free(out->temporary);
        out->temporary = NULL; /* what follows only closes */
    } else {
        errno = reason;
        status = ab_fail_errno(err, AB_SYSTEM, "cannot %s in '%s'", what, out->path);
    }
    ab_output_abandon(out);
    return status;
}

enum ab_status ab_output_commit_new(struct ab_output *out, const char *stem, char *name, size_t cap,
                                    struct ab_err *err)
{
    enum { NAMES_MAX = 10000 };
    int reason = flush_new(out);
    if (reason == 0)
        reason = EEXIST;
    for (int i = 1; reason == EEXIST && i < NAMES_MAX; i++) {
        if (i == 1)
            snprintf(name, cap, "%s.json", stem);
        else
            snprintf(name, cap, "%s-%d.json", stem, i);
        reason = give_name(out, name);
    }
    return end_new(out, reason, "store the result", err);
}

enum ab_status ab_output_commit_as(struct ab_output *out, const char *name, struct ab_err *err)
{
    char what[1200];
    int reason = flush_new(out);
    if (reason == 0)
        reason = give_name(out, name);
    snprintf(what, sizeof what, "write %s", name);
    return end_new(out, reason, what, err);
}
