/* SPDX-License-Identifier: MIT
 *
 * Which block and which thread of an original is which in the trace that is written; copies marks up
 * to a call, with names, threads and times as they are there.
 */
#include "trace_tools/rewrite.h"

#include "core/grow.h"

#include <stdio.h>
#include <stdlib.h>

void ab_original_fini(struct ab_original *from)
{
    free(from->numbers);
    free(from->threads);
    *from = (struct ab_original){0};
}

static bool is_on_block(const struct ab_event *e)
{
    return e->kind == AB_EVENT_FREE || e->kind == AB_EVENT_RESIZE;
}

bool ab_original_knows(const struct ab_original *from, const struct ab_event *e)
{
    if (e->kind == AB_EVENT_THREAD_END)
        return e->thread < from->cap_threads && from->threads[e->thread] != 0;
    return !is_on_block(e) || (e->slot < from->cap_numbers && from->numbers[e->slot] != 0);
}

static bool find_thread(struct ab_rewrite *to, struct ab_original *from, uint32_t thread,
                        uint32_t *out)
{
    AB_GROW_ZEROED(from->threads, from->cap_threads, thread);
    if (from->threads[thread] == 0)
        from->threads[thread] = ++to->n_threads;
    *out = from->threads[thread] - 1;
    return true;
}

enum ab_status ab_rewrite_put(struct ab_rewrite *to, struct ab_original *from,
                              const struct ab_event *e, struct ab_err *err)
{
    struct ab_event own = *e;
    uint64_t number = AB_NO_BLOCK;
    if (!find_thread(to, from, e->thread, &own.thread))
        return ab_fail(err, AB_SYSTEM, "out of memory");
    AB_GROW_ZEROED(from->numbers, from->cap_numbers, e->slot);
    if (is_on_block(e)) {
        own.block = from->numbers[e->slot] - 1;
        if (e->kind == AB_EVENT_FREE || e->released)
            from->numbers[e->slot] = 0;
    }
    enum ab_status status = ab_trace_write(to->writer, &own, &number, err);
    to->n_calls += e->kind != AB_EVENT_THREAD_END;
    if (status == AB_OK && number != AB_NO_BLOCK)
        from->numbers[e->slot] = number + 1;
    return status;
}

/* ---- marks ---- */

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
static uint32_t know_name(struct ab_rewrite_marks *m, uint32_t name, struct ab_mark_table *out)
{
    char anonymous[32];
    AB_GROW_ZEROED(m->numbers, m->cap_numbers, name);
    if (m->numbers[name] == 0) {
        snprintf(anonymous, sizeof anonymous, "mark-%u", name + 1);
        m->numbers[name] =
            ab_mark_know_name(out, m->is_anonymous ? anonymous : m->from.names[name]) + 1;
    }
    return m->numbers[name] - 1;
}

static void put_one(struct ab_rewrite_marks *m, const struct ab_trace_mark *mark,
                    const struct ab_rewrite *to, const struct ab_original *original,
                    struct ab_mark_table *out)
{
    struct ab_trace_mark own = {.call = to->n_calls, .thread = AB_MARK_NO_THREAD};
    if (mark->thread < original->cap_threads && original->threads[mark->thread] != 0)
        own.thread = original->threads[mark->thread] - 1;
    if (m->has_time && mark->time_us >= m->from_us)
        own.time_us = mark->time_us - m->from_us + m->to_us;
    own.name = know_name(m, mark->name, out);
    ab_mark_add(out, own);
}

enum ab_status ab_rewrite_marks_put(struct ab_rewrite_marks *m, const struct ab_rewrite *to,
                                    const struct ab_original *original, uint64_t call,
                                    struct ab_mark_table *out, struct ab_err *err)
{
    for (; m->next < m->from.n && m->from.marks[m->next].call <= call; m->next++)
        put_one(m, &m->from.marks[m->next], to, original, out);
    (void)err;
    return AB_OK;
}
