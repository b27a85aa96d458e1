/* SPDX-License-Identifier: MIT
 *
 * Reads to the end: files of /proc come in parts.
 */
#include "program/proc.h"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

size_t ab_proc_read(const char *path, char *buf, size_t cap)
{
    size_t n = 0;
    ssize_t got;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && n + 1 < cap && (got = read(fd, buf + n, cap - 1 - n)) > 0)
        n += (size_t)got;
    if (fd >= 0)
        close(fd);
    buf[n] = 0;
    return n;
}
