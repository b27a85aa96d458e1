/* SPDX-License-Identifier: MIT
 *
 * The totals in the end mark of a trace file: AB_TRACE_SUMMARY_BYTES of little-endian u64.
 */
#ifndef AB_TRACE_SUMMARY_H
#define AB_TRACE_SUMMARY_H

#include "trace/event.h"

#include <stdint.h>

void ab_trace_summary_encode(const struct ab_trace_info *info, uint8_t *out);

#endif
