/* SPDX-License-Identifier: MIT
 *
 * Params with lists of values: one number as a table of back ends by combinations of values.
 * Numbers in the same column come from the same work; the columns differ in their work.
 */
#include "answer/topics.h"
#include "core/alloc.h"
#include "result/session.h"
#include "result/shown.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes the name of the param, which is the heading of columns such as "100" and "1000". */
static const char *param_of(const struct ab_view *v, char buf[AB_VALUES_BYTES])
{
    const char *values = v->session->combinations[0].values;
    snprintf(buf, AB_VALUES_BYTES, "%.*s", (int)strcspn(values, "="), values);
    return buf;
}

static const char *value_of(const struct ab_view *v, uint32_t value)
{
    const char *values = v->session->combinations[value].values;
    return ab_view_by_value(v)->is_single ? values + strcspn(values, "=") + 1 : values;
}

static void put(struct ab_grid *g, unsigned column, struct ab_by_value_of of, double value)
{
    char text[AB_CELL_BYTES];
    if (of.what == AB_BY_VALUE_PEAK)
        ab_grid_put(g, column, AB_GRID_BYTES, value, "not known");
    else if (of.what == AB_BY_VALUE_RUN)
        ab_grid_put(g, column, AB_GRID_TIME, value, "not known");
    else if (isfinite(value))
        ab_grid_say(g, column, "%s", ab_format_ratio(text, value));
    else
        ab_grid_put(g, column, AB_GRID_TEXT, NAN, "no time in this phase");
}

/* Adds the time of each harness for each combination. The times of the back ends include it. */
static void add_harnesses(struct ab_grid *g, const struct ab_view *v, struct ab_by_value_of of)
{
    const struct ab_view_by_value *b = ab_view_by_value(v);
    for (unsigned i = 0; i < ab_view_phases(v)->n_harness && of.what == AB_BY_VALUE_PHASE; i++) {
        const struct ab_view_harness *h = &ab_view_phases(v)->harness[i];
        char label[AB_HARNESS_NAME_BYTES + 16];
        if (v->session->backends[h->backend].combination != 0)
            continue;
        snprintf(label, sizeof label, "harness (%s)", h->name);
        ab_grid_add(g, label, "")->emphasis = AB_FAINT;
        for (uint32_t n = 0; n < b->n_names; n++)
            for (uint32_t k = 0; k < b->n_values && b->rows[n * b->n_values] == h->backend; k++) {
                uint32_t row = b->rows[n * b->n_values + k];
                put(g, k, of,
                    row == UINT32_MAX ? (double)NAN
                                      : ab_view_phases_harness(ab_view_phases(v), row, of.phase));
            }
    }
}

static void set_title(const struct ab_view *v, struct ab_by_value_of of, struct ab_grid *g)
{
    char param[AB_VALUES_BYTES];
    const char *by = ab_view_by_value(v)->is_single ? param_of(v, param) : "the values";
    if (of.what == AB_BY_VALUE_PHASE)
        g->title = ab_view_texts_addf(&g->texts, "%s: ns per op by %s",
                                      AB_SHOWN(400, v->session->phases[of.phase]), by);
    else
        g->title = ab_view_texts_addf(
            &g->texts, "%s by %s",
            of.what == AB_BY_VALUE_RUN ? "time of the whole run" : "peak of resident memory", by);
}

/* Fills a table with one row for each back end and one column for each value. */
static void fill(const struct ab_view *v, struct ab_by_value_of of, struct ab_grid *g)
{
    const struct ab_view_by_value *b = ab_view_by_value(v);
    char param[AB_VALUES_BYTES];
    g->n_columns = b->n_values;
    for (uint32_t k = 0; k < b->n_values; k++) {
        const char *value = ab_view_texts_addf(&g->texts, "%s", value_of(v, k));
        g->columns[k] = (struct ab_grid_column){
            value, k, ab_view_texts_addf(&g->texts, "#%s", value), NULL, 14};
    }
    ab_grid_heading(g, b->is_single ? param_of(v, param) : "", "");
    for (uint32_t n = 0; n < b->n_names; n++) {
        const struct ab_backend_info *info = &v->session->backends[b->rows[n * b->n_values]];
        if (info->status == AB_BACKEND_ABSENT)
            continue;
        ab_grid_add(g, AB_OWN_LABEL(info), "");
        for (uint32_t k = 0; k < b->n_values; k++)
            put(g, k, of, ab_view_by_value_at(v, n, k, of));
    }
    add_harnesses(g, v, of);
}

enum { ROWS_MOST = 30 };

/* Notes how many combinations and back ends are left out, and which options print all of them. */
static void note_rest(struct ab_grid *g, uint32_t n_values, uint32_t n_backends, bool is_markdown)
{
    if (n_values > 0 || n_backends > 0)
        g->note = ab_view_texts_addf(&g->texts,
                                     "(not shown: %u combinations, %u back ends; --csv%s)",
                                     n_values, n_backends, is_markdown ? "" : ", --markdown");
}

/* Fills a table with one row for each combination and one column for each back end. Outside
 * Markdown, there are at most ROWS_MOST rows and AB_BY_VALUE_COLUMNS columns. */
static void fill_long(const struct ab_view *v, struct ab_by_value_of of, bool is_markdown,
                      struct ab_grid *g)
{
    const struct ab_view_by_value *b = ab_view_by_value(v);
    const uint32_t most_names = is_markdown ? AB_GRID_COLUMNS_MAX : AB_BY_VALUE_COLUMNS;
    const uint32_t n_rows = is_markdown || b->n_values < ROWS_MOST ? b->n_values : ROWS_MOST;
    uint32_t names[AB_GRID_COLUMNS_MAX], n_names = 0, left = 0;
    for (uint32_t n = 0; n < b->n_names; n++) {
        const struct ab_backend_info *info = &v->session->backends[b->rows[n * b->n_values]];
        if (info->status == AB_BACKEND_ABSENT)
            continue;
        left += n_names == most_names;
        if (n_names == most_names)
            continue;
        const char *name = ab_view_texts_addf(&g->texts, "%s", AB_OWN_LABEL(info));
        g->columns[n_names] = (struct ab_grid_column){
            name, n_names, ab_view_texts_addf(&g->texts, "#%s", name), NULL, 14};
        names[n_names++] = n;
    }
    g->n_columns = n_names;
    ab_grid_heading(g, "", "");
    for (uint32_t k = 0; k < n_rows; k++) {
        ab_grid_add(g, v->session->combinations[k].values, "");
        for (uint32_t n = 0; n < n_names; n++)
            put(g, n, of, ab_view_by_value_at(v, names[n], k, of));
    }
    note_rest(g, b->n_values - n_rows, left, is_markdown);
}

/* Fills a grid of back ends by param values. With several params or many values, the combinations
 * become the rows and the back ends the columns. */
static bool make(const struct ab_topic_at *at, struct ab_by_value_of of, struct ab_grid *g)
{
    const struct ab_view *v = at->view;
    const struct ab_view_by_value *b = ab_view_by_value(v);
    bool is_known = false;
    *g = (struct ab_grid){.session = v->session, .rows_are = "allocator"};
    for (uint32_t n = 0; n < b->n_names; n++)
        for (uint32_t k = 0; k < b->n_values; k++)
            is_known = is_known || isfinite(ab_view_by_value_at(v, n, k, of));
    if (!is_known)
        return false;
    set_title(v, of, g);
    if (b->is_single && b->n_values <= AB_BY_VALUE_COLUMNS) {
        fill(v, of, g);
    } else {
        g->rows_are = "values";
        fill_long(v, of, at->surface == AB_MARKDOWN, g);
    }
    return true;
}

bool ab_by_value_run_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    return at->view->session->n_phases > 1 &&
           make(at, (struct ab_by_value_of){AB_BY_VALUE_RUN, 0}, g);
}

/* Returns the number of phases that are shown: on terminals as many as a screen of 40 lines has
 * room for, on pages as many as there are pictures, and all in Markdown. The first phases are
 * shown, because it is not known which are the heaviest. */
static uint32_t count_phases(const struct ab_topic_at *at)
{
    enum { LINES = 26, LINES_BESIDE = 4 };
    uint32_t fit = LINES / (ab_view_by_value(at->view)->n_names + LINES_BESIDE);
    return at->surface == AB_MARKDOWN ? at->view->session->n_phases
           : at->surface == AB_PAGE   ? AB_PAGE_PHASES
           : fit > 0                  ? fit
                                      : 1;
}

bool ab_by_value_phase_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    const uint32_t n_phases = at->view->session->n_phases, n_shown = count_phases(at);
    if (at->phase_index >= n_shown ||
        !make(at, (struct ab_by_value_of){AB_BY_VALUE_PHASE, at->phase_index}, g))
        return false;
    if (at->surface == AB_PAGE && at->phase_index + 1 == n_shown && n_shown < n_phases)
        ab_view_texts_addf(&g->closing, "(not shown: %u other phases; --csv, --markdown)",
                           n_phases - n_shown);
    return true;
}

/* Fills a grid that has only a note: how to see the phases for which the terminal has no room. */
bool ab_by_value_others_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    g->note = "(other phases: -v time)";
    return ab_view_by_value(at->view)->n_values > 0 &&
           at->view->session->n_phases > count_phases(at);
}

bool ab_by_value_peak_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    return make(at, (struct ab_by_value_of){AB_BY_VALUE_PEAK, 0}, g);
}
