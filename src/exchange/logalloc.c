/* SPDX-License-Identifier: MIT
 *
 * Reads the logs of Firefox's logalloc: "PROCESS THREAD CALL(ARGUMENTS)=RESULT" with decimal
 * numbers. A block is an address, or "#NUMBER" in logs munged for logalloc-replay. Older logs
 * have no THREAD. Like logalloc-replay, reads only the first process.
 */
#include "exchange/intake.h"

#include "base/bits.h"

static const char expected[] = "PROCESS THREAD CALL(ARGUMENTS)=RESULT, such as "
                               "18545 18545 malloc(32)=0x7f90495120e0";

enum { PAGE = 4096 };

static const struct ab_call_form forms[] = {
    {"malloc(", "s)=b", AB_EVENT_ALLOC, 0},
    {"calloc(", "n,s)=b", AB_EVENT_ALLOC_ZEROED, 0},
    {"realloc(", "o,s)=b", AB_EVENT_RESIZE, 0},
    {"posix_memalign(", "a,s)=b", AB_EVENT_ALLOC_ALIGNED, 0},
    {"aligned_alloc(", "a,s)=b", AB_EVENT_ALLOC_ALIGNED, 0},
    {"memalign(", "a,s)=b", AB_EVENT_ALLOC_ALIGNED, 0},
    {"valloc(", "s)=b", AB_EVENT_ALLOC_ALIGNED, PAGE},
    {"free(", "o)", AB_EVENT_FREE, 0},
};

/* Reads a line. Clears *is_call for jemalloc_stats(), which is no call. */
static bool read_line(const char *at, uint64_t *process, struct ab_foreign_call *out, bool *is_call)
{
    *out = (struct ab_foreign_call){.kind = AB_EVENT_ALLOC};
    if (!ab_scan_decimal(&at, process) || !ab_scan_text(&at, " "))
        return false;
    if (!ab_scan_decimal(&at, &out->thread))
        out->thread = *process;
    else if (!ab_scan_text(&at, " "))
        return false;
    *is_call = !ab_scan_text(&at, "jemalloc_stats()");
    return out->thread <= INT64_MAX &&
           (!*is_call || ab_scan_call(&at, forms, AB_ARRAY_LEN(forms), out)) && ab_scan_end(at);
}

enum ab_status ab_import_logalloc(struct ab_feed *from, struct ab_intake *to, struct ab_err *err)
{
    struct ab_foreign_call call;
    uint64_t process, first = UINT64_MAX;
    bool is_call;
    for (char *line;;) {
        AB_TRY(ab_feed_line(from, &line, err));
        if (line == NULL)
            return AB_OK;
        if (line[0] == 0)
            continue;
        if (!read_line(line, &process, &call, &is_call))
            return ab_feed_odd_line(from, line, expected, err);
        if (!is_call)
            continue;
        if (first == UINT64_MAX)
            first = process;
        if (process == first)
            AB_TRY(ab_intake_take(to, &call, err));
        else
            to->report.n_other_process++;
    }
}
