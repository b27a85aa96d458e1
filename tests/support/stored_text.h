/* SPDX-License-Identifier: MIT
 *
 * Text in memory, read as a stored result.
 */
#ifndef AB_TESTS_SUPPORT_STORED_TEXT_H
#define AB_TESTS_SUPPORT_STORED_TEXT_H

#include "document/read_result.h"
#include "support/cmocka.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static inline enum ab_status read_text(const char *text, size_t n, struct ab_stored *out,
                                       struct ab_err *err)
{
    char path[64];
    int fd = memfd_create("result", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, n), (ssize_t)n);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    enum ab_status status = ab_stored_read(path, out, err);
    close(fd);
    return status;
}

#endif
