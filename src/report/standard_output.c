/* SPDX-License-Identifier: MIT
 *
 * Replaces stdout by a stream that writes all of it or keeps the reason why not.
 */
#include "report/standard_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

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

enum ab_status ab_standard_output_check(struct ab_err *err)
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
