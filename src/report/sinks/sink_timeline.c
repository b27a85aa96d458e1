/* SPDX-License-Identifier: MIT
 *
 * Writes everything that changes over the op clock as CSV in long form, one row per number: memory
 * timelines and latency windows. Also writes iterations, by number, and memory over the time of the
 * work, in ns.
 */
#include "core/text.h"
#include "report/sinks/sinks.h"

#include "report/csv.h"
#include "result/shown.h"

#include <inttypes.h>
#include <math.h>

struct rows {
    FILE *to;
    const struct ab_session *session;
    uint32_t backend, round;
};

static void put_row(const struct rows *rows, const char *series, uint64_t position, double value,
                    const char *unit)
{
    if (!isfinite(value))
        return;
    ab_csv_run(rows->to, rows->session, rows->backend);
    fprintf(rows->to, "%" PRIu32 ",", rows->round);
    ab_csv_backend(rows->to, rows->session, rows->backend);
    fprintf(rows->to, ",%s,%" PRIu64 ",", series, position);
    ab_csv_number(rows->to, value);
    fprintf(rows->to, ",%s", unit);
    ab_csv_end_row(rows->to, rows->session, rows->backend);
}

static void put_timeline(const struct rows *rows, const struct ab_timeline *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        const struct ab_timeline_point *p = &t->points[i];
        put_row(rows, "live", p->position, p->requested_bytes, "bytes");
        put_row(rows, "usable", p->position, p->usable_bytes, "bytes");
        put_row(rows, "footprint", p->position, p->footprint_bytes, "bytes");
        put_row(rows, "external", p->position, p->external_bytes, "bytes");
    }
}

/* Writes memory over the time of the work; the position is that time in ns. */
static void put_over_time(const struct rows *rows, const struct ab_over_time *t)
{
    put_row(rows, "time/live", t->time_ns, t->live_bytes, "bytes");
    put_row(rows, "time/resident", t->time_ns, t->resident_bytes, "bytes");
    put_row(rows, "time/external", t->time_ns, t->external_bytes, "bytes");
    put_row(rows, "time/retained", t->time_ns, t->retained_bytes, "bytes");
    put_row(rows, "time/lazyfree", t->time_ns, t->lazyfree_bytes, "bytes");
}

/* Writes the latency in a window of ops; the position is the middle of the window. */
static void put_window(const struct rows *rows, const struct ab_window *w)
{
    uint32_t middle = w->begin + (w->end - w->begin) / 2;
    put_row(rows, "n", middle, (double)w->n, "ops");
    put_row(rows, "p50", middle, w->p50, "ns");
    put_row(rows, "p99", middle, w->p99, "ns");
    put_row(rows, "max", middle, w->max, "ns");
}

/* Writes the slowest iterations, and the longest of each stretch at its first iteration. Names of
 * lanes other than the first end with the lane's number. */
static void put_iterations(const struct rows *rows, const struct ab_iterations *x)
{
    char most[AB_PHASE_NAME_MAX + 32], lane[AB_PHASE_NAME_MAX + 32];
    AB_FIT(most, "%s/iteration_max", x->phase);
    for (uint32_t i = 0; i < x->n_stretches; i++)
        if (x->stretches[i] != AB_NO_TIME)
            put_row(rows, most, i * x->stretch + 1, (double)x->stretches[i], "ns");
    for (uint32_t i = 0; i < x->n_worst; i++) {
        int n = snprintf(lane, sizeof lane, "%s/iteration", x->phase);
        if (x->worst[i].lane > 0)
            snprintf(lane + n, sizeof lane - (size_t)n, ".%" PRIu32, x->worst[i].lane);
        put_row(rows, lane, x->worst[i].iteration, (double)x->worst[i].ns, "ns");
    }
}

void ab_sink_timeline(FILE *to, const struct ab_session *s)
{
    struct ab_format_guard guard;
    ab_format_begin(&guard);
    fputs("run,round,backend,series,position,value,unit", to);
    ab_csv_end_header(to, s);
    for (uint32_t i = 0; i < s->n_timelines; i++) {
        const struct ab_timeline *t = &s->timelines[i];
        if (ab_session_has_numbers(s, t->backend))
            put_timeline(&(struct rows){to, s, t->backend, t->round}, t);
    }
    for (uint32_t i = 0; i < s->n_over_time; i++) {
        const struct ab_over_time *t = &s->over_time[i];
        if (ab_session_has_numbers(s, t->backend))
            put_over_time(&(struct rows){to, s, t->backend, t->round}, t);
    }
    for (uint32_t i = 0; i < s->n_windows; i++) {
        const struct ab_window *w = &s->windows[i];
        if (ab_session_has_numbers(s, w->backend))
            put_window(&(struct rows){to, s, w->backend, w->round}, w);
    }
    for (uint32_t i = 0; i < s->n_iterations; i++) {
        const struct ab_iterations *x = &s->iterations[i];
        if (ab_session_has_numbers(s, x->backend))
            put_iterations(&(struct rows){to, s, x->backend, x->round}, x);
    }
    ab_format_end(&guard);
}
