/* SPDX-License-Identifier: MIT
 *
 * Writes memfds and files without a name, and protects them.
 */
#include "runner/tape/shared_file.h"

#include "base/bits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int ab_unnamed_file(const char **folder)
{
    const char *places[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
    int fd = -1;
    *folder = NULL;
    for (size_t i = 0; i < AB_ARRAY_LEN(places) && fd < 0; i++) {
        *folder = places[i];
        if (places[i] != NULL)
            fd = open(places[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    }
    return fd;
}

enum ab_status ab_shared_file_begin(bool is_held, const char *what, uint64_t begin,
                                    struct ab_shared_file *out, struct ab_err *err)
{
    struct ab_shared_file f = {.is_open = true, .is_held = is_held, .what = what, .end = begin};
    f.fd = is_held ? memfd_create("allocbench", MFD_CLOEXEC | MFD_ALLOW_SEALING)
                   : ab_unnamed_file(&f.folder);
    if (f.fd < 0 && is_held)
        return ab_fail_errno(err, AB_SYSTEM, "cannot make a mapping for %s", what);
    if (f.fd < 0)
        return ab_fail_errno(err, AB_SYSTEM,
                             "cannot make a file for %s in $TMPDIR, /var/tmp or /tmp", what);
    *out = f;
    return AB_OK;
}

void ab_shared_file_abandon(struct ab_shared_file *f)
{
    if (f->is_open)
        close(f->fd);
    *f = (struct ab_shared_file){0};
}

static enum ab_status no_room(const struct ab_shared_file *f, struct ab_err *err)
{
    if (f->is_held)
        return ab_fail_errno(err, AB_SYSTEM, "cannot hold %s in memory", f->what);
    return ab_fail_errno(err, AB_SYSTEM,
                         "no space in %s for %s after %llu bytes; set TMPDIR to another "
                         "folder, or --tape-mem to use more memory",
                         f->folder, f->what, (unsigned long long)f->end);
}

enum ab_status ab_shared_file_write(const struct ab_shared_file *f, uint64_t at, const void *from,
                                    size_t n, struct ab_err *err)
{
    for (size_t done = 0; done < n;) {
        ssize_t k = pwrite(f->fd, (const char *)from + done, n - done, (off_t)(at + done));
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return no_room(f, err);
        done += (size_t)k;
    }
    return AB_OK;
}

enum ab_status ab_shared_file_append(struct ab_shared_file *f, const void *from, size_t n,
                                     uint64_t align, uint64_t *offset, struct ab_err *err)
{
    *offset = ab_align_up(f->end, align);
    enum ab_status status = ab_shared_file_write(f, *offset, from, n, err);
    f->end = *offset + n;
    return status;
}

void ab_shared_file_push(const struct ab_shared_file *f, uint64_t at)
{
    if (!f->is_held)
        sync_file_range(f->fd, (off_t)at, (off_t)(f->end - at), SYNC_FILE_RANGE_WRITE);
}

/* A memfd is sealed (F_SEAL_WRITE would forbid shared mappings that read, too, on kernels before 6.7);
 * of a file no descriptor is left but one that reads. */
enum ab_status ab_shared_file_protect(struct ab_shared_file *f, uint64_t bytes, struct ab_err *err)
{
    char path[64];
    if (ftruncate(f->fd, (off_t)bytes) != 0)
        return no_room(f, err);
    if (f->is_held) {
        int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;
        return fcntl(f->fd, F_ADD_SEALS, seals) == 0
                   ? AB_OK
                   : ab_fail_errno(err, AB_SYSTEM, "cannot seal %s", f->what);
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", f->fd);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot open the file of %s to read", f->what);
    close(f->fd);
    f->fd = fd;
    return AB_OK;
}

enum ab_status ab_shared_file_map(struct ab_shared_file *f, uint64_t bytes, int *fd,
                                  const void **out, struct ab_err *err)
{
    void *p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, f->fd, 0);
    if (p == MAP_FAILED)
        return ab_fail_errno(err, AB_SYSTEM, "cannot map %s", f->what);
    *fd = f->fd;
    *out = p;
    *f = (struct ab_shared_file){0};
    return AB_OK;
}
