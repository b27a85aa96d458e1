/* SPDX-License-Identifier: MIT
 *
 * `trace dump`: events as lines of text.
 */
#include "cli/trace/cmd_trace.h"
#include "cli/trace/trace_marks.h"
#include "trace_tools/event_text.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 1 << 16 };

struct printer {
    bool has_time;
    struct ab_mark_table marks;
    size_t next_mark;
    char buffer[BUFFER_BYTES];
};

static enum ab_status flush(struct printer *p, const char *end, struct ab_err *err)
{
    size_t n = (size_t)(end - p->buffer);
    if (fwrite(p->buffer, 1, n, stdout) != n)
        return ab_fail_errno(err, AB_SYSTEM, "cannot write the events");
    return AB_OK;
}

static bool is_mark_due(const struct printer *p, uint64_t call)
{
    return p->next_mark < p->marks.n && p->marks.marks[p->next_mark].call <= call;
}

static void print_marks(struct printer *p, uint64_t call)
{
    for (; is_mark_due(p, call); p->next_mark++)
        ab_trace_print_mark(stdout, &p->marks, p->next_mark, p->has_time);
}

/* Those before the range are not of it. */
static void skip_marks(struct printer *p, uint64_t first)
{
    while (p->next_mark < p->marks.n && p->marks.marks[p->next_mark].call < first)
        p->next_mark++;
}

static enum ab_status print_batch(struct printer *p, const struct ab_walk_batch *batch,
                                  struct ab_err *err)
{
    char *at = p->buffer, *full = p->buffer + BUFFER_BYTES - AB_EVENT_TEXT_MAX;
    for (size_t i = 0; i < batch->n; i++) {
        if (is_mark_due(p, batch->first + i)) {
            AB_TRY(flush(p, at, err));
            at = p->buffer;
            print_marks(p, batch->first + i);
        }
        at = ab_event_text(at, p->has_time, batch->first + i, &batch->events[i], &batch->blocks[i]);
        if (at < full && i + 1 < batch->n)
            continue;
        AB_TRY(flush(p, at, err));
        at = p->buffer;
    }
    return AB_OK;
}

static enum ab_status visit(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    struct printer *p = user;
    if (batch->where == AB_WALK_BEGIN) {
        p->has_time = batch->info->has_time;
        skip_marks(p, batch->first);
    }
    if (batch->where == AB_WALK_END)
        print_marks(p, batch->first);
    return print_batch(p, batch, err);
}

enum ab_status ab_trace_cmd_dump(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct printer *p = calloc(1, sizeof *p);
    (void)exit_code;
    if (p == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    struct ab_trace_watch watch;
    struct ab_walk walk = {.visit = visit, .user = p, .marks = &p->marks};
    ab_trace_watch_begin(&watch, o, o->args[1], &walk);
    enum ab_status status = ab_trace_walk(&walk, NULL, err);
    ab_trace_watch_end(&watch);
    ab_mark_table_fini(&p->marks);
    free(p);
    return status;
}
