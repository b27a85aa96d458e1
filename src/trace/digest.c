/* SPDX-License-Identifier: MIT
 *
 * An event as the fixed record that the digest is taken of.
 */
#include "trace/digest.h"

#include "base/bytes.h"
#include "trace/chunk/chunk_kinds.h"

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
