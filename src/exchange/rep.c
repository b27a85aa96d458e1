/* SPDX-License-Identifier: MIT
 *
 * Reads the traces of CS:APP's malloc lab: four numbers (size of the heap, ids, calls, weight),
 * then "a ID SIZE", "r ID SIZE" and "f ID". One thread, and no failed calls. A resize of an
 * unallocated id allocates it.
 *
 * Drivers of other courses differ: two numbers at the beginning (ids, calls), "f -1" for
 * free(NULL), and "w ID SIZE" for a write to a block, which counts as a call. Lines after the
 * declared number of calls are dropped, as those drivers do.
 */
#include "exchange/intake.h"

static const char expected[] = "\"a ID SIZE\", \"r ID SIZE\", \"f ID\" or \"w ID SIZE\"";

enum { HEAD_MOST = 4 };

static bool scan_id(const char **at, uint64_t *out)
{
    return ab_scan_text(at, " ") && ab_scan_decimal(at, out);
}

/* Reads a line. Ids begin with 0, but the name of a block must not be 0. */
static bool read_line(const char *at, struct ab_foreign_call *out, bool *is_write)
{
    uint64_t id, size = 0;
    char sign = *at++;
    *is_write = sign == 'w';
    if (sign == 'f' && ab_scan_text(&at, " -1"))
        id = UINT64_MAX;
    else if (!scan_id(&at, &id) || id == UINT64_MAX)
        return false;
    if (sign == 'a' || sign == 'r' || sign == 'w') {
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

static bool is_call(char sign)
{
    return sign != 0 && strchr("arfw", sign) != NULL;
}

/* Reads the numbers before the calls, and returns the line of the first call; NULL = none. */
static enum ab_status read_head(struct ab_feed *from, char **line, uint64_t *n_calls,
                                struct ab_err *err)
{
    static const char *const names[HEAD_MOST] = {"the size of the heap", "the number of ids",
                                                 "the number of calls", "the weight"};
    uint64_t head[HEAD_MOST];
    for (int i = 0;; i++) {
        AB_TRY(ab_feed_line(from, line, err));
        if ((i == 2 && *line != NULL && is_call(**line)) || i == HEAD_MOST) {
            *n_calls = i == 2 ? head[1] : head[2];
            return AB_OK;
        }
        if (*line == NULL)
            return ab_feed_bad(from, err, "the file ends before %s", names[i]);
        const char *at = *line;
        if (!ab_scan_decimal(&at, &head[i]) || at[strspn(at, " ")] != 0)
            return ab_feed_odd_line(from, *line, names[i], err);
    }
}

/* Processes a line. is_extra: the line comes after the declared number of calls. */
static enum ab_status take_line(struct ab_feed *from, struct ab_intake *to, const char *line,
                                bool is_extra, struct ab_err *err)
{
    struct ab_foreign_call call;
    bool is_write;
    if (!read_line(line, &call, &is_write))
        return ab_feed_odd_line(from, line, expected, err);
    to->report.n_writes += is_write && !is_extra;
    to->report.n_after_end += is_extra;
    return is_write || is_extra ? AB_OK : ab_intake_take(to, &call, err);
}

enum ab_status ab_import_rep(struct ab_feed *from, struct ab_intake *to, struct ab_err *err)
{
    uint64_t n_calls = 0, n = 0;
    char *line;
    AB_TRY(read_head(from, &line, &n_calls, err));
    while (line != NULL) {
        if (line[0] != 0)
            AB_TRY(take_line(from, to, line, n >= n_calls, err));
        n += line[0] != 0;
        if (n + 1 >= n_calls)
            ab_feed_keep_last(from);
        AB_TRY(ab_feed_line(from, &line, err));
    }
    if (n < n_calls)
        return ab_feed_end_early(from, err, "the file ends after %llu calls; its head says %llu",
                                 (unsigned long long)n, (unsigned long long)n_calls);
    return AB_OK;
}
