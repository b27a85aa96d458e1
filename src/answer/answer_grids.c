/* SPDX-License-Identifier: MIT
 *
 * The tables of the answer, with rows in the order of the ranking: who is fastest, time by phase,
 * and latency of a call.
 */
#include "answer/program_view.h"
#include "answer/ranking.h"
#include "answer/topics.h"
#include "core/alloc.h"
#include "core/text.h"
#include "result/numbers.h"
#include "result/shown.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the ranking: time of the whole run, how much faster than the base, tail, memory ---- */

enum { TIME, VERSUS, P99, P999, PEAK, AFTER_FREE };

static void put_versus(struct ab_grid *g, const struct ab_view_ranking *r,
                       const struct ab_view_rank *rank)
{
    const struct ab_view_subject *by = &r->subject;
    uint32_t base = ab_session_base_of(g->session, rank->backend);
    bool is_same_build = base != UINT32_MAX && rank->twin == base && !rank->is_base;
    char text[AB_CELL_BYTES];
    if (rank->is_base)
        ab_grid_say(g, VERSUS, "base");
    else if (rank->standing == AB_VIEW_ASIDE)
        ab_grid_put(g, VERSUS, AB_GRID_TEXT, NAN, "not compared")->text = "not compared";
    else if (is_same_build)
        ab_grid_say(g, VERSUS, "the same build");
    else if (!isfinite(rank->vs.times))
        ab_grid_put(g, VERSUS, AB_GRID_TEXT, NAN, "no time to compare with");
    else
        ab_grid_say(g, VERSUS, "%s",
                    ab_view_factor_text(text, &rank->vs, ab_view_subject_word(by, false),
                                        ab_view_subject_word(by, true)));
}

/* True if the time of a back end is not known because waiting was subtracted from it. */
static bool has_waiting_rounds(const struct ab_session *s, uint32_t backend)
{
    for (uint32_t i = 0; i < s->n_results; i++)
        if (s->results[i].op == AB_OP_ALL && s->results[i].backend == backend &&
            isnan(s->results[i].ns_per_op) && s->results[i].subtracted_percent > 0)
            return true;
    return false;
}

static void add_rank(struct ab_grid *g, const struct ab_view *v, const struct ab_view_rank *rank)
{
    static const double quantiles[] = {0.99, 0.999};
    double ns[2];
    const struct ab_backend_info *b = &g->session->backends[rank->backend];
    struct ab_grid_row *row = ab_grid_add_backend(g, rank->backend);
    if (rank->standing == AB_VIEW_FAILED) {
        ab_grid_say(g, TIME, "%s", ab_backend_status_name(b->status));
        row->emphasis = AB_BAD;
        return;
    }
    ab_program_put(g, TIME, v->ranking.subject.metric.field, rank->figure.median,
                   has_waiting_rounds(g->session, rank->backend)
                       ? "threads waited for more than half of their time"
                       : "no round is complete");
    put_versus(g, &v->ranking, rank);
    ab_view_latency_of_allocation(g->session, rank->backend, quantiles, 2, ns);
    ab_grid_put(g, P99, AB_GRID_CALL, ns[0], "too few timed calls");
    ab_grid_put(g, P999, AB_GRID_CALL, ns[1], "too few timed calls");
    ab_grid_put(g, PEAK, AB_GRID_BYTES, rank->peak_bytes, v->memory.rows[rank->backend].why_peak);
    ab_grid_put(g, AFTER_FREE, AB_GRID_BYTES, rank->after_free_bytes, NULL);
    if (rank->vs.is_clear && rank->standing == AB_VIEW_RANKED)
        row->emphasis = rank->vs.is_less ? AB_BAD : AB_GOOD;
}

/* True if any row has a value in `column`. Terminals leave out columns without any value. */
static bool is_known(const struct ab_grid *g, unsigned column)
{
    for (size_t r = 0; r < g->n_rows; r++) {
        const struct ab_grid_cell *cell = &g->rows[r].cells[column];
        if (cell->kind != AB_GRID_BLANK && isfinite(cell->value) &&
            (cell->text == NULL || strcmp(cell->text, "base") != 0))
            return true;
    }
    return false;
}

/* Adds the legend that pages and Markdown have below the ranking. */
static void explain(struct ab_grid *g, bool is_exec)
{
    ab_view_texts_addf(&g->closing,
                       "~: no clear difference from the base. [low, high]: 90 %% interval. %s",
                       is_exec ? "peak: most resident memory of all processes of the program "
                                 "together."
                               : "p99 and p99.9: percentiles of the calls that return a block; <: "
                                 "shorter than the clock can resolve. peak: largest increase of "
                                 "resident memory.");
}

/* Fills the table of the ranking. Terminals and pages also have rows for back ends that failed or
 * are not compared. Only Markdown has the column "after free", because terminals and pages show it
 * with the rest of memory. */
bool ab_ranking_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    const struct ab_view *v = at->view;
    const struct ab_session *s = v->session;
    const bool is_markdown = at->surface == AB_MARKDOWN;
    bool is_exec = ab_session_is_exec(s); /* in a real program, single calls are not timed */
    uint32_t base = v->ranking.base;
    *g = (struct ab_grid){.session = s,
                          .rows_are = "allocator",
                          .columns = {[P99] = {"p99", 3, is_exec ? NULL : "#p99"},
                                      [P999] = {"p99.9", 2, is_exec ? NULL : "#p99.9"},
                                      [PEAK] = {"peak", 1, "#peak"}},
                          .n_columns = AFTER_FREE + 1};
    g->caption = ab_view_texts_addf(&g->texts, "Ranking by %.100s", v->ranking.subject.noun);
    g->columns[P99].signs = g->columns[P999].signs = AB_SIGN_TAIL;
    if (is_markdown && v->ranking.has_drain)
        g->columns[AFTER_FREE].in_html = "#after free";
    g->columns[TIME] = (struct ab_grid_column){
        v->ranking.subject.title, 0,
        ab_view_texts_addf(&g->texts, "#%s", v->ranking.subject.title)};
    g->columns[VERSUS].title = ab_grid_versus(g, "vs", base, 20);
    g->columns[VERSUS].in_html = ab_view_texts_addf(
        &g->texts, "against %.150s",
        base != UINT32_MAX ? AB_OWN_LABEL(&s->backends[base]) : "the base");
    ab_grid_heading(g, "", "");
    for (uint32_t i = 0; i < (is_markdown ? v->ranking.n_ranked : v->ranking.n_rows); i++)
        if (s->backends[v->ranking.rows[i].backend].status != AB_BACKEND_ABSENT)
            add_rank(g, v, &v->ranking.rows[i]); /* a warning reports absent back ends */
    for (unsigned c = VERSUS; c <= PEAK; c++)
        if (!is_known(g, c))
            g->columns[c].title = NULL;
    if (at->surface != AB_TERMINAL)
        explain(g, is_exec);
    return true;
}

/* ---- choosing the columns of a table ---- */

enum { TITLE = 14, COLUMNS = 8, NAME = 24 };

struct column { /* a candidate for a column, and its share of the work */
    uint32_t index;
    double weight;
    const char *title, *name;
};

static int by_weight(const void *a, const void *b)
{
    const struct column *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static int by_index(const void *a, const void *b)
{
    const struct column *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

/* Makes the names of the entries that are not columns the note of the grid. */
static void note_rest(struct ab_grid *g, const struct column *rest, uint32_t n, bool is_terminal)
{
    struct ab_text t = {0};
    for (uint32_t i = 0; i < n; i++)
        ab_text_addf(&t, "%s%s", i > 0 ? ", " : "", rest[i].name);
    if (n > 0)
        g->note = ab_view_texts_addf(
            &g->texts, is_terminal ? "  (not shown: %s; -v time)" : "(not shown: %s)", t.s);
    ab_text_fini(&t);
}

/* Makes the heaviest entries of list[0..n) the columns of the grid, in their original order. On
 * terminals, there are at most COLUMNS columns, and the lightest are dropped first if the width is
 * short. Elsewhere, there are as many columns as a grid has room for. The names of the other
 * entries become the note of the grid. */
static void choose(struct ab_grid *g, struct column *list, uint32_t n, enum ab_surface surface)
{
    const bool is_terminal = surface == AB_TERMINAL;
    const uint32_t most = is_terminal ? COLUMNS : AB_GRID_COLUMNS_MAX;
    g->n_columns = n < most ? n : most;
    qsort(list, n, sizeof *list, by_weight);
    note_rest(g, list + g->n_columns, n - g->n_columns, is_terminal);
    /* keeps the rank by weight, because the list is sorted by index next */
    for (unsigned i = 0; i < g->n_columns; i++)
        list[i].weight = i;
    qsort(list, g->n_columns, sizeof *list, by_index);
    for (unsigned i = 0; i < g->n_columns; i++)
        g->columns[i] = (struct ab_grid_column){
            .title = list[i].title, .drop = (unsigned)list[i].weight, .name = list[i].name};
}

static const char *cut(struct ab_grid *g, const char *name, unsigned width)
{
    char text[4 * NAME + 4];
    return ab_view_texts_addf(&g->texts, "%s",
                              ab_format_label(text, sizeof text, name, width, true));
}

/* ---- time by phase ---- */

static void put_per_op(struct ab_grid *g, unsigned column, double ns, bool is_unclear,
                       const char *why)
{
    char number[AB_CELL_BYTES];
    if (!isfinite(ns)) {
        ab_grid_put(g, column, AB_GRID_NS, NAN, why);
        return;
    }
    if (ns < 999.5)
        ab_format_ratio(number, ns); /* `ns` is a mean over the ops, not a reading of the clock */
    else
        ab_format_ns(number, ns, NAN);
    ab_grid_say(g, column, "%s%s", is_unclear ? "~" : "", number);
}

static void add_times(struct ab_grid *g, const struct ab_view *v, const struct column *list)
{
    const struct ab_view_phases *phases = ab_view_phases(v);
    for (uint32_t i = 0; i < v->ranking.n_rows; i++) {
        const struct ab_view_rank *rank = &v->ranking.rows[i];
        if (rank->standing == AB_VIEW_FAILED)
            continue;
        ab_grid_add_backend(g, rank->backend);
        for (unsigned c = 0; c < g->n_columns; c++) {
            const struct ab_view_time *time = ab_view_phases_at(phases, rank->backend,
                                                                list[c].index);
            put_per_op(g, c, time->ns_per_op.median, isfinite(time->vs.times) && !time->vs.is_clear,
                       ab_session_phase_ops(v->session, AB_EVERY_COMBINATION,
                                            phases->phases[list[c].index].name) == 0
                           ? "no calls in this phase"
                           : "this phase was not measured");
        }
    }
}

/* Adds a row for each harness that back ends use. The times of the back ends include those of their
 * harness. */
static void add_harness(struct ab_grid *g, const struct ab_view *v, const struct column *list)
{
    const struct ab_view_phases *phases = ab_view_phases(v);
    for (unsigned i = 0; i < phases->n_harness; i++) {
        const struct ab_view_harness *h = &phases->harness[i];
        const char *values = v->session->backends[h->backend].values;
        char label[AB_HARNESS_NAME_BYTES + AB_VALUES_BYTES + 16];
        int n = snprintf(label, sizeof label,
                         phases->n_harness > 1 ? "harness (%s)" : "harness alone", h->name);
        if (values[0] != 0)
            snprintf(label + n, sizeof label - (size_t)n, " %s", values);
        ab_grid_add(g, label, "")->emphasis = AB_FAINT;
        for (unsigned c = 0; c < g->n_columns; c++)
            put_per_op(g, c, h->ns_per_op[list[c].index], false, NULL);
    }
}

/* The time of the harness varies by up to this factor, so that a smaller cost of a back end cannot
 * be seen. */
static const double beyond_harness = 1.1;

/* Adds the back ends whose time in a phase is hardly above that of the harness: "arena, slab in
 * scratch". */
static void add_at_harness(const struct ab_view *v, const struct column *phase, struct ab_text *to)
{
    const struct ab_view_phases *phases = ab_view_phases(v);
    size_t before = to->n;
    for (uint32_t i = 0; i < v->ranking.n_rows; i++) {
        const struct ab_view_rank *rank = &v->ranking.rows[i];
        double ns = ab_view_phases_at(phases, rank->backend, phase->index)->ns_per_op.median;
        double harness = ab_view_phases_harness(phases, rank->backend, phase->index);
        char name[4 * NAME + 4];
        if (rank->standing == AB_VIEW_FAILED || !(ns <= beyond_harness * harness))
            continue;
        if (to->n > 0)
            ab_text_add(to, to->n == before ? "; " : ", ");
        ab_text_add(to, ab_format_label(name, sizeof name, rank->name, NAME, true));
    }
    if (to->n > before)
        ab_text_addf(to, " in %s", phase->name);
}

/* Lists the phases, weighted by the longest time that a back end takes in them. */
static struct column *list_phases(struct ab_grid *g, const struct ab_view *v)
{
    const struct ab_view_phases *phases = ab_view_phases(v);
    struct column *list = ab_alloc_zeroed(phases->n_phases + 1u, sizeof *list);
    for (uint32_t p = 0; p < phases->n_phases; p++) {
        double most = 0;
        for (uint32_t b = 0; b < phases->n_backends; b++)
            most = fmax(most, ab_view_phases_at(phases, b, p)->ns_per_op.median);
        list[p] = (struct column){.index = p,
                                  .weight = most * (double)phases->phases[p].n_ops,
                                  .title = cut(g, phases->phases[p].name, TITLE),
                                  .name = cut(g, phases->phases[p].name, NAME)};
    }
    return list;
}

/* Fills the table of the time per op in the phases that take the most time, with a row for each
 * harness. */
bool ab_phases_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    const struct ab_view *v = at->view;
    const struct ab_view_phases *phases = ab_view_phases(v);
    if (ab_session_is_exec(v->session) || phases->n_phases == 0)
        return false;
    *g = (struct ab_grid){.session = v->session};
    struct column *list = list_phases(g, v);
    struct ab_text who = {0};
    choose(g, list, phases->n_phases, at->surface);
    ab_grid_heading(g, "time per op, ns", "");
    add_times(g, v, list);
    add_harness(g, v, list);
    /* Times per op, multiplied by these ops and summed over the phases, give the time of the whole
     * run. */
    ab_grid_add(g, "ops per round", "")->emphasis = AB_FAINT;
    for (unsigned c = 0; c < g->n_columns; c++) {
        ab_grid_put(g, c, AB_GRID_COUNT, (double)phases->phases[list[c].index].n_ops, NULL);
        add_at_harness(v, &list[c], &who);
    }
    if (who.n > 0)
        g->remark = ab_view_texts_addf(&g->texts,
                                       "not distinguishable from the harness overhead (within "
                                       "%.0f %%): %s",
                                       100 * (beyond_harness - 1), who.s);
    ab_text_fini(&who);
    free(list);
    return true;
}

/* ---- latency of a call ---- */

/* Lists the kinds of calls. Accesses to blocks come last, because they are not calls of the
 * allocator. */
static struct column *list_calls(struct ab_grid *g, const struct ab_view *v)
{
    const struct ab_view_latency *latency = ab_view_latency(v);
    struct column *list = ab_alloc_zeroed(latency->n_columns + 1u, sizeof *list);
    for (uint32_t i = 0; i < latency->n_columns; i++) {
        const struct ab_view_latency_column *c = &latency->columns[i];
        char phase[4 * NAME + 4];
        ab_format_label(phase, sizeof phase, v->session->phases[c->phase], NAME, true);
        list[i] = (struct column){.index = i,
                                  .weight = c->op == AB_OP_ACCESS ? c->n_ops * 1e-9 : c->n_ops,
                                  .title = ab_result_op_name(c->op),
                                  .name = ab_view_texts_addf(&g->texts, "%.30s in %.60s",
                                                             ab_result_op_name(c->op), phase)};
    }
    return list;
}

static void put_call(struct ab_grid *g, unsigned column, const struct ab_view_latency_cell *cell)
{
    char p50[AB_CELL_BYTES], p99[AB_CELL_BYTES], at_floor[AB_CELL_BYTES];
    double floor_ns = g->session->timer.floor_ns;
    if (cell->n == 0) {
        ab_grid_put(g, column, AB_GRID_NS, NAN, "no such call was timed");
        return;
    }
    ab_grid_say(g, column, "%.28s/%.28s", ab_format_ns(p50, cell->quantiles[0], floor_ns),
                ab_format_ns(p99, cell->quantiles[2], floor_ns));
    if (isfinite(floor_ns) && strcmp(p50, ab_format_ns(at_floor, floor_ns, NAN)) == 0)
        g->signs |= AB_SIGN_AT_FLOOR;
}

/* Fills the table of p50 and p99 of the most frequent calls. */
bool ab_calls_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    const struct ab_view *v = at->view;
    const struct ab_view_latency *latency = ab_view_latency(v);
    if (ab_session_is_exec(v->session) || latency->n_columns == 0)
        return false;
    *g = (struct ab_grid){.session = v->session};
    struct column *list = list_calls(g, v);
    choose(g, list, latency->n_columns, at->surface);
    ab_grid_heading(g, "p50/p99, ns", "");
    if (v->session->n_phases > 1) {
        ab_grid_heading(g, "", "");
        for (unsigned c = 0; c < g->n_columns; c++)
            ab_grid_say(g, c, "%s",
                        cut(g, v->session->phases[latency->columns[list[c].index].phase], TITLE));
    }
    for (uint32_t i = 0; i < v->ranking.n_rows; i++) {
        const struct ab_view_rank *rank = &v->ranking.rows[i];
        if (rank->standing == AB_VIEW_FAILED)
            continue;
        ab_grid_add_backend(g, rank->backend);
        for (unsigned c = 0; c < g->n_columns; c++)
            put_call(g, c, ab_view_latency_at(latency, rank->backend, list[c].index));
    }
    free(list);
    return true;
}
