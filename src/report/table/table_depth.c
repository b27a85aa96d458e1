/* SPDX-License-Identifier: MIT
 *
 * The tables of `-v` below those of a phase: intervals of percentiles, latency over time, the slowest
 * calls; latency by size is in table_sizes.c.
 */
#include "report/table/table_depth.h"

#include "base/bits.h"
#include "base/units.h"
#include "core/memory.h"
#include "core/text.h"
#include "core/units_show.h"
#include "report/table/sparkline.h"
#include "report/table/table.h"
#include "report/table/table_sizes.h"
#include "stats/aggregate.h"
#include "stats/metric.h"
#include "stats/rank/quantile_interval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORST_SHOWN = 5 };
static const double interval_quantiles[] = {0.5, 0.99, 0.999};

struct depth {
    FILE *to;
    const struct ab_session *s;
    const struct ab_view *v;
    struct ab_table_style style;
    struct ab_hdr *hdr; /* scratch for merging */
};

static bool is_shown(const struct depth *d, uint32_t backend)
{
    return backend < d->s->n_backends &&
           ab_backend_status_has_numbers(d->s->backends[backend].status);
}

static void print_title(const struct depth *d, const char *phase, const char *what)
{
    char title[256];
    snprintf(title, sizeof title, "%s: %s", phase, what);
    ab_table_line(d->to, d->style, AB_STRONG, title);
}

/* ---- percentiles of one round ---- */

static void fill_intervals(const struct depth *d, const struct ab_result *r,
                           struct ab_table_row *row)
{
    double floor_ns = d->s->timer.floor_ns;
    for (size_t q = 0; q < AB_ARRAY_LEN(interval_quantiles); q++) {
        char value[AB_CELL_BYTES], low[AB_CELL_BYTES], high[AB_CELL_BYTES];
        double ns = r != NULL ? ab_result_quantile(r->hdr, interval_quantiles[q]) : NAN;
        snprintf(row->cells[q], AB_CELL_BYTES, "-");
        if (!isfinite(ns))
            continue;
        struct ab_quantile_interval i = ab_quantile_interval(r->hdr, interval_quantiles[q]);
        snprintf(row->cells[q], AB_CELL_BYTES, "%.16s [%.16s, %.16s]",
                 ab_format_ns(value, ns, floor_ns), ab_format_ns(low, i.low, floor_ns),
                 ab_format_ns(high, i.high, floor_ns));
    }
}

/* How far the number of samples carries: an interval that is wide here is narrowed by more samples,
 * one that is narrow while rounds differ is not. */
static bool print_intervals(const struct depth *d, const char *phase)
{
    static const struct ab_table_column columns[] = {{"p50", 2}, {"p99", 0}, {"p99.9", 1}};
    struct ab_table t;
    if (d->s->n_rounds == 0)
        return false;
    print_title(d, phase,
                d->s->is_histogram_merged
                    ? "percentiles of all rounds, 90 % intervals (by rank)"
                    : "percentiles of the first round, 90 % intervals (by rank)");
    ab_table_init(&t, columns, AB_ARRAY_LEN(columns));
    for (unsigned op = 0; op < AB_OP_KIND_COUNT; op++) {
        if (!ab_session_has_op(d->s, phase, op))
            continue;
        ab_table_add(&t, ab_result_op_name(op), true);
        for (uint32_t b = 0; b < d->s->n_backends; b++) {
            struct ab_table_row *row = is_shown(d, b) ? ab_table_add_backend(&t, &d->s->backends[b])
                                                      : NULL;
            if (row != NULL)
                fill_intervals(d, ab_session_find(d->s, b, phase, op, d->s->rounds[0].index), row);
        }
    }
    ab_table_print(d->to, &t, d->style);
    ab_table_fini(&t);
    return true;
}

/* ---- the slowest ---- */

/* Those that repeat of one back end in one phase, then how many were seen once. */
static void print_worst_of(const struct depth *d, uint32_t backend, uint32_t phase,
                           struct ab_table *t)
{
    unsigned n_shown = 0, n_once = 0;
    for (uint32_t i = 0; i < d->v->slowest.n_calls; i++) {
        const struct ab_view_slow_call *call = &d->v->slowest.calls[i];
        char size[32], label[AB_TABLE_LABEL_BYTES];
        if (call->backend != backend || call->phase != phase)
            continue;
        n_once += !call->repeats;
        if (!call->repeats || n_shown == WORST_SHOWN)
            continue;
        n_shown++;
        struct ab_table_row *row = ab_table_add_backend(t, &d->s->backends[backend]);
        if (row == NULL)
            return;
        ab_units_time(row->cells[0], AB_CELL_BYTES, call->ns);
        snprintf(label, sizeof label, "%s of %s", ab_result_op_name(call->op),
                 call->size == AB_SIZE_UNKNOWN
                     ? "unknown size"
                     : ab_units_bytes(size, sizeof size, (double)call->size));
        ab_format_label(row->cells[1], AB_CELL_BYTES, label, 30, d->style.utf8);
        snprintf(row->cells[2], AB_CELL_BYTES, "%u", call->position);
        snprintf(row->cells[3], AB_CELL_BYTES, "%u of %u", call->n_seen, d->v->slowest.n_rounds);
        if (call->iteration > 0)
            snprintf(row->cells[4], AB_CELL_BYTES, "%u", call->iteration);
    }
    struct ab_table_row *once = n_once > 0 ? ab_table_add_backend(t, &d->s->backends[backend])
                                           : NULL;
    if (once == NULL)
        return;
    snprintf(once->cells[1], AB_CELL_BYTES, "%u call%s", n_once, n_once == 1 ? "" : "s");
    snprintf(once->cells[3], AB_CELL_BYTES, "once");
    once->emphasis = AB_FAINT;
}

static bool print_worst(const struct depth *d, uint32_t phase)
{
    const struct ab_iterations *each = ab_session_iterations(d->s, d->s->phases[phase]);
    const struct ab_table_column columns[] = {
        {"median", 0}, {"call", 0}, {"op", 1}, {"seen in", 0}, {each != NULL ? each->name : "", 1}};
    struct ab_table t;
    ab_table_init(&t, columns, AB_ARRAY_LEN(columns) - (each == NULL));
    ab_table_add(&t, "slowest calls", true);
    for (uint32_t b = 0; b < d->s->n_backends; b++)
        if (is_shown(d, b))
            print_worst_of(d, b, phase, &t);
    bool is_any = t.n_rows > 1;
    if (is_any) {
        print_title(d, d->s->phases[phase], "slowest calls, by their place in the work");
        ab_table_print(d->to, &t, d->style);
        ab_table_prose(
            d->to, d->style, AB_FAINT,
            "Repeats at one op: the allocator. Once: probably an interruption. op: counted "
            "from 0 over all phases, also unmeasured ones, with the waits of threads.");
    }
    ab_table_fini(&t);
    return is_any;
}

static void fill_iteration(const struct depth *d, const struct ab_view_slow_call *x,
                           double budget_ns, struct ab_table_row *row)
{
    snprintf(row->cells[0], AB_CELL_BYTES, "%u", x->iteration);
    ab_units_time(row->cells[1], AB_CELL_BYTES, x->ns);
    ab_units_time(row->cells[2], AB_CELL_BYTES, x->max_ns);
    snprintf(row->cells[3], AB_CELL_BYTES, "%u of %u", x->n_seen, d->v->slow_iterations.n_rounds);
    if (isfinite(budget_ns))
        snprintf(row->cells[4], AB_CELL_BYTES, "%s",
                 x->ns > budget_ns       ? "missed"
                 : x->max_ns > budget_ns ? "at times"
                                         : "kept");
    snprintf(row->cells[5], AB_CELL_BYTES, "%u", x->op);
}

/* Which of the iterations those are that take most in most rounds. */
static bool print_iterations(const struct depth *d, uint32_t phase)
{
    static const struct ab_table_column columns[] = {{"number", 0},  {"median", 0}, {"worst", 0},
                                                     {"seen in", 0}, {"budget", 1}, {"lane", 1}};
    const struct ab_iterations *each = ab_session_iterations(d->s, d->s->phases[phase]);
    unsigned n_shown = 0;
    struct ab_table t;
    if (each == NULL)
        return false;
    ab_table_init(&t, columns, AB_ARRAY_LEN(columns) - (d->s->facts.lanes <= 1));
    ab_table_add(&t, each->name, true);
    for (uint32_t i = 0; i < d->v->slow_iterations.n_calls; i++) {
        const struct ab_view_slow_call *x = &d->v->slow_iterations.calls[i];
        n_shown = i > 0 && x[-1].backend != x->backend ? 0 : n_shown;
        if (x->phase != phase || !x->repeats || n_shown++ >= WORST_SHOWN)
            continue;
        struct ab_table_row *row = ab_table_add_backend(&t, &d->s->backends[x->backend]);
        if (row != NULL)
            fill_iteration(d, x, each->budget_ns, row);
    }
    bool is_any = t.n_rows > 1;
    if (is_any) {
        print_title(d, d->s->phases[phase], "slowest iterations, by their number");
        ab_table_print(d->to, &t, d->style);
        ab_table_prose(
            d->to, d->style, AB_FAINT,
            "Among the slowest in more than half of the rounds; median and worst: of all "
            "rounds. number: from 1 on. --csv-timeline has those of each round.");
    }
    ab_table_fini(&t);
    return is_any;
}

/* ---- over time ---- */

enum { SERIES_P50, SERIES_P99, SERIES_MAX, SERIES };

/* Largest value of each stretch over all rounds; the largest of all. */
static double collect(const struct depth *d, uint32_t backend, const char *phase, unsigned series,
                      double *out, unsigned n)
{
    uint32_t begin = UINT32_MAX, end = 0;
    double most = 0;
    for (unsigned i = 0; i < n; i++)
        out[i] = NAN;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < d->s->n_windows; i++) {
            const struct ab_window *w = &d->s->windows[i];
            if (w->backend != backend || strcmp(w->phase, phase) != 0)
                continue;
            if (pass == 0) {
                begin = w->begin < begin ? w->begin : begin;
                end = w->end > end ? w->end : end;
                continue;
            }
            double value = series == SERIES_P50 ? w->p50 : series == SERIES_P99 ? w->p99 : w->max;
            unsigned at = (unsigned)fmin(n - 1, (double)(w->begin - begin) / (end - begin) * n);
            out[at] = fmax(out[at], value);
            if (isfinite(value))
                most = fmax(most, value);
        }
    return most;
}

static bool print_windows(const struct depth *d, const char *phase)
{
    static const struct ab_table_column columns[] = {{"p50", 2},   {"up to", 2}, {"p99", 1},
                                                     {"up to", 1}, {"max", 0},   {"up to", 0}};
    struct ab_table t;
    bool is_empty = true;
    ab_table_init(&t, columns, AB_ARRAY_LEN(columns));
    ab_table_add(&t, "over the ops of the phase", true);
    for (uint32_t b = 0; b < d->s->n_backends; b++) {
        double values[AB_SPARKLINE_MOST];
        if (!is_shown(d, b) || collect(d, b, phase, SERIES_MAX, values, AB_SPARKLINE_MOST) == 0)
            continue;
        struct ab_table_row *row = ab_table_add_backend(&t, &d->s->backends[b]);
        for (unsigned series = 0; series < SERIES && row != NULL; series++) {
            double most = collect(d, b, phase, series, values, AB_SPARKLINE_MOST);
            ab_sparkline_series(row->cells[2 * series], values, AB_SPARKLINE_MOST, most,
                                d->style.utf8);
            ab_format_ns(row->cells[2 * series + 1], most > 0 ? most : NAN, NAN);
        }
        is_empty = is_empty && row == NULL;
    }
    if (!is_empty)
        ab_table_print(d->to, &t, d->style);
    ab_table_fini(&t);
    return !is_empty;
}

void ab_table_depth(FILE *to, const struct ab_view *v, struct ab_table_style style)
{
    struct depth d = {to, v->session, v, style, ab_alloc(sizeof *d.hdr)};
    for (uint32_t i = 0; i < d.s->n_phases && d.hdr != NULL; i++) {
        const char *phase = d.s->phases[i];
        if (style.phase != NULL && strcmp(style.phase, phase) != 0)
            continue;
        bool is_any = false;
        if ((style.topics & AB_TOPIC_PERCENTILES) != 0)
            is_any |= print_intervals(&d, phase);
        if ((style.topics & AB_TOPIC_SIZE) != 0)
            is_any |= ab_table_sizes(to, d.s, phase, style, d.hdr);
        if ((style.topics & AB_TOPIC_TIME) != 0)
            is_any |= print_windows(&d, phase);
        if ((style.topics & AB_TOPIC_WORST) != 0) {
            is_any |= print_worst(&d, i);
            is_any |= print_iterations(&d, i);
        }
        if (is_any)
            fputc('\n', to);
    }
    free(d.hdr);
}
