/* SPDX-License-Identifier: MIT
 *
 * The columns of one block, between records in memory and raw bytes. Kinds, sizes, references,
 * alignments and threads lie apart, because each column alone is far more regular than the calls.
 */
#ifndef AB_TRACE_BLOCK_H
#define AB_TRACE_BLOCK_H

#include "trace/writer.h"

#include <stddef.h>
#include <stdint.h>

/* Encodes n ≤ AB_TRACE_BLOCK_EVENTS_MAX records into raw, which has room for AB_TRACE_RAW_MAX
 * bytes; returns how many it used. */
size_t ab_block_encode(const struct ab_trace_record *records, size_t n, uint8_t *raw);

/* Decodes exactly n records from raw[0..bytes). NULL, or what is wrong as the end of a sentence. */
const char *ab_block_decode(const uint8_t *raw, size_t bytes, struct ab_trace_record *records,
                            size_t n);

#endif
