/* SPDX-License-Identifier: MIT
 *
 * Events as text: `dump` for people and pipes, `export` for spreadsheets and data frames.
 */
#include "cli/trace/cmd_trace.h"
#include "cli/trace/trace_marks.h"
#include "report/output.h"
#include "trace_tools/event_text.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 1 << 16 };

struct printer {
    FILE *to;
    unsigned layout; /* of enum ab_event_layout */
    struct ab_mark_table marks;
    size_t next_mark;
    struct ab_survey *survey; /* gathers the curve; NULL = not asked for */
    char buffer[BUFFER_BYTES];
};

static enum ab_status flush(struct printer *p, const char *end, struct ab_err *err)
{
    size_t n = (size_t)(end - p->buffer);
    if (fwrite(p->buffer, 1, n, p->to) != n)
        return ab_fail_errno(err, AB_SYSTEM, "cannot write the events");
    return AB_OK;
}

/* Lines have marks, rows have none: those are of calls. */
static bool is_mark_due(const struct printer *p, uint64_t call)
{
    return p->next_mark < p->marks.n && p->marks.marks[p->next_mark].call <= call &&
           (p->layout & AB_EVENT_CSV) == 0;
}

static void print_marks(struct printer *p, uint64_t call)
{
    for (; is_mark_due(p, call); p->next_mark++)
        ab_trace_print_mark(p->to, &p->marks, p->next_mark, (p->layout & AB_EVENT_TIMED) != 0);
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
        at = ab_event_text(at, p->layout, batch->first + i, &batch->events[i], &batch->blocks[i]);
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
    if (batch->where == AB_WALK_BEGIN && batch->info->has_time)
        p->layout |= AB_EVENT_TIMED;
    if (batch->where == AB_WALK_BEGIN)
        skip_marks(p, batch->first);
    if (p->to != NULL && batch->where == AB_WALK_END)
        print_marks(p, batch->first);
    if (p->to != NULL && batch->where == AB_WALK_BEGIN && (p->layout & AB_EVENT_CSV) != 0)
        fputs(ab_event_csv_head(p->layout), p->to);
    enum ab_status status = p->to != NULL ? print_batch(p, batch, err) : AB_OK;
    return status == AB_OK && p->survey != NULL ? ab_survey_visit(p->survey, batch, err) : status;
}

static enum ab_status print_events(const struct ab_options *o, struct printer *p,
                                   struct ab_err *err)
{
    struct ab_trace_watch watch;
    struct ab_walk walk = {.visit = visit, .user = p, .marks = &p->marks};
    ab_trace_watch_begin(&watch, o, o->args[1], &walk);
    enum ab_status status = ab_trace_walk(&walk, NULL, err);
    ab_trace_watch_end(&watch);
    ab_mark_table_fini(&p->marks);
    return status;
}

enum ab_status ab_trace_cmd_dump(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct printer *p = calloc(1, sizeof *p);
    (void)exit_code;
    if (p == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    p->to = stdout;
    p->layout = AB_EVENT_LINE;
    enum ab_status status = print_events(o, p, err);
    free(p);
    return status;
}

/* Each step's highest values, at the number of its last event. */
static void print_curve(FILE *to, const struct ab_curve *c, uint64_t first)
{
    fputs("event,live_bytes,live_blocks\r\n", to);
    for (size_t i = 0; i < ab_curve_count(c); i++) {
        uint64_t end = (i + 1) * c->width;
        fprintf(to, "%llu,%llu,%llu\r\n",
                (unsigned long long)(first + (end < c->n_events ? end : c->n_events) - 1),
                (unsigned long long)c->steps[i].bytes, (unsigned long long)c->steps[i].blocks);
    }
}

static enum ab_status export_to(const struct ab_options *o, struct printer *p,
                                struct ab_output *events, struct ab_output *curve,
                                struct ab_err *err)
{
    if (o->csv != NULL)
        AB_TRY(ab_trace_open_file(o, 1, o->csv, events, err));
    if (o->live_csv != NULL)
        AB_TRY(ab_trace_open_file(o, 1, o->live_csv, curve, err));
    if (ab_output_is_same(events, curve))
        return ab_fail(err, AB_USAGE, "--csv and --live-csv name the same file");
    p->to = events->to;
    AB_TRY(print_events(o, p, err));
    if (curve->to != NULL)
        print_curve(curve->to, &p->survey->live, o->first_event);
    AB_TRY(ab_output_commit(events, err));
    return ab_output_commit(curve, err);
}

enum ab_status ab_trace_cmd_export(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_output events = {0}, curve = {0};
    (void)exit_code;
    if (o->n_args == 3 || o->output != NULL)
        return ab_trace_export_format(o, err);
    if (o->csv == NULL && o->live_csv == NULL)
        return ab_fail(err, AB_USAGE,
                       "trace export needs --csv or --live-csv, or FORMAT and -o: where to write");
    struct printer *p = calloc(1, sizeof *p);
    struct ab_survey *survey = calloc(1, sizeof *survey);
    enum ab_status status = p == NULL || survey == NULL ? ab_fail(err, AB_SYSTEM, "out of memory")
                                                        : AB_OK;
    if (status == AB_OK) {
        p->layout = AB_EVENT_CSV;
        p->survey = o->live_csv != NULL ? survey : NULL;
        status = export_to(o, p, &events, &curve, err);
        ab_survey_fini(survey);
    }
    ab_output_abandon(&events);
    ab_output_abandon(&curve);
    free(survey);
    free(p);
    return status;
}
