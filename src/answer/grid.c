/* SPDX-License-Identifier: MIT
 *
 * Builds grids: adds rows and puts cells.
 */
#include "answer/grid.h"

#include "core/alloc.h"
#include "result/session.h"
#include "result/shown.h"
#include "stats/aggregate.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ab_view_shows(const struct ab_session *s, uint32_t backend)
{
    return ab_session_has_numbers(s, backend) && !ab_backend_is_null(&s->backends[backend]);
}

void ab_grid_fini(struct ab_grid *g)
{
    for (size_t r = 0; r < g->n_rows; r++)
        for (unsigned c = 0; c < g->n_columns; c++) {
            free(g->rows[r].cells[c].line);
            free(g->rows[r].cells[c].hdr);
        }
    free(g->rows);
    ab_view_texts_fini(&g->texts);
    ab_view_texts_fini(&g->sentences);
    ab_view_texts_fini(&g->closing);
    *g = (struct ab_grid){0};
}

struct ab_grid_row *ab_grid_add(struct ab_grid *g, const char *label, const char *tail)
{
    AB_GROW(g->rows, g->cap_rows, g->n_rows);
    struct ab_grid_row *row = &g->rows[g->n_rows++];
    *row = (struct ab_grid_row){.label = ab_view_texts_addf(&g->texts, "%s", label),
                                .tail = ab_view_texts_addf(&g->texts, "%s", tail),
                                .backend = UINT32_MAX};
    return row;
}

struct ab_grid_row *ab_grid_heading(struct ab_grid *g, const char *label, const char *tail)
{
    struct ab_grid_row *row = ab_grid_add(g, label, tail);
    row->is_heading = true;
    return row;
}

struct ab_grid_row *ab_grid_add_backend(struct ab_grid *g, uint32_t backend)
{
    const struct ab_backend_info *b = &g->session->backends[backend];
    char label[sizeof b->name + 32];
    struct ab_grid_row *row = ab_grid_add(g, ab_format_backend(label, sizeof label, b), "");
    row->backend = backend;
    row->emphasis = ab_backend_status_is_aside(b->status) ? AB_FAINT : AB_PLAIN;
    return row;
}

const char *ab_grid_versus(struct ab_grid *g, const char *before, uint32_t base, unsigned width)
{
    char name[AB_CELL_BYTES * 4];
    if (base == UINT32_MAX)
        return "";
    ab_format_label(name, sizeof name, AB_OWN_LABEL(&g->session->backends[base]), width, true);
    return ab_view_texts_addf(&g->texts, "%s %s", before, name);
}

const char *ab_grid_median(const struct ab_session *session)
{
    return session->n_rounds == 1 ? "one round" : "median";
}

struct ab_grid_cell *ab_grid_put(struct ab_grid *g, unsigned column, enum ab_grid_kind kind,
                                 double value, const char *why)
{
    struct ab_grid_cell *cell = &g->rows[g->n_rows - 1].cells[column];
    *cell = (struct ab_grid_cell){.kind = kind, .value = value, .why = ""};
    if (!isfinite(value) && why != NULL)
        cell->why = ab_view_texts_addf(&g->texts, "%s", why);
    return cell;
}

void ab_grid_put_line(struct ab_grid *g, unsigned column, const double points[AB_GRID_POINTS],
                      double most)
{
    struct ab_grid_cell *cell = ab_grid_put(g, column, AB_GRID_LINE, most, NULL);
    cell->line = ab_alloc(AB_GRID_POINTS * sizeof points[0]);
    memcpy(cell->line, points, AB_GRID_POINTS * sizeof points[0]);
}

struct ab_grid_cell *ab_grid_say(struct ab_grid *g, unsigned column, const char *fmt, ...)
{
    struct ab_grid_cell *cell = ab_grid_put(g, column, AB_GRID_TEXT, 0, NULL);
    char *text;
    va_list args;
    va_start(args, fmt);
    text = ab_vstrdupf(fmt, args);
    va_end(args);
    cell->text = ab_view_texts_addf(&g->texts, "%s", text);
    free(text);
    return cell;
}

void ab_grid_put_fixed(struct ab_grid *g, unsigned column, int decimals, double value)
{
    if (isfinite(value))
        ab_grid_say(g, column, "%.*f", decimals, value);
    else
        ab_grid_put(g, column, AB_GRID_TEXT, NAN, NULL);
}

void ab_grid_put_histogram(struct ab_grid *g, unsigned column, const struct ab_hdr *hdr)
{
    struct ab_grid_cell *cell = ab_grid_put(g, column, AB_GRID_HISTOGRAM, 0, NULL);
    cell->hdr = ab_alloc(sizeof *hdr);
    memcpy(cell->hdr, hdr, sizeof *hdr);
}

/* ---- texts: strings that are freed together ---- */

const char *ab_view_texts_addf(struct ab_view_texts *t, const char *fmt, ...)
{
    va_list args;
    AB_GROW(t->items, t->cap, t->n);
    va_start(args, fmt);
    char *text = ab_vstrdupf(fmt, args);
    va_end(args);
    return t->items[t->n++] = text;
}

void ab_view_texts_fini(struct ab_view_texts *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->items[i]);
    free(t->items);
    *t = (struct ab_view_texts){0};
}
