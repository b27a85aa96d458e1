/* SPDX-License-Identifier: MIT
 *
 * The digest of a whole trace file.
 */
#include "support/trace_digest.h"

#include "trace/reader.h"

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
