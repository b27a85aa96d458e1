/* SPDX-License-Identifier: MIT
 *
 * Owns the descriptor, the compressed bytes with the state of zlib or zstd, and the current line. A
 * file may have several gzip members or zstd frames, as the two tools allow. RFC 8878, 3.1.1.1,
 * describes the heads of frames.
 */
#include "exchange/feed.h"

#include "core/alloc.h"
#include "core/text.h"
#include "core/units_show.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

/* ---- decompression ---- */

enum { PACKED_BYTES = 1 << 16, SNIFFED = 6, GZIP_WINDOW = 15 + 16 };
enum { WINDOW_LOG2_MAX = 27, FRAME_HEAD_MAX = 18 }; /* the window limit is that of the zstd tool */

enum packing { UNKNOWN, PLAIN, GZIP, ZSTD };

struct unpack { /* bytes of a descriptor, decompressed if they are gzip or zstd */
    int fd;
    enum packing packing;
    uint8_t packed[PACKED_BYTES];
    size_t at, n;    /* position and number of bytes in `packed` */
    uint64_t offset; /* position of packed[n] in the file */
    bool is_over;    /* True at the end of the file */
    bool is_within;  /* True inside a member or frame */
    z_stream z;
    ZSTD_DStream *zstd;
};

static enum ab_status fill_packed(struct unpack *u, struct ab_err *err)
{
    memmove(u->packed, u->packed + u->at, u->n - u->at);
    u->n -= u->at;
    u->at = 0;
    ssize_t k;
    do
        k = read(u->fd, u->packed + u->n, PACKED_BYTES - u->n);
    while (k < 0 && errno == EINTR);
    if (k < 0)
        return ab_fail_errno(err, AB_INPUT, "byte %llu: cannot read",
                             (unsigned long long)u->offset);
    u->n += (size_t)k;
    u->offset += (uint64_t)k;
    u->is_over = k == 0;
    return AB_OK;
}

/* Refuses a file with unsupported compression; the message has the command that decompresses it. */
static enum ab_status refuse_other_packing(const struct unpack *u, struct ab_err *err)
{
    static const struct {
        const char *head;
        size_t n;
        const char *name, *tool;
    } others[] = {
        {"\xfd"
         "7zXZ",
         5, "xz", "xz -dc"},
        {"BZh", 3, "bzip2", "bzip2 -dc"},
        {"\x04\x22\x4d\x18", 4, "lz4", "lz4 -dc"},
        {"PK\x03\x04", 4, "zip", "unzip -p"},
        {"\x1f\x9d", 2, "compress", "gzip -dc"},
        {"7z\xbc\xaf", 4, "7-Zip", "7z x -so"},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (u->n >= others[i].n && memcmp(u->packed, others[i].head, others[i].n) == 0)
            return ab_fail(err, AB_INPUT,
                           "compressed by %s, which is not read; unpack it first: %s FILE | "
                           "allocbench trace import - -o OUT.abt",
                           others[i].name, others[i].tool);
    return AB_OK;
}

static enum ab_status sniff(struct unpack *u, struct ab_err *err)
{
    static const uint8_t gzip[] = {0x1f, 0x8b}, zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
    while (u->n < SNIFFED && !u->is_over)
        AB_TRY(fill_packed(u, err));
    AB_TRY(refuse_other_packing(u, err));
    u->packing = PLAIN;
    if (u->n >= sizeof gzip && memcmp(u->packed, gzip, sizeof gzip) == 0) {
        if (inflateInit2(&u->z, GZIP_WINDOW) != Z_OK)
            return ab_fail(err, AB_SYSTEM, "out of memory");
        u->packing = GZIP;
    } else if (u->n >= sizeof zstd && memcmp(u->packed, zstd, sizeof zstd) == 0) {
        u->packing = ZSTD;
        if ((u->zstd = ZSTD_createDStream()) == NULL ||
            ZSTD_isError(ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax, WINDOW_LOG2_MAX)))
            return ab_fail(err, AB_SYSTEM, "out of memory");
    }
    return AB_OK;
}

/* Returns the position in the file of the next compressed byte to be consumed. */
static uint64_t unpack_offset(const struct unpack *u)
{
    return u->offset - (u->n - u->at);
}

static enum ab_status refuse(const struct unpack *u, const char *packing, const char *why,
                             struct ab_err *err)
{
    return ab_fail(err, AB_INPUT, "byte %llu: not %s data: %s",
                   (unsigned long long)unpack_offset(u), packing, why);
}

static enum ab_status unpack_gzip(struct unpack *u, void *to, size_t cap, size_t *n,
                                  struct ab_err *err)
{
    if (!u->is_within && inflateReset(&u->z) != Z_OK)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    u->is_within = true;
    u->z.next_in = u->packed + u->at;
    u->z.avail_in = (uInt)(u->n - u->at);
    u->z.next_out = to;
    u->z.avail_out = (uInt)cap;
    int result = inflate(&u->z, Z_NO_FLUSH);
    u->at = u->n - u->z.avail_in;
    *n = cap - u->z.avail_out;
    if (result == Z_MEM_ERROR)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        return refuse(u, "gzip", u->z.msg != NULL ? u->z.msg : "corrupt", err);
    u->is_within = result != Z_STREAM_END;
    return AB_OK;
}

/* Returns the window size of the next frame, whose head is completely buffered. */
static uint64_t frame_window(const struct unpack *u)
{
    const uint8_t *head = u->packed + u->at;
    uint64_t bytes = UINT64_C(1) << (10 + (head[5] >> 3));
    bool is_one_segment = (head[4] & 0x20) != 0;
    return is_one_segment ? ZSTD_getFrameContentSize(head, u->n - u->at)
                          : bytes + bytes / 8 * (head[5] & 7);
}

/* Reports an error of zstd, which has consumed no input in that case. */
static enum ab_status refuse_zstd(const struct unpack *u, size_t result, struct ab_err *err)
{
    if (ZSTD_getErrorCode(result) != ZSTD_error_frameParameter_windowTooLarge || u->is_within)
        return refuse(u, "zstd", ZSTD_getErrorName(result), err);
    return ab_fail(err, AB_INPUT,
                   "byte %llu: zstd data with a window of %s, at most %s is read; unpack it first: "
                   "zstd -d --long=31",
                   (unsigned long long)unpack_offset(u), AB_BYTES(frame_window(u)),
                   AB_BYTES(UINT64_C(1) << WINDOW_LOG2_MAX));
}

static enum ab_status unpack_zstd(struct unpack *u, void *to, size_t cap, size_t *n,
                                  struct ab_err *err)
{
    while (!u->is_within && u->n - u->at < FRAME_HEAD_MAX && !u->is_over)
        AB_TRY(fill_packed(u, err));
    ZSTD_inBuffer in = {u->packed, u->n, u->at};
    ZSTD_outBuffer out = {to, cap, 0};
    size_t result = ZSTD_decompressStream(u->zstd, &out, &in);
    if (ZSTD_isError(result))
        return refuse_zstd(u, result, err);
    u->at = in.pos;
    *n = out.pos;
    u->is_within = result != 0;
    return AB_OK;
}

static enum ab_status unpack_some(struct unpack *u, void *to, size_t cap, size_t *n,
                                  struct ab_err *err)
{
    if (u->packing == GZIP)
        return unpack_gzip(u, to, cap, n, err);
    if (u->packing == ZSTD)
        return unpack_zstd(u, to, cap, n, err);
    *n = u->n - u->at < cap ? u->n - u->at : cap;
    memcpy(to, u->packed + u->at, *n);
    u->at += *n;
    return AB_OK;
}

/* Reads at most `cap` bytes and sets *n to their number; 0 = end of the file. Sets *is_cut if the
 * file ends inside compressed data. Errors begin with "byte OFFSET: ", the position in the
 * compressed file. */
static enum ab_status unpack_read(struct unpack *u, void *to, size_t cap, size_t *n, bool *is_cut,
                                  struct ab_err *err)
{
    *n = 0;
    *is_cut = false;
    if (u->packing == UNKNOWN)
        AB_TRY(sniff(u, err));
    while (*n == 0) {
        /* the decompressor may return more output without new input */
        bool is_flushing = u->is_within && u->at == u->n;
        if (u->at == u->n && !u->is_over)
            AB_TRY(fill_packed(u, err));
        if (u->at == u->n && !is_flushing)
            break;
        AB_TRY(unpack_some(u, to, cap, n, err));
        if (*n == 0 && u->at == u->n && u->is_over)
            break;
    }
    *is_cut = *n == 0 && u->is_within;
    return AB_OK;
}

/* ---- lines and bytes ---- */

enum { BUFFER_BYTES = 2 * AB_FEED_LINE_MAX, SHOWN_BYTES = 64 };

struct ab_feed {
    char path[1024]; /* printable */
    struct unpack unpack;
    bool is_partial, is_cut, is_over;
    bool keeps_last; /* True to accept a last line without a newline, even with is_partial */
    bool is_unended; /* True if the last returned line has no newline */
    uint64_t line;   /* number of the line returned last, from 1; 0 = the file is read as bytes */
    uint64_t offset; /* position in the unpacked file of the bytes returned last */
    size_t n_last;   /* number of bytes returned last */
    size_t at, n;    /* position and number of bytes in `buffer` */
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
    struct ab_feed *s = ab_alloc(sizeof *s);
    memset(s, 0, offsetof(struct ab_feed, buffer));
    s->is_partial = is_partial;
    s->unpack.fd = fd;
    ab_text_printable(s->path, sizeof s->path, path);
    *out = s;
    return AB_OK;
}

struct ab_feed *ab_feed_open_text(const char *bytes, size_t n)
{
    struct ab_feed *s = ab_alloc(sizeof *s);
    memset(s, 0, offsetof(struct ab_feed, buffer));
    s->is_partial = s->is_over = true;
    s->unpack.fd = -1;
    s->n = n < BUFFER_BYTES ? n : BUFFER_BYTES;
    memcpy(s->buffer, bytes, s->n);
    return s;
}

void ab_feed_close(struct ab_feed *s)
{
    if (s == NULL)
        return;
    if (s->unpack.packing == GZIP)
        inflateEnd(&s->unpack.z);
    ZSTD_freeDStream(s->unpack.zstd);
    if (s->unpack.fd > STDIN_FILENO)
        close(s->unpack.fd);
    free(s);
}

enum ab_feed_end ab_feed_end(const struct ab_feed *s)
{
    return s->is_cut                         ? AB_FEED_CUT
           : s->is_unended && !s->keeps_last ? AB_FEED_IN_DOUBT
                                             : AB_FEED_WHOLE;
}

void ab_feed_keep_last(struct ab_feed *s)
{
    s->keeps_last = true;
}

enum ab_status ab_feed_blame(const struct ab_feed *s, struct ab_err *err)
{
    if (s->line == 0 && s->offset + s->n_last == 0)
        return ab_err_context(err, "%s: ", s->path);
    if (s->line > 0)
        return ab_err_context(err, "%s:%llu: ", s->path, (unsigned long long)s->line);
    return ab_err_context(err, "%s: byte %llu: ", s->path, (unsigned long long)s->offset);
}

__attribute__((format(printf, 3, 0))) static enum ab_status bad_list(const struct ab_feed *s,
                                                                     struct ab_err *err,
                                                                     const char *fmt, va_list args)
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

/* Handles a file that ends inside a line or record: drops the incomplete one, or refuses the
 * file. */
static enum ab_status end_within(struct ab_feed *s, const char *what, struct ab_err *err)
{
    s->at = s->n;
    return ab_feed_end_early(s, err, "the file ends within this %s (--partial leaves it out)",
                             what);
}

enum ab_status ab_feed_odd_line(struct ab_feed *s, const char *line, const char *expected,
                                struct ab_err *err)
{
    char start[SHOWN_BYTES + 1];
    if (s->is_unended)
        return end_within(s, "line", err);
    AB_COPY(start, line);
    return ab_feed_bad(s, err, "found \"%s%s\"; expected %s", AB_SHOWN(4 * SHOWN_BYTES + 1, start),
                       strlen(line) > SHOWN_BYTES ? "…" : "", expected);
}

/* Reads more bytes into the buffer; none at the end of the file. */
static enum ab_status fill(struct ab_feed *s, struct ab_err *err)
{
    size_t n;
    bool is_cut;
    memmove(s->buffer, s->buffer + s->at, s->n - s->at);
    s->n -= s->at;
    s->at = 0;
    enum ab_status status = unpack_read(&s->unpack, s->buffer + s->n, BUFFER_BYTES - s->n, &n,
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
                   s->path, (unsigned long long)unpack_offset(&s->unpack));
}

/* Skips the byte order mark that some Windows editors write before UTF-8, and refuses UTF-16. */
static enum ab_status skip_byte_order_mark(struct ab_feed *s, struct ab_err *err)
{
    const char *text = s->buffer + s->at;
    size_t n = s->n - s->at;
    if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        s->at += 3;
    else if (n >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
        return ab_feed_bad(s, err,
                           "text in UTF-16; convert it first: iconv -f UTF-16 -t UTF-8 FILE | "
                           "allocbench trace import - -o OUT.abt");
    return AB_OK;
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
    if (s->line == 1)
        AB_TRY(skip_byte_order_mark(s, err));
    size_t n = end == NULL ? s->n - s->at : (size_t)(end - s->buffer) - s->at;
    if (n > AB_FEED_LINE_MAX)
        return ab_feed_bad(s, err, "a line of more than %d bytes", AB_FEED_LINE_MAX);
    if (memchr(s->buffer + s->at, 0, n) != NULL)
        return ab_feed_bad(s, err, "a NUL byte, so this is not a text file");
    if (end == NULL && (s->is_cut || (s->is_partial && !s->keeps_last)))
        return end_within(s, "line", err);
    s->is_unended = end == NULL;
    end = s->buffer + s->at + n; /* the buffer has one byte more */
    *end = 0;
    if (n > 0 && end[-1] == '\r')
        end[-1] = 0;
    *line = s->buffer + s->at;
    s->at += n + !s->is_unended;
    return AB_OK;
}

enum ab_status ab_feed_peek(struct ab_feed *s, const char **bytes, size_t *n, struct ab_err *err)
{
    while (s->n < AB_FEED_LINE_MAX && !s->is_over)
        AB_TRY(fill(s, err));
    *bytes = s->buffer + s->at;
    *n = s->n - s->at;
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
