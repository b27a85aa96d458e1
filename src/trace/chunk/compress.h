/* SPDX-License-Identifier: MIT
 *
 * The stored bytes of chunks of events: one zstd stream over the whole file, of which each chunk
 * holds a piece that ends with a flush. A chunk repeats what the chunks before it did more often
 * than what it did itself: with a stream of its own each python trace is three times as large.
 */
#ifndef AB_TRACE_CHUNK_COMPRESS_H
#define AB_TRACE_CHUNK_COMPRESS_H

#include "core/status.h"

#include <stddef.h>
#include <stdint.h>

struct ab_packer;

struct ab_packer *ab_packer_new(void); /* NULL = out of memory */
void ab_packer_free(struct ab_packer *p);
/* Packs raw[0..ends[n_columns - 1]); columns end at `ends`, so that zstd can count the bytes of
 * each apart. `stored` has room for AB_TRACE_STORED_MAX bytes. */
enum ab_status ab_packer_take(struct ab_packer *p, const uint8_t *raw, const size_t *ends,
                              size_t n_columns, uint8_t *stored, size_t *n_stored,
                              struct ab_err *err);

struct ab_unpacker;

struct ab_unpacker *ab_unpacker_new(void);
void ab_unpacker_free(struct ab_unpacker *u);
/* Unpacks one chunk to exactly n_raw bytes; `raw` has room for one more. NULL, or what is wrong as
 * the end of a sentence. */
const char *ab_unpacker_take(struct ab_unpacker *u, const uint8_t *stored, size_t n_stored,
                             uint8_t *raw, size_t n_raw);

#endif
