/* SPDX-License-Identifier: MIT
 *
 * The totals in the end mark of a trace file: AB_TRACE_SUMMARY_BYTES of little-endian u64.
 */
#ifndef AB_TRACE_SUMMARY_H
#define AB_TRACE_SUMMARY_H

#include "trace/event.h"

#include <stdint.h>

/* X(field of struct ab_trace_info, its name in messages), in the order of the file, where the time
 * of the last event follows. */
#define AB_TRACE_TOTALS(X) \
    X(events, "events") \
    X(threads, "threads") \
    X(live_peak_bytes, "live peak in bytes") \
    X(live_peak_blocks, "live peak in blocks") \
    X(ops[AB_EVENT_ALLOC], "allocations") \
    X(ops[AB_EVENT_ALLOC_ZEROED], "zeroed allocations") \
    X(ops[AB_EVENT_ALLOC_ALIGNED], "aligned allocations") \
    X(ops[AB_EVENT_RESIZE], "resizes") \
    X(ops[AB_EVENT_FREE], "frees") \
    X(failed, "failed calls") \
    X(live_end_blocks, "blocks live at the end") \
    X(live_end_bytes, "bytes live at the end") \
    X(total_bytes, "requested bytes") \
    X(thread_ends, "ends of threads")

void ab_trace_summary_encode(const struct ab_trace_info *info, uint8_t *out);

#endif
