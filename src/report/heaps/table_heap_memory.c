/* SPDX-License-Identifier: MIT
 *
 * A row a heap, in bytes that add up, of the run whose peak is the row's (report/view/memory.h); what
 * is of no single heap has a row of its own.
 */
#include "report/heaps/table_heap_memory.h"

#include "core/units_show.h"
#include "report/heaps/heaps_view.h"
#include "report/view/memory.h"

#include <math.h>

enum { LIVE, INTERNAL, EXTERNAL, RETAINED, HELD, MULTIPLE, COMMITTED, AT_END, FREED, COLUMNS };

struct view {
    const struct ab_backend_info *backend;
    const struct ab_memory *peak, *end;
    struct ab_footnotes *notes;
    bool utf8;
};

static void put_bytes(const struct view *v, char cell[AB_CELL_BYTES], double bytes, const char *why)
{
    if (isfinite(bytes))
        ab_units_bytes(cell, AB_CELL_BYTES, bytes);
    else
        ab_footnotes_dash(v->notes, cell, why, v->utf8);
}

static const char *why_of(const struct ab_memory *m, const char *const *whats,
                          char why[AB_FOOTNOTE_BYTES])
{
    ab_view_memory_why(m->reason, whats, why, AB_FOOTNOTE_BYTES);
    return why;
}

static void fill(const struct view *v, uint32_t heap, struct ab_table_row *row)
{
    static const char *const pages[] = {AB_WHY_FOOTPRINT, AB_WHY_PAGES, AB_WHY_HEAPS, NULL};
    static const char *const internal[] = {AB_WHY_FOOTPRINT, AB_WHY_PAGES, AB_WHY_HEAPS,
                                           AB_WHY_INTERNAL, NULL};
    static const char *const drained[] = {AB_WHY_FOOTPRINT, AB_WHY_DRAINED, NULL};
    const struct ab_heap_memory *m = &v->peak->heaps[heap];
    const struct ab_heap_memory *end = v->end != NULL ? &v->end->heaps[heap] : NULL;
    char why[AB_FOOTNOTE_BYTES], number[AB_CELL_BYTES];
    why_of(v->peak, pages, why);
    put_bytes(v, row->cells[LIVE], m->live_bytes, why);
    put_bytes(v, row->cells[EXTERNAL], m->external_bytes, why);
    put_bytes(v, row->cells[RETAINED], m->retained_bytes, why);
    put_bytes(v, row->cells[HELD], m->footprint_bytes, why);
    if (m->live_bytes > 0 && isfinite(m->footprint_bytes))
        snprintf(row->cells[MULTIPLE], AB_CELL_BYTES, "%.40sx",
                 ab_format_ratio(number, m->footprint_bytes / m->live_bytes));
    else
        ab_footnotes_dash(v->notes, row->cells[MULTIPLE],
                          m->live_bytes == 0 ? "no live block" : why, v->utf8);
    put_bytes(v, row->cells[INTERNAL], m->internal_bytes, why_of(v->peak, internal, why));
    put_bytes(v, row->cells[COMMITTED], m->mapped_bytes, "the heap does not report it");
    if (end == NULL)
        return;
    put_bytes(v, row->cells[AT_END], end->footprint_bytes, why_of(v->end, pages, why));
    put_bytes(v, row->cells[FREED], end->drained_bytes[0], why_of(v->end, drained, why));
}

static double drained_rest(const struct view *v)
{
    double rest = v->end->drained_bytes[0];
    for (uint32_t h = 0; h < v->backend->n_heaps; h++)
        rest -= v->end->heaps[h].drained_bytes[0];
    return rest;
}

static void put_rest(const struct view *v, const struct ab_session *s, struct ab_table_row *row)
{
    double held = ab_heaps_rest(s, v->peak);
    double at_end = v->end != NULL ? ab_heaps_rest(s, v->end) : (double)NAN;
    double freed = v->end != NULL ? drained_rest(v) : (double)NAN;
    if (isfinite(held))
        ab_units_bytes(row->cells[HELD], AB_CELL_BYTES, held);
    if (isfinite(at_end))
        ab_units_bytes(row->cells[AT_END], AB_CELL_BYTES, at_end);
    if (isfinite(freed))
        ab_units_bytes(row->cells[FREED], AB_CELL_BYTES, freed);
}

static bool has_freed(const struct ab_memory *end)
{
    return end != NULL && isfinite(end->drained_bytes[0]);
}

static void print_row(FILE *to, const struct ab_session *s, const struct view *v, const char *phase,
                      struct ab_table_style style)
{
    static const struct ab_table_column columns[COLUMNS] = {
        [LIVE] = {"live", 0},           [INTERNAL] = {"internal", 0}, [EXTERNAL] = {"external", 0},
        [RETAINED] = {"retained", 0},   [HELD] = {"= held", 0},       [MULTIPLE] = {"x live", 0},
        [COMMITTED] = {"committed", 0}, [AT_END] = {"at end", 0},     [FREED] = {"when freed", 0},
    };
    char title[AB_TABLE_LABEL_BYTES], name[AB_TABLE_LABEL_BYTES / 2];
    struct ab_table t;
    ab_table_init(&t, columns, has_freed(v->end) ? COLUMNS : FREED);
    ab_format_name(name, sizeof name, v->backend->name, 24, style.utf8);
    snprintf(title, sizeof title, "memory by heap / %s, %.64s: at its peak", name, phase);
    ab_table_line(to, style, AB_STRONG, title);
    ab_table_add(&t, phase, true);
    for (uint32_t h = 0; h < v->backend->n_heaps; h++) {
        struct ab_table_row *row = ab_table_add(&t, v->backend->heaps[h].name, false);
        if (row != NULL)
            fill(v, h, row);
    }
    struct ab_table_row *rest = ab_table_add(&t, "of none alone", false);
    if (rest != NULL)
        put_rest(v, s, rest);
    ab_table_print_stacked(to, &t, style);
    ab_table_fini(&t);
}

bool ab_table_heap_memory(FILE *to, const struct ab_session *s, const char *phase,
                          struct ab_table_style style, struct ab_footnotes *notes)
{
    bool is_any = false;
    for (uint32_t b = 0; b < s->n_backends; b++) {
        const struct view v = {
            .backend = &s->backends[b],
            .peak = ab_view_memory_typical(s, b, phase, AB_AT_FOOTPRINT_PEAK),
            .end = ab_view_memory_typical(s, b, phase, AB_AT_END),
            .notes = notes,
            .utf8 = style.utf8,
        };
        if (v.peak == NULL || v.backend->n_heaps == 0 || !ab_session_has_numbers(s, b))
            continue;
        print_row(to, s, &v, phase, style);
        is_any = true;
    }
    return is_any;
}
