/* SPDX-License-Identifier: MIT
 *
 * The stored bytes of chunks of events: one zstd stream over the whole file, of which each chunk
 * holds a piece that ends with a flush. A chunk repeats what the chunks before it did more often
 * than what it did itself: with a stream of its own each python trace is three times as large.
 */
#ifndef AB_TRACE_COMPRESS_H
#define AB_TRACE_COMPRESS_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

/* Set up for traces. Ends by ZSTD_freeCCtx. */
ZSTD_CCtx *ab_packer_new(void);
/* Packs raw[0..ends[n_columns - 1]); columns end at `ends`, so that zstd can count the bytes of
 * each apart. `stored` has room for AB_TRACE_STORED_MAX bytes. */
enum ab_status ab_packer_take(ZSTD_CCtx *p, const uint8_t *raw, const size_t *ends,
                              size_t n_columns, uint8_t *stored, size_t *n_stored,
                              struct ab_err *err);

/* Makes the counterpart for reading; ends by ZSTD_freeDCtx. */
ZSTD_DCtx *ab_unpacker_new(void);
/* Unpacks one chunk to exactly n_raw bytes; `raw` has room for one more. NULL, or what is wrong as
 * the end of a sentence. */
const char *ab_unpacker_take(ZSTD_DCtx *u, const uint8_t *stored, size_t n_stored, uint8_t *raw,
                             size_t n_raw);

/* Optional chunks are packed as one zstd frame each; `stored` has room for AB_TRACE_STORED_MAX bytes.
 * False when they are not what packs n_raw bytes. */
enum ab_status ab_optional_pack(const uint8_t *raw, size_t n_raw, uint8_t *stored, size_t *n_stored,
                                struct ab_err *err);
bool ab_optional_unpack(const uint8_t *stored, size_t n_stored, uint8_t *raw, size_t n_raw);

#endif
