/* SPDX-License-Identifier: MIT
 *
 * Copies the ranking of each session, one below the other.
 */
#include "report/view/traces.h"

#include "core/memory.h"
#include "report/view/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIME, VERSUS, PEAK };

static void begin(struct ab_traces *t, const char *trace)
{
    if (t->n++ == 0) {
        t->grid.n_columns = PEAK + 1;
        t->grid.columns[TIME].title = "whole run";
        t->grid.columns[VERSUS].title = "vs base";
        t->grid.columns[PEAK] = (struct ab_grid_column){"peak", 1};
    }
    ab_grid_heading(&t->grid, trace, "");
}

static void add_row(struct ab_grid *g, const struct ab_session *s, const struct ab_view_rank *rank,
                    bool is_too_little)
{
    const struct ab_backend_info *b = &s->backends[rank->backend];
    bool is_aside = rank->standing == AB_VIEW_ASIDE;
    char label[sizeof b->name + 32], text[AB_CELL_BYTES];
    snprintf(label, sizeof label, "%s%s", b->name, is_aside ? " (not compared)" : "");
    struct ab_grid_row *row = ab_grid_add(g, label, "");
    if (rank->standing == AB_VIEW_FAILED) {
        ab_grid_say(g, TIME, "%s", ab_backend_status_name(b->status));
        row->emphasis = AB_BAD;
        return;
    }
    ab_grid_put(g, TIME, AB_GRID_TIME, rank->run_ns.median, NULL);
    ab_grid_put(g, PEAK, AB_GRID_BYTES, rank->peak_bytes, NULL);
    if (rank->is_base)
        ab_grid_say(g, VERSUS, "base");
    else if (is_too_little || !isfinite(rank->vs.times))
        ab_grid_put(g, VERSUS, AB_GRID_TEXT, NAN, NULL);
    else
        ab_grid_say(g, VERSUS, "%s", ab_view_factor_text(text, &rank->vs, "faster", "slower"));
    if (is_aside)
        row->emphasis = AB_FAINT;
    else if (rank->vs.is_clear && !is_too_little)
        row->emphasis = rank->vs.is_less ? AB_BAD : AB_GOOD;
}

static void note_base(struct ab_traces *t, const struct ab_view *v)
{
    uint32_t base = v->ranking.base;
    const char *name = base != UINT32_MAX ? v->session->backends[base].name : NULL;
    t->has_no_base = t->has_no_base || name == NULL ||
                     (t->base != NULL && strcmp(t->base, name) != 0);
    if (t->base == NULL && name != NULL)
        t->base = ab_strdup(name);
    t->grid.session = v->session;
    t->grid.columns[VERSUS].title = t->has_no_base ? "vs base"
                                                   : ab_grid_versus(&t->grid, "vs", base, 20);
    t->grid.session = NULL; /* it may end before the table is drawn */
}

/* In how many traces it is clearly faster than the base. */
static size_t count_wins(const struct ab_grid *g, const char *label)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n_rows; i++)
        n += g->rows[i].emphasis == AB_GOOD && strcmp(g->rows[i].label, label) == 0;
    return n;
}

static bool is_first(const struct ab_grid *g, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (!g->rows[i].is_heading && strcmp(g->rows[i].label, g->rows[row].label) == 0)
            return false;
    return !g->rows[row].is_heading;
}

static void write_sentence(struct ab_traces *t)
{
    const struct ab_grid *g = &t->grid;
    struct ab_text *to = &t->sentence;
    const char *lead = ": ";
    size_t most = 0;
    ab_text_fini(to);
    if (t->has_no_base || t->base == NULL)
        return;
    for (size_t i = 0; i < g->n_rows; i++) {
        size_t n = count_wins(g, g->rows[i].label);
        most = n > most ? n : most;
    }
    if (most > 0)
        ab_text_addf(to, "Clearly faster than %s in %zu of %zu trace%s", AB_SHOWN(512, t->base),
                     most, t->n_compared, t->n_compared == 1 ? "" : "s");
    else if (t->n_compared > 0)
        ab_text_addf(to, "Nothing is clearly faster than %s in any trace", AB_SHOWN(512, t->base));
    else
        ab_text_add(to, "No trace has enough work for a comparison");
    for (size_t i = 0; i < g->n_rows && most > 0; i++)
        if (is_first(g, i) && count_wins(g, g->rows[i].label) == most) {
            ab_text_addf(to, "%s%s", lead, AB_SHOWN(512, g->rows[i].label));
            lead = ", ";
        }
    ab_text_add(to, ".");
}

void ab_traces_add(struct ab_traces *t, const struct ab_session *session)
{
    struct ab_format_guard guard;
    struct ab_view v;
    ab_format_begin(&guard);
    ab_view_make(session, &v);
    bool is_too_little = ab_view_warnings_find(&v.warnings, "little-work") != NULL;
    begin(t, session->name);
    for (uint32_t i = 0; i < v.ranking.n_rows; i++)
        add_row(&t->grid, session, &v.ranking.rows[i], is_too_little);
    note_base(t, &v);
    t->n_compared += !is_too_little;
    if (is_too_little)
        t->grid.note = "-: too little work for a comparison";
    write_sentence(t);
    ab_view_fini(&v);
    ab_format_end(&guard);
}

void ab_traces_add_failed(struct ab_traces *t, const char *trace)
{
    begin(t, trace);
    ab_grid_add(&t->grid, "no result, see above", "");
}

void ab_traces_fini(struct ab_traces *t)
{
    ab_grid_fini(&t->grid);
    ab_text_fini(&t->sentence);
    free(t->base);
    *t = (struct ab_traces){0};
}
