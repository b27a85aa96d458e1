/* SPDX-License-Identifier: MIT
 *
 * What Firefox's logalloc writes: "PROCESS THREAD CALL(ARGUMENTS)=RESULT", numbers in decimal, and
 * addresses, or "#NUMBER" of blocks where the log was munged for logalloc-replay. Older logs are
 * without THREAD. As in logalloc-replay, the first process is the one that is read.
 */
#include "exchange/intake.h"
#include "exchange/scan.h"

static const char expected[] = "PROCESS THREAD CALL(ARGUMENTS)=RESULT, such as "
                               "18545 18545 malloc(32)=0x7f90495120e0";

/* 0x and digits, (nil), 0, or # and a number. */
static bool scan_block(const char **at, uint64_t *out)
{
    const char *p = *at;
    if (!ab_scan_text(&p, "#"))
        return ab_scan_pointer(at, out);
    if (!ab_scan_decimal(&p, out))
        return false;
    *at = p;
    return true;
}

static bool scan_result(const char **at, uint64_t *out)
{
    return ab_scan_text(at, ")=") && scan_block(at, out);
}

static bool scan_aligned(const char **at, struct ab_foreign_call *c)
{
    c->kind = AB_EVENT_ALLOC_ALIGNED;
    return ab_scan_decimal(at, &c->align) && ab_scan_text(at, ",") &&
           ab_scan_decimal(at, &c->size) && scan_result(at, &c->address);
}

static bool scan_calloc(const char **at, struct ab_foreign_call *c)
{
    uint64_t n;
    c->kind = AB_EVENT_ALLOC_ZEROED;
    return ab_scan_decimal(at, &n) && ab_scan_text(at, ",") && ab_scan_decimal(at, &c->size) &&
           scan_result(at, &c->address) && ab_foreign_calloc(c, n);
}

static bool scan_realloc(const char **at, struct ab_foreign_call *c)
{
    c->kind = AB_EVENT_RESIZE;
    return scan_block(at, &c->old) && ab_scan_text(at, ",") && ab_scan_decimal(at, &c->size) &&
           scan_result(at, &c->address);
}

enum { PAGE = 4096 };

static bool scan_call(const char **at, struct ab_foreign_call *c)
{
    if (ab_scan_text(at, "malloc("))
        return ab_scan_decimal(at, &c->size) && scan_result(at, &c->address);
    if (ab_scan_text(at, "calloc("))
        return scan_calloc(at, c);
    if (ab_scan_text(at, "realloc("))
        return scan_realloc(at, c);
    if (ab_scan_text(at, "posix_memalign(") || ab_scan_text(at, "aligned_alloc(") ||
        ab_scan_text(at, "memalign("))
        return scan_aligned(at, c);
    if (ab_scan_text(at, "valloc(")) {
        c->kind = AB_EVENT_ALLOC_ALIGNED;
        c->align = PAGE;
        return ab_scan_decimal(at, &c->size) && scan_result(at, &c->address);
    }
    c->kind = AB_EVENT_FREE;
    return ab_scan_text(at, "free(") && scan_block(at, &c->old) && ab_scan_text(at, ")");
}

/* is_call: jemalloc_stats() is a line that is none. */
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
    return out->thread <= INT64_MAX && (!*is_call || scan_call(&at, out)) && ab_scan_end(at);
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
