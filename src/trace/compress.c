/* SPDX-License-Identifier: MIT
 *
 * One zstd stream over all chunks of a file, for writing and for reading.
 */
#include "trace/compress.h"

#include "base/bits.h"
#include "trace/format.h"

#include <zstd_errors.h>

enum { COLUMN_LEAST = 256 };

/* Half the time of level 6 as it is, for files that are as large: in columns of one or two bytes a
 * value a repetition of less than six bytes saves nothing, nor does a long search or a table beyond
 * the cache; what a program does again after a million calls only long matches find. */
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
    bool ok = p != NULL;
    for (size_t i = 0; i < AB_ARRAY_LEN(parameters) && ok; i++)
        ok = !ZSTD_isError(ZSTD_CCtx_setParameter(p, parameters[i].name, parameters[i].value));
    if (ok)
        return p;
    ZSTD_freeCCtx(p);
    return NULL;
}

enum ab_status ab_packer_take(ZSTD_CCtx *p, const uint8_t *raw, const size_t *ends,
                              size_t n_columns, uint8_t *stored, size_t *n_stored,
                              struct ab_err *err)
{
    ZSTD_outBuffer out = {stored, AB_TRACE_STORED_MAX, 0};
    size_t begin = 0;
    for (size_t i = 0; i < n_columns; i++) {
        if (ends[i] - begin < COLUMN_LEAST && i + 1 < n_columns)
            continue; /* a table of its own would cost more than it gains */
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
    if (u != NULL &&
        !ZSTD_isError(ZSTD_DCtx_setParameter(u, ZSTD_d_windowLogMax, AB_TRACE_WINDOW_LOG)))
        return u;
    ZSTD_freeDCtx(u);
    return NULL;
}

const char *ab_unpacker_take(ZSTD_DCtx *u, const uint8_t *stored, size_t n_stored, uint8_t *raw,
                             size_t n_raw)
{
    ZSTD_inBuffer in = {stored, n_stored, 0};
    ZSTD_outBuffer out = {raw, n_raw + 1, 0}; /* what is too long shows in the byte too many */
    size_t in_before, out_before;
    do {
        in_before = in.pos;
        out_before = out.pos;
        size_t left = ZSTD_decompressStream(u, &out, &in);
        if (ZSTD_isError(left))
            return ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation
                       ? ab_no_memory
                       : ZSTD_getErrorName(left);
        if (left == 0)
            return "the stream ends within the file";
    } while (out.pos <= n_raw && (in.pos > in_before || out.pos > out_before));
    if (out.pos > n_raw || in.pos < in.size)
        return "longer than declared";
    return out.pos < n_raw ? "shorter than declared" : NULL;
}
