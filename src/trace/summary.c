/* SPDX-License-Identifier: MIT
 *
 * Writes the totals as bytes.
 */
#include "trace/summary.h"

#include "base/bytes.h"
#include "trace/format.h"

void ab_trace_summary_encode(const struct ab_trace_info *i, uint8_t *out)
{
#define VALUE(field, name) i->field,
    const uint64_t fields[] = {AB_TRACE_TOTALS(VALUE) i->time_us};
    _Static_assert(sizeof fields == AB_TRACE_SUMMARY_BYTES, "one u64 a field");
    for (unsigned n = 0; n < sizeof fields / sizeof fields[0]; n++)
        ab_put_u64(out + 8 * n, fields[n]);
}
