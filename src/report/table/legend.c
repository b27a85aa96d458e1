/* SPDX-License-Identifier: MIT
 *
 * One paragraph below the tables.
 */
#include "report/table/legend.h"

#include "core/text.h"

#include "core/units_show.h"
#include <math.h>
#include <string.h>

static void add(struct ab_text *t, const char *text)
{
    ab_text_addf(t, "%s%s.", t->n > 0 ? " " : "", text);
}

void ab_legend_see(struct ab_legend *legend, const struct ab_table *t, unsigned shown, bool utf8)
{
    if (legend->label_head[0] == 0)
        ab_table_label_head(t, legend->label_head);
    for (size_t r = 0; r < t->n_rows; r++)
        for (unsigned c = 0; c < t->n_columns && !t->rows[r].is_heading; c++) {
            const char *cell = t->rows[r].cells[c];
            if ((shown >> c & 1) == 0)
                continue;
            legend->has_unclear = legend->has_unclear || cell[0] == '~';
            legend->has_interval = legend->has_interval || strchr(cell, '[') != NULL;
            legend->has_floor = legend->has_floor || strchr(cell, '<') != NULL;
            ab_footnotes_see(&legend->notes, cell, utf8);
        }
}

void ab_legend_print(FILE *to, const struct ab_view *v, const struct ab_legend *legend,
                     struct ab_table_style style)
{
    struct ab_text t = {0};
    char base[AB_CELL_BYTES * 4];
    if (legend->label_head[0] != 0)
        ab_text_addf(&t, "Rows with { begin with %s.", legend->label_head);
    if (legend->has_unclear)
        ab_text_addf(&t, "%s~: not clearly different from %s.", t.n > 0 ? " " : "",
                     ab_format_label(base, sizeof base, v->session->backends[v->ranking.base].name,
                                     24, style.utf8));
    if (legend->has_interval)
        add(&t, "[low, high]: 90 % interval");
    if (legend->has_tail)
        add(&t, "p99, p99.9: of calls that return a block, all phases");
    if (legend->has_floor)
        ab_text_addf(&t, "%s<%s: below the timer's floor.", t.n > 0 ? " " : "",
                     ab_format_ns((char[AB_CELL_BYTES]){0}, v->session->timer.floor_ns, NAN));
    if (legend->has_at_floor)
        ab_text_addf(&t, "%sp50 of %s: the timer's floor; the call may take less.",
                     t.n > 0 ? " " : "", AB_TIME(v->session->timer.floor_ns));
    if (legend->has_live)
        add(&t, "live: of the program, at the moment of that allocator's peak");
    if (legend->has_drain)
        ab_text_addf(&t, "%safter free: resident %s after all is freed.", t.n > 0 ? " " : "",
                     ab_drain_names[v->ranking.drain]);
    if (legend->has_multiple)
        add(&t, "x live: peak by the most live bytes");
    if (t.s != NULL)
        ab_table_prose(to, style, AB_FAINT, t.s);
    ab_text_fini(&t);
    ab_footnotes_print(to, &legend->notes, style);
}
