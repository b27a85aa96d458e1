/* SPDX-License-Identifier: MIT
 *
 * Writes the events of a trace as lines of text, with its marks and requests between them.
 */
#include "app/trace/trace_dump.h"

#include "core/alloc.h"
#include "core/text.h"
#include "trace_tools/event_text.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 1 << 16 };

struct printer {
    bool has_time;
    struct ab_mark_table marks, requests;
    size_t next_mark, next_request;
    char buffer[BUFFER_BYTES];
    FILE *to;
};

static enum ab_status flush(struct printer *p, const char *end, struct ab_err *err)
{
    size_t n = (size_t)(end - p->buffer);
    if (fwrite(p->buffer, 1, n, p->to) != n)
        return ab_fail_errno(err, AB_SYSTEM, "cannot write the events");
    return AB_OK;
}

/* Prints a name with its blanks escaped, because blanks separate fields. */
static void print_name(FILE *to, const char *name)
{
    char shown[4 * AB_MARK_NAME_MAX + 1];
    for (const char *p = ab_text_printable(shown, sizeof shown, name); *p != 0; p++)
        fputs(*p == ' ' ? "\\x20" : (const char[]){*p, 0}, to);
}

static void print_mark(FILE *to, const struct ab_mark_table *t, size_t i, bool has_time)
{
    const struct ab_trace_mark *m = &t->marks[i];
    char thread[16] = "-";
    if (m->thread != AB_MARK_NO_THREAD)
        AB_FIT(thread, "%u", m->thread);
    fprintf(to, "%llu %s mark - - - ", (unsigned long long)m->call, thread);
    print_name(to, t->names[m->name]);
    if (has_time)
        fprintf(to, " %llu", (unsigned long long)m->time_us);
    fputc('\n', to);
}

/* Prints a request. Requests have no time; the argument is in the column of a call's size. */
static void print_request(FILE *to, const struct ab_mark_table *t, size_t i)
{
    const struct ab_trace_mark *m = &t->marks[i];
    char thread[16] = "-";
    if (m->thread != AB_MARK_NO_THREAD)
        AB_FIT(thread, "%u", m->thread);
    fprintf(to, "%llu %s request %llu - - %s\n", (unsigned long long)m->call, thread,
            (unsigned long long)m->argument, t->names[m->name]);
}

static bool is_due(const struct ab_mark_table *t, size_t next, uint64_t call)
{
    return next < t->n && t->marks[next].call <= call;
}

static void print_marks(struct printer *p, uint64_t call)
{
    for (; is_due(&p->marks, p->next_mark, call); p->next_mark++)
        print_mark(p->to, &p->marks, p->next_mark, p->has_time);
    for (; is_due(&p->requests, p->next_request, call); p->next_request++)
        print_request(p->to, &p->requests, p->next_request);
}

/* Skips the marks and requests before call `first`. */
static void skip_marks(struct printer *p, uint64_t first)
{
    while (p->next_mark < p->marks.n && p->marks.marks[p->next_mark].call < first)
        p->next_mark++;
    while (p->next_request < p->requests.n && p->requests.marks[p->next_request].call < first)
        p->next_request++;
}

static enum ab_status print_batch(struct printer *p, const struct ab_walk_batch *batch,
                                  struct ab_err *err)
{
    char *at = p->buffer, *full = p->buffer + BUFFER_BYTES - AB_EVENT_TEXT_MAX;
    for (size_t i = 0; i < batch->n; i++) {
        if (is_due(&p->marks, p->next_mark, batch->first + i) ||
            is_due(&p->requests, p->next_request, batch->first + i)) {
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

static enum ab_status dump_batch(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
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

enum ab_status ab_trace_dump(const struct ab_trace_pass *pass, FILE *to, struct ab_err *err)
{
    struct printer *p = ab_alloc_zeroed(1, sizeof *p);
    struct ab_walk walk = {
        .visit = dump_batch, .user = p, .marks = &p->marks, .requests = &p->requests};
    p->to = to;
    ab_trace_pass_begin(pass, &walk);
    enum ab_status status = ab_trace_walk(&walk, NULL, err);
    ab_file_progress_end(&pass->progress);
    ab_mark_table_fini(&p->marks);
    ab_mark_table_fini(&p->requests);
    free(p);
    return status;
}
