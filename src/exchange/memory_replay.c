/* SPDX-License-Identifier: MIT
 *
 * Reads the files of Android's malloc_debug with record_allocs, which memory_replay reads too:
 * "THREAD: CALL POINTER …" with decimal sizes, then start and end of the call in ns if it has
 * times. A failed call has the pointer 0x0.
 */
#include "exchange/intake.h"

#include "base/bits.h"

static const char expected[] =
    "THREAD: malloc, calloc, realloc, memalign, free or thread_done with "
    "its pointer and numbers, such as 186: malloc 0xb6038060 20";

static const struct ab_call_form forms[] = {
    {"malloc", " b s", AB_EVENT_ALLOC, 0},     {"calloc", " b n s", AB_EVENT_ALLOC_ZEROED, 0},
    {"realloc", " b o s", AB_EVENT_RESIZE, 0}, {"memalign", " b a s", AB_EVENT_ALLOC_ALIGNED, 0},
    {"free", " o", AB_EVENT_FREE, 0},          {"thread_done", " o", AB_EVENT_THREAD_END, 0},
};

static bool scan_size(const char **at, uint64_t *out)
{
    return ab_scan_text(at, " ") && ab_scan_decimal(at, out);
}

/* Reads the start and end of a call, if present. The end of a thread has only one number. */
static bool scan_times(const char *at, struct ab_foreign_call *out, bool *has_time)
{
    uint64_t end;
    *has_time = scan_size(&at, &out->time_ns);
    if (*has_time && out->kind != AB_EVENT_THREAD_END && !scan_size(&at, &end))
        return false;
    return ab_scan_end(at);
}

static bool read_line(const char *at, struct ab_foreign_call *out, bool *has_time)
{
    *out = (struct ab_foreign_call){.kind = AB_EVENT_ALLOC};
    return ab_scan_decimal(&at, &out->thread) && out->thread <= INT64_MAX &&
           ab_scan_text(&at, ": ") && ab_scan_call(&at, forms, AB_ARRAY_LEN(forms), out) &&
           scan_times(at, out, has_time);
}

enum ab_status ab_import_memory_replay(struct ab_feed *from, struct ab_intake *to,
                                       struct ab_err *err)
{
    struct ab_foreign_call call;
    uint64_t last_ns = 0;
    bool has_time;
    for (char *line;;) {
        AB_TRY(ab_feed_line(from, &line, err));
        if (line == NULL)
            return AB_OK;
        if (line[0] == 0)
            continue;
        if (!read_line(line, &call, &has_time))
            return ab_feed_odd_line(from, line, expected, err);
        if (to->writer == NULL)
            to->has_time = has_time;
        if (!has_time)
            call.time_ns = last_ns;
        last_ns = call.time_ns;
        AB_TRY(ab_intake_take(to, &call, err));
    }
}
