/* SPDX-License-Identifier: MIT
 *
 * The report for the terminal: the answer, then what was asked for beyond it, by topic: of each
 * measured phase latencies by op and throughput, the tables of depth, memory, the conditions. Numbers
 * of all rounds: histograms merged, throughput as median. The exact ones are in the JSON.
 */
#include "report/table/sink_table.h"
#include "core/memory.h"
#include "core/units_show.h"

#include "base/bits.h"
#include "base/units.h"
#include "core/text.h"
#include "report/counts/table_counts.h"
#include "report/format.h"
#include "report/heaps/table_heaps.h"
#include "report/iterations/table_iterations.h"
#include "report/table/answer/answer.h"
#include "report/table/session/table_depth.h"
#include "report/table/session/table_memory.h"
#include "report/table/session/table_notes.h"
#include "report/table/session/table_rounds.h"
#include "report/table/sparkline.h"
#include "report/table/table.h"
#include "report/view/words/factor.h"
#include "stats/aggregate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct report {
    FILE *to;
    const struct ab_session *s;
    struct ab_table_style style;
    struct ab_hdr *hdr; /* scratch for merging */
    const struct ab_view *view;
    uint32_t base;
    struct ab_sparkline_range range; /* of the phase that is printed */
};

enum { N_SHOWN_QUANTILES = 4, PICTURE_COLUMN = N_SHOWN_QUANTILES + 2 };
static const double shown_quantiles[N_SHOWN_QUANTILES] = {0.50, 0.90, 0.99, 0.999};
static const struct ab_table_column latency_columns[] = {
    {"p50", 0}, {"p90", 5}, {"p99", 1}, {"p99.9", 4}, {"max", 2}, {"n", 3}, {"distribution", 6},
};

static bool is_shown(const struct report *r, uint32_t backend)
{
    return ab_backend_status_has_numbers(r->s->backends[backend].status);
}

/* A max that repeats in no other round: of the allocator, or an interruption? */
static bool is_single(const struct report *r, uint32_t backend, const char *phase, unsigned op)
{
    const struct ab_view_latency *l = &r->view->latency;
    for (uint32_t c = 0; c < l->n_columns; c++)
        if (l->columns[c].op == op && strcmp(r->s->phases[l->columns[c].phase], phase) == 0)
            return ab_view_latency_at(l, backend, c)->is_max_single;
    return false;
}

static void fill_latency(const struct report *r, uint32_t backend, const char *phase, unsigned op,
                         struct ab_table_row *row)
{
    struct ab_merged m = ab_session_merge(r->s, backend, phase, op, r->hdr);
    double floor_ns = r->s->timer.floor_ns;
    for (unsigned q = 0; q < N_SHOWN_QUANTILES; q++)
        ab_format_ns(row->cells[q], ab_result_quantile(r->hdr, shown_quantiles[q]), floor_ns);
    ab_format_ns(row->cells[N_SHOWN_QUANTILES], m.max, floor_ns);
    if (is_single(r, backend, phase, op))
        strcat(row->cells[N_SHOWN_QUANTILES], "!");
    ab_format_count(row->cells[N_SHOWN_QUANTILES + 1], m.n_rounds == 0 ? NAN : (double)m.n);
    ab_sparkline_hdr(row->cells[PICTURE_COLUMN], r->hdr, &r->range, AB_SPARKLINE_MOST,
                     r->style.utf8);
}

/* One range for all rows of a phase, so that they can be laid over each other. */
static void find_range(struct report *r, const char *phase)
{
    ab_sparkline_begin(&r->range);
    for (uint32_t i = 0; i < r->s->n_results; i++) {
        const struct ab_result *x = &r->s->results[i];
        if (x->op == AB_OP_ALL && is_shown(r, x->backend) && strcmp(x->phase, phase) == 0)
            ab_sparkline_widen(&r->range, x->hdr);
    }
}

static void print_range(const struct report *r)
{
    char low[AB_CELL_BYTES], high[AB_CELL_BYTES], line[160];
    if (!(r->range.high > r->range.low))
        return;
    snprintf(line, sizeof line, "distribution: from %s to %s, both axes logarithmic",
             ab_units_time(low, sizeof low, r->range.low),
             ab_units_time(high, sizeof high, r->range.high));
    ab_table_line(r->to, r->style, AB_FAINT, line);
}

static void print_latencies(const struct report *r, const char *phase)
{
    struct ab_table t;
    ab_table_init(&t, latency_columns, AB_ARRAY_LEN(latency_columns));
    for (unsigned op = 0; op < AB_OP_KIND_COUNT; op++) {
        if (!ab_session_has_op(r->s, phase, op))
            continue;
        ab_table_add(&t, ab_result_op_name(op), true);
        for (uint32_t b = 0; b < r->s->n_backends; b++) {
            struct ab_table_row *row = is_shown(r, b) ? ab_table_add_backend(&t, &r->s->backends[b])
                                                      : NULL;
            if (row != NULL)
                fill_latency(r, b, phase, op, row);
        }
    }
    if ((ab_table_print(r->to, &t, r->style) >> PICTURE_COLUMN & 1) != 0)
        print_range(r);
    ab_table_fini(&t);
}

static void format_half(char cell[AB_CELL_BYTES], double half)
{
    if (isfinite(half))
        snprintf(cell, AB_CELL_BYTES, half < 0.00995 ? "%.1f%%" : "%.0f%%", fmin(half, 9999) * 100);
    else
        snprintf(cell, AB_CELL_BYTES, "-");
}

static void format_speed(const struct report *r, char cell[AB_CELL_BYTES], uint32_t backend,
                         const char *phase)
{
    struct ab_effect speed = ab_session_speed(r->s, backend, r->base, phase);
    struct ab_view_factor factor = ab_view_factor_of(&speed);
    if (backend == r->base || !ab_backend_is_comparable(&r->s->backends[backend]) ||
        speed.n_new == 0)
        snprintf(cell, AB_CELL_BYTES, "%s", backend == r->base ? "base" : "-");
    else
        ab_view_factor_text(cell, &factor, "faster", "slower");
}

/* Green and red only for what is clear; the ratio says it without colour. */
static enum ab_emphasis judge_speed(const struct report *r, uint32_t backend, const char *phase)
{
    const struct ab_backend_info *b = &r->s->backends[backend];
    if (ab_backend_status_is_aside(b->status))
        return AB_FAINT;
    if (r->base == UINT32_MAX || backend == r->base || !ab_backend_is_comparable(b))
        return AB_PLAIN;
    struct ab_effect speed = ab_session_speed(r->s, backend, r->base, phase);
    if (!ab_effect_is_clear(&speed))
        return AB_PLAIN;
    return speed.ratio > 1 ? AB_GOOD : AB_BAD;
}

static void fill_throughput(const struct report *r, uint32_t backend, const char *phase,
                            struct ab_table_row *row)
{
    struct ab_round_range ns = ab_session_ns_per_op(r->s, backend, phase);
    if (ns.median < 999.5)
        ab_format_ratio(row->cells[0], ns.median); /* "4.00": a mean, not a reading of the clock */
    else
        ab_format_ns(row->cells[0], ns.median, NAN);
    format_half(row->cells[1], ab_round_range_half(&ns));
    ab_format_ratio(row->cells[2], 1e3 / ns.median);
    if (r->base != UINT32_MAX)
        format_speed(r, row->cells[3], backend, phase);
}

enum { VERSUS_BYTES = AB_CELL_BYTES * 4 };

/* "vs glibc"; "" where there is nothing to compare with. */
static void format_versus(const struct report *r, char versus[VERSUS_BYTES])
{
    char base[VERSUS_BYTES - 4];
    versus[0] = 0;
    if (r->base != UINT32_MAX)
        snprintf(
            versus, VERSUS_BYTES, "vs %s",
            ab_format_label(base, sizeof base, r->s->backends[r->base].name, 10, r->style.utf8));
}

typedef void fill_row(const struct report *r, uint32_t backend, const char *phase,
                      struct ab_table_row *row);

/* A row for each back end that is shown. */
static void print_backends(const struct report *r, struct ab_table *t, const char *phase,
                           fill_row *fill)
{
    for (uint32_t b = 0; b < r->s->n_backends; b++) {
        struct ab_table_row *row = is_shown(r, b) ? ab_table_add_backend(t, &r->s->backends[b])
                                                  : NULL;
        if (row == NULL)
            continue;
        fill(r, b, phase, row);
        row->emphasis = judge_speed(r, b, phase);
    }
    ab_table_print(r->to, t, r->style);
    ab_table_fini(t);
}

static void print_throughput(const struct report *r, const char *phase)
{
    char versus[VERSUS_BYTES];
    format_versus(r, versus);
    const struct ab_table_column columns[] = {
        {"ns/op", 0},
        {r->style.utf8 ? "\u00b1" : "+-", 3},
        {"Mops/s", 2},
        {versus, 1},
    };
    struct ab_table t;
    ab_table_init(&t, columns, r->base == UINT32_MAX ? 3 : 4);
    ab_table_add(&t, "all ops", true);
    print_backends(r, &t, phase, fill_throughput);
}

/* Ops that the phase asks for in one round, from any complete back end. */
static uint64_t ops_of_phase(const struct ab_session *s, const char *phase)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < s->n_results; i++) {
        const struct ab_result *r = &s->results[i];
        if (r->op == AB_OP_ALL && strcmp(r->phase, phase) == 0 && r->n_ops + r->n_unsupported > n)
            n = r->n_ops + r->n_unsupported;
    }
    return n;
}

static void print_phase(struct report *r, const char *phase)
{
    struct ab_text title = {0};
    char count[AB_CELL_BYTES];
    ab_text_addf(&title, "%s / %s: %s ops per round, %u round%s; values without a unit: ns",
                 r->s->name, phase, ab_format_count(count, (double)ops_of_phase(r->s, phase)),
                 r->s->n_rounds, r->s->n_rounds == 1 ? "" : "s");
    if (title.s != NULL)
        ab_table_line(r->to, r->style, AB_STRONG, title.s);
    ab_text_fini(&title);
    find_range(r, phase);
    print_latencies(r, phase);
    print_throughput(r, phase);
    fputc('\n', r->to);
}

static bool has_any_result(const struct ab_session *s)
{
    for (uint32_t i = 0; i < s->n_results; i++)
        if (s->results[i].backend < s->n_backends &&
            ab_backend_status_has_numbers(s->backends[s->results[i].backend].status))
            return true;
    return false;
}

static bool is_asked_for(const struct report *r, const char *phase)
{
    return r->style.phase == NULL || strcmp(r->style.phase, phase) == 0;
}

static void print_topics(struct report *r)
{
    for (uint32_t i = 0; i < r->s->n_phases && (r->style.topics & AB_TOPIC_TIME) != 0; i++)
        if (is_asked_for(r, r->s->phases[i]))
            print_phase(r, r->s->phases[i]);
    ab_table_depth(r->to, r->view, r->style);
    if ((r->style.topics & AB_TOPIC_MEMORY) != 0)
        ab_table_memory(r->to, r->s, r->style);
    if (r->style.topics != 0)
        ab_table_notes(r->to, r->s, r->style);
}

static void print_report(struct report *r)
{
    bool has_results = has_any_result(r->s), is_exec = ab_session_is_exec(r->s);
    ab_answer_print(r->to, r->view, r->style);
    if (has_results && !is_exec)
        ab_table_counts(r->to, r->s, r->style);
    if (has_results && !is_exec) {
        ab_table_iterations(r->to, r->s, r->style);
        ab_table_heaps(r->to, r->s, r->style);
    }
    if (has_results && !is_exec && r->style.topics != 0)
        print_topics(r);
    ab_rounds_print(r->to, r->s, r->style);
    ab_answer_end(r->to, r->view, r->style);
}

void ab_sink_table(FILE *to, const struct ab_session *session, struct ab_table_style style)
{
    struct ab_format_guard guard;
    struct report r = {.to = to, .s = session, .style = style, .base = ab_session_base(session)};
    ab_format_begin(&guard);
    struct ab_view view;
    ab_view_make(session, &view);
    r.hdr = ab_alloc(sizeof *r.hdr);
    r.view = &view;
    print_report(&r);
    ab_view_fini(&view);
    free(r.hdr);
    ab_format_end(&guard);
}
