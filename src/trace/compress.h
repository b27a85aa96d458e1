/* SPDX-License-Identifier: MIT
 *
 * Compresses chunks of events. The whole file is one zstd stream; each chunk has a piece of it
 * that ends with a flush. A chunk repeats earlier chunks more often than itself: with a stream
 * per chunk, a python trace would be three times as large.
 */
#ifndef AB_TRACE_COMPRESS_H
#define AB_TRACE_COMPRESS_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

/* Makes a compressor for traces. Free it with ZSTD_freeCCtx. */
ZSTD_CCtx *ab_packer_new(void);
/* Compresses raw[0..ends[n_columns - 1]) to `stored`, which has AB_TRACE_STORED_MAX bytes.
 * Flushes at the end of each column, so that zstd has separate statistics for each. */
enum ab_status ab_packer_take(ZSTD_CCtx *p, const uint8_t *raw, const size_t *ends,
                              size_t n_columns, uint8_t *stored, size_t *n_stored,
                              struct ab_err *err);

/* Makes a decompressor. Free it with ZSTD_freeDCtx. */
ZSTD_DCtx *ab_unpacker_new(void);
/* Decompresses one chunk to exactly n_raw bytes; `raw` has room for one more. Returns NULL, or
 * what is wrong as the end of a sentence. */
const char *ab_unpacker_take(ZSTD_DCtx *u, const uint8_t *stored, size_t n_stored, uint8_t *raw,
                             size_t n_raw);

/* Optional chunks are one zstd frame each. `stored` has AB_TRACE_STORED_MAX bytes.
 * ab_optional_unpack returns false if the frame does not have n_raw bytes. */
enum ab_status ab_optional_pack(const uint8_t *raw, size_t n_raw, uint8_t *stored, size_t *n_stored,
                                struct ab_err *err);
bool ab_optional_unpack(const uint8_t *stored, size_t n_stored, uint8_t *raw, size_t n_raw);

#endif
