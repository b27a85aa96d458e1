/* SPDX-License-Identifier: MIT
 *
 * Computes the SHA-256 of a file.
 */
#include "core/file_digest.h"

#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <stdint.h>
#include <unistd.h>

bool ab_file_digest(const char *path, char hex[65])
{
    uint8_t buffer[1 << 16];
    SHA2_CTX sha;
    ssize_t n;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return false;
    SHA256Init(&sha);
    while ((n = read(fd, buffer, sizeof buffer)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0)
            SHA256Update(&sha, buffer, (size_t)n);
    int error = errno;
    close(fd);
    errno = error;
    SHA256End(&sha, hex);
    return n == 0;
}
