/* SPDX-License-Identifier: MIT
 *
 * Output files that appear whole or not at all.
 */
#include "report/output.h"

#include "core/memory.h"
#include "core/unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/types.h>
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

enum { AB_TEMPORARY_NAME = 64 };

/* Makes files without a name, or with a temporary one, and gives them their name when they are
 * whole. */

static bool has_name(const char *temporary)
{
    return temporary != NULL && temporary[0] != 0;
}

/* Enters an unused name among the leftovers; false with errno. */
static bool choose_name(int directory, char name[AB_TEMPORARY_NAME])
{
    unsigned long long random;
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return false;
    snprintf(name, AB_TEMPORARY_NAME, ".allocbench-%016llx.tmp", random);
    errno = ENFILE;
    return ab_unfinished_enter(directory, name);
}

static int create_named(int directory, mode_t mode, char name[AB_TEMPORARY_NAME])
{
    int fd = -1;
    errno = EEXIST;
    for (int attempt = 0; attempt < 16 && fd < 0 && errno == EEXIST; attempt++) {
        if (!choose_name(directory, name))
            return -1;
        fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd < 0)
            ab_unfinished_forget(directory, name);
    }
    return fd;
}

/* Opened for writing; `name` gets the temporary name, "" = none. −1 with errno on failure.
 * A file without a name is given one through /proc: without that it needs one from the start. */
static int temporary_create(int directory, mode_t mode, char name[AB_TEMPORARY_NAME])
{
    int fd = -1;
    name[0] = 0;
    if (access("/proc/self/fd", X_OK) == 0)
        fd = openat(directory, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
    return fd >= 0 ? fd : create_named(directory, mode, name);
}

/* Removes the name, where there is one (NULL or "": none). */
static void temporary_remove(int directory, const char *temporary)
{
    if (!has_name(temporary))
        return;
    unlinkat(directory, temporary, 0);
    ab_unfinished_forget(directory, temporary);
}

static int link_nameless(int fd, int directory, const char *name)
{
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, self, directory, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

/* Gives the file its name, one that is not taken. 0, or an errno: EEXIST when it is. */
static int temporary_name(int fd, int directory, const char *temporary, const char *name)
{
    if (!has_name(temporary))
        return link_nameless(fd, directory, name);
    int reason = linkat(directory, temporary, directory, name, 0) == 0 ? 0 : errno;
    if (reason != 0 && reason != EEXIST) /* FAT has no links */
        reason = renameat2(directory, temporary, directory, name, RENAME_NOREPLACE) == 0 ? 0
                                                                                         : errno;
    if (reason == 0)
        temporary_remove(directory, temporary);
    return reason;
}

/* Only a rename replaces, and it needs a name to begin with. */
static int rename_over(int directory, const char *temporary, const char *name)
{
    int reason = renameat(directory, temporary, directory, name) == 0 ? 0 : errno;
    temporary_remove(directory, temporary);
    return reason;
}

/* The same, in place of what has the name. What was there is there until the new file is. */
static int temporary_replace(int fd, int directory, const char *temporary, const char *name)
{
    char made[AB_TEMPORARY_NAME];
    if (has_name(temporary))
        return rename_over(directory, temporary, name);
    int reason = link_nameless(fd, directory, name);
    if (reason != EEXIST)
        return reason;
    if (!choose_name(directory, made))
        return errno;
    reason = link_nameless(fd, directory, made);
    if (reason == 0)
        return rename_over(directory, made, name);
    ab_unfinished_forget(directory, made);
    return reason;
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
    fd = temporary_create(o.directory, 0600, name);
    if (fd < 0) {
        status = ab_fail_errno(err, AB_USAGE, "cannot write '%s'", path);
        goto out;
    }
    if (fchmod(fd, mode) != 0 || !keep(&o, fd, path, name)) {
        status = ab_fail_errno(err, AB_SYSTEM, "cannot write '%s'", path);
        temporary_remove(o.directory, name);
        goto out;
    }
    *out = o;
out:
    if (status != AB_OK)
        drop(&o, fd);
    return status;
}

/* Replaces stdout by a stream that writes all of it or keeps the reason why not. */

static int first_failure; /* errno; 0 = none */

/* All of it, or -1: stdio takes a short write for a failure as well. */
static ssize_t write_all(void *cookie, const char *bytes, size_t n)
{
    (void)cookie;
    for (size_t done = 0; done < n;) {
        ssize_t got = write(STDOUT_FILENO, bytes + done, n - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            first_failure = first_failure == 0 ? errno : first_failure;
            return 0; /* a cookie's way to say that it failed */
        }
        done += (size_t)got;
    }
    return (ssize_t)n;
}

void ab_standard_output_begin(void)
{
    FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_all});
    if (stream == NULL)
        return;
    if (isatty(STDOUT_FILENO))
        setvbuf(stream, NULL, _IOLBF, BUFSIZ);
    stdout = stream;
}

static enum ab_status fail(int reason, struct ab_err *err)
{
    errno = reason;
    return reason == EBADF
               ? ab_fail(err, AB_SYSTEM, "cannot write to standard output: it is closed")
               : ab_fail_errno(err, AB_SYSTEM, "cannot write to standard output");
}

/* AB_SYSTEM where nothing can be written to it, as to one that is closed. */
static enum ab_status standard_output_check(struct ab_err *err)
{
    int flags = fcntl(STDOUT_FILENO, F_GETFL);
    return flags < 0 || (flags & O_ACCMODE) == O_RDONLY ? fail(EBADF, err) : AB_OK;
}

enum ab_status ab_standard_output_flush(struct ab_err *err)
{
    errno = 0;
    bool failed = fflush(stdout) != 0 || ferror(stdout);
    int reason = first_failure != 0 ? first_failure : errno;
    return failed ? fail(reason != 0 ? reason : EIO, err) : AB_OK;
}

enum ab_status ab_output_open(const char *path, struct ab_output *out, struct ab_err *err)
{
    if (strcmp(path, "-") != 0)
        return open_file(path, out, err);
    enum ab_status status = standard_output_check(err);
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

/* Renames the file that an output replaces to FILE.old. Returns 0, also where there is none, or an
 * errno. */
static int rename_old(const struct ab_output *out)
{
    char old[NAME_MAX + 8];
    const char *name = base_name(out->path);
    if (faccessat(out->directory, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
        return 0;
    snprintf(old, sizeof old, "%s.old", name);
    *out->has_old = renameat(out->directory, name, out->directory, old) == 0;
    return *out->has_old ? 0 : errno;
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
    if (reason == 0 && out->has_old != NULL)
        reason = rename_old(out);
    if (reason == 0)
        reason = temporary_replace(fileno(out->to), out->directory, out->temporary,
                                   base_name(out->path));
    snprintf(what, sizeof what, "write '%s'", out->path);
    return end_file(out, reason, what, err);
}

void ab_output_abandon(struct ab_output *out)
{
    if (out->to != NULL && out->path != NULL) {
        fclose(out->to);
        temporary_remove(out->directory, out->temporary);
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
        fd = temporary_create(o.directory, 0666, name);
    if (fd < 0) {
        status = ab_fail_errno(err, AB_USAGE, "cannot write to '%s'", folder);
        goto out;
    }
    if (keep(&o, fd, folder, name)) {
        *out = o;
        return AB_OK;
    }
    status = ab_fail_errno(err, AB_SYSTEM, "cannot write to '%s'", folder);
    temporary_remove(o.directory, name);
out:
    drop(&o, fd);
    return status;
}

static int name_new(const struct ab_output *out, const char *name)
{
    return temporary_name(fileno(out->to), out->directory, out->temporary, name);
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
        reason = temporary_replace(fileno(out->to), out->directory, out->temporary, name);
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
