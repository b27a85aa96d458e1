/* SPDX-License-Identifier: MIT
 *
 * Compresses chunks of events. All chunks of a file are one zstd stream; each chunk is a piece of
 * the stream that ends with a flush. Chunks repeat data of earlier chunks more often than their
 * own: with a stream per chunk, a python trace would be three times as large.
 */
#ifndef AB_TRACE_COMPRESS_H
#define AB_TRACE_COMPRESS_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

/* Creates a compressor for traces. Free it with ZSTD_freeCCtx. */
ZSTD_CCtx *ab_packer_new(void);
/* Compresses raw[0..ends[n_columns - 1]) to `stored`, which has room for AB_TRACE_STORED_MAX bytes.
 * Flushes at the end of each column, so that zstd has separate statistics for each. */
enum ab_status ab_packer_take(ZSTD_CCtx *p, const uint8_t *raw, const size_t *ends,
                              size_t n_columns, uint8_t *stored, size_t *n_stored,
                              struct ab_err *err);

/* Creates a decompressor. Free it with ZSTD_freeDCtx. */
ZSTD_DCtx *ab_unpacker_new(void);
/* Decompresses one chunk to exactly n_raw bytes; `raw` has room for one more. Returns NULL, or
 * what is wrong as the end of a sentence. */
const char *ab_unpacker_take(ZSTD_DCtx *u, const uint8_t *stored, size_t n_stored, uint8_t *raw,
                             size_t n_raw);

/* Compress and decompress an optional chunk, which is a zstd frame of its own. ab_optional_pack
 * needs room for AB_TRACE_STORED_MAX bytes in `stored`. ab_optional_unpack returns false if the
 * frame does not have exactly n_raw bytes. */
enum ab_status ab_optional_pack(const uint8_t *raw, size_t n_raw, uint8_t *stored, size_t *n_stored,
                                struct ab_err *err);
bool ab_optional_unpack(const uint8_t *stored, size_t n_stored, uint8_t *raw, size_t n_raw);

#endif
