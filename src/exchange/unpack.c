/* SPDX-License-Identifier: MIT
 *
 * Owns the packed bytes and the state of zlib and zstd. Several members of gzip and several frames of
 * zstd follow each other as in the tools of these names. The head of a frame: RFC 8878, 3.1.1.1.
 */
#include "exchange/unpack.h"

#include "core/units_show.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { PACKED_BYTES = 1 << 16, SNIFFED = 4, GZIP_WINDOW = 15 + 16 };
enum { WINDOW_LOG2_MAX = 27, FRAME_HEAD_MAX = 18 }; /* the window is that of the tool */

enum packing { UNKNOWN, PLAIN, GZIP, ZSTD };

struct ab_unpack {
    int fd;
    enum packing packing;
    uint8_t packed[PACKED_BYTES];
    size_t at, n;    /* of packed */
    uint64_t offset; /* of packed[n] in the file */
    bool is_over;    /* the file has no more */
    bool is_within;  /* a member or frame has begun and not ended */
    z_stream z;
    ZSTD_DStream *zstd;
};

struct ab_unpack *ab_unpack_new(int fd)
{
    struct ab_unpack *u = calloc(1, sizeof *u);
    if (u != NULL)
        u->fd = fd;
    return u;
}

void ab_unpack_free(struct ab_unpack *u)
{
    if (u == NULL)
        return;
    if (u->packing == GZIP)
        inflateEnd(&u->z);
    ZSTD_freeDStream(u->zstd);
    free(u);
}

static enum ab_status fill(struct ab_unpack *u, struct ab_err *err)
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

static enum ab_status sniff(struct ab_unpack *u, struct ab_err *err)
{
    static const uint8_t gzip[] = {0x1f, 0x8b}, zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
    while (u->n < SNIFFED && !u->is_over)
        AB_TRY(fill(u, err));
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

uint64_t ab_unpack_offset(const struct ab_unpack *u)
{
    return u->offset - (u->n - u->at);
}

static enum ab_status refuse(const struct ab_unpack *u, const char *packing, const char *why,
                             struct ab_err *err)
{
    return ab_fail(err, AB_INPUT, "byte %llu: not %s data: %s",
                   (unsigned long long)ab_unpack_offset(u), packing, why);
}

static enum ab_status unpack_gzip(struct ab_unpack *u, void *to, size_t cap, size_t *n,
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

/* Of the frame whose head is next: it is there as a whole. */
static uint64_t frame_window(const struct ab_unpack *u)
{
    const uint8_t *head = u->packed + u->at;
    uint64_t bytes = UINT64_C(1) << (10 + (head[5] >> 3));
    bool is_one_segment = (head[4] & 0x20) != 0;
    return is_one_segment ? ZSTD_getFrameContentSize(head, u->n - u->at)
                          : bytes + bytes / 8 * (head[5] & 7);
}

/* An error has taken nothing of the input. */
static enum ab_status refuse_zstd(const struct ab_unpack *u, size_t result, struct ab_err *err)
{
    if (ZSTD_getErrorCode(result) != ZSTD_error_frameParameter_windowTooLarge || u->is_within)
        return refuse(u, "zstd", ZSTD_getErrorName(result), err);
    return ab_fail(err, AB_INPUT,
                   "byte %llu: zstd data with a window of %s, at most %s is read; unpack it first: "
                   "zstd -d --long=31",
                   (unsigned long long)ab_unpack_offset(u), AB_BYTES(frame_window(u)),
                   AB_BYTES(UINT64_C(1) << WINDOW_LOG2_MAX));
}

static enum ab_status unpack_zstd(struct ab_unpack *u, void *to, size_t cap, size_t *n,
                                  struct ab_err *err)
{
    while (!u->is_within && u->n - u->at < FRAME_HEAD_MAX && !u->is_over)
        AB_TRY(fill(u, err));
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

static enum ab_status unpack_some(struct ab_unpack *u, void *to, size_t cap, size_t *n,
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

enum ab_status ab_unpack_read(struct ab_unpack *u, void *to, size_t cap, size_t *n, bool *is_cut,
                              struct ab_err *err)
{
    *n = 0;
    *is_cut = false;
    if (u->packing == UNKNOWN)
        AB_TRY(sniff(u, err));
    while (*n == 0) {
        bool is_flushing = u->is_within && u->at == u->n; /* may hold more without new input */
        if (u->at == u->n && !u->is_over)
            AB_TRY(fill(u, err));
        if (u->at == u->n && !is_flushing)
            break;
        AB_TRY(unpack_some(u, to, cap, n, err));
        if (*n == 0 && u->at == u->n && u->is_over)
            break;
    }
    *is_cut = *n == 0 && u->is_within;
    return AB_OK;
}
