/* SPDX-License-Identifier: MIT
 *
 * The traces of CS:APP's malloc lab: four numbers (size of the heap, ids, calls, weight), then
 * "a ID SIZE", "r ID SIZE" and "f ID". One thread, and no call that fails. A resize of an id that is
 * not allocated allocates it. Later versions of the driver take "f -1" for free(NULL).
 */
#include "exchange/intake.h"

static const char expected[] = "\"a ID SIZE\", \"r ID SIZE\" or \"f ID\"";

enum { HEAD = 4, HEAD_CALLS = 2 };

static bool scan_id(const char **at, uint64_t *out)
{
    return ab_scan_text(at, " ") && ab_scan_decimal(at, out);
}

/* An id is counted from 0; the name of a block is never 0. */
static bool read_line(const char *at, struct ab_foreign_call *out)
{
    uint64_t id, size = 0;
    char sign = *at++;
    if (sign == 'f' && ab_scan_text(&at, " -1"))
        id = UINT64_MAX;
    else if (!scan_id(&at, &id) || id == UINT64_MAX)
        return false;
    if (sign == 'a' || sign == 'r') {
        if (!scan_id(&at, &size))
            return false;
    } else if (sign != 'f') {
        return false;
    }
    while (*at == ' ')
        at++;
    *out = (struct ab_foreign_call){.size = size};
    out->kind = sign == 'a' ? AB_EVENT_ALLOC : sign == 'r' ? AB_EVENT_RESIZE : AB_EVENT_FREE;
    out->old = sign == 'a' ? 0 : id + 1;
    out->address = sign == 'f' ? 0 : id + 1;
    return ab_scan_end(at);
}

static enum ab_status read_head(struct ab_feed *from, uint64_t *n_calls, struct ab_err *err)
{
    static const char *const names[HEAD] = {"the size of the heap", "the number of ids",
                                            "the number of calls", "the weight"};
    for (int i = 0; i < HEAD; i++) {
        char *line;
        uint64_t value;
        AB_TRY(ab_feed_line(from, &line, err));
        if (line == NULL)
            return ab_feed_bad(from, err, "the file ends before %s", names[i]);
        const char *at = line;
        if (!ab_scan_decimal(&at, &value) || at[strspn(at, " ")] != 0)
            return ab_feed_odd_line(from, line, names[i], err);
        if (i == HEAD_CALLS)
            *n_calls = value;
    }
    return AB_OK;
}

enum ab_status ab_import_rep(struct ab_feed *from, struct ab_intake *to, struct ab_err *err)
{
    uint64_t n_calls = 0;
    struct ab_foreign_call call;
    AB_TRY(read_head(from, &n_calls, err));
    for (char *line;;) {
        AB_TRY(ab_feed_line(from, &line, err));
        if (line == NULL)
            break;
        if (line[0] == 0)
            continue;
        if (!read_line(line, &call))
            return ab_feed_odd_line(from, line, expected, err);
        AB_TRY(ab_intake_take(to, &call, err));
    }
    if (to->report.n_calls > n_calls)
        return ab_feed_bad(from, err, "%llu calls; the head of the file says %llu",
                           (unsigned long long)to->report.n_calls, (unsigned long long)n_calls);
    if (to->report.n_calls < n_calls)
        return ab_feed_end_early(from, err, "the file ends after %llu calls; its head says %llu",
                                 (unsigned long long)to->report.n_calls,
                                 (unsigned long long)n_calls);
    return AB_OK;
}
