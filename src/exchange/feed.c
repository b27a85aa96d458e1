/* SPDX-License-Identifier: MIT
 *
 * Owns the descriptor and the line that is being read.
 */
#include "exchange/feed.h"

#include "core/text.h"
#include "exchange/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 2 * AB_FEED_LINE_MAX, SHOWN_BYTES = 64 };

struct ab_feed {
    int fd;
    char path[1024]; /* as shown */
    struct ab_unpack *unpack;
    bool is_partial, is_cut, is_over;
    uint64_t line;   /* number of the last one, from 1; 0 = bytes are read */
    uint64_t offset; /* of the bytes that were handed out last */
    size_t n_last;   /* how many they were */
    size_t at, n;    /* of buffer */
    char buffer[BUFFER_BYTES + 1];
};

static enum ab_status open_file(const char *path, int *out, struct ab_err *err)
{
    struct stat st;
    if (strcmp(path, "-") == 0) {
        *out = STDIN_FILENO;
        return AB_OK;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return ab_fail_errno(err, AB_INPUT, "cannot open %s", AB_SHOWN(600, path));
    if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode)) {
        close(fd);
        return ab_fail(err, AB_INPUT, "%s is %s", AB_SHOWN(600, path),
                       S_ISDIR(st.st_mode) ? "a folder" : "neither a file nor a pipe");
    }
    *out = fd;
    return AB_OK;
}

enum ab_status ab_feed_open(const char *path, bool is_partial, struct ab_feed **out,
                            struct ab_err *err)
{
    int fd;
    AB_TRY(open_file(path, &fd, err));
    struct ab_feed *s = malloc(sizeof *s);
    struct ab_unpack *unpack = ab_unpack_new(fd);
    if (s == NULL || unpack == NULL) {
        if (fd != STDIN_FILENO)
            close(fd);
        ab_unpack_free(unpack);
        free(s);
        return ab_fail(err, AB_SYSTEM, "out of memory");
    }
    memset(s, 0, offsetof(struct ab_feed, buffer));
    s->fd = fd;
    s->is_partial = is_partial;
    s->unpack = unpack;
    ab_text_printable(s->path, sizeof s->path, path);
    *out = s;
    return AB_OK;
}

void ab_feed_close(struct ab_feed *s)
{
    if (s == NULL)
        return;
    ab_unpack_free(s->unpack);
    if (s->fd != STDIN_FILENO)
        close(s->fd);
    free(s);
}

bool ab_feed_is_cut(const struct ab_feed *s)
{
    return s->is_cut;
}

enum ab_status ab_feed_blame(const struct ab_feed *s, struct ab_err *err)
{
    if (s->line == 0 && s->offset + s->n_last == 0)
        return ab_err_context(err, "%s: ", s->path);
    if (s->line > 0)
        return ab_err_context(err, "%s:%llu: ", s->path, (unsigned long long)s->line);
    return ab_err_context(err, "%s: byte %llu: ", s->path, (unsigned long long)s->offset);
}

static enum ab_status bad_list(const struct ab_feed *s, struct ab_err *err, const char *fmt,
                               va_list args)
{
    char text[600];
    vsnprintf(text, sizeof text, fmt, args);
    ab_fail(err, AB_INPUT, "%s", text);
    return ab_feed_blame(s, err);
}

enum ab_status ab_feed_bad(const struct ab_feed *s, struct ab_err *err, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    enum ab_status status = bad_list(s, err, fmt, args);
    va_end(args);
    return status;
}

enum ab_status ab_feed_end_early(struct ab_feed *s, struct ab_err *err, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    enum ab_status status = s->is_partial ? AB_OK : bad_list(s, err, fmt, args);
    va_end(args);
    s->is_cut = true;
    return status;
}

enum ab_status ab_feed_odd_line(const struct ab_feed *s, const char *line, const char *expected,
                                struct ab_err *err)
{
    char start[SHOWN_BYTES + 1];
    snprintf(start, sizeof start, "%s", line);
    return ab_feed_bad(s, err, "found \"%s%s\"; expected %s", AB_SHOWN(4 * SHOWN_BYTES + 1, start),
                       strlen(line) > SHOWN_BYTES ? "…" : "", expected);
}

/* More bytes into the buffer; none when the file has ended. */
static enum ab_status fill(struct ab_feed *s, struct ab_err *err)
{
    size_t n;
    bool is_cut;
    memmove(s->buffer, s->buffer + s->at, s->n - s->at);
    s->n -= s->at;
    s->at = 0;
    enum ab_status status = ab_unpack_read(s->unpack, s->buffer + s->n, BUFFER_BYTES - s->n, &n,
                                           &is_cut, err);
    if (status != AB_OK)
        return status == AB_INPUT ? ab_err_context(err, "%s: ", s->path) : status;
    s->n += n;
    s->is_over = n == 0;
    s->is_cut |= is_cut;
    if (!is_cut || s->is_partial)
        return AB_OK;
    return ab_fail(err, AB_INPUT,
                   "%s: byte %llu: the packed data end here, unfinished (--partial accepts what is "
                   "before)",
                   s->path, (unsigned long long)ab_unpack_offset(s->unpack));
}

/* The file ends within a line or record: left out, or refused. */
static enum ab_status end_within(struct ab_feed *s, const char *what, struct ab_err *err)
{
    s->at = s->n;
    return ab_feed_end_early(s, err, "the file ends within this %s (--partial leaves it out)",
                             what);
}

enum ab_status ab_feed_line(struct ab_feed *s, char **line, struct ab_err *err)
{
    char *end;
    size_t seen = 0;
    *line = NULL;
    while ((end = memchr(s->buffer + s->at + seen, '\n', s->n - s->at - seen)) == NULL &&
           !s->is_over) {
        if ((seen = s->n - s->at) > AB_FEED_LINE_MAX)
            break;
        AB_TRY(fill(s, err));
    }
    if (end == NULL && s->at == s->n)
        return AB_OK;
    s->line++;
    if (end == NULL && s->n - s->at <= AB_FEED_LINE_MAX)
        return end_within(s, "line", err);
    size_t n = end == NULL ? s->n - s->at : (size_t)(end - s->buffer) - s->at;
    if (n > AB_FEED_LINE_MAX)
        return ab_feed_bad(s, err, "a line of more than %d bytes", AB_FEED_LINE_MAX);
    if (memchr(s->buffer + s->at, 0, n) != NULL)
        return ab_feed_bad(s, err, "a NUL byte: this is no text");
    *end = 0;
    if (n > 0 && end[-1] == '\r')
        end[-1] = 0;
    *line = s->buffer + s->at;
    s->at += n + 1;
    return AB_OK;
}

enum ab_status ab_feed_bytes(struct ab_feed *s, size_t n, const uint8_t **bytes, struct ab_err *err)
{
    *bytes = NULL;
    s->offset += s->n_last;
    s->n_last = 0;
    while (s->n - s->at < n && !s->is_over)
        AB_TRY(fill(s, err));
    if (s->at == s->n)
        return AB_OK;
    if (s->n - s->at < n)
        return end_within(s, "record", err);
    *bytes = (const uint8_t *)s->buffer + s->at;
    s->at += n;
    s->n_last = n;
    return AB_OK;
}
