/* SPDX-License-Identifier: MIT
 *
 * Bytes as a file in memory, for targets whose subject opens a path.
 */
#ifndef AB_TESTS_FUZZ_INPUT_FILE_H
#define AB_TESTS_FUZZ_INPUT_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Returns the descriptor, to be closed; `path` names it for as long. */
static inline int input_file_open(const uint8_t *data, size_t n, char path[64])
{
    int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, n) != (ssize_t)n)
        abort();
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

#endif
