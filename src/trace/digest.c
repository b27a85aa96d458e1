/* SPDX-License-Identifier: MIT */
#include "trace/digest.h"

#include "base/bytes.h"
#include "trace/chunk_kinds.h"

#include <string.h>

size_t ab_event_canonical(const struct ab_event *e, bool has_time,
                          uint8_t out[AB_DIGEST_RECORD_MAX])
{
    struct ab_trace_record r = {.kind = e->kind, .failed = e->failed, .released = e->released};
    out[0] = (uint8_t)ab_kind_code(&r);
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

enum ab_status ab_trace_digest(const char *path, bool is_partial, char hex[65],
                               struct ab_trace_info *info, struct ab_err *err)
{
    struct ab_trace_options options = {.is_partial = is_partial, .has_digest = true};
    struct ab_trace_reader *r;
    struct ab_event events[512];
    enum ab_status status = ab_trace_open_with(path, &options, &r, err);
    if (status != AB_OK)
        return status;
    for (size_t n = 1; status == AB_OK && n > 0;)
        status = ab_trace_next(r, events, sizeof events / sizeof events[0], &n, err);
    if (status == AB_OK) {
        ab_trace_reader_digest(r, hex);
        if (info != NULL)
            *info = *ab_trace_reader_info(r);
    }
    ab_trace_close(r);
    return status;
}
