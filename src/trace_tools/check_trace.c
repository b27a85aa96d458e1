/* SPDX-License-Identifier: MIT
 *
 * Compares the totals that the events give with those that the file states.
 */
#include "trace_tools/check_trace.h"

#include "base/bits.h"
#include "trace/format.h"
#include "trace/reader.h"

#include <stddef.h>

static const struct {
    const char *name;
    size_t offset;
} totals[] = {
#define ROW(field, name) {name, offsetof(struct ab_trace_info, field)},
    AB_TRACE_TOTALS(ROW)
#undef ROW
        {"slots", offsetof(struct ab_trace_info, slots)},
};

static uint64_t value_of(const struct ab_trace_info *info, size_t i)
{
    return *(const uint64_t *)(const void *)((const char *)info + totals[i].offset);
}

const char *ab_trace_totals_differ(const struct ab_trace_info *reckoned,
                                   const struct ab_trace_info *stated, uint64_t values[2])
{
    for (size_t i = 0; i < AB_ARRAY_LEN(totals); i++) {
        values[0] = value_of(reckoned, i);
        values[1] = value_of(stated, i);
        if (values[0] != values[1])
            return totals[i].name;
    }
    return NULL;
}

static enum ab_status visit(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    uint64_t values[2];
    (void)user;
    if (batch->where != AB_WALK_END)
        return AB_OK;
    const char *differs = ab_trace_totals_differ(&batch->book->totals, batch->info, values);
    if (differs == NULL)
        return AB_OK;
    return ab_fail(err, AB_INPUT, "the end mark declares %llu %s; the events have %llu",
                   (unsigned long long)values[1], differs, (unsigned long long)values[0]);
}

enum ab_status ab_trace_check(const struct ab_walk *walk, struct ab_trace_info *info,
                              struct ab_err *err)
{
    struct ab_walk own = *walk;
    struct ab_site_table sites = {0};
    struct ab_mark_table marks = {0};
    own.begin = 0;
    own.end = UINT64_MAX;
    own.has_thread_ends = true;
    own.visit = visit;
    own.sites = &sites;
    own.marks = &marks;
    enum ab_status status = ab_trace_walk(&own, info, err);
    ab_site_table_fini(&sites);
    ab_mark_table_fini(&marks);
    return status;
}
