/* SPDX-License-Identifier: MIT
 *
 * The checksum of a chunk: XXH64 over the checked part of its header and its stored bytes.
 */
#ifndef AB_TRACE_CHECKSUM_H
#define AB_TRACE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

uint64_t ab_trace_chunk_checksum(const uint8_t *head, const uint8_t *stored, size_t n);

#endif
