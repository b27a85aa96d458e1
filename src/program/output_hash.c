/* SPDX-License-Identifier: MIT
 *
 * Reads the output of programs from pipes without blocking, and keeps at most one buffer of it.
 */
#include "core/status.h"
#include "core/text.h"
#include "program/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

enum { PIPE_BYTES = 1 << 20, BUFFER_BYTES = 1 << 16, READS_AT_ONCE = 64 };

enum ab_status ab_program_output_open(struct ab_program_output *o, bool is_hashed,
                                      struct ab_err *err)
{
    int ends[2];
    *o = (struct ab_program_output){.read_fd = -1, .write_fd = -1};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot start the program: pipe");
    o->read_fd = ends[0];
    o->write_fd = ends[1];
    fcntl(o->read_fd, F_SETFL, O_NONBLOCK);
    /* a large pipe, so that the program rarely has to wait until we read */
    fcntl(o->read_fd, F_SETPIPE_SZ, PIPE_BYTES);
    if (!is_hashed)
        return AB_OK;
    o->hash = XXH3_createState();
    if (o->hash == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    XXH3_128bits_reset(o->hash);
    return AB_OK;
}

void ab_program_output_started(struct ab_program_output *o)
{
    close(o->write_fd);
    o->write_fd = -1;
}

static void keep_tail(struct ab_program_output *o, const char *bytes, size_t n)
{
    const size_t most = AB_OUTPUT_TAIL;
    if (n > most) {
        bytes += n - most;
        n = most;
    }
    size_t kept = o->n_tail + n > most ? most - n : o->n_tail;
    memmove(o->tail, o->tail + o->n_tail - kept, kept);
    memcpy(o->tail + kept, bytes, n);
    o->n_tail = kept + n;
    o->tail[o->n_tail] = 0;
}

void ab_program_output_take(struct ab_program_output *o)
{
    static char buffer[BUFFER_BYTES];
    for (int i = 0; i < READS_AT_ONCE && o->read_fd >= 0; i++) {
        ssize_t n = read(o->read_fd, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return;
        if (n == 0) {
            close(o->read_fd);
            o->read_fd = -1;
            return;
        }
        o->bytes += (uint64_t)n;
        if (o->hash != NULL)
            XXH3_128bits_update(o->hash, buffer, (size_t)n);
        else
            keep_tail(o, buffer, (size_t)n);
    }
}

struct ab_output_digest ab_program_output_finish(struct ab_program_output *o)
{
    uint64_t before;
    do {
        before = o->bytes;
        ab_program_output_take(o);
    } while (o->bytes > before);
    struct ab_output_digest d = {.bytes = o->bytes};
    if (o->hash != NULL) {
        XXH128_hash_t h = XXH3_128bits_digest(o->hash);
        d.high = h.high64;
        d.low = h.low64;
    }
    return d;
}

const char *ab_program_output_says(const struct ab_program_output *o, char *buf, size_t cap)
{
    char line[AB_OUTPUT_TAIL + 1];
    memcpy(line, o->tail, sizeof line);
    for (size_t n = o->n_tail; n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r'); n--)
        line[n - 1] = 0;
    const char *last = strrchr(line, '\n');
    return ab_text_printable(buf, cap, last != NULL ? last + 1 : line);
}

void ab_program_output_fini(struct ab_program_output *o)
{
    if (o->read_fd >= 0)
        close(o->read_fd);
    if (o->write_fd >= 0)
        close(o->write_fd);
    XXH3_freeState(o->hash);
    o->read_fd = o->write_fd = -1;
    o->hash = NULL;
}
