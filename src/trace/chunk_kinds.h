/* SPDX-License-Identifier: MIT
 *
 * The four bits of an event's kind: enum ab_event_kind, bit 3 for a call that failed; 6 is a resize
 * to size 0 that released its block.
 */
#ifndef AB_TRACE_CHUNK_KINDS_H
#define AB_TRACE_CHUNK_KINDS_H

#include "base/bits.h"
#include "trace/chunk.h"

enum { AB_KIND_RELEASED = 6, AB_KIND_FAILED = 8 };

/* By code: 1 = it is one. */
#define AB_KIND_CODES UINT32_C(0x0f7f)

static inline unsigned ab_kind_code(const struct ab_event *r)
{
    return r->released ? AB_KIND_RELEASED : (unsigned)r->kind | (r->failed ? AB_KIND_FAILED : 0);
}

static inline struct ab_chunk_event ab_chunk_event_of(const struct ab_event *r)
{
    bool is_aligned = r->kind == AB_EVENT_ALLOC_ALIGNED;
    return (struct ab_chunk_event){
        .size = r->size,
        .block = r->block,
        .thread = r->thread,
        .code = (uint8_t)ab_kind_code(r),
        .log2 = AB_UNLIKELY(is_aligned) ? (uint8_t)ab_log2(r->align) : 0,
    };
}

#endif
