/* SPDX-License-Identifier: MIT
 *
 * The checksum of a chunk, by xxHash with its state on the stack.
 */
#include "trace/checksum.h"

#include "base/bytes.h"
#include "trace/chunk_kinds.h"
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

/* An event as the fixed record that the digest is taken of. */

size_t ab_event_canonical(const struct ab_event *e, bool has_time,
                          uint8_t out[AB_DIGEST_RECORD_MAX])
{
    out[0] = (uint8_t)ab_kind_code(e);
    out[1] = e->align == 0 ? 0 : (uint8_t)__builtin_ctzll(e->align);
    ab_put_u16(out + 2, 0);
    ab_put_u32(out + 4, e->thread);
    ab_put_u64(out + 8, e->block);
    ab_put_u64(out + 16, e->size);
    if (!has_time)
        return 24;
    ab_put_u64(out + 24, e->time_us);
    return 32;
}
