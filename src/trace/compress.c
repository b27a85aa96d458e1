/* SPDX-License-Identifier: MIT
 *
 * One zstd stream over all chunks of a file.
 */
#include "trace/compress.h"

#include "base/bits.h"
#include "core/alloc.h"
#include "trace/format.h"

#include <zstd_errors.h>

enum { COLUMN_LEAST = 256 };

/* These parameters take half the time of plain level 6 at the same file size. In columns of one or
 * two bytes per value, repetitions shorter than six bytes save nothing, nor do a long search or a
 * table larger than the cache. Only long-distance matching finds what a program repeats after a
 * million calls. */
static const struct {
    ZSTD_cParameter name;
    int value;
} parameters[] = {
    {ZSTD_c_compressionLevel, 6}, {ZSTD_c_windowLog, AB_TRACE_WINDOW_LOG},
    {ZSTD_c_minMatch, 6},         {ZSTD_c_searchLog, 2},
    {ZSTD_c_hashLog, 17},         {ZSTD_c_enableLongDistanceMatching, 1},
};

ZSTD_CCtx *ab_packer_new(void)
{
    ZSTD_CCtx *p = ZSTD_createCCtx();
    for (size_t i = 0; i < AB_ARRAY_LEN(parameters); i++)
        if (p == NULL ||
            ZSTD_isError(ZSTD_CCtx_setParameter(p, parameters[i].name, parameters[i].value)))
            ab_memory_end(sizeof parameters);
    return p;
}

enum ab_status ab_packer_take(ZSTD_CCtx *p, const uint8_t *raw, const size_t *ends,
                              size_t n_columns, uint8_t *stored, size_t *n_stored,
                              struct ab_err *err)
{
    ZSTD_outBuffer out = {stored, AB_TRACE_STORED_MAX, 0};
    size_t begin = 0;
    for (size_t i = 0; i < n_columns; i++) {
        if (ends[i] - begin < COLUMN_LEAST && i + 1 < n_columns)
            continue; /* separate statistics for so short a column would cost more than they save */
        ZSTD_inBuffer in = {raw + begin, ends[i] - begin, 0};
        size_t left = ZSTD_compressStream2(p, &out, &in, ZSTD_e_flush);
        if (ZSTD_isError(left))
            return ab_fail(err, AB_SYSTEM, "cannot compress: %s", ZSTD_getErrorName(left));
        if (left != 0)
            return ab_fail(err, AB_SYSTEM, "cannot compress: the chunk is too large");
        begin = ends[i];
    }
    *n_stored = out.pos;
    return AB_OK;
}

ZSTD_DCtx *ab_unpacker_new(void)
{
    ZSTD_DCtx *u = ZSTD_createDCtx();
    if (u == NULL ||
        ZSTD_isError(ZSTD_DCtx_setParameter(u, ZSTD_d_windowLogMax, AB_TRACE_WINDOW_LOG)))
        ab_memory_end(AB_TRACE_RAW_MAX);
    return u;
}

/* True if decompression failed because of its input. Running out of memory ends the process
 * instead. */
static bool is_wrong(size_t result)
{
    if (ZSTD_isError(result) && ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
        ab_memory_end(AB_TRACE_RAW_MAX);
    return ZSTD_isError(result);
}

const char *ab_unpacker_take(ZSTD_DCtx *u, const uint8_t *stored, size_t n_stored, uint8_t *raw,
                             size_t n_raw)
{
    ZSTD_inBuffer in = {stored, n_stored, 0};
    /* one byte more, to detect chunks that are too long */
    ZSTD_outBuffer out = {raw, n_raw + 1, 0};
    size_t in_before, out_before;
    do {
        in_before = in.pos;
        out_before = out.pos;
        size_t left = ZSTD_decompressStream(u, &out, &in);
        if (is_wrong(left))
            return ZSTD_getErrorName(left);
        if (left == 0)
            return "the stream ends within the file";
    } while (out.pos <= n_raw && (in.pos > in_before || out.pos > out_before));
    if (out.pos > n_raw || in.pos < in.size)
        return "longer than declared";
    return out.pos < n_raw ? "shorter than declared" : NULL;
}

enum ab_status ab_optional_pack(const uint8_t *raw, size_t n_raw, uint8_t *stored, size_t *n_stored,
                                struct ab_err *err)
{
    enum { LEVEL = 4 };
    size_t n = ZSTD_compress(stored, AB_TRACE_STORED_MAX, raw, n_raw, LEVEL);
    if (ZSTD_isError(n))
        return ab_fail(err, AB_SYSTEM, "cannot compress: %s", ZSTD_getErrorName(n));
    *n_stored = n;
    return AB_OK;
}

bool ab_optional_unpack(const uint8_t *stored, size_t n_stored, uint8_t *raw, size_t n_raw)
{
    size_t n = ZSTD_decompress(raw, n_raw, stored, n_stored);
    return !is_wrong(n) && n == n_raw;
}
