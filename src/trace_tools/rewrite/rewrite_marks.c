/* SPDX-License-Identifier: MIT
 *
 * Copies marks up to a call, with names, threads and times as they are in the trace written.
 */
#include "trace_tools/rewrite/rewrite_marks.h"

#include "core/grow.h"

#include <stdio.h>
#include <stdlib.h>

void ab_rewrite_marks_fini(struct ab_rewrite_marks *m)
{
    ab_mark_table_fini(&m->from);
    free(m->numbers);
    m->numbers = NULL;
    m->next = m->cap_numbers = 0;
}

void ab_rewrite_marks_skip(struct ab_rewrite_marks *m, uint64_t call)
{
    while (m->next < m->from.n && m->from.marks[m->next].call <= call)
        m->next++;
}

/* A search in the table for each name, not for each mark: there may be many of both. */
static bool know_name(struct ab_rewrite_marks *m, uint32_t name, struct ab_mark_table *out,
                      uint32_t *number)
{
    char anonymous[32];
    if (!AB_GROW_ZEROED(m->numbers, m->cap_numbers, name))
        return false;
    if (m->numbers[name] == 0) {
        snprintf(anonymous, sizeof anonymous, "mark-%u", name + 1);
        if (!ab_mark_know_name(out, m->is_anonymous ? anonymous : m->from.names[name], number))
            return false;
        m->numbers[name] = *number + 1;
    }
    *number = m->numbers[name] - 1;
    return true;
}

static enum ab_status put_one(struct ab_rewrite_marks *m, const struct ab_trace_mark *mark,
                              const struct ab_rewrite *to, const struct ab_original *original,
                              struct ab_mark_table *out)
{
    struct ab_trace_mark own = {.call = to->n_calls, .thread = AB_MARK_NO_THREAD};
    if (mark->thread < original->cap_threads && original->threads[mark->thread] != 0)
        own.thread = original->threads[mark->thread] - 1;
    if (m->has_time && mark->time_us >= m->from_us)
        own.time_us = mark->time_us - m->from_us + m->to_us;
    return know_name(m, mark->name, out, &own.name) && ab_mark_add(out, own) ? AB_OK : AB_SYSTEM;
}

enum ab_status ab_rewrite_marks_put(struct ab_rewrite_marks *m, const struct ab_rewrite *to,
                                    const struct ab_original *original, uint64_t call,
                                    struct ab_mark_table *out, struct ab_err *err)
{
    for (; m->next < m->from.n && m->from.marks[m->next].call <= call; m->next++)
        if (put_one(m, &m->from.marks[m->next], to, original, out) != AB_OK)
            return ab_fail(err, AB_SYSTEM, "out of memory");
    return AB_OK;
}
