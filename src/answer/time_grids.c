/* SPDX-License-Identifier: MIT
 *
 * Tables of a phase: latency and throughput, counters, latency over time and by size, the intervals
 * of percentiles, and the slowest calls.
 */
#include "answer/program_view.h"
#include "answer/topics.h"
#include "base/bits.h"
#include "core/alloc.h"
#include "core/text.h"
#include "core/units_show.h"
#include "result/numbers.h"
#include "result/result_fields.h"
#include "result/session.h"
#include "result/shown.h"
#include "stats/metric.h"
#include "stats/rank/quantile_interval.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- latency ---- */

enum { P50, P90, P99, P999, MAX, N, PICTURE };

/* True if no other round confirms the longest call (is_max_single), so that it may be an
 * interruption rather than the allocator. */
static bool is_single(const struct ab_view *v, uint32_t backend, const char *phase, unsigned op)
{
    const struct ab_view_latency *l = ab_view_latency(v);
    for (uint32_t c = 0; c < l->n_columns; c++)
        if (l->columns[c].op == op && strcmp(v->session->phases[l->columns[c].phase], phase) == 0)
            return ab_view_latency_at(l, backend, c)->is_max_single;
    return false;
}

static void add_latency(struct ab_grid *g, const struct ab_view *v, uint32_t b, const char *phase,
                        unsigned op, struct ab_hdr *hdr)
{
    static const double quantiles[] = {[P50] = 0.50, [P90] = 0.90, [P99] = 0.99, [P999] = 0.999};
    char most[AB_CELL_BYTES];
    struct ab_merged m = ab_session_merge(v->session, b, phase, op, hdr);
    ab_grid_add_backend(g, b);
    for (unsigned c = P50; c <= P999; c++)
        ab_grid_put(g, c, AB_GRID_NS, ab_result_quantile(hdr, quantiles[c]), NULL);
    bool is_least = m.max_least > m.max; /* the longest call was interrupted, and only its lower
                                            bound is known */
    ab_format_ns(most, is_least ? m.max_least : m.max, v->session->timer.floor_ns);
    ab_grid_say(g, MAX, "%s%s%s", is_least ? AB_GRID_AT_LEAST : "", most,
                !is_least && is_single(v, b, phase, op) ? "!" : "");
    ab_grid_put(g, N, AB_GRID_COUNT, m.n_rounds == 0 ? (double)NAN : (double)m.n, NULL);
    ab_grid_put_histogram(g, PICTURE, hdr);
}

/* Fills the table of percentiles, with a section for each op. */
bool ab_latency_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    const struct ab_view *v = at->view;
    const struct ab_session *s = v->session;
    const char *phase = at->phase;
    if (ab_session_is_exec(s))
        return false;
    struct ab_hdr *hdr = ab_alloc(sizeof *hdr);
    char count[AB_CELL_BYTES];
    *g = (struct ab_grid){.session = s,
                          .columns = {[P50] = {"p50", 0},
                                      [P90] = {"p90", 5},
                                      [P99] = {"p99", 1},
                                      [P999] = {"p99.9", 4},
                                      [MAX] = {"max", 2},
                                      [N] = {"n", 3},
                                      [PICTURE] = {"distribution", 6}},
                          .n_columns = PICTURE + 1};
    g->title = ab_view_texts_addf(
        &g->texts, "%s / %s: %s ops per round, %u round%s; values without a unit: ns", s->name,
        phase, ab_format_count(count, (double)ab_session_phase_ops(s, AB_EVERY_COMBINATION, phase)),
        s->n_rounds, s->n_rounds == 1 ? "" : "s");
    ab_sparkline_begin(&g->range);
    for (uint32_t i = 0; i < s->n_results; i++)
        if (s->results[i].op == AB_OP_ALL && ab_session_has_numbers(s, s->results[i].backend) &&
            strcmp(s->results[i].phase, phase) == 0)
            ab_sparkline_widen(&g->range, s->results[i].hdr);
    for (unsigned op = 0; op < AB_OP_KIND_COUNT; op++) {
        if (!ab_session_has_op(s, phase, op))
            continue;
        ab_grid_heading(g, ab_result_op_name(op), "");
        for (uint32_t b = 0; b < s->n_backends; b++)
            if (ab_session_has_numbers(s, b))
                add_latency(g, v, b, phase, op, hdr);
    }
    free(hdr);
    if (g->range.high > g->range.low) {
        g->note = ab_view_texts_addf(&g->texts,
                                     "distribution: from %s to %s, both axes logarithmic",
                                     AB_TIME(g->range.low), AB_TIME(g->range.high));
        g->note_column = PICTURE + 1;
    }
    return true;
}

/* ---- throughput ---- */

enum { PER_OP, SPREAD, MOPS, VERSUS };

/* Puts the speed against the base. Colours mark clear differences only; the ratio says the same
 * without colour. */
static void put_speed(struct ab_grid *g, const char *phase, uint32_t b, uint32_t base)
{
    const struct ab_session *s = g->session;
    char text[AB_CELL_BYTES];
    if (base == UINT32_MAX)
        return;
    struct ab_effect speed = ab_session_speed(s, b, base, phase);
    struct ab_view_factor factor = ab_view_factor_of(&speed);
    bool is_compared = b != base && ab_backend_is_comparable(&s->backends[b]);
    if (b == base)
        ab_grid_say(g, VERSUS, "base");
    else
        ab_grid_say(g, VERSUS, "%s",
                    is_compared && speed.n_new > 0
                        ? ab_view_factor_text(text, &factor, "faster", "slower")
                        : "-");
    if (is_compared && !ab_backend_status_is_aside(s->backends[b].status) &&
        ab_effect_is_clear(&speed))
        g->rows[g->n_rows - 1].emphasis = speed.ratio > 1 ? AB_GOOD : AB_BAD;
}

bool ab_throughput_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    const struct ab_session *s = at->view->session;
    const char *phase = at->phase;
    if (ab_session_is_exec(s))
        return false;
    uint32_t base = ab_session_base(s);
    *g = (struct ab_grid){.session = s,
                          .columns = {[PER_OP] = {"ns/op", 0},
                                      [SPREAD] = {"\u00b1", 3},
                                      [MOPS] = {"Mops/s", 2},
                                      [VERSUS] = {NULL, 1}},
                          .n_columns = VERSUS + 1};
    if (base != UINT32_MAX)
        g->columns[VERSUS].title = ab_grid_versus(g, "vs", base, 10);
    ab_grid_heading(g, "all ops", "");
    for (uint32_t b = 0; b < s->n_backends; b++) {
        char text[AB_CELL_BYTES];
        struct ab_round_range ns = ab_session_ns_per_op(s, b, phase);
        double half = ab_round_range_half(&ns);
        if (!ab_session_has_numbers(s, b))
            continue;
        ab_grid_add_backend(g, b);
        if (ns.median < 999.5)
            ab_format_ratio(text, ns.median); /* "4.00": a mean over the ops, not a reading of the
                                                 clock */
        else
            ab_format_ns(text, ns.median, NAN);
        ab_grid_say(g, PER_OP, "%s", text);
        if (isfinite(half))
            ab_grid_say(g, SPREAD, half < 0.00995 ? "%.1f%%" : "%.0f%%", fmin(half, 9999) * 100);
        else
            ab_grid_say(g, SPREAD, "-");
        ab_grid_say(g, MOPS, "%s", ab_format_ratio(text, 1e3 / ns.median));
        put_speed(g, phase, b, ab_session_base_of(s, b));
    }
    return true;
}

/* ---- counters ---- */

/* Columns after those of the instructions. `field` is a name of result_fields.def. */
static const struct {
    const char *field;
    struct ab_grid_column column;
} counted[] = {
    {"faults_minor", {"faults", 2}},    {"syscalls_mmap", {"mmap", 1}},
    {"syscalls_munmap", {"munmap", 1}}, {"syscalls_mremap", {"mremap", 4}},
    {"syscalls_brk", {"brk", 1}},       {"syscalls_madvise", {"madvise", 3}},
    {"syscalls_futex", {"futex", 3}},   {"syscalls_other", {"other calls", 4}},
};
enum { NET, BY_BASE, GROSS, FIRST_COUNTED };

static double value(const struct ab_session *s, uint32_t backend, const char *phase,
                    const char *field)
{
    const struct ab_metric m = {.phase = phase, .op = AB_OP_ALL, .field = ab_field_find(field)};
    return ab_metric_value(s, backend, &m);
}

/* Returns the instructions per op of the loop alone, with the harness of the back end; NaN = not
 * counted. */
static double null_instructions(const struct ab_session *s, uint32_t backend, const char *phase)
{
    for (uint32_t i = 0; i < s->n_nulls; i++) {
        const struct ab_null_cost *n = &s->nulls[i];
        if (!isnan(n->instr_per_op) && strcmp(n->phase, phase) == 0 &&
            ab_null_is_of(n, &s->backends[backend]))
            return n->instr_per_op;
    }
    return NAN;
}

static void add_counts(struct ab_grid *g, uint32_t b, uint32_t base, const char *phase)
{
    const struct ab_session *s = g->session;
    char ratio[AB_CELL_BYTES];
    double n = value(s, b, phase, "instr_per_op");
    double by = base != UINT32_MAX ? value(s, base, phase, "instr_per_op") : (double)NAN;
    ab_grid_add_backend(g, b);
    ab_grid_put_fixed(g, NET, 2, n);
    ab_grid_say(g, BY_BASE, "%s", ab_format_ratio(ratio, by > 0 && n >= 0 ? n / by : (double)NAN));
    ab_grid_put_fixed(g, GROSS, 2, n + null_instructions(s, b, phase));
    for (unsigned i = 0; i < AB_ARRAY_LEN(counted); i++)
        ab_grid_put_fixed(g, FIRST_COUNTED + i, 0, value(s, b, phase, counted[i].field));
}

/* Adds how instructions were counted, or why they were not. */
static void explain_counts(struct ab_grid *g)
{
    const struct ab_session *s = g->session;
    const struct ab_counting *c = &s->counting;
    char ops[AB_CELL_BYTES], all[AB_CELL_BYTES], shown[1000], name[300];
    if (c->method[0] == 0)
        ab_view_texts_addf(&g->closing, "no instructions: %s",
                           ab_text_printable(shown, sizeof shown, c->reason));
    else
        ab_view_texts_addf(
            &g->closing,
            "Instructions are counted by %s in %s of %s ops; those of the null back end (the "
            "harness) are subtracted from instr/op. System calls are those of the whole phase",
            ab_text_printable(shown, sizeof shown, c->method),
            ab_format_count(ops, (double)c->n_ops), ab_format_count(all, (double)s->n_tape_ops));
    for (uint32_t i = 0; i < s->n_backends; i++)
        if (s->backends[i].uncounted[0] != 0)
            ab_view_texts_addf(
                &g->closing, "%s: %s",
                ab_text_printable(name, sizeof name, ab_backend_label(&s->backends[i])),
                ab_text_printable(shown, sizeof shown, s->backends[i].uncounted));
}

bool ab_counts_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    const struct ab_session *s = at->view->session;
    const char *phase = at->phase;
    if (ab_session_is_exec(s) || !s->counting.is_asked)
        return false;
    uint32_t base = ab_session_base(s);
    *g = (struct ab_grid){.session = s,
                          .columns = {[NET] = {"instr/op", 0}, [GROSS] = {"with loop", 1}},
                          .n_columns = FIRST_COUNTED + AB_ARRAY_LEN(counted)};
    g->title = ab_view_texts_addf(&g->texts, "%s / %s: counts", s->name, phase);
    g->columns[BY_BASE] = (struct ab_grid_column){ab_grid_versus(g, "x", base, 10), 1};
    for (unsigned i = 0; i < AB_ARRAY_LEN(counted); i++)
        g->columns[FIRST_COUNTED + i] = counted[i].column;
    ab_grid_heading(g, "all ops", "");
    for (uint32_t b = 0; b < s->n_backends; b++)
        if (ab_session_has_numbers(s, b))
            add_counts(g, b, ab_session_base_of(s, b), phase);
    for (uint32_t b = 0; b < s->n_backends; b++) { /* adds a row for each harness alone */
        double n = ab_harness_is_used(s, b) ? null_instructions(s, b, phase) : (double)NAN;
        char name[AB_HARNESS_NAME_BYTES], label[AB_HARNESS_NAME_BYTES + AB_VALUES_BYTES + 16];
        if (isnan(n))
            continue;
        ab_harness_name(s, b, name);
        snprintf(label, sizeof label, "harness (%s)%s%s", name,
                 s->backends[b].values[0] != 0 ? " " : "", s->backends[b].values);
        ab_grid_add(g, label, "")->emphasis = AB_FAINT;
        ab_grid_put_fixed(g, GROSS, 2, n);
    }
    explain_counts(g);
    return true;
}

/* ---- percentiles of one round ---- */

static void put_interval(struct ab_grid *g, unsigned column, const struct ab_hdr *hdr,
                         double quantile)
{
    char value[AB_CELL_BYTES], low[AB_CELL_BYTES], high[AB_CELL_BYTES];
    double floor_ns = g->session->timer.floor_ns;
    double ns = hdr != NULL ? ab_result_quantile(hdr, quantile) : (double)NAN;
    if (!isfinite(ns)) {
        ab_grid_put(g, column, AB_GRID_NS, NAN, NULL);
        return;
    }
    struct ab_quantile_interval i = ab_quantile_interval(hdr, quantile);
    ab_grid_say(g, column, "%.16s [%.16s, %.16s]", ab_format_ns(value, ns, floor_ns),
                ab_format_ns(low, i.low, floor_ns), ab_format_ns(high, i.high, floor_ns));
}

/* Fills the table of percentiles with the intervals that follow from the number of samples. More
 * samples narrow these intervals, but do not help if the rounds differ. */
bool ab_intervals_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    const struct ab_session *s = at->view->session;
    const char *phase = at->phase;
    static const double quantiles[] = {0.5, 0.99, 0.999};
    if (s->n_rounds == 0 || ab_session_is_exec(s))
        return false;
    *g = (struct ab_grid){
        .session = s, .columns = {{"p50", 2}, {"p99", 0}, {"p99.9", 1}}, .n_columns = 3};
    g->title = ab_view_texts_addf(&g->texts, "%s: percentiles of %s, 90 %% intervals (by rank)",
                                  phase, s->is_histogram_merged ? "all rounds" : "the first round");
    for (unsigned op = 0; op < AB_OP_KIND_COUNT; op++) {
        if (!ab_session_has_op(s, phase, op))
            continue;
        ab_grid_heading(g, ab_result_op_name(op), "");
        for (uint32_t b = 0; b < s->n_backends; b++) {
            if (!ab_session_has_numbers(s, b))
                continue;
            const struct ab_result *r = ab_session_find(s, b, phase, op, s->rounds[0].index);
            ab_grid_add_backend(g, b);
            for (unsigned q = 0; q < AB_ARRAY_LEN(quantiles); q++)
                put_interval(g, q, r != NULL ? r->hdr : NULL, quantiles[q]);
        }
    }
    return true;
}

/* ---- over time ---- */

enum { SERIES_P50, SERIES_P99, SERIES_MAX, SERIES };

/* Writes to out[] the largest value of a series in each of AB_GRID_POINTS equal parts of the phase,
 * over all rounds; NaN = none. Returns the largest of all. */
static double collect(const struct ab_session *s, uint32_t backend, const char *phase,
                      unsigned series, double out[AB_GRID_POINTS])
{
    uint32_t begin = UINT32_MAX, end = 0;
    double most = 0;
    for (unsigned i = 0; i < AB_GRID_POINTS; i++)
        out[i] = NAN;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < s->n_windows; i++) {
            const struct ab_window *w = &s->windows[i];
            if (w->backend != backend || strcmp(w->phase, phase) != 0)
                continue;
            if (pass == 0) {
                begin = w->begin < begin ? w->begin : begin;
                end = w->end > end ? w->end : end;
                continue;
            }
            double value = series == SERIES_P50 ? w->p50 : series == SERIES_P99 ? w->p99 : w->max;
            unsigned at = (unsigned)fmin(AB_GRID_POINTS - 1, (double)(w->begin - begin) /
                                                                 (end - begin) * AB_GRID_POINTS);
            out[at] = fmax(out[at], value);
            if (isfinite(value))
                most = fmax(most, value);
        }
    return most;
}

/* Fills the table of latency over the course of a phase, from windows of ops. */
bool ab_windows_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    const struct ab_session *s = at->view->session;
    const char *phase = at->phase;
    double values[AB_GRID_POINTS];
    *g = (struct ab_grid){
        .session = s,
        .columns = {{"p50", 2}, {"up to", 2}, {"p99", 1}, {"up to", 1}, {"max", 0}, {"up to", 0}},
        .n_columns = 2 * SERIES};
    ab_grid_heading(g, "over the ops of the phase", "");
    for (uint32_t b = 0; b < s->n_backends; b++) {
        if (!ab_session_has_numbers(s, b) || collect(s, b, phase, SERIES_MAX, values) == 0)
            continue;
        ab_grid_add_backend(g, b);
        for (unsigned series = 0; series < SERIES; series++) {
            char text[AB_CELL_BYTES];
            double most = collect(s, b, phase, series, values);
            ab_grid_put_line(g, 2 * series, values, most);
            ab_grid_say(g, 2 * series + 1, "%s",
                        ab_format_ns(text, most > 0 ? most : (double)NAN, NAN));
        }
    }
    return g->n_rows > 1;
}

/* ---- latency by requested size, in powers of two ----
 * The rounds of a phase, or of all phases, are merged. */

enum { CALLS, FIRST, NAME_COLUMNS = 14, FEW = AB_SIZES_FEW };

/* Returns the number of timed calls, including those that took too long for any counter. */
static uint64_t n_calls(const struct ab_hdr *hdr)
{
    return ab_hdr_total(hdr) + hdr->overflow;
}

/* Timed calls by size. All back ends do the same work, so their shares are shares of the work. */
struct counts {
    uint64_t n[AB_SIZE_CLASS_COUNT], total;
};

static struct counts count(const struct ab_session *s, struct ab_view_classes of_op, bool has_null)
{
    struct counts x = {.total = 0};
    for (uint32_t i = 0; i < of_op.n; i++) {
        const struct ab_size_class *c = of_op.items[i];
        if (c->log2 >= AB_SIZE_CLASS_COUNT ||
            (!has_null && ab_backend_is_null(&s->backends[c->backend])))
            continue;
        x.n[c->log2] += n_calls(c->hdr);
        x.total += n_calls(c->hdr);
    }
    return x;
}

struct missing { /* why percentiles are not known */
    /* has_dash: too few calls; has_overflow: some calls took too long for any counter */
    bool has_dash, has_overflow;
};

/* Puts a pair of percentiles: p50 and p99, or p99.9 and max with `is_tail`. With few calls, only
 * terminals show it. */
static void put_pair(struct ab_grid *g, unsigned column, const struct ab_hdr *hdr, bool is_tail,
                     struct missing *missing)
{
    double max = hdr->overflow > 0 ? NAN : (double)hdr->max;
    double p99 = ab_result_quantile(hdr, 0.99);
    if (n_calls(hdr) == 0)
        return;
    struct ab_grid_cell *cell = ab_grid_put(
        g, column, AB_GRID_PAIR,
        is_tail ? ab_result_quantile(hdr, 0.999) : ab_result_quantile(hdr, 0.5), NULL);
    cell->second = is_tail ? max : p99;
    cell->in_html = n_calls(hdr) < FEW ? "too few" : NULL;
    cell->is_soft = n_calls(hdr) < FEW || isnan(p99);
    if (hdr->overflow > 0)
        missing->has_overflow = true;
    else if (!isfinite(cell->value) || !isfinite(cell->second))
        missing->has_dash = true;
}

/* Shades the cells of the last row by how far their p99 is above the lowest p99 of the row. The
 * first shade begins a quarter above it. */
static void shade(struct ab_grid *g, const uint32_t *backends, unsigned n)
{
    static const double steps[] = {1.25, 2, 4, 8};
    struct ab_grid_row *row = &g->rows[g->n_rows - 1];
    double least = NAN;
    row->is_terminal_only = true;
    for (unsigned i = 0; i < n; i++) {
        const struct ab_grid_cell *cell = &row->cells[FIRST + i];
        if (cell->kind == AB_GRID_BLANK || cell->in_html != NULL)
            continue;
        row->is_terminal_only = false;
        if (isfinite(cell->second) && ab_backend_is_comparable(&g->session->backends[backends[i]]))
            least = fmin(least, fmax(cell->second, g->session->timer.floor_ns));
    }
    for (unsigned i = 0; i < n; i++) {
        struct ab_grid_cell *cell = &row->cells[FIRST + i];
        while (cell->kind != AB_GRID_BLANK && cell->in_html == NULL && cell->shade < 4 &&
               cell->second > steps[cell->shade] * least)
            cell->shade++;
    }
}

static void put_share(struct ab_grid *g, const struct counts *all, const struct counts *shown,
                      unsigned log2)
{
    double percent = 100 * (double)shown->n[log2] / (double)shown->total;
    ab_grid_say(g, CALLS, "%.1f %%", 100 * (double)all->n[log2] / (double)all->total)->in_html =
        percent < 0.005 ? "<0.01 %" : ab_view_texts_addf(&g->texts, "%.2f %%", percent);
}

/* Most back ends that a terminal has room for in a table of sizes. */
enum { BACKENDS_MOST = 11 };

struct list {
    uint32_t backends[AB_GRID_COLUMNS_MAX];
    unsigned n;
};

/* Lists the back ends of the table number `part` of an op: on terminals those that have numbers by
 * size, elsewhere those that pages show, in the order of the ranking. */
static struct list list_backends(const struct ab_topic_at *at, struct ab_view_classes of_op,
                                 unsigned part)
{
    const struct ab_view *v = at->view;
    const bool is_terminal = at->surface == AB_TERMINAL;
    const unsigned most = is_terminal ? BACKENDS_MOST : AB_GRID_COLUMNS_MAX - 1;
    bool *has_sizes = ab_alloc_zeroed(v->session->n_backends + 1u, sizeof has_sizes[0]);
    struct list list = {.n = 0};
    for (uint32_t i = 0; i < of_op.n; i++)
        has_sizes[of_op.items[i]->backend] = true;
    for (uint32_t i = 0, n = 0; i < v->session->n_backends && list.n < most; i++) {
        uint32_t b = is_terminal ? i : v->ranking.rows[i].backend;
        bool is_listed = is_terminal ? has_sizes[b] : ab_view_shows(v->session, b);
        if (is_listed && n++ >= part * most)
            list.backends[list.n++] = b;
    }
    free(has_sizes);
    return list;
}

static uint32_t count_parts(const struct ab_session *s)
{
    return s->n_backends / BACKENDS_MOST + 1;
}

uint32_t ab_sizes_grids(const struct ab_session *s)
{
    /* 2: a table of p50 and p99, and one of p99.9 and max */
    return AB_OP_KIND_COUNT * count_parts(s) * 2;
}

/* Adds the titles, and why percentiles are not known. */
static void add_words(struct ab_grid *g, const struct ab_topic_at *at, const char *phase,
                      unsigned op, const struct missing *missing)
{
    const char *name = ab_result_op_name(op);
    bool is_first = at->surface == AB_TERMINAL && at->number == 2 * count_parts(g->session) * op;
    for (unsigned before = 0; before < op; before++)
        is_first = is_first && ab_view_sizes(at->view, phase, before).n == 0;
    if (is_first)
        g->title = ab_view_texts_addf(&g->texts, "%s: latency by size of the request", phase);
    g->fold = phase != NULL ? phase : "all phases";
    g->caption = at->surface == AB_PAGE
                     ? ab_view_texts_addf(&g->texts, "%s: p50 / p99 of a call", name)
                     : ab_view_texts_addf(&g->texts, "%s, %s by size: p50 / p99 of a call", g->fold,
                                          name);
    if (at->surface != AB_TERMINAL)
        return;
    if (missing->has_dash)
        ab_view_texts_addf(&g->closing, "-: too few calls of this size; a percentile needs at "
                                        "least 10 slower calls.");
    if (missing->has_overflow)
        ab_view_texts_addf(&g->closing, "-: some calls took more than a minute, which no counter "
                                        "can hold.");
}

/* Merges the histograms of a back end among of_op.items[first .. end). */
static void merge(struct ab_view_classes of_op, uint32_t first, uint32_t end, uint32_t backend,
                  struct ab_hdr *hdr)
{
    ab_hdr_init(hdr);
    for (uint32_t i = first; i < end; i++)
        if (of_op.items[i]->backend == backend)
            ab_hdr_merge(hdr, of_op.items[i]->hdr);
}

static bool make_sizes(const struct ab_session *s, struct ab_view_classes of_op,
                       const struct list *list, bool is_tail, struct ab_grid *g,
                       struct missing *missing)
{
    const struct counts all = count(s, of_op, true), shown = count(s, of_op, false);
    struct ab_hdr *hdr = ab_alloc(sizeof *hdr);
    char label[sizeof s->backends->name + 32];
    bool is_any = false;
    *g = (struct ab_grid){.session = s,
                          .rows_are = "size",
                          .columns = {[CALLS] = {"calls", 0, "#calls"}},
                          .n_columns = FIRST + list->n,
                          .is_whole = true};
    for (unsigned i = 0; i < list->n; i++) {
        const struct ab_backend_info *b = &s->backends[list->backends[i]];
        g->columns[FIRST + i] = (struct ab_grid_column){
            .title = ab_backend_label(b),
            .in_html = ab_view_texts_addf(&g->texts, "#%s",
                                          ab_format_backend(label, sizeof label, b)),
            .width = NAME_COLUMNS};
    }
    snprintf(label, sizeof label, "%s, %s, ns", ab_result_op_name(of_op.items[0]->op),
             is_tail ? "p99.9/max" : "p50/p99");
    ab_grid_heading(g, label, "");
    for (uint32_t first = 0, end; first < of_op.n; first = end) {
        char size[AB_CELL_BYTES];
        const unsigned log2 = of_op.items[first]->log2;
        for (end = first; end < of_op.n && of_op.items[end]->log2 == log2;)
            end++;
        if (log2 >= AB_SIZE_CLASS_COUNT || all.n[log2] == 0)
            continue;
        ab_grid_add(g, ab_format_size_class(size, log2), "");
        put_share(g, &all, &shown, log2);
        for (unsigned i = 0; i < list->n; i++) {
            merge(of_op, first, end, list->backends[i], hdr);
            put_pair(g, FIRST + i, hdr, is_tail, missing);
        }
        shade(g, list->backends, list->n);
        is_any = is_any || !g->rows[g->n_rows - 1].is_terminal_only;
    }
    free(hdr);
    return is_any;
}

/* Fills a table of latency by requested size. There are two tables per op on terminals, one
 * elsewhere. With more than AB_PAGE_PHASES phases, pages and summaries have one table for all
 * phases, so that they stay small. */
bool ab_sizes_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    const struct ab_session *s = at->view->session;
    const bool is_terminal = at->surface == AB_TERMINAL, is_tail = at->number % 2 != 0;
    const bool is_merged = !is_terminal && s->n_phases > AB_PAGE_PHASES;
    const unsigned of_op = at->number / 2, op = of_op / count_parts(s);
    const char *phase = is_merged ? NULL : at->phase;
    if ((is_merged && at->phase_index > 0) || (is_tail && !is_terminal))
        return false;
    struct ab_view_classes classes = ab_view_sizes(at->view, phase, op);
    if (classes.n == 0)
        return false;
    struct missing missing = {0};
    struct list list = list_backends(at, classes, of_op % count_parts(s));
    if (list.n == 0 || (!make_sizes(s, classes, &list, is_tail, g, &missing) && !is_terminal))
        return false;
    add_words(g, at, phase, op, &missing);
    return true;
}

/* ---- the slowest calls and iterations ---- */

enum { SHOWN = 5, LISTED = 6 /* rows for each back end */ };

/* Adds the repeated slow calls of a back end in a phase, then the number of calls that were seen
 * once. */
static void add_slowest(struct ab_grid *g, const struct ab_view *v, uint32_t backend,
                        uint32_t phase)
{
    const struct ab_view_slowest *slowest = ab_view_slowest(v);
    unsigned n_shown = 0, n_once = 0;
    for (uint32_t i = 0; i < slowest->n_calls; i++) {
        const struct ab_view_slow_call *call = &slowest->calls[i];
        if (call->backend != backend || call->phase != phase)
            continue;
        n_once += !call->repeats;
        if (!call->repeats || n_shown == SHOWN)
            continue;
        n_shown++;
        ab_grid_add_backend(g, backend);
        ab_grid_put(g, 0, AB_GRID_TIME, call->ns, NULL);
        ab_grid_say(g, 1, "%s of %s", ab_result_op_name(call->op),
                    call->size == AB_SIZE_UNKNOWN ? "unknown size" : AB_BYTES(call->size));
        ab_grid_say(g, 2, "%u", call->position);
        ab_grid_say(g, 3, "%u of %u", call->n_seen, slowest->n_rounds);
        if (call->iteration > 0)
            ab_grid_say(g, 4, "%u", call->iteration);
    }
    if (n_once == 0)
        return;
    ab_grid_add_backend(g, backend)->emphasis = AB_FAINT;
    ab_grid_say(g, 1, "%u call%s", n_once, n_once == 1 ? "" : "s");
    ab_grid_say(g, 3, "once");
}

/* Fills the table of the slowest calls of a phase, by their position in the work. */
bool ab_slow_calls_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    const struct ab_view *v = at->view;
    const struct ab_session *s = v->session;
    const uint32_t phase = at->phase_index;
    const struct ab_iterations *each = ab_session_iterations(s, s->phases[phase]);
    *g = (struct ab_grid){.session = s,
                          .columns = {{ab_grid_median(s)},
                                      {"call", .width = 30},
                                      {"op", 1},
                                      {"seen in"},
                                      {each != NULL ? each->name : NULL, 1}},
                          .n_columns = 5};
    g->title = ab_view_texts_addf(&g->texts, "%s: slowest calls, by their position in the work",
                                  s->phases[phase]);
    ab_grid_heading(g, "slowest calls", "");
    for (uint32_t b = 0; b < s->n_backends; b++)
        if (ab_session_has_numbers(s, b))
            add_slowest(g, v, b, phase);
    g->note = "A call that is slow at the same op in several rounds is slow because of the "
              "allocator; one that is slow once was probably interrupted. op: position in the "
              "work, counted from 0 over all phases, including those not measured, and waits of "
              "threads.";
    return g->n_rows > 1;
}

bool ab_slow_iterations_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    const struct ab_view *v = at->view;
    const struct ab_session *s = v->session;
    const uint32_t phase = at->phase_index;
    const struct ab_iterations *each = ab_session_iterations(s, s->phases[phase]);
    const struct ab_view_slowest *slow = ab_view_slow_iterations(v);
    unsigned n_shown = 0;
    if (each == NULL)
        return false;
    *g = (struct ab_grid){.session = s,
                          .columns = {{"number"},
                                      {ab_grid_median(s)},
                                      {"worst"},
                                      {"seen in"},
                                      {"budget", 1},
                                      {s->facts.lanes > 1 ? "lane" : NULL, 1}},
                          .n_columns = 6};
    g->title = ab_view_texts_addf(&g->texts, "%s: slowest iterations, by their number",
                                  s->phases[phase]);
    ab_grid_heading(g, each->name, "");
    for (uint32_t i = 0; i < slow->n_calls; i++) {
        const struct ab_view_slow_call *x = &slow->calls[i];
        n_shown = i > 0 && x[-1].backend != x->backend ? 0 : n_shown;
        if (x->phase != phase || !x->repeats || n_shown++ >= SHOWN)
            continue;
        ab_grid_add_backend(g, x->backend);
        ab_grid_say(g, 0, "%u", x->iteration);
        ab_grid_put(g, 1, AB_GRID_TIME, x->ns, NULL);
        ab_grid_put(g, 2, AB_GRID_TIME, x->max_ns, NULL);
        ab_grid_say(g, 3, "%u of %u", x->n_seen, slow->n_rounds);
        if (isfinite(each->budget_ns))
            ab_grid_say(g, 4, "%s",
                        x->ns > each->budget_ns       ? "missed"
                        : x->max_ns > each->budget_ns ? "at times"
                                                      : "kept");
        ab_grid_say(g, 5, "%u", x->op);
    }
    g->note = "These were among the slowest in more than half of the rounds; median and worst are "
              "over all rounds. number: counted from 1. --csv-timeline lists those of each round.";
    return g->n_rows > 1;
}

/* Fills the table of the slowest calls of all phases. Calls that repeat come first. */
bool ab_slowest_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    const struct ab_view *v = at->view;
    const struct ab_view_slowest *slowest = ab_view_slowest(v);
    const struct ab_session *s = v->session;
    uint32_t n = 0;
    *g = (struct ab_grid){.session = s,
                          .rows_are = "allocator",
                          .columns = {{.in_html = "call"},
                                      {.in_html = "#size"},
                                      {.in_html = "phase"},
                                      {.in_html = "#place"},
                                      {.in_html = "#seen in"},
                                      {.in_html = "#median"},
                                      {.in_html = "#slowest"}},
                          .n_columns = 7};
    for (uint32_t i = 0; i < slowest->n_calls; i++) {
        const struct ab_view_slow_call *c = &slowest->calls[i];
        const char *phase = s->phases[c->phase];
        const struct ab_iterations *each = ab_session_iterations(s, phase);
        n = i > 0 && c[-1].backend != c->backend ? 0 : n;
        if (n++ >= LISTED)
            continue;
        ab_grid_add_backend(g, c->backend)->emphasis = c->repeats ? AB_PLAIN : AB_FAINT;
        ab_grid_say(g, 0, "%s", ab_result_op_name(c->op));
        ab_grid_put(g, 1, AB_GRID_BYTES, c->size == AB_SIZE_UNKNOWN ? (double)NAN : (double)c->size,
                    NULL);
        if (each != NULL && c->iteration > 0)
            ab_grid_say(g, 2, "%.200s, %.60s %u", phase, each->name, c->iteration);
        else
            ab_grid_say(g, 2, "%.200s", phase);
        ab_grid_say(g, 3, "%u", c->position);
        ab_grid_say(g, 4, "%u of %u", c->n_seen, slowest->n_rounds);
        ab_grid_put(g, 5, AB_GRID_TIME, c->ns, NULL);
        ab_grid_put(g, 6, AB_GRID_TIME, c->max_ns, NULL);
    }
    return g->n_rows > 0;
}
