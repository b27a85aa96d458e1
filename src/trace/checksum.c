/* SPDX-License-Identifier: MIT
 *
 * The checksum of a chunk, by xxHash with its state on the stack.
 */
#include "trace/checksum.h"

#include "trace/format.h"

#define XXH_STATIC_LINKING_ONLY /* for a state on the stack; only functions of the library's ABI */
#include <xxhash.h>

uint64_t ab_trace_chunk_checksum(const uint8_t *head, const uint8_t *stored, size_t n)
{
    XXH64_state_t state;
    XXH64_reset(&state, 0);
    XXH64_update(&state, head, AB_TRACE_CHUNK_CHECKED);
    XXH64_update(&state, stored, n);
    return XXH64_digest(&state);
}
