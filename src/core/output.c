/* SPDX-License-Identifier: MIT
 *
 * Writes output files that appear either complete or not at all.
 */
#include "core/output.h"

#include "core/alloc.h"
#include "core/text.h"
#include "core/unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

static enum ab_status open_directory(const char *path, int *out, struct ab_err *err)
{
    const char *base = basename(path);
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

/* Sets *mode for the new file: the mode of the existing file, or what the umask allows. Fails if
 * the existing file must not be replaced. */
static enum ab_status check_target(int directory, const char *path, mode_t *mode,
                                   struct ab_err *err)
{
    struct stat st;
    const char *base = basename(path);
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

/* Releases an output that could not be opened. */
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

/* Stores the open file in *o. Returns false and sets errno if there is no memory. */
static bool keep(struct ab_output *o, int fd, const char *path, const char *name)
{
    o->path = ab_strdup(path);
    o->temporary = name[0] != 0 ? ab_strdup(name) : NULL;
    o->to = fdopen(fd, "w");
    return o->to != NULL && (name[0] == 0) == (o->temporary == NULL);
}

enum { AB_TEMPORARY_NAME = 64 };

/* ---- files that have no name, or a temporary one, until they are complete ---- */

static bool has_name(const char *temporary)
{
    return temporary != NULL && temporary[0] != 0;
}

/* Chooses an unused name and registers it, so that the file is removed if a signal ends the
 * process. Returns false and sets errno on failure. */
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

/* Creates a file for writing and returns its descriptor. `name` receives the temporary name; "" =
 * the file has no name. Returns -1 and sets errno on failure. A file without a name is later named
 * through /proc. If there is no /proc, the file needs a temporary name. */
static int temporary_create(int directory, mode_t mode, char name[AB_TEMPORARY_NAME])
{
    int fd = -1;
    name[0] = 0;
    if (access("/proc/self/fd", X_OK) == 0)
        fd = openat(directory, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
    return fd >= 0 ? fd : create_named(directory, mode, name);
}

/* Removes the file with the temporary name; NULL or "" = there is none. */
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
    AB_FIT(self, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, self, directory, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

/* Gives the file a name that must not exist yet. Returns 0 or an errno; EEXIST if the name
 * exists. */
static int temporary_name(int fd, int directory, const char *temporary, const char *name)
{
    if (!has_name(temporary))
        return link_nameless(fd, directory, name);
    int reason = linkat(directory, temporary, directory, name, 0) == 0 ? 0 : errno;
    if (reason != 0 && reason != EEXIST) /* renames instead, because FAT has no hard links */
        reason = renameat2(directory, temporary, directory, name, RENAME_NOREPLACE) == 0 ? 0
                                                                                         : errno;
    if (reason == 0)
        temporary_remove(directory, temporary);
    return reason;
}

/* Replaces the file `name` by renaming the new file, which must have a temporary name. */
static int rename_over(int directory, const char *temporary, const char *name)
{
    int reason = renameat(directory, temporary, directory, name) == 0 ? 0 : errno;
    temporary_remove(directory, temporary);
    return reason;
}

/* Gives the file its name. An existing file of this name stays until the new file takes its place.
 * Returns 0 or an errno. */
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

/* ---- standard output: a stream that writes everything, or keeps the reason of a failure ---- */

static int first_failure; /* errno of the first failure; 0 = none */

/* Writes all bytes, because stdio treats a short write as a failure. Returns 0 on failure. */
static ssize_t write_all(void *cookie, const char *bytes, size_t n)
{
    (void)cookie;
    for (size_t done = 0; done < n;) {
        ssize_t got = write(STDOUT_FILENO, bytes + done, n - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            first_failure = first_failure == 0 ? errno : first_failure;
            return 0; /* tells fopencookie's stream that the write failed */
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

/* Returns AB_SYSTEM if nothing can be written to stdout, for example because it is closed. */
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

/* Syncs a directory. Returns true also if the file system cannot do that (some network and FUSE
 * file systems fail with EINVAL), because the file itself is synced and in place. */
static bool sync_directory(int directory)
{
    return fsync(directory) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP;
}

/* Flushes and syncs the file. Returns 0 or an errno. If stdio does not know why an earlier write
 * failed, writes one more byte to get the errno. The byte does no harm, because the file is
 * discarded. */
static int flush_file(struct ab_output *out)
{
    errno = 0;
    if (fflush(out->to) == 0 && !ferror(out->to) && (out->is_draft || fsync(fileno(out->to)) == 0))
        return 0;
    if (errno == 0 && write(fileno(out->to), "", 1) >= 0)
        return EIO;
    return errno;
}

/* Ends the output. `reason` 0 = the file has got its name and stays; else the errno of the failure
 * to do `what`. */
static enum ab_status end_file(struct ab_output *out, int reason, const char *what,
                               struct ab_err *err)
{
    enum ab_status status = AB_OK;
    if (reason == 0) {
        free(out->temporary); /* the file has its final name, so that abandon only closes it */
        out->temporary = NULL;
        reason = out->is_draft || sync_directory(out->directory) ? 0 : errno;
    }
    errno = reason;
    if (reason != 0)
        status = ab_fail_errno(err, AB_SYSTEM, "cannot %s", what);
    ab_output_abandon(out);
    return status;
}

/* Renames the file that an output replaces to FILE.old. Returns 0 or an errno; 0 also if there is
 * no such file. */
static int rename_old(const struct ab_output *out)
{
    char old[NAME_MAX + 8];
    const char *name = basename(out->path);
    if (faccessat(out->directory, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
        return 0;
    AB_FIT(old, "%s.old", name);
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
                                   basename(out->path));
    AB_FIT(what, "write '%s'", out->path);
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

/* ---- files that must not replace another file ---- */

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
    AB_FIT(what, "store the result in '%s'", out->path);
    return end_file(out, reason, what, err);
}

enum ab_status ab_output_commit_as(struct ab_output *out, const char *name, struct ab_err *err)
{
    char what[1200];
    int reason = flush_file(out);
    if (reason == 0)
        reason = name_new(out, name);
    AB_FIT(what, "write %s in '%s'", name, out->path);
    return end_file(out, reason, what, err);
}

enum ab_status ab_output_commit_over(struct ab_output *out, const char *name, struct ab_err *err)
{
    char what[1200];
    int reason = flush_file(out);
    if (reason == 0)
        reason = temporary_replace(fileno(out->to), out->directory, out->temporary, name);
    AB_FIT(what, "write %s in '%s'", name, out->path);
    return end_file(out, reason, what, err);
}

/* ---- outputs to the same file ---- */

static bool is_same_target(const struct ab_output *a, const struct ab_output *b)
{
    struct stat x, y;
    return fstatat(a->directory, basename(a->path), &x, AT_SYMLINK_NOFOLLOW) == 0 &&
           fstatat(b->directory, basename(b->path), &y, AT_SYMLINK_NOFOLLOW) == 0 &&
           x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool ab_output_is_same(const struct ab_output *a, const struct ab_output *b)
{
    struct stat x, y;
    if (a->to == NULL || b->to == NULL || a->path == NULL || b->path == NULL)
        return a->to != NULL && a->to == b->to;
    if (strcmp(basename(a->path), basename(b->path)) == 0 && fstat(a->directory, &x) == 0 &&
        fstat(b->directory, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino)
        return true;
    return is_same_target(a, b);
}

/* True if the output would replace the file `path`. False if the output is stdout or the path is
 * "-". */
static bool replaces(const struct ab_output *out, const char *path)
{
    struct stat x, y;
    return out->to != NULL && out->path != NULL && strcmp(path, "-") != 0 && stat(path, &x) == 0 &&
           fstatat(out->directory, basename(out->path), &y, AT_SYMLINK_NOFOLLOW) == 0 &&
           x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

enum ab_status ab_output_spare(const struct ab_output *out, const char *path,
                               const char *const *inputs, size_t n, struct ab_err *err)
{
    for (size_t i = 0; i < n; i++)
        if (inputs[i] != NULL && replaces(out, inputs[i]))
            return ab_fail(err, AB_USAGE, "'%s' would replace the file that is read",
                           AB_SHOWN(600, path));
    return AB_OK;
}
