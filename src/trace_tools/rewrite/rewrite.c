/* SPDX-License-Identifier: MIT
 *
 * Which block and which thread of an original is which in the trace that is written.
 */
#include "trace_tools/rewrite/rewrite.h"

#include "core/grow.h"

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
    if (!AB_GROW_ZEROED(from->threads, from->cap_threads, thread))
        return false;
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
    if (!find_thread(to, from, e->thread, &own.thread) ||
        !AB_GROW_ZEROED(from->numbers, from->cap_numbers, e->slot))
        return ab_fail(err, AB_SYSTEM, "out of memory");
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
