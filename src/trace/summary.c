/* SPDX-License-Identifier: MIT
 *
 * Writes the totals as bytes.
 */
#include "trace/summary.h"

#include "base/bytes.h"
#include "trace/format.h"

void ab_trace_summary_encode(const struct ab_trace_info *i, uint8_t *out)
{
    const uint64_t fields[] = {
        i->events,
        i->threads,
        i->live_peak_bytes,
        i->live_peak_blocks,
        i->ops[AB_EVENT_ALLOC],
        i->ops[AB_EVENT_ALLOC_ZEROED],
        i->ops[AB_EVENT_ALLOC_ALIGNED],
        i->ops[AB_EVENT_RESIZE],
        i->ops[AB_EVENT_FREE],
        i->failed,
        i->live_end_blocks,
        i->live_end_bytes,
        i->total_bytes,
        i->thread_ends,
        i->time_us,
    };
    _Static_assert(sizeof fields == AB_TRACE_SUMMARY_BYTES, "one u64 a field");
    for (unsigned n = 0; n < sizeof fields / sizeof fields[0]; n++)
        ab_put_u64(out + 8 * n, fields[n]);
}
