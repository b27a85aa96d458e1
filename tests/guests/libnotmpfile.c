/* SPDX-License-Identifier: MIT
 *
 * A file system without files that have no name, as FAT, NFS and many FUSE ones are: to be preloaded
 * into allocbench itself.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>

typedef int open_at(int directory, const char *path, int flags, ...);

static int open_named(const char *symbol, int directory, const char *path, int flags, int mode)
{
    if ((flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return ((open_at *)dlsym(RTLD_NEXT, symbol))(directory, path, flags, mode);
}

#define REPLACE(name) \
    int name(int directory, const char *path, int flags, ...) \
    { \
        va_list args; \
        va_start(args, flags); \
        int mode = (flags & O_CREAT) != 0 ? va_arg(args, int) : 0; \
        va_end(args); \
        return open_named(#name, directory, path, flags, mode); \
    }

REPLACE(openat)
REPLACE(openat64)
